//! Folding of grids with more workgroups in one dimension than a device takes.
//!
//! A folded launch dispatches [`folded_grid`]; its shader finds its place in the true grid from the linear workgroup number.

/// What to dispatch for a folded launch: at least as many workgroups as the grid has, none of its dimensions above `max_grid`.
/// `None` if the grid has more than 2^32 - 1 workgroups or the dispatch does not fit. An empty grid gives zeros.
pub fn folded_grid(grid: [u64; 3], max_grid: u32) -> Option<[u32; 3]> {
    let max = u64::from(max_grid);
    let total = grid
        .iter()
        .try_fold(1u64, |total, &n| total.checked_mul(n))
        .filter(|&n| n <= u64::from(u32::MAX))?;
    if total == 0 {
        return Some([0, 0, 0]);
    }
    let x = total.min(max);
    let y = total.div_ceil(x);
    (y <= max).then_some([x as u32, y as u32, 1])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folded_grid_covers_the_grid() {
        for grid in [
            [1, 1, 1],
            [65_535, 1, 1],
            [65_536, 1, 1],
            [70_001, 3, 2],
            [0, 5, 1],
        ] {
            let total: u64 = grid.iter().product();
            let folded = folded_grid(grid, 65_535).expect("fits");
            assert!(folded.iter().all(|&n| n <= 65_535), "{folded:?}");
            let dispatched: u64 = folded.iter().map(|&n| u64::from(n)).product();
            assert!(dispatched >= total && (total == 0) == (dispatched == 0));
        }
        assert_eq!(folded_grid([u64::from(u32::MAX), 2, 1], 65_535), None);
        assert_eq!(folded_grid([u64::MAX, 2, 1], 65_535), None);
    }
}
