//! Layouts: where the elements of a buffer lie in memory and over the threads of a launch, after TVM's `tirx::Layout`.
//!
//! A layout is kept, printed and compared, and the layouts of views are made from it. No back end follows one:
//! [`PrimFunc::first_tiled`](super::PrimFunc::first_tiled) finds it for their refusals.

use super::Expr;
use crate::tensor::scalar::BinOp;

/// How the elements of a buffer lie, where that is not row-major.
#[derive(Clone, PartialEq, Debug)]
pub enum Layout {
    /// Strides and offset say it, and nothing else does (`layout=None`).
    Strided,
    /// Digits of the position go along axes.
    Tile(TileLayout),
    /// As a tile layout says, with bits of the address exchanged.
    Swizzle(Swizzle),
}

/// An axis of memory or of threads, under TVM's name.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct TileAxis(&'static str);

/// Names of the axes that are coordinates of memory.
const MEMORY_AXES: [&str; 6] = ["m", "P", "F", "Bank", "TCol", "TLane"];

/// Names of the axes that are coordinates of threads.
const THREAD_AXES: [&str; 12] = [
    "bx",
    "by",
    "bz",
    "cbx",
    "cby",
    "cbz",
    "tx",
    "warpid",
    "laneid",
    "wgid",
    "tid_in_wg",
    "wid_in_wg",
];

impl TileAxis {
    /// Addresses of memory: the axis that a layout means where it names none.
    pub const MEMORY: Self = Self(MEMORY_AXES[0]);

    /// The names of all axes.
    pub fn names() -> impl Iterator<Item = &'static str> {
        MEMORY_AXES.into_iter().chain(THREAD_AXES)
    }

    /// The axis with this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::names().find(|known| *known == name).map(Self)
    }

    /// TVM's name.
    pub fn name(self) -> &'static str {
        self.0
    }

    /// Whether it is a coordinate of memory, not of threads.
    pub fn is_memory(self) -> bool {
        MEMORY_AXES.contains(&self.0)
    }
}

/// One digit of a position: `extent` steps of `stride` along an axis.
#[derive(Clone, PartialEq, Debug)]
pub struct TileIter {
    /// Values of the digit.
    pub extent: Expr,
    /// Distance of neighbours.
    pub stride: Expr,
    /// Where they are neighbours.
    pub axis: TileAxis,
}

/// The position of an element in row-major order, cut into digits that each go along an axis (TVM: `TileLayout`).
#[derive(Clone, PartialEq, Debug)]
pub struct TileLayout {
    /// The digits, the most significant first.
    pub shard: Vec<TileIter>,
    /// Places that hold a copy of each element.
    pub replica: Vec<TileIter>,
    /// Where the first element lies, in the order of the names of the axes.
    pub offset: Vec<(TileAxis, Expr)>,
}

/// A tile layout of which bits of the address are exchanged (TVM: `ComposeLayout`). The three lengths are binary logarithms.
#[derive(Clone, PartialEq, Debug)]
pub struct Swizzle {
    /// Elements that stay together.
    pub per_element: i64,
    /// Exchanged bits.
    pub swizzle_len: i64,
    /// Distance of the exchanged bits.
    pub atom_len: i64,
    /// Whether the lower bits change.
    pub swizzle_inner: bool,
    /// The layout before the exchange.
    pub tile: TileLayout,
}

impl Layout {
    /// The digits; `None` for a strided layout.
    pub fn tile(&self) -> Option<&TileLayout> {
        match self {
            Self::Strided => None,
            Self::Tile(tile) | Self::Swizzle(Swizzle { tile, .. }) => Some(tile),
        }
    }

    /// The layout with `f` applied to every expression.
    pub fn map_exprs(&self, f: &mut dyn FnMut(&Expr) -> Expr) -> Self {
        match self {
            Self::Strided => Self::Strided,
            Self::Tile(tile) => Self::Tile(tile.map_exprs(f)),
            Self::Swizzle(swizzle) => Self::Swizzle(Swizzle {
                tile: swizzle.tile.map_exprs(f),
                ..swizzle.clone()
            }),
        }
    }

    /// The expressions inside.
    pub fn exprs(&self) -> Vec<&Expr> {
        let Some(tile) = self.tile() else {
            return vec![];
        };
        let iters = tile.shard.iter().chain(&tile.replica);
        let offsets = tile.offset.iter().map(|(_, offset)| offset);
        let iters = iters.flat_map(|iter| [&iter.extent, &iter.stride]);
        iters.chain(offsets).collect()
    }

    /// The layout of a buffer whose dimensions are ordered anew: dimension `dims[i]` becomes dimension `i`. `None` if no run of
    /// digits is known to be that of each dimension.
    pub fn permuted(&self, shape: &[Expr], dims: &[usize]) -> Option<Self> {
        match self {
            Self::Strided => None,
            Self::Tile(tile) => tile.permuted(shape, dims).map(Self::Tile),
            Self::Swizzle(swizzle) => Some(Self::Swizzle(Swizzle {
                tile: swizzle.tile.permuted(shape, dims)?,
                ..swizzle.clone()
            })),
        }
    }
}

impl TileLayout {
    /// The layout of a dense row-major buffer.
    pub fn row_major(shape: &[Expr]) -> Self {
        let mut shard = Vec::new();
        let mut stride: Option<Expr> = None;
        for extent in shape.iter().rev() {
            let this = stride.unwrap_or_else(|| Expr::int(1, extent.dtype()));
            stride = Some(fold(BinOp::Mul, &this, extent));
            shard.push(TileIter {
                extent: extent.clone(),
                stride: this,
                axis: TileAxis::MEMORY,
            });
        }
        shard.reverse();
        Self {
            shard,
            replica: vec![],
            offset: vec![],
        }
    }

    /// Whether it is written as that of a dense row-major buffer of this shape.
    pub fn is_row_major(&self, shape: &[Expr]) -> bool {
        let dense = Self::row_major(shape);
        let same =
            |a: &Expr, b: &Expr| a == b || (a.as_int().is_some() && a.as_int() == b.as_int());
        let same_iter = |(a, b): (&TileIter, &TileIter)| {
            a.axis == b.axis && same(&a.extent, &b.extent) && same(&a.stride, &b.stride)
        };
        self.replica.is_empty()
            && self.offset.is_empty()
            && self.shard.len() == dense.shard.len()
            && self.shard.iter().zip(&dense.shard).all(same_iter)
    }

    fn map_exprs(&self, f: &mut dyn FnMut(&Expr) -> Expr) -> Self {
        let mut iter = |iter: &TileIter| TileIter {
            extent: f(&iter.extent),
            stride: f(&iter.stride),
            axis: iter.axis,
        };
        Self {
            shard: self.shard.iter().map(&mut iter).collect(),
            replica: self.replica.iter().map(&mut iter).collect(),
            offset: self.offset.iter().map(|(a, e)| (*a, f(e))).collect(),
        }
    }

    /// What one thread holds of it.
    pub fn storage(&self) -> Self {
        let memory = |iters: &[TileIter]| {
            let memory = iters.iter().filter(|iter| iter.axis.is_memory());
            memory.cloned().collect()
        };
        let offset = self.offset.iter().filter(|(axis, _)| axis.is_memory());
        Self {
            shard: memory(&self.shard),
            replica: memory(&self.replica),
            offset: offset.cloned().collect(),
        }
    }

    /// Number of its elements.
    pub fn size(&self) -> Expr {
        let extents = self.shard.iter().map(|iter| &iter.extent);
        extents.fold(Expr::i32(1), |size, extent| fold(BinOp::Mul, &size, extent))
    }

    /// Number of places from the first one to the last element, those between elements included.
    pub fn span(&self) -> Expr {
        let iters = self.shard.iter().chain(&self.replica);
        let steps = iters.map(|iter| {
            let last = fold(BinOp::Sub, &iter.extent, &Expr::int(1, iter.extent.dtype()));
            fold(BinOp::Mul, &last, &iter.stride)
        });
        let offsets = self.offset.iter().map(|(_, offset)| offset.clone());
        steps
            .chain(offsets)
            .fold(Expr::i32(1), |span, step| fold(BinOp::Add, &span, &step))
    }

    /// The runs of digits that stand for each dimension of a buffer of this shape, all of whose extents are constant.
    fn by_dimension(&self, shape: &[Expr]) -> Option<Vec<Vec<TileIter>>> {
        let mut groups = Vec::new();
        let mut digits = self.shard.iter().cloned().rev().collect::<Vec<_>>();
        for dim in shape {
            let mut rest = dim.as_int()?;
            let mut group = Vec::new();
            while rest > 1 {
                let digit = digits.pop()?;
                let extent = digit.extent.as_int().filter(|extent| *extent > 0)?;
                if rest % extent == 0 {
                    rest /= extent;
                    group.push(digit);
                } else if extent % rest == 0 {
                    let inner = Expr::int(extent / rest, digit.extent.dtype());
                    group.push(TileIter {
                        extent: Expr::int(rest, digit.extent.dtype()),
                        stride: fold(BinOp::Mul, &digit.stride, &inner),
                        axis: digit.axis,
                    });
                    digits.push(TileIter {
                        extent: inner,
                        ..digit
                    });
                    rest = 1;
                } else {
                    return None;
                }
            }
            groups.push(group);
        }
        let all_used = digits.iter().all(|digit| digit.extent.is_one());
        all_used.then_some(groups)
    }

    fn permuted(&self, shape: &[Expr], dims: &[usize]) -> Option<Self> {
        let groups = self.by_dimension(shape)?;
        let shard = dims.iter().map(|dim| groups.get(*dim));
        let shard: Option<Vec<_>> = shard.collect();
        Some(Self {
            shard: shard?.into_iter().flatten().cloned().collect(),
            ..self.clone()
        })
    }
}

/// The sum, difference or product, computed where both are constant.
fn fold(op: BinOp, a: &Expr, b: &Expr) -> Expr {
    let (Some(x), Some(y)) = (a.as_int(), b.as_int()) else {
        return match (op, a.as_int(), b.as_int()) {
            (BinOp::Mul, Some(1), _) => b.clone(),
            (BinOp::Mul, _, Some(1)) => a.clone(),
            _ => Expr::binary(op, a.clone(), b.clone()),
        };
    };
    let value = match op {
        BinOp::Add => x.wrapping_add(y),
        BinOp::Sub => x.wrapping_sub(y),
        BinOp::Mul => x.wrapping_mul(y),
        _ => return Expr::binary(op, a.clone(), b.clone()),
    };
    let dtype = if a.dtype().bytes() < b.dtype().bytes() {
        b.dtype()
    } else {
        a.dtype()
    };
    Expr::int(value, dtype)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn iter(extent: i32, stride: i32, axis: &str) -> TileIter {
        TileIter {
            extent: Expr::i32(extent),
            stride: Expr::i32(stride),
            axis: TileAxis::parse(axis).expect("an axis"),
        }
    }

    fn shape(extents: &[i32]) -> Vec<Expr> {
        extents.iter().map(|extent| Expr::i32(*extent)).collect()
    }

    #[test]
    fn a_thread_holds_what_goes_along_memory() {
        let lanes = TileLayout {
            shard: vec![iter(32, 1, "laneid"), iter(2, 2, "m")],
            replica: vec![],
            offset: vec![(TileAxis::MEMORY, Expr::i32(3))],
        };
        let storage = lanes.storage();
        assert_eq!(storage.shard, [iter(2, 2, "m")]);
        assert_eq!(storage.size().as_int(), Some(2));
        // Places 3 and 5, and those before them.
        assert_eq!(storage.span().as_int(), Some(6));
    }

    #[test]
    fn dimensions_are_runs_of_digits() {
        let row_major = TileLayout::row_major(&shape(&[8, 4]));
        assert!(row_major.is_row_major(&shape(&[8, 4])));
        assert!(!row_major.is_row_major(&shape(&[32])));
        let permuted = row_major.permuted(&shape(&[8, 4]), &[1, 0]);
        let permuted = permuted.expect("both dimensions are digits");
        assert_eq!(permuted.shard, [iter(4, 1, "m"), iter(8, 4, "m")]);
        // One digit is cut in two: 32 = 8 * 4.
        let one = TileLayout::row_major(&shape(&[32]));
        let permuted = one.permuted(&shape(&[8, 4]), &[1, 0]);
        assert_eq!(
            permuted.expect("8 divides 32").shard,
            [iter(4, 1, "m"), iter(8, 4, "m")]
        );
        assert_eq!(one.permuted(&shape(&[5, 6]), &[1, 0]), None);
    }
}
