//! The verifier of loop programs: what every [`PrimFunc`] that a room gives to another must satisfy.
//!
//! Every variable and buffer is defined around its use; the body of a block with iter variables sees no loop variable from
//! outside, which only bindings and predicates may name (TVM: a block is isolated from its loops); operands have the
//! types that the operators ask for; accesses have as many indices as the buffer has dimensions, and none that
//! certainly happens has a constant index outside of it; views are like their regions; the fragments of a buffer, and those of a
//! product, have one extent; the links of the loop tree agree with the bodies. All violations are collected.

use std::collections::{HashMap, HashSet};

use super::graph::dims::{Proof, compare_dims};
use super::{
    AttrValue, Block, BlockId, Buffer, BufferRegion, Expr, LoopId, MatchBuffer, Param, Place,
    PrimFunc, Stmt, Var,
};
use crate::tensor::DType;

mod access;
mod error;
mod expr;
mod fragments;
#[cfg(test)]
mod tests;

pub use error::{PrimFuncError, PrimFuncErrorKind};

/// Checks a loop program.
///
/// # Errors
/// All violations, in program order.
pub fn prim_func(func: &PrimFunc) -> Result<(), Vec<PrimFuncError>> {
    let mut verifier = Verifier {
        func,
        errors: vec![],
        vars: HashMap::new(),
        buffers: HashSet::new(),
        seen: HashSet::new(),
        place: func.root.into(),
        iterations: 1,
        in_loop: false,
    };
    verifier.params();
    verifier.block(func.root, None);
    if verifier.errors.is_empty() {
        for (place, kind) in access::out_of_range(func) {
            verifier.place = place;
            verifier.error(kind);
        }
        for (place, kind) in fragments::different_extents(func) {
            verifier.place = place;
            verifier.error(kind);
        }
    }
    if verifier.errors.is_empty() {
        Ok(())
    } else {
        Err(verifier.errors)
    }
}

/// How a variable in scope was defined.
#[derive(Clone, Copy, PartialEq, Eq)]
enum VarKind {
    /// By a loop that the nearest block is inside of.
    OuterLoop,
    /// By a loop inside of the nearest block.
    Loop,
    /// In another way.
    Other,
}

struct Verifier<'f> {
    func: &'f PrimFunc,
    errors: Vec<PrimFuncError>,
    vars: HashMap<Var, VarKind>,
    buffers: HashSet<Buffer>,
    /// Loops and blocks met so far.
    seen: HashSet<Place>,
    place: Place,
    /// Iterations of the loops around, those of unknown extent counted as one.
    iterations: i64,
    /// Whether a loop is around that the same block holds.
    in_loop: bool,
}

impl Verifier<'_> {
    fn error(&mut self, kind: PrimFuncErrorKind) {
        let inside = match self.place {
            Place::Block(id) if id == self.func.root => None,
            Place::Block(id) => self
                .func
                .blocks
                .get(id)
                .map(|b| format!("block \"{}\"", b.name)),
            Place::Loop(id) => self
                .func
                .loops
                .get(id)
                .map(|l| format!("loop `{}`", l.var.name())),
        };
        let place = self.place;
        self.errors.push(PrimFuncError {
            place,
            inside,
            kind,
        });
    }

    fn params(&mut self) {
        for param in &self.func.params {
            match param {
                Param::Scalar(var) => self.define(var, VarKind::Other),
                Param::Buffer { handle: _, buffer } => self.define_buffer(buffer),
            }
        }
        // A dimension may be defined by a later parameter, so the shapes are checked when all are known.
        for buffer in self.func.buffer_params() {
            self.define_dims(buffer);
        }
        let buffers: Vec<Buffer> = self.func.buffer_params().cloned().collect();
        buffers.iter().for_each(|buffer| self.shape(buffer));
    }

    /// Variables that stand alone as an extent, a stride or the offset get their value from the tensor that is passed.
    fn define_dims(&mut self, buffer: &Buffer) {
        let node = buffer.node();
        for var in node
            .shape
            .iter()
            .chain(&node.strides)
            .chain(&node.elem_offset)
            .filter_map(Expr::as_var)
        {
            self.vars.entry(var.clone()).or_insert(VarKind::Other);
        }
    }

    fn shape(&mut self, buffer: &Buffer) {
        let node = buffer.node();
        for e in node
            .shape
            .iter()
            .chain(&node.strides)
            .chain(&node.elem_offset)
        {
            self.integer("an extent of a buffer", e);
        }
        let extents = node.shape.iter().map(Expr::as_int).enumerate();
        let mut bytes = Some(node.dtype.bytes() as i64);
        for (dim, extent) in extents.filter_map(|(dim, extent)| Some((dim, extent?))) {
            let name = buffer.name().to_owned();
            if extent < 0 {
                self.error(PrimFuncErrorKind::NegativeExtent { name, dim, extent });
                return;
            }
            bytes = bytes.and_then(|bytes| bytes.checked_mul(extent.max(1)));
        }
        if bytes.is_none() {
            let name = buffer.name().to_owned();
            self.error(PrimFuncErrorKind::TooLarge { name });
        }
    }

    fn define(&mut self, var: &Var, kind: VarKind) {
        if self.vars.insert(var.clone(), kind).is_some() {
            let name = var.name().to_owned();
            self.error(PrimFuncErrorKind::Redefined { name });
        }
    }

    fn define_buffer(&mut self, buffer: &Buffer) {
        if !self.buffers.insert(buffer.clone()) {
            let name = buffer.name().to_owned();
            self.error(PrimFuncErrorKind::RedefinedBuffer { name });
        }
    }

    /// Runs `f` inside of a place; what it defines ends with it.
    fn within(&mut self, place: Place, f: impl FnOnce(&mut Self)) {
        let (vars, buffers, outer) = (self.vars.clone(), self.buffers.clone(), self.place);
        self.place = place;
        f(self);
        (self.vars, self.buffers, self.place) = (vars, buffers, outer);
    }

    /// Checks the links of an item of the body of `parent`; whether it can be looked into.
    fn link(&mut self, place: Place, parent: Option<Place>) -> bool {
        let alive = match place {
            Place::Loop(id) => self.func.loops.get(id).is_some(),
            Place::Block(id) => self.func.blocks.get(id).is_some(),
        };
        if !alive {
            self.error(PrimFuncErrorKind::Dead { place });
            return false;
        }
        let said = self.func.tree.parent(place);
        let first = self.seen.insert(place);
        if said != parent || !first {
            self.error(PrimFuncErrorKind::Parent {
                place,
                parent: said,
            });
        }
        first
    }

    fn loop_(&mut self, id: LoopId, parent: Option<Place>) {
        if !self.link(id.into(), parent) {
            return;
        }
        let l = &self.func.loops[id];
        let outer = self.iterations;
        self.within(id.into(), |v| {
            let extent = l.extent.as_int().unwrap_or(1).max(1);
            match outer.checked_mul(extent) {
                Some(iterations) => v.iterations = iterations,
                None => v.error(PrimFuncErrorKind::TooManyIterations),
            }
            v.integer("the first value of a loop", &l.min);
            v.integer("the extent of a loop", &l.extent);
            v.define(&l.var, VarKind::Loop);
            let around = std::mem::replace(&mut v.in_loop, true);
            v.stmts(v.func.tree.body(id), Some(id.into()));
            v.in_loop = around;
        });
        self.iterations = outer;
    }

    fn block(&mut self, id: BlockId, parent: Option<Place>) {
        if !self.link(id.into(), parent) {
            return;
        }
        let block = &self.func.blocks[id];
        let around = std::mem::replace(&mut self.in_loop, false);
        self.within(id.into(), |v| {
            if block.iters.len() != block.bindings.len() {
                v.error(PrimFuncErrorKind::BindingCount {
                    iters: block.iters.len(),
                    bindings: block.bindings.len(),
                });
            }
            block
                .bindings
                .iter()
                .for_each(|e| v.integer("a binding", e));
            v.condition("a predicate", &block.predicate);
            for iter in &block.iters {
                v.integer("the domain of an iter variable", &iter.dom.min);
                v.integer("the domain of an iter variable", &iter.dom.extent);
            }
            if !block.iters.is_empty() {
                v.vars
                    .values_mut()
                    .filter(|kind| **kind == VarKind::Loop)
                    .for_each(|kind| *kind = VarKind::OuterLoop);
            }
            block
                .iters
                .iter()
                .for_each(|iter| v.define(&iter.var, VarKind::Other));
            v.block_buffers(block);
            block
                .reads
                .iter()
                .chain(&block.writes)
                .for_each(|region| v.region(region));
            if let Some(init) = &block.init {
                // The loops and blocks of an init have no parent.
                v.stmts(init, None);
            }
            v.stmts(v.func.tree.body(id), Some(id.into()));
        });
        self.in_loop = around;
    }

    fn block_buffers(&mut self, block: &Block) {
        for buffer in &block.alloc_buffers {
            self.define_buffer(buffer);
            self.shape(buffer);
        }
        for view in &block.match_buffers {
            self.region(&view.source);
            self.view(view);
            self.define_dims(&view.buffer);
            self.define_buffer(&view.buffer);
            self.shape(&view.buffer);
        }
    }

    /// Checks that a view is like its region (TVM: `MatchBufferRegion`). An extent that is a variable gets its value from it.
    fn view(&mut self, view: &MatchBuffer) {
        let (buffer, source) = (&view.buffer, &view.source.buffer);
        let names = || (buffer.name().to_owned(), source.name().to_owned());
        if buffer.dtype() != source.dtype() || buffer.scope() != source.scope() {
            let (name, of) = names();
            self.error(PrimFuncErrorKind::ViewType { name, of });
        }
        let region = &view.source.region;
        let lead = region.len().checked_sub(buffer.ndim());
        let lead = lead.filter(|&lead| region[..lead].iter().all(|r| r.extent.is_one()));
        let Some(lead) = lead else {
            let ((name, of), ndim) = (names(), buffer.ndim());
            self.error(PrimFuncErrorKind::ViewRank { name, ndim, of });
            return;
        };
        for (dim, (range, extent)) in region[lead..].iter().zip(buffer.shape()).enumerate() {
            if extent.as_var().is_none() && compare_dims(extent, &range.extent) != Proof::Yes {
                let (name, of) = names();
                self.error(PrimFuncErrorKind::ViewExtent { name, dim, of });
            }
        }
    }

    fn region(&mut self, region: &BufferRegion) {
        self.buffer_use(&region.buffer, region.region.len());
        for range in &region.region {
            self.integer("a region", &range.min);
            self.integer("a region", &range.extent);
        }
    }

    fn buffer_use(&mut self, buffer: &Buffer, got: usize) {
        let name = || buffer.name().to_owned();
        if !self.buffers.contains(buffer) {
            self.error(PrimFuncErrorKind::UndefinedBuffer { name: name() });
        }
        let ndim = buffer.ndim();
        if got != ndim {
            self.error(PrimFuncErrorKind::IndexCount {
                name: name(),
                ndim,
                got,
            });
        }
    }

    fn returned(&mut self, value: Option<&Expr>) {
        match (value, self.func.ret) {
            (Some(value), Some(dtype)) => {
                self.expr(value);
                self.typed("the result", value, dtype);
            }
            (None, None) => {}
            (value, declared) => self.error(PrimFuncErrorKind::Result {
                declared: declared.map(|dtype| dtype.to_string()),
                found: value.map(|value| value.dtype().to_string()),
            }),
        }
    }

    fn stmts(&mut self, stmts: &[Stmt], parent: Option<Place>) {
        stmts.iter().for_each(|stmt| self.stmt(stmt, parent));
    }

    fn stmt(&mut self, stmt: &Stmt, parent: Option<Place>) {
        match stmt {
            Stmt::Loop(id) => self.loop_(*id, parent),
            Stmt::Block(id) => self.block(*id, parent),
            Stmt::Store {
                buffer,
                indices,
                value,
            } => {
                self.indices(buffer, indices);
                self.expr(value);
                let expected = Expr::load(buffer, indices.clone()).dtype();
                self.typed("a stored value", value, expected);
            }
            Stmt::Let { var, value, body } => {
                self.expr(value);
                self.typed("the value of a let", value, var.dtype());
                self.within(self.place, |v| {
                    v.define(var, VarKind::Other);
                    v.stmts(body, parent);
                });
            }
            Stmt::If {
                cond,
                then,
                otherwise,
            } => {
                self.condition("a condition", cond);
                self.stmts(then, parent);
                self.stmts(otherwise, parent);
            }
            Stmt::While { cond, body } => {
                self.condition("a condition", cond);
                let outer = std::mem::replace(&mut self.in_loop, true);
                self.stmts(body, parent);
                self.in_loop = outer;
            }
            Stmt::Assert { cond, message: _ } => self.condition("a condition", cond),
            Stmt::Evaluate(e) => self.expr(e),
            Stmt::Tile(op) => {
                stmt.exprs().into_iter().for_each(|e| self.expr(e));
                for region in op.operands().flat_map(AttrValue::regions) {
                    self.buffer_use(&region.buffer, region.region.len());
                }
            }
            Stmt::View {
                buffer,
                memory,
                body,
            } => {
                self.expr(memory);
                self.typed("the memory of a view", memory, DType::U64);
                self.within(self.place, |v| {
                    v.define_buffer(buffer);
                    v.shape(buffer);
                    v.stmts(body, parent);
                });
            }
            Stmt::Attr {
                node: _,
                key: _,
                value: _,
                body,
            } => self.stmts(body, parent),
            Stmt::Break | Stmt::Continue => {
                if !self.in_loop {
                    self.error(PrimFuncErrorKind::OutsideLoop);
                }
            }
            Stmt::Return(value) => self.returned(value.as_ref()),
        }
    }
}
