//! Operators that are one dense layer: matrix products, batch normalisation, linear models.

use std::rc::Rc;

use super::chain::Affine;
use super::operators::Call;
use super::value::{LabelRule, Labels, ScorePart, Scores, Squash, Value};
use super::{damaged, ensembles};
use crate::network::Activation;
use sogar_base::error::Result;

/// `Gemm` and `MatMul` with constant weights.
pub(super) fn product(call: &mut Call<'_, '_>) -> Result<Value> {
    let Some(weights) = call.constant(1).map(Rc::clone) else {
        return Err(call.unsupported("of two values that vary"));
    };
    let (rows, columns, list) =
        weights.matrix().ok_or_else(|| call.unsupported("with weights that are no matrix"))?;
    let gemm = call.node.operator == "Gemm";
    if gemm && call.attributes.integer("transA").unwrap_or(0) != 0 {
        return Err(call.unsupported("of transposed rows"));
    }
    let factor = |name: &str| if gemm { call.attributes.float(name).map_or(1.0, f64::from) } else { 1.0 };
    let (alpha, beta) = (factor("alpha"), factor("beta"));
    let transposed = gemm && call.attributes.integer("transB").unwrap_or(0) != 0;
    // Our layout has a row per output.
    let (outputs, inputs, mut list) = if transposed {
        (rows, columns, list)
    } else {
        let turned = weights.transposed().and_then(|turned| turned.numbers()).unwrap_or_default();
        (columns, rows, turned)
    };
    if alpha != 1.0 {
        list.iter_mut().for_each(|weight| *weight *= alpha);
    }
    let bias = match call.input(2) {
        Value::Absent => vec![0.0; outputs],
        Value::Constant(bias) if gemm => {
            let bias =
                bias.per_column(outputs).ok_or_else(|| call.unsupported("with a bias of this shape"))?;
            bias.iter().map(|value| value * beta).collect()
        }
        _ => return Err(call.unsupported("with a bias that varies")),
    };
    Ok(call.layer(outputs, inputs, list, bias)?.into())
}

/// `BatchNormalization` with fixed statistics.
pub(super) fn batch_normalisation(call: &mut Call<'_, '_>) -> Result<Value> {
    if call.attributes.integer("training_mode").unwrap_or(0) != 0 {
        return Err(call.unsupported("in training mode"));
    }
    let epsilon = call.attributes.float("epsilon").map_or(1e-5, f64::from);
    let mut lists = Vec::with_capacity(4);
    for index in 1..5 {
        let list = call.constant(index).and_then(|tensor| tensor.numbers());
        lists.push(list.ok_or_else(|| call.unsupported("with statistics that vary"))?);
    }
    call.affine(0, |width| {
        if lists.iter().any(|list| list.len() != width) {
            return None;
        }
        let factor: Vec<f64> = (0..width).map(|i| lists[0][i] / (lists[3][i] + epsilon).sqrt()).collect();
        let shift = (0..width).map(|i| lists[1][i] - lists[2][i] * factor[i]).collect();
        Some(Affine { factor, shift })
    })
}

/// The rows of coefficients of a linear model, and as many intercepts.
fn coefficients(call: &mut Call<'_, '_>, rows: usize) -> Result<(usize, Vec<f64>, Vec<f64>)> {
    let weights = call.numbers("coefficients")?;
    let intercepts = call.numbers("intercepts")?;
    if rows == 0 || weights.is_empty() || !weights.len().is_multiple_of(rows) {
        return Err(damaged(format!("a linear model has {} coefficients for {rows} scores", weights.len())));
    }
    let intercepts = match intercepts.len() {
        0 => vec![0.0; rows],
        count if count == rows => intercepts,
        count => return Err(damaged(format!("a linear model has {count} intercepts for {rows} scores"))),
    };
    Ok((weights.len() / rows, weights, intercepts))
}

/// `LinearRegressor`.
pub(super) fn regressor(call: &mut Call<'_, '_>) -> Result<Value> {
    if !matches!(call.attributes.text("post_transform")?, "" | "NONE") {
        return Err(call.unsupported("with a post-transform"));
    }
    let rows = usize::try_from(call.attributes.integer("targets").unwrap_or(1)).unwrap_or(0);
    let (inputs, weights, intercepts) = coefficients(call, rows)?;
    Ok(call.layer(rows, inputs, weights, intercepts)?.into())
}

/// `LinearClassifier`: labels and scores.
pub(super) fn classifier(call: &mut Call<'_, '_>) -> Result<Vec<Value>> {
    let classes = ensembles::class_names(call, "classlabels_strings", "classlabels_ints");
    let rows = call.numbers("intercepts")?.len();
    let rows = if rows == 0 { classes.len() } else { rows };
    if classes.len() < 2 || !(rows == classes.len() || (rows == 1 && classes.len() == 2)) {
        return Err(damaged(format!("a linear classifier has {rows} scores for {} classes", classes.len())));
    }
    let (inputs, mut weights, mut intercepts) = coefficients(call, rows)?;
    // scikit-learn's two classes: the same score with either sign.
    let mirrored = rows == 2
        && (0..inputs).all(|input| weights[input] == -weights[inputs + input])
        && intercepts[0] == -intercepts[1];
    if mirrored {
        weights.drain(..inputs);
        intercepts.remove(0);
    }
    let outputs = intercepts.len();
    let chain = call.layer(outputs, inputs, weights, intercepts)?;
    let post = call.attributes.text("post_transform")?;
    let (scores, rule) = match (post, outputs) {
        ("LOGISTIC", 1) => {
            let chain = chain.activate(Activation::Sigmoid, call.budget)?;
            (Scores { part: ScorePart::Pair, ..Scores::network(chain) }, LabelRule::Own)
        }
        ("" | "NONE", 1) => {
            (Scores { part: ScorePart::Pair, ..Scores::network(chain) }, LabelRule::Above(0.0))
        }
        ("" | "NONE", _) => (Scores::network(chain), LabelRule::Largest),
        ("SOFTMAX", 2..) => {
            (Scores { squash: Squash::Softmax, ..Scores::network(chain) }, LabelRule::Largest)
        }
        _ => return Err(call.unsupported(&format!("with the post-transform {post} of {outputs} scores"))),
    };
    let scores = Scores { classes: Some(Rc::new(classes)), ..scores };
    Ok(vec![Value::Labels(Labels { scores: scores.clone(), rule }), Value::Scores(scores)])
}
