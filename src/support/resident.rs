//! Memory of this process, as the operating system counts it.

/// The most bytes that were resident at any time so far: allocated and touched, or mapped from files and read. `None` where the
/// operating system does not say it in a file.
pub fn peak_resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    peak_of(&status)
}

/// What a file of the form of Linux's `/proc/PID/status` says.
fn peak_of(status: &str) -> Option<u64> {
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim_end().parse().ok()?;
    kibibytes.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peak_is_in_kibibytes() {
        let status = "Name:\tx\nVmHWM:\t    2048 kB\nVmRSS:\t    1024 kB\n";
        assert_eq!(peak_of(status), Some(2 << 20));
        for wrong in ["", "VmHWM:\t12 MB\n", "VmHWM:\tmuch kB\n"] {
            assert_eq!(peak_of(wrong), None, "{wrong}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_is_touched_is_counted() {
        const BYTES: usize = 64 << 20;
        let before = peak_resident().expect("Linux says it");
        let touched = vec![1u8; before as usize + BYTES];
        assert_eq!(std::hint::black_box(&touched)[BYTES], 1);
        let after = peak_resident().expect("Linux says it");
        assert!(after >= before + BYTES as u64, "{before} to {after}");
    }
}
