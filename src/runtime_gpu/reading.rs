//! Copies from the device to the host, waited for by a thread or as futures.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use super::buffer::Usage;
use super::oneshot::{Receiver, oneshot};
use super::poller::Ticket;
use super::{DeviceBuffer, DeviceTensor, Gpu, GpuError};
use crate::tensor::Tensor;

/// Bytes on the way to the host. One that is dropped is called off, and its memory goes back to the pool.
pub(super) struct Reading {
    gpu: Gpu,
    /// `None` when it is over.
    staging: Option<Arc<DeviceBuffer>>,
    bytes: u64,
    mapped: Receiver<Result<(), wgpu::BufferAsyncError>>,
    /// Whether the reading is over, which the thread that maps the memory asks.
    over: Arc<AtomicBool>,
}

/// What copying from the device failed with.
fn failed(problem: impl ToString) -> GpuError {
    GpuError::Rejected {
        during: "copying from the device".to_owned(),
        problem: problem.to_string(),
    }
}

impl Reading {
    /// Starts to copy the first bytes of a buffer, once all submitted work is done.
    pub(super) fn start(
        gpu: &Gpu,
        buffer: &DeviceBuffer,
        bytes: u64,
        ticket: Option<Ticket>,
    ) -> Result<Self, GpuError> {
        let padded = bytes.next_multiple_of(4);
        let staging = gpu.alloc_for(Usage::Readback, padded)?;
        let counters = &gpu.shared.counters;
        counters.bytes_down.fetch_add(bytes, Ordering::Relaxed);
        counters.submits.fetch_add(1, Ordering::Relaxed);
        let (sender, mapped) = oneshot(ticket);
        let over = Arc::new(AtomicBool::new(false));
        let (is_over, called) = (over.clone(), (gpu.clone(), staging.clone()));
        gpu.scoped("copying from the device", || {
            let shared = &gpu.shared;
            let mut encoder = shared.device.create_command_encoder(&Default::default());
            let (from, at) = (buffer.raw(), buffer.offset());
            encoder.copy_buffer_to_buffer(from, at, staging.raw(), 0, padded);
            shared.queue.submit([encoder.finish()]);
            let slice = staging.raw().slice(..padded);
            slice.map_async(wgpu::MapMode::Read, move |result| {
                // The thread that polls may be mapping the memory while the reading is called off. Then nobody else ends the mapping.
                if result.is_ok() && is_over.load(Ordering::SeqCst) {
                    unmap(&called.0, &called.1);
                }
                sender.send(result);
            });
        })?;
        Ok(Self {
            gpu: gpu.clone(),
            staging: Some(staging),
            bytes,
            mapped,
            over,
        })
    }

    fn bytes_of(
        &mut self,
        mapped: Option<Result<(), wgpu::BufferAsyncError>>,
    ) -> Result<Vec<u8>, GpuError> {
        let mapped = mapped.ok_or_else(|| failed("the device did not call back"));
        if let Err(error) = mapped? {
            // It is not mapped, so there is nothing to call off.
            self.staging = None;
            self.gpu.check()?;
            return Err(failed(error));
        }
        let Some(staging) = &self.staging else {
            return Err(failed("it was read before"));
        };
        let padded = self.bytes.next_multiple_of(4);
        let view = staging.raw().slice(..padded).get_mapped_range();
        let data = view.map_err(failed)?[..self.bytes as usize].to_vec();
        self.end();
        Ok(data)
    }
}

impl Reading {
    /// Ends the mapping, or calls it off. What a lost device says of it is nobody's concern: there is none then, and the loss is known.
    fn end(&mut self) {
        self.over.store(true, Ordering::SeqCst);
        if let Some(staging) = self.staging.take() {
            unmap(&self.gpu, &staging);
        }
    }
}

/// Ends a mapping, if there is one.
fn unmap(gpu: &Gpu, staging: &DeviceBuffer) {
    let _ = gpu.scoped("the end of a read", || staging.raw().unmap());
}

impl Future for Reading {
    type Output = Result<Vec<u8>, GpuError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.mapped)
            .poll(cx)
            .map(|mapped| self.bytes_of(mapped))
    }
}

impl Drop for Reading {
    /// Ends the mapping, or what would become one: a buffer of the pool must have none.
    fn drop(&mut self) {
        self.end();
    }
}

impl Gpu {
    /// The first bytes of a buffer, once all submitted work is done.
    pub(super) fn read_buffer(
        &self,
        buffer: &DeviceBuffer,
        bytes: u64,
    ) -> Result<Vec<u8>, GpuError> {
        if bytes == 0 {
            return Ok(vec![]);
        }
        let reading = Reading::start(self, buffer, bytes, None)?;
        self.wait()?;
        // The thread that saw the end of this copy calls back, and that may be another one that waits for its own.
        pollster::block_on(reading)
    }

    /// Done when the device has done all work that was submitted before. No thread needs to poll the device meanwhile: it has one
    /// of its own for that.
    ///
    /// # Errors
    /// [`GpuError::Lost`].
    pub fn done_async(
        &self,
    ) -> Result<impl Future<Output = Result<(), GpuError>> + Send + use<>, GpuError> {
        let ticket = self.shared.poller.ticket(&self.shared.device)?;
        let (sender, done) = oneshot(Some(ticket));
        self.shared
            .queue
            .on_submitted_work_done(move || sender.send(()));
        let gpu = self.clone();
        Ok(async move {
            done.await;
            gpu.check()
        })
    }
}

impl DeviceTensor {
    /// A copy in host memory, once all work submitted so far is done. The copy is on its way when this returns; a future that is
    /// dropped calls it off.
    ///
    /// # Errors
    /// If the device has no memory for it; the future's, if the device is lost.
    pub fn to_host_async(
        &self,
    ) -> Result<impl Future<Output = Result<Tensor, GpuError>> + Send + use<>, GpuError> {
        let bytes = self.device_bytes();
        let reading = if bytes == 0 {
            None
        } else {
            let shared = &self.gpu().shared;
            let ticket = shared.poller.ticket(&shared.device)?;
            let reading = Reading::start(self.gpu(), self.buffer(), bytes, Some(ticket));
            Some(reading?)
        };
        let (dtype, shape) = (self.dtype(), self.shape().to_vec());
        Ok(async move {
            let bytes = match reading {
                Some(reading) => reading.await?,
                None => vec![],
            };
            Ok(Tensor::from_bytes(dtype, &shape, &bytes)?)
        })
    }
}
