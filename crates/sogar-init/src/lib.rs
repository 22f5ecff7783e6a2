//! A `sogar.toml` to start from, for a table and optionally a model: what is clear is set, the rest are questions.
//!
//! People read and edit the text, so it explains itself. It passes [`Config::check`] unchanged, and with any of its commented
//! settings switched on.

mod facts;

use std::fmt::Write;

pub use facts::{Facts, Outcome};
use sogar_base::error::Result;
use sogar_base::markup::steers;
use sogar_base::text::grouped;
use sogar_prepare::model::LoadedModel;
use sogar_table::config::Config;
use sogar_table::feature::{Feature, Kind, codes, format_number};
use sogar_table::hints::{assumed_class, is_bad_event, is_text, personal, says_nothing};
use sogar_table::table::Table;

/// Limit of values listed in a comment.
const SHOWN: usize = 12;

const LEGEND: &str = "\
# One section a feature. All settings are optional:
# - `kind`: \"numeric\", \"real\", \"integer\", \"ordinal\", \"categorical\" or \"binary\"
# - `protected = true`: no action changes it, and no tree splits on it
# - `immutable = true`: no action changes it (trees may still split on it)
# - `split = false`: trees do not split on it
# - `weight = 2`: weight of its cost
# - `display = \"monthly income\"`, `unit = \"€\"`: what advice, reports and letters call it
# Numbers and ordinals:
# - `direction = \"increase\"` or \"decrease\"
# - `range = [0, 100]`: edits stay within
# - `steps = [1, 2, 3]`: sizes of the shifts, in bins
# - `bins = 20`, or \"auto\", \"quantile:10\", [25, 35, 50]
# - `levels = [\"low\", \"high\"]`: makes a feature ordinal, lowest first
# - `codes = [-7, -8, -9]`: numbers that are no amounts (\"refused to answer\")
# Categories:
# - `targets = [\"a\", \"b\"]`: values that an edit may lead to
# - `forbid = [[\"a\", \"b\"]]`: changes from a to b that are not allowed
# - `edits = \"set\"`, or \"swap\", or \"flip\" for two values
";

/// The text of a commented file to start from, for `table`, which comments call `name`. A model shows which columns are features,
/// which one is the label, and how many rows get which outcome. `given` has what the user said already: how the table was read, and
/// the names of the classes.
pub fn starting_file(
    table: &Table,
    name: &str,
    model: Option<&LoadedModel>,
    given: &Config,
) -> Result<String> {
    Ok(Facts::new(table, model, given)?.file(table, name))
}

impl Facts {
    /// The text of a commented file to start from, for `table`, which comments call `name`.
    pub fn file(&self, table: &Table, name: &str) -> String {
        // Editors that support TOML (taplo, VS Code) complete and check keys by the schema in the first line.
        let mut text = String::from("#:schema ./sogar.toml.schema.json\n");
        let columns = table.columns.len();
        let _ = writeln!(text, "# Settings for {}: {} rows, {columns} columns.", one_line(name), table.rows);
        text.push_str(
            "# What follows a # is a comment; remove the # in front of a setting to switch it on.\n\
             # `sogar schema config > sogar.toml.schema.json` lets an editor check this file.\n",
        );
        for notice in &self.notices {
            let _ = writeln!(text, "# Note: {}", one_line(notice));
        }
        text.push_str(
            "\n# Bins of every numeric feature: a number, \"auto\" or \"quantile:10\".\nbins = 10\n\
             # How far advice moves a number: \"round\" amounts of two digits, or \"bins\" (multiples of the width of a bin).\n# numbers = \"round\"\n\
             # What an action must not break, as in `rules = [\"years_in_role <= years_at_company\"]`.\n",
        );
        text.push_str("\n[data]\n");
        write_data(&mut text, self, table.rows);
        if !self.config.model.classes.is_empty() {
            let classes = quoted(&self.config.model.classes);
            let why = match self.in_order {
                None => "as the model calls them".to_owned(),
                Some(agreement) => format!(
                    "the model's classes 0, 1, …: the names in order would agree with its predictions in {:.1} % of the rows",
                    100.0 * agreement
                ),
            };
            let _ = writeln!(text, "\n[model]\nclasses = [{classes}]  # {why}");
            let first = self.config.model.classes.first().map_or_else(String::new, |class| quote(class));
            let _ = writeln!(
                text,
                "# outcomes = {{ {first} = \"declined\" }}  # what texts for people call outcomes"
            );
        }
        text.push_str(
            "\n[cost]\nkind = \"mps\"  # or \"cet\", \"logshift\", \"l1\", \"table\"\n\n\
             [limits]\nmax_depth = 3\n# max_edits = 3\n# actions = 200000  # budget; \"all\" for no limit\n\
             # min_leaf = 50\n# time_limit = 600  # seconds\n# memory_limit = \"4GB\"\n\n",
        );
        text.push_str(
            "# Features that move together: a section `[[links]]` with `from`, `to` and `factor`. When an edit changes `from`, `to` changes by\n\
             # `factor` times as much.\n\n",
        );
        text.push_str(LEGEND);
        let unfit = |index: usize| self.unfit.iter().find(|(unfit, _)| *unfit == index);
        let codes = codes::suggestions(&self.features);
        for (index, feature) in self.features.features.iter().enumerate() {
            write_feature(&mut text, feature, &self.features.values[index]);
            if let Some((_, why)) = unfit(index) {
                let _ = writeln!(text, "immutable = true  # it {}\nsplit = false", why.text());
            }
            if let Some(codes) = codes.get(&feature.name) {
                let codes: Vec<String> = codes.iter().map(|code| format_number(*code)).collect();
                let _ = writeln!(
                    text,
                    "# codes = [{}]  # many rows share them, and they stand apart: are they amounts?",
                    codes.join(", ")
                );
            }
        }
        text
    }
}

fn write_data(text: &mut String, facts: &Facts, rows: usize) {
    let data = &facts.config.data;
    for (key, value) in [("delimiter", &data.delimiter), ("decimal", &data.decimal)] {
        if let Some(value) = value {
            let _ = writeln!(text, "{key} = {}", quote(value));
        }
    }
    match (&data.label, facts.agreement) {
        (Some(label), None) => {
            let _ = writeln!(text, "label = {}  # a guess from its name", quote(label));
        }
        (Some(label), Some(agreement)) => {
            let turned = if agreement < 0.5 { "; it may be the other way round" } else { "" };
            let rivals = facts
                .rivals
                .iter()
                .map(|(name, agreement)| format!("; as `{}` in {:.1} %", one_line(name), 100.0 * agreement));
            let _ = writeln!(
                text,
                "label = {}  # a guess: the model says the same in {:.1} % of the rows{turned}{}",
                quote(label),
                100.0 * agreement,
                rivals.collect::<String>()
            );
        }
        (None, _) => {
            text.push_str("# The column with the true outcome is not known; without one there are no true positive rates.\n");
            for name in &facts.offered {
                let _ =
                    writeln!(text, "# label = {}  # it has as many values as there are classes", quote(name));
            }
        }
    }
    if let Some(outcome) = &facts.outcome {
        write_outcome(text, outcome, data.label.as_deref(), rows);
    }
    if facts.ignored.is_empty() {
        text.push_str("# ignore = []  # columns that are neither features nor label\n");
    } else {
        text.push_str("# Columns that are neither features nor label. A column that the model needs must not be here.\nignore = [\n");
        for (name, why) in &facts.ignored {
            let _ = writeln!(text, "  {},  # {why}", quote(name));
        }
        text.push_str("]\n");
    }
    if data.missing.is_empty() {
        text.push_str("# missing = [\"?\"]  # texts that mean \"unknown\"\n");
    } else {
        let _ = writeln!(text, "missing = [{}]  # texts that mean \"unknown\"", quoted(&data.missing));
    }
}

/// The desired outcome: set if names are clear, otherwise a question that lists every reading.
fn write_outcome(text: &mut String, outcome: &Outcome, label: Option<&str>, rows: usize) {
    let whose = if outcome.predicted { "the model gives it to" } else { "it is the label of" };
    let reading = |class: usize| {
        let (name, have) = &outcome.classes[class];
        let all: usize = outcome.classes.iter().map(|(_, count)| count).sum();
        format!(
            "{whose} {} of {} rows; the {} others are turned down if people hope for {}",
            grouped(have),
            grouped(rows),
            grouped(all - have),
            one_line(name)
        )
    };
    if let Some(good) = outcome.good {
        let name = quote(&outcome.classes[good].0);
        let _ = writeln!(text, "desired = [{name}]  # a guess from the name: {}", reading(good));
        return;
    }
    let names: Vec<String> = outcome.classes.iter().map(|(name, _)| name.clone()).collect();
    let until = match is_text(&names) || names.len() != 2 {
        true => "until then no run begins".to_owned(),
        false => {
            let assumed = assumed_class(&names, label);
            format!("until then a run takes {} and warns", one_line(&names[assumed]))
        }
    };
    let _ = writeln!(text, "# Which outcome do people hope for? Switch one of these on; {until}.");
    if let Some(label) = label.filter(|label| is_bad_event(label)) {
        let _ = writeln!(text, "# `{}` sounds like something that nobody hopes for.", one_line(label));
    }
    for (class, name) in names.iter().enumerate().take(SHOWN) {
        let _ = writeln!(text, "# desired = [{}]  # {}", quote(name), reading(class));
    }
}

fn write_feature(text: &mut String, feature: &Feature, values: &[f64]) {
    let what = match &feature.kind {
        Kind::Real | Kind::Integer => {
            let known = || values.iter().copied().filter(|value| !value.is_nan());
            let (low, high) =
                (known().fold(f64::INFINITY, f64::min), known().fold(f64::NEG_INFINITY, f64::max));
            let kind = if feature.kind == Kind::Integer { "integer" } else { "real" };
            format!("{kind}, {} to {}", format_number(low), format_number(high))
        }
        Kind::Ordinal { levels } => format!("ordinal: {}", list(levels)),
        Kind::Categorical { levels, .. } => format!("categorical: {}", list(levels)),
        Kind::Binary { levels } => format!("binary: {}", list(levels)),
    };
    let _ = writeln!(text, "\n[features.{}]  # {what}", key(&feature.name));
    match personal(&feature.name, feature.levels()) {
        Some(found) if found.clear => {
            let _ = writeln!(
                text,
                "protected = true  # {}: people cannot change it, and should not be judged by it",
                found.reason
            );
            return;
        }
        Some(found) => {
            let _ = writeln!(text, "# protected = true  # {}", found.reason);
        }
        None => {}
    }
    write_targets(text, feature);
}

/// Categories that an edit may lead to, if some say nothing: nobody becomes "unknown".
fn write_targets(text: &mut String, feature: &Feature) {
    let Kind::Categorical { levels, missing } = &feature.kind else { return };
    let missing = missing.map(|missing| &levels[missing]);
    let levels = levels.iter().filter(|level| Some(*level) != missing).cloned();
    let (nothing, targets): (Vec<String>, Vec<String>) = levels.partition(|level| says_nothing(level));
    if !nothing.is_empty() && !targets.is_empty() {
        let _ = writeln!(text, "targets = [{}]  # no advice leads to {}", quoted(&targets), list(&nothing));
    }
}

fn quoted(texts: &[String]) -> String {
    texts.iter().map(|text| quote(text)).collect::<Vec<_>>().join(", ")
}

fn list(values: &[String]) -> String {
    let shown: Vec<String> = values.iter().take(SHOWN).map(|value| one_line(value)).collect();
    let more = if values.len() > SHOWN { format!(", … ({} in all)", values.len()) } else { String::new() };
    format!("{}{more}", shown.join(", "))
}

/// Text that is safe in a comment.
fn one_line(text: &str) -> String {
    text.chars().map(|letter| if steers(letter) { ' ' } else { letter }).collect()
}

/// A TOML key, quoted where it must be.
fn key(name: &str) -> String {
    let bare = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-';
    if !name.is_empty() && name.chars().all(bare) { name.to_owned() } else { quote(name) }
}

/// A TOML string.
fn quote(text: &str) -> String {
    let mut quoted = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => {
                quoted.push('\\');
                quoted.push(letter);
            }
            letter if steers(letter) => {
                let _ = write!(quoted, "\\u{:04X}", letter as u32);
            }
            letter => quoted.push(letter),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;
    use sogar_table::table::{Column, ReadOptions, csv};
    use std::path::Path;

    fn started(table: &Table) -> (String, Config) {
        let text = starting_file(table, "t.csv", None, &Config::default()).unwrap();
        let config =
            Config::parse(&text, Path::new("sogar.toml")).unwrap_or_else(|error| panic!("{error}\n{text}"));
        config.check(Some(table)).unwrap_or_else(|error| panic!("{error}\n{text}"));
        (text, config)
    }

    #[test]
    fn a_starting_file_reads_back_and_passes_the_check() {
        let table = csv::parse(
            b"customer id,age,MaritalStatus,mortgage,job.kind,sex:f,sex:m,const,approved\n\
              1,30,single,1.5,\"a \"\"b\"\" \\ c\",1,0,x,no\n\
              2,40,married,2.5,?,0,1,x,yes\n\
              3,50,divorced,3.5,d,0,1,x,no\n",
            Path::new("t.csv"),
            &ReadOptions::default(),
        )
        .unwrap();
        let (text, config) = started(&table);
        assert_eq!(config.data.label.as_deref(), Some("approved"));
        assert_eq!(config.data.desired, ["yes"]);
        assert_eq!(config.data.ignore, ["customer id", "const"]);
        assert_eq!(config.data.missing, ["?"]);
        let protected: Vec<&str> = config
            .features
            .iter()
            .filter(|(_, setting)| setting.protected == Some(true))
            .map(|(name, _)| name.as_str())
            .collect();
        assert_eq!(protected, ["MaritalStatus", "age", "sex"]);
        assert!(config.features.contains_key("job.kind") && config.features.contains_key("mortgage"));
        assert!(text.contains("[features.age]  # integer, 30 to 50"), "{text}");
        assert!(text.contains("# binary") || text.contains("# categorical: f, m"), "{text}");
    }

    #[test]
    fn no_advice_leads_to_a_category_that_says_nothing() {
        let csv = b"job,marital,pay,approved\n\
            farmer,single,1.5,no\n\
            Unknown,unknown,2.5,yes\n\
            \"a, b\",married,2.5,yes\n\
            farmer,single,3.5,no\n";
        let table = csv::parse(csv, Path::new("t.csv"), &ReadOptions::default()).unwrap();
        let (text, config) = started(&table);
        assert!(text.contains("targets = [\"a, b\", \"farmer\"]  # no advice leads to Unknown"), "{text}");
        assert_eq!(config.features["marital"].protected, Some(true));
        assert_eq!(text.matches("no advice leads").count(), 1, "{text}");
    }

    #[test]
    fn odd_names_and_values_do_not_break_the_text() {
        let names = ["a\nb", "c = [", "\"", "ü", "x.y", "#"];
        let mut columns: Vec<Column> =
            names.iter().map(|name| Column::text(*name, [Some("p\nq"), Some("# r"), None])).collect();
        columns.push(Column::numbers("z", vec![1.0, 2.0, 3.0]));
        let (text, config) = started(&Table::from_columns("", columns).unwrap());
        assert_eq!(config.features.len(), names.len() + 1, "{text}");
        assert_eq!(config.data.label, None);
    }

    /// Texts in which one commented setting is switched on.
    fn followed(text: &str) -> Vec<(String, String)> {
        let lines: Vec<&str> = text.lines().collect();
        let is_setting = |line: &str| {
            let key = line.strip_prefix("# ").and_then(|line| line.split_once(" = ")).map(|(key, _)| key);
            key.is_some_and(|key| key.chars().all(|letter| letter.is_ascii_lowercase() || letter == '_'))
        };
        let hints = (0..lines.len()).filter(|&line| is_setting(lines[line]));
        let switched = hints.map(|line| {
            let mut lines = lines.clone();
            lines[line] = &lines[line][2..];
            (lines[line].to_owned(), lines.join("\n"))
        });
        switched.collect()
    }

    #[test]
    fn every_commented_setting_can_be_switched_on() {
        for csv in [
            "id,age,priors,Pregnancies,income,signup,note,white\n",
            "row,education of mother,Sex:Female,x,label,odd name,y z,target\n",
            "a,b,c,d,e,f,g,default\n",
        ] {
            let mut text = csv.to_owned();
            for i in 0..60 {
                let (j, k) = (i * 7 % 60, i % 3);
                text += &format!(
                    "{i},{},{k},{},{j}.5,2021-03-{:02},\"words, many words {i} \",{}\n",
                    20 + j,
                    k + 1,
                    i % 28 + 1,
                    i % 2
                );
            }
            let table = csv::parse(text.as_bytes(), Path::new("t.csv"), &ReadOptions::default()).unwrap();
            let (text, _) = started(&table);
            let hints = followed(&text);
            assert!(hints.len() >= 5, "{text}");
            for (hint, text) in hints {
                let config = Config::parse(&text, Path::new("sogar.toml"))
                    .unwrap_or_else(|error| panic!("{hint}: {error}\n{text}"));
                let check = config.check(Some(&table));
                assert!(check.is_ok(), "{hint}: {}\n{text}", check.unwrap_err());
            }
        }
    }

    #[test]
    fn nothing_is_guessed_from_a_place_in_the_table() {
        let mut text = String::from("customer_id,income,signup,Sex:Female,white\n");
        for i in 0..60 {
            text += &format!(
                "{},{},2021-03-{:02},{},{}\n",
                i * 3 + 7,
                i * 37 % 1000,
                i % 28 + 1,
                i % 2,
                i / 2 % 2
            );
        }
        let table = csv::parse(text.as_bytes(), Path::new("t.csv"), &ReadOptions::default()).unwrap();
        let (text, config) = started(&table);
        assert!(text.starts_with("#:schema "), "{text}");
        assert_eq!((config.data.label, config.data.desired), (None, vec![]), "{text}");
        assert_eq!(config.data.ignore, ["customer_id", "signup"], "{text}");
        assert_eq!(config.features["Sex"].protected, Some(true), "{text}");
        assert_eq!(config.features["white"].protected, Some(true), "{text}");
    }

    #[test]
    fn an_unknown_good_class_raises_a_question() {
        let started_with = |label: &str, values: [&str; 2]| {
            let mut text = format!("income,{label}\n");
            for i in 0..60 {
                text += &format!("{},{}\n", i * 37 % 1000, values[usize::from(i % 3 == 0)]);
            }
            let table = csv::parse(text.as_bytes(), Path::new("t.csv"), &ReadOptions::default()).unwrap();
            started(&table)
        };
        let (text, config) = started_with("target", ["0", "1"]);
        assert!(config.data.desired.is_empty());
        assert!(text.contains("until then a run takes 1 and warns"), "{text}");
        assert!(
            text.contains(
                "# desired = [\"1\"]  # it is the label of 20 of 60 rows; the 40 others are turned down"
            ),
            "{text}"
        );
        assert!(text.contains("# desired = [\"0\"]  # it is the label of 40 of 60 rows"), "{text}");
        let (text, _) = started_with("default", ["0", "1"]);
        assert!(text.contains("`default` sounds like something that nobody hopes for"), "{text}");
        assert!(text.contains("until then a run takes 0 and warns"), "{text}");
        let (text, _) = started_with("class", ["<=50K", ">50K"]);
        assert!(text.contains("until then no run begins"), "{text}");
        let (_, config) = started_with("class", ["rejected", "approved"]);
        assert_eq!(config.data.desired, ["approved"]);
    }
}
