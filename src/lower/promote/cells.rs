//! The elements of arrays that a loop works on, and when they are apart.

use super::Promoter;
use crate::kernel::poly::{Atom, Poly};
use crate::kernel::{ArrayId, Expr, Space, Stmt, Ty, VarId};
use crate::tensor::ScalarType;
use crate::tensor::scalar::BinOp;

/// The type of indices on the CPU.
const INDEX: Ty = Ty::scalar(ScalarType::I64);

/// An element, or neighbouring ones, that the loop works on.
pub(super) struct Cell {
    pub(super) access: Access,
    /// Whether any access to it is a load.
    pub(super) loaded: bool,
    /// Whether any access to it is a store.
    pub(super) stored: bool,
}

/// Where an access is.
#[derive(Clone)]
pub(super) struct Access {
    pub(super) array: ArrayId,
    pub(super) index: Expr,
    /// The index as a polynomial.
    pub(super) place: Poly,
    pub(super) lanes: u16,
    pub(super) active: Option<Expr>,
}

impl Access {
    /// How many elements it lies behind the other.
    fn behind(&self, other: &Self) -> Poly {
        self.place.wrapping_plus(&other.place, -1)
    }

    pub(super) fn load(&self) -> Expr {
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

/// Distances between cells that may be tested before the loop. Scattered elements have as many as there are pairs of them.
const MOST_TESTED: usize = 16;

/// The cells of an array, and when they are apart.
type Cells = (Vec<Cell>, Vec<Expr>);

impl Promoter<'_> {
    /// The cells of the arrays that the body of these loops writes and that can be kept in registers.
    pub(super) fn cells(&self, vars: &[VarId], body: &[Stmt]) -> Cells {
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
                cell.loaded |= !stored;
                cell.stored |= stored;
                continue;
            }
            for cell in &cells {
                let lanes = access.most_lanes().max(cell.access.most_lanes());
                let apart = access.behind(&cell.access);
                if let Some(distance) = apart.as_constant() {
                    if distance.unsigned_abs() < lanes.unsigned_abs() {
                        return None;
                    }
                    continue;
                }
                let types = [index, &cell.access.index].map(|index| self.kernel.ty(index));
                if types != [INDEX; 2] {
                    return None;
                }
                note(&mut unknown, apart, lanes);
            }
            if unknown.len() > MOST_TESTED {
                return None;
            }
            cells.push(Cell {
                access,
                loaded: !stored,
                stored,
            });
        }
        let conditions = unknown.iter().map(Distance::is_apart);
        Some((cells, conditions.collect()))
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
                    Expr::Lane(of, _) | Expr::Any(of) => loads(of),
                    _ => false,
                });
                !elsewhere
            }
            other => !other.exprs().into_iter().any(&loads),
        })
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
                    place: self.scope.poly(self.kernel, index),
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
                            place: self.scope.poly(self.kernel, index),
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
}

/// Distances of cells that differ by constants only.
struct Distance {
    /// Without its constant.
    symbolic: Poly,
    /// The least and the greatest constant.
    least: i64,
    greatest: i64,
    lanes: i64,
}

impl Distance {
    /// `symbolic + least >= lanes or symbolic + greatest <= -lanes`
    fn is_apart(&self) -> Expr {
        let compare = |op, constant: i64, lanes: i64| {
            let distance = with_constant(&self.symbolic, constant);
            let lanes = Expr::Int(lanes, INDEX.scalar);
            Expr::Binary(op, Box::new(distance), Box::new(lanes))
        };
        Expr::folded(
            BinOp::Or,
            compare(BinOp::Ge, self.least, self.lanes),
            compare(BinOp::Le, self.greatest, -self.lanes),
        )
    }
}

/// Adds a distance to those that differ from it by a constant.
fn note(distances: &mut Vec<Distance>, poly: Poly, lanes: i64) {
    let like = |d: &&mut Distance| d.symbolic.wrapping_plus(&poly, -1).as_constant().is_some();
    let constant = poly.constant;
    match distances.iter_mut().find(like) {
        Some(d) => {
            d.lanes = d.lanes.max(lanes);
            d.least = d.least.min(constant);
            d.greatest = d.greatest.max(constant);
        }
        None => distances.push(Distance {
            symbolic: poly,
            least: constant,
            greatest: constant,
            lanes,
        }),
    }
}

/// The sum with another constant, as an expression. All its factors are of the type of indices, since nothing narrower is looked into.
fn with_constant(poly: &Poly, constant: i64) -> Expr {
    let int = |value| Expr::Int(value, INDEX.scalar);
    let terms = poly.terms.iter().map(|term| {
        let factors = term.factors.iter().map(|factor| match &factor.atom {
            Atom::Var(var) => Expr::Var(*var),
            Atom::Other(e) => e.clone(),
        });
        let product = factors.reduce(|a, b| Expr::folded(BinOp::Mul, a, b));
        let product = product.expect("a term has factors");
        Expr::folded(BinOp::Mul, product, int(term.coefficient))
    });
    let sum = terms.reduce(|a, b| Expr::folded(BinOp::Add, a, b));
    let sum = sum.unwrap_or_else(|| int(0));
    Expr::folded(BinOp::Add, sum, int(constant))
}
