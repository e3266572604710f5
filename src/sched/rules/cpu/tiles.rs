//! Tiles of a product: as many sums in registers as keep arithmetic busy without spills.

use super::traits::{COLUMNS, CpuTraits};
use crate::tensor::DType;

/// Rows of a tile. A divisor of them is found for most extents.
pub(super) const MOST_ROWS: i64 = 8;

/// Tiles of which the last one may be partial.
const MANY_TILES: i64 = 16;

/// Sums that keep arithmetic busy. (Of 1000 rows with vectors of 256 bits, tiles of ten sums take 1.03 of the time of those of twelve.)
const ENOUGH_SUMS: i64 = 12;

/// The part of the result whose sums are in registers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tile {
    pub(super) rows: i64,
    /// Panels of columns next to each other.
    pub(super) panels: i64,
}

/// A tile whose sums leave registers for the operands: for registers as wide as a panel two of these, where they divide the columns,
/// since each element of `A` that is loaded then serves two multiplications. The rows are a divisor of all, where there is one that is
/// not much smaller.
pub(super) fn tile(
    traits: &CpuTraits,
    sums: DType,
    rows: Option<i64>,
    columns: Option<i64>,
) -> Tile {
    let Tile { rows: most, panels } = largest(traits, sums, columns);
    let of = |rows: i64| {
        let even = (most / 2 + 1..=most).rev().find(|size| rows % size == 0);
        even.unwrap_or(most.min(rows.max(1)))
    };
    Tile {
        rows: rows.map_or(most, of),
        panels,
    }
}

/// A tile whose rows are pixels of an image of this width. It is within one line, or of whole lines, where it can be: then all its pixels are at constant
/// distances from the first.
pub(super) fn tile_of_pixels(
    traits: &CpuTraits,
    sums: DType,
    width: Option<i64>,
    pixels: Option<i64>,
    columns: Option<i64>,
) -> Tile {
    let usual = tile(traits, sums, pixels, columns);
    let (Some(width), Some(pixels)) = (width, pixels) else {
        return usual;
    };
    // Tiles of one panel have registers for more rows.
    let most = match columns {
        Some(COLUMNS) => traits.rows_of_sums(traits.registers_of_panel(sums)),
        _ => largest(traits, sums, columns).rows,
    };
    let mut sizes = (most / 2 + 1..=most).rev();
    let in_lines = |rows: &i64| (width % rows == 0 || rows % width == 0) && pixels % rows == 0;
    Tile {
        rows: sizes.find(in_lines).unwrap_or(usual.rows),
        panels: usual.panels,
    }
}

/// The tile of [`tile`], or, of many rows whose divisor has few sums, the largest one: waiting for so few sums would take longer than the last,
/// partial tile. It is for rows at equal distances. Where a row of other ones lies is computed for each row of a partial tile.
pub(super) fn tile_of_rows(
    traits: &CpuTraits,
    sums: DType,
    rows: Option<i64>,
    columns: Option<i64>,
) -> Tile {
    let even = tile(traits, sums, rows, columns);
    let most = largest(traits, sums, columns);
    let of_row = traits.registers_of_panel(sums) * even.panels;
    let few = rows.is_some_and(|rows| rows < MANY_TILES * most.rows) || of_row == 1;
    match few || even.rows * of_row >= ENOUGH_SUMS {
        true => even,
        false => most,
    }
}

/// A tile for rows that are padded to whole tiles: the one with the least padding.
pub(super) fn padded_tile(traits: &CpuTraits, sums: DType, rows: i64, columns: i64) -> Tile {
    let Tile { rows: most, panels } = largest(traits, sums, Some(columns));
    let sizes = (most / 2 + 1..=most).rev();
    let least = sizes.min_by_key(|size| (rows + size - 1) / size * size);
    Tile {
        rows: least.unwrap_or(most).min(rows),
        panels,
    }
}

/// The largest tile for such columns.
fn largest(traits: &CpuTraits, sums: DType, columns: Option<i64>) -> Tile {
    let registers = traits.registers_of_panel(sums);
    let pairs = registers == 1 && columns.is_some_and(|n| n % (2 * COLUMNS) == 0);
    let panels = if pairs { 2 } else { 1 };
    Tile {
        rows: traits.rows_of_sums(registers * panels).min(MOST_ROWS),
        panels,
    }
}

/// Panels of a tile that are read where they are. Few rows have few sums; those of several panels hide how long an addition takes.
/// Each thread has at least one tile. For many rows two panels, as in [`tile`], although the last tile may have one only.
pub(super) fn panels_of(
    traits: &CpuTraits,
    registers: i64,
    tile: Tile,
    columns: Option<i64>,
) -> i64 {
    let sums = registers * tile.rows;
    let half = traits.sums();
    let Some(columns) = columns else {
        return tile.panels;
    };
    let all = (columns + COLUMNS - 1) / COLUMNS;
    if sums * tile.panels >= half / 2 {
        return panels_of_many_rows(registers, tile, Some(columns));
    }
    let threads = traits.threads;
    let most = (half / sums)
        .min(MOST_PANELS)
        .min((all + threads - 1) / threads);
    let tiles = (all + most - 1) / most;
    ((all + tiles - 1) / tiles).max(tile.panels)
}

/// Panels of a tile of many rows: two, as in [`tile`], also where the last tile has one only.
pub(super) fn panels_of_many_rows(registers: i64, tile: Tile, columns: Option<i64>) -> i64 {
    let many = columns.is_some_and(|n| (n + COLUMNS - 1) / COLUMNS >= FEWEST_PAIRED);
    if registers == 1 && many {
        2
    } else {
        tile.panels
    }
}

/// The tile of a large product with registers as wide as a panel. Its rows, which often are whole pages apart and then share a set of the L1
/// cache, are as few as they can be.
pub(super) const LARGE_TILE: Tile = Tile { rows: 4, panels: 4 };

/// Rows of `A` that a panel of a large product serves. Each row of the panel is fetched from a page of its own, so that few rows of `A` would not
/// pay for it. Of 128 to 768 this number was the fastest.
pub(super) const LARGE_ROW_BLOCK: i64 = 384;

/// Panels of a large product that are copied side by side where a panel takes several registers. Each of their rows is fetched from a page of its
/// own, and four panels one by one would fetch from that page four times. A product of 2048 takes 0.94 of the time.
pub(super) const PANELS_OF_STRIP: i64 = 4;

/// Whether such panels and their sums, of 32 bits, fit the stack, and the product has enough of them for all threads.
pub(super) fn fits_strip(traits: &CpuTraits, sums: DType, extents: &[Option<i64>; 3]) -> bool {
    let [Some(rows), Some(columns), _] = *extents else {
        return false;
    };
    let strips = (columns + PANELS_OF_STRIP * COLUMNS - 1) / (PANELS_OF_STRIP * COLUMNS);
    let blocks = (rows + LARGE_ROW_BLOCK - 1) / LARGE_ROW_BLOCK;
    sums.scalar.bytes() <= 4 && strips * blocks >= traits.parts()
}

/// Rows of `A` that a panel serves, if the panel is read where it lies. Such a panel is half as deep again as a copied one. With both numbers a
/// product of 256 rows by 768 × 3072 takes 0.97 of the time.
pub(super) const PACKED_ROW_BLOCK: i64 = 256;

/// The least extents of a large product. One of 2048 takes 0.8 of the time, one of 1000 0.95, one of 512 0.98.
const LARGE: i64 = 512;

/// At most one column in so many may be padding.
const WASTED: i64 = 32;

/// Whether the product is large in all dimensions.
pub(super) fn is_large(extents: &[Option<i64>; 3]) -> bool {
    extents
        .iter()
        .all(|extent| extent.is_some_and(|extent| extent >= LARGE))
}

/// Whether [`LARGE_TILE`] fits a large product: the tile divides the rows. The tile divides the columns, or, if sums past the end have a place,
/// leaves little padding.
pub(super) fn fits_large_tile(
    registers: i64,
    extents: &[Option<i64>; 3],
    past_the_end: bool,
) -> bool {
    let [Some(rows), Some(columns), _] = *extents else {
        return false;
    };
    let Tile {
        rows: height,
        panels,
    } = LARGE_TILE;
    let width = panels * COLUMNS;
    let missing = (columns + width - 1) / width * width - columns;
    registers == 1
        && rows % height == 0
        && (missing == 0 || past_the_end && missing * WASTED <= columns)
}

/// Rows of a block where each thread has blocks of its own and reads all panels. If the threads of the layers before and after have the
/// same rows, the elements stay in the cache of one core. Between cores without a common cache, to overwrite a line that both
/// have read costs some hundred nanoseconds.
pub(super) fn rows_of_thread(traits: &CpuTraits, rows: i64) -> i64 {
    let parts = (rows / FEWEST_ROWS).clamp(1, traits.threads);
    (rows + parts - 1) / parts
}

/// Fewest rows of a thread that all panels are read for: an eighth of a byte of panels for each multiplication and addition.
const FEWEST_ROWS: i64 = 32;

/// Fewest panels that are taken in pairs where their number is odd: a seventh of the work is for nothing then.
const FEWEST_PAIRED: i64 = 6;

/// Panels that are read at once.
const MOST_PANELS: i64 = 8;
