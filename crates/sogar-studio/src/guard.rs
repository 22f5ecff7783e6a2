//! Who may ask the server, and what its answers may do in a browser.
//!
//! Every page that a browser shows can send requests to the loopback address. Three checks keep them out:
//!
//! - **Token.** The first part of every path is a random token of 128 bits, which only the printed address has. Answers tell a browser to
//!   send no referrer, so the token does not leave the page.
//! - **Host.** The header must be this server's address, so a foreign name that resolves to it (DNS rebinding) gets nothing.
//! - **Origin.** A request that another page makes carries that page's origin, or says that it is cross-site. It is refused, even with the
//!   token; a request that changes something must say that it comes from here.

use hyper::header::{HOST, HeaderMap, HeaderName, HeaderValue, ORIGIN};
use hyper::{Method, StatusCode};

/// The address of this server and its token.
#[derive(Debug, Clone)]
pub struct Guard {
    host: String,
    token: String,
}

/// Why a request is refused.
pub type Refusal = (StatusCode, &'static str);

/// What no page outside may do, for every answer.
const HEADERS: [(&str, &str); 6] = [
    ("cache-control", "no-store"),
    ("referrer-policy", "no-referrer"),
    ("x-content-type-options", "nosniff"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("permissions-policy", "camera=(), microphone=(), geolocation=()"),
];

/// What the page itself may do: its own scripts and styles, requests to this server, frames of this server.
pub const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; \
                          frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/// A report brings a policy of its own, for its script and style; only the page may frame it.
pub const FRAMED: &str = "frame-ancestors 'self'";

impl Guard {
    /// A guard of the server at `host` (address and port), with a new token.
    pub fn new(host: String) -> std::io::Result<Guard> {
        let mut bytes = [0u8; 16];
        getrandom::fill(&mut bytes).map_err(|cause| std::io::Error::other(cause.to_string()))?;
        Ok(Guard { host, token: bytes.iter().map(|byte| format!("{byte:02x}")).collect() })
    }

    /// The address to open.
    pub fn address(&self) -> String {
        format!("http://{}/{}/", self.host, self.token)
    }

    /// The path behind the token, if the request is one of this page.
    pub fn admit<'a>(&self, method: &Method, path: &'a str, headers: &HeaderMap) -> Result<&'a str, Refusal> {
        let one = |name: HeaderName| {
            let mut values = headers.get_all(name).iter();
            (values.next().and_then(|value| value.to_str().ok()), values.next().is_some())
        };
        if one(HOST) != (Some(self.host.as_str()), false) {
            return Err((StatusCode::MISDIRECTED_REQUEST, "this is not the address of this server"));
        }
        let (token, rest) = path.strip_prefix('/').and_then(|path| path.split_once('/')).unwrap_or_default();
        if !same(token, &self.token) {
            return Err((
                StatusCode::FORBIDDEN,
                "the token is missing or wrong: open the address that sogar printed",
            ));
        }
        let reads = method == Method::GET;
        match one(ORIGIN) {
            (Some(origin), false) if origin.strip_prefix("http://") == Some(self.host.as_str()) => {}
            (None, false) if reads => {}
            _ => return Err((StatusCode::FORBIDDEN, "the request comes from another page")),
        }
        let site = headers.get("sec-fetch-site").map(HeaderValue::as_bytes);
        let opened = rest.is_empty() && headers.get("sec-fetch-mode").is_some_and(|mode| mode == "navigate");
        match site {
            None | Some(b"same-origin" | b"none") => Ok(rest),
            // A link elsewhere, as in a notebook, may open the page; it can't read or change anything.
            Some(_) if reads && opened => Ok(rest),
            Some(_) => Err((StatusCode::FORBIDDEN, "the request comes from another page")),
        }
    }
}

/// Compares in a time that does not depend on where two texts differ.
fn same(a: &str, b: &str) -> bool {
    a.len() == b.len() && a.bytes().zip(b.bytes()).fold(0, |sum, (a, b)| sum | (a ^ b)) == 0
}

/// Adds the headers of every answer, and the policy of this one.
pub fn secure(headers: &mut HeaderMap, policy: &'static str) {
    for (name, value) in HEADERS {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    headers.insert(HeaderName::from_static("content-security-policy"), HeaderValue::from_static(policy));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guard() -> Guard {
        Guard::new("127.0.0.1:4000".to_owned()).unwrap()
    }

    fn headers(list: &[(&str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in list {
            headers.append(
                HeaderName::from_bytes(name.as_bytes()).unwrap(),
                HeaderValue::from_str(value).unwrap(),
            );
        }
        headers
    }

    const HERE: (&str, &str) = ("host", "127.0.0.1:4000");

    #[test]
    fn the_page_itself_is_admitted() {
        let guard = guard();
        let path = format!("/{}/state", guard.token);
        assert_eq!(guard.admit(&Method::GET, &path, &headers(&[HERE])), Ok("state"));
        let own = [HERE, ("origin", "http://127.0.0.1:4000"), ("sec-fetch-site", "same-origin")];
        assert_eq!(guard.admit(&Method::POST, &path, &headers(&own)), Ok("state"));
        let index = format!("/{}/", guard.token);
        let link = [HERE, ("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate")];
        assert_eq!(guard.admit(&Method::GET, &index, &headers(&link)), Ok(""));
        assert!(guard.admit(&Method::GET, &path, &headers(&link)).is_err(), "only the page itself");
        assert_eq!(guard.token.len(), 32);
        assert_ne!(guard.token, super::tests::guard().token);
    }

    #[test]
    fn other_hosts_origins_and_tokens_are_refused() {
        let guard = guard();
        let path = format!("/{}/state", guard.token);
        let get = |list: &[(&str, &str)]| guard.admit(&Method::GET, &path, &headers(list)).err().map(|e| e.0);
        for host in ["evil.example:4000", "localhost:4000", "127.0.0.1", "127.0.0.1:4001", ""] {
            assert_eq!(get(&[("host", host)]), Some(StatusCode::MISDIRECTED_REQUEST), "{host}");
        }
        assert_eq!(get(&[]), Some(StatusCode::MISDIRECTED_REQUEST));
        assert_eq!(get(&[HERE, ("host", "evil.example")]), Some(StatusCode::MISDIRECTED_REQUEST));
        for origin in ["http://evil.example", "null", "https://127.0.0.1:4000", "http://127.0.0.1:4001"] {
            assert_eq!(get(&[HERE, ("origin", origin)]), Some(StatusCode::FORBIDDEN), "{origin}");
        }
        for site in ["cross-site", "same-site", "anything"] {
            assert_eq!(get(&[HERE, ("sec-fetch-site", site)]), Some(StatusCode::FORBIDDEN), "{site}");
        }
        let post = guard.admit(&Method::POST, &path, &headers(&[HERE]));
        assert_eq!(
            post.err().map(|e| e.0),
            Some(StatusCode::FORBIDDEN),
            "who changes something says from where"
        );
        for path in [
            "/",
            "",
            "/state",
            "//state",
            "/0/state",
            &format!("/{}", guard.token),
            &format!("/{}0/", guard.token),
        ] {
            let refused = guard.admit(&Method::GET, path, &headers(&[HERE])).err().map(|e| e.0);
            assert_eq!(refused, Some(StatusCode::FORBIDDEN), "{path}");
        }
    }
}
