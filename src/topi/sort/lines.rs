//! Lines of keys, and what has been done to sort them.

use super::Order;
use super::key::KeyType;
use crate::ir::{Buffer, Expr};
use crate::te::{self, Tensor};
use crate::tensor::DType;
use crate::topi::volume;

/// Keys in lines along the last dimension.
#[derive(Clone)]
pub(super) struct Lines {
    /// `[outer.., extent]`, with an outer dimension at least.
    pub(super) shape: Vec<Expr>,
    pub(super) key: KeyType,
    keys: Keys,
}

/// Where keys come from.
#[derive(Clone)]
enum Keys {
    /// They are elements of a tensor.
    Tensor(Tensor),
    /// They are those of elements of a tensor along an axis.
    Of {
        x: Tensor,
        axis: usize,
        order: Order,
        elements: Elements,
    },
}

/// Whether the caller needs the elements or only their positions.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Elements {
    Wanted,
    Unused,
}

impl Lines {
    /// The keys of the elements along an axis.
    pub(super) fn of(x: &Tensor, axis: usize, order: Order, elements: Elements) -> Self {
        let mut shape = x.shape().to_vec();
        let extent = shape.remove(axis);
        if shape.is_empty() {
            shape.push(Expr::i64(1));
        }
        shape.push(extent);
        let x = x.clone();
        Self {
            shape,
            key: KeyType::of(x.dtype()),
            keys: Keys::Of {
                x,
                axis,
                order,
                elements,
            },
        }
    }

    /// Keys that are computed.
    pub(super) fn of_keys(keys: &Tensor, key: KeyType) -> Self {
        Self {
            shape: keys.shape().to_vec(),
            key,
            keys: Keys::Tensor(keys.clone()),
        }
    }

    /// The key at an index.
    pub(super) fn at(&self, outer: &[Expr], along: &Expr) -> Expr {
        let source = self.source();
        self.key(outer, along, |index| source.at(index))
    }

    /// The tensor that keys come from.
    pub(super) fn source(&self) -> &Tensor {
        match &self.keys {
            Keys::Tensor(x) | Keys::Of { x, .. } => x,
        }
    }

    /// The key at an index, where a buffer holds that tensor.
    pub(super) fn of_buffer(&self, source: &Buffer, outer: &[Expr], along: &Expr) -> Expr {
        self.key(outer, along, |index| Expr::load(source, index))
    }

    /// The type of the elements, where keys are those of elements that are wanted.
    pub(super) fn element_type(&self) -> Option<DType> {
        match &self.keys {
            Keys::Of { x, elements, .. } if *elements == Elements::Wanted => Some(x.dtype()),
            Keys::Of { .. } | Keys::Tensor(_) => None,
        }
    }

    /// The element at an index, where a buffer holds the tensor.
    pub(super) fn element(&self, source: &Buffer, outer: &[Expr], along: &Expr) -> Expr {
        Expr::load(source, self.index(outer, along))
    }

    fn key(&self, outer: &[Expr], along: &Expr, load: impl FnOnce(Vec<Expr>) -> Expr) -> Expr {
        let loaded = load(self.index(outer, along));
        match &self.keys {
            Keys::Tensor(_) => loaded,
            Keys::Of { order, .. } => self.key.key(&loaded, *order),
        }
    }

    /// The index in the tensor.
    fn index(&self, outer: &[Expr], along: &Expr) -> Vec<Expr> {
        match &self.keys {
            Keys::Tensor(_) => outer.iter().chain([along]).cloned().collect(),
            Keys::Of { x, axis, .. } => {
                let mut index = outer[..x.ndim() - 1].to_vec();
                index.insert(*axis, along.clone());
                index
            }
        }
    }

    /// The keys as a tensor.
    pub(super) fn tensor(&self) -> Tensor {
        if let Keys::Tensor(keys) = &self.keys {
            return keys.clone();
        }
        te::compute("keys", self.shape.clone(), |i| {
            let (outer, along) = line(i);
            self.at(outer, along)
        })
    }

    /// The extents of the other dimensions.
    pub(super) fn outer(&self) -> &[Expr] {
        line(&self.shape).0
    }

    /// Elements of a line.
    pub(super) fn extent(&self) -> &Expr {
        line(&self.shape).1
    }

    /// How many lines there are, if that is known.
    pub(super) fn count(&self) -> Option<i64> {
        volume(self.outer()).as_int()
    }
}

/// The first elements of lines.
pub(super) struct Found {
    /// `[outer.., at least as many as are wanted]`
    pub(super) positions: Tensor,
    /// The elements there, if they are known already.
    pub(super) values: Option<Tensor>,
}

impl Found {
    /// Positions, and maybe elements.
    pub(super) fn of(results: Vec<Tensor>) -> Self {
        let mut results = results.into_iter();
        Self {
            positions: results.next().expect("positions come first"),
            values: results.next(),
        }
    }
}

impl From<Tensor> for Found {
    fn from(positions: Tensor) -> Self {
        Self {
            positions,
            values: None,
        }
    }
}

/// Keys of lines in some order, and where they were.
pub(super) struct Ranked {
    pub(super) keys: Tensor,
    /// They are where they were where it is absent.
    pub(super) positions: Option<Tensor>,
}

impl Ranked {
    pub(super) fn unsorted(lines: &Lines) -> Self {
        Self {
            keys: lines.tensor(),
            positions: None,
        }
    }
}

/// The outer extents of lines, and the extent of a line; the same of an index.
pub(super) fn line(shape: &[Expr]) -> (&[Expr], &Expr) {
    let (extent, outer) = shape.split_last().expect("lines have a dimension");
    (outer, extent)
}
