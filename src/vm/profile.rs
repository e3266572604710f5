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
    /// A copy: between host and device, or of a tensor that is changed in place while others hold it.
    Copy,
    /// A packed function.
    Packed,
    /// Everything else.
    Builtin,
}

/// Who measured a time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Clock {
    /// The device, by timestamps.
    Device,
    /// The host.
    Host,
}

/// What one run of a kernel took.
#[derive(Clone, Copy, Debug)]
pub(super) struct KernelTime {
    pub(super) seconds: f64,
    pub(super) clock: Clock,
    /// What made its native code; of a shader, `proved` if it runs without the driver's checks, else `checked`.
    pub(super) code: Option<&'static str>,
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
    /// Who measured them.
    pub clock: Clock,
    /// Launches of a kernel: more than one only where a device ends long loops.
    pub launches: u64,
    /// Bytes copied, or moved at least by the kernel.
    pub bytes: u64,
    /// Floating-point operations of a kernel, by estimate.
    pub flops: u64,
    /// Of native code, what made it; of a shader, `proved` if it runs without the driver's checks, else `checked`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<&'static str>,
    /// Of a copy: why it was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
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
    /// How many copies were made, and of how many bytes: between host and device, or to change a tensor in place that others
    /// hold.
    pub fn copies(&self) -> (usize, u64) {
        let copies = self.entries.iter().filter(|e| e.kind == ProfileKind::Copy);
        copies.fold((0, 0), |(count, bytes), e| (count + 1, bytes + e.bytes))
    }

    /// Launches of kernels.
    pub fn launches(&self) -> u64 {
        self.entries.iter().map(|entry| entry.launches).sum()
    }

    /// Seconds of the device, by its timestamps, and seconds that the host measured.
    pub fn seconds(&self) -> (f64, f64) {
        let of = |clock: Clock| {
            let entries = self.entries.iter().filter(|entry| entry.clock == clock);
            entries.fold(0.0, |sum, entry| sum + entry.seconds)
        };
        (of(Clock::Device), of(Clock::Host))
    }
}

impl ProfileKind {
    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Kernel => "kernel",
            Self::Copy => "copy",
            Self::Packed => "packed",
            Self::Builtin => "builtin",
        }
    }
}

impl Clock {
    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Device => "device",
            Self::Host => "host",
        }
    }
}

impl std::fmt::Display for Profile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(
            f,
            "{:<28} {:<8} {:>12} {:<6} {:>12} {:>10}  why",
            "step", "kind", "time us", "clock", "bytes", "GFLOP/s"
        )?;
        for e in &self.entries {
            let rate = if e.flops > 0 && e.seconds > 0.0 {
                format!("{:.2}", e.flops as f64 / e.seconds * 1e-9)
            } else {
                String::new()
            };
            let line = format!(
                "{:<28} {:<8} {:>12.2} {:<6} {:>12} {rate:>10}  {}",
                e.name,
                e.kind.name(),
                e.seconds * 1e6,
                e.clock.name(),
                e.bytes,
                e.why.as_deref().unwrap_or_default()
            );
            writeln!(f, "{}", line.trim_end())?;
        }
        let (copies, bytes) = self.copies();
        let (device, host) = self.seconds();
        writeln!(
            f,
            "total {:.2} us: {:.2} us on the device, {:.2} us on the host; {} launches; {copies} copies of {bytes} bytes",
            self.total.as_secs_f64() * 1e6,
            device * 1e6,
            host * 1e6,
            self.launches(),
        )
    }
}
