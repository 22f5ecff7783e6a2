//! Commands that answer, and all ways in which they can fail. The commands are small shell scripts.
#![cfg(unix)]

use std::time::Instant;

use super::*;
use crate::predict::Matched;
use sogar_table::table::{Column, Table};

fn table() -> Table {
    Table::from_columns(
        "people",
        vec![
            Column::numbers("age", vec![30.0, 41.5, f64::NAN]),
            Column::text("job", [Some("clerk, 2nd"), None, Some("say \"hi\"")]),
            Column::text("credit", [Some("no"), Some("yes"), Some("no")]),
        ],
    )
    .unwrap()
}

#[test]
fn spaces_of_cells_and_labels_are_kept() {
    let column = |name: &str, cells: [&'static str; 3]| Column::text(name, cells.map(Some));
    let columns =
        vec![column("job", [" clerk", "clerk\t", "\u{a0}"]), column("credit", [" no", " yes", " no"])];
    let table = Table::from_columns("people", columns).unwrap();
    let script = "cat > $0; printf ' yes\n no\nno\n'";
    let folder = tempfile::tempdir().unwrap();
    let seen = folder.path().join("seen.csv");
    let mut config =
        Config::parse("[data]\nlabel = \"credit\"\n[model]\nanswers = \"labels\"\n", "test".as_ref())
            .unwrap();
    config.model.command = Some(shlex::try_join(["sh", "-c", script, seen.to_str().unwrap()]).unwrap());
    let model = CommandLine::of(&config.model).unwrap().unwrap().open(&table, &config).unwrap();
    let predictions = Matched::new(&config, &table, &model).unwrap().predict(&model).unwrap();
    assert_eq!(predictions.iter().map(|prediction| prediction.label).collect::<Vec<_>>(), [1, 0, 0]);
    assert_eq!(std::fs::read_to_string(seen).unwrap(), "job\n clerk\nclerk\t\n\u{a0}\n");
}

/// Predicts the table with a shell script, and further lines of `[model]`.
fn predict(script: &str, settings: &str) -> Result<Vec<(u32, f64)>> {
    let mut config =
        Config::parse(&format!("[data]\nlabel = \"credit\"\n[model]\n{settings}\n"), "test".as_ref())?;
    config.model.command = Some(shlex::try_join(["sh", "-c", script]).unwrap());
    let model = CommandLine::of(&config.model)?.unwrap().open(&table(), &config)?;
    let predictions = Matched::new(&config, &table(), &model)?.predict(&model)?;
    Ok(predictions.into_iter().map(|prediction| (prediction.label, prediction.score)).collect())
}

fn message(script: &str, settings: &str) -> String {
    let error = predict(script, settings).unwrap_err();
    format!("{error} | {}", error.remedy().unwrap_or_default())
}

#[test]
fn the_command_gets_the_table_as_it_stands() {
    let folder = tempfile::tempdir().unwrap();
    let seen = folder.path().join("seen.csv");
    let script = format!("cat > {}; printf '0.2\\n0.7\\n0.5\\n'", seen.display());
    assert_eq!(predict(&script, "").unwrap(), [(0, 0.2), (1, 0.7), (0, 0.5)]);
    let text = std::fs::read_to_string(seen).unwrap();
    assert_eq!(text, "age,job\n30,\"clerk, 2nd\"\n41.5,\n,\"say \"\"hi\"\"\"\n");
}

#[test]
fn thresholds_and_labels_are_read() {
    assert_eq!(predict("printf '0.2\\n0.7\\n0.5\\n'", "threshold = 0.4").unwrap()[2].0, 1);
    let labels = predict("printf 'no\\r\\nyes\\r\\nno\\r\\n\\n'", "answers = \"labels\"").unwrap();
    assert_eq!(labels, [(0, 0.0), (1, 1.0), (0, 0.0)]);
    let named = "answers = \"labels\"\nclasses = [0, 1, 2]";
    assert_eq!(predict("printf '2.0\\n1\\n0\\n'", named).unwrap()[0].0, 2);
    assert!(message("true", "answers = \"labels\"\nthreshold = 0.4").contains("no effect"));
}

#[test]
fn batches_are_processes_of_their_own() {
    let script = "while read line; do :; done; echo $$ | grep -c .";
    assert_eq!(predict(script, "batch = 1").unwrap().len(), 3);
    assert!(message(script, "batch = 2").contains("gave 1 answers to 2 rows"));
}

#[test]
fn wrong_answers_are_named() {
    for (script, part) in [
        ("printf '0.1\\n'", "the command gave 1 answers to 3 rows"),
        ("true", "the command gave 0 answers to 3 rows"),
        ("printf 'score\\n0.1\\n0.2\\n0.3\\n'", "line 1 of the command's answers is `score`, not a number"),
        ("printf '0.1\\n\\n0.3\\n'", "line 2 of the command's answers is ``, not a number"),
        ("printf '0.1\\nnan\\n0.3\\n'", "line 2 of the command's answers is `nan`, not a number"),
        ("printf '\\377'", "not UTF-8"),
        ("yes", "printed more than"),
    ] {
        let message = message(script, "");
        assert!(message.contains(part) && message.starts_with("sh -c"), "{script}: {message}");
    }
    let message = message("printf 'no\\nmaybe\\nno\\n'", "answers = \"labels\"");
    assert!(
        message.contains("line 2 of the command's answers is `maybe`, not a class (no, yes)"),
        "{message}"
    );
}

#[test]
fn a_crash_is_reported_with_its_last_output() {
    let crash = message("echo 'a lot' >&2; echo 'no such model' >&2; exit 3", "");
    assert!(crash.contains("failed with exit code 3; its last words:\n  a lot\n  no such model"), "{crash}");
    assert!(message("exit 1", "").contains("exit code 1, without a word"));
    assert!(message("kill -9 $$", "").contains("was ended by signal 9"));
}

#[test]
fn a_hang_ends_with_everything_that_was_started() {
    let folder = tempfile::tempdir().unwrap();
    let pids = folder.path().join("pids");
    let start = Instant::now();
    // A child of the command holds the pipe as well.
    let script = format!("sleep 60 & echo $! > {0}; echo waiting >&2; sleep 60", pids.display());
    let hang = message(&script, "timeout = 0.5");
    assert!(hang.contains("did not answer within 0.5 s and was ended; its last words:\n  waiting"), "{hang}");
    assert!(start.elapsed() < Duration::from_secs(30));
    let child = std::fs::read_to_string(pids).unwrap();
    let gone = |pid: &str| match std::fs::read_to_string(format!("/proc/{pid}/stat")) {
        Ok(stat) => stat.contains(") Z "),
        Err(_) => true,
    };
    let deadline = Instant::now() + Duration::from_secs(10);
    while !gone(child.trim()) {
        assert!(Instant::now() < deadline, "the command's child is still there");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_program_that_answers_and_stays_is_too_slow() {
    let message = message("printf '0.1\\n0.2\\n0.3\\n'; exec >&-; sleep 60", "timeout = 0.5");
    assert!(message.contains("did not answer within 0.5 s"), "{message}");
}

#[test]
fn full_pipes_do_not_block() {
    // The test reads only after a megabyte was written to each stream.
    let noise = "head -c 1000000 /dev/zero | tr '\\0' 'x' >&2";
    let rows = 40_000;
    let column = Column::numbers("x", (0..rows).map(f64::from).collect());
    let table = Table::from_columns("numbers", vec![column]).unwrap();
    let mut config = Config::default();
    config.model.command = Some(format!("sh -c \"{noise}; yes 0.25 | head -n {rows}; cat > /dev/null\""));
    let model = CommandLine::of(&config.model).unwrap().unwrap().open(&table, &config).unwrap();
    let predictions = Matched::new(&config, &table, &model).unwrap().predict(&model).unwrap();
    assert_eq!(predictions.len(), rows as usize);
}

#[test]
fn an_absent_command_is_answered_with_the_nearest() {
    let mut config = Config::default();
    config.model.command = Some("pythn3 score.py".into());
    let model = CommandLine::of(&config.model).unwrap().unwrap().open(&table(), &config).unwrap();
    let error = Matched::new(&config, &table(), &model).unwrap().predict(&model).unwrap_err();
    assert!(error.to_string().ends_with("there is no command `pythn3`"), "{error}");
    assert_eq!(error.remedy(), Some("did you mean `python3`?"));
}

#[test]
fn the_identity_is_that_of_the_words_and_the_kind_of_answers() {
    let hash = |command: &str, settings: &str| {
        let mut config = Config::parse(&format!("[model]\n{settings}\n"), "test".as_ref()).unwrap();
        config.model.command = Some(command.into());
        CommandLine::of(&config.model).unwrap().unwrap().identity()
    };
    assert_eq!(hash("python score.py", ""), hash("python 'score.py'", "timeout = 3\nbatch = 2"));
    assert_ne!(hash("python score.py", ""), hash("python score.py", "answers = \"labels\""));
    assert_ne!(hash("python score.py", ""), hash("python other.py", ""));
}

#[test]
fn the_model_says_what_it_wants() {
    let mut config = Config::default();
    config.model.command = Some("true".into());
    config.model.jobs = Some(3);
    let model = CommandLine::of(&config.model).unwrap().unwrap().open(&table(), &config).unwrap();
    let info = model.predictor.info();
    assert_eq!((info.format.as_str(), info.classes, info.threshold), ("command", 2, Some(0.5)));
    assert_eq!(model.predictor.batching(), Batching { rows: 100_000, at_once: 3 });
}
