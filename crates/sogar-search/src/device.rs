//! Where the heavy work is done: on the CPU, or on a graphics processor as well. Results are the same to the byte.
//!
//! [`Device`] is what users ask for, [`devices`] what there is; `compute` opens the graphics processor when there is work
//! for it, and falls back to the CPU with one warning whatever happens to it. Everything about graphics processors themselves is in the
//! crate `sogar-gpu`, behind the cargo feature `gpu`.

#[cfg(feature = "gpu")]
mod cells;
#[cfg(feature = "gpu")]
mod compute;
#[cfg(not(feature = "gpu"))]
#[path = "device/without.rs"]
mod compute;

use serde::Serialize;

pub(crate) use self::compute::Compute;
pub use sogar_table::config::Device;

/// Whether this build can use graphics processors.
pub const GPU_BUILT_IN: bool = cfg!(feature = "gpu");

/// A device of this machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Listed {
    /// What it is asked for by: `cpu`, `gpu:0`, …
    pub device: String,
    /// What it calls itself.
    pub name: String,
    /// `cpu`, `discrete`, `integrated`, `virtual`, `other` or `software` (a GPU's work done by the CPU, for tests).
    pub kind: String,
    /// The interface through which it is reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backend: Option<String>,
    /// Its driver.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub driver: Option<String>,
    /// What it can do at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limits: Option<ListedLimits>,
}

/// Limits of a graphics processor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ListedLimits {
    /// Bytes that a kernel can see of one buffer: work is cut into parts of this size.
    pub largest_binding: u64,
    /// Bytes of the largest buffer.
    pub largest_buffer: u64,
    /// Buffers that one kernel can use.
    pub bindings: u32,
    /// Threads of a kernel that work together.
    pub workgroup: u32,
    /// Groups of them, along one side.
    pub workgroups: u32,
}

/// The CPU and, where they are built in, all graphics processors, in the order of their numbers.
pub fn devices() -> Vec<Listed> {
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let cpu = Listed {
        device: "cpu".to_owned(),
        name: if threads == 1 { "1 thread".to_owned() } else { format!("{threads} threads") },
        kind: "cpu".to_owned(),
        backend: None,
        driver: None,
        limits: None,
    };
    std::iter::once(cpu).chain(compute::listed()).collect()
}

#[cfg(all(test, feature = "gpu"))]
mod networks;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cpu_is_always_there() {
        assert_eq!(devices()[0].device, "cpu");
    }
}
