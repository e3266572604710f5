//! What a reduction block computes: `targets = combine(targets, shares)`, where the targets begin as identities of `combine`.
//!
//! One target is a sum, a product, a maximum; several are taken together, as the value and the index of an argmax. TVM calls the
//! combination a `CommReducer`, and matches it with a list of known ones. [`Reduction::of_block`] reads two forms off the
//! statements: an operator that has an identity, and a choice by an order of the targets.

use super::{Block, BlockId, Buffer, Expr, ExprKind, IterKind, PrimFunc, Stmt, Var};
use crate::tensor::scalar::{BinOp, Intrin};

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
    /// Says what keeps the block from being a reduction whose iterations may be taken in any order, but for the rounding of
    /// floats and for values that are no numbers.
    pub fn of_block(func: &PrimFunc, block: BlockId) -> Result<Self, &'static str> {
        let mut body = Stores::default();
        body.read(func.tree.body(block), &[])?;
        let iters = func.blocks[block].iters.iter();
        let mut reduce = iters.filter(|iter| iter.kind == IterKind::Reduce);
        let indices = body.targets.iter().flat_map(|(_, indices)| indices);
        if reduce.any(|iter| indices.clone().any(|index| index.uses(&iter.var))) {
            return Err("its iterations update different elements");
        }
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
        let pairs: Vec<(&Expr, &Expr)> = results.iter().zip(&shares).collect();
        let orders: Vec<Vec<Key>> = (updates.iter().enumerate())
            .map(|(at, update)| update.order(at, &pairs))
            .collect::<Result<_, _>>()?;
        check_orders(&updates, &orders)?;
        let combined: Vec<Expr> = (updates.iter().zip(&orders).enumerate())
            .map(|(at, (update, order))| update.combined(at, order, &sides))
            .collect();
        let begins = |at: usize| {
            let value = init.as_ref().map(|init| init[at].clone());
            value.filter(|e| !e.any(|e| varies(e, &func.blocks[block])))
        };
        let identities: Vec<Expr> = (updates.iter().enumerate())
            .map(|(at, update)| match update.form {
                Form::Operator(op) => {
                    let dtype = results[at].dtype();
                    let identity = op.identity(dtype.scalar)?;
                    Some(Expr::scalar(identity, dtype))
                }
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

/// Whether a part of an expression may differ from iteration to iteration of a block.
fn varies(e: &Expr, block: &Block) -> bool {
    match e.kind() {
        ExprKind::Load(..) => true,
        ExprKind::Var(var) => block.iters.iter().any(|iter| iter.var == *var),
        _ => false,
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

/// One comparison of an order: that of a target's result with its share, `result op share`.
struct Key {
    target: usize,
    op: BinOp,
    nans: Nans,
}

/// Where an order has values that are no numbers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Nans {
    /// Nowhere: no comparison with one holds.
    Apart,
    /// All are equal, and the comparison holds if only the left side is one.
    Left,
    /// The same, if only the right side is one.
    Right,
}

impl Key {
    /// Whether the left side comes first: `left op right`, or that side alone is no number.
    fn ahead(&self, left: &Expr, right: &Expr) -> Expr {
        let ahead = Expr::binary(self.op, left.clone(), right.clone());
        let (one, other) = match self.nans {
            Nans::Apart => return ahead,
            Nans::Left => (left, right),
            Nans::Right => (right, left),
        };
        let alone = Expr::binary(BinOp::And, is_nan(one), is_nan(other).not());
        Expr::binary(BinOp::Or, ahead, alone)
    }

    /// Whether both sides are in the same place of the order.
    fn same(&self, left: &Expr, right: &Expr) -> Expr {
        let same = left.equals(right);
        match self.nans {
            Nans::Apart => same,
            Nans::Left | Nans::Right => {
                let both = Expr::binary(BinOp::And, is_nan(left), is_nan(right));
                Expr::binary(BinOp::Or, same, both)
            }
        }
    }
}

fn is_nan(e: &Expr) -> Expr {
    Expr::call(Intrin::IsNan, vec![e.clone()])
}

/// Which values of a key come first.
#[derive(PartialEq, Eq)]
struct Preference {
    target: usize,
    /// The greatest, not the least.
    greatest: bool,
    /// Values that are no numbers before or after all others, if they are compared.
    nans_first: Option<bool>,
}

impl Update {
    fn read(value: &Expr, result: &Expr) -> Result<Self, &'static str> {
        let no_update = "the stored value is not `target op share`";
        let (a, b) = match value.kind() {
            ExprKind::Binary(op, ..) if op.identity(result.dtype().scalar).is_none() => {
                return Err("the operator has no identity");
            }
            ExprKind::Binary(_, a, b)
            | ExprKind::Select(_, a, b)
            | ExprKind::IfThenElse(_, a, b) => (a, b),
            _ => return Err(no_update),
        };
        let (keeps, share) = match (a == result, b == result) {
            (true, false) => (true, b),
            (false, true) => (false, a),
            _ => return Err(no_update),
        };
        let form = match value.kind() {
            ExprKind::Select(cond, ..) | ExprKind::IfThenElse(cond, ..) => {
                let cond = cond.clone();
                Form::Choice { cond, keeps }
            }
            ExprKind::Binary(op, ..) => Form::Operator(*op),
            _ => return Err(no_update),
        };
        let share = share.clone();
        Ok(Self { form, share })
    }

    /// The order by which a result is chosen, the first key first; no keys if the results are added up.
    fn order(&self, at: usize, pairs: &[(&Expr, &Expr)]) -> Result<Vec<Key>, &'static str> {
        let best = |op| {
            vec![Key {
                target: at,
                op,
                nans: Nans::Apart,
            }]
        };
        match &self.form {
            Form::Operator(BinOp::Max) => Ok(best(BinOp::Ge)),
            Form::Operator(BinOp::Min) => Ok(best(BinOp::Le)),
            Form::Operator(_) => Ok(vec![]),
            Form::Choice { cond, .. } => {
                lexicographic(cond, pairs).ok_or("it chooses by more than an order of its targets")
            }
        }
    }

    /// Which values of a key come first.
    fn preference(&self, key: &Key) -> Preference {
        let keeps = match self.form {
            Form::Operator(_) => true,
            Form::Choice { keeps, .. } => keeps,
        };
        Preference {
            target: key.target,
            greatest: matches!(key.op, BinOp::Gt | BinOp::Ge) == keeps,
            nans_first: (key.nans != Nans::Apart).then_some((key.nans == Nans::Left) == keeps),
        }
    }

    /// The result of two results, of which one side has a variable each.
    fn combined(&self, at: usize, order: &[Key], sides: &[Vec<Var>; 2]) -> Expr {
        let side = |target: usize| [sides[0][target].expr(), sides[1][target].expr()];
        let [left, right] = side(at);
        match &self.form {
            Form::Operator(op) => Expr::binary(*op, left, right),
            Form::Choice { keeps, .. } => {
                let last = order.len() - 1;
                let compare = |key: &Key| {
                    let [left, right] = side(key.target);
                    key.ahead(&left, &right)
                };
                let cond = order[..last]
                    .iter()
                    .rfold(compare(&order[last]), |rest, key| {
                        let [left, right] = side(key.target);
                        Expr::binary(BinOp::Or, compare(key), key.same(&left, &right).and(rest))
                    });
                match keeps {
                    true => Expr::select(cond, left, right),
                    false => Expr::select(cond, right, left),
                }
            }
        }
    }
}

/// The keys of a condition that compares results with shares, `a > x or a == x and (b > y or ..)`. For values that may be no numbers,
/// `a > x or isnan(a) and not isnan(x)` stands for `a > x`, and `a == x or isnan(a) and isnan(x)` for `a == x`.
fn lexicographic(cond: &Expr, pairs: &[(&Expr, &Expr)]) -> Option<Vec<Key>> {
    if let Some(key) = ahead(cond, pairs) {
        return Some(vec![key]);
    }
    let (first, rest) = cond.as_binary(BinOp::Or)?;
    [(first, rest), (rest, first)]
        .into_iter()
        .find_map(|(first, rest)| {
            let key = ahead(first, pairs)?;
            let (equal, rest) = rest.as_binary(BinOp::And)?;
            let (result, share) = pairs[key.target];
            let strict = matches!(key.op, BinOp::Lt | BinOp::Gt);
            if !strict || !is_same(equal, &key, result, share) {
                return None;
            }
            let mut keys = vec![key];
            keys.extend(lexicographic(rest, pairs)?);
            Some(keys)
        })
}

/// The key that a condition is the comparison of.
fn ahead(cond: &Expr, pairs: &[(&Expr, &Expr)]) -> Option<Key> {
    let (compares, alone) = match cond.as_binary(BinOp::Or) {
        Some((compares, alone)) => (compares, Some(alone)),
        None => (cond, None),
    };
    let mut key = compared(compares, pairs)?;
    if !matches!(key.op, BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge) {
        return None;
    }
    if alone.is_some() {
        let (result, share) = pairs[key.target];
        let known = |nans: &Nans| {
            key.nans = *nans;
            let expected = key.ahead(result, share);
            expected.as_binary(BinOp::Or).map(|(_, alone)| alone) == alone
        };
        key.nans = [Nans::Left, Nans::Right].into_iter().find(known)?;
    }
    Some(key)
}

/// Whether a condition says that both sides of a key are in the same place of its order.
fn is_same(cond: &Expr, key: &Key, result: &Expr, share: &Expr) -> bool {
    *cond == key.same(result, share) || *cond == key.same(share, result)
}

/// The comparison of the result of a target with its share, either way round.
fn compared(cond: &Expr, pairs: &[(&Expr, &Expr)]) -> Option<Key> {
    let ExprKind::Binary(op, a, b) = cond.kind() else {
        return None;
    };
    let position = |x, y| pairs.iter().position(|pair| *pair == (x, y));
    let (target, op) = match (position(a, b), position(b, a)) {
        (Some(target), _) => (target, *op),
        (None, Some(target)) => (target, op.mirrored()?),
        (None, None) => return None,
    };
    Some(Key {
        target,
        op,
        nans: Nans::Apart,
    })
}

/// Refuses choices of which the order of iterations would decide: each chosen target is a key of its own order, so that equal
/// ones are the same, and of each key the target is chosen by an order that begins as this one does.
fn check_orders(updates: &[Update], orders: &[Vec<Key>]) -> Result<(), &'static str> {
    let keys = |at: usize| -> Vec<Preference> {
        let update = &updates[at];
        let key = |key: &Key| update.preference(key);
        orders[at].iter().map(key).collect()
    };
    for at in (0..updates.len()).filter(|&at| !orders[at].is_empty()) {
        let own = keys(at);
        if !own.iter().any(|key| key.target == at) {
            return Err("of equal elements the first or the last iteration is chosen");
        }
        for key in &own {
            let other = keys(key.target);
            if other.is_empty() || !own.iter().zip(&other).all(|(a, b)| a == b) {
                return Err("it compares a target that is not chosen by the same order");
            }
        }
    }
    Ok(())
}
