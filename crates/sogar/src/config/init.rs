//! A starting `sogar.toml` from a table: everything that was found out, with what is uncertain marked as a guess.
//!
//! The text is meant to be read and edited, so it explains itself; it also passes [`Config::check`] as it is.

use std::fmt::Write;

use super::Config;
use crate::error::Result;
use crate::feature::{Feature, FeatureTable, Kind, format_number, label_values};
use crate::markup::steers;
use crate::table::{Cells, Table};

/// Column names that often hold the label.
const LABELS: &[&str] =
    &["label", "target", "class", "outcome", "y", "income", "credit", "attrition", "approved", "subscribe"];

/// Words in names of features that nobody should be asked to change.
const PERSONAL: &[&str] = &[
    "age",
    "birth",
    "caste",
    "citizenship",
    "country",
    "disability",
    "disabled",
    "ethnicity",
    "foreign",
    "gender",
    "marital",
    "married",
    "nationality",
    "native",
    "orientation",
    "pregnant",
    "race",
    "relationship",
    "religion",
    "sex",
];

/// Words in names of columns that number the rows.
const NUMBERING: &[&str] = &["id", "ids", "index", "key", "no", "nr", "number", "uuid"];

/// Texts that tables use for "unknown".
const TOKENS: &[&str] = &["?", "NA", "N/A", "n/a", "nan", "NaN", "null", "NULL"];

/// More values than this are not listed in a comment.
const SHOWN: usize = 12;

const LEGEND: &str = "\
# One section a feature. All settings are optional:
#   kind = \"numeric\" | \"real\" | \"integer\" | \"ordinal\" | \"categorical\" | \"binary\"
#   immutable = true             no action changes it (trees may still split on it)
#   split = false                trees do not split on it
#   weight = 2                   weight of its cost
# numbers and ordinals:
#   direction = \"increase\"       or \"decrease\"
#   range = [0, 100]             edits stay within
#   steps = [1, 2, 3]            sizes of the shifts, in bins
#   bins = 20                    or \"auto\", \"quantile:10\", [25, 35, 50]
#   levels = [\"low\", \"high\"]     makes a feature ordinal, lowest first
# categories:
#   targets = [\"a\", \"b\"]         values that an edit may lead to
#   forbid = [[\"a\", \"b\"]]        changes from a to b that are not allowed
#   edits = \"set\"                or \"swap\", or \"flip\" for two values
";

impl Config {
    /// The text of a commented starting file for `table`, which comments call `name`.
    pub fn init(table: &Table, name: &str) -> Result<String> {
        let mut config = Config::default();
        config.data.missing = tokens(table);
        config.data.label = guess_label(table);
        config.data.ignore = idle_columns(table, config.data.label.as_deref());
        let labels = label_values(table, &config)?.map(|labels| labels.values).unwrap_or_default();
        let (features, notices) = FeatureTable::infer(table, &config)?;

        let mut text = String::new();
        let columns = table.columns.len();
        let _ = writeln!(text, "# Settings for {}: {} rows, {columns} columns.", one_line(name), table.rows);
        text.push_str(
            "# What follows a # is a comment; remove the # in front of a setting to switch it on.\n",
        );
        for notice in &notices {
            let _ = writeln!(text, "# Note: {}", one_line(notice));
        }
        text.push_str(
            "\n# Bins of every numeric feature: a number, \"auto\" or \"quantile:10\".\nbins = 10\n",
        );
        text.push_str(
            "# What an action must not break.\n# rules = [\"years_in_role <= years_at_company\"]\n",
        );
        text.push_str("\n[data]\n");
        write_data(&mut text, &config, &labels);
        text.push_str(
            "\n[cost]\nkind = \"mps\"  # or \"cet\", \"logshift\", \"l1\", \"table\"\n\n\
             [limits]\nmax_depth = 3\nmax_edits = 3\n\
             # min_leaf = 50\n# time_limit = 600  # seconds\n# memory_limit = \"4GB\"\n\n",
        );
        text.push_str(
            "# Features that move together: `to` changes by `factor` times the change of `from`.\n",
        );
        text.push_str("# [[links]]\n# from = \"education\"\n# to = \"age\"\n# factor = 2\n\n");
        text.push_str(LEGEND);
        for (feature, values) in features.features.iter().zip(&features.values) {
            write_feature(&mut text, feature, values);
        }
        Ok(text)
    }
}

fn write_data(text: &mut String, config: &Config, labels: &[String]) {
    match &config.data.label {
        Some(label) => {
            let _ = writeln!(text, "label = {}  # a guess; its values: {}", quote(label), list(labels));
            if let Some(desired) = labels.last() {
                let _ = writeln!(
                    text,
                    "desired = [{}]  # a guess: the outcome that people hope for",
                    quote(desired)
                );
            }
        }
        None => text.push_str("# label = \"…\"  # the column with the true outcome\n# desired = [\"…\"]\n"),
    }
    if config.data.ignore.is_empty() {
        text.push_str("# ignore = []  # columns that are neither features nor label\n");
    } else {
        let names: Vec<String> = config.data.ignore.iter().map(|name| quote(name)).collect();
        let _ = writeln!(
            text,
            "ignore = [{}]  # the same in all rows, or different in every row",
            names.join(", ")
        );
    }
    if config.data.missing.is_empty() {
        text.push_str("# missing = [\"?\"]  # texts that mean \"unknown\"\n");
    } else {
        let tokens: Vec<String> = config.data.missing.iter().map(|token| quote(token)).collect();
        let _ = writeln!(text, "missing = [{}]  # texts that mean \"unknown\"", tokens.join(", "));
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
    if words(&feature.name).iter().any(|word| PERSONAL.contains(&word.as_str())) {
        text.push_str("immutable = true  # suggested: nobody should be asked to change it\n");
    }
}

/// The column that is probably the label.
fn guess_label(table: &Table) -> Option<String> {
    let few = |name: &str| (2..=10).contains(&distinct_values(table, name));
    let known = LABELS.iter().find_map(|label| table.names().find(|name| name.eq_ignore_ascii_case(label)));
    let last = table.names().last().filter(|name| distinct_values(table, name) == 2);
    known.filter(|name| few(name)).or(last).map(String::from)
}

/// Columns that say nothing (one value) or nothing general (numbering the rows).
fn idle_columns(table: &Table, label: Option<&str>) -> Vec<String> {
    let idle = |name: &str| {
        let values = distinct_values(table, name);
        let numbers_rows = values == table.rows
            && table.rows > 2
            && words(name).last().is_some_and(|word| NUMBERING.contains(&word.as_str()));
        values <= 1 || numbers_rows
    };
    let names: Vec<String> =
        table.names().filter(|name| Some(*name) != label && idle(name)).map(String::from).collect();
    // If nothing else is left, the error about constant features says more than an empty file.
    if names.len() + usize::from(label.is_some()) >= table.columns.len() { Vec::new() } else { names }
}

fn distinct_values(table: &Table, name: &str) -> usize {
    match table.column(name).map(|column| &column.cells) {
        None => 0,
        Some(Cells::Text { levels, .. }) => levels.len(),
        Some(Cells::Numbers(numbers)) => {
            let mut known: Vec<f64> = numbers.iter().copied().filter(|number| !number.is_nan()).collect();
            known.sort_by(f64::total_cmp);
            known.dedup();
            known.len()
        }
    }
}

/// The "unknown" texts that occur in the table's text columns.
fn tokens(table: &Table) -> Vec<String> {
    let occurs = |token: &&&str| {
        table.columns.iter().any(|column| match &column.cells {
            Cells::Text { levels, .. } => levels.iter().any(|level| level == **token),
            Cells::Numbers(_) => false,
        })
    };
    TOKENS.iter().filter(occurs).map(|token| (*token).to_owned()).collect()
}

/// The words of a name such as `native-country`, `status_sex` or `MaritalStatus`, in lower case.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut small_before = false;
    for letter in name.chars() {
        if !letter.is_alphanumeric() || (letter.is_uppercase() && small_before) {
            words.push(String::new());
        }
        if letter.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(letter.to_lowercase());
        }
        small_before = letter.is_lowercase();
    }
    words.retain(|word| !word.is_empty());
    words
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
    use crate::table::{Column, ReadOptions, csv};
    use std::path::Path;

    fn started(table: &Table) -> (String, Config) {
        let text = Config::init(table, "t.csv").unwrap();
        let config =
            Config::parse(&text, Path::new("sogar.toml")).unwrap_or_else(|error| panic!("{error}\n{text}"));
        config.check(Some(table)).unwrap_or_else(|error| panic!("{error}\n{text}"));
        (text, config)
    }

    #[test]
    fn a_starting_file_reads_back_and_passes_the_check() {
        let table = csv::parse(
            b"customer id,age,MaritalStatus,mortgage,job.kind,sex:f,sex:m,const,y\n\
              1,30,single,1.5,\"a \"\"b\"\" \\ c\",1,0,x,no\n\
              2,40,married,2.5,?,0,1,x,yes\n\
              3,50,divorced,3.5,d,0,1,x,no\n",
            Path::new("t.csv"),
            &ReadOptions::default(),
        )
        .unwrap();
        let (text, config) = started(&table);
        assert_eq!(config.data.label.as_deref(), Some("y"));
        assert_eq!(config.data.desired, ["yes"]);
        assert_eq!(config.data.ignore, ["customer id", "const"]);
        assert_eq!(config.data.missing, ["?"]);
        let immutable: Vec<&str> = config
            .features
            .iter()
            .filter(|(_, setting)| setting.immutable == Some(true))
            .map(|(name, _)| name.as_str())
            .collect();
        assert_eq!(immutable, ["MaritalStatus", "age", "sex"]);
        assert!(config.features.contains_key("job.kind") && config.features.contains_key("mortgage"));
        assert!(text.contains("[features.age]  # integer, 30 to 50"), "{text}");
        assert!(text.contains("# binary") || text.contains("# categorical: f, m"), "{text}");
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

    #[test]
    fn names_are_taken_apart() {
        assert_eq!(words("native-country"), ["native", "country"]);
        assert_eq!(words("MaritalStatus"), ["marital", "status"]);
        assert_eq!(words("AGE"), ["age"]);
        assert_eq!(words("mortgage"), ["mortgage"]);
    }
}
