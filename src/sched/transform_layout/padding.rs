//! How the places of no element get their value.

use super::layout_map::LayoutMap;
use super::writes::{Write, writes_of};
use crate::ir::{
    Attrs, Block, BlockId, Buffer, BufferRegion, Definitions, Expr, IterKind, IterVar, Loop,
    LoopId, LoopKind, Place, PrimFunc, Range, Stmt, Substitution, Var,
};
use crate::sched::analysis::check_complete_or_reduction_block;
use crate::sched::body::{insert_at, nest, position_of, rewrite_own};
use crate::tensor::scalar::BinOp;

/// What writes the padding.
pub(super) enum Padding {
    /// There is none.
    Nowhere,
    /// Nobody writes the buffer: the caller has written it.
    Assumed(Expr),
    /// Blocks that write all elements write all places instead.
    Written(Expr, Vec<Traversal>),
    /// A block of its own, after this statement.
    After(Expr, Place),
}

/// A block that writes all elements, one by one in the order of their indices.
pub(super) struct Traversal {
    block: BlockId,
    old: Buffer,
    /// The loops over the indices, outermost first.
    loops: Vec<LoopId>,
    /// Position of the first of the iter variables that are the indices.
    first: usize,
}

impl Padding {
    pub(super) fn plan(
        func: &PrimFunc,
        site: BlockId,
        buffer: &Buffer,
        map: &LayoutMap,
        value: &Expr,
    ) -> Self {
        let writes = writes_of(func, site, buffer);
        let Some(last) = writes.last() else {
            return Self::Assumed(value.clone());
        };
        let mut traversals: Vec<Traversal> = Vec::new();
        for write in &writes {
            let known = traversals.iter().any(|t| t.block == write.block);
            if !known && let Some(traversal) = Traversal::find(func, buffer, write) {
                traversals.push(traversal);
            }
        }
        debug_assert_eq!(map.inverse.len(), buffer.ndim(), "the map was inverted");
        if traversals.is_empty() {
            Self::After(value.clone(), last.statement())
        } else {
            Self::Written(value.clone(), traversals)
        }
    }

    pub(super) fn apply(
        &self,
        func: &mut PrimFunc,
        site: BlockId,
        buffer: &Buffer,
        map: &LayoutMap,
    ) {
        match self {
            Self::Nowhere => {}
            Self::Assumed(value) => {
                let stmt = assumption(func, buffer, map, value);
                insert_at(func, site.into(), 0, stmt);
            }
            Self::Written(value, traversals) => {
                for traversal in traversals {
                    traversal.apply(func, buffer, map, value);
                }
            }
            Self::After(value, place) => {
                let stmt = filling(func, buffer, map, value);
                if let Some(parent) = func.tree.parent(*place)
                    && let Some(at) = position_of(func, parent, *place)
                {
                    insert_at(func, parent, at + 1, stmt);
                }
            }
        }
    }
}

impl Traversal {
    fn find(func: &PrimFunc, buffer: &Buffer, write: &Write) -> Option<Self> {
        if !write.is_row_major(func, buffer) {
            return None;
        }
        let node = &func.blocks[write.block];
        let (&inner, outer) = write.loops.split_last()?;
        let alone = |pair: &[LoopId]| {
            let is_next = |stmt: &Stmt| matches!(stmt, Stmt::Loop(id) if *id == pair[1]);
            matches!(func.tree.body(pair[0]), [only] if is_next(only))
        };
        let chained = outer.is_empty() || write.loops.windows(2).all(alone);
        let only_block = func.child_blocks(inner.into()) == [write.block]
            && func.child_blocks(write.block.into()).is_empty();
        let scope = func.scope_block(write.block.into())?;
        let independent = check_complete_or_reduction_block(func, write.block, scope.into());
        let first = node
            .iters
            .iter()
            .position(|iter| write.indices[0].as_var() == Some(&iter.var))?;
        let iters = node.iters.get(first..first + buffer.ndim())?;
        let named = iters.iter().zip(&write.indices).all(|(iter, index)| {
            iter.kind == IterKind::Spatial && index.as_var() == Some(&iter.var)
        });
        let all = node.predicate.as_bool() == Some(true)
            && stores_only(func, write.block, buffer, &write.indices);
        (chained && only_block && independent.is_ok() && named && all).then(|| Self {
            block: write.block,
            old: buffer.clone(),
            loops: write.loops.clone(),
            first,
        })
    }

    /// Lets the block go over all places instead, and write the value to those of no element.
    fn apply(&self, func: &mut PrimFunc, buffer: &Buffer, map: &LayoutMap, value: &Expr) {
        let loops = loops_over(map);
        let inner = self.loops[self.loops.len() - 1];
        let body = func.tree.take_body(inner);
        let mut outside = Substitution::new(Definitions::Kept);
        let at_loops: Vec<Expr> = loops.iter().map(|l| l.var.expr()).collect();
        for (&l, old_index) in self.loops.iter().zip(&map.inverse) {
            outside.set_var(&func.loops[l].var, in_places(old_index, map, &at_loops));
        }
        let new_iters = iters_over(map);
        let at: Vec<Expr> = new_iters.iter().map(|iter| iter.var.expr()).collect();
        let mut inside = Substitution::new(Definitions::Kept);
        let node = &mut func.blocks[self.block];
        let old_iters = self.first..self.first + self.loops.len();
        for (iter, old_index) in node.iters[old_iters.clone()].iter().zip(&map.inverse) {
            inside.set_var(&iter.var, in_places(old_index, map, &at));
        }
        node.iters.splice(old_iters.clone(), new_iters);
        node.bindings.splice(old_iters, at_loops);
        let place = self.loops[0];
        let innermost = loops.len();
        let mut stmts = body;
        let mut ids = Vec::with_capacity(innermost);
        for l in loops.into_iter().rev() {
            let id = func.loops.push(l);
            func.tree.set_body(id, stmts);
            stmts = vec![Stmt::Loop(id)];
            ids.push(id);
        }
        func.tree.replace(place, stmts);
        for &l in &self.loops {
            func.loops.remove(l);
        }
        let padding = in_places(&map.padding, map, &at);
        if let Some(&innermost) = ids.first() {
            for child in func.tree.children(innermost) {
                func.map_below(child, &mut outside);
            }
        }
        func.map_below(self.block, &mut inside);
        rewrite_own(func, self.block, &mut Expr::clone, &mut |stmt| match stmt {
            Stmt::Store {
                buffer: to,
                indices: _,
                value: element,
            } if to == self.old => Stmt::Store {
                buffer: buffer.clone(),
                indices: at.clone(),
                value: Expr::if_then_else(padding.clone(), value.clone(), element),
            },
            other => other,
        });
    }
}

/// Whether all stores of a block are to the buffer at these indices.
fn stores_only(func: &PrimFunc, block: BlockId, buffer: &Buffer, indices: &[Expr]) -> bool {
    let mut copy = func.clone();
    let mut only = true;
    rewrite_own(&mut copy, block, &mut Expr::clone, &mut |stmt| {
        if let Stmt::Store {
            buffer: to,
            indices: at,
            value: _,
        } = &stmt
        {
            only &= to == buffer && at == indices;
        }
        stmt
    });
    only
}

/// An expression of places for others.
fn in_places(e: &Expr, map: &LayoutMap, places: &[Expr]) -> Expr {
    e.substitute(&|var| {
        let at = map.places.iter().position(|place| place == var)?;
        Some(places[at].clone())
    })
}

fn loops_over(map: &LayoutMap) -> Vec<Loop> {
    let pairs = map.places.iter().zip(&map.shape);
    let l = |(place, extent): (&Var, &Expr)| Loop {
        var: place.renamed(place.name()),
        min: Expr::int(0, extent.dtype()),
        extent: extent.clone(),
        kind: LoopKind::Serial,
        annotations: Attrs::new(),
    };
    pairs.map(l).collect()
}

fn iters_over(map: &LayoutMap) -> Vec<IterVar> {
    let pairs = map.places.iter().zip(&map.shape);
    let iter = |(place, extent): (&Var, &Expr)| IterVar {
        var: place.renamed(format!("v_{}", place.name())),
        dom: Range::to(extent.clone()),
        kind: IterKind::Spatial,
    };
    pairs.map(iter).collect()
}

/// A block over all places with one statement, in loops of its own.
fn over_places(
    func: &mut PrimFunc,
    map: &LayoutMap,
    make: impl FnOnce(&[Expr], &[Expr]) -> (Block, Stmt),
) -> Stmt {
    let (loops, iters) = (loops_over(map), iters_over(map));
    let at_loops: Vec<Expr> = loops.iter().map(|l| l.var.expr()).collect();
    let at: Vec<Expr> = iters.iter().map(|iter| iter.var.expr()).collect();
    let (block, stmt) = make(&at_loops, &at);
    let block = func.blocks.push(Block {
        iters,
        bindings: at_loops,
        ..block
    });
    func.tree.set_body(block, vec![stmt]);
    nest(func, loops, Stmt::Block(block))
}

/// Assumes that the padding has its value.
fn assumption(func: &mut PrimFunc, buffer: &Buffer, map: &LayoutMap, value: &Expr) -> Stmt {
    over_places(func, map, |_, at| {
        let padding = in_places(&map.padding, map, at);
        let has_value = Expr::load(buffer, at.to_vec()).equals(value);
        let block = Block {
            reads: vec![BufferRegion::point(buffer, at)],
            ..Block::named(format!("buffer_{}_assumptions", buffer.name()))
        };
        let known = Expr::binary(BinOp::Or, padding.not(), has_value);
        (block, Stmt::Evaluate(Expr::assume(known)))
    })
}

/// Writes the padding.
fn filling(func: &mut PrimFunc, buffer: &Buffer, map: &LayoutMap, value: &Expr) -> Stmt {
    over_places(func, map, |at_loops, at| {
        let block = Block {
            predicate: in_places(&map.padding, map, at_loops),
            writes: vec![BufferRegion::point(buffer, at)],
            ..Block::named(format!("buffer_{}_padding", buffer.name()))
        };
        let store = Stmt::Store {
            buffer: buffer.clone(),
            indices: at.to_vec(),
            value: value.clone(),
        };
        (block, store)
    })
}
