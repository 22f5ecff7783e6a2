//! A person: a row of the reference table, or a JSON object.
//!
//! `{"age": 41, "job": "clerk", "income": null}`: an object of column and value. An unknown value is `null`; a missing column is
//! an error, so that a mistyped name is not taken for a gap.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value as Json;

use super::value_of;
use sogar_base::error::{Error, ErrorKind, Result, suggest};
use sogar_base::files::read_bytes;
use sogar_front::describe::spoken;
use sogar_front::summary::Value;
use sogar_prepare::prepared::Prepared;
use sogar_table::config::DataConfig;
use sogar_table::feature::{Columns, Feature, Kind, exact_number, format_number, truth};
use sogar_table::table::is_token;

/// The person to explain.
#[derive(Debug, Clone, PartialEq)]
pub struct Person {
    /// Their name in messages.
    pub name: String,
    /// Their position in the reference table, if they are in it.
    pub row: Option<usize>,
    /// One value per feature, as in a [`sogar_table::feature::FeatureTable`].
    pub values: Vec<f64>,
    /// Notes about the values.
    pub notes: Vec<String>,
    /// Categories that are not in the reference table, as written.
    unseen: BTreeMap<usize, String>,
}

impl Person {
    /// A row of the reference table, by its position (the first is 0).
    pub fn of_row(prepared: &Prepared, row: usize) -> Result<Person> {
        let rows = prepared.table().rows;
        if row >= rows {
            let message = format!("the table has no row {}", row.saturating_add(1));
            return Err(Error::new(ErrorKind::Usage, message)
                .file(prepared.table_path())
                .help(format!("rows are counted from 1 (the first below the header) to {rows}")));
        }
        let name = format!("row {}", row + 1);
        let mut person = Person::new(name, prepared.table().row(row), BTreeMap::new());
        person.row = Some(row);
        person.note_gaps(&prepared.table().features);
        Ok(person)
    }

    /// Reads a person from a JSON file.
    pub fn read(prepared: &Prepared, path: &Path) -> Result<Person> {
        let name = path.file_stem().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        let bytes = read_bytes(path)?;
        Person::from_json(prepared, &bytes, &name).map_err(|error| error.file(path))
    }

    /// The person in a JSON object of column and value. `name` is their name in messages.
    pub fn from_json(prepared: &Prepared, json: &[u8], name: &str) -> Result<Person> {
        let entries: Entries = serde_json::from_slice(json).map_err(|cause| {
            fault(format!("not a person: {cause}"))
                .help("write an object of column and value, such as {\"age\": 41, \"job\": \"clerk\"}")
        })?;
        let mut entries = entries.unique()?;
        let features = &prepared.table().features;
        let data = &prepared.config().data;
        let mut person = Person::new(name.to_owned(), Vec::with_capacity(features.len()), BTreeMap::new());
        let mut absent = Vec::new();
        for (index, feature) in features.iter().enumerate() {
            let value = match take(&mut entries, feature)? {
                Some(json) => {
                    let cell = EntryValue::of(&json, data).map_err(|error| error.column(&feature.name))?;
                    cell.value(feature).map_err(|error| error.column(&feature.name))?
                }
                None => {
                    absent.push(feature.name.as_str());
                    FeatureValue::Is(f64::NAN)
                }
            };
            person.values.push(match value {
                FeatureValue::Is(value) => value,
                FeatureValue::Unseen(text) => {
                    person.unseen.insert(index, text);
                    feature.levels().len() as f64
                }
            });
        }
        let strange: Vec<&str> = entries.keys().map(String::as_str).collect();
        if !absent.is_empty() {
            return Err(lacking(&absent, &strange));
        }
        person.note_gaps(features);
        person.note_unseen(prepared);
        person.note_strangers(prepared, &strange);
        Ok(person)
    }

    fn new(name: String, values: Vec<f64>, unseen: BTreeMap<usize, String>) -> Person {
        Person { name, row: None, values, notes: Vec::new(), unseen }
    }

    /// A value as written; `None` if it is missing.
    pub(super) fn value(&self, features: &[Feature], feature: usize) -> Option<Value> {
        match self.unseen.get(&feature) {
            Some(text) => Some(Value::Level(text.clone())),
            None => value_of(&features[feature], self.values[feature]),
        }
    }

    fn note_gaps(&mut self, features: &[Feature]) {
        for (feature, value) in features.iter().zip(&self.values) {
            if value.is_nan() {
                self.notes.push(format!(
                    "`{}` is missing: it meets no condition of the kind “at most”, and no suggestion changes it",
                    feature.name
                ));
            } else if feature.is_code(*value) {
                self.notes.push(format!(
                    "`{}` is the special code {}: it meets no condition of the kind “at most”, and no suggestion changes it",
                    feature.name,
                    format_number(*value)
                ));
            }
        }
    }

    fn note_unseen(&mut self, prepared: &Prepared) {
        let features = &prepared.table().features;
        for (&feature, text) in &self.unseen {
            let Feature { name, .. } = &features[feature];
            let told = match text.as_str() {
                "" => format!("`{name}` is missing, which it never is in the reference table"),
                text => format!("`{name}` is {}, which the reference table never has", spoken(text)),
            };
            let near = suggest(text, features[feature].levels().iter().map(String::as_str));
            self.notes.push(format!("{told}; the model gets it as none of the known values ({near})"));
        }
        for (feature, &value) in self.values.iter().enumerate() {
            if features[feature].is_code(value) {
                continue;
            }
            let is_amount = |known: &&f64| !known.is_nan() && !features[feature].is_code(**known);
            let known = prepared.table().values[feature].iter().filter(is_amount);
            let (least, most) = known.fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), &value| {
                (least.min(value), most.max(value))
            });
            if features[feature].is_numeric() && (value < least || value > most) {
                self.notes.push(format!(
                    "`{}` is {}, outside of the reference table's values ({} to {})",
                    features[feature].name,
                    format_number(value),
                    format_number(least),
                    format_number(most)
                ));
            }
        }
    }

    /// Notes entries that no feature uses, unless the configuration ignores them.
    fn note_strangers(&mut self, prepared: &Prepared, strange: &[&str]) {
        let data = &prepared.config().data;
        for &name in strange {
            if data.label.as_deref() != Some(name) && !data.ignore.iter().any(|ignored| ignored == name) {
                self.notes.push(format!("`{name}` is not a feature of the reference table and was not used"));
            }
        }
    }
}

fn fault(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Table, message)
}

fn lacking(absent: &[&str], strange: &[&str]) -> Error {
    let shown: Vec<String> = absent.iter().take(5).map(|name| format!("`{name}`")).collect();
    let more = if absent.len() > 5 { format!(" and {} more", absent.len() - 5) } else { String::new() };
    let error = fault(format!("the person lacks {}{more}", shown.join(", ")));
    let mistyped = strange
        .iter()
        .find(|name| absent.iter().any(|wanted| suggest(wanted, [**name]).starts_with("did you mean")));
    error.help(match mistyped {
        Some(name) => {
            format!("`{name}` is not a feature: correct the name; write null for a value that is not known")
        }
        None => "every feature needs a value; write null for one that is not known".to_owned(),
    })
}

/// The entry of a feature: under its own name, its column's name, or as one-hot columns.
fn take(entries: &mut BTreeMap<String, Json>, feature: &Feature) -> Result<Option<Json>> {
    if let Some(value) = entries.remove(&feature.name) {
        return Ok(Some(value));
    }
    let columns = match &feature.columns {
        Columns::One(column) => return Ok(entries.remove(column)),
        Columns::OneHot(columns) => columns,
    };
    if !columns.iter().flatten().all(|column| entries.contains_key(column)) {
        return Ok(None);
    }
    let mut set = Vec::new();
    let named =
        columns.iter().zip(feature.levels()).filter_map(|(column, level)| Some((column.as_ref()?, level)));
    for (column, level) in named {
        match entries.remove(column).unwrap_or(Json::Null) {
            Json::Bool(true) => set.push(level),
            Json::Number(number) if number.as_f64() == Some(1.0) => set.push(level),
            Json::Bool(false) => {}
            Json::String(text) if truth(text.trim()) == Some(true) => set.push(level),
            Json::String(text) if truth(text.trim()) == Some(false) => {}
            Json::Number(number) if number.as_f64() == Some(0.0) => {}
            other => return Err(fault(format!("`{other}` is neither 0 nor 1")).column(column)),
        }
    }
    let otherwise = columns.iter().position(Option::is_none).map(|level| &feature.levels()[level]);
    match set.as_slice() {
        [] => Ok(Some(otherwise.map_or(Json::Null, |level| Json::String(level.clone())))),
        [level] => Ok(Some(Json::String((*level).clone()))),
        _ => Err(fault(format!("more than one of the columns of `{}` is 1", feature.name))),
    }
}

/// The value of an entry.
enum EntryValue {
    Missing,
    Number(f64),
    Truth(bool),
    Text(String),
}

/// A feature's value, or an unknown category.
enum FeatureValue {
    Is(f64),
    Unseen(String),
}

impl EntryValue {
    fn of(json: &Json, data: &DataConfig) -> Result<EntryValue> {
        let tokens = &data.missing;
        Ok(match json {
            Json::Null => EntryValue::Missing,
            Json::Bool(truth) => EntryValue::Truth(*truth),
            // 64-bit floats cannot represent all large whole numbers.
            Json::Number(number) if !number.is_f64() && exact_number(&number.to_string()).is_none() => {
                EntryValue::Text(number.to_string())
            }
            Json::Number(number) => match number.as_f64().filter(|number| number.is_finite()) {
                Some(number) if is_token(tokens, &format_number(number)) => EntryValue::Missing,
                Some(number) => EntryValue::Number(number + 0.0),
                None => return Err(fault(format!("`{number}` is not a finite number"))),
            },
            Json::String(text) => match if data.trim { text.trim() } else { text } {
                text if text.is_empty() || is_token(tokens, text) => EntryValue::Missing,
                text => EntryValue::Text(text.to_owned()),
            },
            Json::Array(_) | Json::Object(_) => {
                return Err(fault("a list or an object is no value").help("write a number, a text or null"));
            }
        })
    }

    fn value(self, feature: &Feature) -> Result<FeatureValue> {
        match &feature.kind {
            Kind::Real | Kind::Integer => self.number().map(FeatureValue::Is),
            Kind::Ordinal { levels } => match self.level(feature) {
                Ok(level) => Ok(FeatureValue::Is(level.unwrap_or(f64::NAN))),
                Err(text) => Err(fault(format!("`{text}` is not one of the feature's levels"))
                    .help(suggest(&text, levels.iter().map(String::as_str)))),
            },
            Kind::Categorical { .. } | Kind::Binary { .. } => Ok(match self.level(feature) {
                Ok(Some(level)) => FeatureValue::Is(level),
                Ok(None) => match feature.missing_level() {
                    Some(level) => FeatureValue::Is(level as f64),
                    None => FeatureValue::Unseen(String::new()),
                },
                Err(text) => FeatureValue::Unseen(text),
            }),
        }
    }

    fn number(self) -> Result<f64> {
        let text = match self {
            EntryValue::Missing => return Ok(f64::NAN),
            EntryValue::Number(number) => return Ok(number),
            EntryValue::Truth(truth) => truth.to_string(),
            EntryValue::Text(text) => text,
        };
        let number = text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
        number.ok_or_else(|| {
            fault(format!("`{text}` is text, but the feature is a number"))
                .help("write a number, or null if it is not known")
        })
    }

    /// The index of the level; `None` if the value is missing, the text if there is no such level.
    fn level(self, feature: &Feature) -> std::result::Result<Option<f64>, String> {
        let texts = match self {
            EntryValue::Missing => return Ok(None),
            EntryValue::Number(number) => vec![format_number(number)],
            EntryValue::Text(text) => vec![text],
            // Tables spell booleans in many ways.
            EntryValue::Truth(true) => ["true", "True", "TRUE", "1", "yes"].map(String::from).to_vec(),
            EntryValue::Truth(false) => ["false", "False", "FALSE", "0", "no"].map(String::from).to_vec(),
        };
        let known = texts.iter().find_map(|text| feature.level_index(text));
        known.map(|level| Some(level as f64)).ok_or_else(|| texts[0].clone())
    }
}

/// The entries of an object in the order of the file, duplicates included.
struct Entries(Vec<(String, Json)>);

impl Entries {
    fn unique(self) -> Result<BTreeMap<String, Json>> {
        let mut unique = BTreeMap::new();
        for (name, value) in self.0 {
            if unique.contains_key(&name) {
                return Err(fault("this entry is there twice").column(name));
            }
            unique.insert(name, value);
        }
        Ok(unique)
    }
}

impl<'de> Deserialize<'de> for Entries {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = Entries;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of column and value")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Entries, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Entries(entries))
            }
        }
        deserializer.deserialize_map(Object)
    }
}
