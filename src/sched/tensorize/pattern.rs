//! Whether the body of a block is what a tensor intrinsic describes: the description is put in its place, on the regions that the
//! block uses, and both are compared. Loops and indices may be of `int32` or of `int64`: their values count. Data must have the types of
//! the description. Factors may come in either order.

use super::{TensorIntrin, region_at};
use crate::arith::{Analyzer, access_regions};
use crate::ir::{
    Access, BlockId, Buffer, BufferRegion, Definitions, Expr, ExprKind, PrimFunc, Range, Stmt,
    Substitution, alpha_eq,
};
use crate::sched::analysis::facts_inside;
use crate::sched::body::rewrite_own;
use crate::sched::widen_indices;
use crate::tensor::scalar::BinOp;

/// A buffer of the description and where its first element is.
struct Operand {
    tile: Buffer,
    buffer: Buffer,
    first: Vec<Expr>,
}

/// The regions that the parameters of the intrinsic stand for in the block, or the first difference from its description.
pub(super) fn regions(
    func: &PrimFunc,
    block: BlockId,
    intrin: &TensorIntrin,
) -> Result<Vec<BufferRegion>, String> {
    let description = &intrin.description;
    regions_of(func, block, description).or_else(|difference| {
        let exchanged = factors_exchanged(description);
        regions_of(func, block, &exchanged).map_err(|_| difference)
    })
}

/// The description with the factors of its products in the other order, which makes no difference to numbers.
fn factors_exchanged(description: &PrimFunc) -> PrimFunc {
    let mut exchanged = description.clone();
    for block in description.blocks_within(description.root.into()) {
        let mut exchange = |e: &Expr| {
            e.rewrite_bottom_up(&mut |e| match e.kind() {
                ExprKind::Binary(BinOp::Mul, a, b) if a.loads() && b.loads() => b * a,
                _ => e.clone(),
            })
        };
        rewrite_own(&mut exchanged, block, &mut exchange, &mut |store| store);
        // What is read is declared in the order in which it is.
        let order = accessed(&exchanged, block);
        let reads = &mut exchanged.blocks[block].reads;
        reads.sort_by_key(|read| order.iter().position(|buffer| *buffer == read.buffer));
    }
    exchanged
}

fn regions_of(
    func: &PrimFunc,
    block: BlockId,
    description: &PrimFunc,
) -> Result<Vec<BufferRegion>, String> {
    let operands = operands(func, block, description)?;
    let mut wanted = func.clone();
    let inner = func.blocks_under(block.into());
    wanted.tree.take_body(block);
    let mut fresh = Substitution::new(Definitions::Fresh);
    wanted.import(description, block, &mut fresh);
    let described = wanted.blocks_under(block.into());
    if inner.len() != described.len() {
        let (here, there) = (inner.len() - 1, described.len() - 1);
        return Err(format!("{here} blocks inside, not {there}"));
    }
    for (&here, &there) in inner.iter().zip(&described) {
        wanted.blocks[there].name = func.blocks[here].name.clone();
    }
    for block in wanted.blocks_within(block.into()) {
        place_operands(&mut wanted, block, &operands);
    }
    let mut have = func.clone();
    for side in [&mut have, &mut wanted] {
        widen_indices(side, block);
        for block in side.blocks_within(block.into()) {
            simplify(side, block);
        }
    }
    alpha_eq::prim_func(&wanted, &have).map_err(|difference| difference.to_string())?;
    let region = |param: &Buffer| {
        let found = operands.iter().find(|operand| operand.tile == *param);
        let found = found.ok_or_else(|| format!("`{}` is not used", param.name()))?;
        Ok(region_at(&found.buffer, &found.first, param))
    };
    description.buffer_params().map(region).collect()
}

/// The buffers that stand for those of the description: they are accessed in the same order.
fn operands(
    func: &PrimFunc,
    block: BlockId,
    description: &PrimFunc,
) -> Result<Vec<Operand>, String> {
    let here = accessed(func, block);
    let there = accessed(description, description.root);
    if here.len() != there.len() {
        return Err(format!("{} accesses, not {}", here.len(), there.len()));
    }
    let node = &func.blocks[block];
    let of_tiles = access_regions(description, description.root);
    let facts = facts_inside(func, block);
    let mut out: Vec<Operand> = Vec::new();
    for (buffer, tile) in here.into_iter().zip(there) {
        let names = || (buffer.name().to_owned(), tile.name().to_owned());
        let known = |operand: &&Operand| operand.tile == tile || operand.buffer == buffer;
        if let Some(known) = out.iter().find(known) {
            if known.tile != tile || known.buffer != buffer {
                let (buffer, tile) = names();
                return Err(format!("`{buffer}` stands for `{tile}` and another buffer"));
            }
            continue;
        }
        if !description.buffer_params().any(|param| *param == tile) {
            continue;
        }
        let declared = Access {
            reads: node.reads.clone(),
            writes: node.writes.clone(),
        };
        let fits = buffer.dtype() == tile.dtype() && buffer.ndim() >= tile.ndim();
        let found = region_of(&declared, &buffer).zip(region_of(&of_tiles, &tile));
        let Some((region, of_tile)) = found.filter(|_| fits) else {
            let (buffer, tile) = names();
            return Err(format!("`{buffer}` cannot stand for `{tile}`"));
        };
        let outer = buffer.ndim() - tile.ndim();
        let first = |(at, range): (usize, &Range)| match at.checked_sub(outer) {
            None => range.min.clone(),
            Some(dim) => {
                let offset = of_tile.region[dim].min.cast(range.min.dtype());
                facts.simplify(&(&range.min - offset))
            }
        };
        out.push(Operand {
            first: region.region.iter().enumerate().map(first).collect(),
            tile,
            buffer,
        });
    }
    Ok(out)
}

fn region_of<'a>(access: &'a Access, buffer: &Buffer) -> Option<&'a BufferRegion> {
    let mut regions = access.writes.iter().chain(&access.reads);
    regions.find(|region| region.buffer == *buffer)
}

/// The buffers that a block and the blocks inside store and load, in program order.
fn accessed(func: &PrimFunc, block: BlockId) -> Vec<Buffer> {
    fn stmts(func: &PrimFunc, body: &[Stmt], out: &mut Vec<Buffer>) {
        for stmt in body {
            if let Stmt::Store { buffer, .. } = stmt {
                out.push(buffer.clone());
            }
            for e in stmt.exprs() {
                e.walk(&mut |e| {
                    if let ExprKind::Load(buffer, _) = e.kind() {
                        out.push(buffer.clone());
                    }
                    true
                });
            }
            match stmt {
                Stmt::Loop(id) => stmts(func, func.tree.body(*id), out),
                Stmt::Block(id) => {
                    let init = func.blocks[*id].init.as_deref();
                    stmts(func, init.unwrap_or_default(), out);
                    stmts(func, func.tree.body(*id), out);
                }
                other => other
                    .nested()
                    .into_iter()
                    .for_each(|inner| stmts(func, inner, out)),
            }
        }
    }
    let mut out = Vec::new();
    stmts(func, func.tree.body(block), &mut out);
    out
}

/// Lets a block of the description use the buffers that stand for its own.
fn place_operands(func: &mut PrimFunc, block: BlockId, operands: &[Operand]) {
    let of = |tile: &Buffer| operands.iter().find(|operand| operand.tile == *tile);
    let shifted = |operand: &Operand, indices: &[Expr]| -> Vec<Expr> {
        let outer = operand.first.len() - indices.len();
        let at = |(dim, first): (usize, &Expr)| match dim.checked_sub(outer) {
            None => first.clone(),
            Some(dim) => first + indices[dim].cast(first.dtype()),
        };
        operand.first.iter().enumerate().map(at).collect()
    };
    let mut load = |e: &Expr| {
        e.rewrite_bottom_up(&mut |e| match e.kind() {
            ExprKind::Load(tile, indices) => match of(tile) {
                Some(operand) => Expr::load(&operand.buffer, shifted(operand, indices)),
                None => e.clone(),
            },
            _ => e.clone(),
        })
    };
    let mut store = |stmt: Stmt| match stmt {
        Stmt::Store {
            buffer,
            indices,
            value,
        } => match of(&buffer) {
            Some(operand) => Stmt::Store {
                buffer: operand.buffer.clone(),
                indices: shifted(operand, &indices),
                value,
            },
            None => Stmt::Store {
                buffer,
                indices,
                value,
            },
        },
        other => other,
    };
    rewrite_own(func, block, &mut load, &mut store);
    let node = &mut func.blocks[block];
    for region in node.reads.iter_mut().chain(&mut node.writes) {
        if let Some(operand) = of(&region.buffer) {
            let mins: Vec<Expr> = region.region.iter().map(|r| r.min.clone()).collect();
            let outer = operand.first.len() - mins.len();
            let range = |(dim, min): (usize, Expr)| match dim.checked_sub(outer) {
                None => Range::point(min),
                Some(dim) => Range {
                    min,
                    extent: region.region[dim].extent.clone(),
                },
            };
            let mins = shifted(operand, &mins);
            *region = BufferRegion {
                buffer: operand.buffer.clone(),
                region: mins.into_iter().enumerate().map(range).collect(),
            };
        }
    }
}

/// Simplifies what a block itself says.
fn simplify(func: &mut PrimFunc, block: BlockId) {
    let facts: Analyzer = facts_inside(func, block);
    rewrite_own(func, block, &mut |e| facts.simplify(e), &mut |store| store);
    let node = &mut func.blocks[block];
    for region in node.reads.iter_mut().chain(&mut node.writes) {
        for range in &mut region.region {
            range.min = facts.simplify(&range.min);
            range.extent = facts.simplify(&range.extent);
        }
    }
}
