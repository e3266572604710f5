//! `Device`: where programs run.

#[cfg(feature = "gpu")]
use crate::runtime_gpu::Gpu;

/// A device that programs run on. Clones are the same device.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Device {
    /// The CPU of this machine.
    Cpu,
    /// A GPU.
    #[cfg(feature = "gpu")]
    Gpu(Gpu),
}

impl std::fmt::Display for Device {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Cpu => f.write_str("cpu"),
            #[cfg(feature = "gpu")]
            Self::Gpu(gpu) => write!(f, "gpu {}", gpu.info().name),
        }
    }
}
