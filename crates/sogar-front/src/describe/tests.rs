use super::*;
use crate::summary::{FrontFile, SplitRef, Value};
use sogar_table::feature::{Feature, Kind};

fn texts(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// A result with five features, these splits, and the actions "no change" and one edit.
fn front(splits: &[(&str, &str, Value)]) -> FrontFile {
    let features = [
        Feature::new("age", Kind::Integer),
        Feature::new("rate", Kind::Real),
        Feature::new("rank", Kind::Ordinal { levels: texts(&["low", "middle", "quite high", "top"]) }),
        Feature::new("job", Kind::Categorical { levels: texts(&["a", "b", "c d", "e"]), missing: None }),
        Feature::new("owner", Kind::Binary { levels: texts(&["no", "yes"]) }),
    ];
    let splits: Vec<SplitRef> = splits
        .iter()
        .map(|(feature, test, value)| SplitRef {
            feature: (*feature).to_owned(),
            test: (*test).to_owned(),
            value: value.clone(),
            text: String::new(),
        })
        .collect();
    let value = serde_json::json!({
        "format": "sogar-front", "version": 1, "status": "complete", "config": {},
        "table": {"rows": 8, "hash": ""}, "model": {"format": "", "description": "", "hash": ""},
        "population": {"rows": 8, "affected": 8, "classes": [], "desired": [], "affected_rows": "/w=="},
        "features": features, "counts": {"splits": 0, "edits": 0, "actions": 2},
        "cost": {"kind": "mps", "unit": 10},
        "limits": {"max_depth": 3, "max_leaves": 8, "min_leaf": 1, "max_edits": 3},
        "splits": splits,
        "actions": [
            {"id": 0, "edits": [], "text": "No change", "flips": "AA=="},
            {"id": 1, "edits": [{"feature": "job", "op": "set", "to": "c d"}],
             "text": "Set `job` to “c d”", "flips": "Bw=="},
        ],
        "points": [],
        "run": {"version": "", "date": "", "table_path": "", "model_path": "", "threads": 1,
                "seconds_outcomes": 0, "seconds_search": 0, "leaf_sets": 0, "settled_outcomes": 0,
                "outcome_method": ""},
    });
    serde_json::from_value(value).unwrap()
}

fn number(edge: f64) -> Value {
    Value::Number(edge)
}

fn level(name: &str) -> Value {
    Value::Level(name.to_owned())
}

/// The sentence for a path on which split `i` had the outcome `passed[i]`.
fn said(splits: &[(&str, &str, Value)], passed: &[bool]) -> String {
    let tests: Vec<(usize, bool)> = passed.iter().copied().enumerate().collect();
    joined(&conditions(&front(splits), &tests))
}

#[test]
fn bounds_of_a_whole_number_become_one_interval() {
    let age = [("age", "<=", number(40.5)), ("age", "<=", number(29.5))];
    assert_eq!(said(&age[..1], &[true]), "`age` is at most 40");
    assert_eq!(said(&age[..1], &[false]), "`age` is at least 41");
    assert_eq!(said(&age, &[true, false]), "`age` is between 30 and 40");
    assert_eq!(said(&age, &[true, true]), "`age` is at most 29");
    assert_eq!(said(&age, &[false, false]), "`age` is at least 41");
    let narrow = [("age", "<=", number(40.5)), ("age", "<=", number(39.5))];
    assert_eq!(said(&narrow, &[true, false]), "`age` is 40");
}

#[test]
fn bounds_of_a_real_number_say_which_end_belongs() {
    let rate = [("rate", "<=", number(1.5)), ("rate", "<=", number(0.25))];
    assert_eq!(said(&rate[..1], &[true]), "`rate` is at most 1.5");
    assert_eq!(said(&rate[..1], &[false]), "`rate` is above 1.5");
    assert_eq!(said(&rate, &[true, false]), "`rate` is above 0.25 and at most 1.5");
}

#[test]
fn ordinal_levels_are_described_by_the_levels_that_belong() {
    let rank = [("rank", "<=", level("quite high")), ("rank", "<=", level("low"))];
    assert_eq!(said(&rank[..1], &[true]), "`rank` is at most “quite high”");
    assert_eq!(said(&rank[..1], &[false]), "`rank` is top");
    assert_eq!(said(&rank, &[true, false]), "`rank` is between middle and “quite high”");
    assert_eq!(said(&rank[1..], &[true]), "`rank` is low");
    assert_eq!(said(&rank[1..], &[false]), "`rank` is at least middle");
}

#[test]
fn categories_are_described_once() {
    let job = [("job", "=", level("a")), ("job", "=", level("b")), ("job", "=", level("c d"))];
    assert_eq!(said(&job, &[false]), "`job` is not a");
    assert_eq!(said(&job, &[false, false]), "`job` is neither a nor b");
    assert_eq!(said(&job, &[false, false, false]), "`job` is neither a, b nor “c d”");
    assert_eq!(said(&job, &[false, false, true]), "`job` is “c d”");
    let owner = [("owner", "=", level("yes"))];
    assert_eq!(said(&owner, &[true]), "`owner` is yes");
    assert_eq!(said(&owner, &[false]), "`owner` is no");
}

#[test]
fn features_are_described_in_the_order_of_the_path() {
    let path = [
        ("job", "=", level("a")),
        ("age", "<=", number(40.5)),
        ("owner", "=", level("yes")),
        ("age", "<=", number(29.5)),
    ];
    assert_eq!(
        said(&path, &[false, true, true, false]),
        "`job` is not a, `age` is between 30 and 40, and `owner` is yes"
    );
}

#[test]
fn names_that_would_not_read_as_one_word_are_quoted() {
    for plain in ["good", "Exec-managerial", "level_2", "12", "-0.5", "Zürich"] {
        assert_eq!(spoken(plain), plain);
    }
    for odd in ["... < 0 DM", "car (used)", "?", "", "a/b", "50 000"] {
        assert_eq!(spoken(odd), format!("“{odd}”"));
    }
}

fn leaf(action: usize, rows: u64, flipped: u64, cost_sum: u64) -> Box<Node> {
    Box::new(Node::Leaf { action, rows, flipped, cost_sum })
}

#[test]
fn trees_show_people_at_every_node() {
    let front = front(&[("age", "<=", number(40.5)), ("owner", "=", level("yes"))]);
    let inner = Node::Split { split: 1, left: leaf(1, 4, 3, 12), right: leaf(0, 1, 0, 0) };
    let tree = Node::Split { split: 0, left: Box::new(inner), right: leaf(0, 3, 0, 0) };
    assert_eq!(
        tree_text(&front, &tree),
        "Everybody (8 people)\n\
         ├─ `age` is at most 40 (5 people)\n\
         │  ├─ `owner` is yes\n\
         │  │  → Set `job` to “c d”: works for 3 of 4 people, mean cost 0.30\n\
         │  └─ `owner` is no\n\
         │     → No change (1 person stays without recourse)\n\
         └─ `age` is at least 41\n   → No change (3 people stay without recourse)\n"
    );
    assert!(rules_text(&front, &tree).starts_with(
        "• If `age` is at most 40 and `owner` is yes:\n  Set `job` to “c d”: works for 3 of 4 people, mean cost 0.30.\n"
    ));
    assert!(tree_dot(&front, &tree).contains("n0 [label=\"`age` is at most 40? (8 people)\"]"));
    assert_eq!(
        tree_text(&front, &leaf(0, 8, 0, 0)),
        "Everybody: No change (8 people stay without recourse)\n"
    );
}

#[test]
fn numbers_are_grouped() {
    assert_eq!(grouped(0), "0");
    assert_eq!(grouped(999), "999");
    assert_eq!(grouped(1000), "1,000");
    assert_eq!(grouped(1_234_567), "1,234,567");
}

#[test]
fn groups_and_conditions_have_display_names_units_and_grouped_amounts() {
    let mut front = front(&[]);
    let words = |display: &str, unit: Option<&str>| sogar_table::config::FeatureConfig {
        display: Some(display.to_owned()),
        unit: unit.map(str::to_owned),
        ..Default::default()
    };
    front.config.features.insert("rate".to_owned(), words("monthly income", Some("€")));
    front.config.features.insert("age".to_owned(), Default::default());
    front.config.features.insert("job".to_owned(), words("occupation", None));
    for (name, shown) in [
        ("job", "occupation"),
        ("job×rate<=25000", "occupation and monthly income <= 25,000 €"),
        ("age×rate > 1998", "age and monthly income > 1998 €"),
        ("age>=40", "age>=40"),
    ] {
        assert_eq!(grouping_title(&front, name), shown);
    }
    for (name, shown) in [
        ("job", "job"),
        ("c d × rate <= 25000", "c d × monthly income <= 25,000 €"),
        ("rate=(missing)", "monthly income = (missing)"),
        ("job!=100 <= x", "occupation != 100 <= x"),
        ("100 <= ... < 500", "100 <= ... < 500"),
    ] {
        assert_eq!(group_title(&front, name), shown);
    }
    let front = self::front(&[("rate", "<=", Value::Number(12_579.5)), ("age", "<=", Value::Number(1998.5))]);
    assert_eq!(
        conditions(&front, &[(0, true), (1, false)]),
        ["`rate` is at most 12,579.5", "`age` is at least 1999"]
    );
}
