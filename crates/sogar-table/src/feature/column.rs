//! One column as a feature: its kind, inferred or declared, and its values.
//!
//! Inference (SPEC §2) is cautious: a kind is inferred only if the values leave no doubt, and every value that does not fit a
//! declared kind is an error with its location.

use std::cmp::Ordering;
use std::collections::HashMap;

use super::texts::{Texts, distinct};
use super::{Kind, MISSING_LEVEL, format_number, level_index};
use crate::config::{FeatureConfig, KindName};
use crate::table::written::Writing;
use crate::table::{Cells, Column, MISSING, Table, is_token};
use sogar_base::error::{Error, Result, suggest};

/// Whole numbers beyond this are not exact in an `f64`.
const LARGEST_WHOLE: f64 = 9_007_199_254_740_992.0;

/// A kind with one value per cell.
pub(super) struct InferredColumn {
    pub kind: Kind,
    pub values: Vec<f64>,
    /// Whether all rows have the same value.
    pub constant: bool,
}

/// What is needed to read one column.
pub(super) struct View<'a> {
    pub table: &'a Table,
    pub column: &'a Column,
    pub setting: &'a FeatureConfig,
    /// Strings that mean "missing".
    pub tokens: &'a [String],
    /// Numbers that are not amounts.
    pub codes: &'a [f64],
}

impl View<'_> {
    /// Infers the kind, or takes the declared one, and returns the values.
    pub(super) fn see(&self) -> Result<InferredColumn> {
        let kind = match self.setting.kind {
            None if !self.setting.levels.is_empty() => Some(KindName::Ordinal),
            kind => kind,
        };
        match (kind, &self.column.cells) {
            (None, Cells::Numbers(numbers)) => match two_values(numbers).filter(|_| !self.has_codes(numbers))
            {
                Some(pair) => Ok(binary_numbers(numbers, pair)),
                None => self.numbers(numbers, KindName::Numeric),
            },
            (Some(kind @ (KindName::Numeric | KindName::Real | KindName::Integer)), cells) => match cells {
                Cells::Numbers(numbers) => self.numbers(numbers, kind),
                Cells::Text { .. } => Err(self.not_a_number()),
            },
            (Some(KindName::Ordinal), _) => self.ordinal(),
            (Some(KindName::Binary), cells) => match cells {
                Cells::Numbers(numbers) if two_values(numbers).is_some() => {
                    Ok(binary_numbers(numbers, two_values(numbers).unwrap_or_default()))
                }
                Cells::Text { .. } => match self.text()? {
                    seen if matches!(seen.kind, Kind::Binary { .. }) => Ok(seen),
                    _ => Err(self.not_binary()),
                },
                Cells::Numbers(_) => Err(self.not_binary()),
            },
            (None, Cells::Text { .. }) => self.text(),
            (Some(KindName::Categorical), _) => self.categorical(&Texts::of(&self.column.cells)),
        }
    }

    fn error(&self, message: impl Into<String>) -> Error {
        self.table.error(message).column(&self.column.name)
    }

    fn numbers(&self, numbers: &[f64], kind: KindName) -> Result<InferredColumn> {
        let known =
            || numbers.iter().copied().filter(|number| !number.is_nan() && !self.codes.contains(number));
        if known().next().is_none() && !self.has_codes(numbers) {
            return Ok(self.empty());
        }
        let whole = |number: f64| number.fract() == 0.0 && number.abs() <= LARGEST_WHOLE;
        let kind = match kind {
            KindName::Integer => {
                if let Some(row) = numbers
                    .iter()
                    .position(|number| !number.is_nan() && !whole(*number) && !self.codes.contains(number))
                {
                    let message = format!(
                        "{} is not a whole number, but the feature is declared as integer",
                        format_number(numbers[row])
                    );
                    let place = self.table.error_at(row, &self.column.name, message);
                    return Err(place.help("set kind = \"real\""));
                }
                Kind::Integer
            }
            KindName::Numeric if known().all(whole) => Kind::Integer,
            _ => Kind::Real,
        };
        let constant = numbers.iter().all(|&number| number == numbers[0]);
        Ok(InferredColumn { kind, values: numbers.to_vec(), constant })
    }

    fn has_codes(&self, numbers: &[f64]) -> bool {
        numbers.iter().any(|number| self.codes.contains(number))
    }

    fn ordinal(&self) -> Result<InferredColumn> {
        let levels = match (&self.column.cells, self.setting.levels.as_slice()) {
            (_, levels) if !levels.is_empty() => levels.to_vec(),
            (Cells::Numbers(numbers), _) => distinct(numbers).into_iter().map(format_number).collect(),
            (Cells::Text { levels, .. }, _) => {
                return Err(self.error("an ordinal feature needs its levels in order").help(format!(
                    "write, lowest first: levels = [{}]",
                    levels.iter().map(|level| format!("{level:?}")).collect::<Vec<_>>().join(", ")
                )));
            }
        };
        let values = self.level_values(&levels)?;
        self.named(Kind::Ordinal { levels }, values)
    }

    /// Ordinal values by given levels; any other value is an error.
    pub(super) fn level_values(&self, levels: &[String]) -> Result<Vec<f64>> {
        let texts = Texts::of(&self.column.cells);
        let mut index = Vec::with_capacity(texts.levels.len());
        for level in &texts.levels {
            index.push(match level_index(levels, level) {
                Some(index) => Some(index as f64),
                None if is_token(self.tokens, level) => Some(f64::NAN),
                None => None,
            });
        }
        let mut values = Vec::with_capacity(texts.codes.len());
        for (row, code) in texts.codes.iter().enumerate() {
            values.push(match index.get(*code as usize) {
                None => f64::NAN,
                Some(Some(value)) => *value,
                Some(None) => {
                    let level = &texts.levels[*code as usize];
                    let place = self.table.error_at(
                        row,
                        &self.column.name,
                        format!("`{level}` is not one of the feature's levels"),
                    );
                    let meant = levels.iter().find(|known| known.trim() == level.trim());
                    return Err(place.help(match meant {
                        Some(meant) => suggest(meant, [level.as_str()]),
                        None => suggest(level, levels.iter().map(String::as_str)),
                    }));
                }
            });
        }
        Ok(values)
    }

    fn text(&self) -> Result<InferredColumn> {
        let texts = Texts::of(&self.column.cells);
        let gaps = texts.codes.contains(&MISSING);
        if gaps || texts.levels.len() != 2 || texts.levels.iter().any(|level| self.is_token(level)) {
            return self.categorical(&texts);
        }
        let mut levels = texts.levels.clone();
        levels.sort_by(|a, b| binary_order(a, b));
        let turned = levels != texts.levels;
        let values = texts.codes.iter().map(|code| f64::from((*code == 1) != turned)).collect();
        self.named(Kind::Binary { levels }, values)
    }

    /// Categories in byte order; all ways to write "missing" are one category.
    fn categorical(&self, texts: &Texts) -> Result<InferredColumn> {
        let mut levels: Vec<&str> =
            texts.levels.iter().map(String::as_str).filter(|level| !self.is_token(level)).collect();
        if levels.is_empty() {
            return Ok(self.empty());
        }
        let gaps = texts.codes.contains(&MISSING);
        // The first token that occurs names the category, as spelled in the table.
        let written = |token: &String| {
            texts.levels.iter().find(|level| level.trim() == token.trim()).map(String::as_str)
        };
        let token = self.tokens.iter().find_map(written).filter(|token| !token.trim().is_empty());
        let gaps = gaps || texts.levels.iter().any(|level| self.is_token(level));
        let missing = token.or(gaps.then_some(MISSING_LEVEL));
        if let Some(missing) = missing {
            if levels.contains(&missing) {
                return Err(self
                    .error(format!("`{missing}` is a category, and other cells are empty"))
                    .help(format!("add \"{missing}\" to `missing` under [data] if the two mean the same")));
            }
            levels.push(missing);
            levels.sort_unstable();
        }
        let missing = missing.and_then(|missing| levels.iter().position(|level| *level == missing));
        let levels: Vec<String> = levels.into_iter().map(String::from).collect();
        let values = self.category_values(texts, &levels, missing).0;
        self.named(Kind::Categorical { levels, missing }, values)
    }

    fn is_token(&self, level: &str) -> bool {
        is_token(self.tokens, level)
    }

    /// Category indices; a category that is not among `levels` becomes `levels.len()`, and its name is returned too.
    pub(super) fn category_values(
        &self,
        texts: &Texts,
        levels: &[String],
        missing: Option<usize>,
    ) -> (Vec<f64>, Vec<String>) {
        let mut unseen = Vec::new();
        let by_name: HashMap<&str, usize> =
            levels.iter().enumerate().map(|(index, level)| (level.as_str(), index)).collect();
        let known =
            |level: &String| by_name.get(level.as_str()).copied().or_else(|| level_index(levels, level));
        let index: Vec<usize> = texts
            .levels
            .iter()
            .map(|level| {
                let missing = if self.is_token(level) { missing } else { None };
                missing.or_else(|| known(level)).unwrap_or_else(|| {
                    unseen.push(level.clone());
                    levels.len()
                })
            })
            .collect();
        let gap = missing.unwrap_or(levels.len());
        if missing.is_none() && texts.codes.contains(&MISSING) {
            unseen.push(MISSING_LEVEL.to_owned());
        }
        let values =
            texts.codes.iter().map(|code| *index.get(*code as usize).unwrap_or(&gap) as f64).collect();
        (values, unseen)
    }

    fn named(&self, kind: Kind, values: Vec<f64>) -> Result<InferredColumn> {
        if values.iter().all(|&value| is_missing(&kind, value)) {
            return Err(self.all_missing());
        }
        let constant = values.iter().all(|value| *value == values[0]);
        Ok(InferredColumn { kind, values, constant })
    }

    fn all_missing(&self) -> Error {
        self.error("the column has no values at all").help("add it to `ignore` under [data]")
    }

    /// A column without values: a number that is missing in every row, without splits and edits.
    fn empty(&self) -> InferredColumn {
        InferredColumn { kind: Kind::Real, values: vec![f64::NAN; self.column.cells.len()], constant: true }
    }

    /// Refuses text whose values are all numbers in a human spelling, unless the user sets its kind: such numbers are not parsed
    /// by default, and as categories they would give senseless recourse.
    pub(super) fn refuse_odd_numbers(&self, decimal_comma: bool) -> Result<()> {
        let Cells::Text { levels, .. } = &self.column.cells else { return Ok(()) };
        if self.setting.kind.is_some() || !self.setting.levels.is_empty() {
            return Ok(());
        }
        let known = || levels.iter().map(String::as_str).filter(|level| !self.is_token(level));
        let Some((mut writing, mut example)) = Writing::of_all(known()) else { return Ok(()) };
        if writing == Writing::Plain {
            // A point among decimal commas; other strings such as `1` may be names.
            match known().find(|level| decimal_comma && level.contains('.')) {
                Some(point) => example = point,
                None => return Ok(()),
            }
        } else if decimal_comma && writing == Writing::Ambiguous {
            writing = Writing::DecimalComma;
        }
        let message = format!("`{example}` looks like {}, as all values of the column do", writing.name());
        Err(self.error(message).help(format!(
            "{}; if these are names, set kind = \"categorical\" for the feature, or add the column to `ignore`",
            writing.remedy()
        )))
    }

    fn not_binary(&self) -> Error {
        let texts = Texts::of(&self.column.cells);
        let gaps = texts.codes.contains(&MISSING) || texts.levels.iter().any(|level| self.is_token(level));
        let message = if gaps && texts.levels.len() <= 3 {
            "declared as binary, but some cells are empty".to_owned()
        } else {
            format!("declared as binary, but it has {} distinct values", texts.levels.len())
        };
        self.error(message).help("set kind = \"categorical\"")
    }

    /// The error for text instead of numbers, at the first such cell.
    pub(super) fn not_a_number(&self) -> Error {
        let texts = Texts::of(&self.column.cells);
        let bad = texts.codes.iter().position(|code| {
            texts.levels.get(*code as usize).is_some_and(|level| level.trim().parse::<f64>().is_err())
        });
        let row = bad.unwrap_or(0);
        let cell = texts.codes.get(row).and_then(|code| texts.levels.get(*code as usize));
        let message = format!("`{}` is text, but the feature is a number", cell.map_or("", String::as_str));
        let place = self.table.error_at(row, &self.column.name, message);
        place.help("correct the cell, or add it to `missing` under [data]")
    }
}

/// The two values of a column that has exactly these two in every row, smaller first.
fn two_values(numbers: &[f64]) -> Option<(f64, f64)> {
    let first = *numbers.first()?;
    let other = *numbers.iter().find(|number| **number != first)?;
    let complete = numbers.iter().all(|number| *number == first || *number == other);
    (complete && !first.is_nan() && !other.is_nan()).then_some((first.min(other), first.max(other)))
}

fn binary_numbers(numbers: &[f64], (small, large): (f64, f64)) -> InferredColumn {
    let levels = vec![format_number(small), format_number(large)];
    let values = numbers.iter().map(|number| f64::from(*number == large)).collect();
    InferredColumn { kind: Kind::Binary { levels }, values, constant: false }
}

/// Whether a value of this kind is missing.
pub(super) fn is_missing(kind: &Kind, value: f64) -> bool {
    match kind {
        Kind::Categorical { missing: Some(missing), .. } => value.is_nan() || value == *missing as f64,
        _ => value.is_nan(),
    }
}

/// Order of a binary feature's values (SPEC §5): 0 < 1 and other numbers, false < true, no < yes, otherwise byte order.
pub(super) fn binary_order(a: &str, b: &str) -> Ordering {
    if let (Ok(a), Ok(b)) = (a.trim().parse::<f64>(), b.trim().parse::<f64>()) {
        return a.total_cmp(&b);
    }
    let (small_a, small_b) = (a.trim().to_lowercase(), b.trim().to_lowercase());
    for (no, yes) in [("false", "true"), ("no", "yes")] {
        if small_a == no && small_b == yes {
            return Ordering::Less;
        }
        if small_a == yes && small_b == no {
            return Ordering::Greater;
        }
    }
    a.cmp(b)
}
