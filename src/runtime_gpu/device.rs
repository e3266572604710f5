//! `Gpu`: one opened device, with what belongs to it.

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::buffer::Pool;
use super::cores::cores_of;
use super::pipeline::{PipelineKey, PipelineSlot};
use super::pipeline_cache::KeptPipelines;
use super::poller::{self, Poller};
use super::{Adapter, AdapterInfo, GpuError, PipelineCache, fragments};
use crate::kernel::{GpuTarget, MOST_STORAGE_BUFFERS};

/// How long to wait for the device before it is given up, unless told otherwise.
const TIMEOUT: Duration = Duration::from_secs(120);

/// How often a wait begins anew, if other threads make wgpu give it up (`poller::wait`).
const MOST_POLLS: usize = 16;

/// Whether kernels keep the driver's bounds checks.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Checks {
    /// Kernels that are proved to be in bounds run without checks.
    #[default]
    Proved,
    /// All kernels are checked.
    All,
}

/// How many objects were created on a device so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize)]
pub struct Counters {
    /// Buffers, staging ones included.
    pub buffers: u64,
    /// Compute pipelines.
    pub pipelines: u64,
    /// Bind groups.
    pub bind_groups: u64,
    /// Submissions to the queue.
    pub submits: u64,
    /// Dispatches recorded.
    pub dispatches: u64,
    /// Bytes copied to the device.
    pub bytes_up: u64,
    /// Bytes copied from the device.
    pub bytes_down: u64,
    /// Polls by the thread that waits for the device where futures wait for it.
    pub polls: u64,
}

#[derive(Default)]
pub(super) struct AtomicCounters {
    pub(super) buffers: AtomicU64,
    pub(super) pipelines: AtomicU64,
    pub(super) bind_groups: AtomicU64,
    pub(super) submits: AtomicU64,
    pub(super) dispatches: AtomicU64,
    pub(super) bytes_up: AtomicU64,
    pub(super) bytes_down: AtomicU64,
}

pub(super) struct Shared {
    pub(super) device: wgpu::Device,
    pub(super) queue: wgpu::Queue,
    pub(super) info: AdapterInfo,
    pub(super) target: GpuTarget,
    pub(super) limits: wgpu::Limits,
    pub(super) features: wgpu::Features,
    pub(super) checks: Checks,
    pub(super) counters: AtomicCounters,
    pub(super) pool: Arc<Pool>,
    pub(super) poller: Poller,
    pub(super) pipelines: Mutex<HashMap<PipelineKey, PipelineSlot>>,
    /// What the driver compiled, for the next process.
    pub(super) kept: Option<KeptPipelines>,
    /// Why the device was lost, once it is.
    lost: Arc<Mutex<Option<String>>>,
    /// The first error that no scope caught.
    uncaptured: Arc<Mutex<Option<String>>>,
    /// Waits longer than this are errors.
    timeout: Duration,
}

impl Drop for Shared {
    fn drop(&mut self) {
        if let Some(kept) = &self.kept {
            kept.save();
        }
    }
}

/// An opened GPU. Clones are the same device.
#[derive(Clone)]
pub struct Gpu {
    pub(super) shared: Arc<Shared>,
}

impl std::fmt::Debug for Gpu {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Gpu({})", self.shared.info)
    }
}

/// The value of a mutex whose holders leave it whole even when they panic.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Gpu {
    /// Opens an adapter with those features and limits that we use, as far as it has them.
    pub(super) fn open(
        adapter: &Adapter,
        checks: Checks,
        cache: &PipelineCache,
    ) -> Result<Self, GpuError> {
        let info = adapter.info().clone();
        let (has, can) = (adapter.adapter.features(), adapter.adapter.limits());
        let wanted = [
            wgpu::Features::SHADER_F16,
            wgpu::Features::SUBGROUP,
            wgpu::Features::IMMEDIATES,
            wgpu::Features::TIMESTAMP_QUERY,
        ];
        let fragments = match info.fragments.is_empty() {
            true => wgpu::Features::empty(),
            false => fragments::FEATURE,
        };
        let folder = match cache {
            PipelineCache::Folder(folder) if info.pipeline_cache => Some(folder),
            PipelineCache::Folder(_) | PipelineCache::Off => None,
        };
        let caching = folder.map_or(wgpu::Features::empty(), |_| wgpu::Features::PIPELINE_CACHE);
        let features = wanted
            .into_iter()
            .filter(|feature| has.contains(*feature))
            .fold(fragments | caching, wgpu::Features::union);
        let limits = wanted_limits(&can, features);
        let desc = wgpu::DeviceDescriptor {
            label: Some("weftile"),
            required_features: features,
            required_limits: limits.clone(),
            experimental_features: experimental(fragments),
            ..Default::default()
        };
        let (device, queue) =
            pollster::block_on(adapter.adapter.request_device(&desc)).map_err(|e| {
                GpuError::NoDevice {
                    adapter: info.name.clone(),
                    reason: e.to_string(),
                }
            })?;
        let lost = Arc::new(Mutex::new(None));
        let lost_to = lost.clone();
        device.set_device_lost_callback(move |reason, message| {
            lock(&lost_to).get_or_insert(format!("{message} ({reason:?})"));
        });
        let uncaptured = Arc::new(Mutex::new(None));
        let uncaptured_to = uncaptured.clone();
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
            lock(&uncaptured_to).get_or_insert(error.to_string());
        }));
        let described = adapter.adapter.get_info();
        let kept = folder.and_then(|folder| KeptPipelines::open(&device, &described, folder));
        let shared = Shared {
            target: target_of(&info, features, &limits),
            device,
            queue,
            info,
            limits,
            features,
            checks,
            counters: AtomicCounters::default(),
            pool: Arc::default(),
            poller: Poller::default(),
            pipelines: Mutex::default(),
            kept,
            lost,
            uncaptured,
            timeout: TIMEOUT,
        };
        Ok(Self {
            shared: Arc::new(shared),
        })
    }

    /// What is known of the adapter.
    pub fn info(&self) -> &AdapterInfo {
        &self.shared.info
    }

    /// What the compiler must know of the device.
    pub fn target(&self) -> &GpuTarget {
        &self.shared.target
    }

    /// What was created so far.
    pub fn counters(&self) -> Counters {
        let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let counters = &self.shared.counters;
        Counters {
            buffers: of(&counters.buffers),
            pipelines: of(&counters.pipelines),
            bind_groups: of(&counters.bind_groups),
            submits: of(&counters.submits),
            dispatches: of(&counters.dispatches),
            bytes_up: of(&counters.bytes_up),
            bytes_down: of(&counters.bytes_down),
            polls: self.shared.poller.polls(),
        }
    }

    /// The file in which its pipelines are kept, if they are. The file is there once something was saved.
    pub fn pipeline_cache(&self) -> Option<&Path> {
        self.shared.kept.as_ref().map(KeptPipelines::path)
    }

    /// Keeps the pipelines made so far for the next process, if they are kept at all ([`PipelineCache`]). A machine does this once it has
    /// loaded an executable, and the last handle of a device when it is dropped.
    pub fn save_pipelines(&self) {
        if let Some(kept) = &self.shared.kept {
            kept.save();
        }
    }

    /// Whether both are the same device.
    pub fn same_as(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }

    /// Waits until all submitted work is done.
    ///
    /// # Errors
    /// [`GpuError::Timeout`], or [`GpuError::Lost`].
    pub fn wait(&self) -> Result<(), GpuError> {
        let timeout = self.shared.timeout;
        let mut tries = (0..MOST_POLLS).map(|_| poller::wait(&self.shared.device, timeout));
        let done = tries.find_map(|done| done);
        match done.unwrap_or(Err(wgpu::PollError::Timeout)) {
            Ok(_) => self.check(),
            Err(wgpu::PollError::Timeout) => Err(GpuError::Timeout(timeout)),
            Err(error) => Err(GpuError::Lost {
                reason: error.to_string(),
            }),
        }
    }

    /// Whether the device is still there and nothing went wrong unseen.
    ///
    /// # Errors
    /// What happened.
    pub fn check(&self) -> Result<(), GpuError> {
        if let Some(reason) = lock(&self.shared.lost).clone() {
            return Err(GpuError::Lost { reason });
        }
        match lock(&self.shared.uncaptured).take() {
            Some(problem) => Err(GpuError::Rejected {
                during: "earlier work".to_owned(),
                problem,
            }),
            None => Ok(()),
        }
    }

    /// Runs `f` and turns what the driver reports into an error.
    pub(super) fn scoped<T>(&self, during: &str, f: impl FnOnce() -> T) -> Result<T, GpuError> {
        let (value, error) = caught(&self.shared.device, f);
        // Drivers say nothing of what is done with a lost device.
        if let Some(reason) = lock(&self.shared.lost).clone() {
            return Err(GpuError::Lost { reason });
        }
        let Some(error) = error else {
            return Ok(value);
        };
        let during = during.to_owned();
        Err(match error {
            wgpu::Error::OutOfMemory { .. } => GpuError::OutOfMemory { during },
            error => GpuError::Rejected {
                during,
                problem: error.to_string(),
            },
        })
    }
}

/// The value of `f`, and the first error that the driver reported meanwhile.
pub(super) fn caught<T>(device: &wgpu::Device, f: impl FnOnce() -> T) -> (T, Option<wgpu::Error>) {
    let memory = device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
    let internal = device.push_error_scope(wgpu::ErrorFilter::Internal);
    let validation = device.push_error_scope(wgpu::ErrorFilter::Validation);
    let value = f();
    let errors = [
        pollster::block_on(validation.pop()),
        pollster::block_on(internal.pop()),
        pollster::block_on(memory.pop()),
    ];
    (value, errors.into_iter().flatten().next())
}

/// What lets a device be opened with an experimental feature.
fn experimental(features: wgpu::Features) -> wgpu::ExperimentalFeatures {
    if features.is_empty() {
        return wgpu::ExperimentalFeatures::disabled();
    }
    #[expect(
        unsafe_code,
        reason = "wgpu asks for it where a feature is experimental"
    )]
    // SAFETY: wgpu asks its users to know that an experimental feature may lack checks. Of cooperative matrices it checks neither
    // that tiles are inside their arrays nor who comes by. The verifier of kernels does; `vm` takes shaders with them only for kernels
    // that have them, and `artifact` takes no such kernel from a file.
    unsafe {
        wgpu::ExperimentalFeatures::enabled()
    }
}

/// The limits that kernels may use, out of what the adapter has.
fn wanted_limits(can: &wgpu::Limits, features: wgpu::Features) -> wgpu::Limits {
    let mut limits = wgpu::Limits::defaults();
    limits.max_buffer_size = can.max_buffer_size;
    limits.max_storage_buffer_binding_size = can.max_storage_buffer_binding_size;
    limits.max_storage_buffers_per_shader_stage = can
        .max_storage_buffers_per_shader_stage
        .min(MOST_STORAGE_BUFFERS);
    limits.max_compute_workgroup_storage_size = can.max_compute_workgroup_storage_size;
    limits.max_compute_invocations_per_workgroup = can.max_compute_invocations_per_workgroup;
    limits.max_compute_workgroup_size_x = can.max_compute_workgroup_size_x;
    limits.max_compute_workgroup_size_y = can.max_compute_workgroup_size_y;
    limits.max_compute_workgroup_size_z = can.max_compute_workgroup_size_z;
    limits.max_compute_workgroups_per_dimension = can.max_compute_workgroups_per_dimension;
    limits.max_immediate_size = if features.contains(wgpu::Features::IMMEDIATES) {
        can.max_immediate_size.min(128)
    } else {
        0
    };
    // What we do not use is taken as it comes, where an adapter has less than the usual.
    limits.or_worse_values_from(can)
}

/// Mesa ends every loop of a thread after this many passes through all of them (`LP_MAX_TGSI_LOOP_ITERATIONS`).
const LAVAPIPE_LOOP_PASSES: u32 = 65_535;

/// The compiler of Mesa 22.3 ends the process when it meets a shuffle, whatever the adapter says that it can do; 25 takes them.
/// Versions between were not tried.
const LAVAPIPE_SHUFFLES_SINCE: u32 = 25;

fn target_of(info: &AdapterInfo, features: wgpu::Features, limits: &wgpu::Limits) -> GpuTarget {
    GpuTarget {
        class: info.class,
        max_threads: limits.max_compute_invocations_per_workgroup,
        shared_bytes: limits.max_compute_workgroup_storage_size,
        max_grid: limits.max_compute_workgroups_per_dimension,
        max_storage_buffers: limits.max_storage_buffers_per_shader_stage,
        immediate_bytes: limits.max_immediate_size,
        f16: features.contains(wgpu::Features::SHADER_F16),
        subgroup: (features.contains(wgpu::Features::SUBGROUP)
            && info
                .lavapipe()
                .is_none_or(|mesa| mesa >= LAVAPIPE_SHUFFLES_SINCE))
        .then_some(info.subgroup_min),
        fragments: info.fragments.clone(),
        max_loop_passes: info.is_lavapipe().then_some(LAVAPIPE_LOOP_PASSES),
        lavapipe: info.lavapipe(),
        known_cores: cores_of(&info.name),
    }
}
