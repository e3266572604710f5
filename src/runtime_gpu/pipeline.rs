//! Pipelines, made once for each shader, and bind groups, made once for each set of buffers.

use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use super::device::lock;
use super::pipeline_cache::KeptPipelines;
use super::{Checks, DeviceBuffer, Gpu, GpuError};
use crate::kernel::{Access, Proof, with_shared};

/// Bind groups that a pipeline keeps; past that they are made anew.
const BIND_GROUPS: usize = 256;

/// A shader and how it is bound.
#[derive(Clone, Debug)]
pub struct PipelineDesc<'a> {
    /// The WGSL text.
    pub text: &'a str,
    /// Name of the entry point.
    pub entry: &'a str,
    /// How each storage buffer is used; they are bindings 0, 1 … of group 0.
    pub access: &'a [Access],
    /// Which of those that are only read lie in buffers that the shader writes, too.
    pub shared: &'a [u32],
    /// Binding of the uniform buffer with the scalars, if there is one.
    pub uniform: Option<u32>,
    /// Bytes of immediates.
    pub immediate_bytes: u32,
    /// How many threads subgroups must have at least; 0 if the shader has no subgroup operations.
    pub subgroup: u32,
    /// What is known of the shader.
    pub proof: Proof,
}

/// All of a description that the pipeline depends on.
#[derive(PartialEq, Eq, Hash)]
pub(super) struct PipelineKey {
    text: String,
    entry: String,
    access: Vec<Access>,
    shared: Vec<u32>,
    uniform: Option<u32>,
    immediate_bytes: u32,
    /// Whether the driver's checks are left out.
    trusted: bool,
}

/// Where the pipeline of a key is once it is made.
pub(super) type PipelineSlot = Arc<Mutex<Option<Arc<Pipeline>>>>;

/// Ids of buffers, and the part of each that is bound: where it starts, and its bytes.
type Bound = Vec<(u64, u64, u64)>;

/// A compiled kernel.
pub struct Pipeline {
    pub(super) pipeline: wgpu::ComputePipeline,
    pub(super) name: String,
    trusted: bool,
    layout: wgpu::BindGroupLayout,
    access: Vec<Access>,
    uniform: Option<u32>,
    bind_groups: Mutex<HashMap<Bound, Arc<BindGroup>>>,
}

impl std::fmt::Debug for Pipeline {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Pipeline({})", self.name)
    }
}

impl Pipeline {
    /// Whether its shader runs without the driver's checks.
    pub fn is_trusted(&self) -> bool {
        self.trusted
    }
}

/// Buffers bound to a kernel.
#[derive(Debug)]
pub(super) struct BindGroup {
    pub(super) group: wgpu::BindGroup,
}

impl Gpu {
    /// The pipeline of this shader; made if it is the first time that it is asked for.
    ///
    /// # Errors
    /// [`GpuError::Immediates`], [`GpuError::Subgroup`], or if the driver refuses the shader.
    pub fn pipeline(&self, desc: &PipelineDesc) -> Result<Arc<Pipeline>, GpuError> {
        let trusted = desc.proof.is_complete() && self.shared.checks == Checks::Proved;
        let limit = self.shared.limits.max_immediate_size;
        if desc.immediate_bytes > limit {
            return Err(GpuError::Immediates {
                kernel: desc.entry.to_owned(),
                bytes: desc.immediate_bytes,
                limit,
            });
        }
        let subgroup = self.shared.target.subgroup.unwrap_or(0);
        if desc.subgroup > subgroup {
            return Err(GpuError::Subgroup {
                kernel: desc.entry.to_owned(),
                wanted: desc.subgroup,
                device: self.shared.info.name.clone(),
                least: subgroup,
            });
        }
        let key = PipelineKey {
            text: desc.text.to_owned(),
            entry: desc.entry.to_owned(),
            access: desc.access.to_vec(),
            shared: desc.shared.to_vec(),
            uniform: desc.uniform,
            immediate_bytes: desc.immediate_bytes,
            trusted,
        };
        let slot = lock(&self.shared.pipelines).entry(key).or_default().clone();
        // Threads that ask for the same shader wait for the first; others go on.
        let mut slot = lock(&slot);
        if let Some(found) = &*slot {
            return Ok(found.clone());
        }
        let made = Arc::new(self.make_pipeline(desc, trusted)?);
        *slot = Some(made.clone());
        Ok(made)
    }

    fn make_pipeline(&self, desc: &PipelineDesc, trusted: bool) -> Result<Pipeline, GpuError> {
        let device = &self.shared.device;
        let counters = &self.shared.counters;
        let kept = self.shared.kept.as_ref();
        counters.pipelines.fetch_add(1, Ordering::Relaxed);
        let made = self.scoped(&format!("compiling kernel `{}`", desc.entry), || {
            let module = shader_module(device, desc, trusted);
            let layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
                label: Some(desc.entry),
                entries: &layout_entries(desc),
            });
            let pipeline_layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
                label: Some(desc.entry),
                bind_group_layouts: &[Some(&layout)],
                immediate_size: desc.immediate_bytes,
            });
            let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: Some(desc.entry),
                layout: Some(&pipeline_layout),
                module: &module,
                entry_point: Some(desc.entry),
                compilation_options: wgpu::PipelineCompilationOptions {
                    zero_initialize_workgroup_memory: false,
                    ..Default::default()
                },
                cache: kept.map(KeptPipelines::cache),
            });
            Pipeline {
                pipeline,
                name: desc.entry.to_owned(),
                trusted,
                layout,
                access: desc.access.to_vec(),
                uniform: desc.uniform,
                bind_groups: Mutex::default(),
            }
        });
        if let Some(kept) = kept {
            kept.count();
        }
        made
    }

    /// The bind group of these buffers (with the bytes of each that are bound), and of the uniform buffer if the kernel has
    /// one; made if it is the first time that they are bound together.
    ///
    /// # Errors
    /// [`GpuError::Overlap`], or if the driver refuses them.
    pub(super) fn bind(
        &self,
        pipeline: &Pipeline,
        buffers: &[(&DeviceBuffer, u64)],
        uniform: Option<&DeviceBuffer>,
    ) -> Result<Arc<BindGroup>, GpuError> {
        let uniform = uniform.map(|buffer| (buffer, buffer.size()));
        let all = buffers.iter().copied().chain(uniform);
        let key: Bound = all
            .map(|(buffer, bytes)| (buffer.id(), buffer.offset(), bytes))
            .collect();
        let mut groups = lock(&pipeline.bind_groups);
        if let Some(found) = groups.get(&key) {
            return Ok(found.clone());
        }
        if let Some((written, other)) = overlap(&pipeline.access, &key) {
            return Err(GpuError::Overlap {
                kernel: pipeline.name.clone(),
                written,
                other,
            });
        }
        let numbered = buffers.iter().enumerate();
        let mut entries: Vec<_> = numbered
            .map(|(i, (buffer, bytes))| entry(i as u32, buffer, *bytes))
            .collect();
        if let (Some(binding), Some((buffer, bytes))) = (pipeline.uniform, uniform) {
            entries.push(entry(binding, buffer, bytes));
        }
        let counters = &self.shared.counters;
        counters.bind_groups.fetch_add(1, Ordering::Relaxed);
        let group = self.scoped(&format!("binding kernel `{}`", pipeline.name), || {
            let desc = wgpu::BindGroupDescriptor {
                label: None,
                layout: &pipeline.layout,
                entries: &entries,
            };
            self.shared.device.create_bind_group(&desc)
        })?;
        let made = Arc::new(BindGroup { group });
        if groups.len() >= BIND_GROUPS {
            groups.clear();
        }
        groups.insert(key, made.clone());
        Ok(made)
    }
}

fn entry(binding: u32, buffer: &DeviceBuffer, bytes: u64) -> wgpu::BindGroupEntry<'_> {
    wgpu::BindGroupEntry {
        binding,
        resource: wgpu::BindingResource::Buffer(wgpu::BufferBinding {
            buffer: buffer.raw(),
            offset: buffer.offset(),
            size: wgpu::BufferSize::new(bytes),
        }),
    }
}

/// A binding that is written, and another with which it has bytes in common.
fn overlap(access: &[Access], bound: &Bound) -> Option<(usize, usize)> {
    let storage = || bound.iter().take(access.len()).enumerate();
    let writes = storage().filter(|(i, _)| access[*i] != Access::Read);
    let mut pairs = writes.flat_map(|written| storage().map(move |other| (written, other)));
    let common = pairs.find(|((i, (id, at, bytes)), (j, (other, from, size)))| {
        i != j && id == other && *at < from + size && *from < at + bytes
    });
    common.map(|((written, _), (other, _))| (written, other))
}

#[expect(
    unsafe_code,
    reason = "checks that the compiler has proved needless are left out of shaders"
)]
fn shader_module(device: &wgpu::Device, desc: &PipelineDesc, trusted: bool) -> wgpu::ShaderModule {
    let shader = wgpu::ShaderModuleDescriptor {
        label: Some(desc.entry),
        source: wgpu::ShaderSource::Wgsl(with_shared(desc.text, desc.shared)),
    };
    if trusted {
        // SAFETY: `trusted` says that the proof is complete: every access of a launch is in bounds, and every loop ends. The
        // text comes from `codegen_wgsl`, which emits no ray queries, and no device traps on a division.
        unsafe {
            device.create_shader_module_trusted(shader, wgpu::ShaderRuntimeChecks::unchecked())
        }
    } else {
        device.create_shader_module(shader)
    }
}

fn layout_entries(desc: &PipelineDesc) -> Vec<wgpu::BindGroupLayoutEntry> {
    let entry = |binding: u32, ty: wgpu::BufferBindingType| wgpu::BindGroupLayoutEntry {
        binding,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer {
            ty,
            has_dynamic_offset: false,
            min_binding_size: None,
        },
        count: None,
    };
    let storage = desc.access.iter().enumerate().map(|(i, access)| {
        let read_only = *access == Access::Read && !desc.shared.contains(&(i as u32));
        entry(i as u32, wgpu::BufferBindingType::Storage { read_only })
    });
    let uniform = desc
        .uniform
        .map(|binding| entry(binding, wgpu::BufferBindingType::Uniform));
    storage.chain(uniform).collect()
}
