//! Which commutative operation a reduction block computes, read off its init and body.

use crate::ir::{BlockId, Buffer, Expr, ExprKind, PrimFunc, Stmt, Var};
use crate::tensor::DType;
use crate::tensor::scalar::BinOp;

/// A commutative reduction of one or several values at once: `out = combine(out, value)`, starting from `identity`.
#[derive(Clone, Debug)]
pub struct Reducer {
    /// The written buffers.
    pub buffers: Vec<Buffer>,
    /// Where each is written.
    pub indices: Vec<Vec<Expr>>,
    /// Start values (the init of the block).
    pub identity: Vec<Expr>,
    /// Stand for the values so far.
    pub lhs: Vec<Var>,
    /// Stand for the values combined in.
    pub rhs: Vec<Var>,
    /// The new values in terms of `lhs` and `rhs`.
    pub result: Vec<Expr>,
    /// What the block combines in: the values of `rhs`.
    pub values: Vec<Expr>,
}

impl Reducer {
    /// The operator of a reduction of one value by one binary operator.
    pub fn op(&self) -> Option<BinOp> {
        match (&self.result[..], &self.lhs[..], &self.rhs[..]) {
            ([result], [lhs], [rhs]) => match result.kind() {
                ExprKind::Binary(op, a, b)
                    if (a.as_var(), b.as_var()) == (Some(lhs), Some(rhs)) =>
                {
                    Some(*op)
                }
                _ => None,
            },
            _ => None,
        }
    }
}

/// The reducer of a block: `C[i] = C[i] + v` (also `*`, `max`, `min`, either way round), or several values bound by `let` and
/// then stored (`argmax`). The init must be the identity of a single operator.
pub fn match_reducer(func: &PrimFunc, block: BlockId) -> Option<Reducer> {
    let node = &func.blocks[block];
    let init = stores(node.init.as_ref()?, &mut vec![])?;
    let update = stores(func.tree.body(block), &mut vec![])?;
    if init.len() != update.len() || init.is_empty() {
        return None;
    }
    let mut identity = Vec::new();
    for store in &update {
        let start = init.iter().find(|i| i.buffer == store.buffer)?;
        if start.indices != store.indices {
            return None;
        }
        identity.push(start.value.clone());
    }
    match &update[..] {
        [only] => single(only, identity),
        several => tuple(several, identity),
    }
}

struct StoreOf {
    buffer: Buffer,
    indices: Vec<Expr>,
    value: Expr,
    /// Whether the value was computed by a `let` before any store.
    bound: bool,
}

/// The stores of a body that has nothing else, with `let` variables replaced by what they stand for.
fn stores(body: &[Stmt], lets: &mut Vec<(Var, Expr)>) -> Option<Vec<StoreOf>> {
    let mut out = Vec::new();
    for stmt in body {
        match stmt {
            Stmt::Store {
                buffer,
                indices,
                value,
            } => {
                let bound_by = |v: &Var| lets.iter().find(|(l, _)| l == v);
                let resolve = |e: &Expr| e.substitute(&|v| Some(bound_by(v)?.1.clone()));
                out.push(StoreOf {
                    buffer: buffer.clone(),
                    indices: indices.iter().map(resolve).collect(),
                    value: resolve(value),
                    bound: value.as_var().is_some_and(|v| bound_by(v).is_some()),
                });
            }
            // A `let` after a store could read what was stored.
            Stmt::Let { var, value, body } if out.is_empty() => {
                let value = value
                    .substitute(&|v| lets.iter().find(|(l, _)| l == v).map(|(_, e)| e.clone()));
                lets.push((var.clone(), value));
                out.extend(stores(body, lets)?);
            }
            _ => return None,
        }
    }
    Some(out)
}

/// `out = out op value` with `op` one of `+ * max min` and the init its identity.
fn single(store: &StoreOf, identity: Vec<Expr>) -> Option<Reducer> {
    let ExprKind::Binary(op, a, b) = store.value.kind() else {
        return None;
    };
    let so_far = Expr::load(&store.buffer, store.indices.clone());
    let value = match (*a == so_far, *b == so_far) {
        (true, false) => b,
        (false, true) => a,
        _ => return None,
    };
    if uses_buffer(value, &store.buffer) || !is_identity(*op, &identity[0]) {
        return None;
    }
    let dtype = store.buffer.dtype();
    let (lhs, rhs) = (Var::new("x", dtype), Var::new("y", dtype));
    Some(Reducer {
        buffers: vec![store.buffer.clone()],
        indices: vec![store.indices.clone()],
        identity,
        result: vec![Expr::binary(*op, &lhs, &rhs)],
        lhs: vec![lhs],
        rhs: vec![rhs],
        values: vec![value.clone()],
    })
}

/// Several outputs, each a function of the outputs so far and one new value each: the `argmax` and `argmin` patterns, in which
/// a comparison of the values selects both the value and its index.
fn tuple(stores: &[StoreOf], identity: Vec<Expr>) -> Option<Reducer> {
    if !stores.iter().all(|s| s.bound) {
        return None;
    }
    let vars = |name: &str| -> Vec<Var> {
        let var = |(i, s): (usize, &StoreOf)| Var::new(format!("{name}{i}"), s.buffer.dtype());
        stores.iter().enumerate().map(var).collect()
    };
    let (lhs, rhs) = (vars("x"), vars("y"));
    let so_far: Vec<Expr> = stores
        .iter()
        .map(|s| Expr::load(&s.buffer, s.indices.clone()))
        .collect();
    let mut values = Vec::new();
    for (store, mine) in stores.iter().zip(&so_far) {
        let ExprKind::Select(_, a, b) = store.value.kind() else {
            return None;
        };
        values.push(match (a == mine, b == mine) {
            (true, false) => b.clone(),
            (false, true) => a.clone(),
            _ => return None,
        });
    }
    if values
        .iter()
        .any(|v| stores.iter().any(|s| uses_buffer(v, &s.buffer)))
    {
        return None;
    }
    let abstracted = |e: &Expr| replace(e, &so_far, &lhs, &values, &rhs);
    let result: Vec<Expr> = stores.iter().map(|s| abstracted(&s.value)).collect();
    let closed = |e: &Expr| {
        e.free_vars()
            .iter()
            .all(|v| lhs.contains(v) || rhs.contains(v))
            && stores.iter().all(|s| !uses_buffer(e, &s.buffer))
    };
    result.iter().all(closed).then(|| Reducer {
        buffers: stores.iter().map(|s| s.buffer.clone()).collect(),
        indices: stores.iter().map(|s| s.indices.clone()).collect(),
        identity,
        lhs,
        rhs,
        result,
        values,
    })
}

/// The expression with the outputs so far and the new values replaced by variables, top down.
fn replace(e: &Expr, so_far: &[Expr], lhs: &[Var], values: &[Expr], rhs: &[Var]) -> Expr {
    if let Some(at) = so_far.iter().position(|s| s == e) {
        return lhs[at].expr();
    }
    if let Some(at) = values.iter().position(|v| v == e) {
        return rhs[at].expr();
    }
    e.map_children(&mut |child| replace(child, so_far, lhs, values, rhs))
}

fn uses_buffer(e: &Expr, buffer: &Buffer) -> bool {
    let mut found = false;
    e.walk(&mut |e| {
        found |= matches!(e.kind(), ExprKind::Load(b, _) if b == buffer);
        !found
    });
    found
}

/// Whether `value` is the identity of the operator in its type: 0, 1, or the least or greatest value.
fn is_identity(op: BinOp, value: &Expr) -> bool {
    let dtype = value.dtype();
    match op {
        BinOp::Add => value.is_zero(),
        BinOp::Mul => value.is_one(),
        BinOp::Max => is_limit(value, dtype, f64::NEG_INFINITY, |(min, _)| min),
        BinOp::Min => is_limit(value, dtype, f64::INFINITY, |(_, max)| max),
        _ => false,
    }
}

fn is_limit(value: &Expr, dtype: DType, infinity: f64, end: fn((i64, i64)) -> i64) -> bool {
    match (value.as_int(), value.as_float()) {
        (Some(v), _) => dtype
            .scalar
            .int_range()
            .is_some_and(|range| end(range) == v),
        (_, Some(v)) => {
            let greatest = dtype.scalar.max_finite();
            v == infinity || v == greatest.copysign(infinity)
        }
        _ => false,
    }
}
