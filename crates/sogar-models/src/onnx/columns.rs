//! Operators that prepare columns: scalers, imputers, joining and selecting columns, and changes of shape that keep every row.

use std::rc::Rc;

use super::damaged;
use super::operators::Call;
use super::value::{Columns, Labels, ScorePart, Scores, Value};
use crate::network::Activation;
use crate::scaling::{Operation, Step};
use sogar_base::error::Result;

/// Columns in another precision.
pub(super) fn cast(columns: &Columns, single: bool) -> Columns {
    if columns.single == single {
        return columns.clone();
    }
    let mut columns = Columns { single, list: columns.list.clone() };
    if let (true, Some(round)) = (single, Step::new(Operation::Round, true)) {
        for column in &mut columns.list {
            column.scaling.steps.push(round);
        }
    }
    columns
}

/// `Scaler`: `(x − offset) · scale`, in single precision.
pub(super) fn scaled(call: &mut Call<'_, '_>) -> Result<Value> {
    let columns = call.columns()?;
    call.budget.take(columns.cost() + 2 * columns.list.len(), 2)?;
    let width = columns.list.len();
    let spread = |list: Vec<f64>, usual: f64| match list.len() {
        0 => Some(vec![usual; width]),
        1 => Some(vec![list[0]; width]),
        count if count == width => Some(list),
        _ => None,
    };
    let offset = spread(call.numbers("offset")?, 0.0);
    let scale = spread(call.numbers("scale")?, 1.0);
    let (Some(offset), Some(scale)) = (offset, scale) else {
        return Err(damaged(format!("a scaler has not as many numbers as there are columns ({width})")));
    };
    let columns = cast(&columns, true);
    let moved = columns.then(|i| Operation::Add(-offset[i]));
    let scaled = moved.and_then(|columns| columns.then(|i| Operation::Multiply(scale[i])));
    Ok(scaled.ok_or_else(|| call.unsupported("with a factor that is zero or not finite"))?.into())
}

/// `Imputer`: missing values are replaced.
pub(super) fn imputed(call: &mut Call<'_, '_>) -> Result<Value> {
    let columns = call.columns()?;
    call.budget.take(columns.cost() + columns.list.len(), 1)?;
    let fill = call.numbers("imputed_value_floats")?;
    let replaced = call.attributes.float("replaced_value_float");
    let width = columns.list.len();
    if !replaced.is_some_and(f32::is_nan) || !(fill.len() == width || fill.len() == 1) {
        return Err(call.unsupported("of anything but missing numbers"));
    }
    let filled = columns.then(|i| Operation::FillMissing(fill[i.min(fill.len() - 1)]));
    Ok(filled.ok_or_else(|| call.unsupported("with a replacement that is not finite"))?.into())
}

/// `Clip`: of columns, or of a network's outputs at zero from below, which is `Relu`.
pub(super) fn clipped(call: &mut Call<'_, '_>) -> Result<Value> {
    let bound = |index: usize, name: &str| match call.input(index) {
        Value::Absent => Ok(call.attributes.float(name).map(f64::from)),
        Value::Constant(bound) => Ok(bound.scalar()),
        _ => Err(call.unsupported("with bounds that vary")),
    };
    let (low, high) = (bound(1, "min")?, bound(2, "max")?);
    match call.input(0).clone() {
        Value::Columns(columns) => {
            call.budget.take(columns.cost() + columns.list.len(), 1)?;
            let (low, high) = (low.unwrap_or(f64::NEG_INFINITY), high.unwrap_or(f64::INFINITY));
            let clipped = columns.then(|_| Operation::Clip(low, high));
            Ok(clipped.ok_or_else(|| call.unsupported("with these bounds"))?.into())
        }
        Value::Scores(scores) if low == Some(0.0) && high.is_none_or(|high| high >= f64::from(f32::MAX)) => {
            let chain = scores.open_chain().ok_or_else(|| call.unsupported("at this place"))?;
            Ok(chain.activate(Activation::Relu, call.budget)?.into())
        }
        _ => Err(call.unsupported("at this place")),
    }
}

/// `Concat` and `FeatureVectorizer`: columns side by side, or `1 − p` beside `p`.
pub(super) fn joined(call: &mut Call<'_, '_>) -> Result<Value> {
    if call.node.operator == "Concat" && !matches!(call.attributes.integer("axis"), Some(1 | -1)) {
        return Err(call.unsupported("of rows"));
    }
    if let [Value::Scores(other), Value::Scores(scores)] = &call.inputs[..]
        && other.part == ScorePart::Complement
        && scores.is_one_probability()
        && other.same_source(scores)
    {
        return Ok(Value::Scores(Scores { part: ScorePart::Pair, ..scores.clone() }));
    }
    let mut list = Vec::new();
    let mut single = true;
    for value in &call.inputs {
        let Value::Columns(columns) = value else { return Err(call.unsupported("of anything but columns")) };
        call.budget.take(columns.cost(), 1)?;
        let columns = match call.node.operator {
            "Concat" => Columns::clone(columns),
            _ => cast(columns, true),
        };
        single = columns.single;
        list.extend(columns.list);
    }
    Ok(Columns { list, single }.into())
}

/// `Gather` and `ArrayFeatureExtractor`: some of the columns, the second of two scores, or names for classes.
pub(super) fn selected(call: &mut Call<'_, '_>, extractor: bool) -> Result<Value> {
    let axis = call.attributes.integer("axis").unwrap_or(0);
    if let (Some(names), Value::Labels(labels)) = (call.constant(0), call.input(1)) {
        let classes = Some(Rc::new(names.class_names()));
        let scores = Scores { classes, ..labels.scores.clone() };
        return Ok(Value::Labels(Labels { scores, rule: labels.rule }));
    }
    let indices = call.constant(1).and_then(|indices| indices.integers()).map(<[i64]>::to_vec);
    let Some(indices) = indices.filter(|_| extractor || axis == 1 || axis == -1) else {
        return Err(call.unsupported("at this place"));
    };
    match &call.input(0).clone() {
        Value::Columns(columns) => {
            call.budget.take(indices.len(), 1)?;
            let mut list = Vec::with_capacity(indices.len());
            for index in indices {
                let column = usize::try_from(index).ok().and_then(|index| columns.list.get(index));
                let column = column
                    .ok_or_else(|| damaged(format!("column {index} of {} is chosen", columns.list.len())))?;
                call.budget.take(1 + column.scaling.steps.len(), 1)?;
                list.push(column.clone());
            }
            Ok(Columns { list, single: columns.single }.into())
        }
        Value::Scores(scores) if indices == [1] && scores.part == ScorePart::Pair => {
            Ok(Value::Scores(Scores { part: ScorePart::All, ..scores.clone() }))
        }
        Value::Scores(scores) if indices == [1] && scores.part == ScorePart::All && scores.width() == 2 => {
            Ok(Value::Scores(Scores { part: ScorePart::Second, ..scores.clone() }))
        }
        _ => Err(call.unsupported("at this place")),
    }
}

/// `Reshape`, `Flatten`, `Squeeze`, `Unsqueeze`, if they keep one row of the same values per row.
pub(super) fn reshaped(call: &mut Call<'_, '_>) -> Result<Value> {
    let value = call.input(0).clone();
    let width = match &value {
        Value::Columns(columns) => columns.list.len(),
        Value::Scores(scores) => match scores.part {
            ScorePart::Pair => 2,
            ScorePart::Complement | ScorePart::Second => 1,
            ScorePart::All => scores.width(),
        },
        Value::Labels(_) => 1,
        Value::Constant(tensor) => return reshaped_constant(call, tensor.len()),
        Value::Absent | Value::Unknown(_) => return Err(call.unsupported("at this place")),
    };
    let keeps = match call.node.operator {
        "Flatten" => matches!(call.attributes.integer("axis"), None | Some(1)),
        "Reshape" => {
            let shape = call.constant(1).and_then(|shape| shape.integers()).unwrap_or_default();
            match shape {
                [-1] => width == 1,
                [-1 | 0, columns] => {
                    usize::try_from(*columns).is_ok_and(|columns| columns == width) || *columns == -1
                }
                _ => false,
            }
        }
        _ => width == 1 && axes(call).iter().all(|&axis| axis == 1 || axis == -1),
    };
    if keeps { Ok(value) } else { Err(call.unsupported("that moves values between rows")) }
}

/// The axes of a `Squeeze` or `Unsqueeze`: an attribute in old graphs, an input in new ones.
fn axes(call: &Call<'_, '_>) -> Vec<i64> {
    match call.constant(1).and_then(|axes| axes.integers()) {
        Some(axes) => axes.to_vec(),
        None => call.attributes.integers("axes").to_vec(),
    }
}

/// A constant in another shape; only the shapes that weights and thresholds need.
fn reshaped_constant(call: &mut Call<'_, '_>, count: usize) -> Result<Value> {
    let Some(tensor) = call.constant(0).map(Rc::clone) else { return Err(call.unsupported("at this place")) };
    call.budget.take(count, 1)?;
    let mut tensor = super::tensor::Tensor::clone(&tensor);
    match call.node.operator {
        "Reshape" => {
            let shape = call.constant(1).and_then(|shape| shape.integers()).unwrap_or_default();
            let dims: Option<Vec<usize>> = shape.iter().map(|&dim| usize::try_from(dim).ok()).collect();
            match dims {
                Some(dims) if dims.iter().try_fold(1usize, |a, &b| a.checked_mul(b)) == Some(count) => {
                    tensor.dims = dims
                }
                _ if shape == [-1] => tensor.dims = vec![count],
                _ => return Err(call.unsupported("of a constant to this shape")),
            }
        }
        "Unsqueeze" if axes(call) == [0] => tensor.dims.insert(0, 1),
        "Squeeze" if axes(call).is_empty() => tensor.dims.retain(|&dim| dim != 1),
        _ => return Err(call.unsupported("of a constant")),
    }
    Ok(tensor.into())
}

/// `1 − p` for the one probability `p`.
pub(super) fn complement(value: &Value) -> Option<Value> {
    match value {
        Value::Scores(scores) if scores.is_one_probability() => {
            Some(Value::Scores(Scores { part: ScorePart::Complement, ..scores.clone() }))
        }
        _ => None,
    }
}
