//! A cost that the caller computes: a function of a row and an edit of it.
//!
//! The engine cannot create such a function; a caller from another language sets one ([`crate::prepared::Prepared::set_cost_function`]). A
//! result file records that its cost was a function, but not which.

use std::fmt;
use std::sync::Arc;

use crate::actions::Edit;
use sogar_base::error::{Error, ErrorKind, Result};
use sogar_table::feature::Feature;

/// A cost that the caller computes.
pub trait CostFunction: Send + Sync {
    /// The cost of an edit on each of some rows, given as feature values before and after it. The edit changes every one of these
    /// rows. A cost is a non-negative number; the caller refuses anything else.
    fn costs(&self, edit: &Edit, features: &[Feature], moves: &[(&[f64], &[f64])]) -> Result<Vec<f64>>;
}

/// The function of a run, with its features; none until it is set.
#[derive(Clone, Default)]
pub(super) struct Function {
    pub features: Vec<Feature>,
    pub function: Option<Arc<dyn CostFunction>>,
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.function.is_some() { "a function" } else { "no function" })
    }
}

impl Function {
    /// The cost of an edit on rows before and after it; zero if it changes nothing.
    pub fn costs(&self, edit: &Edit, moves: &[(&[f64], &[f64])]) -> Result<Vec<f64>> {
        let Some(function) = &self.function else { return Err(no_function()) };
        let changes = |(before, after): &(&[f64], &[f64])| {
            edit.touched().any(|f| before[f] != after[f] && !after[f].is_nan())
        };
        let positions: Vec<usize> = (0..moves.len()).filter(|&i| changes(&moves[i])).collect();
        let asked: Vec<(&[f64], &[f64])> = positions.iter().map(|&i| moves[i]).collect();
        let mut costs = vec![0.0; moves.len()];
        if asked.is_empty() {
            return Ok(costs);
        }
        let answers = function.costs(edit, &self.features, &asked)?;
        if answers.len() != asked.len() {
            let message = format!("the cost function gave {} costs for {} rows", answers.len(), asked.len());
            return Err(Error::new(ErrorKind::Config, message));
        }
        for (position, cost) in positions.into_iter().zip(answers) {
            costs[position] = cost;
        }
        Ok(costs)
    }
}

/// The error for a cost of the kind `function` without a function.
pub(super) fn no_function() -> Error {
    Error::new(ErrorKind::Config, "the cost is a function of the Python package, and none is given here")
        .help("solve in Python with `cost=` a function, or choose another `kind` under [cost]")
}
