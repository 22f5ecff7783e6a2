//! `sogar select`: points of a front by one or more criteria.

use serde_json::{Value, json};
use sogar::Result;
use sogar::describe::rules_text;
use sogar::select::{By, select};
use sogar::summary::FrontFile;

use super::show::{point_json, title};
use crate::args::SelectArgs;
use crate::output::{Exit, Output};

pub fn run(args: &SelectArgs, output: &Output) -> Result<Exit> {
    let front = FrontFile::read(&args.front)?;
    let criteria: Vec<By> = args.by.iter().map(|text| text.parse()).collect::<Result<_>>()?;
    let chosen: Vec<usize> = criteria.iter().map(|&by| select(&front, by)).collect::<Result<_>>()?;
    if output.json {
        let picks: Vec<Value> = criteria
            .iter()
            .zip(&chosen)
            .map(|(by, &point)| {
                let mut pick = point_json(&front, point);
                pick["by"] = json!(by.to_string());
                pick
            })
            .collect();
        output.print_json(&json!({ "picks": picks }))?;
        return Ok(Exit::Complete);
    }
    for (number, (by, &point)) in criteria.iter().zip(&chosen).enumerate() {
        let gap = if number > 0 { "\n" } else { "" };
        output.print(format!("{gap}By {by}:\n"))?;
        output.print(title(&front, point) + &rules_text(&front, &front.points[point].tree))?;
    }
    Ok(Exit::Complete)
}
