//! A tensor as slices along an axis, as functions of the host choose, compare and copy them.

use bytemuck::Pod;

use super::host_ops::{HostError, NO_AXIS};
use super::{Tensor, TensorError};

/// `outer` blocks of `count` slices of `inner` elements.
pub(super) struct Slices<'a> {
    pub(super) x: &'a Tensor,
    axis: Option<usize>,
    pub(super) outer: usize,
    pub(super) count: usize,
    pub(super) inner: usize,
}

impl<'a> Slices<'a> {
    pub(super) fn of(x: &'a Tensor, axis: i64) -> Result<Self, HostError> {
        let shape = x.shape();
        if axis == NO_AXIS {
            return Ok(Self {
                x,
                axis: None,
                outer: 1,
                count: x.len(),
                inner: 1,
            });
        }
        let at = if axis < 0 {
            axis + shape.len() as i64
        } else {
            axis
        };
        let at = usize::try_from(at).ok().filter(|at| *at < shape.len());
        let at = at.ok_or(HostError::Value {
            what: "the axis",
            got: axis,
            expected: "a dimension of the tensor",
        })?;
        Ok(Self {
            x,
            axis: Some(at),
            outer: shape[..at].iter().product(),
            count: shape[at],
            inner: shape[at + 1..].iter().product(),
        })
    }

    /// These slices as a tensor.
    pub(super) fn select(&self, slices: &[usize]) -> Result<Tensor, TensorError> {
        let shape = match self.axis {
            None => vec![slices.len()],
            Some(axis) => {
                let mut shape = self.x.shape().to_vec();
                shape[axis] = slices.len();
                shape
            }
        };
        let mut selected = Tensor::zeros(self.x.dtype(), &shape)?;
        if selected.is_empty() {
            return Ok(selected);
        }
        let (from, to) = (self.x.bytes(), selected.bytes_mut()?);
        match (self.inner, self.x.dtype().bytes()) {
            (1, 1) => self.copy_elements::<u8>(slices, from, to),
            (1, 2) => self.copy_elements::<u16>(slices, from, to),
            (1, 4) => self.copy_elements::<u32>(slices, from, to),
            (1, 8) => self.copy_elements::<u64>(slices, from, to),
            (inner, bytes) => {
                let block = inner * bytes;
                let mut to = to.chunks_exact_mut(block);
                for outer in from.chunks_exact(self.count * block) {
                    for (slice, to) in slices.iter().zip(&mut to) {
                        to.copy_from_slice(&outer[slice * block..][..block]);
                    }
                }
            }
        }
        Ok(selected)
    }

    /// Copies slices of one element, which has as many bytes as the type.
    fn copy_elements<T: Pod>(&self, slices: &[usize], from: &[u8], to: &mut [u8]) {
        let rows = bytemuck::cast_slice::<u8, T>(from).chunks_exact(self.count);
        let results = bytemuck::cast_slice_mut::<u8, T>(to).chunks_exact_mut(slices.len());
        for (row, result) in rows.zip(results) {
            for (&slice, to) in slices.iter().zip(result) {
                *to = row[slice];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_of_all_lengths_are_selected() {
        for inner in [1, 2, 3, 4, 8, 9] {
            let bytes: Vec<u8> = (0..2 * 5 * inner as u8).collect();
            let x = Tensor::from_slice(&[2, 5, inner], &bytes).expect("the shape fits");
            let slices = Slices::of(&x, 1).expect("there is such an axis");
            let chosen = [4, 0, 0, 3];
            let expected: Vec<u8> = (0..2)
                .flat_map(|outer| chosen.map(|slice| (outer * 5 + slice) * inner))
                .flat_map(|start| bytes[start..start + inner].to_vec())
                .collect();
            let selected = slices.select(&chosen).expect("there is memory");
            assert_eq!(selected.shape(), [2, 4, inner]);
            assert_eq!(selected.bytes(), expected);
        }
    }
}
