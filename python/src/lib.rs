//! The native half of the Python package `sogar`: a thin layer over the crates `sogar` and `sogar-solver`.
//!
//! Nothing is computed here. Each file exposes one class or function of the engine to Python ([`table`], [`model`], [`problem`],
//! [`front`], [`people`], [`matrix`], [`distributed`], [`partitioned_audit`]) or connects the two: [`errors`] are exceptions,
//! [`running`] does long work without the interpreter's lock and listens for Ctrl-C, [`functions`] are Python callables inside
//! the engine, [`arrow`] reads data frames. The user interface is written in Python, in `sogar/`.

mod arrow;
mod assurance;
mod derived;
mod distributed;
mod errors;
mod front;
mod functions;
mod layers;
mod matrix;
mod model;
mod partitioned_audit;
mod people;
mod problem;
mod routing;
mod running;
mod settings;
mod studio;
mod table;
mod trees;

use pyo3::prelude::*;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The engine of sogar.
#[pymodule]
mod _native {
    use super::*;

    #[pymodule_export]
    use super::assurance::{guaranteed, judge_evaluation};
    #[pymodule_export]
    use super::distributed::{
        FrontMerger, OutcomeTask, WorkerSearch, cheapest_block, evaluate_part, evaluation_of,
        everybody_block, flips_of, gathered, outcome_task, outcomes_block, outcomes_identity,
        problem_skeleton, weights_of,
    };
    #[pymodule_export]
    use super::front::Front;
    #[pymodule_export]
    use super::matrix::solve_matrix;
    #[pymodule_export]
    use super::model::Model;
    #[pymodule_export]
    use super::partitioned_audit::{AuditLeader, audit_part, reach_block, reach_part};
    #[pymodule_export]
    use super::people::{
        Explanation, audit, bias_audit, counterfactuals, explain, is_gap, neighbours, report, select_by_gap,
    };
    #[pymodule_export]
    use super::problem::{Problem, is_parquet_table};
    #[pymodule_export]
    use super::settings::{check_config, init_config, preset, read_config};
    #[pymodule_export]
    use super::studio::Studio;
    #[pymodule_export]
    use super::table::Table;

    /// A text with escaped control characters and direction marks.
    #[pyfunction]
    fn visible(text: &str) -> String {
        sogar::markup::visible(text)
    }

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
