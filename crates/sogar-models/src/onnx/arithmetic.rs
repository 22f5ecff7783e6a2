//! `Add`, `Sub`, `Mul` and `Div` with a constant: a scaler on columns, a bias or a factor behind a layer.

use super::chain::Affine;
use super::columns::complement;
use super::operators::Call;
use super::tensor::Tensor;
use super::value::{Columns, Value};
use crate::scaling::Operation;
use sogar_base::error::Result;

pub(super) fn evaluate(call: &mut Call<'_, '_>) -> Result<Value> {
    let operator = call.node.operator;
    // The varying side, and the constant on the other.
    let (varying, constant, swapped) = match (call.constant(0).cloned(), call.constant(1).cloned()) {
        (None, Some(constant)) => (0, constant, false),
        (Some(constant), None) => (1, constant, true),
        (Some(_), Some(_)) => return Err(call.unsupported("of two constants")),
        (None, None) => return Err(call.unsupported("of two values that vary")),
    };
    if operator == "Div" && swapped {
        return Err(call.unsupported("by a value that varies"));
    }
    let value = call.input(varying).clone();
    if operator == "Sub"
        && swapped
        && constant.scalar() == Some(1.0)
        && let Some(other) = complement(&value)
    {
        return Ok(other);
    }
    match value {
        Value::Columns(columns) => scaled_columns(call, &columns, &constant, swapped),
        _ => call.affine(varying, |width| {
            let constant = constant.per_column(width)?;
            let (ones, zeros) = (vec![1.0; width], vec![0.0; width]);
            let negative = |list: &[f64]| list.iter().map(|value| -value).collect();
            Some(match (operator, swapped) {
                ("Add", _) => Affine { factor: ones, shift: constant },
                ("Sub", false) => Affine { factor: ones, shift: negative(&constant) },
                ("Sub", true) => Affine { factor: negative(&ones), shift: constant },
                ("Mul", _) => Affine { factor: constant, shift: zeros },
                _ => Affine { factor: constant.iter().map(|value| 1.0 / value).collect(), shift: zeros },
            })
        }),
    }
}

fn scaled_columns(
    call: &mut Call<'_, '_>,
    columns: &Columns,
    constant: &Tensor,
    swapped: bool,
) -> Result<Value> {
    call.budget.take(columns.cost() + columns.list.len(), 1)?;
    let numbers = constant.per_column(columns.list.len());
    let numbers = numbers.ok_or_else(|| call.unsupported("with a constant of this shape"))?;
    let scaled = columns.then(|i| match (call.node.operator, swapped) {
        ("Add", _) => Operation::Add(numbers[i]),
        ("Sub", false) => Operation::Add(-numbers[i]),
        ("Sub", true) => Operation::SubtractFrom(numbers[i]),
        ("Mul", _) => Operation::Multiply(numbers[i]),
        _ => Operation::Divide(numbers[i]),
    });
    Ok(scaled.ok_or_else(|| call.unsupported("with a constant that is zero or not finite"))?.into())
}
