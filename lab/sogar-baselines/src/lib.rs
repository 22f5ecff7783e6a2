//! Methods that compete with sogar, behind one contract and scored by one evaluator.
//!
//! A comparison is meaningful only if every method sees the same people, the same model and the same constraints, and if the same
//! code counts costs and losses. So a method is a [`Baseline`]: it is fitted on a [`Prepared`](sogar::pipeline::Prepared) run,
//! proposes one change for every row, and describes itself ([`contract`]). [`mod@evaluate`] applies the proposals and counts; no
//! method scores itself.
//!
//! | method | module |
//! |---|---|
//! | CET: a tree with one action per leaf, found by annealing | [`cet`] |
//! | AReS: eight rules “if … then change …” and a default, chosen greedily from frequent sets of conditions | [`ares`] |
//! | GLOBE-CE: one direction, along which each person goes as far as they need, or everyone equally far | [`globe_ce`] |
//! | GLANCE: the actions of clusters, merged by people and counterfactuals | [`glance`] |
//! | T-CREx: regions of a surrogate tree in which nearly everyone is accepted | [`tcrex`] |
//!
//! To add a method, implement [`Baseline`] and [`Fitted`], and list it in [`methods`]; [`constraints`] says which changes the
//! user allows, and the evaluator needs no change. [`contest`] runs one method on one table; the crate `sogar-experiment` runs the
//! published evaluation.
//!
//! ```no_run
//! use sogar_baselines::{Baseline, Stop, TCrex, evaluate};
//! # fn compare(prepared: &sogar::pipeline::Prepared) -> sogar::Result<()> {
//! let fitted = TCrex::with_purity(0.9).fit(prepared, 0, &Stop::default())?;
//! let assigned = fitted.assign(prepared, prepared.table(), prepared.problem_rows())?;
//! let score = evaluate(prepared, prepared.table(), prepared.problem_rows(), &assigned)?;
//! assert!(score.invalidity <= 2.0);
//! # Ok(())
//! # }
//! ```

pub mod ares;
pub mod black_box;
mod candidate_elimination;
mod cart;
pub mod cet;
mod chance;
pub mod constraints;
pub mod contest;
pub mod contract;
pub mod evaluate;
pub mod glance;
pub mod globe_ce;
pub mod methods;
mod moves;
pub mod reach;
pub mod summaries;
pub mod tcrex;
#[cfg(test)]
mod testing;

pub use ares::{Ares, ObjectiveWeights};
pub use cet::Cet;
pub use contract::{Assigned, Baseline, Description, FitStatus, Fitted};
pub use evaluate::{Score, evaluate, turned_down};
pub use glance::{Glance, GlanceMode};
pub use globe_ce::{GlobeCe, Magnitude};
pub use sogar_solver::stop::{Stop, StopReason};
pub use tcrex::TCrex;
