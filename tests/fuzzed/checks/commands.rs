use atalaya::{
    incident::{Answer, MAX_NOTE, MAX_ORDER, Order, Status, Verb},
    monitor::Output,
    publish::{Topics, answer},
};
use jiff::Timestamp;
use serde_json::Value;

use super::table::{BOARD, Table};

/// `user/verb`, a line feed, the payload; `ALERT` in it stands for the open alert. A command is read or
/// refused with a word; what was read is journalled and read again as the same, and answered once.
pub fn commands(data: &[u8]) {
    let at = data.iter().position(|byte| *byte == b'\n');
    let (head, payload) = data.split_at(at.unwrap_or(data.len()));
    let payload = payload.get(1..).unwrap_or_default();

    let topics = Topics::new("atalaya", "hall-1").expect("good names");
    let topic = topics.order(&String::from_utf8_lossy(head), "");
    let Some((user, verb)) = topics.command(topic.trim_end_matches('/')) else {
        return;
    };
    let mut table = with_an_alert();
    let alert = open_alert(&table);
    let payload = match str::from_utf8(payload) {
        Ok(text) => text.replace("ALERT", &alert).into_bytes(),
        Err(_) => payload.to_vec(),
    };
    let given = match Order::read(user, verb, &payload, Some(&alert)) {
        Ok(order) => {
            assert!(payload.len() <= MAX_ORDER);
            assert_eq!(order.user, user);
            if let Verb::Note { text, .. } = &order.verb {
                assert!(text.chars().count() <= MAX_NOTE);
            }
            let text = serde_json::to_string(&order).expect("an order is JSON");
            let again: Order = serde_json::from_str(&text).expect("and read again");
            assert_eq!(again, order);
            let given = carried_out(&mut table, &order);
            if order.transaction.is_some() {
                assert_eq!(carried_out(&mut table, &order), given, "a repeat");
            }
            given
        }
        Err((transaction, refusal)) => Answer {
            user: user.to_owned(),
            transaction,
            outcome: Err(refusal),
        },
    };
    if let Err(refusal) = &given.outcome {
        assert!(!refusal.to_string().is_empty() && !refusal.word().is_empty());
    }
    let told = answer(&topics, "boot", 1, Timestamp::UNIX_EPOCH, &given);
    let told: Value = serde_json::from_slice(&told.payload).expect("an answer is JSON");
    let status = if given.outcome.is_ok() { "ok" } else { "error" };
    assert_eq!(told["status"], status);
    // The game goes on behind it.
    table.play(1);
    table.wait(10_000);
}

/// Its one answer.
fn carried_out(table: &mut Table, order: &Order) -> Answer {
    let before = table.said.len();
    table.order(order);
    let answers: Vec<&Answer> = table.said[before..]
        .iter()
        .filter_map(|(_, output)| match output {
            Output::Answer(answer) => Some(answer),
            _ => None,
        })
        .collect();
    assert_eq!(answers.len(), 1, "{order:?}");
    let answer = answers[0].clone();
    assert_eq!(
        (&answer.user, &answer.transaction),
        (&order.user, &order.transaction)
    );
    answer
}

/// Two plies, then a rook through its own pawn.
fn with_an_alert() -> Table {
    let mut table = Table::new();
    table.press(shakmaty::Color::White);
    for choice in [0, 0] {
        table.wait(2_000);
        table.play(choice);
    }
    table.wait(2_000);
    let (a1, a4) = (56, 32);
    let rook = table.codes[usize::from(a1)];
    table.put(a1, 0);
    table.put(a4, rook);
    table.press(shakmaty::Color::Black);
    table.wait(5_000);
    table
}

fn open_alert(table: &Table) -> String {
    let open = |output: &Output| match output {
        Output::Alert { alert, .. } if alert.status == Status::Open => Some(alert.id.clone()),
        _ => None,
    };
    let mut said = table.said.iter().rev();
    let id = said.find_map(|(_, output)| open(output));
    let id = id.unwrap_or_else(|| panic!("no alert of board {BOARD}"));
    assert!(
        table
            .monitor
            .standing()
            .iter()
            .any(|one| open(one).as_ref() == Some(&id))
    );
    id
}
