//! The devices that the examples run on.

use weftile::codegen_cpu::this_cpu;
use weftile::kernel::Target;
use weftile::runtime::Device;
use weftile::runtime_gpu::{Checks, Request, adapters, choose};

/// The CPU, and the GPU that is there. A software adapter counts only if that is asked for. What is missing is said on standard error, as
/// standard output may be for machines.
#[expect(clippy::print_stderr, reason = "an example talks to its user")]
pub(crate) fn devices(
    allow_software: bool,
) -> Result<Vec<(Device, Target)>, Box<dyn std::error::Error>> {
    let mut devices = vec![(Device::Cpu, Target::Cpu(this_cpu()))];
    let adapters = adapters();
    let infos: Vec<_> = adapters.iter().map(|a| a.info().clone()).collect();
    let request = Request {
        name: None,
        allow_software,
    };
    match choose(&infos, &request) {
        Ok(choice) => {
            let gpu = adapters[choice.index].open(Checks::default())?;
            let target = Target::Gpu(gpu.target().clone());
            devices.push((Device::Gpu(gpu), target));
        }
        Err(none) => eprintln!("running on the CPU only: {none}\n"),
    }
    Ok(devices)
}
