//! The walk through the graph, from the inputs to the outputs.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::attributes::Attributes;
use super::budget::Budget;
use super::damaged;
use super::external::ExternalFiles;
use super::operators::Call;
use super::proto::{Graph, ValueInfo};
use super::tensor::{Tensor, kinds};
use super::value::{Column, Columns, Value};
use crate::scaling::{Operation, Scaling, Step};
use sogar_base::error::{Error, ErrorKind, Result};

/// More columns than any table has.
const MOST_COLUMNS: usize = 1 << 16;

/// The result of the walk.
pub(super) struct Walked {
    /// Names of the model's columns.
    pub columns: Vec<String>,
    /// The graph's outputs.
    pub outputs: Vec<Value>,
}

/// Walks the graph.
pub(super) fn walk(graph: &Graph<'_>, files: &mut ExternalFiles, budget: &mut Budget) -> Result<Walked> {
    if graph.sparse_initializers > 0 {
        let message = "the model has sparse weights, which are not read";
        return Err(Error::new(ErrorKind::Model, message).help("export the model with dense weights"));
    }
    let mut values: BTreeMap<&str, Value> = BTreeMap::new();
    for proto in &graph.initializers {
        values.insert(proto.name, Tensor::read(proto, files)?.into());
    }
    budget.grow(files.size());
    let mut columns = Vec::new();
    for input in &graph.inputs {
        // Old files list their weights among the inputs.
        if !values.contains_key(input.name) {
            values.insert(input.name, columns_of(input, &mut columns)?.into());
        }
    }
    if columns.is_empty() {
        return Err(damaged("the model has no inputs"));
    }

    let needed = needed_nodes(graph);
    for (node, _) in graph.nodes.iter().zip(needed).filter(|(_, needed)| *needed) {
        let mut inputs = Vec::with_capacity(node.inputs.len());
        let mut unknown = None;
        for name in &node.inputs {
            let value = match values.get(name) {
                _ if name.is_empty() => Value::Absent,
                Some(value) => value.clone(),
                None => {
                    let message = format!(
                        "`{name}` is used before it is made: the graph goes round in a circle, or a part is missing"
                    );
                    return Err(damaged(message));
                }
            };
            if let Value::Unknown(error) = &value {
                unknown = unknown.or_else(|| Some(Rc::clone(error)));
            }
            inputs.push(value);
        }
        let made = match unknown {
            Some(error) => Err(error),
            None => {
                let attributes = Attributes::of(node)?;
                let mut call = Call { node, attributes, inputs, files: &mut *files, budget: &mut *budget };
                call.evaluate().map_err(Rc::new)
            }
        };
        for (index, name) in node.outputs.iter().enumerate().filter(|(_, name)| !name.is_empty()) {
            let value = match &made {
                Ok(made) => made.get(index).cloned().unwrap_or(Value::Absent),
                Err(error) => Value::Unknown(Rc::clone(error)),
            };
            if values.insert(name, value).is_some() {
                return Err(damaged(format!("`{name}` is made twice")));
            }
        }
    }
    let output = |info: &ValueInfo<'_>| {
        values
            .get(info.name)
            .cloned()
            .ok_or_else(|| damaged(format!("the output `{}` is never made", info.name)))
    };
    Ok(Walked { outputs: graph.outputs.iter().map(output).collect::<Result<_>>()?, columns })
}

/// Which nodes the outputs depend on.
fn needed_nodes(graph: &Graph<'_>) -> Vec<bool> {
    let mut wanted: std::collections::BTreeSet<&str> = graph.outputs.iter().map(|info| info.name).collect();
    let mut needed = vec![false; graph.nodes.len()];
    // Nodes come after their inputs, so one pass from the end finds them all.
    for (node, needed) in graph.nodes.iter().zip(&mut needed).rev() {
        *needed = node.outputs.iter().any(|output| wanted.contains(output));
        if *needed {
            wanted.extend(&node.inputs);
        }
    }
    needed
}

/// The columns of an input, added to the model's.
fn columns_of(input: &ValueInfo<'_>, columns: &mut Vec<String>) -> Result<Columns> {
    let name = input.name;
    let unread =
        |message: String, help: &str| Err(Error::new(ErrorKind::Model, message).help(help.to_string()));
    let single = match input.kind {
        kinds::DOUBLE => false,
        kinds::FLOAT | kinds::INT32 | kinds::INT64 => true,
        kinds::STRING => {
            return unread(
                format!("the input `{name}` is text"),
                "models with number columns are read; encode categories in the table (one-hot columns), or give the \
                 model as a command (`--model-command`)",
            );
        }
        kind => {
            return unread(
                format!("the input `{name}` is of a type (number {kind}) that is not read"),
                "export the model with single-precision inputs (float32)",
            );
        }
    };
    let width = match input.dims.as_deref() {
        Some([_, Some(width)]) => usize::try_from(*width).unwrap_or(0),
        // A column given as a list.
        Some([None]) => 1,
        _ => {
            return unread(
                format!("the input `{name}` does not say how many columns it has"),
                "export the model with the input shape [rows, columns], with a fixed number of columns",
            );
        }
    };
    if width == 0 || columns.len() + width > MOST_COLUMNS {
        return Err(damaged(format!("the input `{name}` has the impossible number of {width} columns")));
    }
    let steps: Vec<Step> = Step::new(Operation::Round, true).filter(|_| single).into_iter().collect();
    let first = columns.len();
    columns.extend((0..width).map(|i| if width == 1 { name.to_string() } else { format!("{name}[{i}]") }));
    let column = |index| Column { index, scaling: Scaling { steps: steps.clone() } };
    Ok(Columns { list: (first..first + width).map(column).collect(), single })
}
