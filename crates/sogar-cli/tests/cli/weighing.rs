//! `--weight`: rows that stand for several people, from `solve` to every command that reads its result.

use crate::folder::{Folder, Run, assert_transcript};

const FLAGS: [&str; 9] =
    ["--max-depth", "1", "--max-edits", "1", "--weight", "people", "-o", "new.json", "--quiet"];

/// The fixture with a further column.
fn with_column(text: &str, name: &str, cell: impl Fn(usize) -> String) -> String {
    let line = |(number, line): (usize, &str)| match number {
        0 => format!("{line},{name}\n"),
        row => format!("{line},{}\n", cell(row)),
    };
    text.lines().enumerate().map(line).collect()
}

/// The small problem with weights on both tables.
fn weighted(cell: impl Fn(usize) -> String) -> Folder {
    let folder = Folder::new();
    for name in ["people.csv", "others.csv"] {
        folder.write(name, with_column(&folder.read(name), "people", &cell));
    }
    folder
}

fn whole(row: usize) -> String {
    (1 + row % 3).to_string()
}

fn decimal(row: usize) -> String {
    format!("{:.2}", 0.75 + (row % 5) as f64 / 4.0)
}

#[test]
fn the_report_counts_people() {
    let flags = ["--max-depth", "1", "--max-edits", "1", "--holdout", "others.csv", "--weight", "people"];
    assert_transcript!(weighted(whole).solve(&[&flags[..], &["-o", "new.json"]].concat()));
}

#[test]
fn with_weights_nothing_is_guaranteed_and_no_loss_has_a_band() {
    let folder = weighted(whole);
    assert_eq!(folder.solve(&FLAGS).code, 0);
    let run =
        folder.sogar(&["select", "new.json", "--guarantee", "loss<=0.4", "--calibration", "others.csv"]);
    assert!(run.code == 2 && run.stderr.contains("a row that stands for several is one draw"), "{run}");
    let run = folder.sogar(&["evaluate", "new.json", "--holdout", "others.csv", "--fail-on", "loss > band"]);
    assert!(run.code == 2 && run.stderr.contains("the test counts independent people"), "{run}");
}

#[test]
fn decimals_are_people_too() {
    let folder = weighted(decimal);
    let flags = ["--max-depth", "1", "--max-edits", "1", "--weight", "people", "-o", "new.json"];
    assert_transcript!(folder.solve(&flags));
    let weight = &folder.json("new.json")["weight"];
    assert_eq!((weight["column"].as_str(), weight["unit"].as_u64()), (Some("people"), Some(100)));
}

#[test]
fn weights_are_repeated_rows_for_every_command() {
    let folder = weighted(whole);
    assert_eq!(folder.solve(&FLAGS).code, 0);
    let plain = Folder::new();
    for name in ["people.csv", "others.csv"] {
        let text = plain.read(name);
        let repeat = |(number, line): (usize, &str)| {
            format!("{line}\n").repeat(if number == 0 { 1 } else { 1 + number % 3 })
        };
        plain.write(name, text.lines().enumerate().map(repeat).collect::<String>());
    }
    let without: Vec<&str> =
        FLAGS.iter().copied().filter(|flag| !["--weight", "people"].contains(flag)).collect();
    assert_eq!(plain.solve(&without).code, 0);
    for command in [
        &["show", "new.json"][..],
        &["select", "new.json", "--by", "knee", "--by", "gap(cost, owner)<=0.5"],
        &["evaluate", "new.json", "--holdout", "others.csv"],
        &[
            "audit",
            "new.json",
            "--group",
            "owner",
            "--group",
            "school",
            "--draws",
            "50",
            "--unreachable",
            "yes",
        ],
        &["plot", "tree", "new.json", "-o", "tree.svg"],
    ] {
        let (one, other) = (folder.sogar(command), plain.sogar(command));
        assert_eq!(one.code, 0, "{one}");
        assert_eq!(one.to_string(), other.to_string());
    }
    assert_eq!(folder.read("tree.svg"), plain.read("tree.svg"));
}

#[test]
fn a_weighted_result_is_checked_by_weight() {
    for cell in [whole, decimal] {
        let folder = weighted(cell);
        let run = folder.solve(&[&FLAGS[..], &["--holdout", "others.csv"]].concat());
        assert_eq!(run.code, 0, "{run}");
        let run = folder.sogar(&["check", "new.json"]);
        assert!(run.code == 0 && run.stdout.contains("proved"), "{run}");
        assert!(run.stdout.contains("held-out"), "{run}");
        // Somebody's weights are changed in the result.
        let front = folder.read("new.json");
        let affected = folder.json("new.json")["weight"]["total"].as_u64().unwrap();
        folder.write(
            "new.json",
            front.replacen(&format!("\"total\":{affected}"), &format!("\"total\":{}", affected + 1), 1),
        );
        let run = folder.sogar(&["check", "new.json"]);
        assert!(run.code == 2 && run.stderr.contains("the weight of all rows is"), "{run}");
    }
}

#[test]
fn a_sample_keeps_the_weights_of_its_rows() {
    let folder = weighted(whole);
    let run = folder.solve(&[&FLAGS[..], &["--sample", "60"]].concat());
    assert_eq!(run.code, 0, "{run}");
    let front = folder.json("new.json");
    assert_eq!(front["status"], "complete_on_sample");
    let run = folder.sogar(&["check", "new.json"]);
    assert_eq!(run.code, 0, "{run}");
}

#[test]
fn people_of_another_table_need_weights_too() {
    let folder = weighted(whole);
    folder.write("others.csv", Folder::new().read("others.csv"));
    assert_transcript!(folder.solve(&[&FLAGS[..], &["--holdout", "others.csv"]].concat()));
}

/// Solves with one weight that is none, in line 5.
fn with_weight(weight: &str) -> Run {
    let folder = weighted(|row| if row == 4 { weight.to_owned() } else { whole(row) });
    let run = folder.solve(&FLAGS);
    assert!(run.code == 2 && !folder.path("new.json").exists(), "{run}");
    run
}

#[test]
fn what_is_no_weight_is_refused_with_its_place() {
    for (weight, what) in [
        ("0", "a weight of 0 counts for nobody"),
        ("0.0", "a weight of 0 counts for nobody"),
        ("-2", "a weight of -2 is not a number of people"),
        ("", "the row has no weight"),
        ("NaN", "the row has no weight"),
        ("1e-12", "a weight of 1e-12 is less than a millionth of a person"),
        ("1e18", "a weight of 1e18 is too large; 4294967293 is the most"),
        ("inf", "`inf` is not a finite number"),
        ("many", "`many` is not a number"),
        ("=1+1", "`=1+1` is not a number"),
        ("</script>", "`</script>` is not a number"),
    ] {
        let run = with_weight(weight);
        assert!(run.stderr.contains(what), "{run}");
        assert!(run.stderr.contains("people.csv, line 5, column `people`"), "{run}");
        assert!(run.stderr.contains("help: "), "{run}");
    }
    let run = with_weight("4294967000");
    assert!(run.stderr.contains("column `people`: the weights add up to 4294967"), "{run}");
    assert!(run.stderr.contains("divide all weights by 10"), "{run}");
}

#[test]
fn a_weight_is_a_column_of_its_own() {
    let run = |flags: &[&str]| {
        let run = weighted(whole).solve(&[flags, &["-o", "new.json", "--quiet"]].concat());
        assert_eq!(run.code, 2, "{run}");
        run.stderr
    };
    assert!(run(&["--weight", "loan"]).contains("--weight: `loan` is the label too"));
    assert!(run(&["--weight", "predicted"]).contains("--weight: `predicted` is ignored too"));
    assert!(run(&["--weight", "age"]).contains("`age` is a feature with settings of its own too"));
    assert!(run(&["--weight", "poeple"]).contains("did you mean `people`?"));
    assert!(run(&["--weight", "people", "--min-leaf", "999999"]).contains("people (by weight) are affected"));
}
