//! Every competing method beside reference results. Those of CET and of AReS with fixed weights are published by the CET authors; those
//! of AReS with tuned weights, GLOBE-CE, GLANCE and T-CREx are our own prototype's, so agreement with them is agreement with
//! ourselves. The names of the tests say which. The tables are the published encodings of German Credit and IBM HR Analytics
//! (Attrition), with the published LightGBM models.
//!
//! The models are trained by `scripts/paper_models.py`; the folder that it writes is named by `SOGAR_PAPER` (`target/paper` by
//! default). `make references-test` trains what is needed and runs these tests on two folds, where references are means of ten: so
//! tolerances are those of the spread between folds. `SOGAR_FOLDS=10` takes all of them and asks for more agreement.

#![allow(clippy::unwrap_used, clippy::print_stdout)] // a panic is the report, and figures are for people

mod ares;
mod cet;
mod folds;
mod glance;
mod globe_ce;
mod tcrex;
