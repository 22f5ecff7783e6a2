//! The presets on the tables they were made for: they load, they pass the check without a word, and they give
//! as many actions as their comments say.
//!
//! The tables are found through `SOGAR_DATA` (default: `../shared/data` beside the workspace); where they are
//! absent the test says so and passes.

// A panic is a test's report, and a skipped test must be heard.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr)]

use std::path::{Path, PathBuf};

use sogar::actions::{all_edits, count_actions};
use sogar::binarize::all_splits;
use sogar::config::{Config, presets};
use sogar::feature::{FeatureTable, label_values};
use sogar::init::starting_file;
use sogar::table::Table;

/// Preset, file, rows, features, splits, edits, actions.
type Expected = (&'static str, &'static str, usize, usize, usize, usize, u128);

const EXPECTED: [Expected; 8] = [
    ("german", "german.csv", 1000, 20, 103, 43, 6272),
    ("attrition", "attrition.csv", 1470, 30, 162, 33, 4646),
    ("bank", "bank.csv", 4521, 16, 92, 24, 1147),
    ("adult", "adult_train.csv", 32_561, 14, 69, 78, 20_925),
    ("paper-german", "cet/cet_german.csv", 1000, 25, 88, 94, 92_993),
    ("paper-attrition", "cet/cet_attrition.csv", 1470, 27, 153, 100, 142_634),
    ("paper-bank", "cet/cet_bank.csv", 4521, 14, 102, 41, 6412),
    ("paper-adult", "adult_train.csv", 32_561, 14, 158, 104, 119_719),
];

/// The folder of data sets, or a loud word that there is none.
fn data_folder() -> Option<PathBuf> {
    let default = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let folder = std::env::var_os("SOGAR_DATA").map_or(default, PathBuf::from);
    if folder.join("german.csv").exists() {
        return Some(folder);
    }
    sogar_testing::skipped("data", &format!("no data sets in {} (set SOGAR_DATA)", folder.display()));
    None
}

fn load(folder: &Path, preset: &str, file: &str) -> (Config, Table) {
    let config = Config::preset(preset).unwrap();
    let table = Table::read(&folder.join(file), &config.read_options().unwrap()).unwrap();
    (config, table)
}

#[test]
fn every_preset_fits_its_table_and_gives_the_actions_that_it_promises() {
    assert!(presets().iter().all(|preset| EXPECTED.iter().any(|expected| expected.0 == preset.name)));
    let Some(folder) = data_folder() else { return };
    let mut found = Vec::new();
    for (name, file, ..) in EXPECTED {
        let (config, table) = load(&folder, name, file);
        config.check(Some(&table)).unwrap_or_else(|error| panic!("{name}: {error}"));
        let (seen, _) = FeatureTable::infer(&table, &config).unwrap();
        let splits = all_splits(&seen, &config).unwrap().len();
        let edits = all_edits(&seen, &config).unwrap();
        let actions = count_actions(&edits, 3);
        found.push((name, file, table.rows, seen.features.len(), splits, edits.len(), actions));
        let labels = label_values(&table, &config).unwrap().unwrap();
        assert_eq!(labels.values.len(), 2, "{name}");
        assert!(labels.of_row.iter().all(Option::is_some), "{name}");
    }
    assert_eq!(found, EXPECTED);
}

/// Who somebody is; what a domain expert would let nobody be advised to change; and changes that would make things worse.
const PROTECTED: [(&str, &[&str]); 4] = [
    ("german", &["age", "status_sex", "foreign_worker", "people_liable_for"]),
    ("attrition", &["Age", "Gender", "MaritalStatus"]),
    ("bank", &["age", "marital"]),
    ("adult", &["age", "sex", "race", "native-country", "marital-status", "relationship"]),
];

#[test]
fn readable_presets_give_advice_that_can_be_followed() {
    let Some(folder) = data_folder() else { return };
    for (name, protected) in PROTECTED {
        let file = EXPECTED.iter().find(|expected| expected.0 == name).unwrap().1;
        let (config, table) = load(&folder, name, file);
        let (seen, _) = FeatureTable::infer(&table, &config).unwrap();
        let edits = all_edits(&seen, &config).unwrap();
        let splits = all_splits(&seen, &config).unwrap();
        let index = |feature: &str| seen.feature_index(feature).unwrap();
        for feature in protected {
            let feature = index(feature);
            assert!(edits.iter().all(|edit| edit.touched().all(|touched| touched != feature)), "{name}");
            assert!(splits.iter().all(|split| split.feature != feature), "{name}");
        }
        let texts: Vec<String> = edits.iter().map(|edit| edit.text(&seen.features)).collect();
        let never: &[&str] = match name {
            "german" => &["purpose of", "set housing", "set job", "increase term", "no checking account"],
            "attrition" => &["at the company", "set role", "decrease monthly income", "to Yes"],
            "bank" => &["set job", "education", "increase calls", "to yes"],
            _ => &[
                "increase capital loss",
                "decrease education",
                "decrease work a week",
                "to Without-pay",
                "to Never-worked",
            ],
        };
        // Presets name every feature in words.
        assert!(texts.iter().all(|text| !text.contains('`')), "{name}: {texts:?}");
        for never in never {
            assert!(texts.iter().all(|text| !text.contains(never)), "{name}: {never}");
        }
    }
}

#[test]
fn a_starting_file_for_every_table_passes_the_check() {
    let Some(folder) = data_folder() else { return };
    for (_, file, ..) in EXPECTED {
        let table = Table::read(&folder.join(file), &Default::default()).unwrap();
        let text = starting_file(&table, file, None, &Config::default()).unwrap();
        let config = Config::parse(&text, Path::new(file)).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let table = Table::read(&folder.join(file), &config.read_options().unwrap()).unwrap();
        config.check(Some(&table)).unwrap_or_else(|error| panic!("{file}: {error}\n{text}"));
    }
}

#[test]
fn held_out_rows_of_adult_are_seen_through_the_features_of_the_training_rows() {
    let Some(folder) = data_folder() else { return };
    let (config, table) = load(&folder, "adult", "adult_train.csv");
    let features = FeatureTable::infer(&table, &config).unwrap().0.features;
    let (_, held_out) = load(&folder, "adult", "adult_test.csv");
    let (seen, notices) = FeatureTable::apply(&features, &held_out, &config).unwrap();
    assert_eq!((seen.rows, seen.features.len(), notices.len()), (16_281, 14, 0));
    let workclass = &features[seen.feature_index("workclass").unwrap()];
    assert_eq!(workclass.levels()[workclass.missing_level().unwrap()], "?");
}
