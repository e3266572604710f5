//! Weights that are unpacked where they are read: which way their words lie, and how many numbers one holds.

use crate::arith::Analyzer;
use crate::ir::{BlockId, Buffer, BufferRegion, Expr, ExprKind, Place, PrimFunc, Range, Stmt, Var};
use crate::sched::rules::pattern::{Pattern, classify};

/// Bytes that a thread loads at once.
const LOAD: i64 = 16;

/// Numbers that a word holds, at most.
const MOST_OF_WORD: i64 = 32;

/// How a computed operand lies in memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Packed {
    /// The iter variable of the product along which its words lie side by side, as a position.
    pub(super) along: usize,
    /// Numbers in a load of 16 bytes.
    pub(super) of_load: i64,
}

impl Packed {
    /// How the operand lies that a block at the root computes element by element, if one does.
    pub(super) fn of(func: &PrimFunc, product: BlockId, region: &BufferRegion) -> Option<Self> {
        let mut blocks = func.child_blocks(Place::Block(func.root)).into_iter();
        let producer = blocks.find(|block| {
            let writes = &func.blocks[*block].writes;
            writes.iter().any(|write| write.buffer == region.buffer)
        })?;
        if !matches!(classify(func, producer), Pattern::Injective) {
            return None;
        }
        let [Stmt::Store { indices, value, .. }] = func.tree.body(Place::Block(producer)) else {
            return None;
        };
        let (source, place) = largest_load(value)?;
        let iters = &func.blocks[product].iters;
        let mut dims = indices.iter().zip(&region.region);
        dims.find_map(|(own, read)| {
            let (own, read) = (own.as_var()?, read.min.as_var()?);
            let along = iters.iter().position(|iter| iter.var == *read)?;
            let each = numbers_of_word(&place, own)?;
            let of_load = each * LOAD / source.dtype().bytes() as i64;
            Some(Self { along, of_load })
        })
    }
}

/// The load of a value that reads the largest tensor, and the place in that.
fn largest_load(value: &Expr) -> Option<(Buffer, Expr)> {
    let mut largest: Option<(i64, Buffer, Expr)> = None;
    value.walk(&mut |e| {
        if let ExprKind::Load(buffer, indices) = e.kind()
            && let Some((bytes, place)) = place(buffer, indices)
            && largest.as_ref().is_none_or(|(most, ..)| bytes > *most)
        {
            largest = Some((bytes, buffer.clone(), place));
        }
        true
    });
    largest.map(|(_, buffer, place)| (buffer, place))
}

/// The bytes of a buffer, and the place of an element in it.
fn place(buffer: &Buffer, indices: &[Expr]) -> Option<(i64, Expr)> {
    let mut place = Expr::i64(0);
    let mut bytes = buffer.dtype().bytes() as i64;
    for (extent, index) in buffer.shape().iter().zip(indices) {
        let extent = extent.as_int()?;
        bytes = bytes.checked_mul(extent)?;
        place = place * extent + index.cast(crate::tensor::DType::I64);
    }
    Some((bytes, place))
}

/// How many neighbours along a variable are at one place, if the next ones are at the next place.
fn numbers_of_word(place: &Expr, var: &Var) -> Option<i64> {
    let mut each = MOST_OF_WORD;
    while each > 0 {
        let (word, number) = (
            Var::new("word", var.dtype()),
            Var::new("number", var.dtype()),
        );
        let mut facts = Analyzer::new();
        facts.bind(&number, &Range::to(Expr::int(each, var.dtype())));
        facts.bind(&word, &Range::to(Expr::int(1 << 20, var.dtype())));
        let at = |word: Expr, number: Expr| {
            let value = word * each + number;
            place.substitute(&|v: &Var| (v == var).then(|| value.clone()))
        };
        let zero = || Expr::int(0, var.dtype());
        let first = at(word.expr(), zero());
        let next = at(word.expr() + 1, zero());
        if facts.can_prove_equal(&at(word.expr(), number.expr()), &first)
            && facts.can_prove_equal(&next, &(&first + 1))
        {
            return Some(each);
        }
        each /= 2;
    }
    None
}
