//! The GPU through wgpu: device choice, buffers, pipelines, submission.
//!
//! [`Gpu`] is one opened device. Buffers come from its pool and go back to it when dropped; pipelines are made once for each
//! shader text; [`Commands`] records the dispatches of one call, keeps their buffers, and submits them together. [`Counters`] say
//! what was created, so that a test can prove that a second call creates nothing. Where futures wait for a device, a thread of its
//! own polls it (`poller`).

mod adapter;
mod buffer;
mod commands;
mod cores;
mod device;
mod error;
mod oneshot;
mod pipeline;
mod poller;
mod reading;

pub use adapter::{Adapter, AdapterInfo, Choice, Request, adapters, choose};
pub use buffer::{DeviceBuffer, DeviceTensor};
pub use commands::{Commands, Dispatch, Timed};
pub use device::{Checks, Counters, Gpu};
pub use error::GpuError;
pub use pipeline::{Pipeline, PipelineDesc};

#[cfg(test)]
mod tests;
