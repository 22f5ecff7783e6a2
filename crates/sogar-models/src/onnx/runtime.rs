//! Graphs that are neither a dense network nor trees, evaluated by an ONNX runtime.
//!
//! They are black boxes: every edited row is scored. The runtime (tract, in plain Rust) is behind the feature `onnx-runtime`,
//! because building it takes long. It gets only the bytes of one file: weights in other files are refused, and a fault of the
//! runtime is an error instead of the end of the program.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use tract_onnx::data_resolver::ModelDataResolver;
use tract_onnx::prelude::*;

use super::answer::{needs_threshold, no_threshold, probability};
use super::proto::{Graph, ValueInfo};
use super::tensor::kinds;
use crate::{Answers, Batching, Callback, ModelInfo, Predictor, Rows};
use sogar_base::error::{Error, ErrorKind, Result};

/// Rows per call of the runtime.
const BATCH: usize = 4096;

/// Opens no file except the model.
struct NoOtherFiles;

impl ModelDataResolver for NoOtherFiles {
    fn read_bytes_from_path(
        &self,
        _: &mut Vec<u8>,
        path: &Path,
        _: usize,
        _: Option<usize>,
    ) -> TractResult<()> {
        Err(TractError::msg(format!("weights in another file ({}) are not read", path.display())))
    }
}

type Plan = Arc<TypedRunnableModel>;

/// The graph as a function of rows with these columns.
pub(super) fn predictor(
    bytes: &[u8],
    graph: &Graph<'_>,
    columns: Vec<String>,
    threshold: Option<f64>,
) -> Result<Arc<dyn Predictor>> {
    let inputs: Vec<Input> = inputs(graph).collect();
    let plan = guarded(|| prepare(bytes, &inputs))?;
    // A first row shows what the outputs are.
    let first =
        guarded(|| run(&plan, &inputs, Rows { values: &vec![0.0; columns.len()], columns: columns.len() }))?;
    let (output, width) = scores_among(&first)?;
    let decision = decide(graph, output, width, threshold)?;
    let info = ModelInfo {
        format: "ONNX".into(),
        description: format!("{} operators, evaluated by an ONNX runtime", graph.nodes.len()),
        categories: vec![Vec::new(); columns.len()],
        columns,
        unplaced_categories: Vec::new(),
        classes: u32::try_from(width.max(2)).unwrap_or(u32::MAX),
        class_names: Vec::new(),
        threshold: decision.threshold,
    };
    let scored = move |rows: Rows<'_>| {
        let outputs = guarded(|| run(&plan, &inputs, rows))?;
        let scores = outputs.get(output).map_or(&[][..], |(scores, _)| scores);
        Ok(Answers::Scores(match decision.reading {
            Reading::AsTheyAre => scores.to_vec(),
            Reading::Second => scores.chunks_exact(2).map(|pair| pair[1]).collect(),
            Reading::Difference => scores.chunks_exact(2).map(|pair| pair[1] - pair[0]).collect(),
        }))
    };
    let at_once = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    Ok(Arc::new(Callback::new(info, scored).batching(Batching { rows: BATCH, at_once })))
}

/// An input of the graph: its type and its number of model columns.
struct Input {
    kind: DatumType,
    width: usize,
    /// Whether its shape is `[rows]` instead of `[rows, columns]`.
    list: bool,
}

/// The inputs, which the walk through the graph found to be numbers of known width.
fn inputs<'g>(graph: &'g Graph<'_>) -> impl Iterator<Item = Input> + 'g {
    let weights = |info: &ValueInfo<'_>| graph.initializers.iter().any(|weights| weights.name == info.name);
    graph.inputs.iter().filter(move |info| !weights(info)).map(|info| {
        let kind = match info.kind {
            kinds::DOUBLE => DatumType::F64,
            kinds::INT32 => DatumType::I32,
            kinds::INT64 => DatumType::I64,
            _ => DatumType::F32,
        };
        match info.dims.as_deref() {
            Some([_, Some(width)]) => {
                Input { kind, width: usize::try_from(*width).unwrap_or(0), list: false }
            }
            _ => Input { kind, width: 1, list: true },
        }
    })
}

fn prepare(bytes: &[u8], inputs: &[Input]) -> TractResult<Plan> {
    let mut runtime = tract_onnx::onnx().with_ignore_value_info(true).with_ignore_output_shapes(true);
    runtime.provider = Arc::new(NoOtherFiles);
    let mut model = runtime.model_for_read(&mut &*bytes)?;
    let rows = model.symbols.sym("rows");
    for (position, input) in inputs.iter().enumerate() {
        let mut shape: TVec<TDim> = tvec![rows.clone().into()];
        if !input.list {
            shape.push(input.width.into());
        }
        model.set_input_fact(position, InferenceFact::dt_shape(input.kind, shape))?;
    }
    model.into_optimized()?.into_runnable()
}

/// For each output that is a table of numbers: these numbers, row by row, and their count per row; others are empty.
fn run(plan: &Plan, inputs: &[Input], rows: Rows<'_>) -> TractResult<Vec<(Vec<f64>, usize)>> {
    let count = rows.iter().len();
    let mut first = 0;
    let mut tensors: TVec<TValue> = tvec![];
    for input in inputs {
        let mut values = Vec::with_capacity(count * input.width);
        for row in rows.iter() {
            values.extend_from_slice(&row[first..first + input.width]);
        }
        first += input.width;
        let shape = [count, input.width];
        let tensor = Tensor::from_shape(&shape[..if input.list { 1 } else { 2 }], &values)?;
        tensors.push(tensor.cast_to_dt(input.kind)?.into_owned().into_tvalue());
    }
    let made = plan.run(tensors)?;
    made.iter()
        .map(|tensor| {
            let fits = matches!(tensor.shape(), [rows] | [rows, _] if *rows == count);
            if !fits || !tensor.datum_type().is_float() {
                return Ok((Vec::new(), 0));
            }
            let numbers = tensor.cast_to::<f64>()?;
            let numbers: Vec<f64> = numbers.to_plain_array_view::<f64>()?.iter().copied().collect();
            let width = numbers.len() / count.max(1);
            Ok((numbers, width))
        })
        .collect()
}

/// The last output with scores, and their count per row.
fn scores_among(outputs: &[(Vec<f64>, usize)]) -> Result<(usize, usize)> {
    let found = outputs.iter().enumerate().rev().find(|(_, (_, width))| *width > 0);
    found.map(|(position, (_, width))| (position, *width)).ok_or_else(|| {
        Error::new(
            ErrorKind::Model,
            "no output of the graph has a number, or one for each class, for every row",
        )
        .help("export the classifier with its scores or probabilities as an output")
    })
}

/// How scores become labels.
struct Decides {
    threshold: Option<f64>,
    reading: Reading,
}

/// Which numbers of a row count.
#[derive(Clone, Copy)]
enum Reading {
    /// All of them.
    AsTheyAre,
    /// The second of two probabilities, that of class 1.
    Second,
    /// The difference of two scores, whose sign shows which is larger.
    Difference,
}

fn decide(graph: &Graph<'_>, output: usize, width: usize, threshold: Option<f64>) -> Result<Decides> {
    let name = graph.outputs.get(output).map_or("", |output| output.name);
    let last = graph.nodes.iter().find(|node| node.outputs.contains(&name)).map_or("", |node| node.operator);
    let (threshold, reading) = match (width, last) {
        (1, "Sigmoid") => (Some(probability(threshold.unwrap_or(0.5))?), Reading::AsTheyAre),
        (1, _) => (Some(threshold.ok_or_else(needs_threshold)?), Reading::AsTheyAre),
        (2, "Softmax") => (Some(probability(threshold.unwrap_or(0.5))?), Reading::Second),
        _ if threshold.is_some() => return Err(no_threshold()),
        (2, _) => (Some(0.0), Reading::Difference),
        _ => (None, Reading::AsTheyAre),
    };
    Ok(Decides { threshold, reading })
}

/// Runs the runtime's code; a failure in it is an error about the model.
fn guarded<T>(work: impl FnOnce() -> TractResult<T>) -> Result<T> {
    let fault = |why: String| {
        Error::new(ErrorKind::Model, format!("the ONNX runtime cannot evaluate this graph: {why}")).help(
            "export the model without the step that is named, or give it as a command (`--model-command`)",
        )
    };
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(made)) => Ok(made),
        Ok(Err(error)) => Err(fault(format!("{error:#}"))),
        Err(_) => Err(fault("it failed in the middle".into())),
    }
}
