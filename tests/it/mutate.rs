//! Files made from others: damaged, cut, and with parts of one in another.

/// A stream of numbers that is the same every time.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below `n`.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        // Knuth, "The Art of Computer Programming", volume 2, 3.3.4, as MMIX has it.
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n.max(1)
    }
}

/// Longest part that is copied from another file.
const PART: usize = 64;

/// One to three changes of a file. Most keep its length, so that what follows is still read as what it was: a small number in place of
/// a byte, another bit, two bytes exchanged. The others cut it, leave a part out, say it twice, bring one from another file, or put a
/// number there that is huge or negative.
pub(crate) fn mutated(file: &[u8], other: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = file.to_vec();
    for _ in 0..=random.below(3) {
        let at = random.below(bytes.len());
        let part = 1 + random.below(PART);
        let end = (at + part).min(bytes.len());
        match random.below(24) {
            0..8 if !bytes.is_empty() => bytes[at] = random.below(16) as u8,
            8..12 if !bytes.is_empty() => bytes[at] ^= 1 << random.below(8),
            12..15 if !bytes.is_empty() => bytes.swap(at, end - 1),
            15..18 if end <= other.len() => bytes[at..end].copy_from_slice(&other[at..end]),
            18 => bytes.truncate(at),
            19 => {
                let from = random.below(other.len());
                let taken = &other[from..(from + part).min(other.len())];
                bytes.splice(at..end, taken.iter().copied());
            }
            20 => {
                bytes.drain(at..end);
            }
            21 => {
                let again = bytes[at..end].to_vec();
                bytes.splice(at..at, again);
            }
            22 => bytes[at..end].fill(0xff),
            _ => {
                // The longest varints: 2^63 - 1, and -1.
                let huge = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f];
                let minus = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01];
                let number = [&huge[..], &minus][random.below(2)];
                let replaced = at..(at + random.below(3)).min(bytes.len());
                bytes.splice(replaced, number.iter().copied());
            }
        }
    }
    bytes
}
