//! What `reindex_cache_read` and `reindex_cache_write` share: a cache whose indices are a map of the block's iter variables, and
//! the block that copies one element of it.

use super::analysis::facts_at;
use super::body::{insert_at, nest, rewrite_own};
use super::cache::{Direction, Location, with_shape};
use super::{Reason, Refusal};
use crate::arith::iter_map::{IterMapLevel, UnitIters, detect_iter_map};
use crate::arith::{Analyzer, IntSet, eval_set};
use crate::ir::{
    Attrs, Block, BlockId, Buffer, BufferRegion, Expr, ExprKind, IterKind, IterVar, Lambda, Loop,
    LoopId, LoopKind, Place, PrimFunc, Range, Scope, Stmt, Var,
};
use crate::tensor::DType;
use crate::tensor::scalar::BinOp;

/// An element of a buffer that a block touches in each instance, and the element of a cache that stands for it.
pub(super) struct Reindexed {
    block: BlockId,
    region: BufferRegion,
    cache: Buffer,
    /// Where the element is in the cache, in terms of the block's iter variables.
    place: Vec<Expr>,
    /// Positions of the iter variables that the element depends on.
    iters: Vec<usize>,
    /// The loops that these depend on, below the place of the copy.
    loops: Vec<LoopId>,
    location: Location,
}

impl Reindexed {
    pub(super) fn check(
        func: &PrimFunc,
        block: BlockId,
        region: &BufferRegion,
        scope: Scope,
        map: &Lambda,
        location: Location,
    ) -> Result<Self, Refusal> {
        let node = &func.blocks[block];
        let facts = facts_at(func, Place::Block(block));
        if !touches_one_element(func, block, region, &facts) {
            let reason = Reason::NotSinglePoint {
                block: node.name.clone(),
                buffer: region.buffer.name().to_owned(),
            };
            return Err(reason.at([block.into()]));
        }
        if !always_touches(func, block, &region.buffer) && !stays_inside(region, node, &facts) {
            let reason = Reason::OutsideBuffer {
                block: node.name.clone(),
                buffer: region.buffer.name().to_owned(),
            };
            return Err(reason.at([block.into()]));
        }
        let place = mapped(node, map).map_err(|reason| reason.at([block.into()]))?;
        let mut iters = Vec::new();
        for (at, iter) in node.iters.iter().enumerate() {
            let in_buffer = region.region.iter().any(|r| r.min.uses(&iter.var));
            let in_cache = place.iter().any(|e| e.uses(&iter.var));
            if in_buffer != in_cache {
                let reason = Reason::ReindexMismatch {
                    block: node.name.clone(),
                    var: iter.var.name().to_owned(),
                    missing: if in_buffer { "the cache" } else { "the buffer" },
                };
                return Err(reason.at([block.into()]));
            }
            if in_buffer {
                iters.push(at);
            }
        }
        let domains: Vec<(Var, Range)> = iters
            .iter()
            .map(|&at| (node.iters[at].var.clone(), node.iters[at].dom.clone()))
            .collect();
        let (level, units) = (IterMapLevel::NoCheck, UnitIters::Preserve);
        let always = Expr::bool(true);
        let found = detect_iter_map(&facts, &place, &domains, &always, level, units).ok();
        let shape = found.and_then(|found| found.extents(&facts));
        let shape = shape.or_else(|| extents(&place, &domains, &facts));
        let shape = shape.filter(|_| is_injective(&place, &domains, &facts));
        let Some(shape) = shape else {
            let reason = Reason::NotInjective {
                map: map.to_string(),
                block: node.name.clone(),
            };
            return Err(reason.at([block.into()]));
        };
        let bindings: Vec<&Expr> = iters.iter().map(|&at| &node.bindings[at]).collect();
        Ok(Self {
            block,
            cache: with_shape(&region.buffer, scope, shape),
            region: region.clone(),
            place,
            loops: loops_of(func, block, &bindings, location.place),
            iters,
            location,
        })
    }

    /// Redirects the block to the cache and puts in the block that copies. Gives that block.
    pub(super) fn apply(
        self,
        func: &mut PrimFunc,
        scope: BlockId,
        direction: Direction,
    ) -> BlockId {
        let (copy, stmt) = self.build(func, direction);
        let mut load = |e: &Expr| {
            e.rewrite_bottom_up(&mut |e| match e.kind() {
                ExprKind::Load(buffer, _) if *buffer == self.region.buffer => {
                    Expr::load(&self.cache, self.place.clone())
                }
                _ => e.clone(),
            })
        };
        rewrite_own(func, self.block, &mut load, &mut |stmt| match stmt {
            Stmt::Store { buffer, value, .. } if buffer == self.region.buffer => Stmt::Store {
                buffer: self.cache.clone(),
                indices: self.place.clone(),
                value,
            },
            other => other,
        });
        let node = &mut func.blocks[self.block];
        for region in node.reads.iter_mut().chain(&mut node.writes) {
            if region.buffer == self.region.buffer {
                *region = BufferRegion::point(&self.cache, &self.place);
            }
        }
        let Location { place, position } = self.location;
        insert_at(func, place, position, stmt);
        func.blocks[scope].alloc_buffers.push(self.cache);
        copy
    }

    /// Makes the loops and the block that copy, detached. Gives the block and the outermost statement.
    fn build(&self, func: &mut PrimFunc, direction: Direction) -> (BlockId, Stmt) {
        let node = &func.blocks[self.block];
        let mut renamed: Vec<(Var, Var)> = Vec::new();
        let fresh = |var: &Var| (var.clone(), var.renamed(var.name()));
        renamed.extend(self.loops.iter().map(|&l| fresh(&func.loops[l].var)));
        renamed.extend(self.iters.iter().map(|&at| fresh(&node.iters[at].var)));
        let new = |e: &Expr| {
            e.substitute(&|var| {
                let found = renamed.iter().find(|(old, _)| old == var);
                found.map(|(_, new)| new.expr())
            })
        };
        let var = |var: &Var| match new(&var.expr()).as_var() {
            Some(new) => new.clone(),
            None => var.clone(),
        };
        let gone = |l: &LoopId| !self.loops.contains(l) && is_below(func, *l, self.location.place);
        let around = func.loops_above(self.block.into());
        let others: Vec<&Var> = around
            .iter()
            .filter(|l| gone(l))
            .map(|&l| &func.loops[l].var)
            .collect();
        let conjuncts = node.predicate.conjuncts().into_iter();
        // A condition on other loops says nothing of the element.
        let kept = conjuncts.filter(|cond| !others.iter().any(|&other| cond.uses(other)));
        let predicate = new(&Expr::all(kept));
        let at_buffer: Vec<Expr> = self.region.region.iter().map(|r| new(&r.min)).collect();
        let at_cache: Vec<Expr> = self.place.iter().map(new).collect();
        let buffer = (&self.region.buffer, at_buffer);
        let cache = (&self.cache, at_cache);
        let ((from, from_at), (to, to_at)) = match direction {
            Direction::IntoCache => (buffer, cache),
            Direction::OutOfCache => (cache, buffer),
        };
        let iters = self.iters.iter().map(|&at| IterVar {
            var: var(&node.iters[at].var),
            dom: node.iters[at].dom.clone(),
            kind: IterKind::Spatial,
        });
        let block = Block {
            name: self.cache.name().to_owned(),
            iters: iters.collect(),
            bindings: self
                .iters
                .iter()
                .map(|&at| new(&node.bindings[at]))
                .collect(),
            predicate,
            reads: vec![BufferRegion::point(from, &from_at)],
            writes: vec![BufferRegion::point(to, &to_at)],
            init: None,
            alloc_buffers: vec![],
            match_buffers: vec![],
            annotations: Attrs::new(),
        };
        let loops: Vec<Loop> = self
            .loops
            .iter()
            .map(|&l| Loop {
                var: var(&func.loops[l].var),
                min: new(&func.loops[l].min),
                extent: new(&func.loops[l].extent),
                kind: LoopKind::Serial,
                annotations: Attrs::new(),
            })
            .collect();
        let store = Stmt::Store {
            buffer: to.clone(),
            indices: to_at,
            value: Expr::load(from, from_at),
        };
        let block = func.blocks.push(block);
        func.tree.set_body(block, vec![store]);
        let stmt = nest(func, loops, Stmt::Block(block));
        (block, stmt)
    }
}

/// Whether an instance of the block touches one element of the buffer, itself and by no other block.
pub(super) fn touches_one_element(
    func: &PrimFunc,
    block: BlockId,
    region: &BufferRegion,
    facts: &Analyzer,
) -> bool {
    let node = &func.blocks[block];
    let leaf = func.child_blocks(block.into()).is_empty() && node.match_buffers.is_empty();
    if !leaf || !region.region.iter().all(|range| range.extent.is_one()) {
        return false;
    }
    let mut one = true;
    let mut here = |buffer: &Buffer, indices: &[Expr]| {
        one &= *buffer != region.buffer
            || indices.len() == region.region.len()
                && indices
                    .iter()
                    .zip(&region.region)
                    .all(|(index, range)| facts.can_prove_equal(index, &range.min));
    };
    // A copy of the program is walked, since what a block executes itself is only rewritten.
    let mut copy = func.clone();
    let mut stored = Vec::new();
    rewrite_own(
        &mut copy,
        block,
        &mut |e| {
            e.walk(&mut |e| {
                match e.kind() {
                    ExprKind::Load(buffer, indices) => here(buffer, indices),
                    ExprKind::Data(buffer) => here(buffer, &[]),
                    _ => {}
                }
                true
            });
            e.clone()
        },
        &mut |stmt| {
            if let Stmt::Store {
                buffer, indices, ..
            } = &stmt
            {
                stored.push((buffer.clone(), indices.clone()));
            }
            stmt
        },
    );
    stored.iter().for_each(|(buffer, at)| here(buffer, at));
    one
}

/// Whether each instance of the block loads or stores the element, whatever its conditions say.
pub(super) fn always_touches(func: &PrimFunc, block: BlockId, buffer: &Buffer) -> bool {
    fn loads(e: &Expr, buffer: &Buffer) -> bool {
        match e.kind() {
            ExprKind::Load(from, _) if from == buffer => true,
            ExprKind::Select(cond, _, _) | ExprKind::IfThenElse(cond, _, _) => loads(cond, buffer),
            _ => e.children().into_iter().any(|child| loads(child, buffer)),
        }
    }
    fn touches(stmts: &[Stmt], buffer: &Buffer) -> bool {
        stmts.iter().any(|stmt| match stmt {
            Stmt::Store {
                buffer: to, value, ..
            } => to == buffer || loads(value, buffer),
            Stmt::Let { value, body, .. } => loads(value, buffer) || touches(body, buffer),
            _ => false,
        })
    }
    touches(func.tree.body(block), buffer)
}

/// Whether the element lies in the buffer for all values of the iter variables: the copy is made even of what the block does not
/// load because of a condition.
pub(super) fn stays_inside(region: &BufferRegion, node: &Block, facts: &Analyzer) -> bool {
    let mut facts = facts.clone();
    for iter in &node.iters {
        facts.bind(&iter.var, &iter.dom);
    }
    let mut dims = region.region.iter().zip(region.buffer.shape());
    dims.all(|(range, extent)| {
        let index = &range.min;
        let first = Expr::int(0, index.dtype());
        facts.can_prove(&index.ge(&first)) && facts.can_prove(&index.lt(extent))
    })
}

/// The results of the map for the block's iter variables.
pub(super) fn mapped(node: &Block, map: &Lambda) -> Result<Vec<Expr>, Reason> {
    if map.params.len() != node.iters.len() {
        return Err(Reason::MapArity {
            map: map.to_string(),
            block: node.name.clone(),
            iters: node.iters.len(),
        });
    }
    let dtypes = node.iters.iter().map(|iter| iter.var.dtype());
    let index = dtypes.max_by_key(|dtype| dtype.bytes());
    let value = |e: &Expr| in_terms_of(e, map, node, index.unwrap_or(DType::I64));
    Ok(map.results.iter().map(value).collect())
}

/// An expression of a map's parameters in the type of the iter variables that stand for them.
fn in_terms_of(e: &Expr, map: &Lambda, node: &Block, index: DType) -> Expr {
    let part = |e: &Expr| in_terms_of(e, map, node, index);
    match e.kind() {
        ExprKind::Var(var) => match map.params.iter().position(|param| param == var) {
            Some(at) => node.iters[at].var.expr(),
            None => e.clone(),
        },
        ExprKind::Binary(op, a, b) => Expr::binary(*op, part(a), part(b)),
        _ => e
            .as_int()
            .map_or_else(|| e.clone(), |v| Expr::int(v, index)),
    }
}

/// The extents of indices that start with 0.
pub(super) fn extents(
    place: &[Expr],
    domains: &[(Var, Range)],
    facts: &Analyzer,
) -> Option<Vec<Expr>> {
    let domain = |var: &Var| {
        let found = domains.iter().find(|(own, _)| own == var);
        found.map(|(_, range)| IntSet::from_range(range))
    };
    let extent = |index: &Expr| {
        let range = eval_set(index, &domain, facts).to_range(facts)?;
        facts
            .can_prove_equal(&range.min, &Expr::int(0, range.min.dtype()))
            .then_some(range.extent)
    };
    place.iter().map(extent).collect()
}

/// Whether no two elements share a place. A division need not come out even: places of a larger domain are told apart then.
pub(super) fn is_injective(place: &[Expr], domains: &[(Var, Range)], facts: &Analyzer) -> bool {
    let bijective = |domains: &[(Var, Range)]| {
        let mut facts = facts.clone();
        domains
            .iter()
            .for_each(|(var, range)| facts.bind(var, range));
        let condition = Expr::bool(true);
        let (level, units) = (IterMapLevel::Bijective, UnitIters::Simplify);
        detect_iter_map(&facts, place, domains, &condition, level, units).is_ok()
    };
    let even: Vec<(Var, Range)> = domains
        .iter()
        .map(|(var, range)| {
            let divisor = place.iter().map(|e| divisor(e, var)).fold(1, lcm);
            let extent = (&range.extent + (divisor - 1)).floor_div(divisor) * divisor;
            let extent = facts.simplify(&extent);
            let min = range.min.clone();
            (var.clone(), Range { min, extent })
        })
        .collect();
    bijective(domains) || bijective(&even)
}

/// The least common multiple of the numbers by which the variable alone is divided.
fn divisor(e: &Expr, var: &Var) -> i64 {
    let mut divisor = 1;
    e.walk(&mut |e| {
        if let ExprKind::Binary(BinOp::FloorDiv | BinOp::FloorMod, a, b) = e.kind()
            && a.as_var() == Some(var)
            && let Some(by) = b.as_int().filter(|by| (1..1 << 20).contains(by))
        {
            divisor = lcm(divisor, by);
        }
        true
    });
    divisor
}

fn lcm(a: i64, b: i64) -> i64 {
    let (mut x, mut y) = (a, b);
    while y != 0 {
        (x, y) = (y, x % y);
    }
    (a / x).saturating_mul(b)
}

fn is_below(func: &PrimFunc, l: LoopId, place: Place) -> bool {
    Place::Loop(l) != place && func.tree.is_ancestor(place, l)
}

/// The loops around a block below a place that the bindings depend on, outermost first.
fn loops_of(func: &PrimFunc, block: BlockId, bindings: &[&Expr], below: Place) -> Vec<LoopId> {
    let around = func.loops_above(block.into());
    let inner = around.into_iter().filter(|&l| is_below(func, l, below));
    let mut needed: Vec<LoopId> = Vec::new();
    for l in inner.collect::<Vec<_>>().into_iter().rev() {
        let var = &func.loops[l].var;
        let bounds = needed.iter().map(|&l: &LoopId| &func.loops[l]);
        let bounded = bounds
            .into_iter()
            .any(|inner| inner.min.uses(var) || inner.extent.uses(var));
        if bounded || bindings.iter().any(|binding| binding.uses(var)) {
            needed.push(l);
        }
    }
    needed.reverse();
    needed
}
