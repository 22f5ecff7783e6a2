//! The studio without a browser: one binary, because each takes seconds to link.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a panic is the report

mod common;
mod security;
mod sessions;
