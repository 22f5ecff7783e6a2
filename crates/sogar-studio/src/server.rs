//! HTTP on the loopback address.
//!
//! One thread accepts and answers; what may take long (reading, preparing, reports) runs in threads of its own, so that news of a running
//! search keep coming.

use std::convert::Infallible;
use std::net::{Ipv4Addr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Body, Bytes, Incoming};
use hyper::header::{CONTENT_DISPOSITION, CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use serde_json::json;
use sogar::{CancelToken, Error, ErrorKind, Result};

use crate::guard::{Guard, secure};
use crate::inputs::MOST_BYTES;
use crate::routes::{Answer, Request, answer, news};
use crate::session::Session;

/// Limit of a request that is not a file.
const MOST_SETTINGS: usize = 1 << 20;
/// How often the end of the session is looked for.
const LOOK: Duration = Duration::from_millis(50);
/// How long answers may still be written after the end.
const GRACE: Duration = Duration::from_millis(300);

/// A server that listens, but does not answer yet.
pub struct Server {
    listener: TcpListener,
    guard: Guard,
    session: Arc<Session>,
}

impl Server {
    /// Listens at a free port of the loopback address.
    pub fn new(session: Arc<Session>) -> Result<Server> {
        let fault = |cause: std::io::Error| {
            Error::new(ErrorKind::Usage, format!("no server could be started on this computer: {cause}"))
        };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(fault)?;
        listener.set_nonblocking(true).map_err(fault)?;
        let guard = Guard::new(listener.local_addr().map_err(fault)?.to_string()).map_err(fault)?;
        Ok(Server { listener, guard, session })
    }

    /// The address to open, with the token.
    pub fn address(&self) -> String {
        self.guard.address()
    }

    /// Answers until the session ends or `cancel` is cancelled; then stops what is running.
    pub fn serve(self, cancel: &CancelToken) -> Result<()> {
        let fault =
            |cause: std::io::Error| Error::new(ErrorKind::Usage, format!("the server failed: {cause}"));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(fault)?;
        let result = runtime.block_on(self.accept(cancel)).map_err(fault);
        self.session.end();
        // A report that is being made is not waited for.
        runtime.shutdown_timeout(Duration::from_millis(100));
        result
    }

    async fn accept(&self, cancel: &CancelToken) -> std::io::Result<()> {
        let listener = tokio::net::TcpListener::from_std(self.listener.try_clone()?)?;
        loop {
            if cancel.is_cancelled() || self.session.has_ended() {
                self.session.finish();
                tokio::time::sleep(GRACE).await;
                return Ok(());
            }
            let Ok(accepted) = tokio::time::timeout(LOOK, listener.accept()).await else { continue };
            // A connection that failed while it was accepted is the other side's loss.
            let Ok((stream, _)) = accepted else { continue };
            let (guard, session) = (self.guard.clone(), Arc::clone(&self.session));
            tokio::spawn(async move {
                let service = service_fn(move |request| {
                    let (guard, session) = (guard.clone(), Arc::clone(&session));
                    async move { Ok::<_, Infallible>(respond(&guard, session, request).await) }
                });
                // The other side may close at any time.
                let _ = http1::Builder::new()
                    .timer(TokioTimer::new())
                    .header_read_timeout(Duration::from_secs(60))
                    .max_buf_size(64 << 10)
                    .serve_connection(TokioIo::new(stream), service)
                    .await;
            });
        }
    }
}

async fn respond(
    guard: &Guard,
    session: Arc<Session>,
    request: hyper::Request<Incoming>,
) -> Response<Full<Bytes>> {
    let method = request.method().clone();
    let fault = |status, message: &str| Answer::fault(status, &json!({ "message": message }));
    let path = request.uri().path().to_owned();
    let answer = match guard.admit(&method, &path, request.headers()) {
        Err((status, message)) => fault(status, message),
        Ok(_) if method != Method::GET && method != Method::POST => {
            fault(StatusCode::METHOD_NOT_ALLOWED, "only GET and POST are understood")
        }
        Ok(path) => {
            let (path, query) = (path.to_owned(), request.uri().query().unwrap_or_default().to_owned());
            let most = if path.starts_with("drop/") { MOST_BYTES as usize } else { MOST_SETTINGS };
            // An announced length is refused before anything is read.
            let announced = request.body().size_hint().lower();
            let read = match announced > most as u64 {
                true => None,
                false => Limited::new(request.into_body(), most).collect().await.ok(),
            };
            match read {
                None => fault(
                    StatusCode::PAYLOAD_TOO_LARGE,
                    &format!(
                        "this is more than {} MB, or it was not sent in whole: name large files on the command line, sogar studio TABLE --model FILE",
                        most >> 20
                    ),
                ),
                Some(body) => {
                    let request = Request { method, path, query, body: body.to_bytes() };
                    if request.path == "state" && request.method == Method::GET {
                        news(session, &request).await
                    } else {
                        let work = tokio::task::spawn_blocking(move || answer(&session, &request));
                        work.await.unwrap_or_else(|_| {
                            fault(StatusCode::INTERNAL_SERVER_ERROR, "the request failed unexpectedly")
                        })
                    }
                }
            }
        }
    };
    let mut response = Response::new(Full::new(answer.body));
    *response.status_mut() = answer.status;
    secure(response.headers_mut(), answer.policy);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(answer.kind));
    if let Some(name) = answer.saved_as
        && let Ok(value) = HeaderValue::from_str(&format!("attachment; filename=\"{name}\""))
    {
        response.headers_mut().insert(CONTENT_DISPOSITION, value);
    }
    response
}

/// Opens an address in the user's browser; whether that worked.
pub fn open_browser(address: &str) -> bool {
    use std::process::{Command, Stdio};
    let (program, first): (&str, &[&str]) = if cfg!(target_os = "macos") {
        ("open", &[])
    } else if cfg!(windows) {
        ("rundll32", &["url.dll,FileProtocolHandler"])
    } else {
        ("xdg-open", &[])
    };
    let mut command = Command::new(program);
    command.args(first).arg(address).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}
