//! Ctrl-C: once ends the search with what it has, twice ends the program at once with nothing written.
//!
//! A result that is being written when the second Ctrl-C comes is written to its end: that takes a moment, and a half
//! written file would be neither something nor nothing.

use std::sync::{Mutex, MutexGuard, PoisonError};

use sogar::CancelToken;

/// Whether results are being written, so that it is too late for a second Ctrl-C.
static WRITING: Mutex<bool> = Mutex::new(false);

fn writing() -> MutexGuard<'static, bool> {
    WRITING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A token that the first Ctrl-C cancels.
pub fn token() -> CancelToken {
    let token = CancelToken::new();
    let cancelled = token.clone();
    // Without a handler Ctrl-C simply ends the program, which is still safe: files are written whole or not at all.
    let _ = ctrlc::set_handler(move || {
        // Held while the program ends, so that no write can begin in between.
        let writing = writing();
        if cancelled.is_cancelled() && !*writing {
            sogar::model::command::end_all();
            std::process::exit(130);
        }
        cancelled.cancel();
    });
    token
}

/// From here on results are written, and Ctrl-C has no more effect.
pub fn finish() {
    *writing() = true;
}
