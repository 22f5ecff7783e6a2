//! Any column as text: the source of levels, for numbers and words alike.

use super::format_number;
use crate::table::{Cells, MISSING};

/// Distinct numbers in ascending order.
pub(super) fn distinct(numbers: &[f64]) -> Vec<f64> {
    let mut known: Vec<f64> =
        numbers.iter().filter(|number| !number.is_nan()).map(|number| number + 0.0).collect();
    known.sort_by(f64::total_cmp);
    known.dedup();
    known
}

/// Any column as text: the levels that occur in rows, in byte order.
pub(super) struct Texts {
    pub codes: Vec<u32>,
    pub levels: Vec<String>,
}

impl Texts {
    pub(super) fn of(cells: &Cells) -> Texts {
        match cells {
            Cells::Numbers(numbers) => {
                let known = distinct(numbers);
                let mut levels: Vec<String> = known.iter().map(|number| format_number(*number)).collect();
                let mut order: Vec<usize> = (0..levels.len()).collect();
                order.sort_by(|a, b| levels[*a].cmp(&levels[*b]));
                let mut place = vec![0; levels.len()];
                for (position, index) in order.iter().enumerate() {
                    place[*index] = position as u32;
                }
                levels.sort();
                let code = |number: &f64| {
                    known
                        .binary_search_by(|other| other.total_cmp(&(number + 0.0)))
                        .map_or(MISSING, |at| place[at])
                };
                Texts { codes: numbers.iter().map(code).collect(), levels }
            }
            Cells::Text { codes, levels } => {
                let mut used = vec![false; levels.len()];
                for code in codes {
                    if let Some(used) = used.get_mut(*code as usize) {
                        *used = true;
                    }
                }
                let mut place = vec![MISSING; levels.len()];
                let mut kept = Vec::new();
                for (index, level) in levels.iter().enumerate() {
                    if used[index] {
                        place[index] = kept.len() as u32;
                        kept.push(level.clone());
                    }
                }
                let code = |code: &u32| place.get(*code as usize).copied().unwrap_or(MISSING);
                Texts { codes: codes.iter().map(code).collect(), levels: kept }
            }
        }
    }
}
