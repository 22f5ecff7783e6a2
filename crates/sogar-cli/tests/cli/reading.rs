//! `show`, `select`, `evaluate`: reading a front that was found before.

use crate::folder::{Folder, assert_transcript};

macro_rules! transcripts {
    ($($name:ident: $args:expr;)*) => {
        $(#[test]
        fn $name() {
            let run = Folder::new().sogar(&$args);
            assert_eq!(run.code, 0, "{run}");
            assert_transcript!(run);
        })*
    };
}

transcripts! {
    show_as_tree: ["show", "front.json"];
    show_as_rules: ["show", "front.json", "--format", "rules"];
    show_for_graphviz: ["show", "front.json", "--format", "dot", "--by", "loss<=0.5"];
    show_as_json: ["show", "front.json", "--format", "json", "--point", "1"];
    show_the_cheapest_point: ["show", "front.json", "--point", "0"];
    select_by_default: ["select", "front.json"];
    select_by_several_criteria: [
        "select", "front.json", "--by", "knee", "--by", "cost<=0.2", "--by", "loss<=0.1", "--by", "weight=0.5",
    ];
    select_as_json: ["select", "front.json", "--by", "cost<=0.05", "--json"];
    evaluate_on_other_people: ["evaluate", "front.json", "--holdout", "others.csv"];
}

#[test]
fn the_flag_json_and_the_format_json_agree() {
    let folder = Folder::new();
    let flag = folder.sogar(&["show", "front.json", "--json"]);
    assert_eq!(flag.stdout, folder.sogar(&["show", "front.json", "--format", "json"]).stdout);
    let front = folder.json("front.json");
    let (point, shown) = (flag.json()["point"].as_u64().unwrap() as usize, flag.json());
    for key in ["cost", "loss", "invalidity", "cost_sum", "loss_count", "leaves", "depth"] {
        assert_eq!(shown[key], front["points"][point][key], "{key}");
    }
}

#[test]
fn the_chosen_points_are_the_best_ones() {
    let folder = Folder::new();
    let front = folder.json("front.json");
    let points = front["points"].as_array().unwrap();
    let of = |point: usize, key: &str| points[point][key].as_f64().unwrap();
    let run = folder.sogar(&[
        "select",
        "front.json",
        "--json",
        "--by",
        "invalidity",
        "--by",
        "cost<=0.2",
        "--by",
        "loss<=0.1",
        "--by",
        "weight=3",
    ]);
    let picks: Vec<usize> = run.json()["picks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|pick| pick["point"].as_u64().unwrap() as usize)
        .collect();
    let all = 0..points.len();
    assert!(all.clone().all(|i| of(i, "invalidity") >= of(picks[0], "invalidity")));
    assert!(
        of(picks[1], "cost") <= 0.2
            && all.clone().all(|i| of(i, "cost") > 0.2 || of(i, "loss") >= of(picks[1], "loss"))
    );
    assert!(
        of(picks[2], "loss") <= 0.1
            && all.clone().all(|i| of(i, "loss") > 0.1 || of(i, "cost") >= of(picks[2], "cost"))
    );
    let weighted = |i: usize| of(i, "cost") + 3.0 * of(i, "loss");
    assert!(all.clone().all(|i| weighted(i) >= weighted(picks[3])));
}

#[test]
fn evaluating_on_the_reference_rows_gives_the_front_itself() {
    let folder = Folder::new();
    let run = folder.sogar(&["evaluate", "front.json", "--holdout", "people.csv", "--json"]);
    assert_eq!(run.code, 0, "{run}");
    let (front, again) = (folder.json("front.json"), run.json());
    assert_eq!(again["mean_distance"], 0.0);
    for (known, seen) in front["points"].as_array().unwrap().iter().zip(again["points"].as_array().unwrap()) {
        assert_eq!((&known["cost_sum"], &known["loss_count"]), (&seen["cost_sum"], &seen["loss_count"]));
    }
}

#[test]
fn evaluated_points_are_written_as_csv() {
    let folder = Folder::new();
    let run = folder.sogar(&[
        "evaluate",
        "front.json",
        "--holdout",
        "others.csv",
        "--csv",
        "points.csv",
        "--quiet",
    ]);
    assert_eq!(run.code, 0, "{run}");
    let csv = folder.read("points.csv");
    let header = "point,cost,loss,invalidity,holdout_cost,holdout_loss,holdout_invalidity,\
                  holdout_works_low,holdout_works_high,holdout_band_low,holdout_band_high,\
                  holdout_cost_low,holdout_cost_high\n";
    assert!(csv.starts_with(&format!("{header}0,0,1,1,0,1,1,0,0.0577")), "{csv}");
    assert_eq!(csv.lines().count(), 1 + folder.json("front.json")["points"].as_array().unwrap().len());
}

#[test]
fn moved_files_are_named_by_flags() {
    let folder = Folder::new();
    for (old, new) in [("people.csv", "moved.csv"), ("model.txt", "moved.txt")] {
        std::fs::rename(folder.path(old), folder.path(new)).unwrap();
    }
    assert_transcript!(folder.sogar(&["evaluate", "front.json", "--holdout", "others.csv"]));
    let flags = ["--model", "moved.txt", "--table", "moved.csv", "--quiet"];
    let run = folder.sogar(&[&["evaluate", "front.json", "--holdout", "others.csv"][..], &flags].concat());
    assert_eq!(run.code, 0, "{run}");
}
