//! The machine we compile for: the one we run on.

use std::sync::OnceLock;

use cranelift_codegen::isa::{CallConv, OwnedTargetIsa, TargetIsa};
use cranelift_codegen::settings::{self, Configurable};

use super::{Backend, CodegenError};
use crate::kernel::CpuTarget;

/// Whether Cranelift checks the functions that it is given.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Verify {
    /// Always in tests and debug builds.
    Yes,
    /// Saves time.
    #[default]
    No,
}

/// Cranelift's description of this machine.
pub(super) fn host_isa(verify: Verify) -> Result<OwnedTargetIsa, CodegenError> {
    let mut flags = settings::builder();
    let verify = if verify == Verify::Yes {
        "true"
    } else {
        "false"
    };
    for (name, value) in [
        ("opt_level", "speed"),
        ("enable_verifier", verify),
        ("is_pic", "false"),
        ("use_colocated_libcalls", "false"),
        ("unwind_info", "false"),
        ("preserve_frame_pointers", "true"),
        ("enable_probestack", "true"),
        ("probestack_strategy", "inline"),
    ] {
        flags
            .set(name, value)
            .expect("these settings exist in this version of cranelift");
    }
    cranelift_native::builder()
        .map_err(|reason| CodegenError::Host { reason })?
        .finish(settings::Flags::new(flags))
        .map_err(|_| CodegenError::Host {
            reason: "cranelift refuses its features",
        })
}

/// The calling convention of kernels and of the functions that they call (see [`NativeFn`](super::NativeFn)).
pub(super) fn call_conv(isa: &dyn TargetIsa) -> CallConv {
    if cfg!(target_arch = "x86_64") {
        CallConv::SystemV
    } else {
        isa.default_call_conv()
    }
}

/// What schedules should know of this machine, with all threads that this process may use.
pub fn this_cpu() -> CpuTarget {
    host_target(std::thread::available_parallelism().map_or(1, usize::from))
}

/// What schedules should know of this machine, with `threads` threads: of the registers that [`Backend::default`] uses.
pub fn host_target(threads: usize) -> CpuTarget {
    Backend::default().target(threads)
}

impl Backend {
    /// What schedules should know of this machine where this back end makes the code.
    pub fn target(self, threads: usize) -> CpuTarget {
        static FMA: OnceLock<bool> = OnceLock::new();
        let (vector_registers, fma) = match self {
            Self::FullWidth(isa) => (isa.registers(), true),
            Self::Cranelift => {
                let has_fma = || host_isa(Verify::No).is_ok_and(|isa| isa.has_native_fma());
                (16, *FMA.get_or_init(has_fma))
            }
        };
        CpuTarget {
            threads,
            f32_lanes: (self.vector_bytes() / 4) as u16,
            vector_registers: vector_registers as u16,
            fma,
            dot_bytes: matches!(self, Self::FullWidth(isa) if isa.has_dot_bytes()),
        }
    }
}
