//! The results page is the one that the committed cells make.

#![allow(clippy::unwrap_used)] // a panic is the report

use std::path::Path;
use std::sync::Arc;

use sogar_experiment::{Page, Protocol, Store};

#[test]
fn tables_and_figures_of_the_results_page_are_those_of_the_cells() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = Page::read(&root.join("docs/EXPERIMENTS.md")).unwrap();
    let store = Store::open(&root.join("lab/cells")).unwrap();
    let protocols: Vec<Arc<Protocol>> =
        Protocol::all(&root.join("lab/protocols")).unwrap().into_iter().map(Arc::new).collect();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        page.write(&store, &protocols).unwrap();
        return;
    }
    let remedy = "sogar-lab experiment all --tables-only --page docs/EXPERIMENTS.md writes them anew";
    assert!(page.made(&store, &protocols).unwrap() == page.text(), "other tables: {remedy}");
    let figures = page.figures(&store, &protocols);
    for (path, svg) in &figures {
        assert!(
            std::fs::read_to_string(path).is_ok_and(|there| there == *svg),
            "{}: {remedy}",
            path.display()
        );
    }
    for line in page.text().lines().filter(|line| line.contains("](figures/")) {
        let file = line.split("](figures/").nth(1).and_then(|rest| rest.split(')').next()).unwrap();
        assert!(figures.iter().any(|(path, _)| path.ends_with(file)), "{file} is not made from cells");
    }
}
