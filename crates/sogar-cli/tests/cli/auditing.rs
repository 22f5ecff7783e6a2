//! `audit`, and `select` under a limit on a gap: groups of people compared along a front.

use serde_json::json;

use crate::folder::{Folder, Run, assert_transcript};

fn audit(folder: &Folder, flags: &[&str]) -> Run {
    folder.sogar(&[&["audit", "front.json"][..], flags].concat())
}

#[test]
fn groups_are_compared_on_both_tables() {
    let run = audit(&Folder::new(), &["--group", "owner", "--group", "age<=30", "--holdout", "others.csv"]);
    assert_eq!(run.code, 0, "{run}");
    assert_transcript!(run);
}

#[test]
fn a_condition_that_holds_gives_exit_code_1() {
    let folder = Folder::new();
    let run = audit(
        &folder,
        &["--fail-on", "gap(invalidity, owner) > 0.9", "--fail-on", "selection_rate_ratio(owner) < 1.5"],
    );
    assert_eq!(run.code, 1, "{run}");
    assert!(run.stdout.contains("✓ passes: gap(invalidity, owner) > 0.9"), "{run}");
    assert!(run.stdout.contains("✗ fails: selection_rate_ratio(owner) < 1.5"), "{run}");
    let run = audit(&folder, &["--fail-on", "gap(loss, owner) > 0.9", "--json"]);
    assert_eq!((run.code, &run.json()["fail_on"][0]["holds"]), (0, &json!(false)), "{run}");
}

#[test]
fn the_same_seed_gives_the_same_intervals() {
    let folder = Folder::new();
    let draw = |seed: &str| audit(&folder, &["--group", "owner", "--json", "--seed", seed]).stdout;
    assert_eq!(draw("1"), draw("1"));
    assert_ne!(draw("1"), draw("2"));
}

#[test]
fn a_limit_on_a_gap_chooses_a_point_within_it() {
    let folder = Folder::new();
    let run = folder.sogar(&["select", "front.json", "--by", "gap(loss, owner)<=0.05", "--json"]);
    assert_eq!(run.code, 0, "{run}");
    let chosen = run.json()["picks"][0]["point"].as_u64().unwrap() as usize;
    let audited = audit(&folder, &["--group", "owner", "--json", "--draws", "0"]).json();
    let gap = &audited["reference"]["groupings"][0]["groups"][0]["measures"]["loss"]["gap"];
    assert!(gap[chosen].as_f64().unwrap().abs() <= 0.05, "{gap}");
    let run = folder.sogar(&["select", "front.json", "--by", "gap(loss, owner)<=-1"]);
    assert_eq!(run.code, 2, "{run}");
    assert!(run.stderr.contains("the smallest such gap on this front is"), "{run}");
}

#[test]
fn small_groups_and_gaps_of_the_held_out_table_are_said() {
    let folder = Folder::new();
    // One person lives on the moon; the held-out table has nobody there, and a place of its own.
    let with = |name: &str, place: &dyn Fn(usize) -> &'static str| {
        let text = folder.read(name);
        let lines = text.lines().enumerate().map(|(line, text)| match line {
            0 => format!("{text},place\n"),
            _ => format!("{text},{}\n", place(line)),
        });
        let text: String = lines.collect();
        folder.write(name, text);
    };
    with("people.csv", &|line| if line == 1 { "moon" } else { "earth" });
    with("others.csv", &|line| if line % 2 == 1 { "mars" } else { "earth" });
    let solved = folder.solve(&["--ignore", "place", "--quiet"]);
    assert_eq!(solved.code, 0, "{solved}");
    let run = audit(&folder, &["--group", "place", "--holdout", "others.csv"]);
    assert_eq!(run.code, 0, "{run}");
    assert!(run.stdout.contains("has nobody of these groups by `place`: `moon`"), "{run}");
    assert!(run.stdout.contains("that the reference table lacks: `mars`"), "{run}");
    assert!(run.stdout.contains("too small for a statement"), "{run}");
    let found = audit(&folder, &["--group", "place", "--json"]).json();
    let moon = &found["reference"]["groupings"][0]["groups"][1];
    assert_eq!((&moon["group"], &moon["rows"], &moon["measures"]), (&json!("moon"), &json!(1), &json!(null)));
}

#[test]
fn hostile_names_are_shown_and_do_nothing() {
    let folder = Folder::new();
    let long = "x".repeat(10_000);
    let values = ["</script>", "\u{1b}[31mred", "\u{202e}txt", "=1+1", "😀", &long];
    let text = folder.read("people.csv");
    let lines = text.lines().enumerate().map(|(line, text)| match line {
        0 => format!("{text},=cmd\n"),
        _ => format!("{text},{}\n", values[line % values.len()]),
    });
    let text: String = lines.collect();
    folder.write("people.csv", text);
    let solved = folder.solve(&["--ignore", "=cmd", "--quiet"]);
    assert_eq!(solved.code, 0, "{solved}");
    let run = audit(&folder, &["--group", "=cmd", "--csv", "audit.csv", "--min-group", "1"]);
    assert_eq!(run.code, 0, "{run}");
    assert!(!run.stdout.contains(['\u{1b}', '\u{202e}']) && !run.stdout.contains(&long), "{run}");
    assert!(run.stdout.contains("\\u{1b}[31mred") && run.stdout.contains("😀"), "{run}");
    let csv = folder.read("audit.csv");
    assert!(csv.contains(",'=cmd,'=1+1,") && !csv.contains(",=1+1,"));
    let found = audit(&folder, &["--group", "=cmd", "--json", "--draws", "0"]).json();
    let groups = found["reference"]["groupings"][0]["groups"].as_array().unwrap();
    for value in values {
        assert!(groups.iter().any(|group| group["group"] == value), "{value}");
    }
}

macro_rules! refusals {
    ($($name:ident: $args:expr;)*) => {
        $(#[test]
        fn $name() {
            let run = audit(&Folder::new(), &$args);
            assert_eq!(run.code, 2, "{run}");
            assert_transcript!(run);
        })*
    };
}

refusals! {
    an_unknown_group: ["--group", "ownr"];
    an_unknown_part_of_a_product: ["--group", "owner×agee"];
    an_unknown_label: ["--group", "owner", "--label", "lone"];
    a_condition_that_is_none: ["--fail-on", "gap(los, owner) > 1"];
    a_condition_on_held_out_people_without_any: ["--fail-on", "holdout.gap(loss, owner) > 1"];
    a_value_that_nobody_has: ["--group", "owner=maybe"];
}

#[test]
fn labels_that_contradict_the_model_are_warned_of() {
    let folder = Folder::new();
    let people = folder.read("people.csv");
    let turned = people.lines().map(|line| {
        let mut cells: Vec<&str> = line.split(',').collect();
        cells[6] = match cells[6] {
            "yes" => "no",
            "no" => "yes",
            name => name,
        };
        cells.join(",") + "\n"
    });
    let turned: String = turned.collect();
    folder.write("people.csv", turned);
    let run = folder.solve(&["-o", "new.json", "-q"]);
    assert_eq!(run.code, 2, "the names of classes come from the label: {run}");
    assert!(
        run.stderr.contains(
            r#"say which class is which, in the order of the model's numbers: classes = ["yes", "no"]"#
        ),
        "{run}"
    );
    folder.write("sogar.toml", folder.read("sogar.toml") + "\n[model]\nclasses = [\"no\", \"yes\"]\n");
    assert_eq!(folder.solve(&["-o", "new.json", "-q"]).code, 0);
    let run = folder.sogar(&["audit", "new.json", "--group", "job", "--json"]);
    assert_eq!(run.code, 0, "{run}");
    assert!(run.stderr.contains("warning: The true labels contradict the model"), "{run}");
    let audit = run.json();
    assert!(audit["reference"]["agreement"].as_f64().unwrap() < 0.5);
    assert!(audit["notes"].to_string().contains("contradict the model"));
    let run = folder.sogar(&["report", "new.json", "--group", "job", "-o", "report.html"]);
    assert!(run.stderr.contains("contradict the model"), "{run}");
    assert!(folder.read("report.html").contains("contradict the model"));
    let run = folder.sogar(&["audit", "front.json", "--group", "job", "--table", "people.csv"]);
    assert_ne!(run.code, 0, "another table: {run}");
}

#[test]
fn a_scan_lists_the_worst_subgroups_and_what_held_out_people_say() {
    let flags = ["--scan", "owner,age", "--max-terms", "2", "--scan-measure", "loss", "--permutations", "99"];
    let run = audit(&Folder::new(), &[&flags[..], &["--holdout", "others.csv"]].concat());
    assert_eq!(run.code, 0, "{run}");
    assert_transcript!(run);
}

#[test]
fn further_measures_are_shown_along_the_front_and_for_individuals() {
    let flags = ["--group", "owner", "--measure", "reached(0.2)", "--measure", "cost_to_reach(0.5)"];
    let run =
        audit(&Folder::new(), &[&flags[..], &["--measure", "choices(0.5)", "--measure", "ks"]].concat());
    assert_eq!(run.code, 0, "{run}");
    assert_transcript!(run);
}

#[test]
fn a_one_sided_condition_says_which_side_it_tests() {
    let run = audit(
        &Folder::new(),
        &["--fail-on", "gap(cost, age<=30) > 0.5", "--fail-on", "gap(loss, owner).low > 0"],
    );
    assert_eq!(run.code, 1, "{run}");
    let said = "one-sided: tests only whether the figure of `age <= 30` is larger than everyone else's; theirs is smaller, by 0.0";
    assert!(run.stdout.contains(said), "{run}");
    assert!(run.stdout.contains("✗ fails: gap(loss, owner).low > 0 (it is 0."), "{run}");
    let folder = Folder::new();
    let select = |more: &[&str]| {
        folder.sogar(
            &[&["select", "front.json", "--by", "gap(loss, age<=30)<=0.05", "--by", "knee"], more].concat(),
        )
    };
    let run = select(&[]);
    let said = "one-sided: limits only by how much the figure of `age <= 30` is larger than everyone else's";
    assert!(run.code == 0 && run.stdout.contains(said), "{run}");
    let picks = &select(&["--json"]).json()["picks"];
    assert!(picks[0]["side"].as_str().unwrap().starts_with(said) && picks[1]["side"].is_null(), "{picks}");
    let run = folder.sogar(&["select", "front.json", "--by", "individual.ks(owner)<=0.5"]);
    assert!(run.code == 2 && run.stderr.contains("a limit on a gap at a point is written as"), "{run}");
}

#[test]
fn a_scan_without_shuffles_has_no_p_value() {
    let run = audit(&Folder::new(), &["--scan", "owner", "--scan-measure", "loss", "--permutations", "0"]);
    assert_eq!(run.code, 0, "{run}");
    assert!(run.stdout.contains("Without shuffles there is no p"), "{run}");
    assert!(run.stdout.contains("   z   subgroup"), "{run}");
}

#[test]
fn a_bias_audit_has_source_dates_rates_and_ratios() {
    let folder = Folder::new();
    let flags =
        ["--format", "bias-audit", "--group", "owner", "--source", "a | b", "--in-use-since", "2026-01-01"];
    let run = audit(&folder, &flags);
    assert_eq!(run.code, 0, "{run}");
    for said in [
        "| Tool in use since | 2026-01-01 |",
        "| Source of the data | a \\| b |",
        "| no | 153 | 59 | 0.386 |",
        "| yes | 87 | 63 | 0.724 | 0.622–0.807 | 1.000 | – |",
        "\n0 people are of an unknown category",
        "no statement of compliance",
    ] {
        assert!(run.stdout.contains(said), "{said}: {run}");
    }
    let run = audit(&folder, &[&flags[..], &["--rate", "scoring", "--json"]].concat());
    let rates: Vec<f64> = run.json()["tables"][0]["categories"]
        .as_array()
        .unwrap()
        .iter()
        .map(|category| category["selected"].as_f64().unwrap())
        .collect();
    assert!(rates.iter().sum::<f64>() <= 120.0, "at most half are above the median: {rates:?}");
}

#[test]
fn texts_have_display_names_and_machine_fields_the_names_of_columns() {
    let folder = Folder::new();
    let names = "age = { immutable = true, display = \"years of life\", unit = \"years\" }\nowner.display = \"own house\"";
    folder.replace("sogar.toml", "age.immutable = true", names);
    assert_eq!(folder.solve(&[]).code, 0);
    let scan = ["--scan", "age,owner", "--permutations", "9", "--max-terms", "2"];
    let groups = ["--group", "owner×age<=30", "--group", "age>=40"];
    let asked = [&["audit", "front.json"][..], &scan, &groups].concat();
    let run = folder.sogar(&asked);
    for said in [
        "by own house and years of life <= 30 years",
        "\n  years of life >= 40 years ",
        "Subgroups of years of life, own house that",
        " years of life <= ",
        "own house = yes",
    ] {
        assert!(run.stdout.contains(said), "{said}: {run}");
    }
    assert!(!run.stdout.contains("age"), "{run}");
    let found = folder.sogar(&[&asked[..], &["--json"]].concat()).json();
    let groups = &found["reference"]["groupings"][1];
    assert_eq!((&groups["name"], &groups["groups"][0]["group"]), (&"age>=40".into(), &"age >= 40".into()));
    assert_eq!(found["scan"]["features"], serde_json::json!(["age", "owner"]));
    let run = folder.sogar(
        &[
            &["audit", "front.json", "--format", "bias-audit"][..],
            &["--group", "owner", "--group", "age>=40"],
        ]
        .concat(),
    );
    assert!(
        run.stdout.contains("## years of life >= 40 years")
            && run.stdout.contains("| years of life < 40 years |"),
        "{run}"
    );
    let written = [
        &["report", "front.json", "--format", "md", "-o", "report.md"][..],
        &scan[..2],
        &["--group", "age>=40"],
    ]
    .concat();
    let run = folder.sogar(&written);
    let text = folder.read("report.md");
    assert!(text.contains("`sogar report front.json --group 'age>=40' "), "{text}");
    assert!(text.contains("By years of life \\>= 40 years") && text.contains("own house = "), "{run}{text}");
}

#[test]
fn scans_and_measures_that_make_no_sense_are_refused() {
    let folder = Folder::new();
    for (flags, said) in [
        (&["--scan", "ownr"][..], "there is no column or feature `ownr`"),
        (&["--scan", "owner", "--max-terms", "9"], "a scan for subgroups of 9 terms is not possible"),
        (&["--scan", "owner", "--scan-measure", "ks"], "a scan cannot compare `ks`"),
        (&["--scan", "owner", "--scan-point", "999"], "there is no point 999 to scan"),
        (&["--scan", "owner", "--permutations", "1000000"], "1,000,000 shuffles are too many"),
        (&["--group", "owner", "--measure", "reached"], "`reached` names no budget of 0 or more"),
    ] {
        let run = audit(&folder, flags);
        assert_eq!(run.code, 2, "{run}");
        assert!(run.stderr.contains(said), "{said}: {run}");
    }
}
