//! `sogar predict`: the model's label and score of every row, to compare with your own stack.

use std::io::{self, Write};

use serde_json::json;
use sogar::files::write_atomically;
use sogar::model::Prediction;
use sogar::predict::{Matched, class_names};
use sogar::{Error, ErrorKind, Result};

use crate::args::PredictArgs;
use crate::files::Outputs;
use crate::output::{Exit, Output};
use crate::tables;

pub fn run(args: &PredictArgs, output: &Output) -> Result<Exit> {
    let inputs = std::iter::once(&args.table).chain(&args.model.model).chain(&args.config.config);
    Outputs::new(&args.output).inputs(inputs).checked()?;
    let (config, source) = args.config.resolve(&args.model)?;
    let table = tables::read(&args.table, &config.read_options()?)?;
    let model = source.open(&table, &config)?;
    let matched = Matched::new(&config, &table, &model)?;
    let classes = class_names(model.predictor.info(), matched.labels.as_ref(), &matched.config)?;
    for notice in matched.notices.iter().chain(&matched.encoder.unused(&matched.features.features)) {
        output.notice(notice);
    }
    let predictions = matched.predict(&model)?;
    matched.check_names(&model, &predictions)?;
    let mut text = Vec::new();
    if output.json {
        as_json(&predictions, &classes, &mut text)
    } else {
        as_csv(&predictions, &classes, &mut text)
    }
    .map_err(|cause| Error::new(ErrorKind::Output, cause.to_string()))?;
    match &args.output {
        Some(path) => write_atomically(path, |out| out.write_all(&text))?,
        None => output.print(String::from_utf8_lossy(&text))?,
    }
    Ok(Exit::Complete)
}

/// Labels are class numbers here, to compare with any library; `classes` has their names.
fn as_json(predictions: &[Prediction], classes: &[String], out: &mut Vec<u8>) -> io::Result<()> {
    let labels: Vec<u32> = predictions.iter().map(|prediction| prediction.label).collect();
    let scores: Vec<f64> = predictions.iter().map(|prediction| prediction.score).collect();
    serde_json::to_writer(&mut *out, &json!({ "classes": classes, "labels": labels, "scores": scores }))?;
    out.write_all(b"\n")
}

/// Labels are class names; rows count from 1, as in messages.
fn as_csv(predictions: &[Prediction], classes: &[String], out: &mut Vec<u8>) -> io::Result<()> {
    writeln!(out, "row,label,score")?;
    for (row, prediction) in predictions.iter().enumerate() {
        let label = classes.get(prediction.label as usize).map_or("?", String::as_str);
        writeln!(out, "{},{},{}", row + 1, quoted(label), prediction.score)?;
    }
    Ok(())
}

/// A text as a CSV field.
fn quoted(text: &str) -> String {
    if text.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}
