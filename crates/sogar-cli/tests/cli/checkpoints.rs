//! Runs that keep what they have finished. Kills and damages are tested from outside, in `tests/python`.

use crate::folder::Folder;

const KEEPING: [&str; 4] = ["--checkpoint", "kept", "-o", "new.json"];

fn front(folder: &Folder) -> serde_json::Value {
    let mut front = folder.json("new.json");
    front["run"] = serde_json::Value::Null;
    front
}

#[test]
fn a_checkpoint_changes_nothing_and_a_second_run_searches_nothing() {
    let folder = Folder::new();
    assert_eq!(folder.solve(&["-o", "new.json"]).code, 0);
    let plain = front(&folder);
    assert_eq!(folder.solve(&KEEPING).code, 0);
    assert!(front(&folder) == plain);
    assert_eq!(folder.solve(&[&KEEPING[..], &["--threads", "1"]].concat()).code, 0);
    assert!(front(&folder) == plain);
    let run = &folder.json("new.json")["run"];
    assert_eq!(run["leaf_sets"], 1);
    assert_eq!(run["outcome_method"], "kept from an earlier run");
}

#[test]
fn a_run_that_was_stopped_goes_on() {
    let folder = Folder::new();
    assert_eq!(folder.solve(&["-o", "new.json"]).code, 0);
    let plain = front(&folder);
    assert_eq!(folder.solve(&[&KEEPING[..], &["--time-limit", "0.000001"]].concat()).code, 3);
    assert_eq!(folder.solve(&KEEPING).code, 0);
    assert!(front(&folder) == plain);
}

#[test]
fn a_checkpoint_of_another_run_is_refused() {
    let folder = Folder::new();
    assert_eq!(folder.solve(&KEEPING).code, 0);
    std::fs::remove_file(folder.path("new.json")).unwrap();
    let run = folder.solve(&[&KEEPING[..], &["--max-depth", "1"]].concat());
    assert_eq!(run.code, 2, "{run}");
    assert!(run.stderr.contains("kept/checkpoint.json: this checkpoint belongs to another run"), "{run}");
    assert!(run.stderr.contains("delete the checkpoint's folder to begin anew"), "{run}");
    assert!(!folder.path("new.json").exists());
}

#[test]
fn a_folder_with_other_files_is_no_checkpoint() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("other")).unwrap();
    folder.write("other/people.csv", "");
    let run = folder.solve(&["--checkpoint", "other", "-o", "new.json"]);
    assert_eq!(run.code, 2, "{run}");
    assert!(run.stderr.contains("in a folder without the file checkpoint.json"), "{run}");
    assert!(run.stderr.contains("choose an empty folder") && !run.stderr.contains("delete"), "{run}");
    let run = folder.solve(&["--checkpoint", "people.csv", "-o", "new.json"]);
    assert_eq!(run.code, 2, "{run}");
    assert!(run.stderr.contains("can't be used as a checkpoint"), "{run}");
}

#[test]
fn a_limit_without_a_checkpoint_or_without_a_meaning_is_refused() {
    let folder = Folder::new();
    assert_eq!(folder.solve(&["--checkpoint-limit", "1GB", "-o", "new.json"]).code, 2);
    let run = folder.solve(&[&KEEPING[..], &["--checkpoint-limit", "a lot"]].concat());
    assert_eq!(run.code, 2, "{run}");
    assert!(run.stderr.contains("not an amount of memory"), "{run}");
}
