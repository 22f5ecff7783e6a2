//! The texts for people, from one message file per language.
//!
//! `messages/en.toml` is complete and defines the keys, and the names in braces that each text may and must have. A translation
//! is a file of the same form. A missing text is that of the built-in language of the same code, otherwise English, with a
//! warning; an unknown key, other names in braces or markup is an error: it would show in a letter.
//!
//! A file may also name features, their values and outcomes (`[features.NAME]`, `[outcomes]`), which the configuration has in one
//! language only.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::Deserialize;

use super::Explanation;
use super::codes::{Direction, markup_in};
use sogar_base::error::{Error, ErrorKind, Result, suggest};
use sogar_base::files::read_text;
use sogar_base::markup::escaped;
use sogar_base::text::spoken_number;
use sogar_front::describe::Predicate;
use sogar_front::summary::Value;
use sogar_table::feature::{Feature, feature_index, format_number};

const ENGLISH: &str = include_str!("messages/en.toml");
const BUILT_IN: [(&str, &str); 2] = [("en", ENGLISH), ("de", include_str!("messages/de.toml"))];

/// The texts of one language.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Messages {
    /// The language's code, such as `en`.
    pub language: String,
    decimal: Option<String>,
    thousands: Option<String>,
    #[serde(default)]
    text: BTreeMap<String, String>,
    /// What letters call features, by their names in the table.
    #[serde(default)]
    features: BTreeMap<String, FeatureWords>,
    /// What letters call classes.
    #[serde(default)]
    outcomes: BTreeMap<String, String>,
}

/// What letters call a feature and its values; the configuration's words where there are none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct FeatureWords {
    display: Option<String>,
    unit: Option<String>,
    /// Categories, and special codes of numbers.
    values: BTreeMap<String, String>,
}

impl Messages {
    /// English.
    pub fn english() -> Messages {
        parse(ENGLISH).unwrap_or_else(|_| Messages {
            language: "en".into(),
            decimal: None,
            thousands: None,
            text: BTreeMap::new(),
            features: BTreeMap::new(),
            outcomes: BTreeMap::new(),
        })
    }

    /// A built-in language by its code, or an error with a suggestion.
    pub fn built_in(language: &str) -> Result<Messages> {
        match built_in(language) {
            Some(text) => parse(text),
            None => Err(Error::new(ErrorKind::Usage, format!("there are no messages in `{language}`")).help(
                format!(
                    "built in are {}; write the texts of another language into a file (--messages FILE)",
                    BUILT_IN.map(|(name, _)| format!("`{name}`")).join(", ")
                ),
            )),
        }
    }

    /// Reads a translation. Also returns warnings about texts that it lacks.
    pub fn read(path: &Path) -> Result<(Messages, Vec<String>)> {
        let text = read_text(path)?;
        parse(&text).and_then(checked).map_err(|error| error.file(path))
    }

    /// A text with its names filled in.
    pub(super) fn say(&self, key: &str, values: &[(&str, &str)]) -> String {
        fill(self.template(key), values)
    }

    /// The same as HTML: the text is escaped, the values are HTML already.
    pub(super) fn html(&self, key: &str, values: &[(&str, &str)]) -> String {
        fill(&escaped(self.template(key)), values)
    }

    fn template(&self, key: &str) -> &str {
        self.text.get(key).map_or("", String::as_str)
    }

    /// Fails if it names features, values or classes that there are not: the words would never be used.
    pub(super) fn require_known(&self, features: &[Feature], classes: &[String]) -> Result<()> {
        let fault = |message: String| Error::new(ErrorKind::Config, message);
        for (name, words) in &self.features {
            let index = feature_index(features, name).map_err(|error| {
                fault(format!("the messages: {error}")).help(error.remedy().unwrap_or_default())
            })?;
            let feature = &features[index];
            let known = |value: &str| {
                feature.level_index(value).is_some()
                    || feature.codes.iter().any(|code| format_number(*code) == value)
            };
            if let Some(value) = words.values.keys().find(|value| !known(value)) {
                return Err(fault(format!(
                    "the messages name the value `{value}`, which `{name}` does not have"
                ))
                .help(suggest(value, feature.levels().iter().map(String::as_str))));
            }
        }
        match self.outcomes.keys().find(|class| !classes.contains(class)) {
            Some(class) => Err(fault(format!("the messages name the outcome `{class}`, which there is not"))
                .help(suggest(class, classes.iter().map(String::as_str)))),
            None => Ok(()),
        }
    }

    /// What a feature is called.
    pub(super) fn name(&self, feature: &Feature) -> String {
        let words = self.features.get(&feature.name).and_then(|words| words.display.clone());
        words.unwrap_or_else(|| feature.plain_name())
    }

    /// What a class is called, if this file says so.
    pub(super) fn outcome(&self, class: &str) -> Option<&str> {
        self.outcomes.get(class).map(String::as_str)
    }

    fn decimal(&self) -> &str {
        self.decimal.as_deref().unwrap_or(".")
    }

    /// A number as the language writes it: to six digits, and to two decimals at least, since amounts of money are no rounder.
    pub(super) fn number(&self, number: f64) -> String {
        let cents = (100.0 * number).round() / 100.0;
        let plain = if number.abs() < 1e4 { spoken_number(number) } else { format_number(cents) };
        if plain.contains('e') {
            return plain.replace('.', self.decimal());
        }
        let (sign, digits) = plain.strip_prefix('-').map_or(("", plain.as_str()), |digits| ("−", digits));
        let (whole, rest) = digits.split_once('.').unwrap_or((digits, ""));
        let mut grouped = String::new();
        for (place, digit) in whole.chars().enumerate() {
            // Four digits, such as years, stay together.
            if place > 0 && whole.len() > 4 && (whole.len() - place).is_multiple_of(3) {
                grouped += self.thousands.as_deref().unwrap_or(",");
            }
            grouped.push(digit);
        }
        let point = if rest.is_empty() { "" } else { self.decimal() };
        format!("{sign}{grouped}{point}{rest}")
    }

    /// A share as a percentage: whole, or with one digit near the ends.
    pub(super) fn percent(&self, share: f64) -> String {
        let percent = 100.0 * share;
        let digits = if (1.0..99.0).contains(&percent) || percent == 0.0 || percent == 100.0 { 0 } else { 1 };
        format!("{percent:.digits$}").replace('.', self.decimal())
    }

    /// Two shares as percentages, with as many digits as tell them apart.
    pub(super) fn percents(&self, one: f64, other: f64) -> [String; 2] {
        let mut told = [self.percent(one), self.percent(other)];
        for digits in 1..=6 {
            if told[0] != told[1] || one == other {
                break;
            }
            told = [one, other].map(|share| {
                let text = format!("{:.digits$}", 100.0 * share);
                text.trim_end_matches('0').trim_end_matches('.').replace('.', self.decimal())
            });
        }
        told
    }

    /// What this file names in part: what it does not name, letters call as the configuration does.
    pub fn unnamed(&self, explanation: &Explanation) -> Option<String> {
        let mut rest = Vec::new();
        // A file may name values alone.
        let names = self.features.values().any(|words| words.display.is_some());
        if !self.features.is_empty() {
            for feature in &explanation.features {
                let words = self.features.get(&feature.name);
                let named = words.is_some_and(|words| words.display.is_some());
                if names && !named && !explanation.protected.contains(&feature.name) {
                    rest.push(format!("`{}`", feature.name));
                }
                let values = words.map(|words| &words.values).filter(|values| !values.is_empty());
                let lost = values
                    .into_iter()
                    .flat_map(|values| feature.levels().iter().filter(|level| !values.contains_key(*level)));
                rest.extend(lost.map(|level| format!("the value `{level}` of `{}`", feature.name)));
            }
        }
        if !self.outcomes.is_empty() {
            let lost = explanation.classes.iter().filter(|class| !self.outcomes.contains_key(*class));
            rest.extend(lost.map(|class| format!("the outcome `{class}`")));
        }
        (!rest.is_empty()).then(|| {
            format!(
                "the messages lack names, so that letters use those of the configuration: {}",
                rest.join(", ")
            )
        })
    }

    /// A value with its unit. A special code is no amount.
    pub(super) fn value(&self, feature: &Feature, value: Option<&Value>) -> String {
        let words = self.features.get(&feature.name);
        let named = |text: &str| words.and_then(|words| words.values.get(text)).cloned();
        match value {
            Some(Value::Number(code)) if feature.is_code(*code) => {
                let code = format_number(*code);
                named(&code).unwrap_or_else(|| self.say("special", &[("code", &code)]))
            }
            Some(Value::Number(number)) => match words.and_then(|words| words.unit.as_ref()) {
                Some(unit) => format!("{} {unit}", self.number(*number)),
                None => feature.with_unit(self.number(*number)),
            },
            Some(Value::Level(level)) if !level.is_empty() => named(level).unwrap_or_else(|| level.clone()),
            _ => self.say("missing", &[]),
        }
    }

    /// A reason without a text of its own.
    pub(super) fn reason(
        &self,
        feature: &Feature,
        direction: Option<&Direction>,
        value: Option<&Value>,
    ) -> String {
        let key = match direction {
            Some(Direction::Low) => "reason_low",
            Some(Direction::High) => "reason_high",
            Some(Direction::Missing) => "reason_missing",
            Some(Direction::Value(_)) | None => "reason_value",
        };
        let (name, value) = (capitalised(&self.name(feature)), self.value(feature, value));
        self.say(key, &[("feature", &name), ("value", &value)])
    }

    /// What a path says about a feature.
    pub(super) fn condition(&self, feature: &Feature, predicate: &Predicate) -> String {
        let name = self.name(feature);
        let value = |value: &Value| match (self.value(feature, Some(value)), value) {
            (text, Value::Number(_)) => text,
            (text, Value::Level(_)) => self.say("quoted", &[("value", &text)]),
        };
        let one = |key: &str, only: &Value| self.say(key, &[("feature", &name), ("value", &value(only))]);
        let two = |key: &str, low: &Value, high: &Value| {
            self.say(key, &[("feature", &name), ("low", &value(low)), ("high", &value(high))])
        };
        match predicate {
            Predicate::Is(only) => one("is", only),
            Predicate::IsNot(values) => {
                let values: Vec<String> = values.iter().map(value).collect();
                self.say("is_not", &[("feature", &name), ("value", &self.either(&values))])
            }
            Predicate::AtMost(most) => one("at_most", most),
            Predicate::AtLeast(least) => one("at_least", least),
            Predicate::Between(low, high) => two("between", low, high),
            Predicate::Above(edge) => one("above", edge),
            Predicate::AboveAtMost(low, high) => two("above_at_most", low, high),
            Predicate::OrCode(amount, codes) => {
                let codes: Vec<String> = codes.iter().map(value).collect();
                let mut parts = vec![self.condition(feature, amount)];
                parts.extend(codes);
                self.either(&parts)
            }
        }
    }

    /// Parts joined by commas and, before the last, by “or”.
    fn either(&self, parts: &[String]) -> String {
        match parts {
            [] => String::new(),
            [one] => one.clone(),
            [init @ .., last] => self.say("or", &[("one", &init.join(", ")), ("other", last)]),
        }
    }
}

fn parse(text: &str) -> Result<Messages> {
    toml::from_str(text).map_err(|cause| {
        Error::new(ErrorKind::Config, format!("not a file of messages: {}", cause.message())).help(
            "write `language` and the texts under [text], as in the English file that docs/LETTERS.md names",
        )
    })
}

fn built_in(language: &str) -> Option<&'static str> {
    BUILT_IN.iter().find(|(name, _)| *name == language).map(|(_, text)| *text)
}

/// A text that begins with a capital letter.
pub(super) fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// The texts with those of the built-in language for what is missing; English ones come with warnings.
fn checked(mut messages: Messages) -> Result<(Messages, Vec<String>)> {
    let english = parse(ENGLISH)?;
    let fault = |message: String| Error::new(ErrorKind::Config, message);
    let markup = |key: &str, text: &str| match markup_in(text) {
        Some(tag) => Err(fault(format!("the message `{key}` has markup, `{tag}`")).help("write plain text")),
        None => Ok(()),
    };
    for (key, text) in &messages.text {
        let Some(original) = english.text.get(key) else {
            return Err(fault(format!("`{key}` is not a message"))
                .help(suggest(key, english.text.keys().map(String::as_str))));
        };
        markup(key, text)?;
        let (wanted, found) = (names(original), names(text));
        if let Some(unknown) = found.difference(&wanted).next() {
            return Err(fault(format!("the message `{key}` has {{{unknown}}}, which nothing fills in"))
                .help(format!("the English text is: {original}")));
        }
        if let Some(lost) = wanted.difference(&found).next() {
            return Err(fault(format!("the message `{key}` lacks {{{lost}}}"))
                .help(format!("the English text is: {original}")));
        }
    }
    for (name, words) in &messages.features {
        let texts = words.display.iter().chain(&words.unit).chain(words.values.values());
        texts.into_iter().try_for_each(|text| markup(name, text))?;
    }
    messages.outcomes.iter().try_for_each(|(class, text)| markup(class, text))?;
    let own = built_in(&messages.language).map(parse).transpose()?;
    let (usual, translated) = own.map_or((english, false), |own| (own, true));
    messages.decimal = messages.decimal.or(usual.decimal);
    messages.thousands = messages.thousands.or(usual.thousands);
    let mut english_keys = Vec::new();
    for (key, text) in usual.text {
        if let Entry::Vacant(missing) = messages.text.entry(key) {
            english_keys.push(format!("`{}`", missing.key()));
            missing.insert(text);
        }
    }
    let warning =
        format!("messages are missing, so that their English texts are used: {}", english_keys.join(", "));
    let warnings = if translated || english_keys.is_empty() { Vec::new() } else { vec![warning] };
    Ok((messages, warnings))
}

/// The names in braces.
fn names(template: &str) -> BTreeSet<&str> {
    template.split('{').skip(1).filter_map(|part| Some(part.split_once('}')?.0)).collect()
}

/// Fills in names in one pass: what is filled in is not read again.
fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let mut filled = String::with_capacity(template.len());
    let mut parts = template.split('{');
    filled += parts.next().unwrap_or_default();
    for part in parts {
        match part.split_once('}') {
            Some((name, rest)) => {
                filled += values.iter().find(|(known, _)| *known == name).map_or("", |(_, value)| value);
                filled += rest;
            }
            None => filled += part,
        }
    }
    filled
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_languages_are_complete() {
        for (name, text) in BUILT_IN {
            let messages = checked(parse(text).unwrap()).unwrap().0;
            assert_eq!(
                (messages.language.as_str(), Messages::built_in(name).unwrap()),
                (name, messages.clone())
            );
            assert!(messages.text.keys().eq(Messages::english().text.keys()), "{name}");
            assert!(messages.decimal.is_some() && messages.thousands.is_some());
        }
        assert!(Messages::built_in("fr").unwrap_err().to_string().contains("no messages in `fr`"));
    }

    #[test]
    fn a_missing_text_is_english_and_warned_about_and_other_defects_are_errors() {
        let file =
            |text: &str| format!("language = \"xx\"\ndecimal = \".\"\nthousands = \" \"\n[text]\n{text}\n");
        let (messages, warnings) = checked(parse(&file("ways = \"Vias\"")).unwrap()).unwrap();
        assert_eq!(messages.say("ways", &[]), "Vias");
        assert_eq!(messages.say("reasons", &[]), "The main reasons");
        assert!(warnings.len() == 1 && warnings[0].contains("`reasons`, "), "{warnings:?}");
        for (text, wanted) in [
            ("wys = \"x\"", "`wys` is not a message"),
            ("title = \"x {subject} {who}\"", "{who}, which nothing fills in"),
            ("title = \"x\"", "lacks {subject}"),
            ("title = \"<b>{subject}</b>\"", "has markup"),
        ] {
            let error = checked(parse(&file(text)).unwrap()).unwrap_err();
            assert!(error.to_string().contains(wanted), "{text}: {error}");
        }
        // A file in a built-in language may have the names of one table alone.
        let (german, warnings) =
            checked(parse("language = \"de\"\n[outcomes]\nno = \"abgelehnt\"\n").unwrap()).unwrap();
        assert_eq!((german.say("contact", &[]), german.outcome("no")), ("Kontakt".into(), Some("abgelehnt")));
        assert_eq!((german.number(0.5), warnings), ("0,5".into(), vec![]));
        let error = checked(parse("language = \"de\"\n[outcomes]\nno = \"<i>no\"\n").unwrap()).unwrap_err();
        assert!(error.to_string().contains("has markup"), "{error}");
        assert!(parse("[text]\n").unwrap_err().to_string().contains("not a file of messages"));
    }

    #[test]
    fn numbers_are_written_as_the_language_does() {
        let (english, german) = (Messages::english(), Messages::built_in("de").unwrap());
        assert_eq!(
            (english.number(-1_234_567.5), german.number(-1_234_567.5)),
            ("−1,234,567.5".into(), "−1.234.567,5".into())
        );
        assert_eq!(
            (english.number(12_345.5), german.number(12_345.5)),
            ("12,345.5".into(), "12.345,5".into())
        );
        assert_eq!(german.number(0.25), "0,25");
        assert_eq!([123_456.78, 9_999.994].map(|amount| english.number(amount)), ["123,456.78", "9999.99"]);
        assert_eq!(english.number(2026.0), "2026");
        assert_eq!(
            [0.0, 0.004, 0.333, 0.996, 1.0].map(|share| german.percent(share)),
            ["0", "0,4", "33", "99,6", "100"]
        );
        assert_eq!(english.percents(0.06, 0.5), ["6", "50"]);
        assert_eq!(english.percents(0.496, 0.5), ["49.6", "50"]);
        assert_eq!(german.percents(0.49996, 0.5), ["49,996", "50"]);
        assert_eq!(english.percents(0.5, 0.5), ["50", "50"]);
    }

    #[test]
    fn what_is_filled_in_is_not_read_again() {
        assert_eq!(fill("a {x} b {y}", &[("x", "{y}"), ("y", "1")]), "a {y} b 1");
    }
}
