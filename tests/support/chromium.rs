//! Phones: pages of one headless Chromium, driven through the DevTools protocol.
#![allow(dead_code, reason = "each test uses its part")]

use std::{
    fs,
    io::{BufRead, BufReader},
    net::TcpStream,
    path::Path,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use base64::Engine;
use serde_json::{Value, json};
use tungstenite::{Message, WebSocket, client};

use crate::support::program;

/// A browser that does not outlive the test.
pub struct Chromium {
    child: Child,
    socket: WebSocket<TcpStream>,
    last: u64,
    /// What scripts threw, and what the page was refused.
    pub faults: Vec<String>,
    _profile: tempfile::TempDir,
}

/// One page with cookies and storage of its own.
pub struct Phone {
    session: String,
}

impl Chromium {
    /// `None` when it is not installed.
    pub fn start() -> Option<Chromium> {
        let chromium = program("chromium")?;
        let profile = tempfile::tempdir().expect("a folder");
        let mut child = Command::new(chromium)
            .args([
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--remote-debugging-port=0",
            ])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg("about:blank")
            .stderr(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .expect("chromium starts");
        let mut lines = BufReader::new(child.stderr.take().expect("piped")).lines();
        let url = lines.by_ref().map_while(Result::ok).find_map(|line| {
            line.strip_prefix("DevTools listening on ")
                .map(str::to_owned)
        });
        let url = url.expect("chromium tells its port");
        thread::spawn(move || lines.map_while(Result::ok).for_each(drop));
        let host = url
            .trim_start_matches("ws://")
            .split('/')
            .next()
            .expect("a host");
        let stream = TcpStream::connect(host).expect("it listens");
        let (socket, _) = client(&url, stream).expect("it speaks WebSocket");
        Some(Chromium {
            child,
            socket,
            last: 0,
            faults: Vec::new(),
            _profile: profile,
        })
    }

    fn call(&mut self, session: Option<&str>, method: &str, params: &Value) -> Value {
        self.last += 1;
        let mut call = json!({"id": self.last, "method": method, "params": params});
        if let Some(session) = session {
            call["sessionId"] = session.into();
        }
        self.socket
            .send(Message::text(call.to_string()))
            .expect("it listens");
        loop {
            let Message::Text(text) = self.socket.read().expect("it answers") else {
                continue;
            };
            let answer: Value = serde_json::from_str(&text).expect("JSON");
            match answer["method"].as_str() {
                Some("Runtime.exceptionThrown") => {
                    self.faults
                        .push(answer["params"]["exceptionDetails"].to_string());
                }
                Some("Log.entryAdded") if answer["params"]["entry"]["source"] == "security" => {
                    self.faults
                        .push(answer["params"]["entry"]["text"].to_string());
                }
                _ => {}
            }
            if answer["id"] == self.last {
                assert!(answer["error"].is_null(), "{method}: {}", answer["error"]);
                return answer["result"].clone();
            }
        }
    }

    /// A new page of this size (CSS pixels), in this language, that opens `url`.
    pub fn phone(&mut self, url: &str, size: (u32, u32), language: &str, dark: bool) -> Phone {
        let context = self.call(None, "Target.createBrowserContext", &json!({}));
        let target = json!({"url": "about:blank", "browserContextId": context["browserContextId"]});
        let target = self.call(None, "Target.createTarget", &target);
        let attach = json!({"targetId": target["targetId"], "flatten": true});
        let attached = self.call(None, "Target.attachToTarget", &attach);
        let phone = Phone {
            session: attached["sessionId"]
                .as_str()
                .expect("a session")
                .to_owned(),
        };
        let scheme = if dark { "dark" } else { "light" };
        for (method, params) in [
            ("Runtime.enable", json!({})),
            ("Log.enable", json!({})),
            ("Page.enable", json!({})),
            (
                "Emulation.setDeviceMetricsOverride",
                json!({"width": size.0, "height": size.1, "deviceScaleFactor": 1, "mobile": size.0 < 800}),
            ),
            (
                "Emulation.setEmulatedMedia",
                json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]}),
            ),
            (
                "Emulation.setUserAgentOverride",
                json!({"userAgent": "Atalaya test", "acceptLanguage": language}),
            ),
            ("Page.navigate", json!({"url": url})),
        ] {
            self.call(Some(&phone.session), method, &params);
        }
        phone
    }

    /// What an expression gives.
    pub fn ask(&mut self, phone: &Phone, expression: &str) -> Value {
        let params = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let answer = self.call(Some(&phone.session), "Runtime.evaluate", &params);
        assert!(
            answer["exceptionDetails"].is_null(),
            "{expression}: {answer}"
        );
        answer["result"]["value"].clone()
    }

    /// Waits until an expression is true; how long that took.
    pub fn until(&mut self, phone: &Phone, expression: &str) -> Duration {
        let begin = Instant::now();
        while self.ask(phone, expression) != true {
            assert!(
                begin.elapsed() < Duration::from_secs(30),
                "never: {expression}; the page: {}",
                self.ask(phone, "document.body.innerText")
            );
            thread::sleep(Duration::from_millis(20));
        }
        begin.elapsed()
    }

    /// A finger on the middle of an element.
    pub fn tap(&mut self, phone: &Phone, selector: &str) {
        self.until(
            phone,
            &format!("!!document.querySelector({})", json!(selector)),
        );
        let middle = format!(
            "(() => {{ const one = document.querySelector({}); one.scrollIntoView({{block: 'center'}});
               const box = one.getBoundingClientRect();
               return [box.x + box.width / 2, box.y + box.height / 2]; }})()",
            json!(selector)
        );
        let middle = self.ask(phone, &middle);
        for kind in ["mousePressed", "mouseReleased"] {
            let params = json!({"type": kind, "x": middle[0], "y": middle[1], "button": "left", "clickCount": 1});
            self.call(Some(&phone.session), "Input.dispatchMouseEvent", &params);
        }
    }

    /// A key: `Enter`, `Tab`.
    pub fn key(&mut self, phone: &Phone, key: &str) {
        let text = if key == "Enter" { "\r" } else { "" };
        let code = if key == "Enter" { 13 } else { 9 };
        for kind in ["keyDown", "keyUp"] {
            let params = json!({"type": kind, "key": key, "code": key, "text": text,
                "windowsVirtualKeyCode": code});
            self.call(Some(&phone.session), "Input.dispatchKeyEvent", &params);
        }
    }

    /// Types into what has the focus.
    pub fn write(&mut self, phone: &Phone, text: &str) {
        self.call(
            Some(&phone.session),
            "Input.insertText",
            &json!({"text": text}),
        );
    }

    /// Why the browser would not keep the page as an app. These pages are private ones, for which it
    /// never does; that is left out.
    pub fn not_installable(&mut self, phone: &Phone) -> Vec<String> {
        let errors = self.call(
            Some(&phone.session),
            "Page.getInstallabilityErrors",
            &json!({}),
        );
        let errors = errors["installabilityErrors"].as_array().cloned();
        let errors = errors.expect("a list").into_iter();
        errors
            .map(|error| error["errorId"].to_string())
            .filter(|error| !error.contains("in-incognito"))
            .collect()
    }

    /// A picture of what the page shows, as PNG.
    pub fn picture(&mut self, phone: &Phone, file: &Path) {
        let shot = self.call(
            Some(&phone.session),
            "Page.captureScreenshot",
            &json!({"format": "png"}),
        );
        let data = shot["data"].as_str().expect("a picture");
        let bytes = base64::engine::general_purpose::STANDARD
            .decode(data)
            .expect("base64");
        fs::write(file, bytes).expect("it writes");
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
