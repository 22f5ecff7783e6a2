//! Builds the page: one HTML file from plain HTML, CSS and JavaScript modules.
//!
//! The browser must not fetch anything, not even the page's own modules, so these become one script: each module is a function
//! that returns its exports, in the order of [`MODULES`]. The Content-Security-Policy lists script and style by their hashes and
//! forbids everything else, so no name or category of the table can run as code.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use sogar_base::error::{Error, ErrorKind, Result};
use sogar_base::markup::escaped;

use super::data::Data;

const TEMPLATE: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/page.css");

/// The page's modules, each after those that it imports.
const MODULES: [(&str, &str); 20] = [
    ("dom", include_str!("page/dom.js")),
    ("numbers", include_str!("page/numbers.js")),
    ("front", include_str!("page/front.js")),
    ("words", include_str!("page/words.js")),
    ("save", include_str!("page/save.js")),
    ("tables", include_str!("page/tables.js")),
    ("axes", include_str!("page/axes.js")),
    ("staircase", include_str!("page/staircase.js")),
    ("tree", include_str!("page/tree.js")),
    ("tree_svg", include_str!("page/tree_svg.js")),
    ("features", include_str!("page/features.js")),
    ("figures", include_str!("page/figures.js")),
    ("disparity", include_str!("page/disparity.js")),
    ("groups", include_str!("page/groups.js")),
    ("fairness", include_str!("page/fairness.js")),
    ("gap_limit", include_str!("page/gap_limit.js")),
    ("reach", include_str!("page/reach.js")),
    ("people", include_str!("page/people.js")),
    ("audited", include_str!("page/audited.js")),
    ("app", include_str!("page/app.js")),
];

/// The report as one HTML file.
pub fn page(data: &Data) -> Result<String> {
    page_with(data, &[])
}

/// Parts of the page that need no front, for other pages: the style, and a module by its name.
pub fn part(name: &str) -> Option<&'static str> {
    const PARTS: [&str; 5] = ["dom", "numbers", "save", "tables", "axes"];
    match name.strip_suffix(".js") {
        None => (name == "page.css").then_some(STYLE),
        Some(name) => {
            let module = MODULES.iter().find(|(module, _)| *module == name && PARTS.contains(module));
            module.map(|(_, text)| *text)
        }
    }
}

/// The report with further modules, which may add to what others show (`additions` in tree.js). They run before the page starts.
pub fn page_with(data: &Data, more: &[(&str, &str)]) -> Result<String> {
    let json = serde_json::to_string(data)
        .map_err(|cause| Error::new(ErrorKind::Output, format!("the report can't be written: {cause}")))?;
    let script = script(more);
    let policy = format!(
        "default-src 'none'; script-src '{}'; style-src '{}'; img-src data:; base-uri 'none'; form-action 'none'",
        hash(&script),
        hash(STYLE)
    );
    Ok(filled(TEMPLATE, |name| match name {
        "policy" => policy.clone(),
        "version" => env!("CARGO_PKG_VERSION").to_owned(),
        "title" => escaped(&data.title),
        "printed" => data.printed.clone(),
        "style" => STYLE.to_owned(),
        "script" => script.clone(),
        "data" => inert(&json),
        _ => String::new(),
    }))
}

/// Fills the placeholders of the template; does not scan the inserted text again.
fn filled(template: &str, value: impl Fn(&str) -> String) -> String {
    let mut text = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        let Some((name, after)) = after.split_once("}}") else { break };
        text += before;
        text += &value(name);
        rest = after;
    }
    text + rest
}

/// JSON that is safe in a `<script>` element: it has `<` only within strings, where an escape means the same.
fn inert(json: &str) -> String {
    json.replace('<', "\\u003c")
}

fn hash(text: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(text.as_bytes())))
}

/// All modules as one script; `more` before the last one, which starts the page.
fn script(more: &[(&str, &str)]) -> String {
    let (start, others) = (&MODULES[MODULES.len() - 1..], &MODULES[..MODULES.len() - 1]);
    let modules = others.iter().chain(more).chain(start);
    let modules: String = modules.map(|(name, text)| module(name, text)).collect();
    format!("\n'use strict';\n{modules}")
}

/// A module as a function that is called at once and returns its exports.
fn module(name: &str, text: &str) -> String {
    let mut exports = Vec::new();
    let mut body = String::new();
    for line in text.lines() {
        if let Some((names, from)) = imported(line) {
            body += &format!("const {{ {names} }} = module_{from};\n");
        } else if let Some(declaration) = line.strip_prefix("export ") {
            exports.extend(declared(declaration));
            body += declaration;
            body.push('\n');
        } else {
            body += line;
            body.push('\n');
        }
    }
    format!("const module_{name} = (() => {{\n{body}return {{ {} }};\n}})();\n", exports.join(", "))
}

/// The names and the module of `import { a, b } from './module.js';`.
fn imported(line: &str) -> Option<(&str, &str)> {
    let (names, from) = line.strip_prefix("import {")?.split_once("} from './")?;
    Some((names.trim(), from.strip_suffix(".js';")?))
}

/// The name that a declaration declares.
fn declared(declaration: &str) -> Option<&str> {
    let rest =
        ["function ", "async function ", "const "].iter().find_map(|kind| declaration.strip_prefix(kind))?;
    rest.split(|letter: char| !letter.is_alphanumeric() && letter != '_').next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_import_what_earlier_ones_export() {
        let mut known: Vec<(&str, Vec<&str>)> = Vec::new();
        for (name, text) in MODULES {
            for line in text.lines().filter(|line| line.starts_with("import ")) {
                let (names, from) = imported(line).unwrap_or_else(|| panic!("{name}: {line}"));
                let exports = known.iter().find(|(known, _)| *known == from);
                let (_, exports) =
                    exports.unwrap_or_else(|| panic!("{name} imports {from}, which comes later"));
                for wanted in names.split(',').map(str::trim) {
                    assert!(exports.contains(&wanted), "{name}: {from} has no {wanted}");
                }
            }
            let exports = text.lines().filter_map(|line| line.strip_prefix("export "));
            known.push((name, exports.map(|line| declared(line).unwrap()).collect()));
        }
    }

    #[test]
    fn every_module_is_part_of_the_page() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/report/page");
        let mut there: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .filter_map(|name| name.strip_suffix(".js").map(str::to_owned))
            .collect();
        let mut listed: Vec<&str> = MODULES.iter().map(|(name, _)| *name).collect();
        there.sort();
        listed.sort_unstable();
        assert_eq!(there, listed);
    }

    #[test]
    fn the_page_has_no_way_to_run_other_code() {
        let script = script(&[]);
        for way in [
            "</script",
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "eval(",
            "Function(",
        ] {
            assert!(!script.contains(way), "{way}");
        }
        for way in ["http://", "https://", "fetch(", "XMLHttpRequest", "import("] {
            let found = script.replace("http://www.w3.org/2000/svg", "");
            assert!(!found.contains(way), "{way}");
        }
        assert!(!TEMPLATE.contains(" on") || !TEMPLATE.contains("onclick="));
        assert!(!TEMPLATE.contains("style=\""));
        assert!(!STYLE.contains("url(") && !STYLE.contains("@import") && !STYLE.contains("</style"));
    }

    #[test]
    fn what_is_filled_in_is_not_a_place_to_fill() {
        let text =
            filled("<{{a}}|{{b}}>", |name| if name == "a" { "{{b}}".to_owned() } else { "x".to_owned() });
        assert_eq!(text, "<{{b}}|x>");
    }

    #[test]
    fn data_cannot_end_its_element() {
        let json = serde_json::to_string("</script><!-- <script>").unwrap();
        let text = inert(&json);
        assert!(!text.contains('<'));
        assert_eq!(serde_json::from_str::<String>(&text).unwrap(), "</script><!-- <script>");
    }
}
