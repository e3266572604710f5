//! Loop programs under a rewrite of their parts, and one loop program inside of another.
//!
//! [`PrimFunc::map`] copies a function, [`PrimFunc::map_below`] changes a part of one, [`PrimFunc::import`] copies one into
//! another. All give every expression, buffer and definition to a [`Rewrite`], definitions before their uses. A closure over
//! expressions is one, a [`Substitution`] of variables and buffers another.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::prim_func::{
    Block, BlockId, IterVar, Loop, LoopId, MatchBuffer, Param, PrimFunc, Stmt, unique_name,
};
use super::{
    AttrValue, Attrs, Buffer, BufferNode, BufferRegion, Expr, ExprKind, Place, Range, TileOp, Var,
};
use crate::support::SideTable;

/// What becomes of the parts of a loop program.
pub trait Rewrite {
    /// An expression. Buffers that it loads and variables in it are its own business.
    fn expr(&mut self, e: &Expr) -> Expr;

    /// A buffer that is stored to, or of which a region is named.
    fn buffer(&mut self, buffer: &Buffer) -> Buffer {
        buffer.clone()
    }

    /// A variable where it is defined.
    fn define(&mut self, var: &Var) -> Var {
        var.clone()
    }

    /// A buffer where it is defined: a parameter, an allocation, a view.
    fn define_buffer(&mut self, buffer: &Buffer) -> Buffer {
        self.buffer(buffer)
    }
}

impl<F: FnMut(&Expr) -> Expr + ?Sized> Rewrite for F {
    fn expr(&mut self, e: &Expr) -> Expr {
        self(e)
    }
}

/// Whether a copy defines the variables and buffers of its original, or new ones of the same names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Definitions {
    /// The copy takes the place of the original.
    Kept,
    /// The copy may stand beside the original.
    Fresh,
}

/// Expressions for variables, and buffers for buffers. A buffer whose extents name replaced variables becomes a new one.
pub struct Substitution<'a> {
    vars: HashMap<Var, Expr>,
    buffers: HashMap<Buffer, Buffer>,
    definitions: Definitions,
    then: Box<dyn FnMut(&Expr) -> Expr + 'a>,
}

impl<'a> Substitution<'a> {
    /// Nothing for anything.
    pub fn new(definitions: Definitions) -> Self {
        Self {
            vars: HashMap::new(),
            buffers: HashMap::new(),
            definitions,
            then: Box::new(Expr::clone),
        }
    }

    /// Puts an expression for a variable.
    pub fn set_var(&mut self, var: &Var, value: impl Into<Expr>) {
        self.vars.insert(var.clone(), value.into());
    }

    /// Puts a buffer for a buffer of as many dimensions.
    pub fn set_buffer(&mut self, buffer: &Buffer, with: &Buffer) {
        self.buffers.insert(buffer.clone(), with.clone());
    }

    /// Applies `f` to every expression that the substitution changes.
    #[must_use]
    pub fn then(mut self, f: impl FnMut(&Expr) -> Expr + 'a) -> Self {
        self.then = Box::new(f);
        self
    }

    fn rebuilt(&mut self, buffer: &Buffer) -> Buffer {
        let node = buffer.node();
        Buffer::from_node(BufferNode {
            name: node.name.clone(),
            dtype: node.dtype,
            shape: node.shape.iter().map(|e| self.expr(e)).collect(),
            strides: node.strides.iter().map(|e| self.expr(e)).collect(),
            elem_offset: node.elem_offset.as_ref().map(|e| self.expr(e)),
            layout: (node.layout.as_ref())
                .map(|layout| Arc::new(layout.map_exprs(&mut |e| self.expr(e)))),
            address: node.address.iter().map(|e| self.expr(e)).collect(),
            scope: node.scope.clone(),
            hints: node.hints.clone(),
            producer: node.producer.clone(),
        })
    }
}

impl Rewrite for Substitution<'_> {
    fn expr(&mut self, e: &Expr) -> Expr {
        let new = e.rewrite_bottom_up(&mut |e| match e.kind() {
            ExprKind::Var(var) => self.vars.get(var).cloned().unwrap_or_else(|| e.clone()),
            ExprKind::Load(buffer, indices) => {
                let new = self.buffer(buffer);
                if new == *buffer {
                    e.clone()
                } else {
                    Expr::load(&new, indices.clone())
                }
            }
            ExprKind::Data(buffer) => {
                let new = self.buffer(buffer);
                if new == *buffer {
                    e.clone()
                } else {
                    Expr::data(&new)
                }
            }
            _ => e.clone(),
        });
        if new.same_as(e) {
            new
        } else {
            (self.then)(&new)
        }
    }

    fn buffer(&mut self, buffer: &Buffer) -> Buffer {
        if let Some(new) = self.buffers.get(buffer) {
            return new.clone();
        }
        let node = buffer.node();
        let layout = node.layout.iter().flat_map(|layout| layout.exprs());
        let exprs = node.shape.iter().chain(&node.strides).chain(&node.address);
        let mut exprs = exprs.chain(&node.elem_offset).chain(layout);
        let replaced = |e: &Expr| e.free_vars().iter().any(|v| self.vars.contains_key(v));
        let new = if exprs.any(replaced) {
            self.rebuilt(buffer)
        } else {
            buffer.clone()
        };
        self.buffers.insert(buffer.clone(), new.clone());
        new
    }

    fn define(&mut self, var: &Var) -> Var {
        match self.definitions {
            Definitions::Kept => var.clone(),
            Definitions::Fresh => {
                let new = var.renamed(var.name());
                self.vars.insert(var.clone(), new.expr());
                new
            }
        }
    }

    fn define_buffer(&mut self, buffer: &Buffer) -> Buffer {
        match (self.definitions, self.buffers.get(buffer)) {
            (Definitions::Kept, _) => self.buffer(buffer),
            (Definitions::Fresh, Some(new)) => new.clone(),
            (Definitions::Fresh, None) => {
                let new = self.rebuilt(buffer);
                self.buffers.insert(buffer.clone(), new.clone());
                new
            }
        }
    }
}

impl Range {
    fn map(&self, r: &mut (impl Rewrite + ?Sized)) -> Self {
        Self {
            min: r.expr(&self.min),
            extent: r.expr(&self.extent),
        }
    }
}

impl BufferRegion {
    fn map(&self, r: &mut (impl Rewrite + ?Sized)) -> Self {
        Self {
            buffer: r.buffer(&self.buffer),
            region: self.region.iter().map(|range| range.map(r)).collect(),
        }
    }
}

impl Loop {
    fn map(&self, r: &mut (impl Rewrite + ?Sized)) -> Self {
        let (min, extent) = (r.expr(&self.min), r.expr(&self.extent));
        Self {
            var: r.define(&self.var),
            min,
            extent,
            kind: self.kind,
            annotations: self.annotations.clone(),
        }
    }
}

impl Block {
    /// All but the init.
    fn map(&self, r: &mut (impl Rewrite + ?Sized)) -> Self {
        let bindings = self.bindings.iter().map(|e| r.expr(e)).collect();
        let predicate = r.expr(&self.predicate);
        let iter = |iter: &IterVar, r: &mut _| {
            let dom = iter.dom.map(r);
            IterVar {
                var: Rewrite::define(r, &iter.var),
                dom,
                kind: iter.kind,
            }
        };
        let iters = self.iters.iter().map(|i| iter(i, r)).collect();
        let allocated = self.alloc_buffers.iter();
        let alloc_buffers = allocated.map(|buffer| r.define_buffer(buffer)).collect();
        let view = |view: &MatchBuffer, r: &mut _| {
            let source = view.source.map(r);
            MatchBuffer {
                buffer: Rewrite::define_buffer(r, &view.buffer),
                source,
            }
        };
        let match_buffers = self.match_buffers.iter().map(|v| view(v, r)).collect();
        Self {
            name: self.name.clone(),
            iters,
            bindings,
            predicate,
            reads: self.reads.iter().map(|region| region.map(r)).collect(),
            writes: self.writes.iter().map(|region| region.map(r)).collect(),
            init: self.init.clone(),
            alloc_buffers,
            match_buffers,
            annotations: self.annotations.clone(),
        }
    }
}

impl Stmt {
    /// The statement and those nested in it, rewritten; loops and blocks are kept as they are.
    pub fn map(&self, r: &mut (impl Rewrite + ?Sized)) -> Self {
        match self {
            Self::Loop(id) => Self::Loop(*id),
            Self::Block(id) => Self::Block(*id),
            Self::Store {
                buffer,
                indices,
                value,
            } => Self::Store {
                indices: indices.iter().map(|e| r.expr(e)).collect(),
                value: r.expr(value),
                buffer: r.buffer(buffer),
            },
            Self::Let { var, value, body } => Self::Let {
                value: r.expr(value),
                var: r.define(var),
                body: map_list(body, r),
            },
            Self::If {
                cond,
                then,
                otherwise,
            } => Self::If {
                cond: r.expr(cond),
                then: map_list(then, r),
                otherwise: map_list(otherwise, r),
            },
            Self::While { cond, body } => Self::While {
                cond: r.expr(cond),
                body: map_list(body, r),
            },
            Self::Assert { cond, message } => Self::Assert {
                cond: r.expr(cond),
                message: message.clone(),
            },
            Self::Evaluate(e) => Self::Evaluate(r.expr(e)),
            Self::View {
                buffer,
                memory,
                body,
            } => Self::View {
                memory: r.expr(memory),
                buffer: r.define_buffer(buffer),
                body: map_list(body, r),
            },
            Self::Attr {
                node,
                key,
                value,
                body,
            } => Self::Attr {
                node: node.map(r),
                key: key.clone(),
                value: value.map(r),
                body: map_list(body, r),
            },
            Self::Tile(op) => Self::Tile(Box::new(TileOp {
                scope: op.scope,
                name: op.name,
                args: op.args.iter().map(|arg| arg.map(r)).collect(),
                attrs: map_attrs(&op.attrs, r),
            })),
            Self::Break => Self::Break,
            Self::Continue => Self::Continue,
            Self::Return(value) => Self::Return(value.as_ref().map(|e| r.expr(e))),
        }
    }
}

impl AttrValue {
    /// The value with its expressions and buffers rewritten. Functions keep theirs: these are of their own parameters.
    fn map(&self, r: &mut (impl Rewrite + ?Sized)) -> Self {
        match self {
            Self::Buffer(buffer) => Self::Buffer(r.buffer(buffer)),
            Self::Region(region) => Self::Region(region.map(r)),
            Self::List(items) => Self::List(items.iter().map(|item| item.map(r)).collect()),
            Self::Dict(items) => Self::Dict(map_attrs(items, r)),
            other => other.map_exprs(&mut |e| r.expr(e)),
        }
    }
}

fn map_attrs(attrs: &Attrs, r: &mut (impl Rewrite + ?Sized)) -> Attrs {
    let items = attrs.iter().map(|(key, value)| (key.clone(), value.map(r)));
    items.collect()
}

fn map_list(stmts: &[Stmt], r: &mut (impl Rewrite + ?Sized)) -> Vec<Stmt> {
    stmts.iter().map(|stmt| stmt.map(r)).collect()
}

/// Where the loops and blocks of an imported function are now.
#[derive(Clone, Debug, Default)]
pub struct IdMap {
    loops: SideTable<LoopId, Option<LoopId>>,
    blocks: SideTable<BlockId, Option<BlockId>>,
}

impl IdMap {
    /// The copy of a loop; `None` for one that the imported function does not have.
    pub fn loop_id(&self, id: LoopId) -> Option<LoopId> {
        self.loops[id]
    }

    /// The copy of a block; for the root block, the block that its statements are in.
    pub fn block_id(&self, id: BlockId) -> Option<BlockId> {
        self.blocks[id]
    }

    /// The statements with the places of their copies.
    fn stmts(&self, stmts: &[Stmt]) -> Vec<Stmt> {
        let copied = "all loops and blocks of the function are copied";
        let copy = |stmt: &Stmt| match stmt {
            Stmt::Loop(id) => Stmt::Loop(self.loops[*id].expect(copied)),
            Stmt::Block(id) => Stmt::Block(self.blocks[*id].expect(copied)),
            other => {
                let mut other = other.clone();
                for nested in other.nested_mut() {
                    *nested = self.stmts(nested);
                }
                other
            }
        };
        stmts.iter().map(copy).collect()
    }
}

impl PrimFunc {
    /// A copy with every part rewritten. Loops and blocks keep their handles.
    pub fn map(&self, r: &mut (impl Rewrite + ?Sized)) -> Self {
        let mut out = self.clone();
        for param in &mut out.params {
            match param {
                Param::Scalar(var) => *var = r.define(var),
                Param::Buffer { handle, buffer } => {
                    *handle = r.define(handle);
                    *buffer = r.define_buffer(buffer);
                }
            }
        }
        out.map_below(self.root, r);
        out
    }

    /// Rewrites every part of a place and of what is below it.
    pub fn map_below(&mut self, place: impl Into<Place>, r: &mut (impl Rewrite + ?Sized)) {
        let place = place.into();
        match place {
            Place::Loop(id) => self.loops[id] = self.loops[id].map(r),
            Place::Block(id) => {
                self.blocks[id] = self.blocks[id].map(r);
                if let Some(init) = self.blocks[id].init.take() {
                    self.blocks[id].init = Some(self.map_stmts(&init, r));
                }
            }
        }
        let body = self.tree.take_body(place);
        let body = self.map_stmts(&body, r);
        self.tree.set_body(place, body);
    }

    /// Replaces variables in a place and everything below it; `map` gives `None` for those that stay.
    pub fn substitute_below(
        &mut self,
        place: impl Into<Place>,
        map: &dyn Fn(&Var) -> Option<Expr>,
    ) {
        self.map_below(place, &mut |e: &Expr| e.substitute(map));
    }

    /// The statements rewritten, and with them the loops and blocks that they hold.
    fn map_stmts(&mut self, stmts: &[Stmt], r: &mut (impl Rewrite + ?Sized)) -> Vec<Stmt> {
        let map = |stmt: &Stmt| {
            let stmt = stmt.map(r);
            for place in stmt.places() {
                self.map_below(place, r);
            }
            stmt
        };
        stmts.iter().map(map).collect()
    }

    /// Copies the statements of another function, rewritten, to the end of the body of a place, and what its root block
    /// allocates, views and notes to the block that the place is in. The parameters of the other function are no more: the
    /// rewrite says what stands for them. A block whose name is taken gets a number.
    pub fn import(
        &mut self,
        other: &Self,
        under: impl Into<Place>,
        r: &mut (impl Rewrite + ?Sized),
    ) -> IdMap {
        let under = under.into();
        let scope = match under {
            Place::Block(id) => id,
            Place::Loop(_) => self.scope_block(under).expect("a loop is in a block"),
        };
        let mut ids = IdMap::default();
        for (id, l) in other.loops.iter() {
            *ids.loops.entry(id) = Some(self.loops.push(l.clone()));
        }
        let mut names: HashSet<String> = self.blocks.iter().map(|(_, b)| b.name.clone()).collect();
        *ids.blocks.entry(other.root) = Some(scope);
        for (id, block) in other.blocks.iter().filter(|(id, _)| *id != other.root) {
            let name = unique_name(&block.name, &mut names);
            let block = block.clone();
            *ids.blocks.entry(id) = Some(self.blocks.push(Block { name, ..block }));
        }
        for (id, copy) in other.loops.iter().map(|(id, _)| (id, ids.loops[id])) {
            let body = ids.stmts(other.tree.body(id));
            self.tree.set_body(copy.expect("made above"), body);
        }
        for (id, block) in other.blocks.iter().filter(|(id, _)| *id != other.root) {
            let copy = ids.blocks[id].expect("made above");
            self.blocks[copy].init = block.init.as_ref().map(|init| ids.stmts(init));
            self.tree.set_body(copy, ids.stmts(other.tree.body(id)));
        }
        let root = other.blocks[other.root].map(r);
        let into = &mut self.blocks[scope];
        into.alloc_buffers.extend(root.alloc_buffers);
        into.match_buffers.extend(root.match_buffers);
        for (name, value) in root.annotations {
            into.annotations.entry(name).or_insert(value);
        }
        let stmts = self.map_stmts(&ids.stmts(other.tree.body(other.root)), r);
        let mut body = self.tree.take_body(under);
        body.extend(stmts);
        self.tree.set_body(under, body);
        ids
    }
}

#[cfg(test)]
mod tests;
