//! Where the heavy work runs: on the CPU, or also on a GPU. Results are the same to the byte.
//!
//! [`Device`] is the user's choice, [`devices`] lists what the machine has. `compute` opens the GPU when there is work for it,
//! and falls back to the CPU with one warning on any failure. Everything about GPUs themselves is in the crate `sogar-gpu`,
//! behind the cargo feature `gpu`.

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

/// Whether this build supports GPUs.
pub const GPU_BUILT_IN: bool = cfg!(feature = "gpu");

/// A device of this machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Listed {
    /// The value of `--device`: `cpu`, `gpu:0`, …
    pub device: String,
    /// Its own name.
    pub name: String,
    /// `cpu`, `discrete`, `integrated`, `virtual`, `other` or `software` (emulated by the CPU, for tests).
    pub kind: String,
    /// The API through which it is used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backend: Option<String>,
    /// Its driver.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub driver: Option<String>,
    /// Its limits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limits: Option<ListedLimits>,
}

/// Limits of a GPU.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ListedLimits {
    /// Bytes of a buffer that a kernel can address: work is cut into parts of this size.
    pub largest_binding: u64,
    /// Bytes of the largest buffer.
    pub largest_buffer: u64,
    /// Buffers per kernel.
    pub bindings: u32,
    /// Threads per workgroup.
    pub workgroup: u32,
    /// Workgroups along one dimension.
    pub workgroups: u32,
}

/// The CPU and, if built in, all GPUs, in the order of their numbers.
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
