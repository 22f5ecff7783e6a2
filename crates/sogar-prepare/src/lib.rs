//! From features and a model to a problem: who is turned down, what they could change, what it costs and whether it works.
//!
//! | step | module |
//! |---|---|
//! | a model for the table, and its predictions | [`model`], [`encode`], [`mod@predict`] |
//! | who was turned down | [`population`] |
//! | which changes a person could make | [`actions`] |
//! | what they cost, and whether they work | [`cost`], [`outcomes`] |
//! | whether enough models agree, and the edited row is plausible | [`require`], [`plausibility`] |
//! | limits of memory, time and trees | [`limits`] |
//! | all of it | [`prepared`] |
//! | a commented starting configuration | [`init`] |

pub mod actions;
mod class_order;
pub mod cost;
pub mod encode;
pub mod init;
pub mod limits;
pub mod model;
pub mod outcomes;
pub mod plausibility;
pub mod population;
pub mod predict;
pub mod prepared;
pub mod require;
mod row_order;
