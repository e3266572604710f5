//! The GPU through wgpu: device choice, buffers, pipelines, submission.
//!
//! [`Gpu`] is one opened device. Buffers come from its pool and go back to it when dropped; pipelines are made once for each
//! shader text; [`Commands`] records the dispatches of one call, keeps their buffers, and submits them together. [`Counters`] say
//! what was created, so that a test can prove that a second call creates nothing. [`PipelineCache`] says where what the driver
//! compiled is kept for the next process. Where futures wait for a device, a thread of its
//! own polls it (`poller`).

mod adapter;
mod buffer;
mod cache_file;
mod commands;
mod cores;
mod device;
mod error;
mod fragments;
mod oneshot;
mod pipeline;
mod pipeline_cache;
mod poller;
mod reading;

pub use adapter::{Adapter, AdapterInfo, Choice, Request, adapters, choose};
pub use buffer::{DeviceBuffer, DeviceTensor};
pub use commands::{Commands, Dispatch, Timed};
pub use device::{Checks, Counters, Gpu};
pub use error::GpuError;
pub use pipeline::{Pipeline, PipelineDesc};
pub use pipeline_cache::PipelineCache;

#[cfg(test)]
mod tests;
