//! `Node` to kernel IR: flat indices of one integer type, vectorized loops as vectors.

mod expr;
mod fragment;
pub(super) mod vector;

use std::collections::{HashMap, HashSet};

use super::facts::Facts;
use super::host::Dims;
use super::nest::{Annotated, Nest};
use super::node::Node;
use super::wrapping_sum::WrappingSum;
use super::write_out::{self, Copies};
use super::{LowerError, LowerProblem, signature};
use crate::ir::{Buffer, Expr, LoopKind, Scope, ThreadAxis, Var};
use crate::kernel::{
    self, Access, Array, ArrayId, BufferRef, ForKind, Fragment, FragmentId, GpuTarget, HostExpr,
    Space, Stmt, Ty, VarId, VarInfo,
};
use crate::support::Arena;
use crate::tensor::ScalarType;

/// What one kernel is made of so far.
pub(super) struct Emit<'a> {
    dims: &'a Dims,
    gpu: bool,
    /// Whether the target computes with `float16`.
    half: bool,
    /// Type of all index arithmetic.
    index: ScalarType,
    pub(super) arrays: Arena<ArrayId, Array>,
    array_of: HashMap<Buffer, ArrayId>,
    shapes: HashMap<ArrayId, Buffer>,
    pub(super) fragments: Arena<FragmentId, Fragment>,
    /// The fragment of each tile, by its first element.
    fragment_of: HashMap<(Buffer, Vec<i64>), FragmentId>,
    pub(super) vars: Arena<VarId, VarInfo>,
    var_of: HashMap<Var, kernel::Expr>,
    pub(super) scalars: Vec<(VarId, HostExpr)>,
    facts: Facts,
    /// The buffers that the nest stores to.
    stored: HashSet<Buffer>,
    /// Whether every access so far is proved in range.
    pub(super) in_bounds: bool,
    /// Operands that must not wrap in the index type.
    pub(super) exact: Vec<kernel::Expr>,
    /// Unrolled loops and lanes that were written out.
    pub(super) copies: Copies,
    pub(super) annotated: Annotated,
    /// The loops of the kernel that prefetch.
    pub(super) prefetching_loops: Vec<VarId>,
    /// Whether arrays that have tiles of fragments are arrays of scalars.
    tiles_of_scalars: bool,
    /// Whether the program itself limits indices. Where only lowering does, no element past the end is used.
    pub(super) limits_indices: bool,
    /// Lanes of each vector access of an array, 0 if one is not a whole vector of the array.
    widths: HashMap<ArrayId, Vec<u16>>,
}

impl<'a> Emit<'a> {
    pub(super) fn new(dims: &'a Dims, gpu: Option<&GpuTarget>, facts: Facts) -> Self {
        Self {
            dims,
            gpu: gpu.is_some(),
            half: gpu.is_none_or(|gpu| gpu.f16),
            index: if gpu.is_some() {
                ScalarType::I32
            } else {
                ScalarType::I64
            },
            arrays: Arena::new(),
            array_of: HashMap::new(),
            shapes: HashMap::new(),
            fragments: Arena::new(),
            fragment_of: HashMap::new(),
            vars: Arena::new(),
            var_of: HashMap::new(),
            scalars: vec![],
            facts,
            stored: HashSet::new(),
            in_bounds: true,
            exact: vec![],
            copies: Copies::default(),
            annotated: Annotated::default(),
            prefetching_loops: vec![],
            tiles_of_scalars: gpu.is_some_and(GpuTarget::loads_tiles_of_scalars),
            limits_indices: false,
            widths: HashMap::new(),
        }
    }

    /// The variables of loops in the kernel.
    pub(super) fn loops(&self, vars: &[Var]) -> Vec<VarId> {
        let loops = vars.iter().filter_map(|var| match self.var_of.get(var)? {
            kernel::Expr::Var(id) => Some(*id),
            _ => None,
        });
        loops.collect()
    }

    fn error_dtype(what: &str, dtype: crate::tensor::DType) -> LowerError {
        let what = what.to_owned();
        LowerProblem::DType { what, dtype }.into()
    }

    /// Declares a tensor that the kernel uses.
    pub(super) fn global(
        &mut self,
        buffer: &Buffer,
        buffer_ref: BufferRef,
        access: Access,
    ) -> Result<(), LowerError> {
        let len = signature::element_count(self.dims, buffer)?;
        let space = Space::Global {
            buffer: buffer_ref,
            access,
        };
        self.array(buffer, len, space)
    }

    /// Declares an array of the workgroup or thread, whose shape is constant.
    pub(super) fn private(&mut self, buffer: &Buffer) -> Result<(), LowerError> {
        let len = elements(buffer).as_const().unwrap_or(0);
        let space = if *buffer.scope() == Scope::Shared {
            Space::Shared
        } else {
            Space::Local
        };
        self.array(buffer, HostExpr::Const(len), space)
    }

    fn array(&mut self, buffer: &Buffer, len: HostExpr, space: Space) -> Result<(), LowerError> {
        if buffer.dtype().is_vector() {
            return Err(Self::error_dtype(buffer.name(), buffer.dtype()));
        }
        let id = self.arrays.push(Array {
            name: buffer.name().to_owned(),
            dtype: buffer.dtype().scalar,
            len,
            space,
            vector: 1,
        });
        self.array_of.insert(buffer.clone(), id);
        self.shapes.insert(id, buffer.clone());
        Ok(())
    }

    pub(super) fn array_id(&self, buffer: &Buffer) -> ArrayId {
        self.array_of[buffer]
    }

    /// Emits the body of a nest.
    pub(super) fn nest(&mut self, nest: &Nest) -> Result<Vec<Stmt>, LowerError> {
        for (axis, known) in &nest.axes {
            let zero = Expr::int(0, known.var.dtype());
            self.facts.bind(&known.var, &zero, &known.extent);
            let expr = match axis {
                ThreadAxis::BlockIdxX => kernel::Expr::BlockIdx(0),
                ThreadAxis::BlockIdxY => kernel::Expr::BlockIdx(1),
                ThreadAxis::BlockIdxZ => kernel::Expr::BlockIdx(2),
                ThreadAxis::ThreadIdxX => kernel::Expr::ThreadIdx(0),
                ThreadAxis::ThreadIdxY => kernel::Expr::ThreadIdx(1),
                ThreadAxis::ThreadIdxZ => kernel::Expr::ThreadIdx(2),
                ThreadAxis::VThread
                | ThreadAxis::VThreadX
                | ThreadAxis::VThreadY
                | ThreadAxis::VThreadZ => kernel::Expr::Int(0, self.index),
            };
            self.var_of.insert(known.var.clone(), expr);
        }
        fragment::whole_tiles_only(nest)?;
        self.stored.extend(write_out::stored(&nest.body));
        let mut out = Vec::new();
        self.nodes(&nest.body, &mut out)?;
        Ok(out)
    }

    fn nodes(&mut self, nodes: &[Node], out: &mut Vec<Stmt>) -> Result<(), LowerError> {
        nodes.iter().try_for_each(|node| self.node(node, out))
    }

    fn new_var(&mut self, name: &str, ty: Ty) -> VarId {
        self.vars.push(VarInfo {
            name: name.to_owned(),
            ty,
        })
    }

    fn node(&mut self, node: &Node, out: &mut Vec<Stmt>) -> Result<(), LowerError> {
        match node {
            Node::For {
                var,
                min,
                extent,
                kind,
                body,
            } => match (kind, extent.as_int()) {
                (LoopKind::Vectorized, Some(extent)) => {
                    self.vectorized(var, min, extent, body, out)
                }
                _ => self.serial(var, min, extent, *kind, body, out),
            },
            Node::Store {
                buffer,
                indices,
                value,
                shuffle,
                axes: _,
            } => {
                let mut stmt = self.store(buffer, indices, value)?;
                if let (Some(from), Stmt::Store { value, .. }) = (shuffle, &mut stmt) {
                    *value = kernel::Expr::Shuffle(*from, Box::new(value.clone()));
                }
                out.push(stmt);
                Ok(())
            }
            Node::Let { var, value, body } => {
                let (ty, emitted) = self.let_value(value)?;
                let id = self.new_var(var.name(), ty);
                out.push(Stmt::Let(id, emitted));
                self.var_of.insert(var.clone(), kernel::Expr::Var(id));
                // Another copy of a loop that is written out gives the variable another value.
                self.facts.enter();
                self.facts.name(var, value);
                let body = self.nodes(body, out);
                self.facts.leave();
                body
            }
            Node::If {
                cond,
                then,
                otherwise,
            } => {
                let test = self.value(cond)?;
                self.facts.enter();
                self.facts.learn(cond, &self.stored);
                let mut yes = Vec::new();
                self.nodes(then, &mut yes)?;
                self.facts.leave();
                let mut no = Vec::new();
                self.nodes(otherwise, &mut no)?;
                push_branch(out, test, yes, no);
                Ok(())
            }
            Node::While { cond, body } => {
                let cond = self.value(cond)?;
                let mut inner = Vec::new();
                self.nodes(body, &mut inner)?;
                out.push(Stmt::While { cond, body: inner });
                Ok(())
            }
            Node::Fragment(node) => {
                out.push(self.fragment(node)?);
                Ok(())
            }
            Node::Barrier(_) => {
                out.push(Stmt::Barrier);
                Ok(())
            }
        }
    }

    fn serial(
        &mut self,
        var: &Var,
        min: &Expr,
        extent: &Expr,
        kind: LoopKind,
        body: &[Node],
        out: &mut Vec<Stmt>,
    ) -> Result<(), LowerError> {
        let (first, count) = (self.exact_index(min)?, self.exact_index(extent)?);
        let id = self.new_var(var.name(), Ty::scalar(self.index));
        self.var_of.insert(var.clone(), kernel::Expr::Var(id));
        if self.annotated.prefetching.contains(var) {
            self.prefetching_loops.push(id);
        }
        self.facts.enter();
        self.facts.bind(var, min, extent);
        let mut inner = Vec::new();
        self.nodes(body, &mut inner)?;
        self.facts.leave();
        if inner.is_empty() {
            return Ok(());
        }
        out.push(Stmt::For {
            var: id,
            min: first,
            extent: count,
            kind: match kind {
                LoopKind::Parallel if !self.gpu => ForKind::Parallel,
                _ if self.annotated.simd_reductions.contains(var) => ForKind::SimdReduction,
                _ => ForKind::Serial,
            },
            body: inner,
        });
        Ok(())
    }

    fn store(
        &mut self,
        buffer: &Buffer,
        indices: &[Expr],
        value: &Expr,
    ) -> Result<Stmt, LowerError> {
        let value = self.value(value)?;
        let array = self.array_id(buffer);
        self.check_range(buffer, indices);
        let flat = flat(buffer, indices);
        let lanes = indices.last().map_or(1, |i| i.dtype().lanes);
        if lanes > 1 {
            let buffer = buffer.name().to_owned();
            return Err(LowerProblem::VectorIndex { buffer }.into());
        }
        Ok(Stmt::Store {
            array,
            index: self.index_poly(&flat)?,
            value,
            active: None,
        })
    }

    /// Notes whether an access is proved in range.
    fn check_range(&mut self, buffer: &Buffer, indices: &[Expr]) {
        // One access without a proof takes the proof from the kernel.
        if self.in_bounds && !self.in_range(buffer, indices) {
            log::debug!(
                "{:#} is not proved in range",
                Expr::load(buffer, indices.to_vec())
            );
            self.in_bounds = false;
        }
    }

    fn in_range(&self, buffer: &Buffer, indices: &[Expr]) -> bool {
        indices
            .iter()
            .zip(buffer.shape())
            .all(|(i, n)| self.facts.below(i, n) && self.facts.nonnegative(i))
    }

    /// Whether an array ends with a whole vector of so many lanes, whatever its number of elements.
    fn is_padded(&self, id: ArrayId, lanes: u16) -> bool {
        let array = &self.arrays[id];
        let bytes = array.dtype.bytes() as u64 * u64::from(lanes);
        self.gpu
            && matches!(array.space, Space::Global { .. })
            && kernel::GLOBAL_ALIGN.is_multiple_of(bytes)
    }

    /// Chooses the element width of each array; to be called when everything is emitted.
    pub(super) fn set_widths(&mut self) {
        for (id, widths) in &self.widths {
            let widest = widths.iter().copied().max().unwrap_or(1);
            let fits = (widest == 2 || widest == 4)
                && widths.iter().all(|&w| w == 1 || w == widest)
                && (self.is_padded(*id, widest)
                    || elements(&self.shapes[id]).is_multiple_of(widest.into()));
            if fits {
                self.arrays[*id].vector = widest;
            }
        }
    }
}

/// Index of an element, counted over the whole buffer.
pub(super) fn flat(buffer: &Buffer, indices: &[Expr]) -> WrappingSum {
    let node = buffer.node();
    let mut flat = WrappingSum::default();
    if node.strides.is_empty() {
        for (index, extent) in indices.iter().zip(buffer.shape()) {
            flat = flat
                .times(&WrappingSum::of(extent))
                .plus(&WrappingSum::of(index), 1);
        }
    } else {
        for (index, stride) in indices.iter().zip(&node.strides) {
            flat = flat.plus(&WrappingSum::of(index).times(&WrappingSum::of(stride)), 1);
        }
    }
    if let Some(offset) = &node.elem_offset {
        flat = flat.plus(&WrappingSum::of(offset), 1);
    }
    flat.join_div_mod()
}

/// Number of elements that the memory of a buffer holds: rows may lie apart.
fn elements(buffer: &Buffer) -> WrappingSum {
    if let (Some(stride), Some(extent)) = (buffer.node().strides.first(), buffer.shape().first()) {
        return WrappingSum::of(stride).times(&WrappingSum::of(extent));
    }
    let extents = buffer.shape().iter();
    extents.fold(WrappingSum::of(&Expr::i64(1)), |p, e| {
        p.times(&WrappingSum::of(e))
    })
}

fn push_branch(out: &mut Vec<Stmt>, cond: kernel::Expr, then: Vec<Stmt>, otherwise: Vec<Stmt>) {
    // Neighbouring branches on one condition, as unrolling makes them, become one.
    if let Some(Stmt::If {
        cond: last,
        then: before,
        otherwise: none,
    }) = out.last_mut()
        && *last == cond
        && none.is_empty()
        && otherwise.is_empty()
    {
        before.extend(then);
        return;
    }
    if then.is_empty() && otherwise.is_empty() {
        return;
    }
    out.push(Stmt::If {
        cond,
        then,
        otherwise,
    });
}
