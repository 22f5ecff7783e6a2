//! What holds for people not yet seen and models not yet trained: guaranteed choices, intervals, several models, targets.

use crate::folder::{Folder, Run};

fn guarantee(folder: &Folder, flags: &[&str]) -> Run {
    folder.sogar(&[&["select", "front.json"][..], flags].concat())
}

/// A model that was trained anew: some leaves have other values.
fn retrained(folder: &Folder) -> String {
    let model = folder.read("model.txt");
    let old = "leaf_value=-0.26896391902411743 0.65028124927266684";
    assert!(model.contains(old));
    model.replacen(old, "leaf_value=-0.46896391902411743 0.25028124927266684", 1)
}

#[test]
fn the_guaranteed_point_is_said_with_its_test_and_its_assumptions() {
    let folder = Folder::new();
    let run = guarantee(&folder, &["--guarantee", "loss<=0.4", "--calibration", "others.csv"]);
    assert_eq!(run.code, 0, "{run}");
    for text in [
        "Guaranteed loss<=0.4:",
        "With 95 % confidence, loss is at most 0.4 among future people.",
        "of 120 calibration people are turned down.",
        "neither the search nor the training of the model saw these rows",
    ] {
        assert!(run.stdout.contains(text), "`{text}`: {run}");
    }
    let json =
        guarantee(&folder, &["--guarantee", "loss<=0.4", "--calibration", "others.csv", "--json"]).json();
    let found = &json["picks"][0]["guarantee"];
    assert!(found["groups"][0]["p_value"].as_f64().unwrap() <= 0.05, "{json}");
    assert_eq!(found["point"], json["picks"][0]["point"], "{json}");
    // A table other than the fitted one can only be the calibration table.
    let other = guarantee(&folder, &["--guarantee", "loss<=0.4", "--table", "others.csv", "--json"]);
    assert_eq!(other.json(), json, "{other}");
}

#[test]
fn a_guarantee_that_cannot_be_given_says_why() {
    let folder = Folder::new();
    for (flags, why, help) in [
        (
            &["--guarantee", "loss<=0.4"][..],
            "a guarantee needs people to test it with",
            "--calibration TABLE",
        ),
        (
            &["--guarantee", "loss<=0.4", "--table", "people.csv"],
            "a guarantee needs people to test it with",
            "--calibration TABLE",
        ),
        (
            &["--guarantee", "loss<=0.4", "--calibration", "people.csv"],
            "240 of 240 calibration rows equal rows of the fitted table",
            "neither the search nor the training",
        ),
        (
            &["--guarantee", "loss<=0.02", "--calibration", "others.csv"],
            "no summary can be guaranteed to have loss<=0.02 with 95 % confidence",
            "affected people; at least 149 are needed even if advice never fails",
        ),
        (
            &["--guarantee", "loss<=0.4", "--calibration", "others.csv", "--confidence", "95"],
            "a confidence of 95 is not between 0 and 1",
            "use 0.95 for 95 %",
        ),
        (
            &["--guarantee", "gap<=0.4", "--calibration", "others.csv"],
            "`gap<=0.4` is not a limit that can be guaranteed",
            "loss<=0.1",
        ),
        (
            &["--by", "knee", "--calibration", "others.csv"],
            "'--by <CRITERION>' cannot be used with '--calibration <TABLE>'",
            "Usage",
        ),
        (
            &["--by", "knee", "--confidence", "0.9"],
            "'--by <CRITERION>' cannot be used with '--confidence <SHARE>'",
            "Usage",
        ),
    ] {
        let run = guarantee(&folder, flags);
        assert!(run.code == 2 && run.stderr.contains(why) && run.stderr.contains(help), "{run}");
    }
    let header = folder.read("others.csv").lines().next().unwrap().to_owned();
    let accepted: Vec<String> = folder.read("others.csv").lines().skip(1).map(str::to_owned).collect();
    let labels = folder.sogar(&["predict", "others.csv", "--model", "model.txt", "--label", "loan"]);
    let yes = labels.stdout.lines().skip(1).zip(&accepted).filter(|(said, _)| said.contains(",yes,"));
    let rows: Vec<&str> = yes.map(|(_, row)| row.as_str()).collect();
    assert!(!rows.is_empty(), "{labels}");
    folder.write("lucky.csv", format!("{header}\n{}\n", rows.join("\n")));
    let run = guarantee(&folder, &["--guarantee", "loss<=0.4", "--calibration", "lucky.csv"]);
    assert!(run.code == 2 && run.stderr.contains("the model turns nobody down in this table"), "{run}");
}

#[test]
fn groups_must_all_meet_a_guarantee() {
    let folder = Folder::new();
    let run = guarantee(
        &folder,
        &["--guarantee", "loss<=0.6", "--calibration", "others.csv", "--group", "owner", "--json"],
    );
    assert_eq!(run.code, 0, "{run}");
    let found = &run.json()["picks"][0]["guarantee"];
    assert_eq!(found["groups"].as_array().unwrap().len(), 2, "{run}");
    assert!(
        found["groups"].as_array().unwrap().iter().all(|group| group["p_value"].as_f64().unwrap() <= 0.05)
    );
}

#[test]
fn a_cost_with_a_largest_value_can_be_guaranteed_and_no_other() {
    let folder = Folder::new();
    let flags = ["--max-depth", "1", "--max-edits", "2", "--quiet"];
    let guaranteed = |cost: &str| {
        let run = folder.solve(&[&flags[..], &["--cost", cost, "-o", "new.json"]].concat());
        assert_eq!(run.code, 0, "{run}");
        let flags = ["--guarantee", "cost<=0.5", "--calibration", "others.csv", "--json"];
        folder.sogar(&[&["select", "new.json"][..], &flags].concat())
    };
    for cost in ["mps", "cet", "l1"] {
        let run = guaranteed(cost);
        assert_eq!(run.code, 0, "{run}");
        let (json, points) = (run.json(), folder.json("new.json")["points"].take());
        let found = &json["picks"][0]["guarantee"];
        let group = &found["groups"][0];
        assert!(group["value"].as_f64().unwrap() < 0.5, "{json}");
        assert!(group["p_value"].as_f64().unwrap() <= 0.05, "{json}");
        // The cheapest points come first in the sequence, and the last that passed has the lowest loss of them.
        assert_eq!(found["point"].as_u64(), found["passed"].as_u64().map(|passed| passed - 1), "{json}");
        assert!(found["passed"].as_u64() <= points.as_array().map(|points| points.len() as u64), "{json}");
    }
    let run = guaranteed("logshift");
    assert!(run.code == 2 && run.stderr.contains("this cost has no largest value"), "{run}");
    assert!(run.stderr.contains("guarantee a loss, or use the cost mps, cet or l1"), "{run}");
    // With `l1` costs add up: two edits may cost 2 together, so twice as many people are needed.
    let folder = Folder::new();
    let run =
        folder.solve(&["--cost", "l1", "--max-edits", "2", "--max-depth", "1", "-o", "new.json", "--quiet"]);
    assert_eq!(run.code, 0, "{run}");
    let asked = ["--guarantee", "cost<=0.04", "--calibration", "others.csv"];
    let run = folder.sogar(&[&["select", "new.json"][..], &asked].concat());
    // 0.98 ^ n ≤ 0.05
    assert!(run.code == 2 && run.stderr.contains("at least 149 are needed"), "{run}");
}

#[test]
fn a_few_rows_that_the_fitted_table_has_are_a_warning_and_many_an_error() {
    let folder = Folder::new();
    let (people, others) = (folder.read("people.csv"), folder.read("others.csv"));
    let known = |rows: usize| {
        let rows: Vec<&str> = people.lines().skip(1).take(rows).collect();
        folder.write("mixed.csv", format!("{others}{}\n", rows.join("\n")));
        guarantee(&folder, &["--guarantee", "loss<=0.4", "--calibration", "mixed.csv"])
    };
    let few = known(2);
    assert!(few.code == 0 && few.stderr.contains("2 of 122 calibration rows equal rows of"), "{few}");
    assert!(few.stderr.contains("if they are the same people, the guarantee does not hold"), "{few}");
    let many = known(30);
    assert!(many.code == 2 && many.stderr.contains("30 of 150 calibration rows equal rows of"), "{many}");
}

#[test]
fn a_group_that_is_too_small_for_a_guarantee_is_named() {
    let folder = Folder::new();
    let asked = ["--guarantee", "loss<=0.1", "--calibration", "others.csv", "--group", "owner"];
    let run = guarantee(&folder, &asked);
    assert!(run.code == 2 && run.stderr.contains("affected people of owner "), "{run}");
    assert!(run.stderr.contains("at least 29 are needed even if advice never fails"), "{run}");
}

#[test]
fn along_a_minimax_front_points_are_tested_by_their_fitted_loss() {
    let folder = Folder::new();
    let run = folder.solve(&["--minimax", "owner", "-o", "worst.json", "--quiet"]);
    assert_eq!(run.code, 0, "{run}");
    let front = folder.json("worst.json");
    let number = |point: &serde_json::Value, name: &str| point[name].as_u64().unwrap();
    let points = front["points"].as_array().unwrap();
    let mut order: Vec<usize> = (0..points.len()).collect();
    order.sort_by_key(|&point| number(&points[point], "loss_count"));
    assert!(!order.iter().rev().copied().eq(0..points.len()), "the loss falls along the whole front");
    let asked = ["--guarantee", "loss<=0.4", "--calibration", "others.csv", "--json"];
    let run = folder.sogar(&[&["select", "worst.json"][..], &asked].concat());
    let found = run.json()["picks"][0]["guarantee"].take();
    let passed = &order[..found["passed"].as_u64().unwrap() as usize];
    assert_eq!(found["failed"].as_u64(), order.get(passed.len()).map(|&point| point as u64), "{run}");
    assert_eq!(found["point"].as_u64(), passed.iter().min().map(|&point| point as u64), "{run}");
}

#[test]
fn held_out_figures_have_intervals() {
    let folder = Folder::new();
    let run = folder.sogar(&["evaluate", "front.json", "--holdout", "others.csv", "--json"]);
    let found = run.json();
    for (point, intervals) in
        found["points"].as_array().unwrap().iter().zip(found["intervals"].as_array().unwrap())
    {
        let works = 1.0 - point["loss"].as_f64().unwrap();
        let ends = |name: &str| {
            let end = |end: &str| intervals[name][end].as_f64().unwrap();
            (end("low"), end("high"))
        };
        let ((low, high), (lowest, highest)) = (ends("works"), ends("band"));
        assert!(lowest <= low && low <= works && works <= high && high <= highest, "{intervals}");
        assert!(ends("cost").0 <= point["cost"].as_f64().unwrap(), "{intervals}");
    }
    let plain = folder.sogar(&["show", "front.json", "--json"]).stdout;
    assert!(!plain.contains("works") && !plain.contains("interval"), "fitted figures have none: {plain}");
    let solved = folder.solve(&["--holdout", "others.csv"]);
    assert_eq!(solved.code, 0, "{solved}");
    let shown = folder.sogar(&["show", "front.json"]);
    // The row of the same point in the report of `solve`.
    let row = solved.stdout.lines().find(|line| line.contains("← lowest invalidity")).unwrap();
    let share =
        shown.stdout.split_once("works for ").and_then(|_| shown.stdout.split_once("people: works for "));
    let share = share.and_then(|(_, rest)| rest.split_once(" at a mean cost")).unwrap().0;
    assert!(row.contains(share) && row.contains(" ± "), "{share}: {row}");
    assert!(shown.stdout.contains("Held out, 62 people: works for"), "{shown}");
    assert!(shown.stdout.contains("For all points at once:"), "{shown}");
    let report = folder.sogar(&["report", "front.json", "--format", "md", "-o", "report.md", "--quiet"]);
    assert_eq!(report.code, 0, "{report}");
    let report = folder.read("report.md");
    let held_out = shown.stdout.split_once("Held out, 62 people: works for ");
    let share = held_out.and_then(|(_, rest)| rest.split_once(" at a mean cost"));
    assert!(share.is_some_and(|(share, _)| report.contains(share)), "{shown}\n{report}");
    assert!(report.contains("all summaries at once") && report.contains("works for, held-out"), "{report}");
    let checked = folder.sogar(&["check", "front.json"]);
    assert_eq!(checked.code, 0, "{checked}");
    folder.replace("front.json", "\"cost_sd\":", "\"cost_sd\":1");
    let checked = folder.sogar(&["check", "front.json"]);
    assert!(checked.code == 2 && checked.stdout.contains("cost_sd"), "{checked}");
}

#[test]
fn a_loss_beyond_the_band_gives_exit_code_1() {
    let folder = Folder::new();
    let evaluate = |flags: &[&str]| {
        folder.sogar(&[&["evaluate", "front.json", "--holdout", "others.csv"][..], flags].concat())
    };
    let run = evaluate(&["--point", "70", "--fail-on", "loss > 0.0001", "--fail-on", "cost > 5"]);
    assert!(run.code == 1 && run.stdout.contains("✗ fails: loss > 0.0001"), "{run}");
    assert!(run.stdout.contains("✓ passes: cost > 5"), "{run}");
    let run = evaluate(&["--fail-on", "loss > band", "--json"]);
    let verdict = &run.json()["fail_on"][0];
    assert_eq!(run.code, i32::from(verdict["holds"].as_bool().unwrap()), "{run}");
    assert_eq!(verdict["against"], "fitted", "{run}");
    // A front with held-out people is compared with them; their own table only with the fitted one.
    let rows = folder.read("others.csv");
    let (header, rows) = rows.split_once('\n').unwrap();
    folder.write(
        "earlier.csv",
        format!("{header}\n{}", rows.lines().take(60).map(|row| format!("{row}\n")).collect::<String>()),
    );
    let solved = folder.solve(&["--holdout", "earlier.csv", "-o", "held.json", "--quiet"]);
    assert_eq!(solved.code, 0, "{solved}");
    for (table, against) in [("others.csv", "holdout"), ("earlier.csv", "fitted")] {
        let run = folder.sogar(&[
            "evaluate",
            "held.json",
            "--holdout",
            table,
            "--fail-on",
            "loss > band",
            "--json",
        ]);
        assert_eq!(run.json()["fail_on"][0]["against"], against, "{run}");
    }
    let run = evaluate(&["--fail-on", "loss >= band"]);
    assert!(run.code == 2 && run.stderr.contains("a loss must be above its band"), "{run}");
    let run = evaluate(&["--fail-on", "loss < band"]);
    assert!(run.code == 2 && run.stderr.contains("only > and >= can be a reason to fail"), "{run}");
}

#[test]
fn several_models_are_recorded_checked_and_found_again() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("also")).unwrap();
    folder.write("also/a.txt", retrained(&folder));
    folder.write("also/b.txt", folder.read("model.txt"));
    let plain = folder.json("front.json");
    let run = folder.solve(&["--also", "also", "--agree", "2", "-o", "two.json", "--quiet"]);
    assert_eq!(run.code, 0, "{run}");
    let run = folder.solve(&["--also", "also/a.txt", "also/b.txt", "-o", "all.json", "--quiet"]);
    assert_eq!(run.code, 0, "{run}");
    let (two, all) = (folder.json("two.json"), folder.json("all.json"));
    // The deployed model and its copy always agree.
    assert_eq!(two["points"], plain["points"]);
    assert_ne!(all["points"], plain["points"]);
    assert_eq!((two["also"].as_array().unwrap().len(), &two["config"]["model"]["agree"]), (2, &2.into()));
    for front in ["two.json", "all.json"] {
        let checked = folder.sogar(&["check", front]);
        assert_eq!(checked.code, 0, "{checked}");
    }
    let run = folder.sogar(&["evaluate", "all.json", "--holdout", "others.csv", "--later", "also/a.txt"]);
    assert!(
        run.stdout.contains("Under 1 later model, 100.0 % of the advice that works still works"),
        "{run}"
    );
    folder.write("also/a.txt", folder.read("model.txt"));
    let run = folder.sogar(&["evaluate", "all.json", "--holdout", "others.csv"]);
    assert!(run.code == 2 && run.stderr.contains("these are not the 2 further models"), "{run}");
}

#[test]
fn what_a_run_requires_decides_which_kept_work_it_takes() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("also")).unwrap();
    folder.write("also/a.txt", retrained(&folder));
    folder.write("also/b.txt", folder.read("model.txt"));
    let points = |name: &str| folder.json(name)["points"].take();
    let solve = |flags: &[&str], more: &[&str]| folder.solve(&[flags, more, &["--quiet"]].concat());
    let ways: [&[&str]; 4] = [
        &[],
        &["--also", "also", "--agree", "2"],
        &["--also", "also", "--agree", "all"],
        &["--also", "also", "--agree", "all", "--min-plausibility", "0.3"],
    ];
    let mut fronts = Vec::new();
    for (number, flags) in ways.iter().enumerate() {
        assert_eq!(solve(flags, &["-o", "plain.json"]).code, 0);
        fronts.push(points("plain.json"));
        // All ways share a cache, and the second run finds its own outcomes there.
        for method in [None, Some("kept from an earlier run")] {
            assert_eq!(solve(flags, &["--outcomes-cache", "cache", "-o", "new.json"]).code, 0);
            assert_eq!(points("new.json"), fronts[number], "{flags:?}");
            let said = folder.json("new.json")["run"]["outcome_method"].take();
            assert!(method.is_none_or(|method| said == method), "{flags:?}: {said}");
        }
        let kept = format!("kept{number}");
        let keeping = ["--checkpoint", kept.as_str(), "-o", "new.json"];
        assert_eq!(solve(flags, &[&keeping[..], &["--time-limit", "0.000001"]].concat()).code, 3);
        assert_eq!(solve(flags, &keeping).code, 0);
        assert_eq!(points("new.json"), fronts[number], "{flags:?}");
        let other = solve(ways[(number + 1) % ways.len()], &keeping);
        assert!(other.code == 2 && other.stderr.contains("belongs to another run"), "{flags:?}: {other}");
    }
    assert!(
        fronts[1] == fronts[0] && fronts[2] != fronts[1] && fronts[3] != fronts[2],
        "a way has no effect"
    );
}

#[test]
fn models_that_cannot_agree_are_refused_and_nothing_is_written() {
    let folder = Folder::new();
    std::fs::remove_file(folder.path("front.json")).unwrap();
    std::fs::create_dir(folder.path("none")).unwrap();
    let model = folder.read("model.txt").replace("age income hours", "age wealth hours");
    folder.write("columns.txt", model);
    let three = folder.read("model.txt").replacen("num_class=1", "num_class=3", 1);
    let three = three.replacen("num_tree_per_iteration=1", "num_tree_per_iteration=3", 1);
    folder.write("classes.txt", three.replacen("binary sigmoid:1", "multiclass num_class:3", 1));
    for (flags, why) in [
        (&["--also", "model.txt", "--agree", "3"][..], "agree = 3, but there are only 2 models"),
        (&["--also", "model.txt", "--agree", "most"], "agree = \"most\" is no number of models"),
        (&["--also", "columns.txt"], "wealth"),
        (&["--also", "classes.txt"], "this model has other classes than the first"),
        (&["--also", "model.txt", "--agree", "0"], "agree"),
        (&["--also", "none"], "there is no model in this folder"),
        (&["--agree", "2"], "--also"),
    ] {
        let run = folder.solve(flags);
        assert!(run.code == 2 && run.stderr.contains(why), "`{why}`: {run}");
    }
    assert!(!folder.names().contains(&"front.json".to_owned()));
}

#[test]
fn targets_are_solved_for_shown_and_checked() {
    let folder = Folder::new();
    let config = folder.read("sogar.toml") + "\n[features.hours]\ntargets = [20, 30]\n";
    folder.write("sogar.toml", config);
    let run = folder.solve(&["--quiet"]);
    assert_eq!(run.code, 0, "{run}");
    let front = folder.read("front.json");
    assert!(front.contains("\"op\":\"at_least\",\"to\":"), "no target in use");
    assert!(front.contains("aise `hours` to at least "), "no target in words");
    let checked = folder.sogar(&["check", "front.json", "--require", "proved"]);
    assert_eq!(checked.code, 0, "{checked}");
}

#[test]
fn plausible_people_are_searched_shown_reported_and_checked() {
    let folder = Folder::new();
    let run = folder.solve(&["--min-plausibility", "0.2", "-o", "usual.json", "--quiet"]);
    assert_eq!(run.code, 0, "{run}");
    let plain: serde_json::Value = serde_json::from_str(&folder.read("front.json")).unwrap();
    let usual: serde_json::Value = serde_json::from_str(&folder.read("usual.json")).unwrap();
    assert!(plain.get("plausibility").is_none(), "nobody asked");
    let block = &usual["plausibility"];
    assert_eq!((&block["measure"], &block["forest"]["seed"]), (&"forest".into(), &0.into()));
    assert_eq!(block["hash"].as_str().map(str::len), Some(64));
    let lowest = |front: &serde_json::Value| {
        let points = front["points"].as_array().unwrap();
        points.last().unwrap()["loss_count"].as_u64().unwrap()
    };
    assert!(lowest(&usual) >= lowest(&plain), "a requirement helps nobody");
    let shown = folder.sogar(&["show", "usual.json"]);
    assert!(shown.stdout.contains("How usual are the people for whom it works?"), "{shown}");
    assert!(shown.stdout.contains("% of real people are less usual before the change"), "{shown}");
    let json = folder.sogar(&["show", "usual.json", "--json"]).json();
    let leaves = json["rules"].as_array().unwrap();
    assert!(leaves.iter().any(|rule| rule["plausibility"]["after"].as_f64().is_some()), "{json}");
    let near = folder.sogar(&["show", "usual.json", "--neighbours", "2"]);
    assert!(near.code == 0 && near.stdout.contains("after the change is near row "), "{near}");
    let json = folder.sogar(&["show", "usual.json", "--neighbours", "2", "--json"]).json();
    let nearest =
        json["rules"].as_array().unwrap().iter().find_map(|rule| rule["neighbours"]["nearest"].as_array());
    let distances: Vec<f64> = nearest.unwrap().iter().map(|one| one["distance"].as_f64().unwrap()).collect();
    assert!(distances.len() == 2 && 0.0 <= distances[0] && distances[0] <= distances[1], "{json}");
    let other = folder.sogar(&["show", "usual.json", "--neighbours", "2", "--table", "others.csv"]);
    assert!(
        other.code == 2 && other.stderr.contains("not the table that the result was made from"),
        "{other}"
    );
    let report = folder.sogar(&["report", "usual.json", "--format", "md", "-o", "report.md", "--quiet"]);
    assert_eq!(report.code, 0, "{report}");
    assert!(folder.read("report.md").contains("less usual people before"));
    assert!(!folder.read("report.md").contains("nearest to it"), "rows are named on request only");
    let rows = ["--format", "md", "--include-rows", "-o", "rows.md", "--quiet"];
    let report = folder.sogar(&[&["report", "usual.json"][..], &rows].concat());
    assert_eq!(report.code, 0, "{report}");
    let first = json["rules"].as_array().unwrap().iter().find(|rule| rule["neighbours"]["row"].is_u64());
    let first = &first.unwrap()["neighbours"];
    let told = format!("row {} → rows {}, ", first["row"], first["nearest"][0]["row"]);
    assert!(folder.read("rows.md").contains(&told), "{told} in {}", folder.read("rows.md"));
    let checked = folder.sogar(&["check", "usual.json", "--require", "proved"]);
    assert!(checked.code == 0 && checked.stdout.contains("the forest has the recorded hash"), "{checked}");
    let hash = block["hash"].as_str().unwrap();
    folder.write("usual.json", folder.read("usual.json").replace(hash, &"0".repeat(64)));
    let checked = folder.sogar(&["check", "usual.json"]);
    assert!(checked.code == 2 && checked.to_string().contains("the hash of the measure"), "{checked}");
}

#[test]
fn a_command_can_say_how_usual_rows_are() {
    let folder = Folder::new();
    let header =
        "BEGIN { FS = \",\" } NR == 1 { for (i = 1; i <= NF; i++) if ($i == \"hours\") at = i; next }";
    folder.write("usual.awk", format!("{header}\n{{ off = $at - 40; print off < 0 ? off : -off }}\n"));
    let flags =
        ["--min-plausibility", "0.1", "--plausibility-command", "awk -f usual.awk", "-o", "usual.json", "-q"];
    let run = folder.solve(&flags);
    assert_eq!(run.code, 0, "{run}");
    // The command in a result is only run if the user gives it.
    let run = folder.sogar(&["check", "usual.json"]);
    assert!(run.code == 2 && run.stderr.contains("only run if you give it"), "{run}");
    let run = folder.sogar(&["check", "usual.json", "--plausibility-command", "awk -f usual.awk"]);
    assert_eq!(run.code, 0, "{run}");
}

#[test]
fn plausibility_that_cannot_be_is_refused_and_nothing_is_written() {
    let folder = Folder::new();
    std::fs::remove_file(folder.path("front.json")).unwrap();
    folder.write("endless.awk", "NR > 1 { print \"inf\" }\n");
    for (flags, why) in [
        (&["--min-plausibility", "1"][..], "--min-plausibility = 1, but it must be at least 0 and below 1"),
        (&["--min-plausibility", "nan"], "at least 0 and below 1"),
        (&["--min-plausibility=-0.1"], "at least 0 and below 1"),
        (&["--plausibility-command", "awk -f endless.awk"], "no effect without --min-plausibility"),
        (
            &["--min-plausibility", "0.1", "--plausibility-command", "awk -f endless.awk"],
            "the plausibility of row 1",
        ),
    ] {
        let run = folder.solve(flags);
        assert!(run.code == 2 && run.stderr.contains(why), "`{why}`: {run}");
    }
    assert!(!folder.names().contains(&"front.json".to_owned()));
}
