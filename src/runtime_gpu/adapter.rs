//! Adapters: which there are, and which one to use.

use std::fmt;

use serde::Serialize;

use super::{Checks, Gpu, GpuError, PipelineCache, fragments};
use crate::kernel::{FragmentProduct, GpuClass};

/// What is known of an adapter without opening it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct AdapterInfo {
    /// Its name.
    pub name: String,
    /// Kind: `discrete`, `integrated`, `virtual`, `software` or `other`.
    pub kind: &'static str,
    /// API: `vulkan`, `metal`, `dx12` …
    pub backend: String,
    /// Name and version of the driver.
    pub driver: String,
    /// Family, by its vendor.
    pub class: GpuClass,
    /// Least subgroup size that a kernel may see.
    pub subgroup_min: u32,
    /// Greatest subgroup size that a kernel may see.
    pub subgroup_max: u32,
    /// Most bytes of a tensor that a kernel may see.
    pub max_binding_bytes: u64,
    /// Whether its driver lets pipelines be kept between processes ([`PipelineCache`]).
    pub pipeline_cache: bool,
    /// The products of fragments that kernels use of its list of cooperative matrices.
    pub fragments: Vec<FragmentProduct>,
}

impl AdapterInfo {
    /// Whether it runs on the CPU.
    pub fn is_software(&self) -> bool {
        self.class == GpuClass::Software
    }

    /// Whether it is Mesa's software adapter.
    pub fn is_lavapipe(&self) -> bool {
        self.is_software() && self.name.to_lowercase().contains("llvmpipe")
    }

    /// The major version of Mesa if it is Mesa's software adapter; 0 if its driver does not say that.
    pub fn lavapipe(&self) -> Option<u32> {
        self.is_lavapipe().then(|| {
            let version = self.driver.split_once("Mesa ").map_or("", |(_, rest)| rest);
            let major = version.split(|c: char| !c.is_ascii_digit()).next();
            major.and_then(|major| major.parse().ok()).unwrap_or(0)
        })
    }
}

impl fmt::Display for AdapterInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}, {})", self.name, self.kind, self.backend)
    }
}

/// An adapter of this machine.
#[derive(Clone, Debug)]
pub struct Adapter {
    pub(super) adapter: wgpu::Adapter,
    info: AdapterInfo,
}

impl Adapter {
    /// What is known of it.
    pub fn info(&self) -> &AdapterInfo {
        &self.info
    }

    /// Opens it. Its pipelines are not kept between processes.
    ///
    /// # Errors
    /// If it gives no device.
    pub fn open(&self, checks: Checks) -> Result<Gpu, GpuError> {
        self.open_with_cache(checks, &PipelineCache::Off)
    }

    /// Opens it. Pipelines that were made on it by an earlier process with this cache need not be compiled again.
    ///
    /// # Errors
    /// If it gives no device. That a cache cannot be read or written is none.
    pub fn open_with_cache(&self, checks: Checks, cache: &PipelineCache) -> Result<Gpu, GpuError> {
        Gpu::open(self, checks, cache)
    }
}

/// All adapters, those of real GPUs first. Backends can be chosen by `WGPU_BACKEND`.
pub fn adapters() -> Vec<Adapter> {
    let mut desc = wgpu::InstanceDescriptor::new_without_display_handle_from_env();
    // Past these percentages of the memory that the system grants, creation fails and says so.
    desc.memory_budget_thresholds = wgpu::MemoryBudgetThresholds {
        for_resource_creation: Some(90),
        for_device_loss: Some(99),
    };
    let instance = wgpu::Instance::new(desc);
    let found = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::all()));
    let mut adapters: Vec<Adapter> = found
        .into_iter()
        .map(|adapter| Adapter {
            info: describe(&adapter),
            adapter,
        })
        .collect();
    adapters.sort_by_key(|a| rank(&a.info));
    adapters
}

fn rank(info: &AdapterInfo) -> usize {
    let kinds = ["discrete", "integrated", "virtual", "other", "software"];
    kinds.iter().position(|k| *k == info.kind).unwrap_or(3)
}

fn describe(adapter: &wgpu::Adapter) -> AdapterInfo {
    let (info, limits) = (adapter.get_info(), adapter.limits());
    let software = info.device_type == wgpu::DeviceType::Cpu;
    let kind = match info.device_type {
        wgpu::DeviceType::DiscreteGpu => "discrete",
        wgpu::DeviceType::IntegratedGpu => "integrated",
        wgpu::DeviceType::VirtualGpu => "virtual",
        wgpu::DeviceType::Cpu => "software",
        wgpu::DeviceType::Other => "other",
    };
    // PCI ids of vendors; Apple and the makers of phone chips use the same register.
    let class = match info.vendor & 0xffff {
        _ if software => GpuClass::Software,
        0x10de => GpuClass::Nvidia,
        0x1002 | 0x1022 => GpuClass::Amd,
        0x8086 => GpuClass::Intel,
        0x106b => GpuClass::Apple,
        0x5143 | 0x13b5 | 0x1010 | 0x14e4 => GpuClass::Mobile,
        _ if info.backend == wgpu::Backend::Metal => GpuClass::Apple,
        _ => GpuClass::Unknown,
    };
    AdapterInfo {
        name: info.name.clone(),
        kind,
        backend: info.backend.to_str().to_owned(),
        driver: format!("{} {}", info.driver, info.driver_info)
            .trim()
            .to_owned(),
        class,
        subgroup_min: info.subgroup_min_size,
        subgroup_max: info.subgroup_max_size,
        max_binding_bytes: limits.max_storage_buffer_binding_size,
        pipeline_cache: adapter.features().contains(wgpu::Features::PIPELINE_CACHE),
        fragments: fragments::listed(adapter, class),
    }
}

/// What a user asked for.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Part of the name of an adapter, in any case; naming a software adapter allows it.
    pub name: Option<String>,
    /// Whether an adapter that runs on the CPU will do.
    pub allow_software: bool,
}

/// Which adapter to use, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Choice {
    /// Its place in the list.
    pub index: usize,
    /// Why it and no other, for the user.
    pub reason: String,
}

/// Chooses an adapter: the named one, else the first real GPU, else a software adapter where that is allowed.
///
/// # Errors
/// If none is left.
pub fn choose(adapters: &[AdapterInfo], request: &Request) -> Result<Choice, GpuError> {
    if let Some(name) = &request.name {
        let wanted = name.to_lowercase();
        let index = adapters
            .iter()
            .position(|a| a.name.to_lowercase().contains(&wanted));
        let reason = format!("its name contains `{name}`, as asked");
        return match index {
            Some(index) => Ok(Choice { index, reason }),
            None => Err(GpuError::NoSuchAdapter {
                name: name.clone(),
                found: adapters.iter().map(|a| a.name.clone()).collect(),
            }),
        };
    }
    if let Some(index) = adapters.iter().position(|a| !a.is_software()) {
        let reason = if adapters.iter().filter(|a| !a.is_software()).count() == 1 {
            "the only real GPU".to_owned()
        } else {
            format!("the first real GPU, {} before others", adapters[index].kind)
        };
        return Ok(Choice { index, reason });
    }
    match adapters.first() {
        None => Err(GpuError::NoAdapter),
        Some(_) if request.allow_software => Ok(Choice {
            index: 0,
            reason: "no real GPU is there, and software adapters are allowed".to_owned(),
        }),
        Some(first) => Err(GpuError::OnlySoftware(first.name.clone())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(name: &str, kind: &'static str, class: GpuClass) -> AdapterInfo {
        AdapterInfo {
            name: name.into(),
            kind,
            backend: "vulkan".into(),
            driver: String::new(),
            class,
            subgroup_min: 8,
            subgroup_max: 32,
            max_binding_bytes: 128 << 20,
            pipeline_cache: false,
            fragments: vec![],
        }
    }

    #[test]
    fn software_is_used_only_when_asked_for() {
        let list = [info("llvmpipe (LLVM)", "software", GpuClass::Software)];
        let refused = choose(&list, &Request::default());
        assert!(matches!(refused, Err(GpuError::OnlySoftware(_))));
        let allowed = Request {
            name: None,
            allow_software: true,
        };
        assert_eq!(choose(&list, &allowed).map(|c| c.index).ok(), Some(0));
        let named = Request {
            name: Some("LLVMpipe".into()),
            allow_software: false,
        };
        assert_eq!(choose(&list, &named).map(|c| c.index).ok(), Some(0));
    }

    #[test]
    fn a_real_gpu_comes_first_and_a_wrong_name_is_an_error() {
        let list = [
            info("llvmpipe", "software", GpuClass::Software),
            info("Radeon", "discrete", GpuClass::Amd),
        ];
        let any = Request {
            name: None,
            allow_software: true,
        };
        assert_eq!(choose(&list, &any).map(|c| c.index).ok(), Some(1));
        let wrong = Request {
            name: Some("geforce".into()),
            allow_software: true,
        };
        assert!(matches!(
            choose(&list, &wrong),
            Err(GpuError::NoSuchAdapter { .. })
        ));
        assert!(matches!(choose(&[], &any), Err(GpuError::NoAdapter)));
    }
}
