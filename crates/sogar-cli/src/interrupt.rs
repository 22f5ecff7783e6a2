//! Ctrl-C: once ends the search with what it has, twice ends the program at once with nothing written.

use sogar::CancelToken;

/// A token that the first Ctrl-C cancels.
pub fn token() -> CancelToken {
    let token = CancelToken::new();
    let cancelled = token.clone();
    // Without a handler Ctrl-C simply ends the program, which is still safe: files are written whole or not at all.
    let _ = ctrlc::set_handler(move || {
        if cancelled.is_cancelled() {
            std::process::exit(130);
        }
        cancelled.cancel();
    });
    token
}
