//! Reductions that choose one or several elements together, as the index and the value of an argmax, run on vectors.
//!
//! `for k { t = select(c(t, x), t, x) }`, with a `t` and an `x` for each element, becomes the same on vectors of neighbouring `k`
//! with accumulators that begin as `t`; then registers are chosen from, then lanes, then the iterations that are left. `c` must be
//! an order that tells all but equal elements apart: then the accumulators may begin with an element that is chosen from again.

use super::Optimizer;
use super::reduce::{Widths, on_lanes};
use crate::kernel::build::Loop;
use crate::kernel::{ArrayId, Expr, ForKind, Space, Stmt, Ty, VarId, VarInfo};
use crate::tensor::ScalarType;

/// Elements that a loop chooses together.
struct Choice {
    elements: Vec<Element>,
    /// Variables of the kernel that stand for the elements so far in `Element::chosen`, and for those of an iteration.
    sides: [Vec<VarId>; 2],
}

/// One of them, a local cell.
struct Element {
    array: ArrayId,
    index: Expr,
    dtype: ScalarType,
    /// The element of an iteration.
    share: Expr,
    /// Which of two elements remains, in terms of both sides.
    chosen: Expr,
}

impl Optimizer {
    /// The loop on vectors, if it chooses among elements of its iterations.
    pub(super) fn choose_on_vectors(&mut self, l: &Loop) -> Option<Vec<Stmt>> {
        let ty = self.scalar_of(l.var)?;
        let choice = self.choice(l)?;
        let Widths {
            registers,
            lanes,
            wide,
        } = self.widths(l, choice.elements.iter().map(|e| e.dtype))?;
        let elements = || choice.elements.iter();
        let accumulators: Vec<ArrayId> = elements()
            .map(|e| self.kernel.new_local("chosen", e.dtype, wide.into()))
            .collect();
        let mut out: Vec<Stmt> = elements()
            .zip(&accumulators)
            .map(|(e, &array)| {
                let so_far = Expr::load(e.array, e.index.clone(), 1);
                Stmt::store(array, zero(), Expr::Splat(Box::new(so_far), wide))
            })
            .collect();
        let at = |index: i64, lanes: u16| -> Vec<Expr> {
            let index = Expr::Int(index, ScalarType::I64);
            let loads = accumulators.iter();
            loads
                .map(|&array| Expr::load(array, index.clone(), lanes))
                .collect()
        };
        let mut done = Expr::Int(0, ty);
        for width in if wide == lanes {
            vec![lanes]
        } else {
            vec![wide, lanes]
        } {
            let of_group = |opt: &mut Self, first: &Expr| {
                let shares = elements().map(|e| opt.vector(&e.share, l.var, first, width));
                let shares: Vec<Expr> = shares.collect::<Option<_>>()?;
                let places = accumulators.iter().map(|&array| (array, zero()));
                opt.choose(
                    &choice,
                    &places.collect::<Vec<_>>(),
                    at(0, width),
                    shares,
                    width,
                )
            };
            let step = self.step(l, width, &done, of_group)?;
            done = step.1;
            out.extend(step.0);
        }
        let first: Vec<_> = accumulators.iter().map(|&array| (array, zero())).collect();
        for register in 1..registers {
            let other = at(register as i64 * i64::from(lanes), lanes);
            out.extend(self.choose(&choice, &first, at(0, lanes), other, lanes)?);
        }
        out.extend(self.choose_of_lanes(l, &choice, at(0, lanes), lanes)?);
        out.push(self.rest(l, done));
        Some(out)
    }

    /// Chooses from the lanes of vectors, one by one.
    fn choose_of_lanes(
        &mut self,
        l: &Loop,
        choice: &Choice,
        vectors: Vec<Expr>,
        lanes: u16,
    ) -> Option<Vec<Stmt>> {
        let ty = self.scalar_of(l.var)?;
        let lane = self.kernel.new_var_like(l.var, "_lane");
        let mut out = vec![];
        let mut shares = vec![];
        for (e, vector) in choice.elements.iter().zip(vectors) {
            let array = self.kernel.new_local("lanes", e.dtype, lanes.into());
            out.push(Stmt::store(array, zero(), vector));
            shares.push(Expr::load(array, Expr::Var(lane), 1));
        }
        let places = choice.elements.iter().map(|e| (e.array, e.index.clone()));
        let places: Vec<_> = places.collect();
        let so_far = places
            .iter()
            .map(|(array, index)| Expr::load(*array, index.clone(), 1));
        let so_far = so_far.collect();
        let of_lanes = Loop {
            var: lane,
            min: Expr::Int(0, ty),
            extent: Expr::Int(lanes.into(), ty),
            kind: ForKind::Serial,
            body: self.choose(choice, &places, so_far, shares, 1)?,
        };
        out.push(of_lanes.into());
        Some(out)
    }

    /// Stores what is chosen of `left` and `right`, which have so many lanes each.
    fn choose(
        &mut self,
        choice: &Choice,
        places: &[(ArrayId, Expr)],
        left: Vec<Expr>,
        right: Vec<Expr>,
        lanes: u16,
    ) -> Option<Vec<Stmt>> {
        let mut out = vec![];
        let mut given = vec![];
        for (vars, values) in choice.sides.iter().zip([left, right]) {
            for (&var, value) in vars.iter().zip(values) {
                let named = self.vector_like(var, lanes);
                out.push(Stmt::Let(named, value));
                given.push((var, Expr::Var(named)));
            }
        }
        let value = |e: &Expr| {
            let given = given.iter().find(|(var, _)| *e == Expr::Var(*var));
            given.map(|(_, value)| value.clone())
        };
        let mut stores = vec![];
        for (at, (e, (array, index))) in choice.elements.iter().zip(places).enumerate() {
            let chosen = match lanes {
                1 => e.chosen.rewrite(&mut |e| value(e)),
                _ => {
                    let varies = |e: &Expr| given.iter().any(|(var, _)| e.uses(*var));
                    on_lanes(&e.chosen, lanes, &varies, &value)?
                }
            };
            let named = self.vector_like(choice.sides[0][at], lanes);
            out.push(Stmt::Let(named, chosen));
            stores.push(Stmt::store(*array, index.clone(), Expr::Var(named)));
        }
        out.extend(stores);
        Some(out)
    }

    /// A variable like another one, of so many lanes.
    fn vector_like(&mut self, var: VarId, lanes: u16) -> VarId {
        let VarInfo { name, ty } = self.kernel.vars[var].clone();
        let ty = Ty { lanes, ..ty };
        self.kernel.vars.push(VarInfo { name, ty })
    }

    /// What the loop chooses, if it consists of that: names for values, then stores to different local cells.
    fn choice(&mut self, l: &Loop) -> Option<Choice> {
        let mut names: Vec<(VarId, Expr)> = vec![];
        let mut updates: Vec<(ArrayId, &Expr, Expr)> = vec![];
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
                    // All elements are chosen before one is stored.
                    let stored = |e: &Expr| match e {
                        Expr::Load { array, .. } => updates.iter().any(|(own, ..)| own == array),
                        _ => false,
                    };
                    if value.any(&stored) {
                        return None;
                    }
                    updates.push((*array, index, written_out(value, &names)));
                }
                _ => return None,
            }
        }
        let cells: Vec<Expr> = updates
            .iter()
            .map(|(array, index, _)| Expr::load(*array, (*index).clone(), 1))
            .collect();
        let of_cells = |e: &Expr| match e {
            Expr::Load { array, .. } => updates.iter().any(|(own, ..)| own == array),
            _ => false,
        };
        let mut shares = vec![];
        for (at, (array, index, value)) in updates.iter().enumerate() {
            let info = self.kernel.arrays.get(*array)?;
            let Expr::Select(_, a, b) = value else {
                return None;
            };
            let share = match (**a == cells[at], **b == cells[at]) {
                (true, false) => b,
                (false, true) => a,
                _ => return None,
            };
            let fits = info.space == Space::Local
                && info.dtype != ScalarType::Bool
                && !index.loads()
                && !index.uses(l.var)
                && !cells[..at].contains(&cells[at])
                && share.uses(l.var)
                && !share.any(&of_cells)
                && !shares.contains(&**share);
            if !fits {
                return None;
            }
            shares.push((**share).clone());
        }
        let dtypes: Vec<ScalarType> = (updates.iter())
            .map(|(array, ..)| self.kernel.arrays[*array].dtype)
            .collect();
        let sides = ["left", "right"].map(|name| -> Vec<VarId> {
            let side = dtypes.iter().map(|&dtype| VarInfo {
                name: name.to_owned(),
                ty: Ty::scalar(dtype),
            });
            side.map(|info| self.kernel.vars.push(info)).collect()
        });
        let mut elements = vec![];
        for (at, (array, index, value)) in updates.iter().enumerate() {
            let chosen = value.rewrite(&mut |e| {
                let [left, right] = &sides;
                let so_far = cells.iter().position(|cell| cell == e);
                let share = || shares.iter().position(|share| share == e);
                let var = so_far.map(|at| left[at]).or_else(|| Some(right[share()?]));
                var.map(Expr::Var)
            });
            if chosen.loads() || chosen.uses(l.var) {
                return None;
            }
            elements.push(Element {
                array: *array,
                index: (*index).clone(),
                dtype: dtypes[at],
                share: shares[at].clone(),
                chosen,
            });
        }
        (!elements.is_empty()).then_some(Choice { elements, sides })
    }
}

/// The value with names written out.
fn written_out(e: &Expr, names: &[(VarId, Expr)]) -> Expr {
    e.rewrite(&mut |e| {
        let named = names.iter().find(|(var, _)| *e == Expr::Var(*var));
        named.map(|(_, value)| value.clone())
    })
}

fn zero() -> Expr {
    Expr::Int(0, ScalarType::I64)
}
