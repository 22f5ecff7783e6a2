//! `solve --max-gap` and `--minimax`, protected features, and the price of equal treatment.

use serde_json::Value;

use crate::folder::{Folder, Run};

fn numbers(value: &Value) -> Vec<u64> {
    value.as_array().unwrap().iter().map(|one| one.as_u64().unwrap()).collect()
}

fn pairs(front: &Value) -> Vec<(u64, u64)> {
    let points = front["points"].as_array().unwrap();
    points.iter().map(|p| (p["cost_sum"].as_u64().unwrap(), p["loss_count"].as_u64().unwrap())).collect()
}

/// The losses of the groups at every point, as shares.
fn losses(front: &Value) -> Vec<Vec<f64>> {
    let fairness = &front["fairness"];
    let groups = fairness["groups"].as_array().unwrap();
    let sizes: Vec<f64> = groups.iter().map(|group| group["affected"].as_f64().unwrap()).collect();
    let share = |at: u64| -> Vec<f64> {
        let vector = numbers(&fairness["front"][at as usize]);
        vector[1..].iter().zip(&sizes).map(|(&loss, size)| loss as f64 / size).collect()
    };
    numbers(&fairness["points"]).into_iter().map(share).collect()
}

fn fails_with(run: &Run, text: &str) {
    assert_eq!(run.code, 2, "{run}");
    assert!(run.stderr.contains(text), "{run}");
}

#[test]
fn a_limit_on_the_gap_gives_the_exact_front_within_it_and_check_proves_it() {
    let folder = Folder::new();
    let run = folder.solve(&["--max-gap", "loss, owner <= 0.05", "-o", "fair.json"]);
    assert_eq!(run.code, 0, "{run}");
    assert!(run.stdout.contains("within the limit `loss, owner <= 0.05`"), "{run}");
    assert!(run.stderr.contains("grouped by `owner` as it is today, but advice may change `owner`"), "{run}");
    let shown = folder.sogar(&["show", "fair.json"]);
    assert!(
        shown.stdout.contains("\nBy owner: works for ") && shown.stdout.contains(" % of yes; gap 0.0"),
        "{shown}"
    );
    let shown = folder.sogar(&["show", "fair.json", "--json"]).json();
    assert!(shown["fairness"]["gap"].as_f64().unwrap() <= 0.05 + 1e-12, "{shown}");
    let fair = folder.json("fair.json");
    assert_eq!(fair["status"], "complete");
    let gaps: Vec<f64> = losses(&fair).iter().map(|losses| (losses[0] - losses[1]).abs()).collect();
    assert!(gaps.iter().all(|&gap| gap <= 0.05 + 1e-12), "{gaps:?}");
    // What a filter of the front of cost and loss finds is matched or beaten.
    let audited = folder.sogar(&["audit", "front.json", "--group", "owner", "--json", "--draws", "0"]).json();
    let gap = &audited["reference"]["groupings"][0]["groups"][0]["measures"]["loss"]["gap"];
    let filtered = pairs(&folder.json("front.json")).into_iter().zip(gap.as_array().unwrap());
    let found = pairs(&fair);
    for (point, _) in filtered.filter(|(_, gap)| gap.as_f64().unwrap().abs() <= 0.05) {
        assert!(found.iter().any(|own| own.0 <= point.0 && own.1 <= point.1), "{point:?}");
    }
    let run = folder.sogar(&["check", "fair.json", "--require", "proved"]);
    assert_eq!(run.code, 0, "{run}");
    assert!(run.stdout.contains("the losses of 2 groups at all"), "{run}");
}

#[test]
fn minimax_and_epsilon_are_checked_too() {
    let folder = Folder::new();
    let run = folder.solve(&["--minimax", "owner", "-o", "worst.json"]);
    assert_eq!(run.code, 0, "{run}");
    let worst: Vec<f64> =
        losses(&folder.json("worst.json")).iter().map(|losses| losses[0].max(losses[1])).collect();
    assert!(worst.windows(2).all(|pair| pair[0] > pair[1]), "{worst:?}");
    let run = folder.sogar(&["check", "worst.json", "--require", "proved"]);
    assert_eq!(run.code, 0, "{run}");
    let run = folder.solve(&["--minimax", "owner", "--epsilon", "0.05", "-o", "near.json", "--json"]);
    assert_eq!((run.code, run.json()["status"].as_str()), (0, Some("complete_within_epsilon")), "{run}");
    let count = |name: &str| folder.json(name)["fairness"]["front"].as_array().unwrap().len();
    assert!(count("near.json") < count("worst.json"));
    let run = folder.sogar(&["check", "near.json", "--require", "proved"]);
    assert_eq!(run.code, 0, "{run}");
    // The page and the other commands read such results.
    for command in [
        &["show", "worst.json"][..],
        &["select", "worst.json", "--by", "knee"],
        &["diff", "worst.json", "front.json"],
        &["report", "worst.json", "-o", "worst.html", "-q"],
        &["evaluate", "worst.json", "--holdout", "others.csv"],
    ] {
        assert_eq!(folder.sogar(command).code, 0, "{command:?}");
    }
}

#[test]
fn a_limit_that_only_doing_nothing_meets_is_said_with_the_smallest_other_one() {
    let folder = Folder::new();
    // One edit for everybody helps one group more than the other.
    let shallow = ["--max-depth", "0", "--max-edits", "1", "-o", "fair.json"];
    let solve = |limit: &str| folder.solve(&[&["--max-gap", limit], &shallow[..]].concat());
    let run = solve("loss, owner <= 0");
    assert_eq!(run.code, 0, "{run}");
    assert!(run.stdout.contains("Only doing nothing meets the limit `loss, owner <= 0`"), "{run}");
    let fair = folder.json("fair.json");
    assert_eq!(pairs(&fair).len(), 1);
    let least = fair["fairness"]["least_limit"].as_f64().unwrap();
    // The printed limit is met, and a smaller one is not.
    let printed = (1e4 * least).ceil() / 1e4;
    assert!(
        run.stdout.contains(&format!("that another summary meets is {printed:.4} (rounded up)")),
        "{run}"
    );
    assert_eq!(solve(&format!("loss, owner <= {:.9}", least - 1e-9)).code, 0);
    assert_eq!(pairs(&folder.json("fair.json")).len(), 1);
    assert_eq!(solve(&format!("loss, owner <= {printed:.4}")).code, 0);
    assert!(pairs(&folder.json("fair.json")).len() > 1);
    assert!(folder.json("fair.json")["fairness"]["least_limit"].is_null());
}

#[test]
fn a_changed_block_is_a_damaged_file_or_a_defect() {
    let folder = Folder::new();
    assert_eq!(folder.solve(&["--max-gap", "loss, owner <= 0.05", "-o", "fair.json", "-q"]).code, 0);
    let fair = folder.json("fair.json");
    let tampered = |change: &dyn Fn(&mut Value)| {
        let mut front = fair.clone();
        change(&mut front);
        folder.write("bad.json", front.to_string());
        folder.sogar(&["check", "bad.json"])
    };
    fails_with(&tampered(&|front| front["fairness"]["points"][1] = 0.into()), "damaged result file");
    fails_with(&tampered(&|front| front["status"] = "complete_within_epsilon".into()), "disagree");
    fails_with(&tampered(&|front| front["fairness"] = Value::Null), "damaged result file");
    fails_with(&tampered(&|front| front["fairness"]["least_limit"] = 0.25.into()), "least_limit is not");
    // One person changes groups: consistent in itself, but not with the table.
    let moved = tampered(&|front| {
        for (group, by) in [(0, -1i64), (1, 1)] {
            let size = &mut front["fairness"]["groups"][group]["affected"];
            *size = (size.as_i64().unwrap() + by).into();
        }
        front["fairness"]["front"] = Value::Array(
            front["fairness"]["front"]
                .as_array()
                .unwrap()
                .iter()
                .map(|vector| {
                    let [cost, a, b] = numbers(vector)[..] else { panic!() };
                    let all = a + b;
                    let a = a.min(front["fairness"]["groups"][0]["affected"].as_u64().unwrap());
                    serde_json::json!([cost, a, all - a])
                })
                .collect(),
        );
    });
    assert_eq!(moved.code, 2, "{moved}");
}

#[test]
fn groups_that_a_search_cannot_tell_apart_are_refused() {
    let folder = Folder::new();
    let solve =
        |limit: &str, more: &[&str]| folder.solve(&[&["--max-gap", limit, "-o", "fair.json"], more].concat());
    fails_with(&solve("loss, ownr <= 0.05", &[]), "there is no column or feature `ownr`");
    fails_with(&solve("loss, owner×job×school <= 0.05", &[]), "at most 8 apart");
    fails_with(&solve("cost, owner <= 0.05", &[]), "--max-gap");
    fails_with(&solve("loss, owner <= 0.05", &["--sample", "50"]), "--sample");
    fails_with(&solve("loss, owner <= 0.05", &["--min-group", "1000"]), "fewer than 1000");
    fails_with(&solve("loss, owner <= 0.05", &["--minimax", "owner"]), "--minimax");
    fails_with(&folder.solve(&["--epsilon", "0.1", "-o", "fair.json"]), "set --max-gap or --minimax too");
    assert!(!folder.path("fair.json").exists());
}

#[test]
fn protected_features_are_always_audited_and_divide_nobody() {
    let folder = Folder::new();
    let audit = |front: &str| folder.sogar(&["audit", front, "--draws", "0", "--json"]);
    fails_with(&audit("front.json"), "no feature is protected");
    assert_eq!(folder.solve(&["--protected", "owner", "-o", "blind.json", "-q"]).code, 0);
    let audited = audit("blind.json");
    assert_eq!(audited.json()["reference"]["groupings"][0]["name"], "owner", "{audited}");
    let blind = folder.json("blind.json");
    assert!(blind["splits"].as_array().unwrap().iter().all(|split| split["feature"] != "owner"));
    // With the same actions, what sees more is never worse.
    assert_eq!(folder.solve(&["--immutable", "owner", "-o", "sighted.json", "-q"]).code, 0);
    let sighted = pairs(&folder.json("sighted.json"));
    assert!(pairs(&blind).iter().all(|own| sighted.iter().any(|one| one.0 <= own.0 && one.1 <= own.1)));
    let run = folder.sogar(&["diff", "blind.json", "sighted.json", "--json"]);
    let price = &run.json()["price_of_equal_treatment"];
    assert_eq!((price["blind"].as_str(), &price["features"][0]), (Some("a"), &"owner".into()), "{run}");
    assert!(price["loss"].as_f64().unwrap() >= 0.0 && price["invalidity"].as_f64().unwrap() >= 0.0, "{run}");
    let run = folder.sogar(&["report", "blind.json", "--sighted", "sighted.json", "-o", "blind.html", "-q"]);
    assert_eq!(run.code, 0, "{run}");
    let page = folder.read("blind.html");
    assert!(page.contains("qual treatment"), "the page says what equal treatment costs");
    fails_with(
        &folder.sogar(&["report", "blind.json", "--sighted", "blind.json", "-o", "blind.html"]),
        "do not show the price of equal treatment",
    );
}

#[test]
fn letters_do_not_mention_protected_features() {
    let folder = Folder::new();
    assert_eq!(folder.solve(&["--protected", "owner", "-o", "blind.json", "-q"]).code, 0);
    let rows = folder.read("people.csv").lines().count() - 1;
    let mut letters = 0;
    for row in (0..rows).map(|row| row.to_string()) {
        let run = folder.sogar(&["explain", "blind.json", "--row", &row, "--letter", "letter.html", "-q"]);
        if run.code == 0 && folder.path("letter.html").exists() {
            letters += 1;
            assert!(!folder.read("letter.html").contains("owner"), "row {row}");
            std::fs::remove_file(folder.path("letter.html")).unwrap();
        }
        if letters == 5 {
            return;
        }
    }
    panic!("no letter was written");
}

#[test]
fn a_protected_feature_that_is_constant_or_moved_by_a_link_is_an_error() {
    let folder = Folder::new();
    let text = folder.read("people.csv");
    let constant: Vec<String> = text
        .lines()
        .enumerate()
        .map(|(at, line)| format!("{line},{}", if at == 0 { "planet" } else { "earth" }))
        .collect();
    folder.write("people.csv", constant.join("\n"));
    fails_with(&folder.solve(&["--protected", "planet", "-o", "new.json"]), "same value in every row");
    fails_with(&folder.solve(&["--protected", "plant", "-o", "new.json"]), "plant");
    // What is ignored is not audited.
    fails_with(&folder.solve(&["--protected", "predicted", "-o", "new.json"]), "is the label or ignored");
}

#[test]
fn splits_that_tell_a_protected_feature_apart_are_named() {
    let folder = Folder::new();
    // Owners have a garden, and one person in twelve of the others does.
    let text = folder.read("people.csv");
    let lines = text.lines().enumerate().map(|(at, line)| {
        let owner = line.split(',').nth(5) == Some("yes");
        let garden = if owner || at % 12 == 0 { "green" } else { "none" };
        format!("{line},{}", if at == 0 { "garden" } else { garden })
    });
    folder.write("people.csv", lines.collect::<Vec<_>>().join("\n"));
    let run = folder.solve(&["--protected", "owner", "-o", "blind.json"]);
    assert_eq!(run.code, 0, "{run}");
    assert!(
        run.stderr.contains("note: `owner` is protected, but trees may tell it from `garden = "),
        "{run}"
    );
    assert!(run.stderr.contains("correlation 0."), "{run}");
    folder.write(
        "more.toml",
        folder.read("sogar.toml").replace("[features]", "[features]\ngarden.split = false"),
    );
    let run = folder.sogar(&[
        "solve",
        "people.csv",
        "-m",
        "model.txt",
        "-c",
        "more.toml",
        "--protected",
        "owner",
        "-o",
        "blind.json",
    ]);
    assert!(run.code == 0 && !run.stderr.contains("trees may tell"), "{run}");
}
