//! What the tests share: a session on the German example, and requests as a browser or a stranger sends them.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use sogar::CancelToken;
use sogar::config::Config;
use sogar::model::Source;
use sogar_studio::change::Change;
use sogar_studio::{Given, ModelOf, Server, Session, TableOf};

pub fn german() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/german")
}

/// A session on the German example, with trees of depth 1 so that searches take a moment.
pub fn session() -> Arc<Session> {
    let folder = german();
    let mut config = Config::read(&folder.join("sogar.toml")).unwrap();
    config.limits.max_depth = Some(1);
    let given = Given {
        table: Some(TableOf::File(folder.join("german.csv"))),
        model: Some(ModelOf::Source(Source::File(folder.join("model.txt")))),
        config,
        complete: true,
        folder,
    };
    let session = Session::new(given).unwrap();
    session.open().unwrap();
    session
}

pub fn change(path: &[&str], value: Value) -> Change {
    serde_json::from_value(json!({ "label": "test", "set": [{ "path": path, "value": value }] })).unwrap()
}

/// Searches with the current settings, and gives the number of the run.
pub fn searched(session: &Arc<Session>) -> usize {
    session.solve().unwrap();
    waited(session);
    session.shown()["runs"].as_array().unwrap().last().unwrap()["id"].as_u64().unwrap() as usize
}

pub fn waited(session: &Arc<Session>) {
    let start = Instant::now();
    while !session.shown()["live"].is_null() {
        assert!(start.elapsed() < Duration::from_secs(300), "the search does not end");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A server that runs.
pub struct Running {
    pub host: String,
    pub token: String,
    pub session: Arc<Session>,
    cancel: CancelToken,
    thread: Option<JoinHandle<()>>,
}

impl Running {
    pub fn new(session: Arc<Session>) -> Running {
        let server = Server::new(Arc::clone(&session)).unwrap();
        let address = server.address();
        let (host, token) = address.strip_prefix("http://").unwrap().split_once('/').unwrap();
        let cancel = CancelToken::new();
        let (host, token, told) = (host.to_owned(), token.trim_end_matches('/').to_owned(), cancel.clone());
        let thread = std::thread::spawn(move || server.serve(&told).unwrap());
        Running { host, token, session, cancel, thread: Some(thread) }
    }

    /// Sends bytes; gives the status and the whole answer.
    pub fn raw(&self, request: &[u8]) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.host).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(120))).unwrap();
        // The server may answer and close before it has read everything.
        let _ = stream.write_all(request);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let text = String::from_utf8_lossy(&answer).into_owned();
        let status = text.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        (status, text)
    }

    /// A request with these headers besides its length.
    pub fn with(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> (u16, String) {
        let mut request =
            format!("{method} {path} HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n", body.len());
        for (name, value) in headers {
            request += &format!("{name}: {value}\r\n");
        }
        self.raw(&[request.as_bytes(), b"\r\n", body].concat())
    }

    /// A request as the page sends it.
    pub fn own(&self, method: &str, path: &str, body: &[u8]) -> (u16, String) {
        let origin = format!("http://{}", self.host);
        let headers = [("Host", self.host.as_str()), ("Origin", &origin), ("Sec-Fetch-Site", "same-origin")];
        self.with(method, &format!("/{}/{path}", self.token), &headers, body)
    }

    pub fn ends(mut self) {
        self.cancel.cancel();
        self.thread.take().unwrap().join().unwrap();
    }
}

/// What follows the headers.
pub fn body(answer: &str) -> &str {
    answer.split_once("\r\n\r\n").map_or("", |(_, body)| body)
}
