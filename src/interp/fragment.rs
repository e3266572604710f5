//! Calls on fragments: each computes a whole tile at once, whatever thread makes it.

use super::InterpError;
use super::eval::Env;
use crate::ir::{FragmentCall, FragmentTile};
use crate::tensor::ScalarType;
use crate::tensor::scalar::{BinOp, Scalar, eval_binary, eval_cast};

impl Env {
    /// Makes a call on fragments. Products are of the type of the sums.
    pub(super) fn fragment(&mut self, call: FragmentCall<'_>) -> Result<(), InterpError> {
        match call {
            FragmentCall::Fill {
                fragment,
                value,
                extent,
            } => {
                let (filled, from) = (self.scalar(value)?, value.dtype().scalar);
                let origin = self.ints(fragment.first)?;
                each_element(extent, |row, column| {
                    let index = at(&origin, row, column);
                    self.store(fragment.buffer, index, filled, from)
                })
            }
            FragmentCall::Load {
                fragment,
                memory,
                extent,
            } => self.copy_tile(memory, fragment, extent),
            FragmentCall::Store {
                fragment,
                memory,
                extent,
            } => self.copy_tile(fragment, memory, extent),
            FragmentCall::MultiplyAdd {
                result,
                a,
                b,
                addend,
            } => {
                let extent = self.fragment_extents.of_product([result, a, b, addend]);
                let extent = extent.ok_or_else(|| InterpError::FragmentExtent {
                    buffer: result.buffer.name().to_owned(),
                })?;
                let sums = result.buffer.dtype().scalar;
                let [a, b, addend] = [a, b, addend].map(|tile| self.tile(tile, extent));
                let (a, b, addend) = (a?, b?, addend?);
                let origin = self.ints(result.first)?;
                let place = |row: i64, column: i64| (row * extent + column) as usize;
                each_element(extent, |row, column| {
                    let mut sum = eval_cast(addend.0[place(row, column)], addend.1, sums);
                    for k in 0..extent {
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
        extent: i64,
    ) -> Result<(), InterpError> {
        let (values, dtype) = self.tile(from, extent)?;
        let origin = self.ints(to.first)?;
        let mut values = values.into_iter();
        each_element(extent, |row, column| {
            let value = values.next().expect("a tile has that many elements");
            self.store(to.buffer, at(&origin, row, column), value, dtype)
        })
    }

    /// The elements of a tile, row by row, and their type.
    fn tile(
        &mut self,
        tile: FragmentTile<'_>,
        extent: i64,
    ) -> Result<(Vec<Scalar>, ScalarType), InterpError> {
        let origin = self.ints(tile.first)?;
        let mut elements = vec![];
        each_element(extent, |row, column| {
            elements.push(self.load(tile.buffer, at(&origin, row, column))?);
            Ok(())
        })?;
        Ok((elements, tile.buffer.dtype().scalar))
    }
}

/// Calls `f` with the row and column of each element of a tile, row by row.
fn each_element(
    extent: i64,
    mut f: impl FnMut(i64, i64) -> Result<(), InterpError>,
) -> Result<(), InterpError> {
    (0..extent).try_for_each(|row| (0..extent).try_for_each(|column| f(row, column)))
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
