//! `compare` and `experiment`: what is printed and written, what is refused.

use crate::folder::{Folder, assert_transcript};

const COMPARE: [&str; 6] = ["compare", "people.csv", "--model", "model.txt", "--config", "sogar.toml"];

fn with<'a>(flags: &[&'a str]) -> Vec<&'a str> {
    [&COMPARE[..], flags].concat()
}

#[test]
fn methods_are_compared_with_their_descriptions() {
    let flags = ["--methods", "t-crex-0.9,sogar,t-crex-0.99", "--holdout", "others.csv", "--describe"];
    assert_transcript!(Folder::new().sogar(&with(&flags)));
}

#[test]
fn json_has_a_line_for_every_method_and_sogar_is_on_its_front() {
    let folder = Folder::new();
    let files = ["-o", "methods.svg", "-o", "all.json", "--csv", "methods.csv"];
    let run =
        folder.sogar(&with(&[&["--json", "--methods", "sogar,globe-ce,t-crex-0.9"], &files[..]].concat()));
    assert_eq!(run.code, 0, "{run}");
    let told = run.json();
    assert_eq!(told, folder.json("all.json"));
    let methods = told["methods"].as_array().unwrap();
    let names: Vec<&str> = methods.iter().map(|method| method["method"].as_str().unwrap()).collect();
    assert_eq!(names, ["sogar", "t-crex-0.9", "globe-ce"], "summaries come before individual search");
    for method in methods {
        let number = |name: &str| method[name].as_f64().unwrap();
        assert!((number("cost") + number("loss") - number("invalidity")).abs() < 1e-12, "{method}");
        assert!(number("seconds") >= 0.0 && method["status"] == "complete", "{method}");
    }
    // The front on file was found by `solve`: the best of its points is sogar's line.
    let best = folder.json("front.json")["points"]
        .as_array()
        .unwrap()
        .iter()
        .map(|point| point["invalidity"].as_f64().unwrap())
        .fold(f64::INFINITY, f64::min);
    assert!((methods[0]["invalidity"].as_f64().unwrap() - best).abs() < 1e-12);
    let svg = folder.read("methods.svg");
    assert!(svg.starts_with("<svg") && svg.contains("GLOBE-CE") && svg.contains("none dominated"));
    assert_eq!(folder.read("methods.csv").lines().count(), 4);
}

#[cfg(unix)]
#[test]
fn a_method_without_a_result_has_dashes_and_a_reason() {
    // One of 300 is accepted: no region of 2 % of the table is nearly pure.
    let folder = Folder::new();
    let rows: String = (0..300).map(|i| format!("{i},{}\n", i % 5)).collect();
    folder.write("rare.csv", format!("a,b\n{rows}"));
    folder.write("rare.awk", "NR > 1 { print ($1 >= 299) ? 1 : 0 }");
    let run = folder.sogar(&[
        "compare",
        "rare.csv",
        "--model-command",
        "awk -F, -f rare.awk",
        "--methods",
        "sogar,t-crex-0.99",
    ]);
    assert_eq!(run.code, 0, "{run}");
    assert!(run.stdout.contains("T-CREx 0.99 has no result: no node of the surrogate tree"), "{run}");
    assert!(run.stdout.lines().any(|line| line.contains("t-crex-0.99") && line.contains('–')), "{run}");
}

#[test]
fn an_unknown_method() {
    assert_transcript!(Folder::new().sogar(&with(&["--methods", "glanze"])));
}

#[test]
fn a_figure_of_an_unknown_kind() {
    assert_transcript!(Folder::new().sogar(&with(&["-o", "methods.pdf"])));
}

#[test]
fn a_time_limit_is_marked_and_ends_with_3() {
    let folder = Folder::german();
    let run = folder.sogar(&with(&[
        "--methods",
        "sogar",
        "--max-depth",
        "5",
        "--min-leaf",
        "1",
        "--time-limit",
        "1",
    ]));
    assert_eq!(run.code, 3, "{run}");
    assert!(run.stdout.contains("time limit: best so far"), "{run}");
}

#[cfg(unix)]
#[test]
fn one_interrupt_shows_what_there_is() {
    use crate::signals::{interrupt, start};

    let folder = Folder::german();
    let args = with(&["--methods", "sogar,t-crex-0.9", "--max-depth", "5", "--min-leaf", "1"]);
    let child = start(&folder, &args);
    interrupt(&child);
    let run = crate::folder::Run::new(&args, child.wait_with_output().unwrap());
    assert_eq!(run.code, 3, "{run}");
    assert!(run.stdout.contains("stopped: best so far"), "{run}");
    assert!(run.stderr.contains("stopped early: t-crex-0.9 did not run"), "{run}");
}

#[test]
fn an_unknown_experiment() {
    assert_transcript!(Folder::new().sogar(&["experiment", "tabel1"]));
}

/// A folder with the protocol of the paper.
fn with_protocol() -> Folder {
    let folder = Folder::new();
    std::fs::create_dir_all(folder.path("lab/protocols")).unwrap();
    folder.write("lab/protocols/paper.toml", include_str!("../../../protocols/paper.toml"));
    folder
}

#[test]
fn an_experiment_without_its_models() {
    let folder = with_protocol();
    let run =
        folder.sogar(&["experiment", "depth", "--folds", "2", "--datasets", "german", "--paper", "none"]);
    assert_transcript!(run);
    assert!(!folder.path("experiments").exists(), "nothing is written");
}

#[test]
fn tables_are_made_without_tables_and_models() {
    let folder = with_protocol();
    folder.write("page.md", "# Page\n<!-- cells: choices -->\n<!-- end -->\n");
    let run = folder.sogar(&["experiment", "depth", "--tables-only", "--page", "page.md", "--json"]);
    assert_eq!((run.code, &run.json()["complete"]), (0, &serde_json::json!(false)), "{run}");
    assert!(folder.read("page.md").contains("| choice | source | reason |"));
    assert!(folder.read("experiments/depth.md").contains("No cell has a result yet."));
    let run = folder.sogar(&["experiment", "verify"]);
    assert!(run.code == 2 && run.stderr.contains("can be run again here, of 0 stored ones"), "{run}");
    let run = folder.sogar(&["experiment", "verify", "--methods", "glanze"]);
    assert!(run.code == 2 && run.stderr.contains("there is no method `glanze`"), "{run}");
}

#[test]
fn settings_that_an_experiment_does_not_vary() {
    let folder = with_protocol();
    let run = folder.sogar(&["experiment", "depth", "--settings", "2,9", "--tables-only"]);
    assert!(run.code == 2 && run.stderr.contains("no cell has the setting `9`"), "{run}");
    assert!(run.stderr.contains("known names: 2, 3, 4"), "{run}");
    let run = folder.sogar(&["experiment", "depth", "--settings", "2", "--tables-only"]);
    assert_eq!(run.code, 0, "{run}");
}

#[test]
fn an_experiment_outside_a_clone() {
    assert_transcript!(Folder::new().sogar(&["experiment", "depth"]));
}

#[test]
fn folds_that_there_are_not() {
    assert_transcript!(Folder::new().sogar(&["experiment", "depth", "--folds", "0-3"]));
}

#[test]
fn of_compare() {
    assert_transcript!(Folder::new().sogar(&["compare", "--help"]));
}

#[test]
fn of_experiment() {
    assert_transcript!(Folder::new().sogar(&["experiment", "--help"]));
}

#[test]
fn other_methods_know_no_weights() {
    let folder = Folder::new();
    let weighed: String = folder
        .read("people.csv")
        .lines()
        .enumerate()
        .map(|(row, line)| if row == 0 { format!("{line},people\n") } else { format!("{line},2\n") })
        .collect();
    folder.write("people.csv", weighed);
    assert_transcript!(folder.sogar(&with(&["--weight", "people", "--quiet"])));
}

#[test]
fn other_methods_are_about_everybody() {
    let run = Folder::new().sogar(&with(&["--sample", "50", "--methods", "t-crex-0.9"]));
    assert!(run.code == 2 && run.stderr.contains("but `sample` is 50"), "{run}");
}

#[test]
fn outputs_are_neither_inputs_nor_each_other() {
    let folder = Folder::new();
    let before = folder.read("people.csv");
    let run = folder.sogar(&with(&["--csv", "people.csv"]));
    assert!(run.code == 2 && run.stderr.contains("would overwrite an input"), "{run}");
    let run = folder.sogar(&with(&["-o", "new.svg", "-o", "new.svg"]));
    assert!(run.code == 2 && run.stderr.contains("two outputs would be one file"), "{run}");
    assert_eq!(folder.read("people.csv"), before);
}
