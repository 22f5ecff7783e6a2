//! Leaf evaluation and network outcomes of sogar on a graphics processor of any vendor, through `wgpu`.
//!
//! Results are those of the CPU to the bit: kernels work in integers, sums of 64 bits as pairs of 32, or give numbers with a proven
//! error band, inside which the CPU decides. So which device was used shows in the time alone.
//!
//! [`adapters`] says what there is, [`Gpu`] is one of them, opened; [`LeafKernels`] is the solver's leaf evaluation
//! ([`sogar_solver::leaf::LeafBackend`]), [`NetworkKernels`] a dense network for many edited rows at a time, and [`Choice`] finds out
//! which device is faster. Whatever goes wrong is a [`Fault`]: the work in flight is done again by the CPU, and
//! everything after it too, so that a run ends as it would have without a graphics processor.

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
