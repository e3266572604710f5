//! Calls on fragments as statements of a nest: who makes them, and the elements of their tiles.

use super::error::fragment_tile as refused;
use super::nest::Unblock;
use super::node::{FragmentKind, FragmentNode, Node, TileOf};
use super::storage::Memory;
use super::{LowerError, LowerProblem};
use crate::ir::{
    Expr, FRAGMENT_EXTENT, FragmentCall, FragmentRole, FragmentTile, Range, ThreadAxis, Var,
};
use crate::kernel::FRAGMENT_THREADS;
use crate::tensor::DType;

impl Unblock<'_> {
    /// The statement that a call on fragments is.
    pub(super) fn fragment(&mut self, call: &Expr) -> Result<Option<Node>, LowerError> {
        let Some(call) = call.as_fragment_call() else {
            return Ok(None);
        };
        self.check_threads()?;
        let (row, column) = (Var::new("row", DType::I64), Var::new("column", DType::I64));
        for var in [&row, &column] {
            self.analyzer
                .bind_iteration(var, &Range::to(Expr::i64(FRAGMENT_EXTENT)));
        }
        let place = [row.expr(), column.expr()];
        let (kind, tiles) = match call {
            FragmentCall::Fill { fragment, value } => {
                if !self.expr(value).is_zero() {
                    return Err(refused(
                        fragment.buffer,
                        "is filled with something else than 0",
                    ));
                }
                let sums = self.held(fragment, FragmentRole::Accumulator, &place)?;
                (FragmentKind::Clear, vec![sums])
            }
            FragmentCall::Load { fragment, memory } => {
                let role = fragment.buffer.scope().fragment();
                let role = role.unwrap_or(FragmentRole::Accumulator);
                let held = self.held(fragment, role, &place)?;
                (FragmentKind::Load, vec![held, self.shared(memory, &place)?])
            }
            FragmentCall::MultiplyAdd {
                result,
                a,
                b,
                addend,
            } => {
                let sum = self.held(result, FragmentRole::Accumulator, &place)?;
                let before = self.held(addend, FragmentRole::Accumulator, &place)?;
                if sum.buffer != before.buffer || sum.indices != before.indices {
                    return Err(refused(
                        addend.buffer,
                        "is added where the sum goes elsewhere",
                    ));
                }
                let a = self.held(a, FragmentRole::MatrixA, &place)?;
                let b = self.held(b, FragmentRole::MatrixB, &place)?;
                (FragmentKind::MultiplyAdd, vec![sum, a, b])
            }
            FragmentCall::Store { fragment, memory } => {
                let held = self.held(fragment, FragmentRole::Accumulator, &place)?;
                (
                    FragmentKind::Store,
                    vec![self.shared(memory, &place)?, held],
                )
            }
        };
        Ok(Some(Node::Fragment(FragmentNode {
            kind,
            tiles,
            row,
            column,
        })))
    }

    /// Each subgroup makes the call once, with all of its threads.
    fn check_threads(&self) -> Result<(), LowerError> {
        if !self.launch.is_some_and(|gpu| gpu.cooperative_matrix) {
            return Err(LowerProblem::NoFragments.into());
        }
        for (axis, known) in &self.nest.axes {
            let extent = known.extent.as_int();
            let fine = match axis {
                ThreadAxis::ThreadIdxX => {
                    extent == Some(FRAGMENT_THREADS.into()) && !self.bound.has(*axis)
                }
                axis if axis.is_thread() => extent == Some(1) || self.bound.has(*axis),
                _ => true,
            };
            if !fine {
                return Err(LowerProblem::FragmentThreads { axis: *axis }.into());
            }
        }
        match self.nest.axes.contains_key(&ThreadAxis::ThreadIdxX) {
            true => Ok(()),
            false => {
                let axis = ThreadAxis::ThreadIdxX;
                Err(LowerProblem::FragmentThreads { axis }.into())
            }
        }
    }

    /// A tile of fragments.
    fn held(
        &self,
        tile: FragmentTile<'_>,
        role: FragmentRole,
        place: &[Expr; 2],
    ) -> Result<TileOf, LowerError> {
        let found = self.tile(tile, place);
        if found.buffer.scope().fragment() != Some(role) {
            return Err(refused(
                tile.buffer,
                "is not in the scope of such a fragment",
            ));
        }
        let (dtype, expected) = match role {
            FragmentRole::MatrixA | FragmentRole::MatrixB => (found.buffer.dtype(), DType::F16),
            FragmentRole::Accumulator => (found.buffer.dtype(), DType::F32),
        };
        if dtype != expected {
            let buffer = tile.buffer.name().to_owned();
            let problem = LowerProblem::FragmentElements {
                buffer,
                dtype,
                expected,
            };
            return Err(problem.into());
        }
        Ok(found)
    }

    /// A tile of shared memory.
    fn shared(&self, tile: FragmentTile<'_>, place: &[Expr; 2]) -> Result<TileOf, LowerError> {
        let found = self.tile(tile, place);
        match self.memory_plan.of(&found.buffer) {
            Memory::Shared => Ok(found),
            Memory::Device | Memory::Local => Err(refused(tile.buffer, "is not in shared memory")),
        }
    }

    fn tile(&self, tile: FragmentTile<'_>, [row, column]: &[Expr; 2]) -> TileOf {
        let mut indices: Vec<Expr> = tile.first.iter().map(|e| self.index(e)).collect();
        if let [.., of_row, of_column] = indices.as_mut_slice() {
            *of_row = &*of_row + row;
            *of_column = &*of_column + column;
        }
        let (buffer, indices) = self.through_view(tile.buffer, indices);
        let indices = indices.iter().map(|e| self.index(e)).collect();
        TileOf { buffer, indices }
    }
}
