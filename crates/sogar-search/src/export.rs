//! A problem as arrays for other solvers: one NPZ file, readable with `numpy.load`. Python's `solve_matrix` takes the same arrays by the
//! same names.
//!
//! | array | shape | what |
//! |---|---|---|
//! | `splits` | rows × splits, bool | whether an affected row passes a split's test |
//! | `cost` | edits × rows, u32 | cost of each edit in units |
//! | `actions` | actions × k, i32 | the edits of each action, −1 where it has fewer |
//! | `flips` | actions × rows, bool | whether an action flips a row |
//! | `split_texts` | splits, text | each split in words |
//! | `edit_texts` | edits, text | each edit in words |
//! | `affected` | rows, i64 | the positions of the rows in the table |
//! | `weights` | rows, u32 | only with weights: how much each row counts, in units of weight |
//! | `max_depth`, `max_leaves`, `min_leaf` | numbers | limits of trees |
//! | `combine` | text | how the costs of an action's edits combine: `max` or `sum` |
//! | `unit` | number | units of cost in 1 |
//!
//! With weights, a row counts as often as its weight says, in cost, loss and leaf size: `min_leaf` is in units then.
//!
//! An action's cost on a row is the largest (or the sum) of its edits' costs. Flips are written row by row, so the
//! file needs no more memory than the problem itself.

use std::io::{Seek, Write};
use std::path::Path;

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use sogar_base::error::{Error, ErrorKind, Result};
use sogar_base::files::write_atomically;
use sogar_prepare::prepared::{Prepared, SolverProblem};
use sogar_solver::Combine;

/// Writes the arrays.
pub fn write_npz(prepared: &Prepared, problem: &SolverProblem, path: &Path) -> Result<()> {
    // A zip needs to seek, an atomic write is a stream: the archive goes to a temporary file first.
    let fault = |cause: String| Error::new(ErrorKind::Output, cause).file(path);
    let mut archive = tempfile::tempfile().map_err(|cause| fault(cause.to_string()))?;
    write_archive(prepared, problem, &mut archive).map_err(|cause| fault(cause.to_string()))?;
    archive.rewind().map_err(|cause| fault(cause.to_string()))?;
    write_atomically(path, |out| std::io::copy(&mut archive, out).map(|_| ()))
}

fn write_archive(
    prepared: &Prepared,
    problem: &SolverProblem,
    archive: &mut std::fs::File,
) -> std::result::Result<(), zip::result::ZipError> {
    let rows = prepared.affected().len();
    let (solver, actions) = (&problem.problem, &problem.actions);
    let mut zip = ZipWriter::new(archive);
    start(&mut zip, "splits", "|b1", &[rows, prepared.splits().len()])?;
    for row in 0..rows {
        let line: Vec<u8> =
            (0..solver.splits()).map(|split| u8::from(solver.split(split).contains(row))).collect();
        zip.write_all(&line)?;
    }
    start(&mut zip, "cost", "<u4", &[prepared.edits().len(), rows])?;
    for edit in 0..prepared.edits().len() {
        let line: Vec<u8> = solver.edit_cost(edit).iter().flat_map(|cost| cost.to_le_bytes()).collect();
        zip.write_all(&line)?;
    }
    let most = prepared.limits().max_edits as usize;
    start(&mut zip, "actions", "<i4", &[actions.len(), most])?;
    for action in actions.iter() {
        let padded = (0..most).map(|i| action.get(i).map_or(-1, |&edit| edit as i32));
        zip.write_all(&padded.flat_map(i32::to_le_bytes).collect::<Vec<u8>>())?;
    }
    start(&mut zip, "flips", "|b1", &[actions.len(), rows])?;
    for action in 0..actions.len() {
        zip.write_all(&(0..rows).map(|row| u8::from(solver.flips(action, row))).collect::<Vec<u8>>())?;
    }
    let features = &prepared.table().features;
    let questions: Vec<String> = prepared.splits().iter().map(|split| split.text(features)).collect();
    let edits: Vec<String> = prepared.edits().iter().map(|edit| edit.text(features)).collect();
    write_texts(&mut zip, "split_texts", &questions)?;
    write_texts(&mut zip, "edit_texts", &edits)?;
    start(&mut zip, "affected", "<i8", &[rows])?;
    let places = prepared.problem_rows().iter().map(|&row| prepared.place(row) as i64);
    zip.write_all(&places.flat_map(i64::to_le_bytes).collect::<Vec<u8>>())?;
    if prepared.table().weights.is_some() {
        start(&mut zip, "weights", "<u4", &[rows])?;
        let weights = prepared.problem_rows().iter().map(|&row| prepared.table().weight(row));
        zip.write_all(&weights.flat_map(u32::to_le_bytes).collect::<Vec<u8>>())?;
    }
    let numbers = [
        ("max_depth", u64::from(prepared.limits().max_depth)),
        ("max_leaves", u64::from(prepared.limits().max_leaves)),
        ("min_leaf", u64::from(prepared.min_leaf())),
        ("unit", prepared.cost().unit()),
    ];
    for (name, number) in numbers {
        start(&mut zip, name, "<i8", &[])?;
        zip.write_all(&number.to_le_bytes())?;
    }
    let combine = match prepared.cost().combine() {
        Combine::Max => "max",
        Combine::Sum => "sum",
    };
    start(&mut zip, "combine", "<U3", &[])?;
    zip.write_all(&combine.chars().flat_map(|letter| u32::from(letter).to_le_bytes()).collect::<Vec<u8>>())?;
    zip.finish()?;
    Ok(())
}

/// Writes an array of strings: NumPy stores them as UTF-32, padded to the longest.
fn write_texts<W: Write + Seek>(
    zip: &mut ZipWriter<W>,
    name: &str,
    texts: &[String],
) -> std::result::Result<(), zip::result::ZipError> {
    let longest = texts.iter().map(|text| text.chars().count()).max().unwrap_or(0).max(1);
    start(zip, name, &format!("<U{longest}"), &[texts.len()])?;
    for text in texts {
        let padded = text.chars().map(u32::from).chain(std::iter::repeat(0)).take(longest);
        zip.write_all(&padded.flat_map(u32::to_le_bytes).collect::<Vec<u8>>())?;
    }
    Ok(())
}

/// Starts an array: a member of the archive with NumPy's header (version 1.0). The data follow in C order.
fn start<W: Write + Seek>(
    zip: &mut ZipWriter<W>,
    name: &str,
    kind: &str,
    shape: &[usize],
) -> std::result::Result<(), zip::result::ZipError> {
    zip.start_file(format!("{name}.npy"), SimpleFileOptions::default().large_file(true))?;
    let sizes: Vec<String> = shape.iter().map(|size| format!("{size},")).collect();
    let mut header =
        format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({}), }}", sizes.join(" "));
    // Magic, version and length take 10 bytes; the data starts at a multiple of 64.
    header += &" ".repeat(63 - (10 + header.len()) % 64);
    header.push('\n');
    zip.write_all(b"\x93NUMPY\x01\x00")?;
    zip.write_all(&(header.len() as u16).to_le_bytes())?;
    zip.write_all(header.as_bytes())?;
    Ok(())
}
