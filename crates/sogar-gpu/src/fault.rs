//! What can go wrong with a graphics processor. None of it ends a run.

use thiserror::Error;

/// Why a graphics processor is not used, or no longer.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Fault {
    /// There is none.
    #[error("no GPU was found")]
    NoAdapter,
    /// There are others.
    #[error("there is no GPU number {wanted}: there are {found}, counted from 0")]
    NoSuchAdapter {
        /// The number that was asked for.
        wanted: usize,
        /// How many there are.
        found: usize,
    },
    /// Its limits or its memory do not suffice for the problem.
    #[error("the GPU is too small: {0}")]
    TooSmall(String),
    /// It can't be opened.
    #[error("the GPU could not be opened: {0}")]
    NotOpened(String),
    /// It does not understand a kernel.
    #[error("a kernel could not be compiled for the GPU: {0}")]
    Shader(String),
    /// It has no memory left.
    #[error("the GPU ran out of memory: {0}")]
    OutOfMemory(String),
    /// It is gone.
    #[error("the GPU was lost: {0}")]
    Lost(String),
    /// Its answers are not the CPU's.
    #[error("the GPU gave other numbers than the CPU")]
    Wrong,
}

/// A fault that is made to happen, for tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Injected {
    /// As if there were no adapter.
    NoAdapter,
    /// As if buffers of some hundred bytes were the largest.
    TooSmall,
    /// A kernel with an error.
    Shader,
    /// The first allocation fails.
    OutOfMemory,
    /// The device is destroyed after so many batches of work.
    Lost {
        /// How many are done before.
        after: usize,
    },
    /// The first batch of work comes back with a wrong number.
    Wrong,
}

impl Injected {
    /// The fault that a word names: `no-adapter`, `too-small`, `shader`, `out-of-memory`, `lost`, `lost:N` or `wrong`.
    pub fn named(word: &str) -> Option<Injected> {
        Some(match word {
            "no-adapter" => Injected::NoAdapter,
            "too-small" => Injected::TooSmall,
            "shader" => Injected::Shader,
            "out-of-memory" => Injected::OutOfMemory,
            "wrong" => Injected::Wrong,
            "lost" => Injected::Lost { after: 0 },
            other => Injected::Lost { after: other.strip_prefix("lost:")?.parse().ok()? },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_have_names() {
        assert_eq!(Injected::named("lost:3"), Some(Injected::Lost { after: 3 }));
        assert_eq!(Injected::named("lost"), Some(Injected::Lost { after: 0 }));
        assert_eq!(Injected::named("no-adapter"), Some(Injected::NoAdapter));
        assert_eq!(Injected::named("lost:x"), None);
        assert_eq!(Injected::named("found"), None);
    }
}
