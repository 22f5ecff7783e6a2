//! Another build of sogar on the same problem, in the same run: how much faster this one is than the version before.

use std::path::Path;
use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sogar::Result;
use sogar_solver::{Outcome, SearchStatus};

use super::failed;
use super::measure::Task;

/// What the other build took.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Against {
    pub outcomes: f64,
    pub search: f64,
    pub leaf_sets: u64,
    pub complete: bool,
    /// Whether both are complete and have different points.
    pub differs: bool,
}

/// Runs `sogar solve` of the other build. `None` if its flags can't describe the problem, as of plain matrices.
pub fn run_other(program: &Path, task: &Task, own: &Outcome) -> Result<Option<Against>> {
    let (Some(files), Some(flags)) = (task.places.files(&task.case.name), task.case.variation.flags()) else {
        return Ok(None);
    };
    let depth = task.case.depth;
    let front = std::env::temp_dir().join(format!("sogar-bench-{}.json", std::process::id()));
    let mut command = Command::new(program);
    command.arg("solve").arg(&files.table).arg("--model").arg(&files.model).args(flags);
    command.args([
        "--quiet",
        "--max-depth",
        &depth.to_string(),
        "--max-leaves",
        &(1u64 << depth.min(20)).to_string(),
    ]);
    match &files.preset {
        Some(preset) => command.arg("--preset").arg(preset),
        None => command.arg("--config").arg(files.folder.join("sogar.toml")),
    };
    if let Some(seconds) = task.time_limit {
        command.arg("--time-limit").arg(seconds.to_string());
    }
    let status = command.arg("--output").arg(&front).stdout(Stdio::null()).status();
    let status = status.map_err(|cause| failed(&format!("starting {}", program.display()), &cause))?;
    let text =
        std::fs::read(&front).map_err(|cause| failed(&format!("{}: {status}", program.display()), &cause))?;
    let _ = std::fs::remove_file(&front);
    let file: Value = serde_json::from_slice(&text).map_err(|cause| failed("reading its front", &cause))?;
    let run = &file["run"];
    let complete = file["status"] == "complete";
    let pairs = |point: &Value| (point["cost_sum"].as_u64(), point["loss_count"].as_u64());
    let theirs: Option<Vec<_>> = file["points"].as_array().map(|points| points.iter().map(pairs).collect());
    let ours: Vec<_> = own.front.iter().map(|point| (Some(point.cost), Some(point.loss))).collect();
    Ok(Some(Against {
        outcomes: run["seconds_outcomes"].as_f64().unwrap_or(f64::NAN),
        search: run["seconds_search"].as_f64().unwrap_or(f64::NAN),
        leaf_sets: run["leaf_sets"].as_u64().unwrap_or(0),
        complete,
        differs: complete && own.status == SearchStatus::Complete && theirs != Some(ours),
    }))
}
