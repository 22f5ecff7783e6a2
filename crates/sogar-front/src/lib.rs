//! The result: a front of recourse summaries as a file, in words, and on other people.

pub mod describe;
pub mod evaluate;
pub mod fairness;
pub mod intervals;
pub mod neighbours;
pub mod router;
pub mod select;
pub mod summary;
