//! What a reduction block computes: `targets = combine(targets, shares)`, where the targets begin as identities of `combine`.
//!
//! One target is a sum, a product, a maximum; several are taken together, as the value and the index of an argmax. TVM calls the
//! combination a `CommReducer`; it is read off the statements here, so that no list of known reducers is needed.

use super::{BlockId, Buffer, Expr, ExprKind, PrimFunc, Stmt, Var};
use crate::tensor::DType;
use crate::tensor::scalar::{BinOp, wrap_int};

/// A reduction of one or several elements at once.
pub struct Reduction {
    /// The elements that are updated.
    pub targets: Vec<(Buffer, Vec<Expr>)>,
    /// What one iteration adds to each of them.
    pub shares: Vec<Expr>,
    /// What each of them begins as, if the block says so.
    pub init: Option<Vec<Expr>>,
    /// Values that change nothing.
    pub identities: Vec<Expr>,
    /// A variable for each target on the left, and one on the right.
    sides: [Vec<Var>; 2],
    /// The results of both sides.
    combined: Vec<Expr>,
}

impl Reduction {
    /// Reads the init and the body of a block.
    ///
    /// # Errors
    /// Says what keeps the block from being a reduction whose iterations may be taken in any order.
    pub fn of_block(func: &PrimFunc, block: BlockId) -> Result<Self, &'static str> {
        let mut body = Stores::default();
        body.read(func.tree.body(block), &[])?;
        let init = match func.blocks[block].init.as_deref() {
            Some(stmts) => Some(initial_values(stmts, &body.targets)?),
            None => None,
        };
        let side = |side: &str| {
            let names = body.targets.iter();
            names
                .map(|(target, _)| Var::data(format!("{}_{side}", target.name()), target.dtype()))
                .collect::<Vec<Var>>()
        };
        let sides = [side("left"), side("right")];
        let results: Vec<Expr> = (body.targets.iter())
            .map(|(buffer, indices)| Expr::load(buffer, indices.clone()))
            .collect();
        let updates: Vec<Update> = (body.values.iter().zip(&results))
            .map(|(value, result)| Update::read(value, result))
            .collect::<Result<_, _>>()?;
        let shares: Vec<Expr> = updates.iter().map(|update| update.share.clone()).collect();
        let is_target = |b: &Buffer| body.targets.iter().any(|(target, _)| target == b);
        let reads_target =
            |e: &Expr| e.any(|e| matches!(e.kind(), ExprKind::Load(b, _) if is_target(b)));
        if shares.iter().any(reads_target) {
            return Err("what is added reads the target");
        }
        let combined: Vec<Expr> = (updates.iter().enumerate())
            .map(|(at, update)| update.combined(at, &results, &shares, &sides))
            .collect::<Result<_, _>>()?;
        let begins = |at: usize| {
            let value = init.as_ref().map(|init| init[at].clone());
            value.filter(|e| e.as_int().is_some() || e.as_float().is_some())
        };
        let identities: Vec<Expr> = (updates.iter().enumerate())
            .map(|(at, update)| match update.form {
                Form::Operator(op) => identity(op, results[at].dtype()),
                Form::Choice { .. } => begins(at),
            })
            .collect::<Option<_>>()
            .ok_or("the operator has no identity")?;
        Ok(Self {
            targets: body.targets,
            shares,
            init,
            identities,
            sides,
            combined,
        })
    }

    /// The results of both, as many as there are targets.
    pub fn combine(&self, left: &[Expr], right: &[Expr]) -> Vec<Expr> {
        let value = |var: &Var| {
            let given = self.sides.iter().zip([left, right]);
            let mut found = given.filter_map(|(side, given)| {
                let at = side.iter().position(|own| own == var)?;
                Some(given[at].clone())
            });
            found.next()
        };
        self.combined.iter().map(|e| e.substitute(&value)).collect()
    }
}

/// The elements that statements store to, one after the other, and what they store, with the values of variables written out.
#[derive(Default)]
struct Stores {
    targets: Vec<(Buffer, Vec<Expr>)>,
    values: Vec<Expr>,
}

impl Stores {
    fn read(&mut self, stmts: &[Stmt], lets: &[(Var, Expr)]) -> Result<(), &'static str> {
        let plain = |e: &Expr| {
            let value = |var: &Var| Some(lets.iter().find(|(own, _)| own == var)?.1.clone());
            e.substitute(&value)
        };
        for stmt in stmts {
            let (Stmt::Store { value, .. } | Stmt::Let { value, .. }) = stmt else {
                return Err("its body is more than stores");
            };
            let stored = |e: &Expr| {
                let is_stored = |b: &Buffer| self.targets.iter().any(|(target, _)| target == b);
                matches!(e.kind(), ExprKind::Load(b, _) if is_stored(b))
            };
            if value.any(stored) {
                return Err("it reads what it has stored");
            }
            match stmt {
                Stmt::Store {
                    buffer, indices, ..
                } => {
                    self.targets.push((buffer.clone(), indices.clone()));
                    self.values.push(plain(value));
                }
                Stmt::Let { var, body, .. } => {
                    let inner = [lets, &[(var.clone(), plain(value))]].concat();
                    self.read(body, &inner)?;
                }
                _ => {}
            }
        }
        match self.targets.is_empty() {
            true => Err("it stores nothing"),
            false => Ok(()),
        }
    }
}

/// What the init of a block stores to each of the targets.
fn initial_values(
    init: &[Stmt],
    targets: &[(Buffer, Vec<Expr>)],
) -> Result<Vec<Expr>, &'static str> {
    let mut stores = Stores::default();
    stores.read(init, &[])?;
    match stores.targets == targets {
        true => Ok(stores.values),
        false => Err("its init does not store to the same elements"),
    }
}

/// How one target is updated.
struct Update {
    form: Form,
    share: Expr,
}

enum Form {
    /// `result op share`
    Operator(BinOp),
    /// The result so far if the condition is as `keeps` says, else the share.
    Choice { cond: Expr, keeps: bool },
}

impl Update {
    fn read(value: &Expr, result: &Expr) -> Result<Self, &'static str> {
        let (a, b) = match value.kind() {
            ExprKind::Binary(op, a, b) if identity(*op, result.dtype()).is_some() => (a, b),
            ExprKind::Select(_, a, b) | ExprKind::IfThenElse(_, a, b) => (a, b),
            ExprKind::Binary(..) => return Err("the operator has no identity"),
            _ => return Err("the stored value is not `target op share`"),
        };
        let (keeps, share) = match (a == result, b == result) {
            (true, false) => (true, b),
            (false, true) => (false, a),
            _ => return Err("the stored value is not `target op share`"),
        };
        let form = match value.kind() {
            ExprKind::Binary(op, ..) => Form::Operator(*op),
            ExprKind::Select(cond, ..) | ExprKind::IfThenElse(cond, ..) => {
                let cond = cond.clone();
                Form::Choice { cond, keeps }
            }
            _ => return Err("the stored value is not `target op share`"),
        };
        let share = share.clone();
        Ok(Self { form, share })
    }

    /// The result of two results, of which one side has a variable each.
    fn combined(
        &self,
        at: usize,
        results: &[Expr],
        shares: &[Expr],
        sides: &[Vec<Var>; 2],
    ) -> Result<Expr, &'static str> {
        let [left, right] = [sides[0][at].expr(), sides[1][at].expr()];
        match &self.form {
            Form::Operator(op) => Ok(Expr::binary(*op, left, right)),
            Form::Choice { cond, keeps } => {
                let cond = comparison(cond, results, shares, sides).ok_or(
                    "it chooses by more than what is compared of the target and its share",
                )?;
                Ok(match keeps {
                    true => Expr::select(cond, left, right),
                    false => Expr::select(cond, right, left),
                })
            }
        }
    }
}

/// A condition on results and shares of the same targets, on the variables of both sides. Others need not be associative.
fn comparison(
    cond: &Expr,
    results: &[Expr],
    shares: &[Expr],
    sides: &[Vec<Var>; 2],
) -> Option<Expr> {
    let ExprKind::Binary(op, a, b) = cond.kind() else {
        return None;
    };
    if matches!(op, BinOp::And | BinOp::Or) {
        let a = comparison(a, results, shares, sides)?;
        return Some(Expr::binary(*op, a, comparison(b, results, shares, sides)?));
    }
    if !op.is_comparison() {
        return None;
    }
    (0..results.len()).find_map(|at| {
        let [left, right] = [sides[0][at].expr(), sides[1][at].expr()];
        if *a == results[at] && *b == shares[at] {
            Some(Expr::binary(*op, left, right))
        } else if *a == shares[at] && *b == results[at] {
            Some(Expr::binary(*op, right, left))
        } else {
            None
        }
    })
}

/// The value that changes nothing, of operators that may take their operands in any order.
fn identity(op: BinOp, dtype: DType) -> Option<Expr> {
    let limits = || {
        if dtype.is_float() {
            let infinite = |value| Expr::float(value, dtype);
            return Some((infinite(f64::NEG_INFINITY), infinite(f64::INFINITY)));
        }
        let (low, high) = dtype.scalar.int_range()?;
        Some((Expr::int(low, dtype), Expr::int(high, dtype)))
    };
    match op {
        BinOp::Add | BinOp::BitOr | BinOp::BitXor | BinOp::Or => Some(Expr::constant(0, dtype)),
        BinOp::Mul | BinOp::And => Some(Expr::constant(1, dtype)),
        BinOp::Max => limits().map(|(low, _)| low),
        BinOp::Min => limits().map(|(_, high)| high),
        BinOp::BitAnd if dtype.is_int() => Some(Expr::int(wrap_int(-1, dtype.scalar), dtype)),
        _ => None,
    }
}
