//! Flags and configurations that make no sense: what is wrong, and what was probably meant.

use crate::folder::{Folder, Run, assert_transcript};

/// Solves with these flags, which are refused.
fn refused(flags: &[&str]) -> Run {
    let folder = Folder::new();
    let run = folder.solve(&[flags, &["-o", "new.json"]].concat());
    assert_eq!(run.code, 2, "{run}");
    assert!(!folder.path("new.json").exists());
    run
}

/// Solves with a configuration in which a text is replaced.
fn replaced(old: &str, new: &str) -> Run {
    let folder = Folder::new();
    folder.replace("sogar.toml", old, new);
    let run = folder.solve(&["-o", "new.json"]);
    assert_eq!(run.code, 2, "{run}");
    let check = folder.sogar(&["config", "check", "sogar.toml", "--table", "people.csv"]);
    assert_eq!((check.code, check.stdout.as_str()), (2, ""), "{check}");
    run
}

macro_rules! flags {
    ($($name:ident: $flags:expr;)*) => {
        $(#[test]
        fn $name() {
            assert_transcript!(refused(&$flags));
        })*
    };
}

flags! {
    unknown_label: ["--label", "lone"];
    unknown_desired_value: ["--desired", "yep"];
    unknown_feature: ["--immutable", "incme"];
    unknown_ignored_column: ["--ignore", "predcted"];
    unknown_predictions_column: ["--check-predictions", "prediction"];
    unknown_bins: ["--bins", "many"];
    no_bins: ["--bins", "0"];
    absurd_depth: ["--max-depth", "99"];
    no_leaves: ["--max-leaves", "0"];
    empty_leaves: ["--min-leaf", "0"];
    negative_leaf: ["--min-leaf", "-5"];
    leaf_larger_than_the_population: ["--min-leaf", "1000"];
    no_edits: ["--max-edits", "0"];
    absurd_edits: ["--max-edits", "50"];
    negative_time: ["--time-limit", "-1"];
    no_time_for_outcomes: ["--outcomes-time-limit", "0"];
    no_threads: ["--threads", "0"];
    absurd_threads: ["--threads", "100000"];
    memory_in_no_unit: ["--memory-limit", "lots"];
    threshold_that_is_no_number: ["--threshold", "nan"];
    delimiter_of_two_characters: ["--delimiter", ";;"];
    everything_immutable: [
        "--immutable", "income", "--immutable", "hours", "--immutable", "school", "--immutable", "job",
        "--immutable", "owner",
    ];
}

macro_rules! configurations {
    ($($name:ident: $old:literal => $new:literal;)*) => {
        $(#[test]
        fn $name() {
            assert_transcript!(replaced($old, $new));
        })*
    };
}

configurations! {
    configured_unknown_key: "min_leaf = 20" => "min_leef = 20";
    configured_unknown_label: "label = \"loan\"" => "label = \"laon\"";
    configured_unknown_feature: "age.immutable" => "agee.immutable";
    configured_unknown_level: "\"college\"]" => "\"colege\"]";
    configured_negative_limit: "max_depth = 2" => "max_depth = -2";
    configured_absurd_limit: "max_depth = 2" => "max_depth = 200";
    configured_broken_toml: "[limits]" => "[limits";
    configured_unknown_rule: "bins = 5" => "bins = 5\nrules = [\"hors <= 40\"]";
}

#[test]
fn absent_configuration() {
    assert_transcript!(Folder::new().sogar(&["solve", "people.csv", "-m", "model.txt", "-c", "sogr.toml"]));
}

#[test]
fn absent_cost_table() {
    let folder = Folder::new();
    folder.write(
        "costs.toml",
        folder.read("sogar.toml") + "\n[cost]\nkind = \"table\"\ntable = \"prices.csv\"\n",
    );
    assert_transcript!(folder.sogar(&[
        "solve",
        "people.csv",
        "-m",
        "model.txt",
        "-c",
        "costs.toml",
        "-o",
        "new.json"
    ]));
}

#[test]
fn unknown_criterion() {
    let folder = Folder::new();
    assert_transcript!(folder.sogar(&["select", "front.json", "--by", "price<=3"]));
    assert_eq!(folder.sogar(&["show", "front.json", "--by", "cheapest"]).code, 2);
}

#[test]
fn criterion_that_no_point_meets() {
    let folder = Folder::new();
    // Without its most expensive points the front does not reach everybody.
    let mut front = folder.json("front.json");
    front["points"].as_array_mut().unwrap().truncate(5);
    folder.write("front.json", front.to_string());
    assert_transcript!(folder.sogar(&["select", "front.json", "--by", "loss<=0.1"]));
}

#[test]
fn point_out_of_range() {
    assert_transcript!(Folder::new().sogar(&["show", "front.json", "--point", "1000"]));
}

#[test]
fn actions_beyond_the_memory_limit() {
    let folder = Folder::german();
    let started = std::time::Instant::now();
    let run = folder.solve(&["--memory-limit", "1MB", "--max-edits", "6", "-o", "new.json"]);
    assert_eq!(run.code, 4, "{run}");
    assert!(started.elapsed().as_secs() < 5, "refused before the work");
    assert_transcript!(run);
    assert!(!folder.path("new.json").exists());
}

#[test]
fn values_may_begin_with_a_hyphen() {
    let folder = Folder::new();
    let text = folder.read("people.csv").replace(",yes\n", ",-1\n").replace(",no\n", ",-2\n");
    folder.write("signs.csv", text.replace("predicted", "-signs"));
    let base = [
        "solve",
        "signs.csv",
        "-m",
        "model.txt",
        "--immutable",
        "age",
        "--min-leaf",
        "20",
        "--max-edits",
        "1",
    ];
    let flags =
        ["--ignore", "loan", "--label", "-signs", "--desired", "-1", "--missing", "-9", "-o", "new.json"];
    let run = folder.sogar(&[&base[..], &flags].concat());
    assert_eq!(run.code, 0, "{run}");
    assert_eq!(folder.json("new.json")["config"]["data"]["desired"][0], "-1");
    let run =
        folder.sogar(&[&base[..], &["--missing", "--", "--ignore", "-signs", "-o", "new.json"]].concat());
    assert_eq!(run.code, 0, "{run}");
    let run = folder.sogar(&[&base[..], &["--desired", "--quiet"]].concat());
    assert!(run.code == 2 && run.stderr.contains("this looks like a flag"), "{run}");
    for flag in
        ["--seed", "--max-scorings", "--max-depth", "--memory-limit", "--bins", "--device", "--time-limit"]
    {
        let run = folder.sogar(&[&base[..], &[flag, "-1"]].concat());
        assert!(run.code == 2 && !run.stderr.contains("unexpected argument"), "{run}");
    }
}
