//! Known operands: the shape that they broadcast to, its indices, and which element of an operand an index means.

use crate::frontend::onnx::call::Call;
use crate::frontend::onnx::value::{Known, MOST_KNOWN};

/// All operands, if all are known.
pub(super) fn operands(c: &Call<'_, '_>) -> Option<Vec<Known>> {
    (0..c.inputs.len()).map(|index| c.known(index)).collect()
}

/// The shape of two that broadcast.
pub(super) fn broadcast(a: &[usize], b: &[usize]) -> Option<Vec<usize>> {
    let rank = a.len().max(b.len());
    let dim = |shape: &[usize], at: usize| match (at + shape.len()).checked_sub(rank) {
        Some(at) => shape[at],
        None => 1,
    };
    let dims = (0..rank).map(|at| match (dim(a, at), dim(b, at)) {
        (a, b) if a == b => Some(a),
        (1, b) => Some(b),
        (a, 1) => Some(a),
        _ => None,
    });
    dims.collect()
}

/// All indices of a small shape, in row-major order.
pub(super) fn indices(shape: &[usize]) -> Option<Vec<Vec<usize>>> {
    let count = shape
        .iter()
        .try_fold(1usize, |n, &dim| n.checked_mul(dim))?;
    if count > MOST_KNOWN {
        return None;
    }
    let all = (0..count).map(|mut at| {
        let mut index = vec![0; shape.len()];
        for (i, &dim) in index.iter_mut().zip(shape).rev() {
            *i = at % dim;
            at /= dim;
        }
        index
    });
    Some(all.collect())
}

/// Where an index of a shape that this one broadcasts to is.
pub(super) fn place(shape: &[usize], index: &[usize]) -> usize {
    let skip = index.len() - shape.len();
    let at = index[skip..].iter().zip(shape);
    at.fold(0, |place, (&i, &dim)| {
        place * dim + if dim == 1 { 0 } else { i }
    })
}
