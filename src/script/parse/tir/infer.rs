//! Regions that a block reads and writes, where the text does not say (TVM: `GetBlockAccessRegion`).
//!
//! Each access of the body gives a region in terms of the iter variables: the loops inside of the block are relaxed to all their
//! values, nested blocks count by their regions. One region per buffer, the hull of all accesses. An index that is not affine in
//! the inner loops or in loops with such bounds, or accesses whose distance is not a constant, count as the whole dimension.

use std::collections::HashMap;

use super::block::BlockFrame;
use crate::ir::{Buffer, BufferRegion, Expr, ExprKind, MatchBuffer, PrimFunc, Range, Stmt, Var};
use crate::tensor::DType;
use crate::tensor::scalar::BinOp;

/// Nodes of a value that a `let` names, with all that it stands for, up to which regions are found in terms of it.
const LET_NODES: usize = 1000;

/// Inferred regions.
pub(super) struct Accesses {
    pub(super) reads: Vec<BufferRegion>,
    pub(super) writes: Vec<BufferRegion>,
}

/// What the body and the init of a block access.
pub(super) fn accesses(func: &PrimFunc, frame: &BlockFrame, body: &[Stmt]) -> Accesses {
    if frame.reads.is_some() && frame.writes.is_some() {
        return Accesses {
            reads: vec![],
            writes: vec![],
        };
    }
    let mut collector = Collector {
        func,
        frame,
        relaxed: HashMap::new(),
        lets: HashMap::new(),
        reads: Hull::default(),
        writes: Hull::default(),
    };
    if let Some(init) = &frame.init {
        collector.stmts(init);
    }
    collector.stmts(body);
    let visible = |b: &Buffer| !frame.alloc_buffers.contains(b);
    let writes = collector.writes.regions(&visible);
    // A reduction reads what it has written or initialised itself.
    let own = |b: &Buffer| frame.init.is_some() && writes.iter().any(|w| w.buffer == *b);
    Accesses {
        reads: collector.reads.regions(&|b| visible(b) && !own(b)),
        writes,
    }
}

/// `constant + sum of coefficient * term`, where terms are expressions without relaxed variables.
#[derive(Clone, PartialEq)]
struct Linear {
    terms: Vec<(Expr, i64)>,
    constant: i64,
}

impl Linear {
    fn constant(value: i64) -> Self {
        Self {
            terms: vec![],
            constant: value,
        }
    }

    /// The expression taken apart at sums and constant factors.
    fn of(e: &Expr) -> Self {
        match e.kind() {
            ExprKind::Int(value) => Self::constant(*value),
            ExprKind::Binary(BinOp::Add, a, b) => Self::of(a).plus(&Self::of(b), 1),
            ExprKind::Binary(BinOp::Sub, a, b) => Self::of(a).plus(&Self::of(b), -1),
            ExprKind::Binary(BinOp::Mul, a, b) if let Some(c) = b.as_int() => Self::of(a).times(c),
            ExprKind::Binary(BinOp::Mul, a, b) if let Some(c) = a.as_int() => Self::of(b).times(c),
            _ => Self {
                terms: vec![(e.clone(), 1)],
                constant: 0,
            },
        }
    }

    fn plus(mut self, other: &Self, factor: i64) -> Self {
        for (term, coefficient) in &other.terms {
            let added = coefficient.wrapping_mul(factor);
            match self.terms.iter_mut().find(|(t, _)| t == term) {
                Some((_, c)) => *c = c.wrapping_add(added),
                None => self.terms.push((term.clone(), added)),
            }
        }
        self.terms.retain(|(_, c)| *c != 0);
        self.constant = self
            .constant
            .wrapping_add(other.constant.wrapping_mul(factor));
        self
    }

    fn times(mut self, factor: i64) -> Self {
        self.terms
            .iter_mut()
            .for_each(|(_, c)| *c = c.wrapping_mul(factor));
        self.terms.retain(|(_, c)| *c != 0);
        self.constant = self.constant.wrapping_mul(factor);
        self
    }

    /// The constant that both differ by, if they do.
    fn minus(&self, other: &Self) -> Option<i64> {
        let difference = self.clone().plus(other, -1);
        difference.terms.is_empty().then_some(difference.constant)
    }

    fn expr(&self, dtype: DType) -> Expr {
        let mut sum: Option<Expr> = None;
        for (term, c) in &self.terms {
            let part = if *c == 1 {
                term.clone()
            } else {
                term.clone() * Expr::int(*c, dtype)
            };
            sum = Some(match sum {
                None => part,
                Some(before) => before + part,
            });
        }
        let constant = Expr::int(self.constant, dtype);
        match sum {
            None => constant,
            Some(sum) if self.constant == 0 => sum,
            Some(sum) => sum + constant,
        }
    }
}

/// First and last value, both inclusive.
#[derive(Clone)]
struct Bounds {
    first: Linear,
    last: Linear,
}

/// One dimension of an access.
#[derive(Clone)]
enum Dim {
    /// The values between the bounds; `written` is the range as the program says it, if nothing was relaxed.
    Between {
        bounds: Bounds,
        written: Option<Range>,
    },
    /// Everything.
    Full,
}

/// One region for each accessed buffer, in order of first access.
#[derive(Default)]
struct Hull {
    accessed: Vec<(Buffer, Vec<Dim>)>,
}

impl Hull {
    fn add(&mut self, buffer: &Buffer, dims: Vec<Dim>) {
        match self.accessed.iter_mut().find(|(b, _)| b == buffer) {
            None => self.accessed.push((buffer.clone(), dims)),
            Some((_, hull)) => {
                for (old, new) in hull.iter_mut().zip(dims) {
                    *old = union(old, &new);
                }
            }
        }
    }

    fn regions(&self, keep: &dyn Fn(&Buffer) -> bool) -> Vec<BufferRegion> {
        let kept = self.accessed.iter().filter(|(buffer, _)| keep(buffer));
        kept.map(|(buffer, dims)| BufferRegion {
            buffer: buffer.clone(),
            region: dims
                .iter()
                .zip(buffer.shape())
                .map(|(dim, extent)| range(dim, extent))
                .collect(),
        })
        .collect()
    }
}

fn union(a: &Dim, b: &Dim) -> Dim {
    let (Dim::Between { bounds: x, .. }, Dim::Between { bounds: y, .. }) = (a, b) else {
        return Dim::Full;
    };
    let (Some(first), Some(last)) = (y.first.minus(&x.first), y.last.minus(&x.last)) else {
        return Dim::Full;
    };
    match (first < 0, last > 0) {
        (false, false) => a.clone(),
        (true, true) => b.clone(),
        (first_moves, _) => Dim::Between {
            bounds: Bounds {
                first: if first_moves {
                    y.first.clone()
                } else {
                    x.first.clone()
                },
                last: if last > 0 {
                    y.last.clone()
                } else {
                    x.last.clone()
                },
            },
            written: None,
        },
    }
}

fn range(dim: &Dim, extent: &Expr) -> Range {
    match dim {
        Dim::Full => Range::to(extent.clone()),
        Dim::Between {
            written: Some(range),
            ..
        } => range.clone(),
        Dim::Between {
            bounds,
            written: None,
        } => {
            let length = bounds
                .last
                .clone()
                .plus(&bounds.first, -1)
                .plus(&Linear::constant(1), 1);
            let min = bounds.first.expr(extent.dtype());
            let extent = length.expr(min.dtype());
            Range { min, extent }
        }
    }
}

struct Collector<'f> {
    func: &'f PrimFunc,
    frame: &'f BlockFrame,
    /// Variables defined inside of the block, with the values that they take; `None` where that is not known.
    relaxed: HashMap<Var, Option<Bounds>>,
    /// Variables that stand for a value, with the number of its nodes.
    lets: HashMap<Var, (Expr, usize)>,
    reads: Hull,
    writes: Hull,
}

impl<'f> Collector<'f> {
    fn stmts(&mut self, stmts: &[Stmt]) {
        stmts.iter().for_each(|stmt| self.stmt(stmt));
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Loop(id) => {
                let l = &self.func.loops[*id];
                self.expr(&l.min);
                self.expr(&l.extent);
                let (min, extent) = (self.resolved(&l.min), self.resolved(&l.extent));
                let last = min.clone() + &extent - 1;
                let bounds = match (self.bounds(&min), self.bounds(&last)) {
                    (Some(first), Some(last)) => Some(Bounds {
                        first: first.first,
                        last: last.last,
                    }),
                    _ => None,
                };
                self.relaxed.insert(l.var.clone(), bounds);
                self.stmts(self.func.tree.body(*id));
            }
            Stmt::Block(id) => {
                let block = &self.func.blocks[*id];
                block.bindings.iter().for_each(|e| self.expr(e));
                self.expr(&block.predicate);
                let value = |var: &Var| {
                    let at = block.iters.iter().position(|iter| iter.var == *var)?;
                    block.bindings.get(at).cloned()
                };
                for region in &block.reads {
                    self.region(&region.substitute(&value), Access::Read);
                }
                for region in &block.writes {
                    self.region(&region.substitute(&value), Access::Write);
                }
            }
            Stmt::Store {
                buffer,
                indices,
                value,
            } => {
                self.expr(value);
                indices.iter().for_each(|e| self.expr(e));
                self.region(&element_region(buffer, indices), Access::Write);
            }
            Stmt::Let { var, value, body } => {
                self.define(var, value);
                self.stmts(body);
            }
            Stmt::If { .. } | Stmt::While { .. } | Stmt::Assert { .. } | Stmt::Evaluate(_) => {
                stmt.exprs().into_iter().for_each(|e| self.expr(e));
                stmt.nested().into_iter().for_each(|body| self.stmts(body));
            }
        }
    }

    /// Adds the loads in an expression, outer before inner.
    fn expr(&mut self, e: &Expr) {
        match e.kind() {
            ExprKind::Let { var, value, body } => {
                self.define(var, value);
                return self.expr(body);
            }
            ExprKind::Load(buffer, indices) => {
                self.region(&element_region(buffer, indices), Access::Read);
            }
            _ => {}
        }
        e.children().into_iter().for_each(|child| self.expr(child));
    }

    /// Takes note of a `let`. Values that stand for values may grow without limit: one that is too large counts as unknown.
    fn define(&mut self, var: &Var, value: &Expr) {
        self.expr(value);
        let mut nodes = 0usize;
        value.walk(&mut |e| {
            let own = e
                .as_var()
                .and_then(|var| self.lets.get(var))
                .map_or(1, |l| l.1);
            nodes = nodes.saturating_add(own);
            true
        });
        if nodes > LET_NODES {
            self.relaxed.insert(var.clone(), None);
        } else {
            let value = self.resolved(value);
            self.lets.insert(var.clone(), (value, nodes));
        }
    }

    fn region(&mut self, region: &BufferRegion, access: Access) {
        let mut region = region;
        // A view counts as all that it views.
        while let Some(view) = self.view_of(&region.buffer) {
            region = &view.source;
        }
        let dims = region.region.iter().map(|range| self.dim(range)).collect();
        match access {
            Access::Read => self.reads.add(&region.buffer, dims),
            Access::Write => self.writes.add(&region.buffer, dims),
        }
    }

    fn view_of(&self, buffer: &Buffer) -> Option<&'f MatchBuffer> {
        let mut views = self.frame.match_buffers.iter();
        views.find(|view| view.buffer == *buffer)
    }

    fn dim(&self, range: &Range) -> Dim {
        let (min, extent) = (self.resolved(&range.min), self.resolved(&range.extent));
        let last = if extent.is_one() {
            min.clone()
        } else {
            min.clone() + &extent - 1
        };
        match (self.bounds(&min), self.bounds(&last)) {
            (Some(first), Some(last)) => Dim::Between {
                written: (!self.is_relaxed(&min) && !self.is_relaxed(&extent))
                    .then_some(Range { min, extent }),
                bounds: Bounds {
                    first: first.first,
                    last: last.last,
                },
            },
            _ => Dim::Full,
        }
    }

    /// The expression with `let` variables replaced by their values.
    fn resolved(&self, e: &Expr) -> Expr {
        if self.lets.is_empty() {
            e.clone()
        } else {
            e.substitute(&|var| self.lets.get(var).map(|l| l.0.clone()))
        }
    }

    fn is_relaxed(&self, e: &Expr) -> bool {
        !self.relaxed.is_empty()
            && e.free_vars()
                .iter()
                .any(|var| self.relaxed.contains_key(var))
    }

    /// First and last value over all values of the relaxed loops; `None` if that is not known.
    fn bounds(&self, e: &Expr) -> Option<Bounds> {
        if !self.is_relaxed(e) {
            let point = Linear::of(e);
            return Some(Bounds {
                first: point.clone(),
                last: point,
            });
        }
        match e.kind() {
            ExprKind::Var(var) => self.relaxed.get(var).cloned().flatten(),
            ExprKind::Binary(BinOp::Add, a, b) => {
                let (a, b) = (self.bounds(a)?, self.bounds(b)?);
                Some(Bounds {
                    first: a.first.plus(&b.first, 1),
                    last: a.last.plus(&b.last, 1),
                })
            }
            ExprKind::Binary(BinOp::Sub, a, b) => {
                let (a, b) = (self.bounds(a)?, self.bounds(b)?);
                Some(Bounds {
                    first: a.first.plus(&b.last, -1),
                    last: a.last.plus(&b.first, -1),
                })
            }
            ExprKind::Binary(BinOp::Mul, a, b) => {
                let (a, factor) = match (a.as_int(), b.as_int()) {
                    (_, Some(factor)) => (a, factor),
                    (Some(factor), _) => (b, factor),
                    _ => return None,
                };
                let Bounds { first, last } = self.bounds(a)?;
                let (first, last) = if factor >= 0 {
                    (first, last)
                } else {
                    (last, first)
                };
                Some(Bounds {
                    first: first.times(factor),
                    last: last.times(factor),
                })
            }
            ExprKind::Binary(BinOp::FloorDiv, a, b)
                if let Some(divisor) = b.as_int().filter(|&d| d > 0) =>
            {
                let a_bounds = self.bounds(a)?;
                let divided = |l: &Linear| {
                    if l.terms.is_empty() {
                        Linear::constant(l.constant.div_euclid(divisor))
                    } else {
                        Linear::of(&l.expr(a.dtype()).floor_div(b))
                    }
                };
                Some(Bounds {
                    first: divided(&a_bounds.first),
                    last: divided(&a_bounds.last),
                })
            }
            ExprKind::Binary(BinOp::FloorMod, _, b) => {
                let divisor = b.as_int().filter(|&d| d > 0)?;
                Some(Bounds {
                    first: Linear::constant(0),
                    last: Linear::constant(divisor - 1),
                })
            }
            _ => None,
        }
    }
}

#[derive(Clone, Copy)]
enum Access {
    Read,
    Write,
}

/// The elements at these indices: a vector index covers as many as it has lanes.
fn element_region(buffer: &Buffer, indices: &[Expr]) -> BufferRegion {
    let range = |(index, dim): (&Expr, &Expr)| match index.kind() {
        ExprKind::Ramp {
            base,
            stride,
            lanes,
        } if let Some(step) = stride.as_int().filter(|&s| s > 0) => {
            let length = step.saturating_mul(i64::from(*lanes) - 1).saturating_add(1);
            Range {
                min: base.clone(),
                extent: Expr::constant(length, base.dtype()),
            }
        }
        _ if index.dtype().is_vector() => Range::to(dim.clone()),
        _ => Range::point(index.clone()),
    };
    BufferRegion {
        buffer: buffer.clone(),
        region: indices.iter().zip(buffer.shape()).map(range).collect(),
    }
}
