//! The help of every command, as it stands in the documentation.

use crate::folder::{Folder, assert_transcript};

macro_rules! help {
    ($($name:ident: $args:expr;)*) => {
        $(#[test]
        fn $name() {
            let run = Folder::new().sogar(&$args);
            assert_eq!(run.code, 0);
            assert_transcript!(run);
        })*
    };
}

help! {
    version: ["--version"];
    of_sogar: ["--help"];
    of_demo: ["demo", "--help"];
    of_solve: ["solve", "--help"];
    of_predict: ["predict", "--help"];
    of_model_inspect: ["model", "inspect", "--help"];
    of_show: ["show", "--help"];
    of_select: ["select", "--help"];
    of_evaluate: ["evaluate", "--help"];
    of_explain: ["explain", "--help"];
    of_diff: ["diff", "--help"];
    of_plot: ["plot", "--help"];
    of_plot_front: ["plot", "front", "--help"];
    of_plot_disparity: ["plot", "disparity", "--help"];
    of_plot_fairness: ["plot", "fairness", "--help"];
    of_audit: ["audit", "--help"];
    of_report: ["report", "--help"];
    of_studio: ["studio", "--help"];
    of_check: ["check", "--help"];
    of_config: ["config", "--help"];
    of_config_init: ["config", "init", "--help"];
    of_config_check: ["config", "check", "--help"];
    of_config_presets: ["config", "presets", "--help"];
    of_problem_export: ["problem", "export", "--help"];
    of_schema: ["schema", "--help"];
    of_completions: ["completions", "--help"];
    of_data: ["data", "--help"];
    of_data_fetch: ["data", "fetch", "--help"];
}

#[test]
fn no_command_gives_the_help_and_a_usage_error() {
    let run = Folder::new().sogar(&[]);
    assert_eq!((run.code, run.stdout.as_str()), (2, ""));
    assert!(run.stderr.contains("Usage: sogar"), "{run}");
}

#[test]
fn commands_of_the_laboratory_say_where_they_are() {
    for args in [&["compare", "people.csv", "--methods", "all"][..], &["experiment", "table1", "--quick"]] {
        let run = Folder::new().sogar(args);
        assert!(run.code == 2 && run.stderr.contains("cargo run --release -p sogar-lab"), "{run}");
    }
}

#[test]
fn a_mistyped_command_is_answered_with_the_nearest() {
    assert_transcript!(Folder::new().sogar(&["slove"]));
}

#[test]
fn completions_name_every_command() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let run = Folder::new().sogar(&["completions", shell]);
        assert_eq!(run.code, 0, "{run}");
        for command in ["solve", "evaluate", "max-depth"] {
            assert!(run.stdout.contains(command), "{shell} lacks {command}");
        }
    }
}

#[test]
fn data_sets_are_listed() {
    let folder = Folder::new();
    assert_transcript!(folder.sogar(&["data", "list"]));
    let run = folder.sogar(&["data", "list", "--json"]);
    let list = run.json();
    let names: Vec<&str> =
        list["datasets"].as_array().unwrap().iter().filter_map(|set| set["name"].as_str()).collect();
    assert!(names.contains(&"german") && names.contains(&"adult"), "{names:?}");
}

#[test]
fn an_unknown_data_set_is_answered_with_the_nearest() {
    assert_transcript!(Folder::new().sogar(&["data", "fetch", "germen"]));
}

#[test]
fn a_file_that_is_not_the_data_set_is_not_imported() {
    let folder = Folder::new();
    assert_transcript!(folder.sogar(&["data", "fetch", "german", "--from", "people.csv", "--to", "cache"]));
    assert!(!folder.path("cache").exists());
}
