//! Ctrl-C and SIGTERM: once ends the search with what it has, twice ends the program at once with nothing written.
//!
//! A result that is being written when the second signal comes is written to its end: that takes a moment, and a half
//! written file would be neither something nor nothing.

use std::sync::{Mutex, MutexGuard, PoisonError};

use sogar::CancelToken;
use sogar::model::command::end_all;

/// Whether results are being written, so that it is too late for a second signal.
static WRITING: Mutex<bool> = Mutex::new(false);

fn writing() -> MutexGuard<'static, bool> {
    WRITING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A token that the first signal cancels.
pub fn token() -> CancelToken {
    let token = CancelToken::new();
    let cancelled = token.clone();
    keeping_hangups(|| {
        // Without a handler a signal simply ends the program, which is still safe: files are written whole or not at all.
        let _ = ctrlc::set_handler(move || {
            // Held while the program ends, so that no write can begin in between.
            let writing = writing();
            if cancelled.is_cancelled() && !*writing {
                end_all();
                std::process::exit(130);
            }
            cancelled.cancel();
            // What a model's command would still answer is not wanted any more.
            end_all();
        });
    });
    token
}

/// Does what sets handlers of signals, and leaves the one of a closed terminal as it was: `nohup` has it ignored.
#[cfg(unix)]
fn keeping_hangups(set: impl FnOnce()) {
    use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal::SIGHUP, sigaction};
    let usual = SigAction::new(SigHandler::SigDfl, SaFlags::empty(), SigSet::empty());
    // SAFETY: neither the default nor what was there before is a function that this program would run in a handler.
    let before = unsafe { sigaction(SIGHUP, &usual) };
    set();
    if let Ok(before) = before {
        // SAFETY: as above.
        let _ = unsafe { sigaction(SIGHUP, &before) };
    }
}

#[cfg(not(unix))]
fn keeping_hangups(set: impl FnOnce()) {
    set();
}

/// From here on results are written, and signals have no more effect.
pub fn finish() {
    *writing() = true;
}
