//! What holds for people not yet seen: guaranteed choices, and conditions on an evaluation.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use sogar::evaluate::{Condition, HeldOut};
use sogar::guarantee::{GuaranteeRequest, guaranteed as guaranteed_point};
use sogar::summary::Evaluation;

use crate::errors::{OrRaise, json};
use crate::front::Front;
use crate::people::Side;
use crate::problem::Problem;
use crate::running::run_detached;
use crate::table::Table;

/// The cheapest point that keeps a limit among future people: its number, how it was found as JSON, and warnings.
#[pyfunction]
#[pyo3(signature = (problem, front, calibration, guarantee, confidence, groups, *, columns=None, calibration_columns=None))]
#[allow(clippy::too_many_arguments)]
pub fn guaranteed(
    py: Python<'_>,
    problem: &Problem,
    front: &Front,
    calibration: &Table,
    guarantee: &str,
    confidence: f64,
    groups: Vec<String>,
    columns: Option<&Table>,
    calibration_columns: Option<&Table>,
) -> PyResult<(usize, String, Vec<String>)> {
    let groups = groups.iter().map(|text| text.parse()).collect::<sogar::Result<_>>().or_raise(py)?;
    let request = GuaranteeRequest { guarantee: guarantee.parse().or_raise(py)?, confidence, groups };
    let (fitted, others) =
        (Side::new(&problem.reference, columns), Side::new(&calibration.inner, calibration_columns));
    let (prepared, front) = (problem.prepared.clone(), front.inner.clone());
    let found = run_detached(py, move || {
        let held_out = HeldOut::new(&prepared, &others.table)?;
        guaranteed_point(&front, &prepared, &fitted.joined()?, (&held_out, &others.joined()?), &request)
    })?;
    let found = found.map_err(|error| problem.exception(py, &error))?;
    Ok((found.point, json(&found)?, found.warning().into_iter().collect()))
}

/// The results of conditions on a point of an evaluation, both as JSON.
#[pyfunction]
pub fn judge_evaluation(
    py: Python<'_>,
    front: &Front,
    evaluation: &str,
    conditions: Vec<String>,
    point: usize,
) -> PyResult<String> {
    front.point(point)?;
    let evaluation: Evaluation =
        serde_json::from_str(evaluation).map_err(|cause| PyValueError::new_err(cause.to_string()))?;
    let judged = |text: &String| text.parse::<Condition>()?.judge(&front.inner, &evaluation, point);
    let verdicts: Vec<_> = conditions.iter().map(judged).collect::<sogar::Result<_>>().or_raise(py)?;
    json(&verdicts)
}
