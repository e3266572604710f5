//! Reductions over threads: each thread combines its share into a register, then the workgroup halves an array in shared
//! memory until one value is left.
//!
//! Reference: Harris, "Optimizing Parallel Reduction in CUDA" (2007), kernel 3; the order of the sum is fixed by the number
//! of threads, so results are reproducible.

use super::nest::Unblock;
use super::node::{AxisSet, Node, branch};
use super::storage::Memory;
use super::{LowerError, LowerProblem};
use crate::arith::Analyzer;
use crate::ir::{
    BlockId, Buffer, Expr, ExprKind, IterKind, LoopId, LoopKind, Place, PrimFunc, Scope, Stmt,
    ThreadAxis, Var,
};
use crate::tensor::DType;
use crate::tensor::scalar::BinOp;

/// The block that a loop is the outermost reduce loop of, if it reduces over threads. Other blocks in the loops feed it.
pub(super) fn reduction_below(func: &PrimFunc, top: LoopId) -> Option<BlockId> {
    func.child_blocks(Place::Loop(top))
        .into_iter()
        .find(|&block| {
            let loops = reduce_loops(func, block);
            let over_threads = loops.iter().any(|&l| thread_axis(func, l).is_some());
            over_threads && loops.first() == Some(&top)
        })
}

fn thread_axis(func: &PrimFunc, id: LoopId) -> Option<ThreadAxis> {
    match func.loops[id].kind {
        LoopKind::ThreadBinding(axis) if axis.is_thread() => Some(axis),
        LoopKind::ThreadBinding(_)
        | LoopKind::Serial
        | LoopKind::Parallel
        | LoopKind::Vectorized
        | LoopKind::Unrolled => None,
    }
}

/// The loops around a block that its reduce iters depend on, outermost first.
fn reduce_loops(func: &PrimFunc, block: BlockId) -> Vec<LoopId> {
    let reduce = bindings(func, block, IterKind::Reduce);
    let mut loops = func.loops_above(block.into());
    loops.retain(|&l| reduce.iter().any(|b| b.uses(&func.loops[l].var)));
    loops
}

/// What the iters of a kind are bound to.
fn bindings(func: &PrimFunc, block: BlockId, kind: IterKind) -> Vec<&Expr> {
    let block = &func.blocks[block];
    let iters = block.iters.iter().zip(&block.bindings);
    iters
        .filter(|(iter, _)| iter.kind == kind)
        .map(|(_, binding)| binding)
        .collect()
}

/// What a reduction block does: `target = target op share`, with `target` first set to `init`.
struct Reduction {
    target: Buffer,
    indices: Vec<Expr>,
    op: BinOp,
    share: Expr,
    init: Option<Expr>,
}

pub(super) fn lower(
    at: &mut Unblock<'_>,
    top: LoopId,
    block: BlockId,
) -> Result<Vec<Node>, LowerError> {
    let func = at.func;
    let refuse = |reason| {
        let problem = LowerProblem::ThreadReduction {
            block: func.blocks[block].name.clone(),
            reason,
        };
        LowerError::from(problem).or_at(&[block.into()])
    };
    let reduction = match_reduction(func, block).map_err(refuse)?;
    let reduce = reduce_loops(func, block);
    let spatial = bindings(func, block, IterKind::Spatial);
    let mixed = |&l: &LoopId| spatial.iter().any(|b| b.uses(&func.loops[l].var));
    if reduce.iter().any(mixed) {
        return Err(refuse("a loop chooses elements and terms together"));
    }
    let chain: Vec<LoopId> = {
        let mut chain = func.loops_above(block.into());
        let start = chain.iter().position(|&l| l == top).unwrap_or(0);
        chain.split_off(start)
    };
    for &l in &chain {
        let last = func.tree.body(l).last();
        let holds_block = |stmt: &Stmt| match stmt {
            Stmt::Loop(inner) => func.tree.is_ancestor(*inner, block),
            Stmt::Block(inner) => *inner == block,
            _ => false,
        };
        if !last.is_some_and(holds_block) {
            return Err(refuse("other statements follow it in its loops"));
        }
        if !reduce.contains(&l) && thread_axis(func, l).is_none() && !func.loops[l].extent.is_one()
        {
            return Err(refuse("a spatial loop stands inside its reduce loops"));
        }
    }
    let axes: Vec<ThreadAxis> = reduce
        .iter()
        .filter_map(|&l| thread_axis(func, l))
        .collect();
    let [axis] = axes.as_slice() else {
        return Err(refuse("over more than one threadIdx axis"));
    };
    let dtype = reduction.target.dtype();
    let identity =
        identity(reduction.op, dtype).ok_or_else(|| refuse("the operator has no identity"))?;
    let mut lowering = Lowering {
        reduction,
        block,
        axis: *axis,
        name: func.blocks[block].name.clone(),
        identity,
        outside: at.analyzer.clone(),
        tail: vec![],
    };
    lowering.nodes(at, &chain)
}

struct Lowering {
    reduction: Reduction,
    block: BlockId,
    axis: ThreadAxis,
    name: String,
    identity: Expr,
    /// What is known outside of the reduce loops, which may have no iteration.
    outside: Analyzer,
    /// What follows the accumulation; made inside the loops, where all variables are known.
    tail: Vec<Node>,
}

impl Lowering {
    fn nodes(&mut self, at: &mut Unblock<'_>, chain: &[LoopId]) -> Result<Vec<Node>, LowerError> {
        let dtype = self.reduction.target.dtype();
        let acc = array(&format!("{}_part", self.name), 1, dtype, Scope::Local);
        at.nest.added.push((acc.clone(), Memory::Local));
        let mut out = vec![store(&acc, Expr::i32(0), self.identity.clone())];
        out.extend(self.inside(at, chain, &acc)?);
        out.append(&mut self.tail);
        Ok(out)
    }

    fn inside(
        &mut self,
        at: &mut Unblock<'_>,
        chain: &[LoopId],
        acc: &Buffer,
    ) -> Result<Vec<Node>, LowerError> {
        if let [first, rest @ ..] = chain {
            return at.with_loop(*first, |at, body| {
                let feeding = body.split_last().map_or(&[][..], |(_, before)| before);
                let mut nodes = at.stmts(feeding)?;
                nodes.extend(self.inside(at, rest, acc)?);
                Ok(nodes)
            });
        }
        at.enter_block(self.block)?;
        let predicate = at.expr(&at.func.blocks[self.block].predicate);
        let part = Expr::load(acc, vec![Expr::i32(0)]);
        let value = Expr::binary(
            self.reduction.op,
            part.clone(),
            at.expr(&self.reduction.share),
        );
        let inside = std::mem::replace(&mut at.analyzer, self.outside.clone());
        let stays = at.expr(&at.func.blocks[self.block].predicate);
        self.tail = self.combine(at, &part, &stays)?;
        at.analyzer = inside;
        Ok(branch(predicate, vec![store(acc, Expr::i32(0), value)]))
    }

    /// Halves the shared array along the axis until its first element is the result, and stores that.
    fn combine(
        &self,
        at: &mut Unblock<'_>,
        part: &Expr,
        predicate: &Expr,
    ) -> Result<Vec<Node>, LowerError> {
        let mut threads = Vec::new();
        for (axis, known) in &at.nest.axes {
            if axis.is_thread() {
                let extent = known
                    .extent
                    .as_int()
                    .ok_or_else(|| LowerProblem::NotConstant {
                        what: axis.name().into(),
                        extent: known.extent.clone(),
                    })?;
                threads.push((*axis, known.var.clone(), extent));
            }
        }
        // In the order of threads, so that those that run in step touch neighbours.
        threads.sort_by_key(|(axis, _, _)| *axis);
        let own = threads.iter().position(|(axis, _, _)| *axis == self.axis);
        let (_, lane_var, lanes) = threads[own.unwrap_or(0)].clone();
        let lane = lane_var.expr();
        let dtype = lane_var.dtype();
        let (mut base, mut stride, mut step) = (Expr::int(0, dtype), 1, 1);
        for (axis, var, extent) in &threads {
            if *axis == self.axis {
                step = stride;
            } else {
                base = base + var.expr().cast(dtype) * Expr::int(stride, dtype);
            }
            stride *= extent;
        }
        let total: i64 = threads.iter().map(|(_, _, n)| n).product();
        let shared = array(
            &format!("{}_parts", self.name),
            total,
            self.reduction.target.dtype(),
            Scope::Shared,
        );
        at.nest.added.push((shared.clone(), Memory::Shared));
        let slot = |lane: Expr| {
            at.analyzer
                .simplify(&(&base + lane * Expr::int(step, dtype)))
        };
        let mut out = vec![store(&shared, slot(lane.clone()), part.clone())];
        let mut left = lanes;
        while left > 1 {
            let half = (left + 1) / 2;
            let load = |offset: Expr| Expr::load(&shared, vec![slot(offset)]);
            let sum = Expr::binary(
                self.reduction.op,
                load(lane.clone()),
                load(&lane + Expr::int(half, dtype)),
            );
            out.extend(branch(
                lane.lt(Expr::int(left - half, dtype)),
                vec![store(&shared, slot(lane.clone()), sum)],
            ));
            left = half;
        }
        let result = Expr::load(&shared, vec![slot(Expr::int(0, dtype))]);
        out.extend(self.store_result(at, &lane, result, predicate));
        Ok(out)
    }

    fn store_result(
        &self,
        at: &Unblock<'_>,
        lane: &Expr,
        result: Expr,
        predicate: &Expr,
    ) -> Vec<Node> {
        let r = &self.reduction;
        let indices: Vec<Expr> = r.indices.iter().map(|i| at.index(i)).collect();
        let before = match &r.init {
            Some(init) if *init == self.identity => None,
            Some(init) => Some(at.expr(init)),
            None => Some(Expr::load(&r.target, indices.clone())),
        };
        let value = before.map_or(result.clone(), |b| Expr::binary(r.op, b, result));
        let node = Node::Store {
            buffer: r.target.clone(),
            indices,
            value,
            axes: at.bound.with(self.axis),
        };
        let reduce_vars: Vec<Var> = at.func.blocks[self.block]
            .iters
            .iter()
            .filter(|i| i.kind == IterKind::Reduce)
            .filter_map(|i| at.map.get(&i.var))
            .flat_map(Expr::free_vars)
            .collect();
        let shared = |c: &Expr| !c.free_vars().iter().any(|v| reduce_vars.contains(v));
        let spatial = Expr::all(predicate.conjuncts().into_iter().filter(shared));
        let own = if at.memory_plan.of(&r.target) == Memory::Local {
            Expr::bool(true)
        } else {
            lane.equals(Expr::int(0, lane.dtype()))
        };
        branch(own.and(spatial), vec![node])
    }
}

fn match_reduction(func: &PrimFunc, block: BlockId) -> Result<Reduction, &'static str> {
    let [
        Stmt::Store {
            buffer,
            indices,
            value,
        },
    ] = func.tree.body(block)
    else {
        return Err("its body is not one store");
    };
    let itself = Expr::load(buffer, indices.clone());
    let ExprKind::Binary(op, a, b) = value.kind() else {
        return Err("the stored value is not `target op share`");
    };
    let share = match (*a == itself, *b == itself) {
        (true, false) => b,
        (false, true) if !matches!(op, BinOp::Sub | BinOp::Div) => a,
        _ => return Err("the stored value is not `target op share`"),
    };
    let mut reads_target = false;
    share.walk(&mut |e| {
        reads_target |= matches!(e.kind(), ExprKind::Load(b, _) if b == buffer);
        !reads_target
    });
    if reads_target {
        return Err("what is added reads the target");
    }
    let init = match func.blocks[block].init.as_deref() {
        None => None,
        Some(
            [
                Stmt::Store {
                    buffer: b,
                    indices: i,
                    value,
                },
            ],
        ) if b == buffer && i == indices => Some(value.clone()),
        Some(_) => return Err("its init is not one store to the same element"),
    };
    Ok(Reduction {
        target: buffer.clone(),
        indices: indices.clone(),
        op: *op,
        share: share.clone(),
        init,
    })
}

/// The value that changes nothing.
fn identity(op: BinOp, dtype: DType) -> Option<Expr> {
    let limits = || {
        if dtype.is_float() {
            Some((
                Expr::float(f64::NEG_INFINITY, dtype),
                Expr::float(f64::INFINITY, dtype),
            ))
        } else {
            let (low, high) = dtype.scalar.int_range()?;
            Some((Expr::int(low, dtype), Expr::int(high, dtype)))
        }
    };
    match op {
        BinOp::Add | BinOp::BitOr | BinOp::BitXor | BinOp::Or => Some(Expr::constant(0, dtype)),
        BinOp::Mul | BinOp::And => Some(Expr::constant(1, dtype)),
        BinOp::Max => limits().map(|(low, _)| low),
        BinOp::Min => limits().map(|(_, high)| high),
        BinOp::BitAnd if dtype.is_int() => Some(Expr::int(
            crate::tensor::scalar::wrap_int(-1, dtype.scalar),
            dtype,
        )),
        _ => None,
    }
}

fn array(name: &str, len: i64, dtype: DType, scope: Scope) -> Buffer {
    Buffer::with_scope(name, vec![Expr::i64(len)], dtype, scope)
}

fn store(buffer: &Buffer, index: Expr, value: Expr) -> Node {
    Node::Store {
        buffer: buffer.clone(),
        indices: vec![index],
        value,
        axes: AxisSet::ALL,
    }
}
