//! `config` and `schema`.

use crate::folder::{Folder, SOLVE, assert_transcript};

#[test]
fn a_starting_configuration_is_printed() {
    assert_transcript!(Folder::new().sogar(&["config", "init", "people.csv"]));
}

#[test]
fn a_starting_configuration_is_written_checked_and_not_overwritten_by_default() {
    let folder = Folder::new();
    let init = ["config", "init", "people.csv", "-o", "new.toml"];
    assert_eq!(folder.sogar(&init).code, 0);
    let check = folder.sogar(&["config", "check", "new.toml", "--table", "people.csv"]);
    assert_eq!(check.code, 0, "{check}");
    assert_transcript!(folder.sogar(&init));
    assert_eq!(folder.sogar(&[&init[..], &["--force"]].concat()).code, 0);
}

#[test]
fn a_model_tells_the_label_and_what_is_unused() {
    let folder = Folder::new();
    folder.write_people("all.csv", |row, line| match row {
        0 => format!("customer_id,{},signup,region,gender", line.replace("loan", "approved")),
        row => format!("{},{line},2021-03-{:02},{},{}", row * 7 % 997, row % 28 + 1, row % 2, row % 2),
    });
    let run = folder.sogar(&["config", "init", "all.csv", "--model", "model.txt"]);
    assert_transcript!(run);
    // The file works as it is, and with any of its hints switched on.
    let text = run.stdout;
    let lines: Vec<&str> = text.lines().collect();
    let is_hint = |line: &&str| {
        let key = line.strip_prefix("# ").and_then(|line| line.split_once(" = ")).map(|(key, _)| key);
        key.is_some_and(|key| key.chars().all(|letter| letter.is_ascii_lowercase() || letter == '_'))
    };
    for hint in std::iter::once("").chain(lines.iter().copied().filter(is_hint)) {
        let switched = if hint.is_empty() { text.clone() } else { text.replacen(hint, &hint[2..], 1) };
        folder.write("new.toml", switched);
        let check = folder.sogar(&["config", "check", "new.toml", "--table", "all.csv"]);
        assert_eq!(check.code, 0, "{hint}: {check}");
    }
    folder.write("new.toml", &text);
    let solve = folder.sogar(&[
        "solve",
        "all.csv",
        "-m",
        "model.txt",
        "-c",
        "new.toml",
        "-o",
        "new.json",
        "--max-depth",
        "1",
    ]);
    assert_eq!(solve.code, 0, "{solve}");
    assert!(!solve.stderr.contains("warning"), "{solve}");
    assert!(solve.stdout.starts_with("People hope for `yes`: "), "{solve}");
    assert_eq!(folder.json("new.json")["config"]["features"]["age"]["protected"], true);
}

/// Models that were trained on `loan == "approved"` have `approved` as class 1, though it is the first name.
#[test]
fn classes_get_their_names_from_the_predictions_not_from_the_alphabet() {
    let folder = Folder::new();
    folder.write_people("named.csv", |row, line| {
        let cells = line.split(',').enumerate().map(|(at, cell)| match (row, at, cell) {
            (1.., 6, "yes") => "approved",
            (1.., 6, "no") => "rejected",
            (_, _, cell) => cell,
        });
        cells.collect::<Vec<_>>().join(",")
    });
    let init = folder.sogar(&["config", "init", "named.csv", "-m", "model.txt", "-o", "new.toml"]);
    assert_eq!(init.code, 0, "{init}");
    let text = folder.read("new.toml");
    assert!(text.contains(r#"classes = ["rejected", "approved"]  # the model's classes 0, 1"#), "{text}");
    assert!(text.contains(r#"desired = ["approved"]  # a guess from the name"#), "{text}");
    let solve = ["solve", "named.csv", "-m", "model.txt", "-o", "new.json", "--max-depth", "1"];
    let run = folder.sogar(&[&solve[..], &["-c", "new.toml"]].concat());
    assert_eq!(run.code, 0, "{run}");
    let affected = |front: &str| folder.json(front)["population"]["affected_rows"].clone();
    assert_eq!(affected("new.json"), affected("front.json"), "those whom the model turns down");
    for command in [&solve[..], &["predict", "named.csv", "-m", "model.txt"]] {
        let run = folder.sogar(&[command, &["--label", "loan"]].concat());
        assert_eq!(run.code, 2, "{run}");
        assert!(run.stderr.contains(r#"classes = ["rejected", "approved"] under [model]"#), "{run}");
    }
    // Numbers of classes are the model's own: a label of opposite numbers is warned of.
    folder.write_people("numbers.csv", |row, line| {
        let cells = line.split(',').enumerate().map(|(at, cell)| match (row, at, cell) {
            (1.., 6, "yes") => "0",
            (1.., 6, "no") => "1",
            (_, _, cell) => cell,
        });
        cells.collect::<Vec<_>>().join(",")
    });
    let numbers = [
        "solve",
        "numbers.csv",
        "-m",
        "model.txt",
        "--label",
        "loan",
        "--max-depth",
        "1",
        "-o",
        "numbers.json",
    ];
    let run = folder.sogar(&numbers);
    assert!(run.code == 2 && run.stderr.contains("to the model's class, not to the label's value"), "{run}");
    let run = folder.sogar(&[&numbers[..], &["--desired", "1"]].concat());
    assert!(run.code == 0 && run.stderr.contains("the label `loan` says the opposite of the model"), "{run}");
    let init = folder.sogar(&["config", "init", "numbers.csv", "-m", "model.txt"]);
    assert!(!init.stdout.contains("\nlabel = \"loan\""), "{init}");
}

#[test]
fn a_second_column_of_a_name_is_left_out_by_a_starting_file() {
    let folder = Folder::new();
    folder.write_people("twice.csv", |row, line| match row {
        0 => format!("{line},age,predicted"),
        row => format!("{line},{},{}", row % 7, row % 2),
    });
    let init = folder.sogar(&["config", "init", "twice.csv", "-m", "model.txt", "-o", "new.toml"]);
    assert_eq!(init.code, 0, "{init}");
    let text = folder.read("new.toml");
    assert!(text.contains("\"age.1\",  # has the name of another column"), "{text}");
    let check = folder.sogar(&["config", "check", "new.toml", "--table", "twice.csv"]);
    assert_eq!(check.code, 0, "{check}");
}

#[test]
fn all_faults_of_a_configuration_are_reported_at_once() {
    let folder = Folder::new();
    folder.write(
        "bad.toml",
        "[data]\nlabel = \"loan\"\ndesired = \"maybe\"\n[features.jobb]\nimmutable = true\n[features.school]\nsteps = [1]\n\
         [features.loan]\nimmutable = true\n",
    );
    assert_transcript!(folder.sogar(&["config", "check", "bad.toml", "--table", "people.csv"]));
}

#[test]
fn a_valid_configuration_is_called_valid() {
    let folder = Folder::new();
    assert_transcript!(folder.sogar(&["config", "check", "sogar.toml", "--table", "people.csv"]));
    let run = folder.sogar(&["config", "check", "sogar.toml", "--json"]);
    assert_eq!(run.json(), serde_json::json!({ "valid": true, "notices": [], "errors": [] }));
}

#[test]
fn a_check_for_programs_prints_json_whatever_it_finds() {
    let folder = Folder::new();
    folder.write("bad.toml", "[data]\nlabl = \"loan\"\n");
    folder.write("odd.toml", "[features.shoes]\nimmutable = true\n");
    for (args, message) in [
        (&["bad.toml"][..], "unknown key `labl`"),
        (&["nothing.toml"], "there is no such file"),
        (&["odd.toml", "--table", "people.csv"], "[features.shoes]"),
        (&["sogar.toml", "--table", "nothing.csv"], "there is no such file"),
    ] {
        let run = folder.sogar(&[&["config", "check", "--json"], args].concat());
        assert_eq!(run.code, 2, "{run}");
        let said = run.json();
        assert_eq!(said["valid"], false, "{run}");
        assert!(said["errors"][0]["message"].as_str().unwrap().contains(message), "{run}");
        assert!(said["errors"][0]["help"].is_string(), "{run}");
    }
}

#[test]
fn presets_are_listed() {
    assert_transcript!(Folder::new().sogar(&["config", "presets"]));
}

#[test]
fn every_preset_is_printed_and_valid() {
    let folder = Folder::new();
    let list = folder.sogar(&["config", "presets", "--json"]).json();
    let presets = list["presets"].as_array().unwrap();
    assert!(presets.len() >= 8);
    for preset in presets {
        let text = folder.sogar(&["config", "presets", preset["name"].as_str().unwrap()]).stdout;
        folder.write("preset.toml", text);
        let run = folder.sogar(&["config", "check", "preset.toml"]);
        assert_eq!(run.code, 0, "{run}");
    }
}

#[test]
fn an_unknown_preset_is_answered_with_the_nearest() {
    let folder = Folder::new();
    assert_transcript!(folder.sogar(&["config", "presets", "germn"]));
    let run = folder.sogar(&["solve", "people.csv", "-m", "model.txt", "--preset", "germn"]);
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("did you mean `german`?"), "{run}");
}

#[test]
fn a_preset_and_a_configuration_exclude_each_other() {
    let run = Folder::new().sogar(&[&SOLVE[..], &["--preset", "german"]].concat());
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("cannot be used with"), "{run}");
}

#[test]
fn schemas_describe_every_field_that_is_written() {
    let folder = Folder::new();
    let front = folder.sogar(&["schema", "front"]).json();
    for key in folder.json("front.json").as_object().unwrap().keys() {
        assert!(front["properties"][key].is_object(), "{key}");
    }
    let point = &front["$defs"]["PointRef"]["properties"];
    for key in ["cost", "loss", "invalidity", "cost_sum", "loss_count", "leaves", "depth", "tree"] {
        assert!(point[key]["description"].is_string() || point[key]["$ref"].is_string(), "{key}");
    }
    let config = folder.sogar(&["schema", "config"]).json();
    for key in ["data", "model", "features", "links", "rules", "bins", "cost", "limits", "seed"] {
        assert!(config["properties"][key].is_object(), "{key}");
    }
}
