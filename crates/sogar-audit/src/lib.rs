//! What a front means: for groups of people, for one person, beside another front.

pub mod audit;
pub mod diff;
pub mod explain;
