//! The GPUs of this machine.

use wgpu::{Backend, Backends, DeviceType, Instance, InstanceDescriptor};

/// What kind of device an adapter is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum AdapterKind {
    /// A GPU with its own memory.
    Discrete,
    /// A GPU that shares the machine's memory.
    Integrated,
    /// A GPU of a virtual machine.
    Virtual,
    /// Unknown.
    Other,
    /// A program that emulates a GPU on the CPU: for tests; never chosen automatically.
    Software,
}

impl AdapterKind {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            AdapterKind::Discrete => "discrete",
            AdapterKind::Integrated => "integrated",
            AdapterKind::Virtual => "virtual",
            AdapterKind::Other => "other",
            AdapterKind::Software => "software",
        }
    }
}

/// One adapter and its limits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Adapter {
    /// Its own name.
    pub name: String,
    /// What kind of device it is.
    pub kind: AdapterKind,
    /// The API through which it is used: `vulkan`, `metal` or `dx12`.
    pub backend: &'static str,
    /// Its driver, with the version.
    pub driver: String,
    /// Bytes of a buffer that a kernel can address.
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

/// All adapters that can compute, the most suitable first: `gpu:N` is number N of this list.
pub fn adapters() -> Vec<Adapter> {
    found().iter().map(describe).collect()
}

/// The adapters themselves, in the same order.
pub(crate) fn found() -> Vec<wgpu::Adapter> {
    let backends = Backends::VULKAN | Backends::METAL | Backends::DX12;
    let descriptor = InstanceDescriptor { backends, ..InstanceDescriptor::new_without_display_handle() };
    let instance = Instance::new(descriptor);
    let mut list = pollster::block_on(instance.enumerate_adapters(backends));
    list.retain(|adapter| {
        let flags = adapter.get_downlevel_capabilities().flags;
        flags.contains(wgpu::DownlevelFlags::COMPUTE_SHADERS)
    });
    list.sort_by_key(|adapter| {
        let info = adapter.get_info();
        (kind(info.device_type), backend_name(info.backend), info.name, info.device_pci_bus_id)
    });
    list
}

fn kind(kind: DeviceType) -> AdapterKind {
    match kind {
        DeviceType::DiscreteGpu => AdapterKind::Discrete,
        DeviceType::IntegratedGpu => AdapterKind::Integrated,
        DeviceType::VirtualGpu => AdapterKind::Virtual,
        DeviceType::Cpu => AdapterKind::Software,
        DeviceType::Other => AdapterKind::Other,
    }
}

fn backend_name(backend: Backend) -> &'static str {
    match backend {
        Backend::Vulkan => "vulkan",
        Backend::Metal => "metal",
        Backend::Dx12 => "dx12",
        _ => "other",
    }
}

pub(crate) fn describe(adapter: &wgpu::Adapter) -> Adapter {
    let (info, limits) = (adapter.get_info(), adapter.limits());
    Adapter {
        kind: kind(info.device_type),
        backend: backend_name(info.backend),
        driver: [info.driver, info.driver_info].join(" ").trim().to_owned(),
        name: info.name,
        largest_binding: limits.max_storage_buffer_binding_size,
        largest_buffer: limits.max_buffer_size,
        bindings: limits.max_storage_buffers_per_shader_stage,
        workgroup: limits.max_compute_invocations_per_workgroup,
        workgroups: limits.max_compute_workgroups_per_dimension,
    }
}
