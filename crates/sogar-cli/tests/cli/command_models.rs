//! A command as the model: that it gives what a model file gives, and every way in which it may fail.
#![cfg(unix)]

use std::time::{Duration, Instant};

use crate::folder::{Folder, Run, assert_transcript};

/// Income and hours decide; columns are age, income, hours, school, job, owner.
const SCORE: &str = "NR > 1 { print ($2 + $3 > 70) ? 0.9 : 0.1 }\n";
const COMMAND: &str = "awk -F, -f score.awk";

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("score.awk", SCORE);
    folder
}

/// Solves the small problem with a command.
fn solve(folder: &Folder, command: &str, flags: &[&str]) -> Run {
    let args =
        ["solve", "people.csv", "--config", "sogar.toml", "--model-command", command, "-o", "new.json"];
    folder.sogar(&[&args[..], flags].concat())
}

/// A script that is refused as a model.
fn refused(script: &str, flags: &[&str]) -> Run {
    let folder = folder();
    folder.write("model.sh", script);
    let run = solve(&folder, "sh model.sh", flags);
    assert_eq!(run.code, 2, "{run}");
    assert!(!folder.path("new.json").exists());
    run
}

#[test]
fn solves_and_is_named_in_the_result() {
    let folder = folder();
    let run = solve(&folder, COMMAND, &[]);
    assert_eq!(run.code, 0, "{run}");
    assert_transcript!(run);
    let front = folder.json("new.json");
    assert_eq!(front["model"]["format"], "command");
    assert_eq!(front["model"]["hash"].as_str().unwrap().len(), 64);
    assert_eq!(front["run"]["model_path"], COMMAND);
    // The result does not depend on how the rows were handed out.
    for flags in
        [&["--model-batch", "7"][..], &["--model-jobs", "2", "--model-batch", "100", "--threads", "2"]]
    {
        assert_eq!(solve(&folder, COMMAND, flags).code, 0);
        let mut again = folder.json("new.json");
        again["run"] = front["run"].clone();
        assert!(again == front, "{flags:?} changed the result");
    }
}

#[test]
fn later_commands_want_it_again() {
    let folder = folder();
    assert_eq!(solve(&folder, COMMAND, &[]).code, 0);
    assert_transcript!(folder.sogar(&["evaluate", "new.json", "--holdout", "others.csv"]));
    let again = ["--model-command", COMMAND];
    let run =
        folder.sogar(&[&["evaluate", "new.json", "--holdout", "others.csv", "--json"][..], &again].concat());
    assert_eq!(run.code, 0, "{run}");
    let run = folder.sogar(&[&["check", "new.json"][..], &again].concat());
    assert_eq!(run.code, 0, "{run}");
    assert!(run.stdout.contains("right, and complete"), "{run}");
    let other = ["evaluate", "new.json", "--holdout", "others.csv", "--model-command", "awk -f other.awk"];
    let run = folder.sogar(&other);
    assert_eq!(run.code, 2, "{run}");
    assert!(run.stderr.contains("not the model that the result was made with"), "{run}");
}

#[test]
fn configured_instead_of_given() {
    let folder = folder();
    folder.write("sogar.toml", folder.read("sogar.toml") + &format!("\n[model]\ncommand = \"{COMMAND}\"\n"));
    let run = folder.sogar(&["predict", "people.csv", "--config", "sogar.toml", "--json"]);
    assert_eq!(run.json()["scores"][1], 0.1, "{run}");
    // A file on the command line is meant, whatever the configuration says.
    let run = folder.sogar(&["predict", "people.csv", "--config", "sogar.toml", "-m", "model.txt", "--json"]);
    assert_ne!(run.json()["scores"][1], 0.1, "{run}");
}

#[test]
fn labels_of_three_classes() {
    let folder = folder();
    folder.write("label.awk", "NR > 1 { print ($2 > 40) ? \"high\" : ($2 > 20) ? \"middle\" : \"low\" }\n");
    let config = folder.read("sogar.toml").replace("[\"yes\"]", "[\"middle\", \"high\"]");
    folder.write("sogar.toml", config + "\n[model]\nclasses = [\"low\", \"middle\", \"high\"]\n");
    let command = "awk -F, -f label.awk";
    let flags = ["--config", "sogar.toml", "--model-command", command, "--model-answers", "labels"];
    let run = folder.sogar(&[&["predict", "people.csv"][..], &flags].concat());
    assert!(run.stdout.starts_with("row,label,score\n1,high,2\n2,low,0\n"), "{run}");
    let run = solve(&folder, command, &["--model-answers", "labels"]);
    assert_eq!(run.code, 0, "{run}");
    let population = &folder.json("new.json")["population"];
    assert_eq!(population["desired"].as_array().unwrap().len(), 2);
    let people = folder.read("people.csv");
    let income = |line: &str| line.split(',').nth(1).unwrap().parse::<f64>().unwrap();
    let low = people.lines().skip(1).filter(|line| income(line) <= 20.0);
    assert_eq!(population["affected"], low.count());
}

#[test]
fn thresholds_move_the_decision() {
    let folder = folder();
    folder.write("score.awk", "NR > 1 { print $2 }\n");
    let labels = |flags: &[&str]| {
        let args = ["predict", "people.csv", "--config", "sogar.toml", "--json", "--model-command", COMMAND];
        let run = folder.sogar(&[&args[..], flags].concat());
        assert_eq!(run.code, 0, "{run}");
        run.json()["labels"].as_array().unwrap()[..2].to_vec()
    };
    assert_eq!(labels(&["--threshold", "20"]), [1, 0]);
    assert_eq!(labels(&["--threshold", "40.8"]), [0, 0]);
    assert_eq!(labels(&["--threshold", "11.5"]), [1, 1]);
}

#[test]
fn crash() {
    assert_transcript!(refused("echo 'Traceback: no module named model' >&2\nexit 1\n", &[]));
}

#[test]
fn wrong_count() {
    assert_transcript!(refused("cat > /dev/null; echo 0.5\n", &[]));
}

#[test]
fn answers_that_are_no_numbers() {
    assert_transcript!(refused("cat > /dev/null; echo score; echo 0.5\n", &[]));
}

#[test]
fn hang() {
    let start = Instant::now();
    assert_transcript!(refused("echo thinking >&2; sleep 100\n", &["--model-timeout", "0.5"]));
    assert!(start.elapsed() < Duration::from_secs(30));
}

#[test]
fn absent_command() {
    assert_transcript!(solve(&folder(), "pyhton3 score.py", &[]));
}

#[test]
fn open_quotation_mark() {
    assert_transcript!(solve(&folder(), "sh -c 'exit", &[]));
}

#[test]
fn neither_file_nor_command() {
    assert_transcript!(folder().sogar(&["solve", "people.csv", "--config", "sogar.toml"]));
}

#[test]
fn no_time_at_all() {
    assert_transcript!(solve(&folder(), COMMAND, &["--model-timeout", "0"]));
}

#[test]
fn more_scorings_than_allowed() {
    let folder = folder();
    let run = solve(&folder, COMMAND, &["--max-scorings", "1000"]);
    assert_eq!(run.code, 4, "{run}");
    assert_transcript!(run);
    assert!(!folder.path("new.json").exists());
}

#[test]
fn an_interrupt_ends_the_command_too() {
    let folder = folder();
    // Answers the table, then hangs with the first batch of edited rows.
    folder.write(
        "model.sh",
        "if [ -e once ]; then echo $$ > pid; sleep 100; fi; touch once; awk -F, -f score.awk\n",
    );
    let args =
        ["solve", "people.csv", "--config", "sogar.toml", "--model-command", "sh model.sh", "-o", "new.json"];
    let mut child = folder.command(&args).stderr(std::process::Stdio::null()).spawn().unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    while !folder.path("pid").exists() || folder.read("pid").trim().is_empty() {
        assert!(Instant::now() < deadline);
        std::thread::sleep(Duration::from_millis(20));
    }
    std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(3));
    let leader = folder.read("pid").trim().to_owned();
    let alive = || {
        std::process::Command::new("kill").args(["-0", &leader]).stderr(std::process::Stdio::null()).status()
    };
    while alive().unwrap().success() {
        assert!(Instant::now() < deadline, "the command is still running");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(folder.json("new.json")["status"], "cancelled");
}
