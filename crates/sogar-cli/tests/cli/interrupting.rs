//! Runs that are stopped: by a time limit, by one Ctrl-C, by two.
#![cfg(unix)]

use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::folder::{Folder, Run};
use crate::signals::{interrupt, signal, start, started};

/// The German example with a search that takes far longer than any test.
const LONG: [&str; 13] = [
    "solve",
    "people.csv",
    "--model",
    "model.txt",
    "--config",
    "sogar.toml",
    "--max-depth",
    "4",
    "--min-leaf",
    "1",
    "-o",
    "new.json",
    "--quiet",
];

/// A stopped run must say so and leave a front that later commands accept.
fn assert_partial(folder: &Folder, run: &Run, status: &str) {
    assert_eq!(run.code, 3, "{run}");
    assert!(run.stderr.contains(&format!("stopped early ({status})")), "{run}");
    let front = folder.json("new.json");
    assert_eq!(front["status"], status);
    assert!(!front["points"].as_array().unwrap().is_empty());
    assert_eq!(folder.sogar(&["show", "new.json"]).code, 0);
}

#[test]
fn one_interrupt_gives_what_was_found() {
    let folder = Folder::german();
    let child = start(&folder, &LONG);
    interrupt(&child);
    let asked = Instant::now();
    let run = Run::new(&LONG, child.wait_with_output().unwrap());
    assert!(asked.elapsed() < Duration::from_secs(10), "took {:?}", asked.elapsed());
    assert_partial(&folder, &run, "cancelled");
}

#[test]
fn a_request_to_end_is_the_first_interrupt() {
    let folder = Folder::german();
    let child = start(&folder, &LONG);
    signal(&child, "-TERM");
    let asked = Instant::now();
    let run = Run::new(&LONG, child.wait_with_output().unwrap());
    assert!(asked.elapsed() < Duration::from_secs(5), "took {:?}", asked.elapsed());
    assert_partial(&folder, &run, "cancelled");
}

#[test]
fn a_running_command_does_not_hold_up_the_end() {
    let folder = Folder::new();
    // It answers once, so that it is known who is turned down, and then never again.
    folder.write(
        "model.sh",
        "if test -e asked; then sleep 600; fi; touch asked; awk 'NR > 1 { print NR % 2 }'\n",
    );
    let args =
        ["solve", "people.csv", "--model-command", "sh model.sh", "-c", "sogar.toml", "-o", "new.json"];
    let child = start(&folder, &args);
    signal(&child, "-TERM");
    let asked = Instant::now();
    let run = Run::new(&args, child.wait_with_output().unwrap());
    assert!(asked.elapsed() < Duration::from_secs(5), "took {:?}", asked.elapsed());
    assert_partial(&folder, &run, "cancelled");
}

#[test]
fn a_closed_terminal_ends_nothing_that_ignores_it() {
    let folder = Folder::german();
    let mut command = Command::new("sh");
    let binary = env!("CARGO_BIN_EXE_sogar");
    command.args(["-c", &format!("trap '' HUP; exec {binary} {}", LONG.join(" "))]);
    command.current_dir(folder.path("")).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = started(command.spawn().unwrap());
    signal(&child, "-HUP");
    sleep(Duration::from_millis(500));
    signal(&child, "-TERM");
    let run = Run::new(&LONG, child.wait_with_output().unwrap());
    assert_partial(&folder, &run, "cancelled");
}

#[test]
fn two_interrupts_end_at_once_and_write_nothing() {
    let folder = Folder::german();
    // Many held-out rows, whose evaluation goes on after the first interrupt.
    let german = folder.read("people.csv");
    let (header, rows) = german.split_once('\n').unwrap();
    folder.write("many.csv", format!("{header}\n{}", rows.repeat(60)));
    let before = folder.names();
    let args = [&LONG[..], &["--holdout", "many.csv"]].concat();
    let child = start(&folder, &args);
    interrupt(&child);
    sleep(Duration::from_millis(100));
    interrupt(&child);
    let run = Run::new(&args, child.wait_with_output().unwrap());
    assert_eq!(run.code, 130, "{run}");
    assert_eq!(folder.names(), before);
}

#[test]
fn the_time_limit_gives_what_was_found() {
    let folder = Folder::german();
    let args = [&LONG[..], &["--time-limit", "0.5"]].concat();
    let run = folder.sogar(&args);
    assert_partial(&folder, &run, "time_limit");
}

#[test]
fn outcomes_that_take_too_long_are_given_up() {
    let folder = Folder::german();
    let args = [&LONG[..], &["--outcomes-time-limit", "0.000001"]].concat();
    let run = folder.sogar(&args);
    assert_partial(&folder, &run, "time_limit");
    let front = folder.json("new.json");
    assert_eq!(front["counts"]["actions"], 1, "nothing but doing nothing is known");
    let point = &front["points"][0];
    assert_eq!((point["cost"].as_f64(), point["loss"].as_f64()), (Some(0.0), Some(1.0)));
}
