use super::*;
use sogar_table::feature::{Columns, Kind};

fn info(columns: &[&str]) -> ModelInfo {
    ModelInfo {
        format: "test".into(),
        description: String::new(),
        columns: columns.iter().map(|name| name.to_string()).collect(),
        categories: vec![Vec::new(); columns.len()],
        unplaced_categories: Vec::new(),
        classes: 2,
        class_names: Vec::new(),
        threshold: Some(0.5),
    }
}

fn texts(list: &[&str]) -> Vec<String> {
    list.iter().map(|text| text.to_string()).collect()
}

fn number(name: &str) -> Feature {
    Feature::new(name, Kind::Real)
}

fn categorical(name: &str, levels: &[&str], missing: Option<usize>) -> Feature {
    Feature::new(name, Kind::Categorical { levels: texts(levels), missing })
}

fn one_hot(name: &str, levels: &[&str], columns: &[&str]) -> Feature {
    Feature {
        columns: Columns::OneHot(texts(columns).into_iter().map(Some).collect()),
        ..categorical(name, levels, None)
    }
}

fn matched(info: &ModelInfo, features: &[Feature]) -> (Encoder, Vec<String>) {
    Encoder::match_columns(info, features, &ModelConfig::default()).unwrap()
}

fn refused(info: &ModelInfo, features: &[Feature]) -> String {
    let error = Encoder::match_columns(info, features, &ModelConfig::default()).unwrap_err();
    format!("{error} | {}", error.remedy().unwrap_or(""))
}

fn row(encoder: &Encoder, values: &[f64]) -> Vec<f64> {
    let mut out = Vec::new();
    encoder.encode_row(values, &mut out);
    out
}

/// NaN shown as -1, so that rows can be compared.
fn comparable(values: Vec<f64>) -> Vec<f64> {
    values.into_iter().map(|value| if value.is_nan() { -1.0 } else { value }).collect()
}

#[test]
fn names_decide_whatever_the_order() {
    let (encoder, notices) = matched(&info(&["b", "a"]), &[number("a"), number("b")]);
    assert_eq!(row(&encoder, &[1.0, 2.0]), [2.0, 1.0]);
    assert!(notices.is_empty());
}

#[test]
fn categories_are_compared_with_their_spaces_and_all_of_their_digits() {
    let mut model = info(&["job"]);
    model.categories = vec![texts(&["a", " a", "1", "9007199254740992", "9007199254740993", "True"])];
    let levels = [" 1", " a", "1.0", "9007199254740993", "9007199254740994", "a", "a ", "true"];
    let (encoder, notices) = matched(&model, &[categorical("job", &levels, None)]);
    let codes: Vec<f64> = (0..levels.len()).map(|level| row(&encoder, &[level as f64])[0]).collect();
    let unknown = -1.0;
    let codes: Vec<f64> = codes.into_iter().map(|code| if code.is_nan() { unknown } else { code }).collect();
    assert_eq!(codes, [2.0, 1.0, 2.0, 4.0, unknown, 0.0, unknown, 5.0]);
    assert!(notices[0].contains("` 1` of `job` is the model's category `1`"), "{notices:?}");
    assert!(notices[1].contains("takes `9007199254740994`, `a ` of `job` as missing"), "{notices:?}");
    let message = refused(&model, &[categorical("job", &["a ", "  a"], None)]);
    assert!(message.contains("knows none of the values") && message.contains("trim = true"), "{message}");
}

#[test]
fn names_that_lightgbm_rewrites_are_found() {
    let (encoder, _) = matched(&info(&["hours_per_week", "a_b"]), &[number("a[b"), number("hours per week")]);
    assert_eq!(row(&encoder, &[1.0, 2.0]), [2.0, 1.0]);
}

#[test]
fn names_that_onnx_exporters_rewrite_are_found() {
    let group = one_hot("work", &["?", "Self-emp"], &["work_?", "work_Self-emp"]);
    let (encoder, _) =
        matched(&info(&["education_num", "work_Self_emp", "work__"]), &[number("education-num"), group]);
    assert_eq!(row(&encoder, &[9.0, 1.0]), [9.0, 1.0, 0.0]);
}

#[test]
fn an_exact_name_goes_before_a_rewritten_one() {
    let (encoder, _) = matched(&info(&["a_b"]), &[number("a b"), number("a_b")]);
    assert_eq!(row(&encoder, &[1.0, 2.0]), [2.0]);
    let text = refused(&info(&["a_b"]), &[number("a b"), number("a:b")]);
    assert!(text.contains("may be `a b` or `a:b`") && text.contains("[model.columns]"), "{text}");
}

#[test]
fn one_hot_columns_of_the_table_are_fed_one_by_one() {
    let group = one_hot("job", &["clerk", "maid"], &["job:clerk", "job:maid"]);
    let (encoder, _) = matched(&info(&["job_maid", "age", "job_clerk"]), &[number("age"), group]);
    assert_eq!(row(&encoder, &[30.0, 0.0]), [0.0, 30.0, 1.0]);
    assert_eq!(row(&encoder, &[30.0, 1.0]), [1.0, 30.0, 0.0]);
    assert_eq!(row(&encoder, &[30.0, 2.0]), [0.0, 30.0, 0.0], "a category never seen");
}

#[test]
fn a_model_trained_on_one_hot_columns_reads_a_readable_table() {
    let features = [categorical("job", &["?", "clerk a", "maid"], Some(0)), number("age")];
    for joint in [":", "=", "_", "."] {
        let columns = [format!("job{joint}clerk a"), format!("job{joint}maid"), "age".into()];
        let (encoder, _) = matched(&info(&columns.each_ref().map(String::as_str)), &features);
        assert_eq!(row(&encoder, &[1.0, 5.0]), [1.0, 0.0, 5.0]);
        assert_eq!(row(&encoder, &[0.0, 5.0]), [0.0, 0.0, 5.0], "missing without a column of its own");
    }
    let (encoder, _) = matched(&info(&["job_nan", "job_clerk_a", "age"]), &features);
    assert_eq!(row(&encoder, &[0.0, 5.0]), [1.0, 0.0, 5.0], "missing with a column of its own");
}

#[test]
fn numbers_in_one_hot_names_may_be_spelled_differently() {
    let (encoder, _) =
        matched(&info(&["grade_1.0", "grade_2.0"]), &[categorical("grade", &["1", "2"], None)]);
    assert_eq!(row(&encoder, &[1.0]), [0.0, 1.0]);
}

#[test]
fn columns_without_names_are_matched_by_position_with_a_notice() {
    let (encoder, notices) = matched(&info(&["Column_0", "Column_1"]), &[number("a"), number("b")]);
    assert_eq!(row(&encoder, &[1.0, 2.0]), [1.0, 2.0]);
    assert!(notices[0].contains("by position"), "{notices:?}");
}

#[test]
fn one_hot_columns_by_position_need_the_tables_order() {
    let features = [number("age"), one_hot("job", &["clerk", "maid"], &["job_clerk", "job_maid"])];
    let model = info(&["Column_0", "Column_1", "Column_2"]);
    assert!(refused(&model, &features).contains("not matched by position"));
    let order = ["job_maid", "label", "age", "job_clerk"];
    let (encoder, _) =
        Encoder::match_table_columns(&model, &features, &ModelConfig::default(), &order).unwrap();
    assert_eq!(row(&encoder, &[30.0, 1.0]), [1.0, 30.0, 0.0]);
}

#[test]
fn declared_columns_go_before_names() {
    let features = [number("a"), number("b"), categorical("job", &["clerk", "maid"], None)];
    let declare = |pairs: &[(&str, &str)]| ModelConfig {
        columns: pairs.iter().map(|(from, to)| (from.to_string(), to.to_string())).collect(),
        ..ModelConfig::default()
    };
    let model = info(&["a", "x", "m"]);
    let config = declare(&[("a", "b"), ("x", "a"), ("m", "job=maid")]);
    let (encoder, _) = Encoder::match_columns(&model, &features, &config).unwrap();
    assert_eq!(row(&encoder, &[1.0, 2.0, 1.0]), [2.0, 1.0, 1.0]);
    for (pair, part) in [
        (("y", "a"), "has no column `y`"),
        (("x", "job=made"), "no level `made`"),
        (("x", "zzz"), "no column or feature `zzz`"),
    ] {
        let error = Encoder::match_columns(&model, &features, &declare(&[pair])).unwrap_err();
        assert!(error.to_string().contains(part) && error.remedy().is_some(), "{error}");
    }
}

#[test]
fn columns_that_do_not_fit_are_named_with_a_suggestion() {
    let text = refused(&info(&["age", "incme"]), &[number("age"), number("income"), number("x")]);
    assert!(text.contains("`incme`") && text.contains("does not know the table's `income`, `x`"), "{text}");
    assert!(text.contains("did you mean `income`?"), "{text}");
    let text = refused(&info(&["f0", "f1"]), &[number("a")]);
    assert!(text.contains("the model has 2 columns, the table 1"), "{text}");
}

#[test]
fn features_that_the_model_does_not_use_are_noted() {
    let features = [number("a"), number("b")];
    let (encoder, _) = matched(&info(&["a"]), &features);
    assert_eq!(encoder.unused(&features).unwrap(), "the model does not use `b`");
}

#[test]
fn a_category_that_nobody_has_is_a_column_of_zeros() {
    let features = [
        one_hot("mother", &["a", "b"], &["mother_a", "mother_b"]),
        categorical("mother_job", &["x", "y"], None),
    ];
    let model = info(&["mother_a", "mother_b", "mother_c", "mother_job_x", "mother_job_z"]);
    let (encoder, notices) = matched(&model, &features);
    assert_eq!(encoder.columns[2], ColumnSource { feature: 0, map: Some(vec![0.0; 3]) });
    assert_eq!(encoder.columns[4], ColumnSource { feature: 1, map: Some(vec![0.0; 3]) });
    assert!(notices[1].contains("nobody in the table has `mother_job` = `z`"), "{notices:?}");
    let text = refused(&info(&["mother_a", "father_c"]), &features);
    assert!(text.contains("`father_c`"), "{text}");
}

#[test]
fn pandas_categories_give_positions_and_unknown_values_are_missing() {
    let mut model = info(&["job", "grade"]);
    model.categories = vec![texts(&["maid", "clerk"]), texts(&["10", "20.0"])];
    let features = [
        categorical("job", &["(missing)", "clerk", "maid", "smith"], Some(0)),
        categorical("grade", &["10.0", "20"], None),
    ];
    let (encoder, notices) = matched(&model, &features);
    let encoded = |job: f64, grade: f64| comparable(row(&encoder, &[job, grade]));
    assert_eq!(encoded(1.0, 0.0), [1.0, 0.0]);
    assert_eq!(encoded(2.0, 1.0), [0.0, 1.0]);
    for job in [0.0, 3.0, 4.0, f64::NAN] {
        assert_eq!(encoded(job, 2.0), [-1.0, -1.0], "{job}");
    }
    assert_eq!(notices, ["the model takes `smith` of `job` as missing: it never saw it"]);
    model.categories[0] = texts(&["x", "y"]);
    assert!(refused(&model, &features).contains("knows none of the values of `job`"));
}

#[test]
fn a_table_of_one_hot_columns_feeds_a_model_with_categories() {
    let mut model = info(&["job"]);
    model.categories = vec![texts(&["maid", "clerk"])];
    let (encoder, _) = matched(&model, &[one_hot("job", &["clerk", "maid"], &["job_clerk", "job_maid"])]);
    assert_eq!(row(&encoder, &[0.0]), [1.0]);
}

#[test]
fn lists_left_open_by_the_file_go_to_the_features_with_those_levels() {
    let mut model = info(&["n", "size", "job"]);
    model.unplaced_categories = vec![texts(&["S", "M", "L"]), texts(&["maid", "clerk"])];
    let size = Feature::new("size", Kind::Ordinal { levels: texts(&["S", "M", "L"]) });
    let binary = Feature::new("n", Kind::Binary { levels: texts(&["0", "1"]) });
    let features = [binary, size, categorical("job", &["clerk", "maid"], None)];
    let (encoder, _) = matched(&model, &features);
    assert_eq!(row(&encoder, &[1.0, 2.0, 0.0]), [1.0, 2.0, 1.0]);
    model.unplaced_categories.push(texts(&["u"]));
    assert!(refused(&model, &features).contains("not to which columns"));
}

#[test]
fn levels_become_the_numbers_that_models_are_trained_on() {
    let model = info(&["yes", "code", "size", "grade", "zip"]);
    let features = [
        Feature::new("yes", Kind::Binary { levels: texts(&["no", "yes"]) }),
        Feature::new("code", Kind::Binary { levels: texts(&["1", "2"]) }),
        Feature::new("size", Kind::Ordinal { levels: texts(&["S", "M", "L"]) }),
        Feature::new("grade", Kind::Ordinal { levels: texts(&["5", "10", "20"]) }),
        categorical("zip", &["(missing)", "12", "7"], Some(0)),
    ];
    let (encoder, notices) = matched(&model, &features);
    assert_eq!(row(&encoder, &[1.0, 1.0, 2.0, 2.0, 2.0]), [1.0, 2.0, 2.0, 20.0, 7.0]);
    assert_eq!(comparable(row(&encoder, &[f64::NAN, 0.0, 0.0, 0.0, 0.0])), [-1.0, 1.0, 0.0, 5.0, -1.0]);
    assert_eq!(
        notices,
        [
            "`yes` is passed to the model as no = 0, yes = 1",
            "`size` is passed to the model as S = 0, M = 1, L = 2"
        ]
    );
}

#[test]
fn text_for_a_model_that_wants_a_number_is_an_error() {
    let text = refused(&info(&["job"]), &[categorical("job", &["clerk", "maid"], None)]);
    assert!(text.contains("wants a number in column `job`") && text.contains("one-hot"), "{text}");
}

#[test]
fn numbers_for_a_model_that_wants_categories_are_an_error_unless_they_are_the_codes() {
    let mut model = info(&["zip"]);
    model.categories = vec![texts(&["7", "12"])];
    assert!(refused(&model, &[number("zip")]).contains("as categories"));
    model.categories = vec![texts(&["0", "1"])];
    assert_eq!(matched(&model, &[number("zip")]).0.columns[0].map, None);
}

#[test]
fn whole_tables_and_chosen_rows_are_encoded_alike() {
    let features = vec![number("a"), categorical("job", &["clerk", "maid"], None)];
    let (encoder, _) = matched(&info(&["job_maid", "a"]), &features);
    let table = FeatureTable {
        features,
        values: vec![vec![1.0, 2.0, 3.0], vec![0.0, 1.0, 0.0]],
        rows: 3,
        weights: None,
    };
    assert_eq!(
        encoder.encode_rows(&table, &(0..table.rows).collect::<Vec<_>>()),
        [0.0, 1.0, 1.0, 2.0, 0.0, 3.0]
    );
    assert_eq!(encoder.encode_rows(&table, &[1]), [1.0, 2.0]);
}

#[test]
fn truth_values_are_numbers_also_with_gaps_or_all_alike() {
    let truth = categorical("owner", &["(missing)", "False", "True"], Some(0));
    let (encoder, _) = matched(&info(&["owner"]), &[truth]);
    assert_eq!(comparable(row(&encoder, &[0.0])), [-1.0]);
    assert_eq!((row(&encoder, &[1.0]), row(&encoder, &[2.0])), (vec![0.0], vec![1.0]));
    let (encoder, _) = matched(&info(&["owner"]), &[categorical("owner", &["true"], None)]);
    assert_eq!(row(&encoder, &[0.0]), [1.0]);
    let pair = Feature::new("owner", Kind::Binary { levels: texts(&["false", "true"]) });
    let (encoder, notices) = matched(&info(&["owner"]), &[pair]);
    assert_eq!((row(&encoder, &[1.0]), notices.len()), (vec![1.0], 0));
    assert!(
        refused(&info(&["owner"]), &[categorical("owner", &["maybe", "true"], None)]).contains("`maybe`")
    );
}
