use super::*;
use sogar_table::feature::{Columns, Feature, Kind};
use sogar_table::table::Column;

/// Six people; `region` is a feature made of two one-hot columns, `note` and `income` are not features.
fn people() -> (Table, FeatureTable) {
    let columns = vec![
        Column::text("sex", [Some("m"), Some("f"), Some("f"), None, Some("m"), Some("f")]),
        Column::numbers("age", vec![17.0, 25.0, 26.0, 40.0, f64::NAN, 90.0]),
        Column::numbers("region_north", vec![1.0, 0.0, 1.0, 0.0, 1.0, 0.0]),
        Column::numbers("region_south", vec![0.0, 1.0, 0.0, 1.0, 0.0, 1.0]),
        Column::text(
            "note",
            [Some("</script>"), Some("=1+1"), Some("a*b"), Some("?"), Some("x×y"), Some("?")],
        ),
        Column::numbers("income", vec![1.5, 2.5, 3.5, 4.5, 5.5, 6.5]),
        Column::numbers("a*b", vec![0.0, 1.0, 0.0, 1.0, 0.0, 1.0]),
    ];
    let table = Table::from_columns("", columns).unwrap();
    let region = Feature {
        name: "region".into(),
        kind: Kind::Categorical { levels: vec!["north".into(), "south".into()], missing: None },
        columns: Columns::OneHot(vec![Some("region_north".into()), Some("region_south".into())]),
        codes: Vec::new(),
        shown: Default::default(),
    };
    let values = vec![vec![0.0, 1.0, 0.0, 1.0, 0.0, 1.0]];
    (table, FeatureTable { features: vec![region], values, rows: 6, weights: None })
}

fn groups(text: &str) -> Result<Groups> {
    let (columns, features) = people();
    let view = View { columns: &columns, features: &features };
    let mut config = Config::default();
    config.data.missing = vec!["?".into()];
    text.parse::<Grouping>()?.learn(view, &config)?.apply(view)
}

/// Every row's group by name.
fn names(text: &str) -> Vec<String> {
    let groups = groups(text).unwrap();
    groups.of_row.iter().map(|&group| groups.names[group as usize].clone()).collect()
}

#[test]
fn columns_features_and_their_parts_make_groups() {
    assert_eq!(names("sex"), ["m", "f", "f", "(missing)", "m", "f"]);
    assert_eq!(names("region")[..2], ["north", "south"]);
    assert_eq!(names("region_north")[..2], ["1", "0"]);
    assert_eq!(groups("sex").unwrap().names, ["f", "m", "(missing)"]);
    assert_eq!(groups("a*b").unwrap().names, ["0", "1"], "a column's own name comes first");
}

#[test]
fn hostile_values_are_names_like_any_other() {
    assert_eq!(names("note"), ["</script>", "=1+1", "a*b", "(missing)", "x×y", "(missing)"]);
}

#[test]
fn products_have_a_group_for_each_pair_that_occurs() {
    for text in ["sex×region", "sex*region", " sex × region "] {
        let found = groups(text).unwrap();
        assert_eq!(found.name, "sex×region");
        assert_eq!(found.names, ["f × north", "f × south", "m × north", "(missing) × south"]);
        assert!(text.parse::<Grouping>().unwrap().is("sex×region"));
    }
    assert_eq!(
        names("age<=25×sex=f")[..3],
        ["age <= 25 × sex ≠ f", "age <= 25 × sex = f", "age > 25 × sex = f"]
    );
}

#[test]
fn one_grouping_has_many_spellings() {
    let is = |text: &str, name: &str| text.parse::<Grouping>().unwrap().is(name);
    assert!(is("age ≤ 25.0", "age<=25") && is("sex == f * age>3", "sex=f×age>3") && is("a != b", "a!=b"));
    assert!(!is("age<25", "age<=25") && !is("age<=2", "age<=25"));
}

#[test]
fn conditions_divide_people_and_those_who_meet_them_come_first() {
    let young = groups("age<=25").unwrap();
    assert!(young.condition && !groups("sex").unwrap().condition);
    assert_eq!(young.names, ["age <= 25", "age > 25", "(missing)"]);
    assert_eq!(young.of_row, [0, 0, 1, 1, 2, 1]);
    assert_eq!(names("age >= 26")[1..3], ["age < 26", "age >= 26"]);
    assert_eq!(groups("sex=f").unwrap().names, ["sex = f", "sex ≠ f"]);
    assert_eq!(groups("sex!=f").unwrap().names, ["sex ≠ f", "sex = f"]);
    assert_eq!(groups("region=south").unwrap().of_row, [1, 0, 1, 0, 1, 0]);
    assert_eq!(groups("age=25.0").unwrap().names, ["age = 25", "age ≠ 25"]);
}

#[test]
fn numbers_with_many_values_are_cut_into_bins() {
    let ages: Vec<f64> = (0..60).map(|age| f64::from(20 + age)).collect();
    let shares: Vec<f64> = (0..60).map(|share| f64::from(share) / 10.0).collect();
    let table = Table::from_columns("", vec![Column::numbers("age", ages), Column::numbers("share", shares)])
        .unwrap();
    let features = FeatureTable { features: Vec::new(), values: Vec::new(), rows: 60, weights: None };
    let view = View { columns: &table, features: &features };
    let found = |text: &str| {
        text.parse::<Grouping>().unwrap().learn(view, &Config::default()).unwrap().apply(view).unwrap().names
    };
    let ages = found("age");
    assert_eq!((ages.first().unwrap().as_str(), ages[1].as_str()), ("at most 25", "26–31"));
    assert_eq!(ages.last().unwrap(), "74 or more");
    assert_eq!(found("share")[0], "at most 0.59");
}

#[test]
fn other_tables_have_the_same_groups_and_new_ones_behind() {
    let (columns, features) = people();
    let rule = "sex".parse::<Grouping>().unwrap();
    let rule = rule.learn(View { columns: &columns, features: &features }, &Config::default()).unwrap();
    let other = Table::from_columns("", vec![Column::text("sex", [Some("x"), Some("m")])]).unwrap();
    let found = rule.apply(View { columns: &other, features: &features }).unwrap();
    assert_eq!(found.names, ["f", "m", "(missing)", "x"]);
    assert_eq!(found.of_row, [3, 1]);
    let without = Table::from_columns("", vec![Column::numbers("age", vec![1.0])]).unwrap();
    let error = rule.apply(View { columns: &without, features: &features }).unwrap_err();
    assert_eq!(error.to_string(), "there is no column `sex`");
}

#[test]
fn what_makes_no_groups_is_answered_with_a_remedy() {
    let refused = |text: &str| {
        let error = groups(text).unwrap_err();
        (error.to_string(), error.remedy().unwrap_or_default().to_owned())
    };
    assert_eq!(refused("sax").1, "did you mean `sex`?");
    assert_eq!(refused("sex×regoin").1, "did you mean `region`?");
    assert_eq!(refused("sax=f").1, "did you mean `sex`?");
    assert!(refused("").0.contains("needs the name of a column"));
    assert!(refused("sex<=3").0.contains("not a column of numbers"));
    assert!(refused("age<=old").0.contains("not a number"));
    assert!(refused("sex=fe").0.contains("in no row"));
    assert!(refused("age<=0").0.contains("nobody meets"));
    let ids =
        Table::from_columns("", vec![Column::numbers("id", (0..900).map(f64::from).collect())]).unwrap();
    let named: Vec<String> = (0..900).map(|id| format!("n{id}")).collect();
    let texts = Column::text("name", named.iter().map(|name| Some(name.as_str())));
    let names = Table::from_columns("", vec![texts]).unwrap();
    let features = FeatureTable { features: Vec::new(), values: Vec::new(), rows: 900, weights: None };
    let learn = |text: &str, columns: &Table| {
        text.parse::<Grouping>().unwrap().learn(View { columns, features: &features }, &Config::default())
    };
    assert!(learn("id", &ids).is_ok(), "numbers have bins");
    let error = learn("name", &names).unwrap_err();
    assert_eq!(error.to_string(), "`name` makes 900 groups, too many to compare");
}
