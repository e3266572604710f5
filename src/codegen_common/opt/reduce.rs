//! Reductions of scalars, run on vectors with several accumulators.
//!
//! `for k { t = t op f(k) }` with neighbouring elements for neighbouring `k` becomes a loop over groups of `k` on vectors that
//! fill several registers, one over single registers for what is left, and one over scalars for the rest; then the accumulators are
//! combined in pairs. `op` must be associative and commutative but for rounding: `+`, `*`, `min`, `max`.

use super::Optimizer;
use crate::kernel::build::Loop;
use crate::kernel::{ArrayId, Expr, ForKind, Space, Stmt, Ty, VarId};
use crate::tensor::ScalarType;
use crate::tensor::scalar::{BinOp, Scalar};

/// Accumulator registers that keep a core's arithmetic busy.
const REGISTERS: usize = 8;

/// Bytes that the accumulators of a sum of open length take at most: of longer ones a short loop fills none.
const MOST_BYTES: usize = 256;

/// Times that a loop of constant length fills all of its accumulators at least.
const FEWEST_GROUPS: i64 = 4;

/// `t = t op term`
struct Accumulation {
    array: ArrayId,
    index: Expr,
    dtype: ScalarType,
    op: BinOp,
    identity: Expr,
    term: Expr,
}

impl Optimizer {
    /// The loop on vectors, if its terms may be added in any order and it is a reduction of scalars into local cells; else the loop
    /// itself.
    pub(super) fn vectorize_reduction(&mut self, l: Loop) -> Vec<Stmt> {
        let on_vectors = match l.kind {
            ForKind::SimdReduction => self
                .try_vectorize(&l)
                .or_else(|| self.choose_on_vectors(&l)),
            ForKind::Serial | ForKind::Parallel => None,
        };
        on_vectors.unwrap_or_else(|| vec![l.into()])
    }

    fn try_vectorize(&mut self, l: &Loop) -> Option<Vec<Stmt>> {
        let ty = self.scalar_of(l.var)?;
        let sums = self.accumulations(l)?;
        let Widths {
            registers,
            lanes,
            wide,
        } = self.widths(l, sums.iter().map(|s| s.dtype))?;
        let accumulators: Vec<ArrayId> = sums
            .iter()
            .map(|s| self.kernel.new_local("partial", s.dtype, wide.into()))
            .collect();
        let mut out: Vec<Stmt> = sums
            .iter()
            .zip(&accumulators)
            .map(|(sum, &array)| Stmt::Store {
                array,
                index: Expr::Int(0, ScalarType::I64),
                value: Expr::Splat(Box::new(sum.identity.clone()), wide),
                active: None,
            })
            .collect();
        let mut done = Expr::Int(0, ty);
        for width in if wide == lanes {
            vec![lanes]
        } else {
            vec![wide, lanes]
        } {
            let of_group =
                |opt: &mut Self, first: &Expr| opt.add(l, &sums, &accumulators, width, first);
            let step = self.step(l, width, &done, of_group)?;
            done = step.1;
            out.extend(step.0);
        }
        for (sum, &array) in sums.iter().zip(&accumulators) {
            out.push(Stmt::Store {
                array: sum.array,
                index: sum.index.clone(),
                value: Expr::folded(
                    sum.op,
                    Expr::load(sum.array, sum.index.clone(), 1),
                    combine(sum.op, array, registers, lanes),
                ),
                active: None,
            });
        }
        out.push(self.rest(l, done));
        Some(out)
    }

    /// How wide the vectors of a loop are that accumulates elements of these types.
    pub(super) fn widths(
        &self,
        l: &Loop,
        dtypes: impl Iterator<Item = ScalarType> + Clone,
    ) -> Option<Widths> {
        // What is narrower than four bytes is computed in four.
        let bytes = dtypes.map(|dtype| dtype.bytes().max(4));
        let narrowest = bytes.clone().min()?;
        let lanes = self.vector_bytes / narrowest;
        let mut registers = (REGISTERS * narrowest / bytes.sum::<usize>()).max(1);
        let few = (MOST_BYTES / self.vector_bytes).max(1);
        let is_long = |registers: usize| match l.extent {
            Expr::Int(n, _) => n / FEWEST_GROUPS >= (registers * lanes) as i64,
            _ => false,
        };
        while registers > few && !is_long(registers) {
            registers /= 2;
        }
        let wide = u16::try_from(lanes * registers).ok()?;
        let lanes = u16::try_from(lanes).ok()?;
        let is_short = matches!(&l.extent, Expr::Int(n, _) if *n < i64::from(lanes));
        (!is_short).then_some(Widths {
            registers,
            lanes,
            wide,
        })
    }

    /// The iterations behind those that are done, one by one.
    pub(super) fn rest(&mut self, l: &Loop, done: Expr) -> Stmt {
        let tail = self.kernel.new_var_like(l.var, "_tail");
        let mut body = l.body.clone();
        for stmt in &mut body {
            stmt.map_exprs(&mut |e| e.substitute(l.var, &Expr::Var(tail)));
        }
        let rest = Loop {
            var: tail,
            min: Expr::folded(BinOp::Add, l.min.clone(), done.clone()),
            extent: Expr::folded(BinOp::Sub, l.extent.clone(), done),
            kind: ForKind::Serial,
            body,
        };
        rest.into()
    }

    /// The sums of a group of `width` iterations from `first` on.
    fn add(
        &self,
        l: &Loop,
        sums: &[Accumulation],
        accumulators: &[ArrayId],
        width: u16,
        first: &Expr,
    ) -> Option<Vec<Stmt>> {
        let added = sums.iter().zip(accumulators).map(|(sum, &array)| {
            let index = Expr::Int(0, ScalarType::I64);
            let term = self.vector(&sum.term, l.var, first, width)?;
            let value = Expr::Binary(
                sum.op,
                Box::new(Expr::load(array, index.clone(), width)),
                Box::new(term),
            );
            Some(Stmt::Store {
                array,
                index,
                value,
                active: None,
            })
        });
        added.collect()
    }

    /// A loop over groups of `width` iterations from `done` on, and how many iterations are done after it. `of_group` makes the
    /// statements of a group from its first iteration.
    pub(super) fn step(
        &mut self,
        l: &Loop,
        width: u16,
        done: &Expr,
        of_group: impl FnOnce(&mut Self, &Expr) -> Option<Vec<Stmt>>,
    ) -> Option<(Vec<Stmt>, Expr)> {
        let ty = self.scalar_of(l.var)?;
        let group = self.kernel.new_var_like(l.var, "_group");
        let size = Expr::Int(width.into(), ty);
        let base = Expr::folded(BinOp::Mul, Expr::Var(group), size.clone());
        let first = Expr::folded(
            BinOp::Add,
            Expr::folded(BinOp::Add, l.min.clone(), done.clone()),
            base,
        );
        let body = of_group(self, &first)?;
        let left = Expr::folded(BinOp::Sub, l.extent.clone(), done.clone());
        let groups = Expr::folded(BinOp::Div, left, size.clone());
        let (count, mut out) = match groups {
            Expr::Int(_, _) => (groups, vec![]),
            groups => {
                let count = self.kernel.new_var_like(l.var, "_groups");
                (Expr::Var(count), vec![Stmt::Let(count, groups)])
            }
        };
        let done = Expr::folded(
            BinOp::Add,
            done.clone(),
            Expr::folded(BinOp::Mul, count.clone(), size),
        );
        out.push(
            Loop {
                var: group,
                min: Expr::Int(0, ty),
                extent: count,
                kind: ForKind::Serial,
                body,
            }
            .into(),
        );
        Some((out, done))
    }

    /// The accumulations that the loop consists of, into different local cells that nothing else in it reads.
    fn accumulations(&self, l: &Loop) -> Option<Vec<Accumulation>> {
        let mut sums = Vec::new();
        for s in &l.body {
            let Stmt::Store {
                array,
                index,
                value: Expr::Binary(op @ (BinOp::Add | BinOp::Mul | BinOp::Min | BinOp::Max), a, b),
                active: None,
            } = s
            else {
                return None;
            };
            let info = self.kernel.arrays.get(*array)?;
            let own = Expr::load(*array, index.clone(), 1);
            let term = if **a == own {
                b
            } else if **b == own {
                a
            } else {
                return None;
            };
            if info.space != Space::Local
                || info.dtype == ScalarType::Bool
                || index.loads()
                || index.uses(l.var)
            {
                return None;
            }
            sums.push(Accumulation {
                array: *array,
                index: index.clone(),
                dtype: info.dtype,
                op: *op,
                identity: match op.identity(info.dtype)? {
                    Scalar::Int(v) => Expr::Int(v, info.dtype),
                    Scalar::Float(v) => Expr::Float(v, info.dtype),
                },
                term: (**term).clone(),
            });
        }
        let apart = |e: &Expr| {
            !e.any(&|e| match e {
                Expr::Load { array, .. } => sums.iter().any(|s| s.array == *array),
                _ => false,
            })
        };
        let distinct = |i: usize| {
            sums[..i]
                .iter()
                .all(|s| s.array != sums[i].array || s.index != sums[i].index)
        };
        let fine = !sums.is_empty()
            && sums.iter().all(|s| apart(&s.term))
            && (0..sums.len()).all(distinct);
        fine.then_some(sums)
    }

    /// The values of `e` for `var` from `first` on, as a vector; `None` if they are no vector operation.
    pub(super) fn vector(&self, e: &Expr, var: VarId, first: &Expr, lanes: u16) -> Option<Expr> {
        let next = Expr::folded(
            BinOp::Add,
            Expr::Var(var),
            Expr::Int(1, self.scalar_of(var)?),
        );
        let counted = |first: Expr, ty: ScalarType| {
            let one = Expr::Int(1, ty);
            Some(Expr::Ramp(Box::new(first), Box::new(one), lanes))
        };
        let leaf = |e: &Expr| match e {
            Expr::Var(_) => counted(first.clone(), self.scalar_of(var)?),
            // Numbers are cut off before they are counted.
            Expr::Cast(ty, a) if **a == Expr::Var(var) && ty.lanes == 1 && ty.scalar.is_int() => {
                counted(Expr::Cast(*ty, Box::new(first.clone())), ty.scalar)
            }
            Expr::Load {
                array,
                index,
                lanes: 1,
                active: None,
            } => {
                let apart =
                    Expr::folded(BinOp::Sub, index.substitute(var, &next), (**index).clone());
                let neighbours = self.scope.poly(&self.kernel, &apart).as_constant() == Some(1);
                neighbours.then(|| Expr::load(*array, index.substitute(var, first), lanes))
            }
            _ => None,
        };
        on_lanes(e, lanes, &|e| e.uses(var), &leaf)
    }
}

/// Widths of the vectors of a loop, in lanes.
pub(super) struct Widths {
    /// Registers of the narrowest elements in a group.
    pub(super) registers: usize,
    /// Lanes of the narrowest elements in a register.
    pub(super) lanes: u16,
    /// Lanes of all registers.
    pub(super) wide: u16,
}

/// An expression of scalars as one of vectors; `None` if it is no vector operation. What does not vary is the same in all lanes,
/// and `leaf` makes the vectors that are not made by an operation.
pub(super) fn on_lanes(
    e: &Expr,
    lanes: u16,
    varies: &dyn Fn(&Expr) -> bool,
    leaf: &dyn Fn(&Expr) -> Option<Expr>,
) -> Option<Expr> {
    if !varies(e) {
        return Some(Expr::Splat(Box::new(e.clone()), lanes));
    }
    if let Some(vector) = leaf(e) {
        return Some(vector);
    }
    let inner = |e: &Expr| Some(Box::new(on_lanes(e, lanes, varies, leaf)?));
    match e {
        Expr::Cast(ty, a) if ty.lanes == 1 => Some(Expr::Cast(
            Ty {
                scalar: ty.scalar,
                lanes,
            },
            inner(a)?,
        )),
        Expr::Binary(op, a, b) => Some(Expr::Binary(*op, inner(a)?, inner(b)?)),
        Expr::Not(a) => Some(Expr::Not(inner(a)?)),
        Expr::Select(c, a, b) => Some(Expr::Select(inner(c)?, inner(a)?, inner(b)?)),
        Expr::Call(intrin, args) => {
            let args = args.iter().map(|a| on_lanes(a, lanes, varies, leaf));
            Some(Expr::Call(*intrin, args.collect::<Option<_>>()?))
        }
        _ => None,
    }
}

/// All lanes of the accumulators combined: registers in pairs, then the lanes of the last one in pairs.
fn combine(op: BinOp, array: ArrayId, registers: usize, lanes: u16) -> Expr {
    let mut parts: Vec<Expr> = (0..registers)
        .map(|i| {
            Expr::load(
                array,
                Expr::Int(i as i64 * i64::from(lanes), ScalarType::I64),
                lanes,
            )
        })
        .collect();
    parts = in_pairs(op, parts);
    let whole = parts.remove(0);
    let lanes = (0..lanes)
        .map(|i| Expr::Lane(Box::new(whole.clone()), i))
        .collect();
    in_pairs(op, lanes).remove(0)
}

fn in_pairs(op: BinOp, mut parts: Vec<Expr>) -> Vec<Expr> {
    while parts.len() > 1 {
        parts = parts
            .chunks(2)
            .map(|pair| match pair {
                [a, b] => Expr::Binary(op, Box::new(a.clone()), Box::new(b.clone())),
                [a] => a.clone(),
                _ => unreachable!("chunks of two"),
            })
            .collect();
    }
    parts
}
