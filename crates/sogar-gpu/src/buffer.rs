//! Buffers of a device, within its limits and the memory limit.

use bytemuck::NoUninit;
use wgpu::{BindGroup, BindGroupEntry, Buffer, BufferUsages, ComputePipeline};

use crate::device::Gpu;
use crate::fault::{Fault, Injected};

/// Allocates buffers up to the memory limit.
pub(crate) struct Allowance<'g> {
    gpu: &'g Gpu,
    left: u64,
}

impl<'g> Allowance<'g> {
    pub fn new(gpu: &'g Gpu, bytes: u64) -> Self {
        Allowance { gpu, left: bytes }
    }

    fn take(&mut self, bytes: u64) -> Result<(), Fault> {
        if self.gpu.inject == Some(Injected::OutOfMemory) {
            self.gpu.note(Fault::OutOfMemory(format!("{bytes} bytes could not be allocated")));
        }
        if bytes > self.gpu.largest {
            let most = self.gpu.largest;
            return Err(Fault::TooSmall(format!("{bytes} bytes are needed at once, {most} are possible")));
        }
        match self.left.checked_sub(bytes) {
            Some(left) => self.left = left,
            None => {
                return Err(Fault::TooSmall("the memory limit leaves no room for its buffers".to_owned()));
            }
        }
        Ok(())
    }

    fn checked(&self, buffer: wgpu::Buffer) -> Result<wgpu::Buffer, Fault> {
        self.gpu.check()?;
        Ok(buffer)
    }

    /// A buffer with these numbers, for reading.
    pub fn with<T: NoUninit>(&mut self, content: &[T]) -> Result<wgpu::Buffer, Fault> {
        self.take(size_of_val(content) as u64)?;
        self.filled(bytemuck::cast_slice(content), BufferUsages::STORAGE | BufferUsages::COPY_DST)
    }

    /// Settings of a kernel.
    pub fn settings<T: NoUninit>(&mut self, content: &T) -> Result<wgpu::Buffer, Fault> {
        self.filled(bytemuck::bytes_of(content), BufferUsages::UNIFORM | BufferUsages::COPY_DST)
    }

    /// An empty buffer that kernels read and write.
    pub fn scratch(&mut self, bytes: u64) -> Result<wgpu::Buffer, Fault> {
        self.empty(bytes, BufferUsages::STORAGE | BufferUsages::COPY_DST | BufferUsages::COPY_SRC)
    }

    /// An empty buffer that results are copied to.
    pub fn readable(&mut self, bytes: u64) -> Result<wgpu::Buffer, Fault> {
        self.empty(bytes, BufferUsages::MAP_READ | BufferUsages::COPY_DST)
    }

    fn empty(&mut self, bytes: u64, usage: BufferUsages) -> Result<wgpu::Buffer, Fault> {
        self.take(bytes)?;
        self.made(bytes, usage)
    }

    /// A buffer with these bytes. The queue writes them: mapping a buffer of a device that another thread has just lost would
    /// panic.
    fn filled(&self, content: &[u8], usage: BufferUsages) -> Result<wgpu::Buffer, Fault> {
        let buffer = self.made(content.len() as u64, usage)?;
        self.gpu.queue.write_buffer(&buffer, 0, content);
        self.checked(buffer)
    }

    fn made(&self, bytes: u64, usage: BufferUsages) -> Result<wgpu::Buffer, Fault> {
        let buffer = self.gpu.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: bytes.max(16).next_multiple_of(4),
            usage,
            mapped_at_creation: false,
        });
        self.checked(buffer)
    }

    /// Bytes left.
    pub fn left(&self) -> u64 {
        self.left
    }
}

/// Binds buffers to the slots of a kernel.
pub(crate) fn bind(gpu: &Gpu, kernel: &ComputePipeline, list: &[(u32, &Buffer)]) -> BindGroup {
    let entries: Vec<BindGroupEntry<'_>> = list
        .iter()
        .map(|(binding, buffer)| BindGroupEntry { binding: *binding, resource: buffer.as_entire_binding() })
        .collect();
    gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: None,
        layout: &kernel.get_bind_group_layout(0),
        entries: &entries,
    })
}
