//! `sogar model inspect`: describes a model file without a table.

use std::path::Path;

use serde_json::{Value, json};
use sogar::Result;
use sogar::describe::grouped;
use sogar::feature::format_number;
use sogar::markup::visible;
use sogar::model::{self, LoadedModel};

use crate::args::{ModelArgs, ModelCommand};
use crate::output::{Exit, Output, Text, heading};

/// Number of names and categories to print before the rest is counted.
const SHOWN: usize = 8;

pub fn run(args: &ModelArgs, output: &Output) -> Result<Exit> {
    let ModelCommand::Inspect { model: path } = &args.command;
    let model = model::load(path, None)?;
    if output.json {
        output.print_json(&as_json(&model))?;
    } else {
        output.print(text(&model, path))?;
    }
    Ok(Exit::Complete)
}

fn as_json(model: &LoadedModel) -> Value {
    let info = model.predictor.info();
    let categories = |column: usize| info.categories.get(column).filter(|list| !list.is_empty());
    let columns: Vec<Value> = info
        .columns
        .iter()
        .enumerate()
        .map(|(column, name)| match categories(column) {
            Some(list) => json!({ "name": name, "categories": list }),
            None => json!({ "name": name }),
        })
        .collect();
    let mut value = json!({
        "format": info.format,
        "description": info.description,
        "hash": model.hash,
        "columns": columns,
        "classes": info.classes,
        "threshold": info.threshold,
    });
    if !info.class_names.is_empty() {
        value["class_names"] = json!(info.class_names);
    }
    if let Some(trees) = model.predictor.tree_ensemble() {
        value["trees"] = json!(trees.trees.len());
        value["leaves"] = json!(trees.leaf_count());
    }
    if let Some(network) = model.predictor.dense_network() {
        let layers: Vec<Value> = network
            .layers
            .iter()
            .map(|layer| json!({ "inputs": layer.inputs, "outputs": layer.outputs }))
            .collect();
        value["layers"] = json!(layers);
    }
    value
}

fn text(model: &LoadedModel, path: &Path) -> Text {
    let info = model.predictor.info();
    let mut text = heading(&format!("{}: {}", path.display(), info.format));
    text += &format!("  {}\n", info.description);
    if let Some(network) = model.predictor.dense_network() {
        let widths = network.layers.iter().map(|layer| layer.outputs.to_string());
        let widths: Vec<String> = std::iter::once(network.inputs.to_string()).chain(widths).collect();
        text += &format!("  layers     {}\n", widths.join(" → "));
    }
    let names =
        if info.class_names.is_empty() { String::new() } else { format!(": {}", some(&info.class_names)) };
    text += &format!("  classes    {}{names}\n", info.classes);
    text += match info.threshold {
        Some(threshold) => format!("  threshold  class 1 above {}\n", format_number(threshold)),
        None => "  threshold  none: the class with the highest score\n".to_owned(),
    };
    text += &format!("  hash       {}\n", model.hash);
    text += &format!("  columns    {}\n", grouped(info.columns.len()));
    for (column, name) in info.columns.iter().enumerate() {
        let list = info.categories.get(column).map_or(&[][..], Vec::as_slice);
        let list = if list.is_empty() { String::new() } else { format!(": {}", some(list)) };
        text += &format!("    {}{list}\n", visible(name));
    }
    for list in &info.unplaced_categories {
        text += &format!("    (of a column that the file does not name): {}\n", some(list));
    }
    text
}

/// The first few names, and how many more there are.
fn some(names: &[String]) -> String {
    let more = names.len().saturating_sub(SHOWN);
    let shown = visible(&names[..names.len() - more].join(", "));
    if more > 0 { format!("{shown} and {} more", grouped(more)) } else { shown }
}
