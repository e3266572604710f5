//! Programs that are one of several by their sizes: an `if` at the root whose condition sizes decide. Each side is a program of its own,
//! with assertions of the sizes that it is for, so that rules schedule it alone and a launch decides which one runs.

use std::collections::HashSet;

use super::usual_size;
use crate::arith::{Analyzer, specialized};
use crate::ir::{AttrValue, Buffer, Expr, ExprKind, Param, Place, PrimFunc, Stmt, Var, attrs};
use crate::sched::body::remove_detached;
use crate::tensor::scalar::BinOp;

/// One of the programs.
#[derive(Clone, Debug)]
pub struct Alternative {
    /// The program. Sizes that it is for are asserted at its root, or are constants.
    pub func: PrimFunc,
    /// What its sizes are, for a name; empty for the last program, which is for the rest.
    pub sizes: String,
}

/// The programs that a program chooses between, in the order of its conditions; the program itself, if it chooses between none.
///
/// ```text
/// if n == 1:                    def attention_n_1: …                    # n is 1 in it
///     …                         def attention_n_to_15: assert n <= 15, n != 1; …
/// elif n <= 15:             →   def attention: assert n > 15, n != 1; …
///     …
/// else: …
/// ```
pub fn alternatives(func: &PrimFunc) -> Vec<Alternative> {
    let mut rest = func.clone();
    let mut made = vec![];
    while let Some(Sides {
        cond,
        then,
        otherwise,
    }) = sides(&rest)
    {
        if let Some(holds) = cond.as_bool() {
            rest = if holds { then } else { otherwise };
            continue;
        }
        let sizes = said(&cond).unwrap_or_else(|| format!("case_{}", made.len()));
        let func = match constant_size(&cond) {
            Some(size) => specialized(&then, &[size]),
            None => then,
        };
        if can_be_called(&func) {
            let nested = alternatives(&func).into_iter();
            made.extend(nested.map(|inner| Alternative {
                sizes: match inner.sizes.as_str() {
                    "" => sizes.clone(),
                    own => format!("{sizes}_{own}"),
                },
                ..inner
            }));
        }
        rest = otherwise;
    }
    made.push(Alternative {
        func: rest,
        sizes: String::new(),
    });
    for alternative in &mut made {
        set_usual_sizes(&mut alternative.func);
    }
    made
}

/// The sides of an `if` at the root, as programs.
struct Sides {
    cond: Expr,
    then: PrimFunc,
    otherwise: PrimFunc,
}

fn sides(func: &PrimFunc) -> Option<Sides> {
    let body = func.tree.body(func.root);
    let is_choice = |stmt: &Stmt| matches!(stmt, Stmt::If { cond, .. } if is_of_sizes(func, cond));
    let is_said = |stmt: &Stmt| matches!(stmt, Stmt::Assert { .. });
    let at = body.iter().position(is_choice)?;
    if !(body.iter().enumerate()).all(|(i, stmt)| i == at || is_said(stmt))
        || body[at].places().is_empty()
    {
        return None;
    }
    let Stmt::If {
        cond,
        then,
        otherwise,
    } = &body[at]
    else {
        return None;
    };
    let side = |cond: Expr, kept: &[Stmt], left_out: &[Stmt]| {
        let mut side = func.clone();
        let mut body = side.tree.take_body(side.root);
        let asserted = cond.as_bool().is_none().then(|| Stmt::Assert {
            message: format!("a program for {cond:#}"),
            cond,
        });
        body.splice(at..=at, asserted.into_iter().chain(kept.to_vec()));
        let root: Place = side.root.into();
        side.tree.set_body(root, body);
        for place in left_out.iter().flat_map(Stmt::places) {
            remove_detached(&mut side, place);
        }
        drop_unused_buffers(&mut side);
        side
    };
    let known = Analyzer::new();
    let cond = known.simplify(cond);
    Some(Sides {
        then: side(cond.clone(), then, otherwise),
        otherwise: side(known.simplify(&cond.not()), otherwise, then),
        cond,
    })
}

/// Whether a launch knows the value of a condition.
fn is_of_sizes(func: &PrimFunc, cond: &Expr) -> bool {
    let loads = cond.loads();
    let is_known = |var: &Var| {
        func.params.iter().any(|param| match param {
            Param::Scalar(scalar) => scalar == var && !var.dtype().is_float(),
            Param::Buffer { handle: _, buffer } => buffer.shape().iter().any(|e| e.uses(var)),
        })
    };
    !loads && cond.free_vars().iter().all(is_known)
}

/// A size and a number in a condition like `n == 1`.
fn size_and_number(op: BinOp, cond: &Expr) -> Option<(Var, i64)> {
    let (size, number) = cond.as_binary(op)?;
    Some((size.as_var()?.clone(), number.as_int()?))
}

/// The size that a condition gives a value, if it does so.
fn constant_size(cond: &Expr) -> Option<(Var, i64)> {
    size_and_number(BinOp::Eq, cond)
}

/// A condition as a part of a name, if it is a short one.
fn said(cond: &Expr) -> Option<String> {
    let equal = constant_size(cond).map(|(size, n)| format!("{}_{n}", size.name()));
    let most = || {
        let most = size_and_number(BinOp::Le, cond);
        let below = || size_and_number(BinOp::Lt, cond).map(|(size, n)| (size, n - 1));
        most.or_else(below)
            .map(|(size, n)| format!("{}_to_{n}", size.name()))
    };
    equal.or_else(most)
}

/// Conditions of the sizes of a program, which it asserts at its root.
fn conditions(func: &PrimFunc) -> impl Iterator<Item = &Expr> {
    let body = func.tree.body(func.root).iter();
    body.filter_map(|stmt| match stmt {
        Stmt::Assert { cond, message: _ } => Some(cond),
        _ => None,
    })
}

/// Whether there may be sizes for which all assertions at the root hold.
pub fn can_be_called(func: &PrimFunc) -> bool {
    let mut known = Analyzer::new();
    let extents = func.buffer_params().flat_map(|buffer| buffer.shape());
    for var in extents.flat_map(Expr::free_vars) {
        known.bind_shape_var(&var);
    }
    conditions(func).all(|cond| {
        let fails = known.can_prove(&cond.not());
        known.assume(cond);
        !fails
    })
}

/// Numbers that sizes are taken to be where the usual one is not asserted, the first that is.
const USUAL: [i64; 6] = [512, 64, 4, 2, 1, 0];

/// Notes usual sizes that a program is for.
fn set_usual_sizes(func: &mut PrimFunc) {
    let mut sizes: Vec<Var> = vec![];
    for var in conditions(func).flat_map(Expr::free_vars) {
        if !sizes.contains(&var) {
            sizes.push(var);
        }
    }
    let usual: Vec<i64> = (sizes.iter())
        .map(|var| usual_size(func, var.name()))
        .collect();
    let known = Analyzer::new();
    let holds = |values: &[i64]| {
        conditions(func).all(|cond| {
            let value = |var: &Var| {
                let at = sizes.iter().position(|size| size == var)?;
                Some(Expr::int(values[at], var.dtype()))
            };
            known.simplify(&cond.substitute(&value)).as_bool() == Some(true)
        })
    };
    let others = USUAL.into_iter().map(|n| vec![n; sizes.len()]);
    let mut all = std::iter::once(usual.clone()).chain(others);
    let Some(values) = all.find(|values| holds(values)).filter(|v| *v != usual) else {
        return;
    };
    let values = sizes.iter().zip(values);
    let values = values.map(|(var, value)| (var.name().to_owned(), AttrValue::Int(value)));
    let values = AttrValue::Dict(values.collect());
    func.attrs.insert(attrs::USUAL_SIZES.to_owned(), values);
}

/// Forgets the temporaries that no block uses any more.
fn drop_unused_buffers(func: &mut PrimFunc) {
    let root = func.root;
    let mut used: HashSet<Buffer> = HashSet::new();
    let blocks = func.blocks_within(root.into()).into_iter();
    for block in blocks
        .filter(|block| *block != root)
        .map(|id| &func.blocks[id])
    {
        let regions = block.reads.iter().chain(&block.writes);
        let viewed = block.match_buffers.iter().map(|view| &view.source);
        used.extend(regions.chain(viewed).map(|region| region.buffer.clone()));
    }
    // A block without regions stands for what is in it; so do statements outside of blocks.
    let mut places = vec![];
    func.tree.walk(root.into(), &mut |place| places.push(place));
    for place in places {
        let mut stmts: Vec<&Stmt> = func.tree.body(place).iter().collect();
        while let Some(stmt) = stmts.pop() {
            stmts.extend(stmt.nested().into_iter().flatten());
            if let Stmt::Store { buffer, .. } = stmt {
                used.insert(buffer.clone());
            }
            for e in stmt.exprs() {
                e.walk(&mut |e| {
                    if let ExprKind::Load(buffer, _) = e.kind() {
                        used.insert(buffer.clone());
                    }
                    true
                });
            }
        }
    }
    let allocated = &mut func.blocks[root].alloc_buffers;
    allocated.retain(|buffer| used.contains(buffer));
}
