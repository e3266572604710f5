//! Sizes of matmul tiles: a table by class of device, cut to the extents that are known.
//!
//! Measured for software adapters on lavapipe (Mesa 22.3, GEMM 1024, 2 cores): 8×1 threads of 8×16 with uniform loads of `A`,
//! no shared memory, took half the time of forms with shared memory.

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
}

/// What is known of a matmul.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extents {
    pub(super) m: Option<i64>,
    pub(super) n: Option<i64>,
    /// Whether neighbours in `n` are neighbours in the memory of `B`.
    pub(super) b_along_n: bool,
}

impl Tile {
    pub(super) fn choose(target: &GpuTarget, e: Extents) -> Self {
        let small_m = e.m.filter(|&m| m <= 8);
        let mut tile = if target.class == GpuClass::Software {
            Self {
                ty: 1,
                tx: 8,
                tm: 8,
                tn: if e.b_along_n && e.n.is_some_and(|n| n % 4 == 0) {
                    16
                } else {
                    4
                },
                bk: 4,
                shared: false,
            }
        } else if let Some(m) = small_m {
            Self {
                ty: 1,
                tx: 64,
                tm: m,
                tn: 1,
                bk: 16,
                shared: true,
            }
        } else {
            Self::by_class(target, e)
        };
        if let Some(m) = small_m {
            tile.tm = m.max(1);
        }
        if let Some(n) = e.n {
            while tile.tn > 1 && tile.tx * tile.tn > n.max(tile.tx) * 2 {
                tile.tn /= 2;
            }
        }
        tile.fit(target)
    }

    fn by_class(target: &GpuTarget, e: Extents) -> Self {
        let shared = true;
        let blocks = |bm: i64, bn: i64| match (e.m, e.n) {
            (Some(m), Some(n)) => Some((m + bm - 1) / bm * ((n + bn - 1) / bn)),
            _ => None,
        };
        let (large, medium) = (
            Self {
                ty: 16,
                tx: 16,
                tm: 8,
                tn: 8,
                bk: 8,
                shared,
            },
            Self {
                ty: 8,
                tx: 16,
                tm: 8,
                tn: 4,
                bk: 16,
                shared,
            },
        );
        let small = Self {
            ty: 8,
            tx: 8,
            tm: 4,
            tn: 4,
            bk: 16,
            shared,
        };
        match target.class {
            GpuClass::Nvidia | GpuClass::Amd if blocks(128, 128).is_some_and(|b| b >= 64) => large,
            GpuClass::Nvidia | GpuClass::Amd | GpuClass::Intel | GpuClass::Apple
                if blocks(64, 64).is_none_or(|b| b >= 16) =>
            {
                medium
            }
            _ => small,
        }
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
