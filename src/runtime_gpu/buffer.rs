//! Buffers from a pool, parts of them, and tensors in both.
//!
//! Elements lie in a buffer as on the host. `f64` cannot be held: no shader computes with it.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use super::device::lock;
use super::{Gpu, GpuError};
use crate::kernel::{GLOBAL_ALIGN, PART_ALIGN};
use crate::tensor::{DType, ScalarType, Tensor};

/// Bytes of unused buffers that the pool keeps at most.
const POOL_LIMIT: u64 = 512 << 20;

/// What a buffer is for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Usage {
    /// Bound to kernels.
    Storage,
    /// Scalars of a kernel.
    Uniform,
    /// Read by the host.
    Readback,
    /// Timestamps before they are read back.
    Queries,
}

impl Usage {
    fn flags(self) -> wgpu::BufferUsages {
        match self {
            Self::Storage => {
                wgpu::BufferUsages::STORAGE
                    | wgpu::BufferUsages::COPY_SRC
                    | wgpu::BufferUsages::COPY_DST
            }
            Self::Uniform => wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
            Self::Readback => wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
            Self::Queries => wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC,
        }
    }
}

/// Buffers that nobody uses.
#[derive(Default)]
struct Free {
    /// With their ids, by what they are for and their size.
    buffers: BTreeMap<(Usage, u64), Vec<(u64, wgpu::Buffer)>>,
    /// Bytes of them all.
    bytes: u64,
}

/// Unused buffers of a device.
#[derive(Default)]
pub(super) struct Pool {
    free: Mutex<Free>,
}

impl Pool {
    fn take(&self, usage: Usage, size: u64) -> Option<(u64, wgpu::Buffer)> {
        let mut free = lock(&self.free);
        let found = free.buffers.get_mut(&(usage, size))?.pop()?;
        free.bytes -= size;
        Some(found)
    }

    fn give(&self, usage: Usage, id: u64, buffer: wgpu::Buffer) {
        let size = buffer.size();
        let mut free = lock(&self.free);
        if free.bytes + size > POOL_LIMIT {
            buffer.destroy();
            return;
        }
        free.bytes += size;
        let same = free.buffers.entry((usage, size)).or_default();
        same.push((id, buffer));
    }

    fn clear(&self) {
        let mut free = lock(&self.free);
        for (_, buffer) in free.buffers.values().flatten() {
            buffer.destroy();
        }
        *free = Free::default();
    }
}

/// A buffer of the device with all that use it: who made it, and the commands that are recorded with it. The last one gives
/// it back to the pool, so that no other user writes it before those commands are submitted.
pub(super) struct Memory {
    id: u64,
    usage: Usage,
    /// `None` only while it is dropped.
    buffer: Option<wgpu::Buffer>,
    pool: Arc<Pool>,
}

/// A buffer or a part of one, which goes back to the pool of its device when all its parts are dropped and what was recorded with
/// them is submitted.
pub struct DeviceBuffer {
    memory: Arc<Memory>,
    offset: u64,
    size: u64,
}

impl DeviceBuffer {
    /// Which buffer it is, or is a part of; never used again for another one.
    pub fn id(&self) -> u64 {
        self.memory.id
    }

    /// Where the part starts, in bytes.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Size in bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The part of so many bytes from this offset on; `None` if it would not be in the buffer, or no kernel could bind it. A part
    /// counts as memory of its own: nobody asks whether others are held.
    fn part(&self, offset: u64, bytes: u64) -> Option<Arc<Self>> {
        let inside = offset
            .checked_add(bytes)
            .is_some_and(|end| end <= self.size);
        (inside && offset.is_multiple_of(PART_ALIGN)).then(|| {
            Arc::new(Self {
                memory: self.memory.clone(),
                offset: self.offset + offset,
                size: bytes,
            })
        })
    }

    /// The buffer that this is, or is the first part of; `None` for another part.
    pub(crate) fn whole(&self) -> Option<Arc<Self>> {
        let whole = || Self {
            memory: self.memory.clone(),
            offset: 0,
            size: self.raw().size(),
        };
        (self.offset == 0).then(|| Arc::new(whole()))
    }

    /// The whole buffer.
    pub(super) fn raw(&self) -> &wgpu::Buffer {
        self.memory
            .buffer
            .as_ref()
            .expect("the buffer is taken out only when it is dropped")
    }

    /// What keeps it out of the pool without sharing it: it may still be written in place.
    pub(super) fn hold(&self) -> Arc<Memory> {
        self.memory.clone()
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if let Some(buffer) = self.buffer.take() {
            self.pool.give(self.usage, self.id, buffer);
        }
    }
}

impl std::fmt::Debug for DeviceBuffer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (id, size) = (self.id(), self.size);
        match self.offset {
            0 => write!(f, "DeviceBuffer({id}, {size} bytes)"),
            at => write!(f, "DeviceBuffer({id}, {size} bytes from {at})"),
        }
    }
}

/// Sizes that buffers come in, so that those of like tensors are alike: eight steps from one power of two to the next.
fn size_class(bytes: u64) -> u64 {
    let step = (bytes.next_power_of_two() / 16).max(256);
    bytes.max(1).next_multiple_of(step)
}

impl Gpu {
    /// A buffer of at least this size, from the pool if it has one.
    ///
    /// # Errors
    /// [`GpuError::TooLarge`], or [`GpuError::OutOfMemory`] even after the pool was emptied.
    pub fn alloc(&self, bytes: u64) -> Result<Arc<DeviceBuffer>, GpuError> {
        self.alloc_for(Usage::Storage, bytes)
    }

    pub(super) fn alloc_for(
        &self,
        usage: Usage,
        bytes: u64,
    ) -> Result<Arc<DeviceBuffer>, GpuError> {
        let limits = &self.shared.limits;
        let limit = limits
            .max_buffer_size
            .min(limits.max_storage_buffer_binding_size);
        if bytes > limit {
            return Err(GpuError::TooLarge { bytes, limit });
        }
        self.alloc_exactly(usage, size_class(bytes).min(limit & !3).max(bytes))
    }

    /// A buffer for tensors side by side, of no more bytes than they need; `None` if the device has none so large.
    ///
    /// # Errors
    /// As [`Gpu::alloc`].
    pub(crate) fn alloc_arena(&self, bytes: u64) -> Result<Option<Arc<DeviceBuffer>>, GpuError> {
        let size = bytes.max(1).checked_next_multiple_of(PART_ALIGN);
        match size.filter(|size| *size <= self.max_buffer_bytes()) {
            Some(size) => self.alloc_exactly(Usage::Storage, size).map(Some),
            None => Ok(None),
        }
    }

    /// Bytes of the largest buffer. What a kernel sees of it may have to be less.
    pub(crate) fn max_buffer_bytes(&self) -> u64 {
        self.shared.limits.max_buffer_size
    }

    fn alloc_exactly(&self, usage: Usage, size: u64) -> Result<Arc<DeviceBuffer>, GpuError> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let (id, buffer) = match self.shared.pool.take(usage, size) {
            Some(found) => found,
            None => {
                let created = match self.create_buffer(usage, size) {
                    Err(GpuError::OutOfMemory { .. }) => {
                        self.shared.pool.clear();
                        self.create_buffer(usage, size)
                    }
                    created => created,
                };
                (NEXT.fetch_add(1, Ordering::Relaxed), created?)
            }
        };
        let memory = Memory {
            id,
            usage,
            buffer: Some(buffer),
            pool: self.shared.pool.clone(),
        };
        Ok(Arc::new(DeviceBuffer {
            memory: Arc::new(memory),
            offset: 0,
            size,
        }))
    }

    fn create_buffer(&self, usage: Usage, size: u64) -> Result<wgpu::Buffer, GpuError> {
        let counters = &self.shared.counters;
        counters.buffers.fetch_add(1, Ordering::Relaxed);
        self.scoped("creating a buffer", || {
            self.shared.device.create_buffer(&wgpu::BufferDescriptor {
                label: None,
                size,
                usage: usage.flags(),
                mapped_at_creation: false,
            })
        })
    }

    /// A tensor with unspecified elements.
    ///
    /// # Errors
    /// If the device cannot hold it.
    pub fn empty(&self, dtype: DType, shape: &[usize]) -> Result<DeviceTensor, GpuError> {
        let bytes = device_bytes(dtype, shape)?;
        Ok(DeviceTensor {
            gpu: self.clone(),
            buffer: self.alloc(bytes)?,
            dtype,
            shape: shape.into(),
        })
    }

    /// A tensor in an arena, from this offset on, with whatever elements are there; `None` if it would leave the arena, or start
    /// where no kernel can bind it. What it shares with other tensors of the arena, the caller plans.
    ///
    /// # Errors
    /// If the device cannot hold such tensors.
    pub(crate) fn tensor_in(
        &self,
        arena: &DeviceBuffer,
        offset: u64,
        dtype: DType,
        shape: &[usize],
    ) -> Result<Option<DeviceTensor>, GpuError> {
        let bytes = binding_bytes(device_bytes(dtype, shape)?);
        let limit = self.shared.limits.max_storage_buffer_binding_size;
        if bytes > limit {
            return Err(GpuError::TooLarge { bytes, limit });
        }
        let part = arena.part(offset, bytes);
        Ok(part.map(|buffer| DeviceTensor {
            gpu: self.clone(),
            buffer,
            dtype,
            shape: shape.into(),
        }))
    }

    /// A copy of a tensor on the device.
    ///
    /// # Errors
    /// If the device cannot hold it.
    pub fn upload(&self, tensor: &Tensor) -> Result<DeviceTensor, GpuError> {
        let copy = self.empty(tensor.dtype(), tensor.shape())?;
        copy.write(tensor)?;
        Ok(copy)
    }

    /// A buffer with these scalars of a kernel.
    ///
    /// # Errors
    /// If the device cannot hold it.
    pub fn uniform(&self, bytes: &[u8]) -> Result<Arc<DeviceBuffer>, GpuError> {
        let buffer = self.alloc_for(Usage::Uniform, bytes.len() as u64)?;
        self.write_buffer(&buffer, bytes)?;
        Ok(buffer)
    }

    pub(super) fn write_buffer(&self, buffer: &DeviceBuffer, bytes: &[u8]) -> Result<(), GpuError> {
        let counters = &self.shared.counters;
        counters
            .bytes_up
            .fetch_add(bytes.len() as u64, Ordering::Relaxed);
        let queue = &self.shared.queue;
        let whole = bytes.len() & !3;
        let at = buffer.offset();
        self.scoped("copying to the device", || {
            if whole > 0 {
                queue.write_buffer(buffer.raw(), at, &bytes[..whole]);
            }
            if whole < bytes.len() {
                // Copies are of whole words; the buffer has room for the last one.
                let mut word = [0; 4];
                word[..bytes.len() - whole].copy_from_slice(&bytes[whole..]);
                queue.write_buffer(buffer.raw(), at + whole as u64, &word);
            }
        })
    }
}

/// Bytes of a tensor on the device.
fn device_bytes(dtype: DType, shape: &[usize]) -> Result<u64, GpuError> {
    if dtype.scalar == ScalarType::F64 {
        return Err(GpuError::DType(dtype));
    }
    let too_large = || crate::tensor::TensorError::TooLarge {
        shape: shape.to_vec(),
        dtype,
    };
    let element = dtype.bytes() as u64;
    let bytes = shape
        .iter()
        .try_fold(element, |bytes, &dim| bytes.checked_mul(dim as u64))
        .filter(|&bytes| bytes < u64::MAX / 4);
    bytes.ok_or_else(|| too_large().into())
}

/// Bytes of memory that a kernel binds for a tensor of so many bytes: at least one vector of four words, and whole ones.
fn binding_bytes(bytes: u64) -> u64 {
    bytes.max(1).next_multiple_of(GLOBAL_ALIGN)
}

/// A dense row-major tensor in the memory of a GPU. Clones share the elements.
#[derive(Clone)]
pub struct DeviceTensor {
    gpu: Gpu,
    buffer: Arc<DeviceBuffer>,
    dtype: DType,
    shape: Arc<[usize]>,
}

impl std::fmt::Debug for DeviceTensor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "DeviceTensor({:?}, {}, {:?})",
            self.shape, self.dtype, self.buffer
        )
    }
}

impl DeviceTensor {
    /// Element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Extent of each dimension.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The device that holds it.
    pub fn gpu(&self) -> &Gpu {
        &self.gpu
    }

    /// The buffer that holds it, or the part of one, from its start.
    pub fn buffer(&self) -> &Arc<DeviceBuffer> {
        &self.buffer
    }

    /// Bytes that it takes on the device.
    pub fn device_bytes(&self) -> u64 {
        device_bytes(self.dtype, &self.shape).expect("it was computed when the tensor was made")
    }

    /// Bytes of it that a kernel binds: at least one vector of four words, and whole ones.
    pub fn binding_bytes(&self) -> u64 {
        binding_bytes(self.device_bytes())
    }

    /// The same elements in another shape, without a copy.
    ///
    /// # Errors
    /// If the shape has another number of elements.
    pub fn reshape(&self, shape: &[usize]) -> Result<Self, GpuError> {
        let (expected, got) = (device_bytes(self.dtype, shape)?, self.device_bytes());
        if expected != got {
            return Err(crate::tensor::TensorError::ByteCount {
                shape: shape.to_vec(),
                dtype: self.dtype,
                expected: expected as usize,
                got: got as usize,
            }
            .into());
        }
        Ok(Self {
            shape: shape.into(),
            ..self.clone()
        })
    }

    /// Makes it a tensor of this type and shape with unspecified elements: in its own buffer where that is large enough and
    /// not shared, else in another with room for `planned` bytes. Creates nothing if type and shape are those it has and it
    /// is not shared.
    ///
    /// # Errors
    /// If the device cannot hold it.
    pub(crate) fn renew(
        &mut self,
        dtype: DType,
        shape: &[usize],
        planned: u64,
    ) -> Result<(), GpuError> {
        let bytes = binding_bytes(device_bytes(dtype, shape)?);
        if self.buffer.size() < bytes || !self.is_unique() {
            self.buffer = self.gpu.alloc(bytes.max(planned))?;
        }
        self.dtype = dtype;
        if *self.shape != *shape {
            self.shape = shape.into();
        }
        Ok(())
    }

    /// Whether it starts at this offset of the arena.
    pub(crate) fn is_at(&self, arena: &DeviceBuffer, offset: u64) -> bool {
        (self.buffer.id(), self.buffer.offset()) == (arena.id(), offset)
    }

    /// Whether no clone of the tensor is alive.
    pub(crate) fn is_unique(&mut self) -> bool {
        Arc::get_mut(&mut self.buffer).is_some()
    }

    /// A copy in a buffer of its own, made after all work submitted so far.
    pub(crate) fn duplicate(&self) -> Result<Self, GpuError> {
        let copy = self.gpu.empty(self.dtype, &self.shape)?;
        let bytes = self.device_bytes().next_multiple_of(4);
        if bytes == 0 {
            return Ok(copy);
        }
        let shared = &self.gpu.shared;
        shared.counters.submits.fetch_add(1, Ordering::Relaxed);
        self.gpu.scoped("copying on the device", || {
            let mut encoder = shared.device.create_command_encoder(&Default::default());
            let (from, to) = (&self.buffer, &copy.buffer);
            let at = (from.offset(), to.offset());
            encoder.copy_buffer_to_buffer(from.raw(), at.0, to.raw(), at.1, bytes);
            shared.queue.submit([encoder.finish()]);
        })?;
        Ok(copy)
    }

    /// Overwrites the elements with those of a tensor of the same type and shape.
    pub(crate) fn write(&self, tensor: &Tensor) -> Result<(), GpuError> {
        debug_assert!(self.dtype == tensor.dtype() && *self.shape == *tensor.shape());
        self.gpu.write_buffer(&self.buffer, tensor.bytes())
    }

    /// A copy in host memory, once all submitted work is done.
    ///
    /// # Errors
    /// If the device is lost or does not finish in time.
    pub fn to_host(&self) -> Result<Tensor, GpuError> {
        let bytes = self.gpu.read_buffer(&self.buffer, self.device_bytes())?;
        Ok(Tensor::from_bytes(self.dtype, &self.shape, &bytes)?)
    }
}
