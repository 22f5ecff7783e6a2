//! What a model says of rows, what a model file is, and outcomes that are kept between runs.

use crate::folder::{Folder, assert_transcript};

#[test]
fn predictions_as_a_table() {
    let run = Folder::new().sogar(&["predict", "people.csv", "-m", "model.txt", "-c", "sogar.toml"]);
    assert_eq!((run.code, run.stdout.lines().count()), (0, 241), "{run}");
    let told = Folder::new().read("people.csv");
    let claimed = told.lines().skip(1).map(|line| line.rsplit(',').next().unwrap());
    for (line, claimed) in run.stdout.lines().skip(1).zip(claimed) {
        assert_eq!(line.split(',').nth(1).unwrap(), claimed, "{line}");
    }
}

#[test]
fn predictions_as_json_and_in_a_file() {
    let folder = Folder::new();
    let args = ["predict", "people.csv", "-m", "model.txt", "-c", "sogar.toml", "--json"];
    let printed = folder.sogar(&args);
    let value = printed.json();
    assert_eq!(value["classes"], serde_json::json!(["no", "yes"]));
    for (label, score) in value["labels"].as_array().unwrap().iter().zip(value["scores"].as_array().unwrap())
    {
        assert_eq!(label.as_u64().unwrap() == 1, score.as_f64().unwrap() > 0.5);
    }
    let written = folder.sogar(&[&args[..], &["-o", "said.json"]].concat());
    assert_eq!((written.code, written.stdout.as_str()), (0, ""));
    assert_eq!(folder.json("said.json"), value);
}

#[test]
fn a_threshold_moves_labels_and_not_scores() {
    let folder = Folder::new();
    let args = ["predict", "people.csv", "-m", "model.txt", "-c", "sogar.toml", "--json"];
    let plain = folder.sogar(&args).json();
    let strict = folder.sogar(&[&args[..], &["--threshold", "0.9"]].concat()).json();
    folder.write("strict.toml", folder.read("sogar.toml") + "\n[model]\nthreshold = 0.9\n");
    let args = ["predict", "people.csv", "-m", "model.txt", "-c", "strict.toml", "--json"];
    assert_eq!(folder.sogar(&args).json(), strict);
    assert_eq!(plain["scores"], strict["scores"]);
    let accepted = |value: &serde_json::Value| {
        value["labels"].as_array().unwrap().iter().filter(|label| **label == 1).count()
    };
    assert!(accepted(&strict) < accepted(&plain));
}

#[test]
fn a_model_of_several_classes_wants_to_know_the_desired_ones() {
    let folder = Folder::new();
    folder.write("classes.txt", include_str!("../../../sogar-models/tests/models/multiclass.txt"));
    let rows = (0..60).map(|i| {
        let (income, age) = (5000 + i * 7 % 40 * 1000, 18 + i * 13 % 70);
        format!("{income},{age},{},{}\n", i * 5 % 27 - 13, f64::from(i * 3 % 11 - 5) / 2000.0)
    });
    folder.write("numbers.csv", "income,age,gain,rate\n".to_owned() + &rows.collect::<String>());
    let run = folder.sogar(&["predict", "numbers.csv", "-m", "classes.txt", "--json"]);
    let labels: Vec<u64> =
        run.json()["labels"].as_array().unwrap().iter().map(|label| label.as_u64().unwrap()).collect();
    assert!(labels.iter().max() >= Some(&2), "{run}");
    let solve = [
        "solve",
        "numbers.csv",
        "-m",
        "classes.txt",
        "--max-depth",
        "1",
        "--max-edits",
        "1",
        "--min-leaf",
        "1",
    ];
    assert_transcript!(folder.sogar(&[&solve[..], &["-o", "new.json"]].concat()));
    for wanted in [&["2"][..], &["0", "1"]] {
        let flags: Vec<&str> = wanted.iter().flat_map(|class| ["--desired", class]).collect();
        let run = folder.sogar(&[&solve[..], &["-o", "new.json"], &flags].concat());
        assert_eq!(run.code, 0, "{run}");
        let affected = labels.iter().filter(|label| !wanted.contains(&label.to_string().as_str())).count();
        assert_eq!(folder.json("new.json")["population"]["affected"], affected);
    }
}

#[test]
fn a_threshold_means_nothing_to_several_classes() {
    let folder = Folder::new();
    folder.write("classes.txt", include_str!("../../../sogar-models/tests/models/multiclass.txt"));
    let run = folder.sogar(&["predict", "people.csv", "-m", "classes.txt", "--threshold", "0.4"]);
    assert_eq!(run.code, 2, "{run}");
    assert!(run.stderr.contains("threshold"), "{run}");
}

#[test]
fn inspected() {
    assert_transcript!(Folder::new().sogar(&["model", "inspect", "model.txt"]));
}

#[test]
fn inspected_by_a_program() {
    let value = Folder::new().sogar(&["model", "inspect", "model.txt", "--json"]).json();
    assert_eq!(value["format"], "LightGBM text");
    assert_eq!(
        (&value["trees"], &value["classes"], &value["threshold"]),
        (&12.into(), &2.into(), &0.5.into())
    );
    assert_eq!(value["columns"][0]["name"], "age");
}

#[test]
fn inspecting_what_is_no_model() {
    let folder = Folder::new();
    assert_transcript!(folder.sogar(&["model", "inspect", "people.csv"]));
}

/// The front without the block that differs from run to run, and how its outcomes were found.
fn front(folder: &Folder) -> (serde_json::Value, String) {
    let mut front = folder.json("new.json");
    let method = front["run"]["outcome_method"].as_str().unwrap().to_owned();
    front["run"] = serde_json::Value::Null;
    (front, method)
}

#[test]
fn outcomes_are_kept_between_runs() {
    let folder = Folder::new();
    let flags = ["--outcomes-cache", "kept", "-o", "new.json"];
    assert_eq!(folder.solve(&flags).code, 0);
    let (first, method) = front(&folder);
    assert!(method.starts_with("tree ensemble"), "{method}");
    // Limits of the search do not matter to outcomes.
    assert_eq!(folder.solve(&[&flags[..], &["--threads", "1", "--max-depth", "2"]].concat()).code, 0);
    let (second, method) = front(&folder);
    assert_eq!(method, "kept from an earlier run");
    assert!(first == second);
    let kept = || std::fs::read_dir(folder.path("kept")).unwrap().count();
    assert_eq!(kept(), 1);
    // Everything that outcomes depend on does.
    for (count, flags) in [
        &["--threshold", "0.6"][..],
        &["--immutable", "hours"],
        &["--max-edits", "1"],
        &["--bins", "4"],
        &["--desired", "no"],
    ]
    .into_iter()
    .enumerate()
    {
        let run = folder.solve(&[&["--outcomes-cache", "kept", "-o", "new.json"][..], flags].concat());
        assert_eq!((run.code, kept()), (0, count + 2), "{run}");
        assert_ne!(front(&folder).1, "kept from an earlier run", "{flags:?}");
    }
}

#[test]
fn damaged_outcomes_are_noticed_and_replaced() {
    let folder = Folder::new();
    let flags = ["--outcomes-cache", "kept", "-o", "new.json", "--quiet"];
    assert_eq!(folder.solve(&flags).code, 0);
    let (good, _) = front(&folder);
    let file = std::fs::read_dir(folder.path("kept")).unwrap().next().unwrap().unwrap().path();
    let mut bytes = std::fs::read(&file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&file, &bytes).unwrap();
    let run = folder.solve(&flags);
    assert_eq!(run.code, 0, "{run}");
    assert!(run.stderr.contains("the checksum is wrong") && run.stderr.contains("computed anew"), "{run}");
    assert!(front(&folder).0 == good);
    assert_eq!(folder.solve(&flags).stderr, "");
    assert_eq!(front(&folder).1, "kept from an earlier run");
}

#[test]
fn a_folder_for_outcomes_that_cannot_be_made() {
    let folder = Folder::new();
    assert_transcript!(folder.solve(&["--outcomes-cache", "people.csv/kept", "-o", "new.json"]));
    assert!(!folder.path("new.json").exists());
}

#[cfg(unix)]
#[test]
fn a_command_whose_script_has_changed_is_called_again() {
    let folder = Folder::new();
    let solve = |limit: &str| {
        folder.write("score.awk", format!("NR > 1 {{ print ($2 + $3 > {limit}) ? 0.9 : 0.1 }}\n"));
        let args = ["solve", "people.csv", "-c", "sogar.toml", "--model-command", "awk -F, -f score.awk"];
        let run = folder.sogar(&[&args[..], &["--outcomes-cache", "kept", "-o", "new.json"]].concat());
        assert_eq!(run.code, 0, "{run}");
        front(&folder).1
    };
    assert_eq!(solve("70"), "every different edited row scored by the model");
    assert_eq!(solve("70"), "kept from an earlier run");
    assert_eq!(solve("60"), "every different edited row scored by the model");
}
