//! What the addresses of a subgroup cost: sectors of global memory, passes over the banks of shared memory.

use std::collections::BTreeSet;

use crate::kernel::SECTOR_BYTES;

/// Bytes that a bank of shared memory gives in one pass.
pub const BANK_BYTES: u32 = 4;

/// What one access of a subgroup takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Transactions {
    /// Sectors, or passes over the banks.
    pub(super) taken: u64,
    /// The fewest for as many different bytes.
    pub(super) ideal: u64,
    /// Different bytes.
    pub(super) bytes: u64,
}

/// The sectors that so many bytes from each address on lie in.
pub(super) fn global(addresses: &[i64], bytes: u32) -> Transactions {
    let sector = i64::from(SECTOR_BYTES);
    let mut sectors = BTreeSet::new();
    let mut words = BTreeSet::new();
    for &address in addresses {
        let last = address + i64::from(bytes) - 1;
        sectors.extend(address.div_euclid(sector)..=last.div_euclid(sector));
        words.extend(address..=last);
    }
    Transactions {
        taken: sectors.len() as u64,
        ideal: (words.len() as u64).div_ceil(SECTOR_BYTES.into()),
        bytes: words.len() as u64,
    }
}

/// The passes over the banks for so many bytes from each address on: a bank gives one word a pass, to as many threads as want it.
pub(super) fn shared(addresses: &[i64], bytes: u32, banks: u32) -> Transactions {
    let (word, banks) = (i64::from(BANK_BYTES), i64::from(banks));
    let mut words = BTreeSet::new();
    let mut all = BTreeSet::new();
    for &address in addresses {
        let last = address + i64::from(bytes) - 1;
        words.extend(address.div_euclid(word)..=last.div_euclid(word));
        all.extend(address..=last);
    }
    let mut meet = vec![0u64; banks as usize];
    let bank = |word: &i64| word.rem_euclid(banks) as usize;
    words.iter().for_each(|word| meet[bank(word)] += 1);
    Transactions {
        taken: meet.into_iter().max().unwrap_or(0),
        ideal: (words.len() as u64).div_ceil(banks as u64),
        bytes: all.len() as u64,
    }
}
