//! `check`: true results pass, and every kind of lie is found and named.
//!
//! Each corrupted file is the fixture with one thing changed, and as much else as it takes to keep the file consistent in itself: a
//! forger would do no less.

use serde_json::{Value, json};

use crate::folder::{Folder, Run, assert_transcript};

/// What `check` says of a result that must be refused.
fn refused(folder: &Folder) -> Run {
    let run = folder.sogar(&["check", "front.json"]);
    assert_eq!(run.code, 2, "{run}");
    assert!(run.stderr.starts_with("error: front.json: "), "{run}");
    run
}

/// The fixture with something changed.
fn changed(change: impl FnOnce(&mut Value)) -> Folder {
    let folder = Folder::new();
    let mut front = folder.json("front.json");
    change(&mut front);
    folder.write("front.json", front.to_string());
    folder
}

macro_rules! lies {
    ($($name:ident: $change:expr;)*) => {
        $(#[test]
        fn $name() {
            assert_transcript!(refused(&changed($change)));
        })*
    };
}

/// The points, to be changed.
fn points(front: &mut Value) -> &mut Vec<Value> {
    front["points"].as_array_mut().unwrap()
}

/// Removes points, and the splits and actions that no tree uses any more.
fn keep_points(front: &mut Value, keep: impl Fn(usize) -> bool) {
    let mut number = 0;
    points(front).retain(|_| {
        number += 1;
        keep(number - 1)
    });
    drop_unused(front, "splits", "split");
    drop_unused(front, "actions", "action");
}

fn drop_unused(front: &mut Value, list: &str, key: &str) {
    let mut order = Vec::new();
    for point in points(front) {
        renumber(&mut point["tree"], key, &mut order);
    }
    let sample = front.pointer_mut("/sample/front").and_then(Value::as_array_mut);
    for point in sample.into_iter().flatten() {
        renumber(&mut point["tree"], key, &mut order);
    }
    let old = front[list].as_array().unwrap();
    front[list] = order.iter().map(|&position| old[position].clone()).collect();
}

/// Numbers what a tree refers to in the order in which it is met.
fn renumber(node: &mut Value, key: &str, order: &mut Vec<usize>) {
    if let Some(position) = node.get(key).and_then(Value::as_u64) {
        let position = position as usize;
        let new = order.iter().position(|&known| known == position).unwrap_or_else(|| {
            order.push(position);
            order.len() - 1
        });
        node[key] = json!(new);
    }
    for side in ["left", "right"] {
        if node.get(side).is_some() {
            renumber(&mut node[side], key, order);
        }
    }
}

/// Adds to a number.
fn add(value: &mut Value, more: i64) {
    *value = json!(value.as_i64().unwrap() + more);
}

/// Makes a point's means those of its totals.
fn remake_means(front: &mut Value, number: usize) {
    let (unit, rows) =
        (front["cost"]["unit"].as_f64().unwrap(), front["population"]["affected"].as_f64().unwrap());
    let point = &mut points(front)[number];
    let cost = point["cost_sum"].as_f64().unwrap() / unit / rows;
    let loss = point["loss_count"].as_f64().unwrap() / rows;
    (point["cost"], point["loss"], point["invalidity"]) = (json!(cost), json!(loss), json!(cost + loss));
}

/// A limit, both as configured and as resolved.
fn limit(front: &mut Value, name: &str, value: u32) {
    front["config"]["limits"][name] = json!(value);
    front["limits"][name] = json!(value);
}

// Points that are not there, or should not be.
lies! {
    missing_point: |front| keep_points(front, |number| number != 40);
    missing_most_expensive_point: |front| keep_points(front, |number| number != 80);
    missing_free_point: |front| keep_points(front, |number| number != 0);
    every_other_point_missing: |front| keep_points(front, |number| number % 2 == 0);
    duplicated_point: |front| {
        let twice = points(front)[7].clone();
        points(front).insert(7, twice);
    };
    dominated_point: |front| {
        // Advice that costs but flips nobody: the tree of point 1 without its flips.
        let mut worse = points(front)[1].clone();
        worse["tree"]["left"]["right"]["flipped"] = json!(0);
        worse["loss_count"] = json!(118);
        points(front).insert(1, worse);
        remake_means(front, 1);
    };
    reordered_points: |front| points(front).swap(3, 4);
}

// What a point says.
lies! {
    rows_moved_between_leaves: |front| {
        let tree = &mut points(front)[1]["tree"];
        add(&mut tree["left"]["left"]["rows"], 1);
        add(&mut tree["right"]["rows"], -1);
    };
    cost_moved_between_leaves: |front| {
        let tree = &mut points(front)[1]["tree"];
        add(&mut tree["left"]["left"]["cost_sum"], 1);
        add(&mut tree["left"]["right"]["cost_sum"], -1);
    };
    cheaper_than_it_is: |front| {
        let point = &mut points(front)[1];
        add(&mut point["cost_sum"], -1);
        add(&mut point["tree"]["left"]["right"]["cost_sum"], -1);
        remake_means(front, 1);
    };
    better_than_it_is: |front| {
        let point = &mut points(front)[1];
        add(&mut point["loss_count"], -1);
        add(&mut point["tree"]["left"]["right"]["flipped"], 1);
        remake_means(front, 1);
    };
    totals_unlike_their_leaves: |front| add(&mut points(front)[5]["cost_sum"], 1);
    wrong_means: |front| points(front)[5]["cost"] = json!(0.01);
    wrong_depth: |front| points(front)[5]["depth"] = json!(1);
}

// Trees.
lies! {
    swapped_children: |front| {
        let tree = &mut points(front)[1]["tree"];
        (tree["left"], tree["right"]) = (tree["right"].clone(), tree["left"].clone());
    };
    wrong_split_value: |front| front["splits"][1]["value"] = json!(42.5);
    split_on_the_wrong_level: |front| {
        front["splits"][0]["value"] = json!("none");
        front["splits"][0]["text"] = json!("school <= none");
    };
    split_without_purpose: |front| {
        let leaf = |rows| json!({"action": 0, "rows": rows, "flipped": 0, "cost_sum": 0});
        let point = &mut points(front)[0];
        point["tree"] = json!({"split": 0, "left": leaf(98), "right": leaf(20)});
        (point["leaves"], point["depth"]) = (json!(2), json!(1));
    };
    // Those on the right have been to college: nothing is left to increase.
    edit_without_effect: |front| points(front)[1]["tree"]["right"]["action"] = json!(2);
    leaf_with_another_action: |front| points(front)[1]["tree"]["left"]["right"]["action"] = json!(3);
}

// Actions.
lies! {
    wrong_flips: |front| {
        let other = front["actions"][2]["flips"].clone();
        front["actions"][1]["flips"] = other;
    };
    other_action_id: |front| front["actions"][1]["id"] = json!(8);
    larger_step_than_allowed: |front| {
        front["actions"][1]["edits"][0]["by"] = json!(40.0);
        front["actions"][1]["text"] = json!("Increase `hours` by 40");
    };
    wider_range_than_allowed: |front| front["actions"][1]["edits"][0]["hi"] = json!(80.0);
    edit_of_an_immutable_feature: |front| {
        front["actions"][1]["edits"] = json!([{"feature": "age", "op": "shift", "by": 10.0, "lo": 20.0, "hi": 65.0}]);
        front["actions"][1]["text"] = json!("Increase `age` by 10");
    };
    edit_against_the_direction: |front| front["actions"][2]["edits"][0]["by"] = json!(-1.0);
    feature_edited_twice: |front| {
        let twice = front["actions"][1]["edits"][0].clone();
        front["actions"][1]["edits"].as_array_mut().unwrap().push(twice);
    };
    action_that_no_tree_uses: |front| {
        let list = front["actions"].as_array_mut().unwrap();
        let mut more = list[1].clone();
        more["id"] = json!(9);
        more["edits"][0]["by"] = json!(16.0);
        more["text"] = json!("Increase `hours` by 16");
        list.push(more);
    };
}

#[test]
fn different_texts_are_reported_and_refused_where_a_proof_is_required() {
    let folder = changed(|front| {
        front["splits"][1]["text"] = json!("hours <= 40");
        front["actions"][1]["text"] = json!("Increase `hours` by 1");
    });
    let run = folder.sogar(&["check", "front.json", "--require", "proved"]);
    assert_eq!(run.code, 1, "{run}");
    assert_transcript!(run);
    let run = folder.sogar(&["check", "front.json", "--json"]);
    assert_eq!((run.code, run.json()["text_differs"].as_array().map(Vec::len)), (0, Some(2)), "{run}");
}

// Status and bound.
lies! {
    forged_status: |front| {
        // A stopped run that found half of the points, relabelled.
        keep_points(front, |number| number <= 40);
        front["status"] = json!("complete");
    };
    complete_with_a_bound: |front| front["bound"] = json!([[0, 0]]);
    stopped_without_a_bound: |front| front["status"] = json!("time_limit");
    bound_above_the_points: |front| {
        front["status"] = json!("time_limit");
        front["bound"] = json!([[0, 118], [700, 114], [13020, 0]]);
    };
    bound_above_a_point_that_was_not_found: |front| {
        // True of all points that are left, but not of the complete front.
        front["status"] = json!("time_limit");
        let bound: Vec<[u64; 2]> = points(front)
            .iter()
            .enumerate()
            .filter(|(number, _)| *number != 30)
            .map(|(_, p)| [p["cost_sum"].as_u64().unwrap(), p["loss_count"].as_u64().unwrap()])
            .collect();
        front["bound"] = json!(bound);
        keep_points(front, |number| number != 30);
    };
    bound_out_of_order: |front| {
        front["status"] = json!("cancelled");
        front["bound"] = json!([[1, 0], [0, 0]]);
    };
}

// Population, problem and limits.
lies! {
    changed_desired: |front| front["population"]["desired"] = json!(["no"]);
    changed_desired_in_the_configuration: |front| front["config"]["data"]["desired"] = json!(["no"]);
    changed_classes: |front| front["population"]["classes"] = json!(["reject", "yes"]);
    // The first byte with bits moved: as many rows, but other ones.
    changed_affected_rows: |front| {
        let rows = front["population"]["affected_rows"].as_str().unwrap().replacen("Gff", "Jff", 1);
        front["population"]["affected_rows"] = json!(rows);
    };
    changed_unit: |front| {
        front["cost"]["unit"] = json!(480);
        (0..points(front).len()).for_each(|number| remake_means(front, number));
    };
    changed_cost: |front| {
        front["cost"]["kind"] = json!("cet");
        front["config"]["cost"]["kind"] = json!("cet");
    };
    changed_number_of_splits: |front| front["counts"]["splits"] = json!(18);
    changed_number_of_actions: |front| front["counts"]["actions"] = json!(153);
    changed_min_leaf: |front| front["limits"]["min_leaf"] = json!(10);
    min_leaf_that_leaves_do_not_reach: |front| limit(front, "min_leaf", 22);
    min_leaf_that_would_allow_more: |front| limit(front, "min_leaf", 15);
    depth_that_trees_exceed: |front| {
        limit(front, "max_depth", 1);
        front["limits"]["max_leaves"] = json!(2);
    };
    depth_that_would_allow_more: |front| {
        limit(front, "max_depth", 3);
        front["limits"]["max_leaves"] = json!(8);
    };
    leaves_that_trees_exceed: |front| limit(front, "max_leaves", 3);
    edits_that_actions_exceed: |front| {
        limit(front, "max_edits", 1);
        front["counts"]["actions"] = json!(20);
    };
    feature_made_immutable: |front| {
        front["config"]["features"]["owner"] = json!({"immutable": true});
        front["counts"] = json!({"splits": 17, "edits": 17, "actions": 118});
    };
    feature_of_another_kind: |front| front["features"][0]["kind"] = json!("real");
    rule_that_actions_break: |front| front["config"]["rules"] = json!(["hours <= 40"]);
    configuration_of_another_table: |front| front["config"]["data"]["label"] = json!("credit");
    other_description_of_the_model: |front| front["model"]["description"] = json!("1 tree");
}

/// A result with a held-out block, with something changed.
fn held_out(change: impl FnOnce(&mut Value)) -> Folder {
    let folder = Folder::new();
    let run = folder.solve(&["--holdout", "others.csv", "-q"]);
    assert_eq!(run.code, 0, "{run}");
    let mut front = folder.json("front.json");
    change(&mut front);
    folder.write("front.json", front.to_string());
    folder
}

/// Makes the means of a point of the held-out block those of its totals.
fn remake_held_out_means(front: &mut Value, number: usize) {
    let (unit, rows) =
        (front["cost"]["unit"].as_f64().unwrap(), front["holdout"]["affected"].as_f64().unwrap());
    let point = &mut front["holdout"]["points"][number];
    let cost = point["cost_sum"].as_f64().unwrap() / unit / rows;
    let loss = point["loss_count"].as_f64().unwrap() / rows;
    (point["cost"], point["loss"], point["invalidity"]) = (json!(cost), json!(loss), json!(cost + loss));
}

macro_rules! held_out_lies {
    ($($name:ident: $change:expr;)*) => {
        $(#[test]
        fn $name() {
            assert_transcript!(refused(&held_out($change)));
        })*
    };
}

// The held-out block.
held_out_lies! {
    held_out_cheaper_than_it_is: |front| {
        add(&mut front["holdout"]["points"][30]["cost_sum"], -1);
        remake_held_out_means(front, 30);
    };
    held_out_better_than_it_is: |front| {
        add(&mut front["holdout"]["points"][30]["loss_count"], -1);
        remake_held_out_means(front, 30);
    };
    held_out_points_swapped: |front| {
        front["holdout"]["points"].as_array_mut().unwrap().swap(20, 60);
    };
    held_out_points_of_the_reference: |front| {
        for number in 0..81 {
            for what in ["cost", "loss", "invalidity", "cost_sum", "loss_count"] {
                front["holdout"]["points"][number][what] = front["points"][number][what].clone();
            }
        }
    };
    held_out_wrong_means: |front| front["holdout"]["points"][30]["loss"] = json!(0.01);
    held_out_point_missing: |front| {
        front["holdout"]["points"].as_array_mut().unwrap().pop();
    };
    held_out_rows_wrong: |front| add(&mut front["holdout"]["rows"], 1);
    held_out_affected_wrong: |front| add(&mut front["holdout"]["affected"], -1);
    held_out_distance_wrong: |front| front["holdout"]["mean_distance"] = json!(0.001);
    held_out_deviation_wrong: |front| front["holdout"]["sd_distance"] = json!(0.5);
    held_out_hash_of_another_table: |front| {
        front["holdout"]["hash"] = front["table"]["hash"].clone();
    };
}

#[test]
fn held_out_table_altered() {
    let folder = held_out(|_| ());
    folder.replace("others.csv", "teacher", "clerk");
    assert_transcript!(refused(&folder));
}

#[test]
fn held_out_table_is_looked_for_where_it_was_and_where_the_flag_says() {
    let folder = held_out(|_| ());
    assert_transcript!(folder.sogar(&["check", "front.json"]));
    std::fs::rename(folder.path("others.csv"), folder.path("moved.csv")).unwrap();
    let run = folder.sogar(&["check", "front.json", "--json"]);
    assert_eq!(run.code, 0, "{run}");
    let not_proved = run.json()["not_proved"].to_string();
    assert!(not_proved.contains("say where it is now with --holdout"), "{run}");
    let run = folder.sogar(&["check", "front.json", "--holdout", "moved.csv", "--json"]);
    assert_eq!((run.code, &run.json()["not_proved"]), (0, &json!([])), "{run}");
    let run = folder.sogar(&["check", "front.json", "--holdout", "nowhere.csv"]);
    assert_eq!(run.code, 2, "{run}");
}

#[test]
fn altered_table() {
    let folder = Folder::new();
    folder.replace("people.csv", "teacher", "clerk");
    assert_transcript!(refused(&folder));
}

#[test]
fn altered_model() {
    let folder = Folder::new();
    folder.replace("model.txt", "shrinkage=0.3", "shrinkage=0.30");
    assert_transcript!(refused(&folder));
}

#[test]
fn broken_file() {
    let folder = Folder::new();
    let text = folder.read("front.json");
    folder.write("front.json", &text[..text.len() / 2]);
    assert_transcript!(refused(&folder));
}

#[test]
fn true_result() {
    let run = Folder::new().sogar(&["check", "front.json"]);
    assert_eq!(run.code, 0, "{run}");
    assert_transcript!(run);
}

#[test]
fn true_result_as_json() {
    let told = Folder::new().sogar(&["check", "front.json", "--json"]).json();
    assert_eq!((&told["passed"], &told["completeness"]), (&json!(true), &json!("proved")));
    assert!(told["checks"].as_array().unwrap().iter().all(|check| check["passed"] == json!(true)));
    assert_eq!(told["not_proved"], json!([]));
}

#[test]
fn a_lie_as_json_has_its_place_and_the_exit_code() {
    let run = changed(|front| front["actions"][1]["id"] = json!(8)).sogar(&["check", "front.json", "--json"]);
    assert_eq!((run.code, &run.json()["passed"]), (2, &json!(false)), "{run}");
    let checks = run.json()["checks"].clone();
    let failed: Vec<&Value> =
        checks.as_array().unwrap().iter().filter(|check| check["passed"] == json!(false)).collect();
    assert_eq!(failed.len(), 1);
    assert_eq!(failed[0]["check"], json!("actions"));
}

#[test]
fn results_of_solve_pass_whatever_the_limits() {
    let cases: [&[&str]; 9] = [
        &["--max-leaves", "3"],
        &["--max-depth", "3", "--max-leaves", "5"],
        &["--max-depth", "3", "--max-edits", "1", "--min-leaf", "10"],
        &["--max-depth", "0"],
        &["--cost", "cet"],
        &["--cost", "logshift", "--max-depth", "1"],
        &["--cost", "l1"],
        &["--bins", "quantile:4", "--immutable", "owner"],
        &["--holdout", "others.csv"],
    ];
    let folder = Folder::new();
    for flags in cases {
        let run = folder.solve(&[flags, &["-o", "new.json", "--quiet"]].concat());
        assert_eq!(run.code, 0, "{run}");
        let run = folder.sogar(&["check", "new.json", "--json"]);
        assert_eq!(run.code, 0, "{flags:?}: {run}");
        assert_eq!(run.json()["completeness"], json!("proved"), "{flags:?}");
    }
}

#[test]
fn stopped_results_pass_and_claim_nothing() {
    let folder = changed(|front| {
        keep_points(front, |number| number <= 40);
        front["status"] = json!("time_limit");
        front["bound"] = json!([[0, 118], [100, 0]]);
    });
    assert_transcript!(folder.sogar(&["check", "front.json"]));
    for limit in ["0.000001", "0.0005", "0.005"] {
        let run = folder.solve(&[
            "--max-depth",
            "4",
            "--min-leaf",
            "5",
            "--time-limit",
            limit,
            "-o",
            "new.json",
            "-q",
        ]);
        let claim = match run.code {
            0 => "proved",
            3 => "not_claimed",
            _ => panic!("{run}"),
        };
        let run = folder.sogar(&["check", "new.json", "--json"]);
        assert_eq!((run.code, &run.json()["completeness"]), (0, &json!(claim)), "{run}");
    }
}

#[test]
fn a_result_cancelled_at_once_passes() {
    let folder = changed(|front| {
        keep_points(front, |number| number == 0);
        front["status"] = json!("cancelled");
        front["counts"]["actions"] = json!(1);
    });
    let run = folder.sogar(&["check", "front.json", "--json"]);
    assert_eq!((run.code, &run.json()["completeness"]), (0, &json!("not_claimed")), "{run}");
}

#[test]
fn what_the_time_is_too_short_for_is_said() {
    let run = Folder::new().sogar(&["check", "front.json", "--time-limit", "0", "--seed", "0"]);
    assert_eq!(run.code, 0, "{run}");
    assert_transcript!(run);
    let run = Folder::new().sogar(&["check", "front.json", "--time-limit", "-1"]);
    assert_eq!(run.code, 2, "{run}");
}

#[test]
fn moved_files_are_named_by_flags() {
    let folder = Folder::new();
    for (old, new) in [("people.csv", "moved.csv"), ("model.txt", "moved.txt")] {
        std::fs::rename(folder.path(old), folder.path(new)).unwrap();
    }
    assert_transcript!(folder.sogar(&["check", "front.json"]));
    let run = folder.sogar(&["check", "front.json", "--table", "moved.csv", "--model", "moved.txt"]);
    assert_eq!(run.code, 0, "{run}");
}

#[test]
fn settings_of_runs_are_no_part_of_a_result() {
    let settings = [
        ("limits", "memory_limit", json!("1MB")),
        ("limits", "time_limit", json!(1e-9)),
        ("limits", "outcomes_time_limit", json!(1e-9)),
        ("limits", "threads", json!(1)),
        ("limits", "device", json!("cpu")),
        ("limits", "max_scorings", json!(1)),
        ("model", "timeout", json!(1.0)),
        ("model", "batch", json!(1)),
        ("model", "jobs", json!(1)),
    ];
    for (block, name, value) in settings {
        let run = refused(&changed(|front| front["config"][block][name] = value));
        assert!(run.stderr.contains(&format!("`config.{block}.{name}` is a setting of a run")), "{run}");
    }
}

#[test]
fn runs_leave_their_settings_out_of_results() {
    let folder = Folder::new();
    let limits = ["--memory-limit", "1GB", "--time-limit", "600", "--outcomes-time-limit", "600"];
    let run = folder.solve(&[&limits[..], &["--threads", "1", "--max-scorings", "1000000", "-q"]].concat());
    assert_eq!(run.code, 0, "{run}");
    let recorded = folder.json("front.json")["config"]["limits"].clone();
    assert_eq!(recorded, json!({"max_depth": 2, "min_leaf": 20, "max_edits": 2}));
    assert_eq!(folder.sogar(&["check", "front.json", "--require", "proved"]).code, 0);
}

/// What no result of this version has.
#[test]
fn fields_that_nobody_knows_are_refused() {
    let changes: [fn(&mut Value); 6] = [
        |front| front["proved"] = json!(true),
        |front| front["run"]["proved"] = json!(true),
        |front| front["config"]["features"]["age"]["proved"] = json!(true),
        |front| front["actions"][1]["edits"][0]["proved"] = json!(true),
        |front| front["points"][5]["tree"]["left"]["proved"] = json!(true),
        |front| front["bound"] = Value::Null,
    ];
    for change in changes {
        let run = refused(&changed(change));
        assert!(
            run.stderr.contains("is not a field of a result") || run.stderr.contains("unknown field"),
            "{run}"
        );
    }
}

/// The result of a search on a sample, with something changed.
fn sampled(flags: &[&str], change: impl FnOnce(&mut Value)) -> Folder {
    let folder = Folder::new();
    let run = folder.solve(&[&["--sample", "60", "-q"], flags].concat());
    assert!(matches!(run.code, 0 | 3), "{run}");
    let mut front = folder.json("front.json");
    change(&mut front);
    folder.write("front.json", front.to_string());
    folder
}

#[test]
fn a_sample_is_drawn_anew_and_its_front_proved() {
    let folder = sampled(&[], |_| ());
    assert_transcript!(folder.sogar(&["check", "front.json"]));
    let run = folder.sogar(&["check", "front.json", "--json", "--require", "proved"]);
    assert_eq!((run.code, &run.json()["completeness"]), (1, &json!("proved_on_sample")), "{run}");
    assert!(run.stderr.contains("completeness is proved on a sample only"), "{run}");
}

#[test]
fn stopped_searches_on_a_sample_pass_and_claim_nothing() {
    let stops: [&[&str]; 4] = [
        &["--time-limit", "0.000001"],
        &["--time-limit", "0.0005", "--max-depth", "4", "--min-leaf", "5"],
        &["--outcomes-time-limit", "0.000000001"],
        &["--outcomes-time-limit", "0.000000001", "--holdout", "others.csv"],
    ];
    for flags in stops {
        let folder = sampled(flags, |_| ());
        let front = folder.json("front.json");
        let run = folder.sogar(&["check", "front.json", "--json"]);
        let claimed =
            if front["status"] == "complete_on_sample" { "proved_on_sample" } else { "not_claimed" };
        assert_eq!((run.code, &run.json()["completeness"]), (0, &json!(claimed)), "{flags:?} {run}");
        assert_eq!(front["bound"], Value::Null, "{flags:?}: a sample claims nothing for everybody");
    }
    let stopped = sampled(&["--time-limit", "0.000001"], |_| ()).json("front.json");
    assert!(stopped["sample"]["bound"].is_array() && stopped["sample"]["status"] == "time_limit");
}

macro_rules! sampled_lies {
    ($($name:ident: $change:expr;)*) => {
        $(#[test]
        fn $name() {
            assert_transcript!(refused(&sampled(&[], $change)));
        })*
    };
}

// A sample said to be everybody, or figures of it that are not true.
sampled_lies! {
    sample_called_complete: |front| front["status"] = json!("complete");
    sample_called_complete_and_left_out: |front| {
        front["status"] = json!("complete");
        front.as_object_mut().unwrap().remove("sample");
    };
    sample_left_out_with_its_setting: |front| {
        front["status"] = json!("complete");
        front.as_object_mut().unwrap().remove("sample");
        front["config"]["limits"].as_object_mut().unwrap().remove("sample");
        drop_unused(front, "splits", "split");
        drop_unused(front, "actions", "action");
    };
    sample_of_another_size: |front| {
        add(&mut front["sample"]["rows"], 1);
        add(&mut front["config"]["limits"]["sample"], 1);
    };
    sample_of_another_seed: |front| front["config"]["seed"] = json!(1);
    sample_with_smaller_leaves: |front| add(&mut front["sample"]["min_leaf"], -1);
    sample_that_found_more: |front| add(&mut front["sample"]["found"], 1);
    sample_with_more_dominated: |front| {
        add(&mut front["sample"]["dominated"], 1);
        add(&mut front["sample"]["too_small"], -1);
    };
    sample_whose_front_lacks_a_point: |front| {
        // A dominated one, so that the points on everybody stay what they are.
        let stands = |front: &Value, at: usize| {
            let pair = |point: &Value| (point["cost_sum"].clone(), point["loss_count"].clone());
            let candidate = pair(&front["sample"]["front"][at]);
            front["sample"]["points"].as_array().unwrap().iter().any(|point| pair(point) == candidate)
        };
        let idle = (0..).find(|&at| !stands(front, at)).unwrap();
        front["sample"]["front"].as_array_mut().unwrap().remove(idle);
        add(&mut front["sample"]["found"], -1);
        add(&mut front["sample"]["dominated"], -1);
        drop_unused(front, "splits", "split");
        drop_unused(front, "actions", "action");
    };
    sample_with_other_points: |front| {
        front["sample"]["points"].as_array_mut().unwrap().swap(1, 2);
    };
    sample_at_another_distance: |front| front["sample"]["mean_distance"] = json!(0.01);
    sample_that_was_stopped: |front| front["sample"]["status"] = json!("time_limit");
    sample_with_a_bound_for_everybody: |front| {
        front["status"] = json!("time_limit");
        front["bound"] = json!([[0, 0]]);
    };
}

#[test]
fn a_complete_front_cut_short_does_not_pass_with_the_block_of_a_sample() {
    let honest = sampled(&[], |_| ()).json("front.json");
    let folder = changed(|front| {
        keep_points(front, |number| number == 0 || number == 80);
        front["sample"] = honest["sample"].clone();
        front["status"] = json!("complete_on_sample");
        front["config"]["limits"]["sample"] = json!(60);
        let points = front["points"].clone();
        front["sample"]["front"] = points.clone();
        front["sample"]["points"].as_array_mut().unwrap().truncate(2);
    });
    refused(&folder);
}

#[test]
fn swapped_names_of_classes_are_found_by_the_label() {
    let folder = changed(|front| {
        front["config"]["model"]["classes"] = json!(["yes", "no"]);
        front["config"]["data"]["desired"] = json!(["no"]);
        front["population"]["classes"] = json!(["yes", "no"]);
        front["population"]["desired"] = json!(["no"]);
    });
    assert_transcript!(refused(&folder));
}

#[test]
fn names_of_classes_that_nothing_gives_are_not_proved() {
    let folder = Folder::new();
    folder.replace("sogar.toml", "label = \"loan\"\n", "");
    folder.replace(
        "sogar.toml",
        "[\"predicted\"]",
        "[\"predicted\", \"loan\"]\n[model]\nclasses = [\"no\", \"yes\"]",
    );
    assert_eq!(folder.solve(&["-q"]).code, 0);
    let run = folder.sogar(&["check", "front.json", "--require", "proved"]);
    assert_eq!(run.code, 1, "{run}");
    assert!(run.stdout.contains("the names of the classes, no, yes"), "{run}");
}

#[test]
fn a_proof_can_be_required() {
    let folder = Folder::new();
    assert_eq!(folder.sogar(&["check", "front.json", "--require", "proved"]).code, 0);
    let run = folder.sogar(&["check", "front.json", "--require", "proved", "--time-limit", "0"]);
    assert_eq!(run.code, 1, "{run}");
    assert!(run.stderr.contains("--require proved: completeness was not tested"), "{run}");
    let run = folder.sogar(&["check", "front.json", "--require", "luck"]);
    assert_eq!(run.code, 2, "{run}");
}

#[test]
fn draws_are_the_verifiers_own() {
    let folder = Folder::new();
    let seed = |flags: &[&str]| {
        let run = folder.sogar(&[&["check", "front.json", "--json"], flags].concat());
        run.json()["seed"].as_u64().unwrap()
    };
    assert_ne!(seed(&[]), seed(&[]));
    assert_eq!(seed(&["--seed", "7"]), 7);
}

#[test]
fn results_of_the_earlier_version_are_read_and_not_verified() {
    let folder = Folder::new();
    let front = "earlier.json";
    folder.write(front, include_str!("../fixtures/front-version-1.json"));
    let reading: [&[&str]; 7] = [
        &["show", front],
        &["select", front, "--by", "knee"],
        &["diff", front, "front.json"],
        &["plot", "front", front],
        &["plot", "tree", front],
        &["report", front, "-o", "report.html"],
        &["evaluate", front, "--holdout", "others.csv"],
    ];
    for command in reading {
        let run = folder.sogar(command);
        assert_eq!(run.code, 0, "{run}");
    }
    let run = folder.sogar(&["check", front]);
    assert_eq!(run.code, 2, "{run}");
    assert_transcript!(run);
}
