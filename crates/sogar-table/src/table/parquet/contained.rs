//! Turns panics of the readers into errors: a damaged file must not end the process or a Python session, and only the error may
//! be printed.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    /// Whether panics of this thread are expected, and so not printed.
    static EXPECTED: Cell<bool> = const { Cell::new(false) };
}

/// Runs a read; a panic in it becomes text. Data that it was changing must not be used afterwards.
pub(super) fn contained<T>(read: impl FnOnce() -> T) -> Result<T, String> {
    static HOOK: Once = Once::new();
    // The hook is global: every other panic goes to the previous hook.
    HOOK.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |panic| {
            if !EXPECTED.get() {
                before(panic);
            }
        }));
    });
    let outer = EXPECTED.replace(true);
    let found = catch_unwind(AssertUnwindSafe(read));
    EXPECTED.set(outer);
    found.map_err(|panic| format!("its reader failed ({})", told(&*panic)))
}

fn told(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("for no known reason")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_reported_and_the_next_reading_is_not_affected() {
        let failed = contained(|| -> usize { [1, 2][std::hint::black_box(2)] });
        assert!(failed.unwrap_err().starts_with("its reader failed (index out of bounds"));
        assert!(!EXPECTED.get());
        assert_eq!(contained(|| 3), Ok(3));
    }
}
