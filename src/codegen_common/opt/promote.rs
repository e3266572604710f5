//! Elements that a loop accumulates in, kept in registers while it runs (scalar replacement; LLVM: `licm` promotion).
//!
//! `for k { c[i] = c[i] + f(k) }` becomes `t = c[i]; for k { t = t + f(k) }; c[i] = t`. Every access to the array in the loop must
//! be at an invariant position, any two of them at the same or at disjoint elements, and happen in every iteration; different
//! arrays never overlap (the launch checks it). Where only the dims tell that elements are disjoint, as those of different rows
//! of a matrix with `n` columns, that is tested before the loop.

use super::{Loop, Optimizer, binary, load};
use crate::kernel::poly::Poly;
use crate::kernel::{ArrayId, Expr, Space, Stmt, VarId};
use crate::tensor::ScalarType;
use crate::tensor::scalar::BinOp;

/// An element, or neighbouring ones, that the loop works on.
struct Cell {
    access: Access,
    /// Whether any access to it is a store.
    stored: bool,
}

/// Where an access is.
#[derive(Clone)]
struct Access {
    array: ArrayId,
    index: Expr,
    /// The index as a polynomial.
    place: Poly,
    lanes: u16,
    active: Option<Expr>,
}

impl Access {
    /// How many elements it lies behind the other.
    fn behind(&self, other: &Self) -> Poly {
        self.place.wrapping_plus(&other.place, -1)
    }

    fn load(&self) -> Expr {
        Expr::Load {
            array: self.array,
            index: Box::new(self.index.clone()),
            lanes: self.lanes,
            active: self.active.clone().map(Box::new),
        }
    }

    /// The lanes that may touch memory.
    fn most_lanes(&self) -> i64 {
        let lanes = i64::from(self.lanes);
        match self.active {
            Some(Expr::Int(active, _)) => active.clamp(0, lanes),
            _ => lanes,
        }
    }

    /// What it depends on.
    fn operands(&self) -> impl Iterator<Item = &Expr> {
        std::iter::once(&self.index).chain(&self.active)
    }
}

/// A loop that was freed of memory.
pub(super) struct Promoted {
    pub(super) before: Vec<Stmt>,
    pub(super) inner: Loop,
    pub(super) after: Vec<Stmt>,
    /// Must be true, else the loop must run as it was: that cells are apart where only the dims tell.
    pub(super) condition: Option<Expr>,
}

/// Distances between cells that may be tested before the loop. Scattered elements have as many as there are pairs of them.
const MOST_TESTED: usize = 16;

/// The cells of an array, and when they are apart.
type Cells = (Vec<Cell>, Vec<Expr>);

impl Optimizer {
    /// The loop with its accumulators in local arrays; `None` if it has none.
    pub(super) fn promote(&mut self, l: &Loop) -> Option<Promoted> {
        if !self.kernel.in_bounds || !l.body.iter().all(is_straight) {
            return None;
        }
        let (cells, conditions) = self.cells(&[l.var], &l.body);
        if cells.is_empty() {
            return None;
        }
        let mut body = l.body.clone();
        let (mut before, mut after) = self.in_registers(&cells, &mut body);
        let inner = Loop { body, ..l.clone() };
        let condition = conditions
            .into_iter()
            .reduce(|a, b| binary(BinOp::And, a, b));
        if !has_iterations(&l.extent) {
            // Without iterations nothing may be read or written.
            let zero = Expr::Int(0, self.scalar_of(l.var)?);
            let any = binary(BinOp::Gt, l.extent.clone(), zero);
            (before, after) = (guarded(&any, before), guarded(&any, after));
        }
        Some(Promoted {
            before,
            inner,
            after,
            condition,
        })
    }

    /// The same for a loop that holds nothing but another one, and so on down to stores: what none of them moves is kept while
    /// all of them run.
    pub(super) fn promote_nest(&mut self, l: &Loop) -> Option<Promoted> {
        let mut inner = l.clone();
        let mut vars = vec![l.var];
        let stores = innermost(&mut inner.body, &mut vars)?;
        if !self.kernel.in_bounds || vars.len() == 1 || !has_iterations(&l.extent) {
            return None;
        }
        let (cells, conditions) = self.cells(&vars, stores);
        if cells.is_empty() || !conditions.is_empty() {
            return None;
        }
        let (before, after) = self.in_registers(&cells, stores);
        Some(Promoted {
            before,
            inner,
            after,
            condition: None,
        })
    }

    /// Makes a local array of each cell in some stores; gives what loads them, and what stores them.
    fn in_registers(&mut self, cells: &[Cell], body: &mut [Stmt]) -> (Vec<Stmt>, Vec<Stmt>) {
        let (mut before, mut after) = (vec![], vec![]);
        let mut locals = vec![];
        for cell in cells {
            let Access {
                array,
                index,
                place: _,
                lanes,
                active,
            } = cell.access.clone();
            let info = &self.kernel.arrays[array];
            let (dtype, name) = (info.dtype, format!("{}_cell", info.name));
            let local = self.local(&name, dtype, lanes.into());
            let zero = Expr::Int(0, ScalarType::I64);
            before.push(Stmt::Store {
                array: local,
                index: zero.clone(),
                value: cell.access.load(),
                active: None,
            });
            if cell.stored {
                after.push(Stmt::Store {
                    array,
                    index,
                    value: load(local, zero.clone(), lanes),
                    active,
                });
            }
            locals.push((cell, local));
        }
        self.replace(body, &locals);
        (before, after)
    }

    /// The cells of the arrays that the body of these loops writes and that can be kept in registers.
    fn cells(&self, vars: &[VarId], body: &[Stmt]) -> Cells {
        let mut arrays: Vec<ArrayId> = Vec::new();
        for s in body {
            if let Stmt::Store {
                array,
                index: _,
                value: _,
                active: _,
            } = s
                && !arrays.contains(array)
            {
                arrays.push(*array);
            }
        }
        let named = body.iter().filter_map(|s| match s {
            Stmt::Let(var, _) => Some(*var),
            _ => None,
        });
        let vars: Vec<VarId> = vars.iter().copied().chain(named).collect();
        let (mut cells, mut conditions) = (vec![], vec![]);
        for (own, apart) in arrays
            .into_iter()
            .filter_map(|a| self.cells_of(a, &vars, body))
        {
            cells.extend(own);
            conditions.extend(apart);
        }
        (cells, conditions)
    }

    fn cells_of(&self, array: ArrayId, vars: &[VarId], body: &[Stmt]) -> Option<Cells> {
        let accesses = self.accesses(array, body);
        // Those are in registers anyway.
        if self.kernel.arrays.get(array)?.space == Space::Local && !self.in_memory.contains(&array)
        {
            return None;
        }
        if accesses.iter().any(|(access, _)| access.active.is_some())
            && !self.sums_in_place(array, body)
        {
            return None;
        }
        let mut cells: Vec<Cell> = Vec::new();
        let mut unknown: Vec<Distance> = Vec::new();
        for (access, stored) in accesses {
            let moves = |e: &Expr| vars.iter().any(|&var| e.uses(var)) || e.loads();
            if access.operands().any(moves) {
                return None;
            }
            let (index, lanes) = (&access.index, access.lanes);
            let is_same = |cell: &&mut Cell| {
                let other = &cell.access;
                (other.lanes, &other.active) == (lanes, &access.active)
                    && access.behind(other).as_constant() == Some(0)
            };
            if let Some(cell) = cells.iter_mut().find(is_same) {
                cell.stored |= stored;
                continue;
            }
            for cell in &cells {
                let lanes = access.most_lanes().max(cell.access.most_lanes());
                match access.behind(&cell.access) {
                    apart if apart.as_constant().is_some_and(|d| d.abs() < lanes) => return None,
                    apart if apart.as_constant().is_some() => {}
                    apart => note(
                        &mut unknown,
                        apart,
                        binary(BinOp::Sub, index.clone(), cell.access.index.clone()),
                        lanes,
                    ),
                }
            }
            if unknown.len() > MOST_TESTED {
                return None;
            }
            cells.push(Cell { access, stored });
        }
        let conditions = unknown.into_iter().map(|d| self.is_apart(d)).collect();
        Some((cells, conditions))
    }

    /// Whether elements of the array are loaded for stores to the same place alone: then it means nothing what lanes hold that are
    /// not active, and that are not stored in the end.
    fn sums_in_place(&self, array: ArrayId, body: &[Stmt]) -> bool {
        let loads =
            |e: &Expr| e.any(&|e| matches!(e, Expr::Load { array: from, .. } if *from == array));
        body.iter().all(|stmt| match stmt {
            Stmt::Store {
                array: to,
                index,
                value,
                active,
            } => {
                let elsewhere = value.any(&|e| match e {
                    Expr::Load {
                        array: from,
                        index: at,
                        active: own,
                        ..
                    } if *from == array => {
                        *to != array || **at != *index || own.as_deref() != active.as_ref()
                    }
                    Expr::Lane(of, _) => loads(of),
                    _ => false,
                });
                !elsewhere
            }
            other => !other.exprs().into_iter().any(&loads),
        })
    }

    /// `least >= lanes or greatest <= -lanes`
    fn is_apart(&self, d: Distance) -> Expr {
        let ty = self.kernel.ty(&d.least.1).scalar;
        let compare = |op, e, lanes| Expr::Binary(op, Box::new(e), Box::new(Expr::Int(lanes, ty)));
        binary(
            BinOp::Or,
            compare(BinOp::Ge, d.least.1, d.lanes),
            compare(BinOp::Le, d.greatest.1, -d.lanes),
        )
    }

    /// Each access to the array, and whether it is a store.
    fn accesses(&self, array: ArrayId, body: &[Stmt]) -> Vec<(Access, bool)> {
        let mut found = Vec::new();
        for s in body {
            if let Stmt::Store {
                array: to,
                index,
                value,
                active,
            } = s
                && *to == array
            {
                let lanes = self.kernel.ty(value).lanes;
                let access = Access {
                    array,
                    index: index.clone(),
                    place: self.scope.poly(&self.kernel, index),
                    lanes,
                    active: active.clone(),
                };
                found.push((access, true));
            }
            for e in s.exprs() {
                e.walk(&mut |e| {
                    if let Expr::Load {
                        array: from,
                        index,
                        lanes,
                        active,
                    } = e
                        && *from == array
                    {
                        let access = Access {
                            array,
                            index: (**index).clone(),
                            place: self.scope.poly(&self.kernel, index),
                            lanes: *lanes,
                            active: active.as_deref().cloned(),
                        };
                        found.push((access, false));
                    }
                });
            }
        }
        found
    }

    /// Turns accesses to cells into accesses to their local arrays.
    fn replace(&self, body: &mut [Stmt], locals: &[(&Cell, ArrayId)]) {
        let local_of = |array: ArrayId, index: &Expr| {
            let own = || {
                let cells = locals.iter().map(|(cell, local)| (&cell.access, *local));
                cells.filter(|(access, _)| access.array == array)
            };
            own().next()?;
            let as_written = own().find(|(access, _)| access.index == *index);
            let found = as_written.or_else(|| {
                let place = self.scope.poly(&self.kernel, index);
                let apart = |access: &Access| place.wrapping_plus(&access.place, -1);
                own().find(|(access, _)| apart(access).as_constant() == Some(0))
            });
            found.map(|(_, local)| local)
        };
        for s in body.iter_mut() {
            if let Stmt::Store {
                array,
                index,
                value: _,
                active,
            } = s
                && let Some(local) = local_of(*array, index)
            {
                *array = local;
                *index = Expr::Int(0, ScalarType::I64);
                *active = None;
            }
        }
        let from_local = &mut |e: &Expr| match e {
            Expr::Load {
                array,
                index,
                lanes,
                active: _,
            } => {
                let local = local_of(*array, index)?;
                Some(load(local, Expr::Int(0, ScalarType::I64), *lanes))
            }
            _ => None,
        };
        for s in body {
            s.map_exprs(&mut |e| e.rewrite(from_local));
        }
    }
}

/// Distances of cells that differ by constants only.
struct Distance {
    /// Without its constant.
    symbolic: Poly,
    least: (i64, Expr),
    greatest: (i64, Expr),
    lanes: i64,
}

/// Adds a distance to those that differ from it by a constant.
fn note(distances: &mut Vec<Distance>, poly: Poly, e: Expr, lanes: i64) {
    let like = |d: &&mut Distance| d.symbolic.wrapping_plus(&poly, -1).as_constant().is_some();
    let this = (poly.constant, e);
    match distances.iter_mut().find(like) {
        Some(d) => {
            d.lanes = d.lanes.max(lanes);
            if this.0 < d.least.0 {
                d.least = this;
            } else if this.0 > d.greatest.0 {
                d.greatest = this;
            }
        }
        None => distances.push(Distance {
            symbolic: poly,
            least: this.clone(),
            greatest: this,
            lanes,
        }),
    }
}

fn guarded(cond: &Expr, body: Vec<Stmt>) -> Vec<Stmt> {
    vec![Stmt::If {
        cond: cond.clone(),
        then: body,
        otherwise: vec![],
    }]
}

fn has_iterations(extent: &Expr) -> bool {
    matches!(extent, Expr::Int(1.., _))
}

/// The straight code below loops each of which holds one loop alone and has iterations.
fn innermost<'s>(body: &'s mut Vec<Stmt>, vars: &mut Vec<VarId>) -> Option<&'s mut Vec<Stmt>> {
    if body.iter().all(is_straight) {
        return Some(body);
    }
    match body.as_mut_slice() {
        [
            Stmt::For {
                var,
                min: _,
                extent,
                kind: _,
                body,
            },
        ] if has_iterations(extent) => {
            vars.push(*var);
            innermost(body, vars)
        }
        _ => None,
    }
}

/// Whether a statement has no others in it: a store, or a name for a value.
fn is_straight(s: &Stmt) -> bool {
    match s {
        Stmt::Store {
            array: _,
            index: _,
            value: _,
            active: _,
        }
        | Stmt::Let(..) => true,
        Stmt::For { .. }
        | Stmt::If { .. }
        | Stmt::While { .. }
        | Stmt::Barrier
        | Stmt::Fragment(_) => false,
    }
}
