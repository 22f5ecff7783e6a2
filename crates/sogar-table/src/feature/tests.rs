//! What is inferred, and what is refused, table by table.

use std::path::Path;

use super::*;
use crate::config::Config;
use crate::table::{Table, csv};

fn config(text: &str) -> Config {
    Config::parse(text, Path::new("sogar.toml")).unwrap()
}

fn table(text: &str, config: &Config) -> Table {
    csv::parse(text.as_bytes(), Path::new("t.csv"), &config.read_options().unwrap()).unwrap()
}

fn infer(text: &str, settings: &str) -> Result<(FeatureTable, Vec<String>)> {
    let config = config(settings);
    FeatureTable::infer(&table(text, &config), &config)
}

fn inferred(text: &str, settings: &str) -> FeatureTable {
    infer(text, settings).unwrap().0
}

fn message(text: &str, settings: &str) -> String {
    let error = infer(text, settings).unwrap_err();
    format!("{error} | {}", error.remedy().unwrap_or_default())
}

fn levels(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

#[test]
fn kinds_are_inferred() {
    let text = "i,r,b,t,yn,tf,c,gap\n1,1.5,0,x,yes,True,a,1\n2,2,1,y,no,False,b,\n3,3,1,x,yes,True,c,0\n";
    let features = inferred(text, "");
    let kinds: Vec<Kind> = features.features.iter().map(|feature| feature.kind.clone()).collect();
    let binary = |small: &str, large: &str| Kind::Binary { levels: levels(&[small, large]) };
    assert_eq!(
        kinds,
        [
            Kind::Integer,
            Kind::Real,
            binary("0", "1"),
            binary("x", "y"),
            binary("no", "yes"),
            binary("False", "True"),
            Kind::Categorical { levels: levels(&["a", "b", "c"]), missing: None },
            Kind::Integer, // two values, but one is missing
        ]
    );
    assert_eq!(features.values[4], [1.0, 0.0, 1.0]);
    assert_eq!(features.row(1)[..4], [2.0, 2.0, 1.0, 1.0]);
    assert!(features.values[7][1].is_nan());
}

#[test]
fn the_order_of_two_values_is_that_of_their_meaning() {
    for (text, order) in [("9,10", ["9", "10"]), ("Yes,no", ["no", "Yes"]), ("b,B", ["B", "b"])] {
        let (first, second) = text.split_once(',').unwrap();
        let features = inferred(&format!("a,x\n{first},1\n{second},2\n{first},3\n"), "");
        assert_eq!(features.features[0].kind, Kind::Binary { levels: levels(&order) });
    }
}

#[test]
fn label_and_ignored_columns_are_left_out() {
    let features = inferred("id,a,y\n1,5,0\n2,6,1\n3,7,1\n", "[data]\nlabel = \"y\"\nignore = [\"id\"]\n");
    assert_eq!(features.features.len(), 1);
    assert_eq!(features.feature_index("a").unwrap(), 0);
    assert!(message("y\n1\n2\n", "[data]\nlabel = \"y\"\n").contains("no column is left"));
    let unknown = message("a,y\n1,2\n2,3\n", "[data]\nlabel = \"yy\"\n");
    assert!(unknown.contains("there is no column `yy`, which data.label names | "), "{unknown}");
}

#[test]
fn kinds_can_be_declared() {
    let text = "b,n,o,z\n0,1,low,01\n1,2,high,1\n1,3,low,2\n";
    let features = inferred(
        text,
        "[features]\nb.kind = \"integer\"\nn.kind = \"real\"\no.levels = [\"low\", \"mid\", \"high\"]\n\
         z.kind = \"categorical\"\n",
    );
    assert_eq!(features.features[0].kind, Kind::Integer);
    assert_eq!(features.features[1].kind, Kind::Real);
    assert_eq!(features.features[2].kind, Kind::Ordinal { levels: levels(&["low", "mid", "high"]) });
    assert_eq!(features.values[2], [0.0, 2.0, 0.0]);
    assert_eq!(features.features[3].levels(), levels(&["01", "1", "2"]));
}

#[test]
fn numbers_can_be_categories_and_levels() {
    let numbers = || crate::table::Column::numbers("n", vec![10.0, 2.0, f64::NAN, 2.0]);
    let other = || crate::table::Column::numbers("x", vec![1.0, 2.0, 3.0, 4.0]);
    let table = Table::from_columns("", vec![numbers(), other()]).unwrap();
    let infer = |settings: &str| FeatureTable::infer(&table, &config(settings)).unwrap().0;
    let categories = infer("[features.n]\nkind = \"categorical\"\n");
    assert_eq!(categories.features[0].levels(), levels(&["(missing)", "10", "2"]));
    assert_eq!(categories.values[0], [1.0, 2.0, 0.0, 2.0]);
    let ordered = infer("[features.n]\nkind = \"ordinal\"\n");
    assert_eq!(ordered.features[0].levels(), levels(&["2", "10"]));
    assert!(ordered.values[0][2].is_nan());
}

#[test]
fn what_does_not_fit_a_declared_kind_is_placed() {
    let text = "a,o\n1,low\n2.5,high\n3,hihg\n";
    let fault = message(text, "[features.a]\nkind = \"integer\"\n");
    assert!(fault.starts_with("t.csv, line 3, column `a`: 2.5 is not a whole number"), "{fault}");
    let fault = message(text, "[features.o]\nlevels = [\"low\", \"high\"]\n");
    assert_eq!(
        fault,
        "t.csv, line 4, column `o`: `hihg` is not one of the feature's levels | did you mean `high`?"
    );
    let fault = message(text, "[features.o]\nkind = \"ordinal\"\n");
    assert!(fault.contains("needs its levels") && fault.contains("levels = [\"high\", \"hihg\""), "{fault}");
    let fault = message(text, "[features.o]\nkind = \"binary\"\n");
    assert!(fault.contains("it has 3 distinct values"), "{fault}");
    let fault = message("a,o\n1,x\n2,\n3,y\n", "[features.o]\nkind = \"binary\"\n");
    assert!(fault.contains("some cells are empty"), "{fault}");
    let plain = table(text, &Config::default());
    let error = FeatureTable::infer(&plain, &config("[features.o]\nkind = \"numeric\"\n")).unwrap_err();
    assert!(error.to_string().contains("`low` is text, but the feature is a number"), "{error}");
}

#[test]
fn missing_categories_are_categories_of_their_own() {
    let text = "a,b,c,n\nx,?,x,1\n,y,?,?\nz,x,,3\nz,y,y,4\n";
    let (features, notices) = infer(text, "[data]\nmissing = [\"?\"]\n").unwrap();
    let expected = |names: &[&str], missing| Kind::Categorical { levels: levels(names), missing };
    assert_eq!(features.features[0].kind, expected(&["(missing)", "x", "z"], Some(0)));
    assert_eq!(features.features[1].kind, expected(&["?", "x", "y"], Some(0)));
    // The empty cell and the token mean the same.
    assert_eq!(features.features[2].kind, expected(&["?", "x", "y"], Some(0)));
    assert_eq!(features.values[2], [1.0, 0.0, 0.0, 2.0]);
    assert!(features.values[3][1].is_nan());
    assert_eq!(notices.len(), 4);
    assert_eq!(notices[1], "`b` has no value in 1 of 4 rows: the category `?`");
    assert_eq!(notices[3], "`n` has no value in 1 of 4 rows: missing for the model, and never edited");
    // Undeclared, the token is a category like any other.
    let (features, _) = infer("a,n\n?,1\nx,2\ny,3\n", "").unwrap();
    assert_eq!(features.features[0].kind, expected(&["?", "x", "y"], None));
}

#[test]
fn categories_that_differ_by_spaces_stay_different_with_a_notice() {
    let text = "a,b\n1, x\n2,x\n3,x\n4,y\n5, ?\n6, \n";
    let (features, notices) = infer(text, "[data]\nmissing = [\"?\"]\n").unwrap();
    let kind = Kind::Categorical { levels: levels(&[" ", " ?", " x", "x", "y"]), missing: Some(1) };
    assert_eq!(features.features[1].kind, kind, "a token is found with its spaces, and keeps them");
    assert_eq!(features.features[1].level_index("?"), Some(1));
    assert_eq!(features.features[1].level_index(" y"), None);
    let expected = "` x` and `x` of `b` differ only by spaces; if they mean the same, set `trim = true`";
    assert!(notices.iter().any(|notice| notice.contains(expected)), "{notices:?}");
    assert!(notices.iter().any(|notice| notice.contains("cells of spaces only")), "{notices:?}");
    let (features, notices) = infer(text, "[data]\nmissing = [\"?\"]\ntrim = true\n").unwrap();
    assert_eq!(features.features[1].levels(), ["?", "x", "y"]);
    assert!(!notices.iter().any(|notice| notice.contains("spaces")), "{notices:?}");
    let blank = inferred("a,b\n1,x\n2,y\n3, \n", "[data]\nmissing = [\" \"]\n");
    assert_eq!(blank.features[1].missing_level(), Some(0), "spaces can be declared to mean missing");
}

#[test]
fn large_whole_numbers_are_levels_of_their_own() {
    let text = "a,b\n1,9007199254740992\n2,9007199254740993\n3,9007199254740994\n";
    let features = inferred(text, "[features.b]\nkind = \"categorical\"\n");
    assert_eq!(features.features[1].levels().len(), 3);
    assert_eq!(features.features[1].level_index("9007199254740995"), None);
}

#[test]
fn one_hot_columns_become_one_feature_where_the_first_stood() {
    let text = "a,job:b,n,job:a,f_x,f_y\n5,1,1,0,0,0\n6,0,2,1,1,1\n7,1,3,0,1,0\n";
    let (features, notices) = infer(text, "[features.job]\nimmutable = true\n").unwrap();
    let names: Vec<&str> = features.features.iter().map(|feature| feature.name.as_str()).collect();
    assert_eq!(names, ["a", "job", "n", "f_x", "f_y"]);
    assert_eq!(
        features.features[1].columns,
        Columns::OneHot(["job:a", "job:b"].map(|name| Some(name.to_owned())).to_vec())
    );
    assert_eq!(features.values[1], [1.0, 0.0, 1.0]);
    assert_eq!(notices, ["2 one-hot columns `job:…` are read as one categorical feature `job`"]);
    let features = inferred(text, "[data]\ninfer_one_hot = false\n");
    assert_eq!(features.features.len(), 6);
    let fault = message(text, "[features.\"job:a\"]\nimmutable = true\n[features.job]\nimmutable = true\n");
    assert!(fault.contains("[features.job] speaks of a feature that the table does not have"), "{fault}");
}

#[test]
fn one_hot_columns_can_be_declared() {
    let text = "a,OwnsHouse,RentsHouse\n1,1,0\n2,0,1\n3,1,0\n";
    let declared = "[features.housing]\ncolumns = [\"RentsHouse\", \"OwnsHouse\"]\n";
    let features = inferred(text, &format!("{declared}levels = [\"rent\", \"own\"]\n"));
    assert_eq!(features.features[1].name, "housing");
    assert_eq!(features.features[1].levels(), levels(&["own", "rent"]));
    assert_eq!(features.values[1], [0.0, 1.0, 0.0]);
    assert_eq!(inferred(text, declared).features[1].levels(), levels(&["OwnsHouse", "RentsHouse"]));
    assert!(
        message(text, "[features.h]\ncolumns = [\"OwnsHouse\", \"RentHouse\"]\n").contains("`RentsHouse`")
    );
    assert!(message(text, "[features.h]\ncolumns = [\"OwnsHouse\"]\n").contains("at least two"));
    assert!(message(text, &format!("{declared}levels = [\"x\"]\n")).contains("1 levels for 2 columns"));
    let fault = message("a,p,q\n1,1,0\n2,0,0\n", "[features.h]\ncolumns = [\"p\", \"q\"]\n");
    assert!(
        fault.starts_with("t.csv, line 3") && fault.contains("no column of this one-hot group"),
        "{fault}"
    );
}

#[test]
fn constant_columns_are_unfit_and_nothing_but_constants_is_refused() {
    let config = Config::default();
    let (features, seen) = FeatureTable::inferred(&table("a,b\n1,x\n2,x\n3,x\n", &config), &config).unwrap();
    assert_eq!(features.features.len(), 2);
    assert_eq!((seen.notices, seen.unfit), (vec![], vec![(1, crate::hints::Unfit::Constant)]));
    assert!(message("a,b\n1,x\n1,x\n", "").contains("every feature has the same value in all rows"));
}

#[test]
fn an_empty_column_is_ignored_with_a_notice() {
    for token in ["", "?"] {
        let text = format!("a,b\n1,{token}\n2,{token}\n3,{token}\n");
        let (features, notices) = infer(&text, "[data]\nmissing = [\"?\"]\n").unwrap();
        assert_eq!(notices, ["`b` is empty: it is ignored, and missing for the model"], "{token}");
        assert!(features.values[1].iter().all(|value| value.is_nan()));
        let config = config("");
        assert!(
            crate::binarize::all_splits(&features, &config).unwrap().iter().all(|split| split.feature == 0)
        );
    }
    assert!(message("a,b\n,\n,\n", "").contains("every feature has the same value in all rows"));
}

#[test]
fn numbers_as_people_write_them_are_answered_with_the_setting() {
    let said = message("a;price\n1;1,5\n2;2\n3;2,25\n", "");
    assert!(said.contains("column `price`: `1,5` looks like a number with a decimal comma"), "{said}");
    let comma = "[data]\ndecimal = \",\"\n";
    let (features, _) = infer("a;price\n1;1,5\n2;2\n3;2,25\n", comma).unwrap();
    assert_eq!(features.values[1], [1.5, 2.0, 2.25]);
    assert!(infer("a;price\n1;1,5\n2;2\n3;2,25\n", "[features.price]\nkind = \"categorical\"\n").is_ok());
    assert!(infer("a;price\n1;1,5\n2;2\n3;2,25\n", "[data]\nignore = [\"price\"]\n").is_ok());
    let said = message("a;price\n1;1.234,5\n2;12,5\n3;2\n", comma);
    assert!(said.contains("`1.234,5` looks like a number with separators between thousands"), "{said}");
    let said = message("a;price\n1;1.5\n2;12.5\n3;2\n", comma);
    assert!(said.contains("`1.5` looks like a number with a decimal point"), "{said}");
    let said = message("a;price\n1;1,234\n2;12,500\n3;2,000\n", "");
    assert!(said.contains("a decimal comma, or with a separator between thousands"), "{said}");
    assert!(infer("a;size\n1;1,5\n2;big\n3;2,25\n", "").is_ok(), "not all are numbers");
}

#[test]
fn another_table_is_seen_through_the_same_features() {
    let config = config("[data]\nmissing = [\"?\"]\n[features.o]\nlevels = [\"low\", \"high\"]\n");
    let reference = table("n,c,o,b,h:x,h:y\n1,a,low,0,1,0\n2,b,high,1,0,1\n3,?,low,1,0,1\n", &config);
    let features = FeatureTable::infer(&reference, &config).unwrap().0.features;
    let held_out = table("h:y,h:x,b,o,c,n,new\n1,0,1,high,,2.5,z\n0,0,7,low,q,,z\n0,1,0,?,b,3,z\n", &config);
    let (seen, notices) = FeatureTable::apply(&features, &held_out, &config).unwrap();
    assert_eq!(seen.features, features);
    assert!(seen.values[0][1].is_nan() && seen.values[2][2].is_nan());
    assert_eq!(seen.values[1], [0.0, 3.0, 2.0]); // missing, unseen, `b`
    assert_eq!(seen.values[3], [1.0, 2.0, 0.0]);
    assert_eq!(seen.values[4], [1.0, 2.0, 0.0]);
    assert_eq!(
        notices,
        [
            "`c` has values that the reference table never had, in 1 rows: `q`",
            "`b` has values that the reference table never had, in 1 rows: `7`",
            "`h` has none of its categories in 1 rows"
        ]
    );

    let fails = |text: &str| {
        let error = FeatureTable::apply(&features, &table(text, &config), &config).unwrap_err();
        format!("{error} | {}", error.remedy().unwrap_or_default())
    };
    let fault = fails("n,c,oo,b,h:x,h:y\n1,a,low,0,1,0\n");
    assert_eq!(fault, "t.csv: there is no column `o` | did you mean `oo`?");
    let lacking = FeatureTable::apply(&features, &table("n,c,o,b,h:x\n1,a,low,0,1\n", &config), &config);
    assert_eq!(lacking.unwrap().1, ["there is no column `h:y`: nobody has that category of `h`"]);
    let fault = fails("n,c,o,b,h:x,h:y\n1,a,mid,0,1,0\n");
    assert!(fault.starts_with("t.csv, line 2, column `o`: `mid` is not one of"), "{fault}");
    let fault = fails("n,c,o,b,h:x,h:y\nfew,a,low,0,1,0\n");
    assert!(fault.starts_with("t.csv, line 2, column `n`: `few` is text"), "{fault}");
}

#[test]
fn a_table_seen_again_gives_the_same_values() {
    let config = config("[data]\nmissing = [\"?\"]\n");
    let text = "n,c,b,h:x,h:y\n1,a,no,1,0\n,b,yes,0,1\n3,?,no,0,1\n4,,no,1,0\n";
    let reference = table(text, &config);
    let first = FeatureTable::infer(&reference, &config).unwrap().0;
    let (again, notices) = FeatureTable::apply(&first.features, &reference, &config).unwrap();
    assert_eq!(format!("{:?}", first.values), format!("{:?}", again.values));
    assert!(notices.is_empty());
}

#[test]
fn numbers_are_written_short_and_read_back_equal() {
    for (number, text) in [(1.0, "1"), (-0.0, "0"), (0.1, "0.1"), (-2.5, "-2.5"), (1e16, "1e16")] {
        assert_eq!(format_number(number), text);
    }
    for number in [1.0 / 3.0, 123_456_789.125, 1e-7, f64::MAX, f64::MIN_POSITIVE, 9_007_199_254_740_993.0] {
        assert_eq!(format_number(number).parse::<f64>().unwrap(), number);
    }
    assert_eq!(format_number(f64::NAN), "NaN");
}

#[test]
fn values_are_written_as_people_do() {
    let feature =
        Feature::new("job", Kind::Categorical { levels: vec!["a".into(), "b".into()], missing: None });
    assert_eq!(feature.value_text(1.0), "b");
    assert_eq!(feature.value_text(2.0), "(unseen)");
    assert_eq!(feature.value_text(f64::NAN), "(missing)");
    assert_eq!(feature.level_index("b"), Some(1));
    let error = feature_index(&[feature], "jobs").unwrap_err();
    assert_eq!(error.remedy(), Some("did you mean `job`?"));
}

#[test]
fn numbers_with_a_unit_are_pointed_out() {
    let rows: String = (0..12).map(|row| format!("{row}.5%, {} months\n", 12 * (row % 2 + 1))).collect();
    let (_, notices) = infer(&format!("rate,term\n{rows}"), "").unwrap();
    assert_eq!(notices.len(), 1, "{notices:?}");
    assert!(notices[0].starts_with("`rate` has numbers with text (`0.5%`)"), "{notices:?}");
    assert!(notices[0].contains("without `%`"), "{notices:?}");
}

#[test]
fn an_empty_section_answers_no_question_about_columns_that_exclude_each_other() {
    let rows: String = (0..600)
        .map(|row| format!("{},{},{row}\n", u8::from(row % 3 == 0), u8::from(row % 3 == 1)))
        .collect();
    let table = format!("good,fair,n\n{rows}");
    let asked = |settings: &str| {
        infer(&table, settings)
            .unwrap()
            .1
            .iter()
            .any(|notice| notice.starts_with("never two of `good`, `fair`"))
    };
    assert!(asked("") && asked("[features.good]\n[features.fair]\n"));
    assert!(!asked("[features.good]\nkind = \"binary\"\n"));
}
