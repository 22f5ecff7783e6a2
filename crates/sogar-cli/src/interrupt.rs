//! Ctrl-C and SIGTERM: once stops the search with what it has, twice ends the program at once without output.
//!
//! If a result is being written when the second signal comes, the write finishes: it takes a moment, and the file must not be
//! half written.

use std::sync::{Mutex, MutexGuard, PoisonError};

use sogar::CancelToken;
use sogar::model::command::end_all;

/// Whether results are being written, which is too late for a second signal.
static WRITING: Mutex<bool> = Mutex::new(false);

fn writing() -> MutexGuard<'static, bool> {
    WRITING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A token that the first signal cancels.
pub fn token() -> CancelToken {
    let token = CancelToken::new();
    let cancelled = token.clone();
    keeping_hangups(|| {
        // Without a handler a signal just ends the program, which is still safe: files are written atomically.
        let _ = ctrlc::set_handler(move || {
            // Held while the program ends, so that no write can begin in between.
            let writing = writing();
            if cancelled.is_cancelled() && !*writing {
                end_all();
                std::process::exit(130);
            }
            cancelled.cancel();
            // The answers of a model's command are no longer needed.
            end_all();
        });
    });
    token
}

/// Runs code that sets signal handlers, and restores the handler of a closed terminal: `nohup` ignores that signal.
#[cfg(unix)]
fn keeping_hangups(set: impl FnOnce()) {
    use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal::SIGHUP, sigaction};
    let usual = SigAction::new(SigHandler::SigDfl, SaFlags::empty(), SigSet::empty());
    // SAFETY: neither the default nor the previous handler is a function of this program.
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

/// Results are written from here on, and signals have no more effect.
pub fn finish() {
    *writing() = true;
}
