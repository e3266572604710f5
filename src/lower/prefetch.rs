//! Software prefetch. A loop that begins with copies from device memory to shared memory loads the data of the next iteration into
//! registers before it computes, so that the latency of device memory overlaps with arithmetic.
//!
//! ```text
//! for k in 0 .. n:                     if 0 < n: next = A[0, …]
//!     tile[…] = A[k, …]          =>    for k in 0 .. n:
//!     sum += … tile[…] …                   tile[…] = next
//!                                          barrier
//!                                          if k + 1 < n: next = A[k + 1, …]
//!                                          sum += … tile[…] …
//! ```
//!
//! Tensors that the kernel writes are not prefetched. The computation is emitted once: TVM's `InjectSoftwarePipeline`, whose annotation
//! asks for this, peels the last iteration and keeps two tiles in shared memory.

use std::collections::{HashMap, HashSet};

use crate::kernel::{
    Access, Array, ArrayId, Expr, ForKind, HostExpr, Kernel, Space, Stmt, Ty, VarId,
};
use crate::tensor::ScalarType;
use crate::tensor::scalar::BinOp;

/// Makes the loops of these variables prefetch.
pub(super) fn prefetch(kernel: &mut Kernel, loops: &HashSet<VarId>) {
    if !loops.is_empty() {
        let body = std::mem::take(&mut kernel.body);
        kernel.body = in_body(kernel, loops, body);
    }
}

fn in_body(kernel: &mut Kernel, loops: &HashSet<VarId>, body: Vec<Stmt>) -> Vec<Stmt> {
    let mut out = Vec::new();
    for mut stmt in body {
        stmt.map_nested(&mut |body| in_body(kernel, loops, body));
        match stmt {
            Stmt::For {
                var,
                min,
                extent,
                kind: ForKind::Serial,
                body,
            } if loops.contains(&var) => {
                let l = Loop { var, min, extent };
                let body = rotated(kernel, &l, &body, &mut out).unwrap_or(body);
                let Loop { var, min, extent } = l;
                let kind = ForKind::Serial;
                out.push(Stmt::For {
                    var,
                    min,
                    extent,
                    kind,
                    body,
                });
            }
            other => out.push(other),
        }
    }
    out
}

/// A loop over `min .. min + extent`.
struct Loop {
    var: VarId,
    min: Expr,
    extent: Expr,
}

/// The body of a loop that prefetches what its copies load; the first loads go before the loop. `None` if there are none.
fn rotated(
    kernel: &mut Kernel,
    Loop { var, min, extent }: &Loop,
    body: &[Stmt],
    before: &mut Vec<Stmt>,
) -> Option<Vec<Stmt>> {
    let arrays = kernel.arrays.clone();
    let mut copies = Copies::default();
    let (mut out, mut loads) = (vec![], vec![]);
    let mut rest = body;
    while let [first, others @ ..] = rest
        && let Some((copy, load)) = copies.of(kernel, first)
    {
        out.push(copy);
        loads.extend(load);
        rest = others;
    }
    let loads = needed(loads);
    let is_fixed = |e: &Expr| !e.loads();
    if loads.is_empty() || !reads_copies(kernel, &out, rest) || !(is_fixed(min) && is_fixed(extent))
    {
        kernel.arrays = arrays;
        return None;
    }
    let index = kernel.vars[*var].ty.scalar;
    let at = |kernel: &mut Kernel, value: &Expr| {
        instance(kernel, &loads, &mut HashMap::from([(*var, value.clone())]))
    };
    let first = at(kernel, min);
    match extent {
        Expr::Int(1.., _) => before.extend(first),
        _ => before.push(only_if(below(Expr::Int(0, index), extent), first)),
    }
    // Behind the barrier, so that nobody waits there for what is loaded.
    out.push(Stmt::Barrier);
    let next = plus(&Expr::Var(*var), &Expr::Int(1, index));
    match (min, extent) {
        // The last iteration loads once more what it has, which takes less than a branch.
        (Expr::Int(min, _), Expr::Int(count @ 1.., _)) => {
            let last = Expr::Int(min + count - 1, index);
            let next = Expr::Binary(BinOp::Min, Box::new(next), Box::new(last));
            let info = kernel.vars[*var].clone();
            let name = kernel.vars.push(info);
            out.push(Stmt::Let(name, next));
            out.extend(at(kernel, &Expr::Var(name)));
        }
        _ => out.push(only_if(
            below(next.clone(), &plus(min, extent)),
            at(kernel, &next),
        )),
    }
    out.extend_from_slice(rest);
    Some(out)
}

/// Whether statements read an array that the copies write. Then lowering has refused or will refuse the loop if not all threads come by,
/// and a barrier is due here.
fn reads_copies(kernel: &Kernel, copies: &[Stmt], rest: &[Stmt]) -> bool {
    let mut written = HashSet::new();
    for stmt in copies {
        stmt.walk(&mut |s| written.extend(s.written()));
    }
    let is_copy =
        |array: ArrayId| written.contains(&array) && kernel.arrays[array].space == Space::Shared;
    let mut found = false;
    for stmt in rest {
        stmt.walk(&mut |s| found |= s.read().is_some_and(is_copy));
        stmt.walk_exprs(&mut |e| {
            found |= matches!(e, Expr::Load { array, .. } if is_copy(*array));
        });
    }
    found
}

fn below(a: Expr, b: &Expr) -> Expr {
    Expr::Binary(BinOp::Lt, Box::new(a), Box::new(b.clone()))
}

fn plus(a: &Expr, b: &Expr) -> Expr {
    match a {
        Expr::Int(0, _) => b.clone(),
        _ => Expr::Binary(BinOp::Add, Box::new(a.clone()), Box::new(b.clone())),
    }
}

fn only_if(cond: Expr, then: Vec<Stmt>) -> Stmt {
    Stmt::If {
        cond,
        then,
        otherwise: vec![],
    }
}

/// What copies to shared memory at the start of a loop.
#[derive(Clone, Default)]
struct Copies {
    /// The registers that values of a type are loaded to.
    registers: HashMap<(ScalarType, u16), ArrayId>,
    /// The values that copies have names for and that lie in registers.
    named: HashMap<VarId, Expr>,
}

impl Copies {
    /// The statement with values from registers, and what loads these; `None` if it is no part of a copy of read-only tensors.
    fn of(&mut self, kernel: &mut Kernel, stmt: &Stmt) -> Option<(Stmt, Option<Stmt>)> {
        match stmt {
            Stmt::Let(var, value) => {
                let Some((loaded, load)) = self.value(kernel, value)? else {
                    return Some((stmt.clone(), Some(Stmt::Let(*var, self.renamed(value)))));
                };
                self.named.insert(*var, loaded.clone());
                Some((Stmt::Let(*var, loaded), Some(load)))
            }
            Stmt::Store {
                array,
                index,
                value,
                active: None,
            } if kernel.arrays[*array].space == Space::Shared && !index.loads() => {
                let Some((loaded, load)) = self.value(kernel, value)? else {
                    return Some((stmt.clone(), None));
                };
                let store = Stmt::Store {
                    array: *array,
                    index: index.clone(),
                    value: loaded,
                    active: None,
                };
                Some((store, Some(load)))
            }
            Stmt::If {
                cond,
                then,
                otherwise,
            } if otherwise.is_empty() && !cond.loads() => {
                let before = (self.clone(), kernel.arrays.clone());
                let parts = then.iter().map(|stmt| self.of(kernel, stmt));
                let Some(parts) = parts.collect::<Option<Vec<_>>>() else {
                    (*self, kernel.arrays) = before;
                    return None;
                };
                let (copies, loads): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
                let load = only_if(self.renamed(cond), loads.into_iter().flatten().collect());
                Some((only_if(cond.clone(), copies), Some(load)))
            }
            _ => None,
        }
    }

    /// Registers for a value and what loads it, if it is loaded; `None` if it is not to be computed earlier.
    fn value(&mut self, kernel: &mut Kernel, value: &Expr) -> Option<Option<(Expr, Stmt)>> {
        let moves = !value.any(&|e| match e {
            Expr::Load { array, .. } => !is_read_only(&kernel.arrays[*array]),
            Expr::Shuffle(..) => true,
            _ => false,
        });
        let Ty { scalar, lanes } = kernel.ty(value);
        if !moves || value.loads() && scalar == ScalarType::Bool {
            return None;
        }
        if !value.loads() {
            return Some(None);
        }
        let registers = self.registers.entry((scalar, lanes)).or_insert_with(|| {
            kernel.arrays.push(Array {
                name: "next".to_owned(),
                dtype: scalar,
                len: HostExpr::Const(0),
                space: Space::Local,
                vector: lanes,
            })
        });
        let array = *registers;
        let len = kernel.arrays[array].len.as_const().unwrap_or(0);
        kernel.arrays[array].len = HostExpr::Const(len + i64::from(lanes));
        let index = Expr::Int(len, ScalarType::I32);
        let load = Stmt::Store {
            array,
            index: index.clone(),
            value: self.renamed(value),
            active: None,
        };
        let loaded = Expr::Load {
            array,
            index: Box::new(index),
            lanes,
            active: None,
        };
        Some(Some((loaded, load)))
    }

    fn renamed(&self, e: &Expr) -> Expr {
        renamed(e, &self.named)
    }
}

fn is_read_only(array: &Array) -> bool {
    match array.space {
        Space::Global { buffer: _, access } => access == Access::Read,
        Space::Shared | Space::Local => false,
    }
}

fn renamed(e: &Expr, names: &HashMap<VarId, Expr>) -> Expr {
    e.rewrite(&mut |e| match e {
        Expr::Var(var) => names.get(var).cloned(),
        _ => None,
    })
}

/// Loads without the names that only their copies use, and without branches that load nothing.
fn needed(loads: Vec<Stmt>) -> Vec<Stmt> {
    let mut used = HashSet::new();
    needed_of(loads, &mut used)
}

fn needed_of(loads: Vec<Stmt>, used: &mut HashSet<VarId>) -> Vec<Stmt> {
    let mut kept: Vec<Stmt> = Vec::new();
    for mut stmt in loads.into_iter().rev() {
        match &mut stmt {
            Stmt::Let(var, _) if !used.contains(var) => continue,
            Stmt::If { then, .. } => {
                *then = needed_of(std::mem::take(then), used);
                if then.is_empty() {
                    continue;
                }
            }
            _ => {}
        }
        for e in stmt.exprs() {
            e.walk(&mut |e| {
                if let Expr::Var(var) = e {
                    used.insert(*var);
                }
            });
        }
        kept.push(stmt);
    }
    kept.reverse();
    kept
}

/// Statements with other variables, and with names of their own for what they name.
fn instance(kernel: &mut Kernel, stmts: &[Stmt], names: &mut HashMap<VarId, Expr>) -> Vec<Stmt> {
    let one = |stmt: &Stmt| match stmt {
        Stmt::Let(var, value) => {
            let value = renamed(value, names);
            let info = kernel.vars[*var].clone();
            let own = kernel.vars.push(info);
            names.insert(*var, Expr::Var(own));
            Stmt::Let(own, value)
        }
        Stmt::If {
            cond,
            then,
            otherwise: _,
        } => {
            let cond = renamed(cond, names);
            only_if(cond, instance(kernel, then, names))
        }
        other => {
            let mut other = other.clone();
            other.map_exprs(&mut |e| renamed(e, names));
            other
        }
    };
    stmts.iter().map(one).collect()
}
