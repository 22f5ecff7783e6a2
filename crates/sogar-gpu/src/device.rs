//! An open adapter: kernels, submissions, and its first fault.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use wgpu::{CommandEncoder, ComputePipeline, Device, Limits, MapMode, PollType, Queue, SubmissionIndex};

use crate::adapter::{Adapter, AdapterKind, describe, found};
use crate::fault::{Fault, Injected};

/// Work that takes longer than this counts as lost.
const PATIENCE: Duration = Duration::from_secs(60);
/// Largest number of buffers of a kernel.
const BINDINGS: u32 = 8;
/// Limit of the size of buffers, even if the adapter allows more.
const LARGEST: u64 = 1 << 30;
/// Mesa's software adapter silently ends the loops of a kernel after 65,535 rounds in all.
pub(crate) const ROUNDS_IN_SOFTWARE: u64 = 65_500;

/// Which adapter to open, and how.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Options {
    /// Its number in [`crate::adapters`]; without one, the first.
    pub adapter: Option<usize>,
    /// Whether to exclude software adapters.
    pub hardware_only: bool,
    /// Bytes of the largest buffer, if less than the adapter allows: for tests of how work is divided.
    pub largest: Option<u64>,
    /// A fault for tests.
    pub inject: Option<Injected>,
}

/// An adapter that is open.
pub struct Gpu {
    pub(crate) device: Device,
    pub(crate) queue: Queue,
    /// Bytes of the largest buffer for a kernel.
    pub(crate) largest: u64,
    pub(crate) workgroups: u32,
    /// Limit of rounds of all loops of a kernel together.
    pub(crate) rounds: u64,
    pub(crate) inject: Option<Injected>,
    adapter: Adapter,
    number: usize,
    faults: Faults,
    batches: AtomicUsize,
}

type Faults = Arc<Mutex<Option<Fault>>>;

impl Gpu {
    /// Opens an adapter.
    pub fn open(options: Options) -> Result<Gpu, Fault> {
        let mut list = if options.inject == Some(Injected::NoAdapter) { Vec::new() } else { found() };
        let suits = |adapter: &wgpu::Adapter| {
            !options.hardware_only || describe(adapter).kind != AdapterKind::Software
        };
        let number = match options.adapter {
            Some(wanted) if !list.is_empty() && wanted >= list.len() => {
                return Err(Fault::NoSuchAdapter { wanted, found: list.len() });
            }
            Some(wanted) => wanted,
            None => list.iter().position(suits).unwrap_or(list.len()),
        };
        if number >= list.len() {
            return Err(Fault::NoAdapter);
        }
        let adapter = list.swap_remove(number);
        let described = describe(&adapter);
        let offered = adapter.limits();
        if offered.max_storage_buffers_per_shader_stage < BINDINGS
            || offered.max_compute_invocations_per_workgroup < 64
            || offered.max_compute_workgroup_size_x < 64
        {
            return Err(Fault::TooSmall(format!("{} lacks the bindings or workgroups", described.name)));
        }
        let largest = match options.inject {
            Some(Injected::TooSmall) => 256,
            _ => offered.max_storage_buffer_binding_size.min(offered.max_buffer_size).min(LARGEST),
        };
        let largest = largest.min(options.largest.unwrap_or(u64::MAX));
        let required_limits = Limits {
            max_storage_buffers_per_shader_stage: offered.max_storage_buffers_per_shader_stage,
            max_storage_buffer_binding_size: offered.max_storage_buffer_binding_size,
            max_buffer_size: offered.max_buffer_size,
            ..Limits::downlevel_defaults().or_worse_values_from(&offered)
        };
        let workgroups = required_limits.max_compute_workgroups_per_dimension;
        let descriptor = wgpu::DeviceDescriptor { required_limits, ..Default::default() };
        let (device, queue) = pollster::block_on(adapter.request_device(&descriptor))
            .map_err(|cause| Fault::NotOpened(cause.to_string()))?;
        let faults = Faults::default();
        let noted = Arc::clone(&faults);
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
            let fault = match &error {
                wgpu::Error::OutOfMemory { .. } => Fault::OutOfMemory(one_line(&error.to_string())),
                _ => Fault::Lost(one_line(&error.to_string())),
            };
            note(&noted, fault);
        }));
        let noted = Arc::clone(&faults);
        device.set_device_lost_callback(move |_, message| {
            note(&noted, Fault::Lost(one_line(&message)));
        });
        Ok(Gpu {
            device,
            queue,
            largest,
            workgroups,
            rounds: if described.kind == AdapterKind::Software { ROUNDS_IN_SOFTWARE } else { u64::MAX },
            inject: options.inject,
            adapter: described,
            number,
            faults,
            batches: AtomicUsize::new(0),
        })
    }

    /// The adapter.
    pub fn adapter(&self) -> &Adapter {
        &self.adapter
    }

    /// Its value of `--device`: `gpu:N`.
    pub fn label(&self) -> String {
        format!("gpu:{}", self.number)
    }

    /// Fails if there was a fault.
    pub fn check(&self) -> Result<(), Fault> {
        match &*self.faults.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(fault) => Err(fault.clone()),
            None => Ok(()),
        }
    }

    pub(crate) fn note(&self, fault: Fault) {
        note(&self.faults, fault);
    }

    /// Compiles the kernels of a shader.
    pub(crate) fn kernels<const N: usize>(
        &self,
        source: &str,
        names: [&str; N],
    ) -> Result<[ComputePipeline; N], Fault> {
        let broken = format!("{source}\nfn broken() -> u32 {{ return nothing; }}");
        let source = if self.inject == Some(Injected::Shader) { &broken } else { source };
        self.check()?;
        let descriptor =
            wgpu::ShaderModuleDescriptor { label: None, source: wgpu::ShaderSource::Wgsl(source.into()) };
        let checks =
            wgpu::ShaderRuntimeChecks { force_loop_bounding: false, ..wgpu::ShaderRuntimeChecks::checked() };
        // SAFETY: the shaders are our own, and all of their loops end: each counts up to a constant number, or takes one bit
        // after the other out of a word. Bounds checks stay on.
        let module = unsafe { self.device.create_shader_module_trusted(descriptor, checks) };
        let kernels = names.map(|name| {
            self.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: Some(name),
                layout: None,
                module: &module,
                entry_point: Some(name),
                compilation_options: wgpu::PipelineCompilationOptions {
                    zero_initialize_workgroup_memory: false,
                    ..Default::default()
                },
                cache: None,
            })
        });
        self.check().map_err(|fault| match fault {
            Fault::Lost(message) => Fault::Shader(message),
            other => other,
        })?;
        Ok(kernels)
    }

    /// Submits the recorded work, after which `readable` is mapped.
    pub(crate) fn submit(&self, encoder: CommandEncoder, readable: &wgpu::Buffer) -> InFlight {
        let submission = self.queue.submit([encoder.finish()]);
        let (sender, mapped) = channel();
        readable.map_async(MapMode::Read, .., move |result| {
            let _ = sender.send(result.map_err(|cause| cause.to_string()));
        });
        let done = self.batches.fetch_add(1, Ordering::Relaxed);
        if self.inject == Some(Injected::Lost { after: done }) {
            self.device.destroy();
        }
        InFlight { submission, mapped }
    }

    /// Waits for work; then its readable buffer can be read.
    pub(crate) fn wait(&self, work: InFlight) -> Result<(), Fault> {
        let InFlight { submission, mapped } = work;
        let waited =
            self.device.poll(PollType::Wait { submission_index: Some(submission), timeout: Some(PATIENCE) });
        self.check()?;
        waited.map_err(|cause| Fault::Lost(one_line(&cause.to_string())))?;
        match mapped.recv_timeout(PATIENCE) {
            Ok(Ok(())) => Ok(()),
            Ok(Err(cause)) => Err(Fault::Lost(one_line(&cause))),
            Err(_) => Err(Fault::Lost("no answer".to_owned())),
        }
    }
}

impl std::fmt::Debug for Gpu {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Gpu").field("adapter", &self.adapter).finish_non_exhaustive()
    }
}

/// Work that was submitted.
pub(crate) struct InFlight {
    submission: SubmissionIndex,
    mapped: Receiver<Result<(), String>>,
}

/// The first fault explains the others.
fn note(faults: &Mutex<Option<Fault>>, fault: Fault) {
    faults.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(fault);
}

/// A driver's message as one line for a warning.
fn one_line(message: &str) -> String {
    let mut text = message.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.is_empty() {
        text.push_str("no reason was given");
    }
    if text.chars().count() > 200 {
        text = text.chars().take(200).chain("…".chars()).collect();
    }
    text
}
