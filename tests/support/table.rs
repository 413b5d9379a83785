//! A board and its clock behind a serial server, moved by the test.
#![allow(dead_code)] // each test uses its own part

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

use atalaya::{
    board::Placement,
    dgt::{ClockMessage, ClockTimes, Hand, HandTime, Message, physical_of},
    words::Side,
};
use shakmaty::{Board, Piece, Square};

/// Copies are the same board.
#[derive(Clone)]
pub struct Table {
    pub address: SocketAddr,
    inner: Arc<Mutex<Inner>>,
}

struct Inner {
    men: Placement,
    to_move: Side,
    running: bool,
    /// What the clock shows, s: White's, Black's.
    times: (u32, u32),
    line: Option<TcpStream>,
}

impl Table {
    /// The start array, White's clock about to run.
    pub fn lay() -> Table {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let table = Table {
            address: listener.local_addr().expect("it is bound"),
            inner: Arc::new(Mutex::new(Inner {
                men: Placement::from(&Board::new()),
                to_move: Side::White,
                running: false,
                times: (312, 287),
                line: None,
            })),
        };
        let server = table.clone();
        thread::spawn(move || {
            listener
                .incoming()
                .flatten()
                .for_each(|line| server.serve(line))
        });
        let clock = table.clone();
        thread::spawn(move || {
            loop {
                thread::sleep(Duration::from_millis(300));
                clock.tell_clock();
            }
        });
        table
    }

    /// Answers the daemon's questions until it hangs up.
    fn serve(&self, mut line: TcpStream) {
        self.inner.lock().expect("whole").line = line.try_clone().ok();
        let mut byte = [0];
        while line.read(&mut byte).is_ok_and(|count| count == 1) {
            match byte[0] {
                // DGT_SEND_BRD, DGT_SEND_CLK
                0x42 => self.dump(),
                0x41 => self.tell_clock(),
                _ => {}
            }
        }
    }

    fn send(&self, message: &Message) {
        let mut bytes = Vec::new();
        message.encode(&mut bytes);
        let mut inner = self.inner.lock().expect("whole");
        if let Some(line) = &mut inner.line {
            // The daemon may have hung up.
            let _ = line.write_all(&bytes);
        }
    }

    fn dump(&self) {
        let men = self.inner.lock().expect("whole").men;
        let mut codes = [0; 64];
        for square in Square::ALL {
            codes[usize::from(physical_of(square, false))] = men.code(square);
        }
        self.send(&Message::Dump(Box::new(codes)));
    }

    fn tell_clock(&self) {
        let (to_move, running, (white, black)) = {
            let inner = self.inner.lock().expect("whole");
            (inner.to_move, inner.running, inner.times)
        };
        let hand = |seconds| HandTime {
            seconds,
            ..HandTime::default()
        };
        let times = ClockTimes {
            left: hand(white),
            right: hand(black),
            running,
            lever: to_move.fold_wb(Hand::Left, Hand::Right),
            battery_low: false,
            connected: true,
        };
        self.send(&Message::Clock(ClockMessage::Times(times)));
    }

    /// The arbiter starts White's clock.
    pub fn start_clock(&self) {
        self.inner.lock().expect("whole").running = true;
        self.tell_clock();
    }

    /// What the clock shows from now on, s.
    pub fn set_times(&self, white: u32, black: u32) {
        self.inner.lock().expect("whole").times = (white, black);
        self.tell_clock();
    }

    /// A hand puts a man (or nothing) on a square.
    pub fn put(&self, square: Square, man: Option<Piece>) {
        self.inner.lock().expect("whole").men.set(square, man);
        let code = self.inner.lock().expect("whole").men.code(square);
        let square = physical_of(square, false);
        self.send(&Message::Field { square, code });
        thread::sleep(Duration::from_millis(250));
    }

    /// A man goes from one square to another.
    pub fn slide(&self, from: Square, to: Square) {
        let man = self.inner.lock().expect("whole").men.piece(from);
        self.put(from, None);
        self.put(to, man);
    }

    /// Who has moved presses.
    pub fn press(&self) {
        let mut inner = self.inner.lock().expect("whole");
        inner.to_move = inner.to_move.other();
        drop(inner);
        self.tell_clock();
    }
}
