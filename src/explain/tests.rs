//! Costs of addresses that can be counted by hand.

use super::transactions::{Transactions, global, shared};

fn taken(t: Transactions) -> (u64, u64) {
    (t.taken, t.ideal)
}

/// Addresses of 32 threads.
fn by_thread(f: impl Fn(i64) -> i64) -> Vec<i64> {
    (0..32).map(f).collect()
}

#[test]
fn neighbours_share_sectors() {
    // 32 threads of 4 bytes side by side are 128 bytes: four sectors, all of them used.
    assert_eq!(taken(global(&by_thread(|t| 4 * t), 4)), (4, 4));
    // One element further, they reach into a fifth.
    assert_eq!(taken(global(&by_thread(|t| 4 * t + 4), 4)), (5, 4));
    // Rows of 1,024 elements apart: each thread has a sector of its own, of which it uses an eighth.
    assert_eq!(taken(global(&by_thread(|t| 4096 * t), 4)), (32, 4));
    assert_eq!(global(&by_thread(|t| 4096 * t), 4).bytes, 128);
    // All threads read one element.
    assert_eq!(taken(global(&by_thread(|_| 64), 4)), (1, 1));
    // Vectors of four side by side.
    assert_eq!(taken(global(&by_thread(|t| 16 * t), 16)), (16, 16));
}

#[test]
fn threads_meet_in_banks() {
    // 32 words side by side: one of each bank.
    assert_eq!(taken(shared(&by_thread(|t| 4 * t), 4, 32)), (1, 1));
    // Every second word: two threads in each of 16 banks.
    assert_eq!(taken(shared(&by_thread(|t| 8 * t), 4, 32)), (2, 1));
    // A column of a matrix 16 wide: two banks, 16 words each.
    assert_eq!(taken(shared(&by_thread(|t| 64 * t), 4, 32)), (16, 1));
    // The same with a row of 17: no two meet.
    assert_eq!(taken(shared(&by_thread(|t| 68 * t), 4, 32)), (1, 1));
    // One word for all is sent to all.
    assert_eq!(taken(shared(&by_thread(|_| 8), 4, 32)), (1, 1));
    // Vectors of four side by side: four words of each bank.
    assert_eq!(taken(shared(&by_thread(|t| 16 * t), 16, 32)), (4, 4));
    // Vectors of four at every eighth word: half of the banks, eight words of each.
    assert_eq!(taken(shared(&by_thread(|t| 32 * t), 16, 32)), (8, 4));
    // Two vectors of four, each for half of the threads.
    assert_eq!(taken(shared(&by_thread(|t| t / 16 * 512), 16, 32)), (2, 1));
    assert_eq!(taken(shared(&by_thread(|t| t / 16 * 528), 16, 32)), (1, 1));
}
