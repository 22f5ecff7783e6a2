//! From features and a model to a problem: who is turned down, what they could change, what it costs and whether it works.
//!
//! | step | module |
//! |---|---|
//! | a model for the table, its predictions, and the names of its classes | [`model`], [`encode`], [`mod@predict`], [`class_order`] |
//! | who was turned down | [`population`] |
//! | which changes a person could make | [`actions`] |
//! | what they cost, and whether they work | [`cost`], [`outcomes`] |
//! | whether enough models agree, and the edited row is plausible | [`require`], [`plausibility`] |
//! | limits of memory, time and trees | [`limits`] |
//! | all of it | [`prepared`] |

pub mod actions;
pub mod class_order;
pub mod cost;
pub mod encode;
pub mod limits;
pub mod model;
pub mod outcomes;
pub mod plausibility;
pub mod population;
pub mod predict;
pub mod prepared;
pub mod require;
mod row_order;
