//! What a block computes, as the default rules ask: elementwise, matmul, another reduction, or anything else.
//!
//! References: TVM's dlight (`get_index_map`, iter traits of `C[S, I, J] += A[S, I, K] * B[S, J, K]`).

use crate::ir::sum::{Sum, Term};
use crate::ir::{
    Block, BlockId, Buffer, BufferRegion, Expr, ExprKind, IterKind, Place, PrimFunc, Reduction,
    Stmt, Var,
};
use crate::tensor::scalar::{BinOp, Intrin};

/// What a block computes.
#[derive(Clone, Debug)]
pub enum Pattern {
    /// Spatial iter variables only, one store: elementwise, broadcast, transpose, gather.
    Injective,
    /// `C[..] += A[..] * B[..]` (operands perhaps converted, or words of bytes).
    Matmul(Matmul),
    /// Spatial and reduce iter variables, one store, an init.
    Reduction,
    /// Several stores, control flow, opaque iter variables.
    Other,
}

/// The roles of the iter variables of a matmul, as positions in `Block::iters`.
#[derive(Clone, Debug)]
pub struct Matmul {
    /// The operand that `m` belongs to.
    pub a: Operand,
    /// The operand that `n` belongs to.
    pub b: Operand,
    /// The result.
    pub c: Buffer,
    /// In `A`, `B` and `C`.
    pub batch: Vec<usize>,
    /// In `A` and `C`.
    pub m: Vec<usize>,
    /// In `B` and `C`.
    pub n: Vec<usize>,
    /// In `A` and `B`: the reduction.
    pub k: Vec<usize>,
}

impl Matmul {
    /// The same roles where the iter variables have come to other positions.
    pub fn renumbered(self, moved: impl Fn(usize) -> usize) -> Self {
        let all = |roles: Vec<usize>| roles.into_iter().map(&moved).collect();
        let side = |operand: Operand| Operand {
            contiguous: operand.contiguous.map(&moved),
            ..operand
        };
        Self {
            a: side(self.a),
            b: side(self.b),
            c: self.c,
            batch: all(self.batch),
            m: all(self.m),
            n: all(self.n),
            k: all(self.k),
        }
    }
}

/// One side of the product.
#[derive(Clone, Debug)]
pub struct Operand {
    /// The buffer.
    pub buffer: Buffer,
    /// Its position in `Block::reads`.
    pub read_index: usize,
    /// The iter variable along which neighbours are adjacent in memory: the last index, if that is a lone variable.
    pub contiguous: Option<usize>,
}

/// Classifies a block.
pub fn classify(func: &PrimFunc, id: BlockId) -> Pattern {
    let block = &func.blocks[id];
    let [
        Stmt::Store {
            buffer,
            indices,
            value,
        },
    ] = func.tree.body(Place::Block(id))
    else {
        return Pattern::Other;
    };
    let kinds = |kind| block.iters.iter().filter(|i| i.kind == kind).count();
    let (spatial, reduce) = (kinds(IterKind::Spatial), kinds(IterKind::Reduce));
    if spatial + reduce != block.iters.len() || !block.match_buffers.is_empty() {
        return Pattern::Other;
    }
    match (reduce, &block.init) {
        (0, None) => Pattern::Injective,
        (1.., Some(_)) => {
            matmul(block, buffer, indices, value).map_or(Pattern::Reduction, Pattern::Matmul)
        }
        _ => Pattern::Other,
    }
}

/// How many elements a block reduces at once, if its iterations may be taken in any order, so that threads may share them: one, or
/// several as the value and the index of an argmax.
pub fn results_of_reduction(func: &PrimFunc, id: BlockId) -> Option<usize> {
    let reduction = Reduction::of_block(func, id).ok()?;
    Some(reduction.targets.len())
}

/// Whether a block is a reduction, of one element or of several at once.
pub fn reduces(func: &PrimFunc, id: BlockId) -> bool {
    match classify(func, id) {
        Pattern::Reduction | Pattern::Matmul(_) => true,
        Pattern::Injective => false,
        Pattern::Other => {
            let iters = &func.blocks[id].iters;
            iters.iter().any(|iter| iter.kind == IterKind::Reduce)
                && results_of_reduction(func, id).is_some()
        }
    }
}

/// By which operator a stored value combines the element that it overwrites with what: `target op share`, either way round.
fn combined<'e>(target: &Buffer, indices: &[Expr], value: &'e Expr) -> Option<(BinOp, &'e Expr)> {
    let ExprKind::Binary(op, a, b) = value.kind() else {
        return None;
    };
    let is_target =
        |e: &Expr| matches!(e.kind(), ExprKind::Load(b, i) if b == target && i == indices);
    match (is_target(a), is_target(b)) {
        (true, false) => Some((*op, b)),
        (false, true) => Some((*op, a)),
        _ => None,
    }
}

fn matmul(block: &Block, c: &Buffer, indices: &[Expr], value: &Expr) -> Option<Matmul> {
    let (_, product) = combined(c, indices, value).filter(|(op, _)| *op == BinOp::Add)?;
    let (x, y) = factors(product)?;
    let (a, b) = (operand(block, x)?, operand(block, y)?);
    let uses = |indices: &[Expr], var: &Var| indices.iter().any(|e| e.uses(var));
    let mut roles = [vec![], vec![], vec![], vec![]];
    for (at, iter) in block.iters.iter().enumerate() {
        let place = (
            uses(a.1, &iter.var),
            uses(b.1, &iter.var),
            uses(indices, &iter.var),
        );
        let role = match (place, iter.kind) {
            ((true, true, true), IterKind::Spatial) => 0,
            ((true, false, true), IterKind::Spatial) => 1,
            ((false, true, true), IterKind::Spatial) => 2,
            ((true, true, false), IterKind::Reduce) => 3,
            // An extent of 1 may stand anywhere.
            (_, IterKind::Spatial) if iter.dom.extent.is_one() => 1,
            (_, IterKind::Reduce) if iter.dom.extent.is_one() => 3,
            _ => return None,
        };
        roles[role].push(at);
    }
    let [batch, m, n, k] = roles;
    Some(Matmul {
        a: a.0,
        b: b.0,
        c: c.clone(),
        batch,
        m,
        n,
        k,
    })
}

/// What is multiplied: two elements, or the bytes of two words.
fn factors(product: &Expr) -> Option<(&Expr, &Expr)> {
    match product.kind() {
        ExprKind::Binary(BinOp::Mul, x, y) => Some((x, y)),
        ExprKind::Call(Intrin::Dp4aU8S8, args) => match args.as_slice() {
            [x, y, none] if none.is_zero() => Some((x, y)),
            _ => None,
        },
        _ => None,
    }
}

/// The operand and its indices.
fn operand<'a>(block: &Block, e: &'a Expr) -> Option<(Operand, &'a [Expr])> {
    let e = if let ExprKind::Cast(inner) = e.kind() {
        inner
    } else {
        e
    };
    let ExprKind::Load(buffer, indices) = e.kind() else {
        return None;
    };
    let read_index = block.reads.iter().position(|r| r.buffer == *buffer)?;
    let last = indices.last().and_then(Expr::as_var);
    let contiguous = last.and_then(|var| block.iters.iter().position(|i| i.var == *var));
    Some((
        Operand {
            buffer: buffer.clone(),
            read_index,
            contiguous,
        },
        indices,
    ))
}

/// The iter variable along which the elements of a region are side by side in memory, if it is only one.
pub fn neighbours(block: &Block, region: &BufferRegion) -> Option<usize> {
    let last = Sum::of(&region.region.last()?.min);
    let mut by_one = last.terms.iter().filter(|term| term.coeff == 1);
    let var = by_one.next().and_then(Term::atom).and_then(Expr::as_var);
    let var = var.filter(|_| by_one.next().is_none())?;
    block.iters.iter().position(|iter| iter.var == *var)
}
