//! Elements that a loop chooses together, as the index and the value of an argmax.
//!
//! `for k { t = select(c(t, x), t, x) }`, with a `t` and an `x` for each element. `c` must be an order that tells all but equal elements
//! apart, which the mark of the loop promises.

use super::lanes::lane_by_lane;
use super::{Loop, NoReduction};
use crate::kernel::{ArrayId, Expr, Kernel, Stmt, VarId};
use crate::tensor::ScalarType;

/// Elements that a loop chooses together.
pub(crate) struct Choice(pub(crate) Vec<Chosen>);

/// One of them, an element of a local array.
#[cfg_attr(
    not(feature = "cpu"),
    allow(dead_code, reason = "code generators of the CPU read the fields")
)]
pub(crate) struct Chosen {
    pub(crate) array: ArrayId,
    pub(crate) index: Expr,
    pub(crate) dtype: ScalarType,
    /// The element of an iteration.
    pub(crate) share: Expr,
    /// Which of two remains: of those so far, as they are loaded, and those of an iteration, as they are written there.
    value: Expr,
}

impl Chosen {
    /// The element so far.
    fn so_far(&self) -> Expr {
        Expr::load(self.array, self.index.clone(), 1)
    }
}

impl Choice {
    /// What remains of the elements `left` and `right`, for the element at this position; both have so many lanes. `None` if no
    /// operation on vectors chooses.
    pub(crate) fn remaining(
        &self,
        at: usize,
        lanes: u16,
        left: &[Expr],
        right: &[Expr],
    ) -> Option<Expr> {
        let given = |e: &Expr| {
            let so_far = self.0.iter().position(|chosen| chosen.so_far() == *e);
            let share = || self.0.iter().position(|chosen| chosen.share == *e);
            let left = so_far.map(|at| left[at].clone());
            left.or_else(|| Some(right[share()?].clone()))
        };
        let value = &self.0[at].value;
        if lanes == 1 {
            return Some(value.rewrite(&mut |e| given(e)));
        }
        let varies = |e: &Expr| e.any(&|e| given(e).is_some());
        lane_by_lane(value, lanes, &varies, &given)
    }

    /// Whether operations on vectors choose.
    pub(super) fn has_lanes(&self) -> bool {
        let [left, right] = self.placeholders();
        (0..self.0.len()).all(|at| self.remaining(at, 2, &left, &right).is_some())
    }

    /// Something that stands for elements: it loads nothing and uses no variable.
    fn placeholders(&self) -> [Vec<Expr>; 2] {
        let zeros = vec![Expr::Int(0, ScalarType::I64); self.0.len()];
        [zeros.clone(), zeros]
    }
}

/// A store to an element of what remains.
struct Update {
    array: ArrayId,
    index: Expr,
    value: Expr,
}

impl Kernel {
    /// What the loop chooses, if it consists of that: names for values, then stores to different elements.
    pub(super) fn choice(&self, l: &Loop) -> Result<Choice, NoReduction> {
        let updates = updates(l)?;
        let is_own = |e: &Expr| match e {
            Expr::Load { array, .. } => updates.iter().any(|update| update.array == *array),
            _ => false,
        };
        let mut elements: Vec<Chosen> = vec![];
        for update in &updates {
            let dtype = self.element(update.array, &update.index, l.var)?;
            let Expr::Select(_, a, b) = &update.value else {
                return Err(NoReduction::Statement);
            };
            let own = Expr::load(update.array, update.index.clone(), 1);
            let share = match (**a == own, **b == own) {
                (true, false) => b,
                (false, true) => a,
                _ => return Err(NoReduction::Statement),
            };
            let known = |chosen: &Chosen| chosen.so_far() == own || chosen.share == **share;
            if share.any(&is_own) || elements.iter().any(known) {
                return Err(NoReduction::Read);
            }
            if !share.uses(l.var) {
                return Err(NoReduction::Term);
            }
            elements.push(Chosen {
                array: update.array,
                index: update.index.clone(),
                dtype,
                share: (**share).clone(),
                value: update.value.clone(),
            });
        }
        let choice = Choice(elements);
        let [left, right] = choice.placeholders();
        let depends = |at: usize| {
            let rest = choice.remaining(at, 1, &left, &right);
            rest.is_none_or(|rest| rest.loads() || rest.uses(l.var))
        };
        match (0..choice.0.len()).any(depends) {
            true => Err(NoReduction::Read),
            false => Ok(choice),
        }
    }
}

/// The stores of a loop, with names for values written out. All elements are chosen before one is stored.
fn updates(l: &Loop) -> Result<Vec<Update>, NoReduction> {
    let mut names: Vec<(VarId, Expr)> = vec![];
    let mut updates: Vec<Update> = vec![];
    for stmt in &l.body {
        match stmt {
            Stmt::Let(var, value) if updates.is_empty() => {
                let value = written_out(value, &names);
                names.push((*var, value));
            }
            Stmt::Store {
                array,
                index,
                value,
                active: None,
            } => {
                let is_stored = |e: &Expr| match e {
                    Expr::Load { array, .. } => updates.iter().any(|own| own.array == *array),
                    _ => false,
                };
                if value.any(&is_stored) {
                    return Err(NoReduction::Read);
                }
                updates.push(Update {
                    array: *array,
                    index: index.clone(),
                    value: written_out(value, &names),
                });
            }
            _ => return Err(NoReduction::Statement),
        }
    }
    match updates.is_empty() {
        true => Err(NoReduction::Statement),
        false => Ok(updates),
    }
}

/// The value with names written out.
fn written_out(e: &Expr, names: &[(VarId, Expr)]) -> Expr {
    e.rewrite(&mut |e| {
        let named = names.iter().find(|(var, _)| *e == Expr::Var(*var));
        named.map(|(_, value)| value.clone())
    })
}
