//! What a call spent its time on.

use std::time::Duration;

use serde::Serialize;

use crate::artifact::Pc;

/// Kind of a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ProfileKind {
    /// A kernel; on a GPU its time on the device.
    Kernel,
    /// A copy between host and device.
    Copy,
    /// A packed function.
    Packed,
    /// Everything else.
    Builtin,
}

/// One step of a call.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ProfileEntry {
    /// The function it belongs to.
    pub func: String,
    /// Position of the instruction in the code of the executable.
    pub pc: Pc,
    /// Name of the kernel, packed function or builtin.
    pub name: String,
    /// Kind.
    pub kind: ProfileKind,
    /// Seconds.
    pub seconds: f64,
    /// Bytes copied, or moved at least by the kernel.
    pub bytes: u64,
    /// Floating-point operations of a kernel, by estimate.
    pub flops: u64,
}

/// All steps of a call, in order.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Profile {
    /// The steps.
    pub entries: Vec<ProfileEntry>,
    /// From call to result.
    pub total: Duration,
}

impl Profile {
    /// Bytes copied between host and device, and in how many copies.
    pub fn copies(&self) -> (usize, u64) {
        let copies = self.entries.iter().filter(|e| e.kind == ProfileKind::Copy);
        copies.fold((0, 0), |(count, bytes), e| (count + 1, bytes + e.bytes))
    }
}

impl std::fmt::Display for Profile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(
            f,
            "{:<28} {:<8} {:>12} {:>12} {:>10}",
            "step", "kind", "time us", "bytes", "GFLOP/s"
        )?;
        for e in &self.entries {
            let kind = match e.kind {
                ProfileKind::Kernel => "kernel",
                ProfileKind::Copy => "copy",
                ProfileKind::Packed => "packed",
                ProfileKind::Builtin => "builtin",
            };
            let rate = if e.flops > 0 && e.seconds > 0.0 {
                format!("{:.2}", e.flops as f64 / e.seconds * 1e-9)
            } else {
                String::new()
            };
            let time = e.seconds * 1e6;
            writeln!(
                f,
                "{:<28} {kind:<8} {time:>12.2} {:>12} {rate:>10}",
                e.name, e.bytes
            )?;
        }
        writeln!(f, "total {:.2} us", self.total.as_secs_f64() * 1e6)
    }
}
