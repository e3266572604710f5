//! Multiprocessors, compute units or cores of devices by the words of their names. wgpu does not report them; the figures are those
//! of the vendors. Laptop devices of the same name have fewer.

/// Names of more words stand first: they are those of other devices than their beginnings.
const CORES: [(&str, u32); 64] = [
    ("RTX 4070 Ti SUPER", 66),
    ("RTX 2080 SUPER", 48),
    ("RTX 2070 SUPER", 40),
    ("RTX 2060 SUPER", 34),
    ("GTX 1660 Ti", 24),
    ("RX 6600 XT", 32),
    ("RX 7900 GRE", 80),
    ("RTX 5070 Ti", 70),
    ("RTX 5060 Ti", 36),
    ("RTX 4080 SUPER", 80),
    ("RTX 4070 Ti", 60),
    ("RTX 4070 SUPER", 56),
    ("RTX 4060 Ti", 34),
    ("RTX 3090 Ti", 84),
    ("RTX 3080 Ti", 80),
    ("RTX 3070 Ti", 48),
    ("RTX 3060 Ti", 38),
    ("RTX 2080 Ti", 68),
    ("RX 9070 XT", 64),
    ("RX 7900 XTX", 96),
    ("RX 7900 XT", 84),
    ("RX 7800 XT", 60),
    ("RX 7700 XT", 54),
    ("RX 6900 XT", 80),
    ("RX 6800 XT", 72),
    ("RX 6700 XT", 40),
    ("H100 PCIe", 114),
    ("RTX 5090", 170),
    ("RTX 5080", 84),
    ("RTX 5070", 48),
    ("RTX 5060", 30),
    ("RTX 4090", 128),
    ("RTX 4080", 76),
    ("RTX 4070", 46),
    ("RTX 4060", 24),
    ("RTX 3090", 82),
    ("RTX 3080", 68),
    ("RTX 3070", 46),
    ("RTX 3060", 28),
    ("RTX 2080", 46),
    ("RTX 2070", 36),
    ("RTX 2060", 30),
    ("GTX 1660", 22),
    ("RX 9070", 56),
    ("RX 7600", 32),
    ("RX 6800", 60),
    ("RX 6600", 28),
    ("M4 Max", 40),
    ("M4 Pro", 20),
    ("M3 Max", 40),
    ("M3 Pro", 18),
    ("M2 Ultra", 76),
    ("M2 Max", 38),
    ("M1 Max", 32),
    ("M1 Pro", 16),
    ("H100", 132),
    ("H200", 132),
    ("A100", 108),
    ("L40", 142),
    ("L4", 58),
    ("A770", 32),
    ("A750", 28),
    ("B580", 20),
    ("B570", 18),
];

/// Units of the adapter of this name, if it is known.
pub(super) fn cores_of(name: &str) -> Option<u32> {
    let words: Vec<&str> = name.split_whitespace().collect();
    let is_part = |part: &str| {
        let part: Vec<&str> = part.split(' ').collect();
        words.windows(part.len()).any(|some| some == part)
    };
    let mut known = CORES.into_iter();
    known
        .find(|(part, _)| is_part(part))
        .map(|(_, cores)| cores)
}

#[cfg(test)]
mod tests {
    use super::{CORES, cores_of};

    #[test]
    fn names_are_compared_by_words() {
        assert_eq!(cores_of("NVIDIA H100 80GB HBM3"), Some(132));
        assert_eq!(cores_of("NVIDIA H100 PCIe"), Some(114));
        assert_eq!(cores_of("NVIDIA GeForce RTX 4070 Ti SUPER"), Some(66));
        assert_eq!(cores_of("NVIDIA GeForce RTX 4070"), Some(46));
        assert_eq!(cores_of("AMD Radeon RX 7900 XTX (RADV NAVI31)"), Some(96));
        assert_eq!(cores_of("Apple M2 Max"), Some(38));
        assert_eq!(cores_of("NVIDIA RTX A1000"), None);
        assert_eq!(cores_of("llvmpipe (LLVM 15.0.6, 256 bits)"), None);
    }

    #[test]
    fn every_row_is_found_by_its_own_name() {
        for (name, cores) in CORES {
            assert_eq!(cores_of(name), Some(cores), "{name}");
        }
    }
}
