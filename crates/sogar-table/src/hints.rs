//! Hints from names and values of columns: what people cannot change, what is not a feature, which outcome is good.
//!
//! Everything here is a guess from words and shapes. So it only suggests, warns, or leaves a column alone, with a notice, and a
//! setting overrides it. Starting files and runs without one share this module, so that they agree.

mod dates;
mod outcome;
mod personal;
mod unfit;
mod words;

pub use outcome::{assumed_class, good_class, is_bad_event, is_label_name, is_text, label_rank};
pub use personal::{Personal, personal};
pub use unfit::Unfit;
pub use unfit::unfit;
pub use words::{says_nothing, words};
