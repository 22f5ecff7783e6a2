//! Leaf evaluation and network outcomes of sogar on a GPU of any vendor, through `wgpu`.
//!
//! Results equal the CPU's to the bit: kernels use integers, with 64-bit sums as pairs of 32 bits, or return numbers with a
//! proven error band, inside which the CPU decides. So the device only affects the time.
//!
//! [`adapters`] lists the adapters, [`Gpu`] is an open one, [`LeafKernels`] is the solver's leaf evaluation
//! ([`sogar_solver::leaf::LeafBackend`]), [`NetworkKernels`] a dense network for many edited rows at a time, and [`Choice`] finds
//! out which device is faster. Every failure is a [`Fault`]: the CPU repeats the work in flight and does everything after it, so
//! a run ends as it would without a GPU.

mod adapter;
mod batch_sizer;
mod buffer;
mod choice;
mod device;
mod fault;
mod leaf;
mod network;

pub use adapter::{Adapter, AdapterKind, adapters};
pub use choice::{Choice, Use, Verdict};
pub use device::{Gpu, Options};
pub use fault::{Fault, Injected};
pub use leaf::LeafKernels;
pub use network::{NetworkKernels, NetworkLayer, NetworkRow, Scores};
