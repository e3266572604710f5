//! Sizes of matmul tiles: a table by class of device, cut to the extents that are known.
//!
//! Measured for software adapters on lavapipe (Mesa 22.3, GEMM 1024, 2 cores): 8×1 threads with uniform loads of `A` and no
//! shared memory took half the time of forms with shared memory; of tiles, 16×16 took 78 ms, 16×12 82, 8×16 99, 16×8 104,
//! 8×8 124, 16×4 159, and larger ones 95 and more; with `B` transposed, 16×16 77, 8×16 103, 8×8 114, 8×4 162.

use crate::kernel::{GpuClass, GpuTarget};

/// How the loops of a matmul are split.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Tile {
    /// Threads along `m`.
    pub(super) ty: i64,
    /// Threads along `n`.
    pub(super) tx: i64,
    /// Rows of a thread.
    pub(super) tm: i64,
    /// Columns of a thread.
    pub(super) tn: i64,
    /// Steps of `k` between loads of the operands.
    pub(super) bk: i64,
    /// Whether operands go through shared memory.
    pub(super) shared: bool,
    /// Pieces that the columns of a workgroup are cut into: a thread has a vector of each. 1: those of a thread lie side by side.
    pub(super) pieces: i64,
}

/// What is known of a matmul.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extents {
    pub(super) m: Option<i64>,
    pub(super) n: Option<i64>,
    /// Matmuls of this form.
    pub(super) batch: Option<i64>,
    /// Whether the columns are one loop, which can be cut into pieces.
    pub(super) n_is_one_loop: bool,
    /// Whether `B` consists of whole 16-byte vectors of `f32`.
    pub(super) b_in_vectors: bool,
}

impl Tile {
    pub(super) fn choose(target: &GpuTarget, e: Extents) -> Self {
        let small_m = e.m.filter(|&m| m <= 8);
        let mut tile = if target.class == GpuClass::Software {
            Self::software(e)
        } else if let Some(m) = small_m {
            Self {
                ty: 1,
                tx: 64,
                tm: m,
                tn: 1,
                bk: 16,
                shared: true,
                pieces: 1,
            }
        } else {
            Self::by_class(target, e)
        };
        if let Some(m) = small_m {
            tile.tm = m.max(1);
        }
        if let Some(n) = e.n {
            // Few columns: the threads past the last one get rows instead.
            while tile.shared && small_m.is_none() && tile.tx > 4 && tile.tx / 2 * tile.tn >= n {
                tile.tx /= 2;
                tile.ty *= 2;
            }
            while tile.tn > 1 && tile.tx * tile.tn > n.max(tile.tx) * 2 {
                tile.tn /= 2;
            }
        }
        tile.fit(target)
    }

    /// The largest tile of which there are enough for all cores. A load of `B` costs eight times what one of `A` does, and
    /// serves as many multiplications as the tile has rows.
    fn software(e: Extents) -> Self {
        let tx = 8;
        let most_rows = e.m.map_or(8, |m| m.min(16));
        let most_columns = if e.b_in_vectors { 16 } else { 4 };
        let fits = |&(tm, tn): &(i64, i64)| {
            let blocks = |m: i64, n: i64| (m + tm - 1) / tm * ((n + tx * tn - 1) / (tx * tn));
            let enough = e.m.zip(e.n).is_none_or(|(m, n)| blocks(m, n) >= 16);
            tm <= most_rows && tn <= most_columns && enough
        };
        let sizes = [(16, 16), (8, 16), (8, 8), (8, 4)];
        let (tm, tn) = sizes.into_iter().find(fits).unwrap_or((8, most_columns));
        Self {
            ty: 1,
            tx,
            tm,
            tn,
            bk: 4,
            shared: false,
            pieces: 1,
        }
    }

    /// The largest tile of which there are enough for all cores. Shared memory gives a word to all threads that want it, so a thread
    /// has four columns of each piece: its neighbours have those beside them.
    fn by_class(target: &GpuTarget, e: Extents) -> Self {
        let tile = |ty, tx, tm, pieces, bk| Self {
            ty,
            tx,
            tm,
            tn: 4 * pieces,
            bk,
            shared: true,
            pieces,
        };
        let extra_large = tile(16, 16, 8, 2, 8);
        let large = tile(8, 16, 8, 1, 8);
        let medium = tile(8, 8, 4, 1, 8);
        let sizes: &[Self] = match target.class {
            GpuClass::Nvidia | GpuClass::Amd => &[extra_large, large],
            GpuClass::Intel | GpuClass::Apple => &[large],
            GpuClass::Mobile | GpuClass::Software | GpuClass::Unknown => &[],
        };
        let wanted = 2 * target.class.usual_cores();
        let fits = |tile: &&Self| {
            let (bm, bn) = (tile.ty * tile.tm, tile.tx * tile.tn);
            let cut = e.n_is_one_loop && e.n.is_some_and(|n| n % (tile.tx * 4) == 0);
            let blocks = |(m, n)| (m + bm - 1) / bm * ((n + bn - 1) / bn) * e.batch.unwrap_or(1);
            let enough = e.m.zip(e.n).is_none_or(|extents| blocks(extents) >= wanted);
            enough && (tile.pieces == 1 || (cut && e.m.is_some()))
        };
        sizes.iter().find(fits).copied().unwrap_or(medium)
    }

    /// Halves what the device does not have room for.
    fn fit(mut self, target: &GpuTarget) -> Self {
        let threads = i64::from(target.max_threads);
        while self.ty * self.tx > threads && self.ty > 1 {
            self.ty /= 2;
        }
        while self.ty * self.tx > threads && self.tx > 1 {
            self.tx /= 2;
        }
        let shared = i64::from(target.shared_bytes);
        while self.shared
            && self.bk > 1
            && 4 * self.bk * (self.ty * self.tm + self.tx * self.tn) > shared
        {
            self.bk /= 2;
        }
        self
    }
}
