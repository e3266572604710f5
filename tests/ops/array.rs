//! Arrays of float64 for references: naive loops over indices.

use weftile::tensor::Tensor;

use super::tensor;

/// An array in row-major order.
#[derive(Clone, Debug)]
pub(crate) struct Array {
    pub(crate) shape: Vec<usize>,
    pub(crate) data: Vec<f64>,
}

/// All indices of a shape, in row-major order.
pub(crate) fn indices(shape: &[usize]) -> Vec<Vec<usize>> {
    let count = shape.iter().product();
    let index = |mut at: usize| {
        let mut index = vec![0; shape.len()];
        for (place, &extent) in index.iter_mut().zip(shape).rev() {
            *place = at % extent;
            at /= extent;
        }
        index
    };
    (0..count).map(index).collect()
}

impl Array {
    /// Each element from its index.
    pub(crate) fn new(shape: &[usize], f: impl FnMut(&[usize]) -> f64) -> Self {
        let indices = indices(shape);
        Self {
            shape: shape.to_vec(),
            data: indices.iter().map(Vec::as_slice).map(f).collect(),
        }
    }

    /// Elements that differ, between -1 and 1, the same for each seed: multiples of 1/64, which all float types hold.
    pub(crate) fn random(shape: &[usize], seed: u64) -> Self {
        let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(1);
        Self::new(shape, |_| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            ((state >> 40) % 129) as f64 / 64.0 - 1.0
        })
    }

    /// The element at an index.
    pub(crate) fn at(&self, index: &[usize]) -> f64 {
        let flat = index.iter().zip(&self.shape).fold(0, |at, (i, n)| {
            assert!(i < n, "{index:?} in {:?}", self.shape);
            at * n + i
        });
        self.data[flat]
    }

    /// The element at an index, or `outside` where the index is none.
    pub(crate) fn at_or(&self, index: &[i64], outside: f64) -> f64 {
        let inside = index.iter().zip(&self.shape);
        if inside.clone().all(|(&i, &n)| (0..n as i64).contains(&i)) {
            self.at(&index.iter().map(|&i| i as usize).collect::<Vec<_>>())
        } else {
            outside
        }
    }

    /// Each element on its own.
    pub(crate) fn map(&self, f: impl Fn(f64) -> f64) -> Self {
        Self {
            shape: self.shape.clone(),
            data: self.data.iter().map(|&v| f(v)).collect(),
        }
    }

    /// The dimensions of layout `from` in the order of layout `to`, which has the same letters.
    pub(crate) fn relaid(&self, from: &str, to: &str) -> Self {
        let order: Vec<usize> = to
            .chars()
            .map(|letter| from.find(letter).expect("the same letters"))
            .collect();
        let shape: Vec<usize> = order.iter().map(|&at| self.shape[at]).collect();
        Self::new(&shape, |i| {
            let mut index = vec![0; i.len()];
            for (&at, &i) in order.iter().zip(i) {
                index[at] = i;
            }
            self.at(&index)
        })
    }

    /// The same with blocks of these dimensions as dimensions of their own at the end; several of one, the larger first.
    pub(crate) fn blocked(&self, blocks: &[(usize, usize)]) -> Self {
        let mut shape = self.shape.clone();
        blocks.iter().for_each(|&(of, size)| shape[of] /= size);
        shape.extend(blocks.iter().map(|&(_, size)| size));
        let ndim = self.shape.len();
        Self::new(&shape, |i| {
            let mut index = i[..ndim].to_vec();
            for (&(of, size), inner) in blocks.iter().zip(&i[ndim..]) {
                index[of] = index[of] * size + inner;
            }
            self.at(&index)
        })
    }

    /// The array as a tensor of float32.
    pub(crate) fn f32(&self) -> Tensor {
        let data: Vec<f32> = self.data.iter().map(|&v| v as f32).collect();
        tensor(&self.shape, &data)
    }

    /// The array as a tensor of float16.
    pub(crate) fn f16(&self) -> Tensor {
        let data: Vec<half::f16> = self.data.iter().map(|&v| half::f16::from_f64(v)).collect();
        tensor(&self.shape, &data)
    }
}
