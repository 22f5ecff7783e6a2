//! Addresses into calls of the session. Paths are compared with names, never looked up on disk.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use hyper::body::Bytes;
use hyper::{Method, StatusCode};
use percent_encoding::percent_decode_str;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use sogar::{CancelToken, Error, ErrorKind, Result};

use crate::assets;
use crate::change::Change;
use crate::guard::{FRAMED, POLICY};
use crate::session::{Session, told};
use crate::take_away;

/// How long a request for news waits.
const PATIENCE: Duration = Duration::from_secs(20);

/// An answer.
pub struct Answer {
    /// Its status.
    pub status: StatusCode,
    /// The type of its body.
    pub kind: &'static str,
    /// The policy of its content.
    pub policy: &'static str,
    /// The file name under which it is saved, if it is.
    pub saved_as: Option<&'static str>,
    /// Its body.
    pub body: Bytes,
}

impl Answer {
    /// Text of some type.
    fn text(kind: &'static str, body: impl Into<Bytes>) -> Answer {
        Answer { status: StatusCode::OK, kind, policy: POLICY, saved_as: None, body: body.into() }
    }

    fn json(value: &Value) -> Answer {
        Answer::text("application/json", value.to_string())
    }

    fn file(kind: &'static str, name: &'static str, body: String) -> Answer {
        Answer { saved_as: Some(name), ..Answer::text(kind, body) }
    }

    /// A refusal or a fault.
    pub fn fault(status: StatusCode, value: &Value) -> Answer {
        Answer { status, ..Answer::json(value) }
    }
}

/// A request behind the guard.
pub struct Request {
    /// GET or POST.
    pub method: Method,
    /// The path behind the token.
    pub path: String,
    /// What follows the question mark.
    pub query: String,
    /// The body.
    pub body: Bytes,
}

impl Request {
    /// The first value of a parameter.
    fn parameter(&self, name: &str) -> Option<String> {
        self.parameters(name).into_iter().next()
    }

    fn parameters(&self, name: &str) -> Vec<String> {
        let pairs = self.query.split('&').filter_map(|pair| pair.split_once('='));
        let values = pairs.filter(|(key, _)| *key == name).map(|(_, value)| value.replace('+', " "));
        values.filter_map(|value| percent_decode_str(&value).decode_utf8().ok().map(Into::into)).collect()
    }

    fn json<T: DeserializeOwned>(&self) -> Result<T> {
        serde_json::from_slice(&self.body)
            .map_err(|cause| Error::new(ErrorKind::Usage, format!("the request is not understood: {cause}")))
    }
}

/// News: waits until the state is newer than what a tab has shown, or for a while.
pub async fn news(session: Arc<Session>, request: &Request) -> Answer {
    let known: u64 = request.parameter("after").and_then(|text| text.parse().ok()).unwrap_or(0);
    let mut changes = session.watch();
    let newer = changes.wait_for(|&version| version > known);
    let _ = tokio::time::timeout(PATIENCE, newer).await;
    Answer::json(&session.shown())
}

/// Answers a request; may take long.
pub fn answer(session: &Arc<Session>, request: &Request) -> Answer {
    match found(session, request) {
        Ok(Some(answer)) => answer,
        Ok(None) => {
            Answer::fault(StatusCode::NOT_FOUND, &json!({ "message": "there is nothing at this address" }))
        }
        Err(error) => Answer::fault(StatusCode::BAD_REQUEST, &told(&error)),
    }
}

fn found(session: &Arc<Session>, request: &Request) -> Result<Option<Answer>> {
    let parts: Vec<&str> = request.path.split('/').collect();
    let done = || Ok(Some(Answer::json(&session.shown())));
    let reads = request.method == Method::GET;
    match (reads, parts.as_slice()) {
        (true, [""]) => Ok(Some(Answer::text("text/html; charset=utf-8", assets::INDEX))),
        (true, ["page", name]) => Ok(assets::file(name).map(|(text, kind)| Answer::text(kind, text))),
        (true, ["problem"]) => Ok(Some(Answer::text("application/json", session.problem()?.to_string()))),
        (true, ["sogar.toml"]) => {
            let (_, config) = session.current()?;
            Ok(Some(Answer::file("application/toml", "sogar.toml", take_away::configuration(&config)?)))
        }
        (true, ["run", id, what]) => run(session, request, id, what).map(Some),
        (false, ["change"]) => session.change(&request.json::<Change>()?).and_then(|()| done()),
        (false, ["undo"]) => session.undo(true).and_then(|()| done()),
        (false, ["redo"]) => session.undo(false).and_then(|()| done()),
        (false, ["go", step]) => session.go_to(number(step)?).and_then(|()| done()),
        (false, ["solve"]) => session.solve().and_then(|()| done()),
        (false, ["stop"]) => {
            session.stop();
            done()
        }
        (false, ["end"]) => {
            session.finish();
            done()
        }
        (false, ["drop", what]) => {
            let name = request.parameter("name").unwrap_or_default();
            session.dropped(what, &name, &request.body).and_then(|()| done())
        }
        (false, ["run", id, "restore"]) => session.restore(number(id)?).and_then(|()| done()),
        (false, ["run", id, "name"]) => {
            let names: BTreeMap<String, String> = request.json()?;
            let name = names.get("name").map_or("", String::as_str);
            session.name(number(id)?, name).and_then(|()| done())
        }
        _ => Ok(None),
    }
}

fn number(text: &str) -> Result<usize> {
    text.parse().map_err(|_| Error::new(ErrorKind::Usage, "there is no such run or step"))
}

/// What there is of a run.
fn run(session: &Arc<Session>, request: &Request, id: &str, what: &str) -> Result<Answer> {
    let run = session.run(number(id)?)?;
    let groups = request.parameters("group");
    let report = |what_if: bool| {
        let rows = request.parameter("rows").as_deref() == Some("yes");
        take_away::report(&run, &groups, rows, what_if, &CancelToken::new())
    };
    match what {
        "front.json" => {
            Ok(Answer::file("application/json", "front.json", take_away::front_file(&run.front)?))
        }
        "sogar.toml" => {
            Ok(Answer::file("application/toml", "sogar.toml", take_away::configuration(&run.config)?))
        }
        "report.html" => Ok(Answer::file("text/html; charset=utf-8", "report.html", report(false)?)),
        "explore" => Ok(Answer { policy: FRAMED, ..Answer::text("text/html; charset=utf-8", report(true)?) }),
        "commands" => Ok(Answer::json(&json!({ "commands": take_away::commands(&run.inputs, &groups) }))),
        "compare" => {
            let other = request.parameter("with").unwrap_or_default();
            Ok(Answer::json(&take_away::compare(&*session.run(number(&other)?)?, &run)))
        }
        _ => Err(Error::new(ErrorKind::Usage, "a run has no such part")),
    }
}
