//! Columns that a model's pipeline derives from the table's columns, and tests of trees moved to the table.
//!
//! A pipeline scales, imputes and encodes columns before the trees see them. Each of these steps derives a column from one
//! column, so a test of the derived column is a test of the table's column: at another threshold if numbers were scaled (found
//! exactly, [`Scaling::largest_at_most`]), or of a set of levels if levels were encoded. The trees then work on the table itself,
//! and the pipeline is no longer needed.

use sogar::error::{Error, ErrorKind, Result};
use sogar::model::scaling::{Operation, Step};
use sogar::model::{Missing, Node, Scaling, Test, Tree, TreeEnsemble};

/// A column as the trees see it.
#[derive(Debug, Clone, PartialEq)]
pub enum Derived {
    /// A number of the table, after these steps.
    Number {
        /// The table's column.
        column: usize,
        /// The steps.
        scaling: Scaling,
    },
    /// A value for each level of a text column, which the engine passes as codes.
    Coded {
        /// The table's column.
        column: usize,
        /// One value per level.
        values: Vec<f64>,
        /// The value of any other level.
        other: f64,
    },
    /// A value for each of some numbers of the table.
    Listed {
        /// The table's column.
        column: usize,
        /// The numbers, with the value of each.
        values: Vec<(f64, f64)>,
        /// The value of every other number.
        other: f64,
        /// The value of a missing number.
        missing: f64,
    },
}

/// A test of a column of the table.
struct Moved {
    column: usize,
    test: Test,
    /// Whether rows pass the original test if they fail this one.
    swapped: bool,
}

/// The ensemble that gives the table's rows the outputs of `ensemble` for the derived ones.
pub fn moved(ensemble: &TreeEnsemble, columns: &[Derived]) -> Result<TreeEnsemble> {
    let trees = ensemble.trees.iter().map(|tree| moved_tree(tree, columns)).collect::<Result<_>>()?;
    Ok(TreeEnsemble { trees, ..ensemble.clone() })
}

fn moved_tree(tree: &Tree, columns: &[Derived]) -> Result<Tree> {
    let node = |node: &Node| {
        let column =
            columns.get(node.column).ok_or_else(|| fault("a tree tests a column that is not there"))?;
        let Moved { column, test, swapped } = column.moved(&node.test)?;
        let (left, right) = if swapped { (node.right, node.left) } else { (node.left, node.right) };
        Ok(Node { column, test, left, right })
    };
    Ok(Tree {
        nodes: tree.nodes.iter().map(node).collect::<Result<_>>()?,
        leaves: tree.leaves.clone(),
        covers: tree.covers.clone(),
    })
}

fn fault(message: &str) -> Error {
    Error::new(ErrorKind::Model, message)
}

impl Derived {
    /// The table's column behind it.
    pub fn column(&self) -> usize {
        match self {
            Derived::Number { column, .. }
            | Derived::Coded { column, .. }
            | Derived::Listed { column, .. } => *column,
        }
    }

    fn moved(&self, test: &Test) -> Result<Moved> {
        match self {
            Derived::Number { column, scaling } if scaling.steps.is_empty() => {
                Ok(Moved { column: *column, test: test.clone(), swapped: false })
            }
            Derived::Number { column, scaling } => of_scaled(*column, scaling, test),
            Derived::Coded { column, values, other } => {
                let swapped = test.passes(*other);
                let mut words = vec![0u32; values.len().div_ceil(32)];
                for (level, &value) in values.iter().enumerate() {
                    if test.passes(value) != swapped {
                        words[level / 32] |= 1 << (level % 32);
                    }
                }
                Ok(Moved { column: *column, test: Test::InSet { words }, swapped })
            }
            Derived::Listed { column, values, other, missing } => {
                let swapped = test.passes(*other);
                let passing = values.iter().filter(|(_, value)| test.passes(*value) != swapped);
                let mut ranges: Vec<(f64, f64)> =
                    passing.map(|&(number, _)| (number.next_down(), number)).collect();
                ranges.sort_by(|a, b| a.0.total_cmp(&b.0));
                ranges.dedup();
                let default_left = test.passes(*missing) != swapped;
                Ok(Moved { column: *column, test: Test::Within { ranges, default_left }, swapped })
            }
        }
    }
}

/// A test of a scaled number.
fn of_scaled(column: usize, scaling: &Scaling, test: &Test) -> Result<Moved> {
    let bound = match test {
        Test::AtMost { threshold, missing: Missing::NaNIsMissing | Missing::AsZero, .. } => Some(*threshold),
        // A test that no number passes stays one.
        Test::Within { ranges, .. } if ranges.is_empty() => None,
        _ => return Err(fault("a scaled column is tested for a category, or has zero for missing")),
    };
    let swapped = bound.is_some() && !scaling.rises();
    let default_left = test.passes(scaling.apply(f64::NAN)) != swapped;
    let test = match bound.and_then(|bound| scaling.largest_at_most(bound)) {
        Some(threshold) => Test::AtMost { threshold, missing: Missing::NaNIsMissing, default_left },
        None => Test::Within { ranges: Vec::new(), default_left },
    };
    Ok(Moved { column, test, swapped })
}

/// A scaling in double precision from `(name, numbers)` steps, as the Python side writes them.
pub fn scaling(steps: &[(String, Vec<f64>)]) -> Result<Scaling> {
    let mut scaling = Scaling::default();
    for (name, numbers) in steps {
        let operation = match (name.as_str(), &numbers[..]) {
            ("add", [by]) => Operation::Add(*by),
            ("multiply", [by]) => Operation::Multiply(*by),
            ("divide", [by]) => Operation::Divide(*by),
            ("clip", [low, high]) => Operation::Clip(*low, *high),
            ("fill", [by]) => Operation::FillMissing(*by),
            _ => return Err(fault(&format!("there is no step `{name}` of a scaler"))),
        };
        let step = Step::new(operation, false).ok_or_else(|| {
            fault(&format!("the step `{name}` of a scaler has a constant that is not finite, or zero"))
        })?;
        scaling = scaling.then(step);
    }
    Ok(scaling)
}
