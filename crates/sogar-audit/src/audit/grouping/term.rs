//! One column's part in a grouping: its values, its bins, or a condition on it.

use std::collections::BTreeMap;

use sogar_base::error::{Error, ErrorKind, Result, suggest};
use sogar_front::describe::spoken_number;
use sogar_table::binarize::binning;
use sogar_table::config::Config;
use sogar_table::feature::{
    Columns, Feature, FeatureTable, Kind, MISSING_LEVEL, exact_number, format_number,
};
use sogar_table::table::{Cells, Column, MISSING, Table, is_token};

use super::View;

/// Numbers with more distinct values than this are cut into bins.
const MOST_VALUES: usize = 12;

/// How rows are divided.
#[derive(Debug, Clone)]
pub(super) enum Term {
    /// By a feature made of one-hot columns.
    OneHot { feature: usize, name: String },
    /// By the values of a column, in this order; all strings for "missing" are one value.
    Values { column: String, order: Vec<String>, missing: Vec<String> },
    /// By the bins of a column of numbers; special codes are groups of their own.
    Bins { column: String, edges: Vec<f64>, labels: Vec<String>, codes: Vec<f64> },
    /// By a comparison with a number; special codes are on neither side.
    Compare { column: String, sign: Sign, number: f64, codes: Vec<f64> },
    /// Whether a value is this one.
    Equals { of: Box<Term>, value: String, not: bool },
}

/// A comparison of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sign {
    AtMost,
    Below,
    AtLeast,
    Above,
}

impl Sign {
    fn text(self) -> &'static str {
        match self {
            Sign::AtMost => "<=",
            Sign::Below => "<",
            Sign::AtLeast => ">=",
            Sign::Above => ">",
        }
    }

    fn opposite(self) -> Sign {
        match self {
            Sign::AtMost => Sign::Above,
            Sign::Below => Sign::AtLeast,
            Sign::AtLeast => Sign::Below,
            Sign::Above => Sign::AtMost,
        }
    }

    fn holds(self, value: f64, number: f64) -> bool {
        match self {
            Sign::AtMost => value <= number,
            Sign::Below => value < number,
            Sign::AtLeast => value >= number,
            Sign::Above => value > number,
        }
    }
}

/// Every row's value as a position among named levels.
pub(super) struct Coded {
    pub codes: Vec<u32>,
    pub levels: Vec<String>,
}

/// The feature of that name that is made of several columns.
fn one_hot(features: &[Feature], name: &str) -> Option<usize> {
    features.iter().position(|feature| feature.name == name && matches!(feature.columns, Columns::OneHot(_)))
}

/// Whether a table has a column or a feature of that name.
pub(super) fn is_known(name: &str, view: View<'_>) -> bool {
    view.columns.column(name).is_some() || one_hot(&view.features.features, name).is_some()
}

impl Term {
    /// The term of a text: a column, a feature, or a condition on one.
    pub(super) fn new(text: &str, view: View<'_>, config: &Config) -> Result<Term> {
        if is_known(text, view) {
            return Term::whole(text, view, config);
        }
        // Longer signs first, so that `<=` is not read as `<`.
        for sign in ["<=", ">=", "==", "!=", "≤", "≥", "≠", "<", ">", "="] {
            for (at, _) in text.match_indices(sign) {
                let (name, value) = (text[..at].trim(), text[at + sign.len()..].trim());
                if is_known(name, view) && !value.is_empty() {
                    return Term::condition(name, sign, value, view, config);
                }
            }
        }
        let features = view.features.features.iter().map(|feature| feature.name.as_str());
        let mut known: Vec<&str> = view.columns.names().collect();
        known.extend(features.filter(|name| view.columns.column(name).is_none()));
        let name = text.split(['<', '>', '=', '!', '≤', '≥', '≠']).next().unwrap_or(text).trim();
        Err(Error::new(
            ErrorKind::Usage,
            format!("there is no column or feature `{name}` to group people by"),
        )
        .help(suggest(name, known)))
    }

    fn whole(name: &str, view: View<'_>, config: &Config) -> Result<Term> {
        let Some(column) = view.columns.column(name) else {
            let feature = one_hot(&view.features.features, name).unwrap_or(0);
            return Ok(Term::OneHot { feature, name: name.to_owned() });
        };
        let feature = view.features.features.iter().position(|feature| feature.name == name);
        let levels = feature.map_or(&[][..], |feature| view.features.features[feature].levels());
        let values = |order: Vec<String>| Term::Values {
            column: name.to_owned(),
            order,
            missing: config.data.missing.clone(),
        };
        match &column.cells {
            _ if !levels.is_empty() => Ok(values(levels.to_vec())),
            Cells::Text { levels, .. } => Ok(values(levels.clone())),
            Cells::Numbers(numbers) => match few_values(numbers) {
                Some(few) => Ok(values(few.into_iter().map(format_number).collect())),
                None => bins(name, numbers, feature.map(|feature| (view.features, feature)), config),
            },
        }
    }

    fn condition(name: &str, sign: &str, value: &str, view: View<'_>, config: &Config) -> Result<Term> {
        let sign = match sign {
            "<=" | "≤" => Sign::AtMost,
            ">=" | "≥" => Sign::AtLeast,
            "<" => Sign::Below,
            ">" => Sign::Above,
            equality => return equals(name, value, matches!(equality, "!=" | "≠"), view, config),
        };
        let fault = |message: String| Error::new(ErrorKind::Usage, message);
        let Some(Column { cells: Cells::Numbers(_), .. }) = view.columns.column(name) else {
            return Err(fault(format!(
                "`{name}` is not a column of numbers, so `{}` says nothing",
                sign.text()
            ))
            .help(format!("use a value: \"{name}={value}\"")));
        };
        match value.parse::<f64>() {
            Ok(number) if number.is_finite() => {
                Ok(Term::Compare { column: name.to_owned(), sign, number, codes: codes_of(name, view) })
            }
            _ => Err(fault(format!("`{value}` is not a number that `{name}` could be compared with"))
                .help(format!("for example \"{name}{}25\"", sign.text()))),
        }
    }

    /// The term in words.
    pub(super) fn name(&self) -> String {
        match self {
            Term::OneHot { name, .. } => name.clone(),
            Term::Values { column, .. } | Term::Bins { column, .. } => column.clone(),
            Term::Compare { column, sign, number, .. } => {
                format!("{column}{}{}", sign.text(), format_number(*number))
            }
            Term::Equals { of, value, not } => {
                format!("{}{}{value}", of.name(), if *not { "!=" } else { "=" })
            }
        }
    }

    /// The columns of a table that it uses.
    pub(super) fn columns(&self, features: &[Feature]) -> Vec<String> {
        match self {
            Term::OneHot { feature, .. } => {
                let columns = features.get(*feature).into_iter().flat_map(|feature| feature.columns.names());
                columns.map(String::from).collect()
            }
            Term::Values { column, .. } | Term::Bins { column, .. } | Term::Compare { column, .. } => {
                vec![column.clone()]
            }
            Term::Equals { of, .. } => of.columns(features),
        }
    }

    pub(super) fn is_condition(&self) -> bool {
        matches!(self, Term::Compare { .. } | Term::Equals { .. })
    }

    /// The name of the group that meets a condition; empty if this is not a condition.
    pub(super) fn met(&self) -> String {
        match self {
            Term::Compare { column, sign, number, .. } => {
                format!("{column} {} {}", sign.text(), format_number(*number))
            }
            Term::Equals { of, value, not } => {
                format!("{} {} {value}", of.name(), if *not { "≠" } else { "=" })
            }
            _ => String::new(),
        }
    }

    /// The negated condition, in words.
    fn unmet(&self) -> String {
        match self {
            Term::Compare { column, sign, number, .. } => Term::Compare {
                column: column.clone(),
                sign: sign.opposite(),
                number: *number,
                codes: Vec::new(),
            }
            .met(),
            Term::Equals { of, value, not } => {
                Term::Equals { of: of.clone(), value: value.clone(), not: !not }.met()
            }
            _ => String::new(),
        }
    }

    /// The groups of a table's rows.
    pub(super) fn codes(&self, view: View<'_>) -> Result<Coded> {
        match self {
            Term::OneHot { feature, .. } => Ok(of_feature(view.features, *feature)),
            Term::Values { column, order, missing } => {
                Ok(of_values(&view.columns.require(column)?.cells, order, missing))
            }
            Term::Bins { column, edges, labels, codes } => {
                let place = |value: f64| edges.partition_point(|edge| *edge < value) as u32;
                of_numbers(numbers_of(column, view.columns)?, labels.clone(), codes, place)
            }
            Term::Compare { column, sign, number, codes } => {
                let place = |value: f64| u32::from(!sign.holds(value, *number));
                of_numbers(numbers_of(column, view.columns)?, vec![self.met(), self.unmet()], codes, place)
            }
            Term::Equals { of, value, not } => {
                let coded = of.codes(view)?;
                let wanted = coded.levels.iter().position(|level| level == value);
                let codes =
                    coded.codes.iter().map(|&code| u32::from((Some(code as usize) == wanted) == *not));
                Ok(Coded { codes: codes.collect(), levels: vec![self.met(), self.unmet()] })
            }
        }
    }
}

/// The distinct values, if they are few.
fn few_values(numbers: &[f64]) -> Option<Vec<f64>> {
    let mut known: Vec<f64> = Vec::new();
    for &number in numbers.iter().filter(|number| !number.is_nan()) {
        if !known.contains(&number) {
            known.push(number);
        }
        if known.len() > MOST_VALUES {
            return None;
        }
    }
    known.sort_by(f64::total_cmp);
    Some(known)
}

fn equals(name: &str, value: &str, not: bool, view: View<'_>, config: &Config) -> Result<Term> {
    let of = match view.columns.column(name).map(|column| &column.cells) {
        // Each number separately: a condition needs no bins.
        Some(Cells::Numbers(numbers)) if few_values(numbers).is_none() => {
            Term::Values { column: name.to_owned(), order: Vec::new(), missing: Vec::new() }
        }
        _ => Term::whole(name, view, config)?,
    };
    let levels = of.codes(view)?.levels;
    let same = |level: &&String| exact_number(level).is_some_and(|level| exact_number(value) == Some(level));
    let exact = |text: &str| levels.iter().find(|level| *level == text);
    // Backticks keep the spaces of a value.
    let quoted = value.strip_prefix('`').and_then(|value| value.strip_suffix('`'));
    let found = exact(value).or_else(|| quoted.and_then(exact)).or_else(|| levels.iter().find(same));
    let Some(value) = found.cloned() else {
        let known = levels.iter().map(String::as_str).filter(|level| *level != MISSING_LEVEL);
        let message = format!("`{name}` is `{value}` in no row");
        return Err(Error::new(ErrorKind::Usage, message).help(suggest(value, known)));
    };
    Ok(Term::Equals { of: Box::new(of), value, not })
}

fn bins(
    name: &str,
    numbers: &[f64],
    feature: Option<(&FeatureTable, usize)>,
    config: &Config,
) -> Result<Term> {
    let codes = feature.map_or(Vec::new(), |(features, feature)| features.features[feature].codes.clone());
    let amount = |number: &f64| !number.is_nan() && !codes.contains(number);
    let whole = numbers.iter().filter(|number| amount(number)).all(|number| number.fract() == 0.0);
    let found = match feature {
        Some((features, feature)) => binning(features, feature, config)?,
        None => {
            let kind = if whole { Kind::Integer } else { Kind::Real };
            let feature = Feature {
                name: name.to_owned(),
                kind,
                columns: Columns::One(name.to_owned()),
                codes: Vec::new(),
                shown: Default::default(),
            };
            let alone = FeatureTable {
                features: vec![feature],
                values: vec![numbers.to_vec()],
                rows: numbers.len(),
                weights: None,
            };
            binning(&alone, 0, &Config::default())?
        }
    };
    let edges = found.map_or(Vec::new(), |bins| bins.edges);
    let text = spoken_number;
    let (first, last) = (edges.first().copied(), edges.last().copied());
    let mut labels = Vec::new();
    if let (Some(first), Some(last)) = (first, last) {
        // Whole numbers read better as 25–32 than as "above 24.5, at most 32.5".
        let low = |edge: f64| if whole { edge.floor() + 1.0 } else { edge };
        let high = |edge: f64| if whole { edge.floor() } else { edge };
        labels.push(format!("at most {}", text(high(first))));
        labels.extend(edges.windows(2).map(|pair| {
            if whole {
                format!("{}–{}", text(low(pair[0])), text(high(pair[1])))
            } else {
                format!("over {} to {}", text(pair[0]), text(pair[1]))
            }
        }));
        labels.push(if whole {
            format!("{} or more", text(low(last)))
        } else {
            format!("over {}", text(last))
        });
    } else {
        labels.push("any value".to_owned());
    }
    Ok(Term::Bins { column: name.to_owned(), edges, labels, codes })
}

fn numbers_of<'a>(column: &str, table: &'a Table) -> Result<&'a [f64]> {
    match &table.require(column)?.cells {
        Cells::Numbers(numbers) => Ok(numbers),
        Cells::Text { .. } => Err(table
            .error("is text here, but a column of numbers in the reference table")
            .column(column)
            .help("correct the cells that are not numbers")),
    }
}

fn of_numbers(
    numbers: &[f64],
    mut levels: Vec<String>,
    special: &[f64],
    place: impl Fn(f64) -> u32,
) -> Result<Coded> {
    let first = levels.len();
    levels.extend(special.iter().map(|code| format_number(*code)));
    let missing = levels.len() as u32;
    levels.push(MISSING_LEVEL.to_owned());
    let codes = numbers.iter().map(|&value| match special.iter().position(|code| *code == value) {
        Some(code) => (first + code) as u32,
        None if value.is_nan() => missing,
        None => place(value),
    });
    Ok(Coded { codes: codes.collect(), levels })
}

/// The special codes of a column that is a feature.
fn codes_of(name: &str, view: View<'_>) -> Vec<f64> {
    let feature = view.features.features.iter().find(|feature| feature.name == name);
    feature.map_or(Vec::new(), |feature| feature.codes.clone())
}

fn of_feature(table: &FeatureTable, feature: usize) -> Coded {
    let mut levels = table.features[feature].levels().to_vec();
    let most = levels.len();
    levels.push("(unseen)".to_owned());
    let codes = table.values[feature]
        .iter()
        .map(|&value| if value >= 0.0 { (value as usize).min(most) as u32 } else { most as u32 });
    Coded { codes: codes.collect(), levels }
}

/// Values by name: those in `order` first, others in order of appearance, and gaps last.
fn of_values(cells: &Cells, order: &[String], missing: &[String]) -> Coded {
    let (codes, texts) = match cells {
        Cells::Text { codes, levels } => (codes.clone(), levels.clone()),
        Cells::Numbers(numbers) => {
            let mut known: Vec<f64> = numbers.iter().copied().filter(|number| !number.is_nan()).collect();
            known.sort_by(f64::total_cmp);
            known.dedup();
            let code = |number: &f64| known.partition_point(|other| other < number) as u32;
            let codes = numbers.iter().map(|number| if number.is_nan() { MISSING } else { code(number) });
            (codes.collect(), known.iter().map(|number| format_number(*number)).collect())
        }
    };
    let mut levels: Vec<String> =
        order.iter().filter(|level| *level != MISSING_LEVEL && !is_token(missing, level)).cloned().collect();
    // `1` and `1.0` are the same value, unless the table has both.
    let plain = |text: &str| exact_number(text).map_or_else(|| text.to_owned(), format_number);
    let mut exact: BTreeMap<String, u32> = BTreeMap::new();
    let mut alike: BTreeMap<String, u32> = BTreeMap::new();
    for (position, level) in levels.iter().enumerate() {
        exact.entry(level.clone()).or_insert(position as u32);
        alike.entry(plain(level)).or_insert(position as u32);
    }
    let place: Vec<Option<u32>> = texts
        .iter()
        .map(|text| {
            if is_token(missing, text) {
                return None;
            }
            let known = exact.get(text).or_else(|| alike.get(&plain(text))).copied();
            Some(known.unwrap_or_else(|| {
                levels.push(text.clone());
                levels.len() as u32 - 1
            }))
        })
        .collect();
    let gap = levels.len() as u32;
    levels.push(MISSING_LEVEL.to_owned());
    let codes = codes.iter().map(|&code| place.get(code as usize).copied().flatten().unwrap_or(gap));
    Coded { codes: codes.collect(), levels }
}
