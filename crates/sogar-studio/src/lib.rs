//! `sogar studio`: a table and a model in the browser, on this computer.
//!
//! A person says what people can and cannot change, watches the front grow, clicks a piece of advice and asks *what if nobody were told
//! this*. The server is on the loopback address, the page has no third-party code, and nothing leaves the computer.
//!
//! | module | |
//! |---|---|
//! | [`server`], [`guard`] | HTTP on the loopback address; who may ask, and what an answer may do in a browser |
//! | [`routes`], [`assets`] | addresses into calls of the session; the files of the page |
//! | [`session`] | table, model and configuration, their history, and the runs |
//! | [`inputs`], [`dropped`] | a table and a model, named on the command line or dropped on the page |
//! | [`change`] | a click as a change of the configuration |
//! | [`columns`] | what the page shows of each column |
//! | [`run`] | one search in a thread of its own |
//! | [`take_away`] | `sogar.toml`, the command that gives the same bytes, and the report |
//!
//! # One source of truth
//!
//! The configuration (`sogar.toml`) is all that a user can change. The page never keeps settings of its own: a click sends the path and the
//! value of a setting, the session answers with the configuration as it now is, and every tab shows that. So what was clicked is what the
//! saved file says, two tabs agree, and a closed tab loses nothing.
//!
//! # What is computed again after a change
//!
//! | stage | after a change |
//! |---|---|
//! | table and model | read once |
//! | preparation (features, predictions, edits, costs) | repeated; takes milliseconds |
//! | outcomes | found among those of earlier runs by what they consist of ([`sogar::outcomes::memory`] has the argument why they hold) |
//! | search | repeated: every change of actions, costs, splits or limits changes its answer |
//!
//! A run says how many of its actions were known, and how long these took to compute.

pub mod assets;
pub mod change;
pub mod columns;
pub mod dropped;
pub mod guard;
pub mod inputs;
pub mod routes;
pub mod run;
pub mod server;
pub mod session;
pub mod take_away;

pub use inputs::{Given, Inputs, ModelOf, TableOf};
pub use server::{Server, open_browser};
pub use session::Session;
