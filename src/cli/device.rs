//! Which device a verb uses, and why.

use super::args::DeviceArgs;
use super::error::CliError;
use crate::codegen_cpu::this_cpu;
use crate::kernel::Target;
use crate::runtime::Device;
use crate::runtime_gpu::{
    Adapter, AdapterInfo, Checks, GpuError, PipelineCache, Request, adapters, choose,
};

/// An opened device.
pub(crate) struct Chosen {
    /// The device.
    pub(crate) device: Device,
    /// What the compiler must know of it.
    pub(crate) target: Target,
    /// Its name, as `--device` takes it.
    pub(crate) name: String,
    /// Why it and no other.
    pub(crate) reason: String,
}

/// Whether `--device` asks for the interpreter.
pub(crate) fn is_interpreter(device: &str) -> bool {
    device.eq_ignore_ascii_case("interp")
}

/// Opens the device that the arguments ask for.
pub(crate) fn open(args: &DeviceArgs, cache: &PipelineCache) -> Result<Chosen, CliError> {
    if args.device.eq_ignore_ascii_case("cpu") {
        return Ok(cpu("asked for".to_owned()));
    }
    open_among(&adapters(), args, cache)
}

/// The same, where the adapters are known already.
pub(crate) fn open_among(
    adapters: &[Adapter],
    args: &DeviceArgs,
    cache: &PipelineCache,
) -> Result<Chosen, CliError> {
    let infos: Vec<AdapterInfo> = adapters.iter().map(|a| a.info().clone()).collect();
    let request = match args.device.to_ascii_lowercase().as_str() {
        "cpu" => return Ok(cpu("asked for".to_owned())),
        "auto" | "gpu" => Request {
            name: None,
            allow_software: args.allow_software && !args.device.eq_ignore_ascii_case("auto"),
        },
        _ => Request {
            name: Some(args.device.clone()),
            allow_software: args.allow_software,
        },
    };
    let choice = match choose(&infos, &request) {
        Ok(choice) => choice,
        Err(GpuError::NoAdapter) if args.device.eq_ignore_ascii_case("auto") => {
            return Ok(cpu("there is no GPU".to_owned()));
        }
        Err(GpuError::OnlySoftware(name)) if args.device.eq_ignore_ascii_case("auto") => {
            return Ok(cpu(format!(
                "there is no real GPU, only {name}, which runs on the CPU too"
            )));
        }
        Err(GpuError::OnlySoftware(name)) => return Err(CliError::OnlySoftware { name }),
        Err(error) => return Err(error.into()),
    };
    let gpu = adapters[choice.index].open_with_cache(Checks::default(), cache)?;
    Ok(Chosen {
        target: Target::Gpu(gpu.target().clone()),
        name: gpu.info().name.clone(),
        device: Device::Gpu(gpu),
        reason: choice.reason,
    })
}

fn cpu(reason: String) -> Chosen {
    Chosen {
        device: Device::Cpu,
        target: Target::Cpu(this_cpu()),
        name: "cpu".to_owned(),
        reason,
    }
}
