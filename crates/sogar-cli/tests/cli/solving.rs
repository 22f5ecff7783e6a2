//! `solve` and `demo`: what is printed and what is written.

use std::io::Write;
use std::process::Stdio;

use crate::folder::{Folder, Run, assert_transcript};

fn pairs(front: &serde_json::Value) -> Vec<(u64, u64)> {
    let points = front["points"].as_array().unwrap();
    points.iter().map(|p| (p["cost_sum"].as_u64().unwrap(), p["loss_count"].as_u64().unwrap())).collect()
}

#[test]
fn the_small_problem_has_the_front_on_file() {
    let folder = Folder::new();
    let run = folder.solve(&["-o", "new.json", "--csv", "points.csv"]);
    assert_eq!(run.code, 0, "{run}");
    assert_eq!(pairs(&folder.json("new.json")), pairs(&folder.json("front.json")));
    assert!(
        folder
            .read("points.csv")
            .starts_with("point,cost,loss,invalidity,cost_sum,loss_count,leaves,depth\n0,0,1,1,")
    );
}

#[test]
fn the_report_says_sizes_trade_off_summary_and_what_next() {
    let run = Folder::new().solve(&[
        "--max-depth",
        "1",
        "--max-edits",
        "1",
        "--holdout",
        "others.csv",
        "-o",
        "new.json",
    ]);
    assert_transcript!(run);
}

#[test]
fn json_has_the_names_of_the_result_file() {
    let folder = Folder::new();
    let run = folder.solve(&["--json", "-o", "new.json"]);
    assert!(run.stderr.starts_with("note: ") && run.stdout.lines().count() == 1, "{run}");
    let (told, front) = (run.json(), folder.json("new.json"));
    assert_eq!(told["status"], front["status"]);
    for (block, key) in [
        ("population", "rows"),
        ("population", "affected"),
        ("counts", "splits"),
        ("counts", "edits"),
        ("counts", "actions"),
        ("run", "leaf_sets"),
        ("run", "seconds_search"),
    ] {
        assert_eq!(told[key], front[block][key], "{key}");
    }
}

#[test]
fn quiet_says_nothing_on_stderr() {
    let run = Folder::new().solve(&["--quiet", "-o", "new.json"]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
}

#[test]
fn verbose_tells_about_the_model() {
    let run = Folder::new().solve(&["--verbose", "-o", "new.json"]);
    assert!(run.stderr.contains("note: model: LightGBM"), "{run}");
}

#[test]
fn the_result_does_not_depend_on_threads() {
    let folder = Folder::new();
    for threads in ["1", "2", "8"] {
        assert_eq!(folder.solve(&["--threads", threads, "-o", threads, "--quiet"]).code, 0);
    }
    let mut fronts = ["1", "2", "8"].map(|name| folder.json(name));
    for front in &mut fronts {
        front.as_object_mut().unwrap().remove("run");
    }
    assert!(fronts[0] == fronts[1] && fronts[1] == fronts[2]);
}

#[test]
fn predictions_that_agree_let_the_run_go_on() {
    let folder = Folder::new();
    let run = folder.solve(&["--check-predictions", "predicted", "-o", "new.json", "--quiet"]);
    assert_eq!(run.code, 0, "{run}");
    assert_eq!(pairs(&folder.json("new.json")), pairs(&folder.json("front.json")));
}

#[test]
fn predictions_that_differ_stop_the_run() {
    let folder = Folder::new();
    let run = folder.solve(&["--check-predictions", "loan", "-o", "new.json"]);
    assert_transcript!(run);
    assert!(!folder.path("new.json").exists());
}

#[test]
fn a_closed_pipe_is_no_error() {
    let folder = Folder::new();
    let mut child =
        folder.command(&["schema", "front"]).stdout(std::process::Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_rule_that_no_action_may_break_shrinks_the_front() {
    let folder = Folder::new();
    folder.write("rules.toml", format!("rules = [\"hours <= 40\"]\n{}", folder.read("sogar.toml")));
    let run =
        folder.sogar(&["solve", "people.csv", "-m", "model.txt", "-c", "rules.toml", "-o", "new.json", "-q"]);
    assert_eq!(run.code, 0, "{run}");
    let (with, without) = (pairs(&folder.json("new.json")), pairs(&folder.json("front.json")));
    // Every point with the rule is matched or beaten by one without it.
    assert!(with.iter().all(|a| without.iter().any(|b| b.0 <= a.0 && b.1 <= a.1)));
    assert_ne!(with, without);
}

#[test]
fn what_is_found_on_a_sample_stands_with_its_values_on_everybody() {
    let folder = Folder::new();
    let run = folder.solve(&["--sample", "70", "--seed", "3", "--min-leaf", "12", "-o", "sampled.json"]);
    assert_eq!(run.code, 0, "{run}");
    let front = folder.json("sampled.json");
    assert_eq!(front["status"], "complete_on_sample");
    let (sample, points) = (&front["sample"], front["points"].as_array().unwrap());
    assert_eq!(sample["rows"], 70);
    assert_eq!(sample["points"].as_array().unwrap().len(), points.len());
    let count = |name: &str| sample[name].as_u64().unwrap() as usize;
    assert_eq!(count("found"), points.len() + count("too_small") + count("dominated"));
    // The check applies every tree to every row through the model itself.
    let run = folder.sogar(&["check", "sampled.json"]);
    assert_eq!(run.code, 0, "{run}");
    assert!(run.stdout.contains("complete on its sample"), "{run}");
    let again = folder.solve(&["--sample", "70", "--seed", "3", "--min-leaf", "12", "-o", "again.json"]);
    assert_eq!(again.code, 0, "{again}");
    let (mut one, mut other) = (front.clone(), folder.json("again.json"));
    for front in [&mut one, &mut other] {
        front["run"] = serde_json::Value::Null;
    }
    assert_eq!(one, other, "the same seed draws the same sample");
    // No complete front is below the one that a sample led to.
    let run = folder.solve(&["--min-leaf", "12", "-o", "complete.json"]);
    assert_eq!(run.code, 0, "{run}");
    let complete = pairs(&folder.json("complete.json"));
    for (cost, loss) in pairs(&front) {
        assert!(complete.iter().any(|best| best.0 <= cost && best.1 <= loss));
    }
}

#[test]
fn a_sample_of_everybody_is_a_complete_search() {
    let folder = Folder::new();
    let run = folder.solve(&["--sample", "100000", "-o", "all.json"]);
    assert_eq!(run.code, 0, "{run}");
    assert_eq!(folder.json("all.json")["status"], "complete");
}

#[test]
fn the_export_is_about_everybody() {
    let folder = Folder::new();
    let input = ["people.csv", "--model", "model.txt", "--config", "sogar.toml", "--sample", "50"];
    let export = [&["problem", "export"][..], &input, &["-o", "all.npz"]].concat();
    let run = folder.sogar(&export);
    assert!(run.code == 2 && run.stderr.contains("but `sample` is 50"), "{run}");
}

#[test]
fn what_nobody_has_decided_is_warned_of() {
    let folder = Folder::new();
    let input =
        ["solve", "people.csv", "-m", "model.txt", "--max-depth", "1", "--max-edits", "1", "-o", "new.json"];
    let with = |more: &[&str]| folder.sogar(&[&input[..], more].concat());
    let run = with(&["--ignore", "loan", "--ignore", "predicted"]);
    assert_eq!(run.code, 0, "{run}");
    assert!(
        run.stderr.contains("warning: nothing says which outcome people hope for: `1` is assumed"),
        "{run}"
    );
    assert!(
        run.stderr.contains("Say --desired 1 if that is right, and --desired 0 if `0` is the good outcome"),
        "{run}"
    );
    assert!(
        run.stderr.contains("warning: advice may change `age`, and groups may be described by them"),
        "{run}"
    );
    assert!(run.stderr.contains("--protected age stops that"), "{run}");
    let run = with(&["--ignore", "loan", "--ignore", "predicted", "--desired", "1", "--protected", "age"]);
    assert!(run.code == 0 && !run.stderr.contains("warning"), "{run}");
    let front = folder.json("new.json");
    assert_eq!(front["config"]["features"]["age"]["protected"], true);
    assert!(
        !front["splits"].to_string().contains("\"age\"") && !front["actions"].to_string().contains("\"age\"")
    );
    // A good class is recognised by its name or the label's; otherwise the run asks for it.
    let run = with(&["--label", "loan", "--ignore", "predicted", "--protected", "age"]);
    assert!(run.code == 2 && run.stderr.contains("to one or more of them: `no`, `yes`"), "{run}");
    folder.write_people("people.csv", |row, line| match row {
        0 => format!("{},grade", line.replace("loan", "approved")),
        row => format!("{line},{}", ["up", "down"][row % 2]),
    });
    let run =
        with(&["--label", "approved", "--ignore", "predicted", "--ignore", "grade", "--protected", "age"]);
    assert!(run.code == 0 && !run.stderr.contains("warning"), "{run}");
    let run = with(&["--label", "grade", "--ignore", "predicted", "--ignore", "approved"]);
    assert_eq!(run.code, 2, "{run}");
    assert!(run.stderr.contains("nothing says which of them people hope for"), "{run}");
    assert!(
        run.stderr
            .contains("set `desired` (--desired on the command line) to one or more of them: `down`, `up`"),
        "{run}"
    );
}

#[test]
fn nobody_is_assumed_to_hope_for_a_default() {
    let folder = Folder::new();
    folder.write_people("people.csv", |row, line| match row {
        0 => format!("{line},default"),
        row => format!("{line},{}", row % 2),
    });
    let input =
        ["solve", "people.csv", "-m", "model.txt", "--max-depth", "1", "--max-edits", "1", "-o", "new.json"];
    let with = |more: &[&str]| {
        folder.sogar(&[&input[..], more, &["--ignore", "loan", "--ignore", "predicted"]].concat())
    };
    let run = with(&["--label", "default"]);
    assert_eq!(run.code, 0, "{run}");
    assert!(
        run.stderr.contains(
            "`0` is assumed, because the label `default` sounds like something that nobody hopes for. "
        ),
        "{run}"
    );
    let run = with(&[]);
    assert!(run.stderr.contains("`1` is assumed. "), "{run}");
    assert!(
        run.stderr.contains("if `0` is the good outcome; the column `default` sounds as if it were"),
        "{run}"
    );
}

#[test]
fn ids_and_dates_are_neither_changed_nor_split_on() {
    let folder = Folder::new();
    folder.write_people("all.csv", |row, line| match row {
        0 => format!("customer_id,{line},signup"),
        row => format!("{},{line},2021-03-{:02}", row * 7 % 997, row % 28 + 1),
    });
    let input = ["solve", "all.csv", "-m", "model.txt", "-c", "sogar.toml", "-o", "new.json"];
    let run = folder.sogar(&input);
    assert_eq!(run.code, 0, "{run}");
    for part in ["`customer_id` looks like an id: it is neither", "`signup` looks like a date: it is neither"]
    {
        assert!(run.stderr.contains(part), "{run}");
    }
    assert_eq!(pairs(&folder.json("new.json")), pairs(&folder.json("front.json")));
    let config = &folder.json("new.json")["config"]["features"];
    assert_eq!(config["customer_id"], serde_json::json!({ "immutable": true, "split": false }));
    assert_eq!(folder.sogar(&["check", "new.json", "--time-limit", "5"]).code, 0);
}

/// Runs the binary with a table on standard input.
fn piped(folder: &Folder, args: &[&str], table: &[u8]) -> Run {
    let mut command = folder.command(args);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(table).unwrap();
    Run::new(args, child.wait_with_output().unwrap())
}

#[test]
fn a_table_comes_from_standard_input() {
    let folder = Folder::new();
    let people = folder.read("people.csv");
    assert_eq!(folder.solve(&["-o", "plain.json"]).code, 0);
    let flags = ["--model", "model.txt", "--config", "sogar.toml"];
    let run = piped(&folder, &[&["solve", "-", "-o", "new.json"], &flags[..]].concat(), people.as_bytes());
    assert_eq!(run.code, 0, "{run}");
    let (new, plain) = (folder.json("new.json"), folder.json("plain.json"));
    assert_eq!((&new["points"], &new["table"]), (&plain["points"], &plain["table"]));
    assert_eq!(new["run"]["table_path"], "-");
    for args in [
        vec!["audit", "new.json", "--group", "job"],
        vec!["check", "new.json"],
        vec!["explain", "new.json", "--row", "1"],
    ] {
        let run = folder.sogar(&args);
        assert!(run.code == 2 && run.stderr.contains("came from standard input"), "{run}");
        assert!(run.stderr.contains("--table FILE"), "{run}");
        let run = folder.sogar(&[&args[..], &["--table", "people.csv"]].concat());
        assert_eq!(run.code, 0, "{run}");
        let run = folder.sogar(&[&args[..], &["--table", "-"]].concat());
        assert!(run.code == 2 && run.stderr.contains("standard input"), "{run}");
    }
    let predicted = piped(&folder, &[&["predict", "-"], &flags[..]].concat(), people.as_bytes());
    assert_eq!(predicted.stdout, folder.sogar(&[&["predict", "people.csv"], &flags[..]].concat()).stdout);
    let check = piped(&folder, &["config", "check", "sogar.toml", "--table", "-"], people.as_bytes());
    assert_eq!(check.code, 0, "{check}");
    assert_eq!(piped(&folder, &["config", "init", "-"], people.as_bytes()).code, 0);
    let twice = [&["solve", "-", "--holdout", "-", "-o", "new.json"], &flags[..]].concat();
    let run = piped(&folder, &twice, people.as_bytes());
    assert!(run.code == 2 && run.stderr.contains("standard input is given for two tables"), "{run}");
    let run = piped(&folder, &[&["solve", "-", "-o", "new.json"], &flags[..]].concat(), b"");
    assert!(run.code == 2 && run.stderr.contains("-: the table is empty"), "{run}");
}

#[test]
fn a_run_says_so_if_no_action_changes_anything() {
    let folder = Folder::new();
    let settings = "[data]\nlabel = \"loan\"\ndesired = [\"yes\"]\nignore = [\"predicted\"]\n[features]\nage.immutable = true\n\
        income.direction = \"decrease\"\nhours.immutable = true\nschool.immutable = true\njob.immutable = true\nowner.immutable = true\n";
    folder.write("none.toml", settings);
    let run = folder.sogar(&["solve", "people.csv", "-m", "model.txt", "-c", "none.toml", "-o", "new.json"]);
    assert_eq!(run.code, 0, "{run}");
    assert!(run.stderr.contains("actions changes anybody's outcome, so there is no advice"), "{run}");
    assert!(run.stderr.contains("(--max-edits, --actions) may help"), "{run}");
    let run = folder.sogar(&["report", "new.json"]);
    assert!(run.stdout.contains("kB, 1 summary)"), "{run}");
}
