//! Outputs that can't be written: told before the work, nothing left behind, nothing damaged.

use crate::folder::{Folder, SOLVE, assert_transcript};

/// Runs a command that can't write, and checks that the folder is as it was.
fn unwritable(folder: &Folder, args: &[&str]) -> crate::folder::Run {
    let before = folder.names();
    let run = folder.sogar(args);
    assert_eq!(run.code, 2, "{run}");
    assert_eq!(folder.names(), before, "{run}");
    run
}

#[test]
fn folder_that_does_not_exist() {
    let run = unwritable(&Folder::new(), &[&SOLVE[..], &["-o", "no/front.json"]].concat());
    assert!(!run.stderr.contains("note:"), "told before the work: {run}");
    assert_transcript!(run);
}

#[test]
fn folder_as_file() {
    assert_transcript!(unwritable(&Folder::new(), &[&SOLVE[..], &["-o", "."]].concat()));
}

#[test]
fn file_as_folder() {
    assert_transcript!(unwritable(&Folder::new(), &[&SOLVE[..], &["-o", "model.txt/front.json"]].concat()));
}

#[test]
fn unwritable_points_stop_before_the_work_too() {
    assert_transcript!(unwritable(
        &Folder::new(),
        &[&SOLVE[..], &["-o", "new.json", "--csv", "no/points.csv"]].concat()
    ));
}

#[test]
fn demo_in_a_file() {
    assert_transcript!(unwritable(&Folder::new(), &["demo", "-o", "model.txt"]));
}

#[test]
fn evaluation_into_nowhere() {
    let args = ["evaluate", "front.json", "--table", "others.csv", "--csv", "no/points.csv"];
    assert_transcript!(unwritable(&Folder::new(), &args));
}

#[test]
fn problem_of_an_unknown_kind() {
    let args =
        ["problem", "export", "people.csv", "-m", "model.txt", "-c", "sogar.toml", "-o", "problem.mat"];
    assert_transcript!(unwritable(&Folder::new(), &args));
}

#[cfg(unix)]
#[test]
fn write_protected_result_is_kept() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    let old = folder.read("front.json");
    std::fs::set_permissions(folder.path("front.json"), std::fs::Permissions::from_mode(0o444)).unwrap();
    assert_transcript!(unwritable(&folder, &[&SOLVE[..], &["-o", "front.json"]].concat()));
    assert_eq!(folder.read("front.json"), old);
}
