//! What can go wrong with a GPU. None of it ends a run.

use thiserror::Error;

/// Why a GPU is not used, or no longer.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Fault {
    /// There is none.
    #[error("no GPU was found")]
    NoAdapter,
    /// There is none with this number.
    #[error("there is no GPU number {wanted}: there are {found}, counted from 0")]
    NoSuchAdapter {
        /// The requested number.
        wanted: usize,
        /// The number of adapters.
        found: usize,
    },
    /// Its limits or its memory are too small for the problem.
    #[error("the GPU is too small: {0}")]
    TooSmall(String),
    /// It can't be opened.
    #[error("the GPU could not be opened: {0}")]
    NotOpened(String),
    /// It does not compile a kernel.
    #[error("a kernel could not be compiled for the GPU: {0}")]
    Shader(String),
    /// It has no memory left.
    #[error("the GPU ran out of memory: {0}")]
    OutOfMemory(String),
    /// It is gone.
    #[error("the GPU was lost: {0}")]
    Lost(String),
    /// Its answers differ from the CPU's.
    #[error("the GPU gave other numbers than the CPU")]
    Wrong,
}

/// An injected fault, for tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Injected {
    /// Pretends that there is no adapter.
    NoAdapter,
    /// Pretends that the largest buffers have some hundred bytes.
    TooSmall,
    /// A kernel with an error.
    Shader,
    /// The first allocation fails.
    OutOfMemory,
    /// The device is destroyed after some batches of work.
    Lost {
        /// How many.
        after: usize,
    },
    /// The first batch of work returns a wrong number.
    Wrong,
}

impl Injected {
    /// The fault of a word: `no-adapter`, `too-small`, `shader`, `out-of-memory`, `lost`, `lost:N` or `wrong`.
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
