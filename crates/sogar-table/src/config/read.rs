//! Reads `sogar.toml`: errors name the line, and suggest the nearest key for a misspelt one.

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};

use super::{Config, KindName, parse_bytes};
use crate::feature::format_number;
use crate::table::ReadOptions;
use sogar_base::error::{Error, ErrorKind, Faults, Result, suggest};
use sogar_base::files::read_text;

impl Config {
    /// Reads a configuration file.
    pub fn read(path: &Path) -> Result<Config> {
        Config::parse(&read_text(path)?, path)
    }

    /// Parses a configuration; `path` is its name in messages.
    ///
    /// ```
    /// use sogar_table::config::Config;
    /// let config = Config::parse("[data]\nlabel = \"credit\"\n", "sogar.toml".as_ref())?;
    /// assert_eq!(config.data.label.as_deref(), Some("credit"));
    /// # Ok::<(), sogar_base::Error>(())
    /// ```
    pub fn parse(text: &str, path: &Path) -> Result<Config> {
        match toml::from_str(text) {
            Ok(config) => Ok(config),
            Err(first) => Err(all_faults(text, &first).file(path)),
        }
    }

    /// Parses a configuration in JSON, with the same keys.
    ///
    /// ```
    /// use sogar_table::config::Config;
    /// let config = Config::from_json(r#"{"limits": {"max_depth": 2}}"#)?;
    /// assert_eq!(config.limits.max_depth, Some(2));
    /// # Ok::<(), sogar_base::Error>(())
    /// ```
    pub fn from_json(text: &str) -> Result<Config> {
        serde_json::from_str(text).map_err(|cause| {
            // The position in the JSON means nothing to a user who wrote a dictionary or arguments.
            let message = cause.to_string();
            let message = message.rsplit_once(" at line ").map_or(message.as_str(), |(what, _)| what);
            let (message, help) = explain(message);
            let error = Error::new(ErrorKind::Config, message);
            if help.is_empty() { error } else { error.help(help) }
        })
    }

    /// The JSON Schema of the file.
    pub fn schema() -> serde_json::Value {
        schemars::schema_for!(Config).to_value()
    }

    /// How to read the table, according to this configuration.
    pub fn read_options(&self) -> Result<ReadOptions> {
        let mut options = ReadOptions {
            delimiter: self.data.delimiter.as_deref().map(delimiter).transpose()?,
            missing: self.data.missing.clone(),
            decimal_comma: match self.data.decimal.as_deref() {
                None | Some(".") => false,
                Some(",") => true,
                Some(other) => {
                    let message = format!("data.decimal: `{other}` is no decimal sign");
                    return Err(Error::new(ErrorKind::Config, message).help("write \".\" or \",\""));
                }
            },
            text: self.data.ignore.clone(),
            numbers: self.data.weight.iter().cloned().collect(),
            trim: self.data.trim,
            // An invalid amount is an error of the limits, and reported there.
            memory: self.limits.memory_limit.as_deref().and_then(|amount| parse_bytes(amount).ok()),
        };
        for (name, feature) in &self.features {
            match feature.kind {
                Some(KindName::Numeric | KindName::Real | KindName::Integer) => {
                    options.numbers.push(name.clone());
                }
                Some(KindName::Ordinal | KindName::Categorical) => options.text.push(name.clone()),
                None if !feature.levels.is_empty() => options.text.push(name.clone()),
                Some(KindName::Binary) | None => {}
            }
        }
        Ok(options)
    }
}

/// Limit of errors reported for one file.
const MOST_FAULTS: usize = 50;

/// All errors of a text whose first error is known. Blanks out each setting that cannot be read, and parses the rest again.
fn all_faults(text: &str, first: &toml::de::Error) -> Error {
    let mut faults = Faults::default();
    faults.add(fault_at(text, first));
    let mut lines: Vec<&str> = text.lines().collect();
    let mut at = line_of(text, first);
    // Text that is not TOML has only one error: what follows it is undefined.
    if text.parse::<toml::Table>().is_ok() {
        for _ in 1..MOST_FAULTS {
            let Some(line) = at.filter(|&line| line < lines.len() && !lines[line].is_empty()) else { break };
            let is_header = |line: &str| line.trim_start().starts_with('[');
            let block = if is_header(lines[line]) {
                1 + lines[line + 1..].iter().take_while(|line| !is_header(line)).count()
            } else {
                1
            };
            lines[line..line + block].fill("");
            let rest = lines.join("\n");
            match toml::from_str::<Config>(&rest) {
                Ok(config) => {
                    faults.take(config.check(None));
                    break;
                }
                Err(_) if rest.parse::<toml::Table>().is_err() => break,
                Err(next) => {
                    faults.add(fault_at(&rest, &next));
                    at = line_of(&rest, &next);
                }
            }
        }
    }
    match faults.finish() {
        Err(error) => error,
        Ok(()) => fault_at(text, first),
    }
}

/// The line of an error, from 0.
fn line_of(text: &str, cause: &toml::de::Error) -> Option<usize> {
    let start = cause.span()?.start.min(text.len());
    Some(text.as_bytes()[..start].iter().filter(|byte| **byte == b'\n').count())
}

/// The parser's message, with its line and a remedy.
fn fault_at(text: &str, cause: &toml::de::Error) -> Error {
    let (message, help) = explain(cause.message());
    let mut error = Error::new(ErrorKind::Config, message);
    if let Some(line) = line_of(text, cause) {
        error = error.row(line + 1);
    }
    if help.is_empty() { error } else { error.help(help) }
}

fn delimiter(text: &str) -> Result<u8> {
    match text.as_bytes() {
        _ if text == "tab" || text == "\\t" => Ok(b'\t'),
        [byte] if byte.is_ascii() && !matches!(byte, b'"' | b'\n' | b'\r') => Ok(*byte),
        _ => Err(Error::new(ErrorKind::Config, format!("data.delimiter: `{text}` is not one character"))
            .help("write \",\", \";\", \"|\" or \"tab\"")),
    }
}

/// The parser's message in plain words, and a remedy.
fn explain(message: &str) -> (String, String) {
    let quoted: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    if let Some((unknown, known)) = quoted.split_first() {
        if message.starts_with("unknown field") {
            let help = if known.is_empty() { String::new() } else { suggest(unknown, known.iter().copied()) };
            return (format!("unknown key `{unknown}`"), help);
        }
        if message.starts_with("unknown variant") {
            let known = known.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ");
            return (format!("\"{unknown}\" is not possible here"), format!("choose one of {known}"));
        }
    }
    if message.contains("untagged enum Bins") {
        let help = "write a number of bins, \"auto\", \"all\", \"quantile:B\" or a list of edges";
        return ("this setting of `bins` is not understood".into(), help.into());
    }
    if message.starts_with("invalid value: integer") && (message.contains("u32") || message.contains("u64")) {
        let number = quoted.first().copied().unwrap_or_default();
        return (format!("{number} is out of range"), "write a whole number that is not negative".into());
    }
    if message.starts_with("invalid type: floating point") && message.contains("u32") {
        let number = quoted.first().copied().unwrap_or_default();
        return (format!("{number} is not a whole number"), String::new());
    }
    if message.starts_with("invalid type:") && message.contains("expected a string") {
        return (message.to_owned(), "put the value in quotes".into());
    }
    (message.to_owned(), String::new())
}

/// A list of strings, written as a list or as a single value; numbers and booleans need no quotes.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum OneOrMany {
    /// A single value.
    One(Scalar),
    /// A list.
    Many(Vec<Scalar>),
}

/// One value of a table.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum Scalar {
    /// A boolean.
    Truth(bool),
    /// A whole number.
    Whole(i64),
    /// A number.
    Number(f64),
    /// A string.
    Text(String),
}

impl Scalar {
    fn text(self) -> String {
        match self {
            Scalar::Truth(truth) => truth.to_string(),
            Scalar::Whole(number) => number.to_string(),
            Scalar::Number(number) => format_number(number),
            Scalar::Text(text) => text,
        }
    }
}

pub(super) fn one_or_many<'de, D: Deserializer<'de>>(input: D) -> std::result::Result<Vec<String>, D::Error> {
    let values = OneOrMany::deserialize(input).map_err(|_| {
        serde::de::Error::custom("expected a value or a list of values, such as [\"a\", \"b\"]")
    })?;
    Ok(match values {
        OneOrMany::One(value) => vec![value.text()],
        OneOrMany::Many(values) => values.into_iter().map(Scalar::text).collect(),
    })
}

pub(super) fn optional_one_or_many<'de, D: Deserializer<'de>>(
    input: D,
) -> std::result::Result<Option<Vec<String>>, D::Error> {
    one_or_many(input).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Bins;

    fn read(text: &str) -> Result<Config> {
        Config::parse(text, Path::new("sogar.toml"))
    }

    fn message(text: &str) -> String {
        let error = read(text).unwrap_err();
        format!("{error} | {}", error.remedy().unwrap_or_default())
    }

    #[test]
    fn an_empty_file_is_the_default() {
        assert_eq!(read("").unwrap(), Config::default());
    }

    #[test]
    fn a_configuration_survives_writing_and_reading() {
        let text = "bins = \"auto\"\nrules = [\"a <= b\"]\n[data]\nlabel = \"y\"\ndesired = [1, \"x\", true]\n\
                    [features.age]\nimmutable = true\nrange = [1, 2.5]\nsteps = [1, 2]\nbins = [3, 4.5]\n\
                    [features.job]\ntargets = \"clerk\"\nforbid = [[\"a\", \"b\"]]\n\
                    [[links]]\nfrom = \"a\"\nto = \"b\"\n[limits]\nmemory_limit = \"4GB\"\n";
        let config = read(text).unwrap();
        assert_eq!(config.data.desired, ["1", "x", "true"]);
        assert_eq!(config.features["job"].targets.as_deref(), Some(&["clerk".to_owned()][..]));
        assert_eq!(config.features["age"].bins, Some(Bins::Edges(vec![3.0, 4.5])));
        assert_eq!(config.links[0].factor, 1.0);
        assert_eq!(read(&toml::to_string(&config).unwrap()).unwrap(), config);
        let json = serde_json::to_value(&config).unwrap();
        assert_eq!(serde_json::from_value::<Config>(json).unwrap(), config);
    }

    #[test]
    fn a_misspelt_key_is_answered_with_line_and_nearest() {
        let fault = message("[data]\nlabl = \"x\"\n");
        assert_eq!(fault, "sogar.toml, line 2: unknown key `labl` | did you mean `label`?");
        let fault = message("[features.age]\nimutable = true\n");
        assert!(fault.contains("line 2") && fault.contains("did you mean `immutable`?"), "{fault}");
        let fault = message("[featurs.age]\n");
        assert!(fault.contains("did you mean `features`?"), "{fault}");
    }

    #[test]
    fn all_faults_of_a_file_are_reported_at_once() {
        let text = "bins = -3\n[data]\nlabl = \"x\"\nlabel = 3\n[featurs.age]\nimmutable = true\n[limits]\nmax_depth = 99\n";
        let fault = message(text);
        assert!(fault.starts_with("sogar.toml: 5 faults:\n"), "{fault}");
        for part in [
            "line 1: this setting of `bins`",
            "line 3: unknown key `labl` (did you mean `label`?)",
            "line 4: invalid type",
            "line 5: unknown key `featurs` (did you mean `features`?)",
            "limits.max_depth = 99",
        ] {
            assert!(fault.contains(part), "{part}: {fault}");
        }
        assert_eq!(
            message("[data]\nlabel = \"x\n[limits]\nmax_depth = 99\n").matches("line").count(),
            1,
            "no TOML"
        );
        let list = "[data]\nignore = [\n  1,\n  2,\n]\nlabl = 1\n";
        assert!(message(list).contains("line 2") || message(list).contains("line 3"), "{}", message(list));
    }

    #[test]
    fn wrong_values_are_explained() {
        let fault = message("[limits]\nmax_depth = -1\n");
        assert!(fault.starts_with("sogar.toml, line 2: ") && fault.contains("not negative"), "{fault}");
        let fault = message("[limits]\n\nmax_depth = 2.5\n");
        assert!(fault.starts_with("sogar.toml, line 3: 2.5 is not a whole number"), "{fault}");
        let fault = message("bins = -3\n");
        assert!(fault.contains("`bins` is not understood"), "{fault}");
        let fault = message("[features.age]\nkind = \"number\"\n");
        assert!(
            fault.contains("\"number\" is not possible here") && fault.contains("\"numeric\""),
            "{fault}"
        );
        let fault = message("[data]\nlabel = 3\n");
        assert!(fault.contains("put the value in quotes"), "{fault}");
        let fault = message("[data]\ndesired = [[1]]\n");
        assert!(fault.contains("expected a value or a list of values"), "{fault}");
        assert!(message("[data\n").contains("line 1"));
    }

    #[test]
    fn the_same_is_read_from_json() {
        let config = Config::from_json(r#"{"data": {"label": "y", "desired": 1}, "bins": "auto"}"#).unwrap();
        assert_eq!(config, read("bins = \"auto\"\n[data]\nlabel = \"y\"\ndesired = 1\n").unwrap());
        let fault = |text: &str| {
            let error = Config::from_json(text).unwrap_err();
            format!("{error} | {}", error.remedy().unwrap_or(""))
        };
        assert_eq!(fault(r#"{"data": {"labl": "y"}}"#), "unknown key `labl` | did you mean `label`?");
        assert!(fault(r#"{"limits": {"max_depth": -1}}"#).contains("not negative"));
        assert!(!fault("{").contains("line"), "a place in JSON that nobody wrote");
    }

    #[test]
    fn reading_options_follow_the_kinds() {
        let config = read(
            "[data]\ndelimiter = \"tab\"\nignore = [\"id\"]\nmissing = [\"?\"]\n\
             [features]\na.kind = \"integer\"\nb.kind = \"categorical\"\nc.levels = [1, 2]\nd.kind = \"binary\"\n",
        )
        .unwrap();
        let options = config.read_options().unwrap();
        assert_eq!(options.delimiter, Some(b'\t'));
        assert_eq!(options.numbers, ["a"]);
        assert_eq!(options.text, ["id", "b", "c"]);
        assert_eq!(options.missing, ["?"]);
        assert!(read("[data]\ndelimiter = \"ab\"\n").unwrap().read_options().is_err());
    }

    #[test]
    fn the_schema_names_every_section() {
        let schema = Config::schema();
        for section in ["data", "model", "features", "links", "rules", "bins", "cost", "limits", "seed"] {
            assert!(schema["properties"][section].is_object(), "{section}");
        }
    }
}
