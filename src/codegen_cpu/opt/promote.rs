//! Elements that a loop accumulates in, kept in registers while it runs (scalar replacement; LLVM: `licm` promotion).
//!
//! `for k { c[i] = c[i] + f(k) }` becomes `t = c[i]; for k { t = t + f(k) }; c[i] = t`. Every access to the array in the loop must
//! be at an invariant position, any two of them at the same or at disjoint elements, and happen in every iteration; different
//! arrays never overlap (the launch checks it).

use super::{Loop, Optimizer, binary, load};
use crate::codegen_cpu::locals::lanes_of_expr;
use crate::codegen_cpu::tree;
use crate::kernel::{ArrayId, Expr, Space, Stmt};
use crate::tensor::ScalarType;
use crate::tensor::scalar::BinOp;

/// An element, or neighbouring ones, that the loop works on.
struct Cell {
    array: ArrayId,
    index: Expr,
    lanes: u16,
    stored: bool,
}

/// Statements before a loop, the loop, and statements after it.
pub(super) type Around = (Vec<Stmt>, Loop, Vec<Stmt>);

impl Optimizer {
    /// The loop with its accumulators in local arrays; `None` if it has none.
    pub(super) fn promote(&mut self, l: &Loop) -> Option<Around> {
        if !self.kernel.in_bounds || !l.body.iter().all(is_store) {
            return None;
        }
        let cells = self.cells(l);
        if cells.is_empty() {
            return None;
        }
        let (mut before, mut after) = (vec![], vec![]);
        let mut body = l.body.clone();
        for cell in &cells {
            let dtype = self.kernel.arrays[cell.array].dtype;
            let name = format!("{}_cell", self.kernel.arrays[cell.array].name);
            let local = self.local(&name, dtype, cell.lanes.into());
            let zero = Expr::Int(0, ScalarType::I64);
            before.push(Stmt::Store {
                array: local,
                index: zero.clone(),
                value: load(cell.array, cell.index.clone(), cell.lanes),
            });
            if cell.stored {
                after.push(Stmt::Store {
                    array: cell.array,
                    index: cell.index.clone(),
                    value: load(local, zero.clone(), cell.lanes),
                });
            }
            self.replace(&mut body, cell, local);
        }
        let inner = Loop { body, ..l.clone() };
        if matches!(l.extent, Expr::Int(1.., _)) {
            return Some((before, inner, after));
        }
        // Without iterations nothing may be read or written.
        let any = Expr::Binary(
            BinOp::Gt,
            Box::new(l.extent.clone()),
            Box::new(Expr::Int(0, self.scalar_of(l.var)?)),
        );
        let guard = |body| {
            vec![Stmt::If {
                cond: any.clone(),
                then: body,
                otherwise: vec![],
            }]
        };
        Some((guard(before), inner, guard(after)))
    }

    /// The cells of the arrays that the loop writes and that can be kept in registers.
    fn cells(&self, l: &Loop) -> Vec<Cell> {
        let mut arrays: Vec<ArrayId> = Vec::new();
        for s in &l.body {
            if let Stmt::Store {
                array,
                index: _,
                value: _,
            } = s
                && !arrays.contains(array)
            {
                arrays.push(*array);
            }
        }
        let cells = arrays.into_iter().filter_map(|a| self.cells_of(a, l));
        cells.flatten().collect()
    }

    fn cells_of(&self, array: ArrayId, l: &Loop) -> Option<Vec<Cell>> {
        let accesses = self.accesses(array, &l.body);
        // Those are in registers anyway.
        if self.kernel.arrays.get(array)?.space == Space::Local
            && accesses
                .iter()
                .all(|(index, _, _)| self.constant(index).is_some())
        {
            return None;
        }
        let mut cells: Vec<Cell> = Vec::new();
        for (index, lanes, stored) in accesses {
            if tree::uses(&index, l.var) || tree::loads(&index) {
                return None;
            }
            let mut same = None;
            for (i, cell) in cells.iter().enumerate() {
                let apart =
                    self.constant(&binary(BinOp::Sub, index.clone(), cell.index.clone()))?;
                if apart == 0 && cell.lanes == lanes {
                    same = Some(i);
                } else if apart < i64::from(cell.lanes) && -apart < i64::from(lanes) {
                    return None;
                }
            }
            match same {
                Some(i) => cells[i].stored |= stored,
                None => cells.push(Cell {
                    array,
                    index,
                    lanes,
                    stored,
                }),
            }
        }
        Some(cells)
    }

    /// Index, lanes and whether it is a store, of each access.
    fn accesses(&self, array: ArrayId, body: &[Stmt]) -> Vec<(Expr, u16, bool)> {
        let mut found = Vec::new();
        for s in body {
            let Stmt::Store {
                array: to,
                index,
                value,
            } = s
            else {
                continue;
            };
            if *to == array {
                found.push((index.clone(), lanes_of_expr(&self.kernel, value), true));
            }
            for e in [index, value] {
                tree::walk(e, &mut |e| {
                    if let Expr::Load {
                        array: from,
                        index,
                        lanes,
                    } = e
                        && *from == array
                    {
                        found.push(((**index).clone(), *lanes, false));
                    }
                });
            }
        }
        found
    }

    fn constant(&self, e: &Expr) -> Option<i64> {
        self.scope.poly(&self.kernel, e).as_constant()
    }

    /// Turns accesses to the cell into accesses to the local array.
    fn replace(&self, body: &mut [Stmt], cell: &Cell, local: ArrayId) {
        let is_cell = |array: ArrayId, index: &Expr| {
            array == cell.array
                && self.constant(&binary(BinOp::Sub, index.clone(), cell.index.clone())) == Some(0)
        };
        for s in body.iter_mut() {
            if let Stmt::Store {
                array,
                index,
                value: _,
            } = s
                && is_cell(*array, index)
            {
                *array = local;
                *index = Expr::Int(0, ScalarType::I64);
            }
        }
        tree::map_exprs(body, &mut |e| {
            tree::rewrite(e, &mut |e| match e {
                Expr::Load {
                    array,
                    index,
                    lanes,
                } if is_cell(*array, index) => {
                    Some(load(local, Expr::Int(0, ScalarType::I64), *lanes))
                }
                _ => None,
            })
        });
    }
}

fn is_store(s: &Stmt) -> bool {
    matches!(
        s,
        Stmt::Store {
            array: _,
            index: _,
            value: _
        }
    )
}
