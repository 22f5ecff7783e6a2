//! Requests that the page would never send.

use crate::common::{Running, body, session};
use sogar_studio::{Given, Session};

fn empty() -> Running {
    Running::new(Session::new(Given::default()).unwrap())
}

#[test]
fn strangers_get_nothing() {
    let server = empty();
    let path = format!("/{}/state?after=0", server.token);
    let host = ("Host", server.host.as_str());
    assert_eq!(server.with("GET", &path, &[host], b"").0, 200);
    let other = format!("localhost:{}", server.host.rsplit(':').next().unwrap());
    for (why, status, headers) in [
        ("another host", 421, vec![("Host", "evil.example")]),
        ("another name of this computer", 421, vec![("Host", other.as_str())]),
        ("no host", 421, vec![]),
        ("two hosts", 421, vec![host, ("Host", "evil.example")]),
        ("a foreign origin", 403, vec![host, ("Origin", "https://evil.example")]),
        ("no origin at all", 403, vec![host, ("Origin", "null")]),
        ("a page elsewhere", 403, vec![host, ("Sec-Fetch-Site", "cross-site")]),
        ("another port", 403, vec![host, ("Sec-Fetch-Site", "same-site")]),
    ] {
        let (got, answer) = server.with("GET", &path, &headers, b"");
        // What is no HTTP/1.1 is refused before the guard sees it.
        assert!(got == status || (headers.is_empty() && got == 400), "{why}: {answer}");
        assert!(!answer.contains("version"), "{why}: {answer}");
    }
    for path in ["/", "/state", "/x/state", "//", &format!("/{}", server.token)] {
        assert_eq!(server.with("GET", path, &[host], b"").0, 403, "{path}");
    }
    server.ends();
}

#[test]
fn only_this_page_changes_something() {
    let server = empty();
    let host = ("Host", server.host.as_str());
    for path in ["end", "stop", "solve", "change", "drop/table?name=x.csv"] {
        let path = format!("/{}/{path}", server.token);
        for headers in [
            vec![host],
            vec![host, ("Origin", "http://evil.example")],
            vec![host, ("Sec-Fetch-Site", "none")],
        ] {
            assert_eq!(server.with("POST", &path, &headers, b"{}").0, 403, "{path}");
        }
    }
    assert!(!server.session.has_ended());
    for method in ["PUT", "DELETE", "OPTIONS", "PATCH"] {
        assert_eq!(server.own(method, "end", b"").0, 405, "{method}");
    }
    assert_eq!(server.own("GET", "end", b"").0, 404, "a link changes nothing");
    assert!(!server.session.has_ended());
    server.ends();
}

#[test]
fn paths_lead_to_no_files() {
    let server = empty();
    for path in [
        "page/../../Cargo.toml",
        "page/..%2f..%2fCargo.toml",
        "page//etc/passwd",
        "../../../../etc/passwd",
        "page/%2e%2e/%2e%2e/etc/passwd",
        "run/../front.json",
        "run/1/../../etc/passwd",
        "page/front.js",
        "page/",
    ] {
        let (status, answer) = server.own("GET", path, b"");
        assert!(status == 404 || status == 400, "{path}: {answer}");
        assert!(!answer.contains("root:") && !answer.contains("[package]"), "{path}");
    }
    let (status, _) = server.own("POST", "drop/table?name=..%2F..%2Fescaped.csv", b"a,b\n1,2\n");
    assert_eq!(status, 200);
    assert_eq!(server.session.shown()["table"], "escaped.csv");
    assert_eq!(server.own("POST", "drop/elsewhere?name=x", b"x").0, 400);
    server.ends();
}

#[test]
fn what_is_too_large_is_refused() {
    let server = empty();
    let origin = format!("http://{}", server.host);
    // Refused by the announced length, before anything is sent.
    for (path, most, said) in [("change", 1u64 << 20, "1 MB"), ("drop/table?name=x.csv", 256 << 20, "256 MB")]
    {
        let request = format!(
            "POST /{}/{path} HTTP/1.1\r\nHost: {}\r\nOrigin: {origin}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
            server.token,
            server.host,
            most + 1
        );
        let (status, answer) = server.raw(request.as_bytes());
        assert_eq!(status, 413, "{answer}");
        assert!(body(&answer).contains(&format!("more than {said}")), "{answer}");
    }
    // Without a length, by what comes.
    let chunk = format!("{:x}\r\n{}\r\n0\r\n\r\n", (1 << 20) + 1, " ".repeat((1 << 20) + 1));
    let request = format!(
        "POST /{}/change HTTP/1.1\r\nHost: {}\r\nOrigin: {origin}\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n{chunk}",
        server.token, server.host
    );
    let (status, answer) = server.raw(request.as_bytes());
    assert!(status == 413 || answer.is_empty(), "{answer}");
    assert!(server.session.shown()["table"].is_null());
    server.ends();
}

#[test]
fn every_answer_is_safe_in_a_browser() {
    let server = empty();
    for path in ["", "page/studio.js", "page/page.css", "state?after=0", "nothing"] {
        let (_, answer) = server.own("GET", path, b"");
        let head = answer.split("\r\n\r\n").next().unwrap().to_lowercase();
        for part in [
            "x-content-type-options: nosniff",
            "referrer-policy: no-referrer",
            "cache-control: no-store",
            "cross-origin-resource-policy: same-origin",
            "default-src 'none'",
            "script-src 'self'",
            "frame-ancestors 'none'",
        ] {
            assert!(head.contains(part), "{path}: {part} is not in {head}");
        }
        assert!(!head.contains("unsafe") && !head.contains("access-control-allow"), "{head}");
    }
    server.ends();
}

#[test]
fn scripts_in_names_of_files_stay_text() {
    let session = Session::new(Given::default()).unwrap();
    let evil = "<img src=x onerror=alert(1)></script>";
    let table = format!("\"{evil}\",credit\n1,good\n2,bad\n");
    session.dropped("table", &format!("{evil}.csv"), table.as_bytes()).unwrap();
    let server = Running::new(session);
    let (status, answer) = server.own("GET", "state?after=0", b"");
    assert_eq!(status, 200);
    assert!(answer.to_lowercase().contains("content-type: application/json"), "{answer}");
    assert!(!body(&answer).contains("<img"), "the name of a file has no markup: {answer}");
    server.ends();
}

#[test]
fn the_report_in_the_frame_is_only_for_this_page() {
    let session = session();
    let id = crate::common::searched(&session);
    let server = Running::new(session);
    let (status, answer) = server.own("GET", &format!("run/{id}/explore?group=housing"), b"");
    assert_eq!(status, 200, "{answer}");
    assert!(answer.to_lowercase().contains("content-security-policy: frame-ancestors 'self'"));
    let page = body(&answer);
    assert!(page.contains(
        "http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'sha256-"
    ));
    assert!(page.contains("What if not?"), "the studio's buttons");
    let (_, answer) = server.own("GET", &format!("run/{id}/report.html"), b"");
    assert!(
        answer.contains("attachment; filename=\"report.html\"") && !body(&answer).contains("What if not?")
    );
    assert_eq!(server.own("GET", "run/99/explore", b"").0, 400);
    server.ends();
}
