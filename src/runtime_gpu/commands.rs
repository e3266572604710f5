//! `Commands`: the dispatches of one call in one encoder and one pass, submitted together.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use super::buffer::{Memory, Usage};
use super::pipeline::BindGroup;
use super::{DeviceBuffer, Gpu, GpuError, Pipeline};
use crate::kernel::GpuClass;

/// Seconds that one submission may hold the device, by estimate: longer, and the desktop stutters.
const SUBMIT_SECONDS: f64 = 0.1;

/// A kernel to run.
#[derive(Debug)]
pub struct Dispatch<'a> {
    /// The kernel.
    pub pipeline: &'a Arc<Pipeline>,
    /// Its buffers in binding order, with the bytes of each that it sees.
    pub buffers: &'a [(&'a DeviceBuffer, u64)],
    /// Its scalars, if it takes them as a uniform buffer.
    pub uniform: Option<&'a DeviceBuffer>,
    /// Its scalars, if it takes them as immediates.
    pub immediates: &'a [u8],
    /// Workgroups; none, and nothing runs.
    pub grid: [u32; 3],
    /// Estimated work in FLOP.
    pub flops: f64,
    /// Estimated traffic in bytes.
    pub bytes: f64,
}

/// How long a dispatch took.
#[derive(Clone, Debug)]
pub struct Timed {
    /// Name of the kernel.
    pub name: String,
    /// Seconds that it took.
    pub seconds: f64,
    /// Whether they are by timestamps of the device; else by the clock of the host, submission included.
    pub on_device: bool,
    /// Whether the shader ran without the driver's checks.
    pub trusted: bool,
}

/// Records dispatches and submits them. What it has recorded keeps its buffers until it is submitted or dropped.
pub struct Commands {
    gpu: Gpu,
    pass: Option<(wgpu::CommandEncoder, wgpu::ComputePass<'static>)>,
    /// The buffers of what is recorded.
    held: Vec<Arc<Memory>>,
    seconds: f64,
    profile: Option<Vec<Timed>>,
}

impl Commands {
    /// Without any dispatch yet.
    pub fn new(gpu: &Gpu) -> Self {
        Self {
            gpu: gpu.clone(),
            pass: None,
            held: vec![],
            seconds: 0.0,
            profile: None,
        }
    }

    /// The same, but each dispatch is timed (and waited for, so that the whole takes longer).
    pub fn profiled(gpu: &Gpu) -> Self {
        Self {
            profile: Some(vec![]),
            ..Self::new(gpu)
        }
    }

    /// Records a dispatch; submits what was recorded before if the device would be held too long.
    ///
    /// # Errors
    /// What the driver reports on binding the buffers and on submission.
    pub fn dispatch(&mut self, dispatch: &Dispatch) -> Result<(), GpuError> {
        if dispatch.grid.contains(&0) {
            return Ok(());
        }
        let counters = &self.gpu.shared.counters;
        counters.dispatches.fetch_add(1, Ordering::Relaxed);
        let group = self
            .gpu
            .bind(dispatch.pipeline, dispatch.buffers, dispatch.uniform)?;
        if self.profile.is_some() {
            return self.time(dispatch, &group);
        }
        let seconds = estimate(self.gpu.info().class, dispatch);
        if self.seconds > 0.0 && self.seconds + seconds > SUBMIT_SECONDS {
            self.submit()?;
        }
        self.seconds += seconds;
        let device = &self.gpu.shared.device;
        let (_, pass) = self.pass.get_or_insert_with(|| {
            let mut encoder = device.create_command_encoder(&Default::default());
            let pass = encoder.begin_compute_pass(&Default::default());
            let pass = pass.forget_lifetime();
            (encoder, pass)
        });
        record(pass, dispatch, &group);
        let bound = dispatch.buffers.iter().map(|(buffer, _)| *buffer);
        let bound = bound.chain(dispatch.uniform);
        self.held.extend(bound.map(DeviceBuffer::hold));
        Ok(())
    }

    /// Submits what was recorded.
    ///
    /// # Errors
    /// What the driver reports.
    pub fn submit(&mut self) -> Result<(), GpuError> {
        self.seconds = 0.0;
        let Some((encoder, pass)) = self.pass.take() else {
            return Ok(());
        };
        let counters = &self.gpu.shared.counters;
        counters.submits.fetch_add(1, Ordering::Relaxed);
        let submitted = self.gpu.scoped("submitting kernels", || {
            drop(pass);
            self.gpu.shared.queue.submit([encoder.finish()]);
        });
        self.held.clear();
        submitted?;
        self.gpu.check()
    }

    /// Submits, and gives the times of all dispatches, if they were taken.
    ///
    /// # Errors
    /// What the driver reports.
    pub fn finish(mut self) -> Result<Vec<Timed>, GpuError> {
        self.submit()?;
        Ok(self.profile.take().unwrap_or_default())
    }

    /// The device.
    pub fn gpu(&self) -> &Gpu {
        &self.gpu
    }

    /// Runs one dispatch by itself, and times it: by timestamps, else by the clock on the wall.
    fn time(&mut self, dispatch: &Dispatch, group: &BindGroup) -> Result<(), GpuError> {
        self.gpu.wait()?;
        let name = dispatch.pipeline.name.clone();
        let queries = self
            .gpu
            .shared
            .features
            .contains(wgpu::Features::TIMESTAMP_QUERY);
        let wall = Instant::now();
        let stamped = if queries {
            self.time_by_queries(dispatch, group)?
        } else {
            self.run_alone(dispatch, group, None)?;
            None
        };
        // Some drivers have the feature and write zeros.
        let stamped = stamped.filter(|seconds| *seconds > 0.0);
        let timed = Timed {
            name,
            seconds: stamped.unwrap_or_else(|| wall.elapsed().as_secs_f64()),
            on_device: stamped.is_some(),
            trusted: dispatch.pipeline.is_trusted(),
        };
        if let Some(times) = &mut self.profile {
            times.push(timed);
        }
        Ok(())
    }

    fn time_by_queries(
        &mut self,
        dispatch: &Dispatch,
        group: &BindGroup,
    ) -> Result<Option<f64>, GpuError> {
        let gpu = self.gpu.clone();
        let shared = &gpu.shared;
        let set = gpu.scoped("creating timestamps", || {
            shared.device.create_query_set(&wgpu::QuerySetDescriptor {
                label: None,
                ty: wgpu::QueryType::Timestamp,
                count: 2,
            })
        })?;
        let resolved = gpu.alloc_for(Usage::Queries, 256)?;
        self.run_alone(dispatch, group, Some((&set, resolved.raw())))?;
        let bytes = gpu.read_buffer(&resolved, 16)?;
        let stamps = bytemuck::pod_collect_to_vec::<u8, u64>(&bytes);
        let ticks = stamps[1].saturating_sub(stamps[0]);
        let period = f64::from(shared.queue.get_timestamp_period());
        Ok(Some(ticks as f64 * period * 1e-9))
    }

    fn run_alone(
        &mut self,
        dispatch: &Dispatch,
        group: &BindGroup,
        stamps: Option<(&wgpu::QuerySet, &wgpu::Buffer)>,
    ) -> Result<(), GpuError> {
        let shared = &self.gpu.shared;
        shared.counters.submits.fetch_add(1, Ordering::Relaxed);
        self.gpu.scoped("submitting a kernel", || {
            let mut encoder = shared.device.create_command_encoder(&Default::default());
            let writes = stamps.map(|(query_set, _)| wgpu::ComputePassTimestampWrites {
                query_set,
                beginning_of_pass_write_index: Some(0),
                end_of_pass_write_index: Some(1),
            });
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
                label: Some(&dispatch.pipeline.name),
                timestamp_writes: writes,
            });
            record(&mut pass, dispatch, group);
            drop(pass);
            if let Some((set, buffer)) = stamps {
                encoder.resolve_query_set(set, 0..2, buffer, 0);
            }
            shared.queue.submit([encoder.finish()]);
        })?;
        self.gpu.wait()
    }
}

fn record(pass: &mut wgpu::ComputePass<'_>, dispatch: &Dispatch, group: &BindGroup) {
    pass.set_pipeline(&dispatch.pipeline.pipeline);
    pass.set_bind_group(0, &group.group, &[]);
    if !dispatch.immediates.is_empty() {
        pass.set_immediates(0, dispatch.immediates);
    }
    let [x, y, z] = dispatch.grid;
    pass.dispatch_workgroups(x, y, z);
}

/// Seconds that a dispatch may take. A guess on the slow side: it only decides where submissions are split.
fn estimate(class: GpuClass, dispatch: &Dispatch) -> f64 {
    let (flops, bytes) = match class {
        GpuClass::Nvidia | GpuClass::Amd => (1e12, 1e11),
        GpuClass::Intel | GpuClass::Apple => (3e11, 3e10),
        GpuClass::Mobile | GpuClass::Unknown => (5e10, 1e10),
        GpuClass::Software => (5e9, 5e9),
    };
    (dispatch.flops / flops).max(dispatch.bytes / bytes)
}
