//! `audit`, and `select` under a limit on a gap: groups of people compared along a front.

use serde_json::json;

use crate::folder::{Folder, Run, assert_transcript};

fn audit(folder: &Folder, flags: &[&str]) -> Run {
    folder.sogar(&[&["audit", "front.json"][..], flags].concat())
}

#[test]
fn groups_are_compared_on_both_tables() {
    let run = audit(&Folder::new(), &["--group", "owner", "--group", "age<=30", "--holdout", "others.csv"]);
    assert_eq!(run.code, 0, "{run}");
    assert_transcript!(run);
}

#[test]
fn a_condition_that_holds_gives_exit_code_1() {
    let folder = Folder::new();
    let run = audit(
        &folder,
        &["--fail-on", "gap(invalidity, owner) > 0.9", "--fail-on", "selection_rate_ratio(owner) < 1.5"],
    );
    assert_eq!(run.code, 1, "{run}");
    assert!(run.stdout.contains("✓ passes: gap(invalidity, owner) > 0.9"), "{run}");
    assert!(run.stdout.contains("✗ fails: selection_rate_ratio(owner) < 1.5"), "{run}");
    let run = audit(&folder, &["--fail-on", "gap(loss, owner) > 0.9", "--json"]);
    assert_eq!((run.code, &run.json()["fail_on"][0]["holds"]), (0, &json!(false)), "{run}");
}

#[test]
fn the_same_seed_gives_the_same_intervals() {
    let folder = Folder::new();
    let draw = |seed: &str| audit(&folder, &["--group", "owner", "--json", "--seed", seed]).stdout;
    assert_eq!(draw("1"), draw("1"));
    assert_ne!(draw("1"), draw("2"));
}

#[test]
fn a_limit_on_a_gap_chooses_a_point_within_it() {
    let folder = Folder::new();
    let run = folder.sogar(&["select", "front.json", "--by", "gap(loss, owner)<=0.05", "--json"]);
    assert_eq!(run.code, 0, "{run}");
    let chosen = run.json()["picks"][0]["point"].as_u64().unwrap() as usize;
    let audited = audit(&folder, &["--group", "owner", "--json", "--draws", "0"]).json();
    let gap = &audited["reference"]["groupings"][0]["groups"][0]["measures"]["loss"]["gap"];
    assert!(gap[chosen].as_f64().unwrap().abs() <= 0.05, "{gap}");
    let run = folder.sogar(&["select", "front.json", "--by", "gap(loss, owner)<=-1"]);
    assert_eq!(run.code, 2, "{run}");
    assert!(run.stderr.contains("the smallest such gap on this front is"), "{run}");
}

#[test]
fn small_groups_and_gaps_of_the_held_out_table_are_said() {
    let folder = Folder::new();
    // One person lives on the moon; the held-out table has nobody there, and a place of its own.
    let with = |name: &str, place: &dyn Fn(usize) -> &'static str| {
        let text = folder.read(name);
        let lines = text.lines().enumerate().map(|(line, text)| match line {
            0 => format!("{text},place\n"),
            _ => format!("{text},{}\n", place(line)),
        });
        let text: String = lines.collect();
        folder.write(name, text);
    };
    with("people.csv", &|line| if line == 1 { "moon" } else { "earth" });
    with("others.csv", &|line| if line % 2 == 1 { "mars" } else { "earth" });
    let solved = folder.solve(&["--ignore", "place", "--quiet"]);
    assert_eq!(solved.code, 0, "{solved}");
    let run = audit(&folder, &["--group", "place", "--holdout", "others.csv"]);
    assert_eq!(run.code, 0, "{run}");
    assert!(run.stdout.contains("has nobody of these groups by `place`: `moon`"), "{run}");
    assert!(run.stdout.contains("that the reference table lacks: `mars`"), "{run}");
    assert!(run.stdout.contains("too small for a statement"), "{run}");
    let found = audit(&folder, &["--group", "place", "--json"]).json();
    let moon = &found["reference"]["groupings"][0]["groups"][1];
    assert_eq!((&moon["group"], &moon["rows"], &moon["measures"]), (&json!("moon"), &json!(1), &json!(null)));
}

#[test]
fn hostile_names_are_shown_and_do_nothing() {
    let folder = Folder::new();
    let long = "x".repeat(10_000);
    let values = ["</script>", "\u{1b}[31mred", "\u{202e}txt", "=1+1", "😀", &long];
    let text = folder.read("people.csv");
    let lines = text.lines().enumerate().map(|(line, text)| match line {
        0 => format!("{text},=cmd\n"),
        _ => format!("{text},{}\n", values[line % values.len()]),
    });
    let text: String = lines.collect();
    folder.write("people.csv", text);
    let solved = folder.solve(&["--ignore", "=cmd", "--quiet"]);
    assert_eq!(solved.code, 0, "{solved}");
    let run = audit(&folder, &["--group", "=cmd", "--csv", "audit.csv", "--min-group", "1"]);
    assert_eq!(run.code, 0, "{run}");
    assert!(!run.stdout.contains(['\u{1b}', '\u{202e}']) && !run.stdout.contains(&long), "{run}");
    assert!(run.stdout.contains("\\u{1b}[31mred") && run.stdout.contains("😀"), "{run}");
    let csv = folder.read("audit.csv");
    assert!(csv.contains(",'=cmd,'=1+1,") && !csv.contains(",=1+1,"));
    let found = audit(&folder, &["--group", "=cmd", "--json", "--draws", "0"]).json();
    let groups = found["reference"]["groupings"][0]["groups"].as_array().unwrap();
    for value in values {
        assert!(groups.iter().any(|group| group["group"] == value), "{value}");
    }
}

macro_rules! refusals {
    ($($name:ident: $args:expr;)*) => {
        $(#[test]
        fn $name() {
            let run = audit(&Folder::new(), &$args);
            assert_eq!(run.code, 2, "{run}");
            assert_transcript!(run);
        })*
    };
}

refusals! {
    an_unknown_group: ["--group", "ownr"];
    an_unknown_part_of_a_product: ["--group", "owner×agee"];
    an_unknown_label: ["--group", "owner", "--label", "lone"];
    a_condition_that_is_none: ["--fail-on", "gap(los, owner) > 1"];
    a_condition_on_held_out_people_without_any: ["--fail-on", "holdout.gap(loss, owner) > 1"];
    a_value_that_nobody_has: ["--group", "owner=maybe"];
}

#[test]
fn labels_that_contradict_the_model_are_warned_of() {
    let folder = Folder::new();
    let people = folder.read("people.csv");
    let turned = people.lines().map(|line| {
        let mut cells: Vec<&str> = line.split(',').collect();
        cells[6] = match cells[6] {
            "yes" => "no",
            "no" => "yes",
            name => name,
        };
        cells.join(",") + "\n"
    });
    let turned: String = turned.collect();
    folder.write("people.csv", turned);
    assert_eq!(folder.solve(&["-o", "new.json", "-q"]).code, 0);
    let run = folder.sogar(&["audit", "new.json", "--group", "job", "--json"]);
    assert_eq!(run.code, 0, "{run}");
    assert!(run.stderr.contains("warning: The true labels contradict the model"), "{run}");
    let audit = run.json();
    assert!(audit["reference"]["agreement"].as_f64().unwrap() < 0.5);
    assert!(audit["notes"].to_string().contains("contradict the model"));
    let run = folder.sogar(&["report", "new.json", "--group", "job", "-o", "report.html"]);
    assert!(run.stderr.contains("contradict the model"), "{run}");
    assert!(folder.read("report.html").contains("contradict the model"));
    let run = folder.sogar(&["audit", "front.json", "--group", "job", "--table", "people.csv"]);
    assert_ne!(run.code, 0, "another table: {run}");
}
