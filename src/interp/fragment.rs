//! Calls on fragments: each computes a whole tile at once, whatever thread makes it.

use super::InterpError;
use super::eval::Env;
use crate::ir::{FRAGMENT_EXTENT, FragmentCall, FragmentTile};
use crate::tensor::ScalarType;
use crate::tensor::scalar::{BinOp, Scalar, eval_binary, eval_cast};

impl Env {
    /// Makes a call on fragments. Products are of the type of the sums.
    pub(super) fn fragment(&mut self, call: FragmentCall<'_>) -> Result<(), InterpError> {
        match call {
            FragmentCall::Fill { fragment, value } => {
                let (filled, from) = (self.scalar(value)?, value.dtype().scalar);
                let origin = self.ints(fragment.first)?;
                each_element(|row, column| {
                    let index = at(&origin, row, column);
                    self.store(fragment.buffer, index, filled, from)
                })
            }
            FragmentCall::Load { fragment, memory } => self.copy_tile(memory, fragment),
            FragmentCall::Store { fragment, memory } => self.copy_tile(fragment, memory),
            FragmentCall::MultiplyAdd {
                result,
                a,
                b,
                addend,
            } => {
                let sums = result.buffer.dtype().scalar;
                let (a, b, addend) = (self.tile(a)?, self.tile(b)?, self.tile(addend)?);
                let origin = self.ints(result.first)?;
                let place = |row: i64, column: i64| (row * FRAGMENT_EXTENT + column) as usize;
                each_element(|row, column| {
                    let mut sum = eval_cast(addend.0[place(row, column)], addend.1, sums);
                    for k in 0..FRAGMENT_EXTENT {
                        let x = eval_cast(a.0[place(row, k)], a.1, sums);
                        let y = eval_cast(b.0[place(k, column)], b.1, sums);
                        let product = eval_binary(BinOp::Mul, sums, x, y)?;
                        sum = eval_binary(BinOp::Add, sums, sum, product)?;
                    }
                    self.store(result.buffer, at(&origin, row, column), sum, sums)
                })
            }
        }
    }

    fn copy_tile(
        &mut self,
        from: FragmentTile<'_>,
        to: FragmentTile<'_>,
    ) -> Result<(), InterpError> {
        let (values, dtype) = self.tile(from)?;
        let origin = self.ints(to.first)?;
        let mut values = values.into_iter();
        each_element(|row, column| {
            let value = values.next().expect("a tile has that many elements");
            self.store(to.buffer, at(&origin, row, column), value, dtype)
        })
    }

    /// The elements of a tile, row by row, and their type.
    fn tile(&mut self, tile: FragmentTile<'_>) -> Result<(Vec<Scalar>, ScalarType), InterpError> {
        let origin = self.ints(tile.first)?;
        let mut elements = vec![];
        each_element(|row, column| {
            elements.push(self.load(tile.buffer, at(&origin, row, column))?);
            Ok(())
        })?;
        Ok((elements, tile.buffer.dtype().scalar))
    }
}

/// Calls `f` with the row and column of each element of a tile, row by row.
fn each_element(mut f: impl FnMut(i64, i64) -> Result<(), InterpError>) -> Result<(), InterpError> {
    (0..FRAGMENT_EXTENT).try_for_each(|row| (0..FRAGMENT_EXTENT).try_for_each(|c| f(row, c)))
}

/// The index of an element of a tile that begins at `origin`.
fn at(origin: &[i64], row: i64, column: i64) -> Vec<i64> {
    let mut index = origin.to_vec();
    if let [.., of_row, of_column] = index.as_mut_slice() {
        *of_row += row;
        *of_column += column;
    }
    index
}
