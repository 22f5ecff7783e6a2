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
    let args = ["evaluate", "front.json", "--holdout", "others.csv", "--csv", "no/points.csv"];
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

/// Outputs that are inputs, spelled in any way.
#[test]
fn an_output_is_never_an_input() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("x")).unwrap();
    let inputs = ["people.csv", "others.csv", "model.txt", "sogar.toml", "front.json"];
    let before: Vec<String> = inputs.iter().map(|name| folder.read(name)).collect();
    let solve = |more: &[&'static str]| [&SOLVE[..], more].concat();
    let predict = |file| vec!["predict", "people.csv", "-m", "model.txt", "-c", "sogar.toml", "-o", file];
    let mut commands = vec![
        solve(&["-o", "people.csv"]),
        solve(&["-o", "./x/../people.csv"]),
        solve(&["-o", "model.txt"]),
        solve(&["-o", "sogar.toml"]),
        solve(&["-o", "others.csv", "--holdout", "others.csv"]),
        solve(&["-o", "new.json", "--csv", "people.csv"]),
        predict("people.csv"),
        predict("model.txt"),
        vec!["evaluate", "front.json", "--holdout", "others.csv", "--csv", "others.csv"],
        vec!["evaluate", "front.json", "--holdout", "others.csv", "--csv", "people.csv"],
        vec!["evaluate", "front.json", "--holdout", "others.csv", "--csv", "front.json"],
        vec!["audit", "front.json", "--group", "job", "--csv", "model.txt"],
        vec!["explain", "front.json", "--row", "1", "--letter", "people.csv"],
        vec!["report", "front.json", "-o", "people.csv"],
        vec!["report", "front.json", "-o", "front.json"],
        vec!["plot", "tree", "front.json", "-o", "front.json", "--format", "svg"],
        vec!["plot", "disparity", "front.json", "--group", "job", "-o", "people.csv", "--format", "svg"],
        vec!["config", "init", "people.csv", "-o", "people.csv", "--force"],
    ];
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(folder.path("people.csv"), folder.path("link")).unwrap();
        std::fs::hard_link(folder.path("model.txt"), folder.path("hard")).unwrap();
        commands.extend([solve(&["-o", "link"]), solve(&["-o", "hard"])]);
    }
    for args in commands {
        let run = unwritable(&folder, &args);
        assert!(run.stderr.contains("would overwrite an input"), "{run}");
        assert!(!run.stderr.contains("note:"), "told before the work: {run}");
    }
    let after: Vec<String> = inputs.iter().map(|name| folder.read(name)).collect();
    assert_eq!(after, before);
}

#[test]
fn a_cost_table_is_an_input_too() {
    let folder = Folder::new();
    folder.replace("sogar.toml", "[limits]", "[cost]\nkind = \"table\"\ntable = \"costs.csv\"\n\n[limits]");
    folder.write("costs.csv", "feature,from,to,cost\n");
    let run = unwritable(&folder, &[&SOLVE[..], &["-o", "costs.csv"]].concat());
    assert!(run.stderr.contains("would overwrite an input"), "{run}");
}

#[test]
fn two_outputs_are_two_files() {
    let folder = Folder::new();
    let run = unwritable(&folder, &[&SOLVE[..], &["-o", "new.json", "--csv", "./new.json"]].concat());
    assert!(run.stderr.contains("two outputs would be one file"), "{run}");
    let run =
        unwritable(&folder, &[&SOLVE[..], &["--checkpoint", "kept", "--outcomes-cache", "kept"]].concat());
    assert!(run.stderr.contains("given twice"), "{run}");
    let run = unwritable(&folder, &[&SOLVE[..], &["--checkpoint", ".", "-o", "new.json"]].concat());
    assert!(run.stderr.contains("uses for itself"), "{run}");
}
