//! Calls on fragments as statements of a nest: who makes them, and the elements of their tiles.

use super::error::fragment_tile as refused;
use super::nest::Unblock;
use super::node::{FragmentKind, FragmentNode, Node, TileOf};
use super::storage::Memory;
use super::{LowerError, LowerProblem};
use crate::ir::{
    Buffer, Expr, FragmentCall, FragmentExtents, FragmentRole, FragmentTile, Range, ThreadAxis, Var,
};
use crate::kernel::{FRAGMENT_THREADS, FragmentProduct, GpuTarget};
use crate::tensor::DType;

impl Unblock<'_> {
    /// The statement that a call on fragments is.
    pub(super) fn fragment(&mut self, call: &Expr) -> Result<Option<Node>, LowerError> {
        let Some(call) = call.as_fragment_call() else {
            return Ok(None);
        };
        let extent = self.extent(&call)?;
        self.check_threads()?;
        let (row, column) = (Var::new("row", DType::I64), Var::new("column", DType::I64));
        for var in [&row, &column] {
            self.analyzer
                .bind_iteration(var, &Range::to(Expr::i64(extent)));
        }
        let place = [row.expr(), column.expr()];
        let (kind, tiles) = match call {
            FragmentCall::Fill {
                fragment, value, ..
            } => {
                if !self.expr(value).is_zero() {
                    return Err(refused(
                        fragment.buffer,
                        "is filled with something else than 0",
                    ));
                }
                let sums = self.held(fragment, FragmentRole::Accumulator, extent, &place)?;
                (FragmentKind::Clear, vec![sums])
            }
            FragmentCall::Load {
                fragment, memory, ..
            } => {
                let role = fragment.buffer.scope().fragment();
                let role = role.unwrap_or(FragmentRole::Accumulator);
                let held = self.held(fragment, role, extent, &place)?;
                (FragmentKind::Load, vec![held, self.shared(memory, &place)?])
            }
            FragmentCall::MultiplyAdd {
                result,
                a,
                b,
                addend,
            } => {
                let sum = self.held(result, FragmentRole::Accumulator, extent, &place)?;
                let before = self.held(addend, FragmentRole::Accumulator, extent, &place)?;
                if sum.buffer != before.buffer || sum.indices != before.indices {
                    return Err(refused(
                        addend.buffer,
                        "is added where the sum goes elsewhere",
                    ));
                }
                let a = self.held(a, FragmentRole::MatrixA, extent, &place)?;
                let b = self.held(b, FragmentRole::MatrixB, extent, &place)?;
                self.check_product([&sum.buffer, &a.buffer, &b.buffer], extent)?;
                (FragmentKind::MultiplyAdd, vec![sum, a, b])
            }
            FragmentCall::Store {
                fragment, memory, ..
            } => {
                let held = self.held(fragment, FragmentRole::Accumulator, extent, &place)?;
                (
                    FragmentKind::Store,
                    vec![self.shared(memory, &place)?, held],
                )
            }
        };
        Ok(Some(Node::Fragment(FragmentNode {
            kind,
            tiles,
            extent,
            row,
            column,
        })))
    }

    /// Each subgroup makes the call once, with all of its threads.
    fn check_threads(&self) -> Result<(), LowerError> {
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
        extent: i64,
        place: &[Expr; 2],
    ) -> Result<TileOf, LowerError> {
        let found = self.tile(tile, place);
        if found.buffer.scope().fragment() != Some(role) {
            return Err(refused(
                tile.buffer,
                "is not in the scope of such a fragment",
            ));
        }
        let dtype = found.buffer.dtype();
        let mut expected: Vec<String> = vec![];
        for product in self.products(extent) {
            let of = match role {
                FragmentRole::MatrixA | FragmentRole::MatrixB => product.factors,
                FragmentRole::Accumulator => product.sums,
            };
            if DType::from(of) == dtype {
                return Ok(found);
            }
            let of = of.to_string();
            if !expected.contains(&of) {
                expected.push(of);
            }
        }
        let buffer = tile.buffer.name().to_owned();
        let problem = LowerProblem::FragmentElements {
            buffer,
            dtype,
            expected: expected.join(" and "),
        };
        Err(problem.into())
    }

    /// Rows and columns of the fragments of a call, of which the device has some.
    fn extent(&self, call: &FragmentCall<'_>) -> Result<i64, LowerError> {
        let extent = match *call {
            FragmentCall::Fill { extent, .. }
            | FragmentCall::Load { extent, .. }
            | FragmentCall::Store { extent, .. } => extent,
            FragmentCall::MultiplyAdd {
                result,
                a,
                b,
                addend,
            } => {
                let extents = FragmentExtents::of_func(self.func);
                let extent = extents.of_product([result, a, b, addend]);
                let problem = "is multiplied with tiles of another extent";
                extent.ok_or_else(|| refused(a.buffer, problem))?
            }
        };
        match self.products(extent).next() {
            Some(_) => Ok(extent),
            None => Err(LowerProblem::NoFragments { extent }.into()),
        }
    }

    /// The products of fragments of this extent that the device makes.
    fn products(&self, extent: i64) -> impl Iterator<Item = FragmentProduct> {
        let all = self
            .launch
            .map_or(&[][..], |gpu: &GpuTarget| &gpu.fragments);
        let of_extent = move |product: &FragmentProduct| i64::from(product.extent) == extent;
        all.iter().copied().filter(of_extent)
    }

    /// The device makes a product of fragments in these buffers.
    fn check_product(&self, buffers: [&Buffer; 3], extent: i64) -> Result<(), LowerError> {
        let [sums, a, b] = buffers.map(|buffer| buffer.dtype().scalar);
        let of_types = |of: FragmentProduct| of.sums == sums && of.factors == a && of.factors == b;
        match self.products(extent).any(of_types) {
            true => Ok(()),
            false => Err(LowerProblem::NoFragmentProduct { extent, a, b, sums }.into()),
        }
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
