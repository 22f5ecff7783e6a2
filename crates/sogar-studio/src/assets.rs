//! The files of the page: its own, and those that it shares with the report.

use sogar::report::part;

/// What the page shows of a front: the report's own page with buttons at each piece of advice and each question.
pub const WHAT_IF: (&str, &str) = ("what_if", include_str!("page/what_if.js"));

/// The page.
pub const INDEX: &str = include_str!("page/index.html");

/// A file by its name, with its type. Names are looked up in a list, never on disk.
pub fn file(name: &str) -> Option<(&'static str, &'static str)> {
    let text = match name {
        "studio.css" => include_str!("page/studio.css"),
        "studio.js" => include_str!("page/studio.js"),
        "server.js" => include_str!("page/server.js"),
        "columns.js" => include_str!("page/columns.js"),
        "rebuild.js" => include_str!("page/rebuild.js"),
        "settings.js" => include_str!("page/settings.js"),
        "fronts.js" => include_str!("page/fronts.js"),
        "runs.js" => include_str!("page/runs.js"),
        "inputs.js" => include_str!("page/inputs.js"),
        "explore.js" => include_str!("page/explore.js"),
        "take.js" => include_str!("page/take.js"),
        _ => part(name)?,
    };
    let kind =
        if name.ends_with(".css") { "text/css; charset=utf-8" } else { "text/javascript; charset=utf-8" };
    Some((text, kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_import_of_the_page_is_served() {
        let mut open = vec!["studio.js".to_owned()];
        let mut seen = Vec::new();
        while let Some(name) = open.pop() {
            let (text, _) = file(&name).unwrap_or_else(|| panic!("{name} is not served"));
            for line in text.lines().filter(|line| line.starts_with("import ")) {
                let from = line.split("'./").nth(1).and_then(|rest| rest.split('\'').next()).unwrap();
                if !seen.contains(&from.to_owned()) {
                    open.push(from.to_owned());
                }
            }
            seen.push(name);
        }
        assert!(file("studio.css").is_some() && file("page.css").is_some());
        for name in ["front.js", "../Cargo.toml", "page/studio.js", "", "what_if.js"] {
            assert!(file(name).is_none(), "{name}");
        }
    }

    #[test]
    fn the_page_parses_no_html_and_needs_nothing_from_elsewhere() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/page");
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let text = std::fs::read_to_string(&path).unwrap();
            for way in
                ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function("]
            {
                assert!(!text.contains(way), "{}: {way}", path.display());
            }
            let elsewhere = text.replace("http://www.w3.org/2000/svg", "");
            assert!(!elsewhere.contains("http://") && !elsewhere.contains("https://"), "{}", path.display());
        }
        assert!(!INDEX.contains(" style=") && !INDEX.contains(" onclick="));
    }
}
