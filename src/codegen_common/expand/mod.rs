//! What a kernel says in general is expanded to what the machine has, before code is made of it.
//!
//! A loop that the schedule marked as a reduction ([`ForKind::SimdReduction`]) runs on vectors of the machine's width, with several
//! accumulators ([`sums`], [`choice`]). Two such loops run in order: one of fewer iterations than a vector has lanes, and one of another
//! form than [`Reduction`], which only an artifact that lowering did not make can have. Then functions of floats become arithmetic
//! ([`functions`]).

mod choice;
pub(crate) mod functions;
mod sums;

use crate::kernel::build::{Loop, rewrite_loops};
use crate::kernel::poly::{Narrow, Scope};
use crate::kernel::reduction::Reduction;
use crate::kernel::{Expr, ForKind, Kernel, Stmt};
use crate::tensor::ScalarType;
use crate::tensor::scalar::BinOp;

/// The kernel for vector registers of so many bytes.
pub(crate) fn expand(kernel: &Kernel, vector_bytes: usize) -> Kernel {
    let mut kernel = kernel.clone();
    let narrow = match kernel.in_bounds {
        true => Narrow::Exact,
        false => Narrow::Wraps,
    };
    rewrite_loops(&mut kernel, narrow, &mut |kernel, scope, l| {
        let mut expander = Expander {
            vector_bytes,
            kernel,
            scope,
        };
        expander.reduction(l)
    });
    let body = std::mem::take(&mut kernel.body);
    kernel.body = functions::write_out(&mut kernel, body);
    kernel
}

struct Expander<'a> {
    /// Bytes of a vector register.
    vector_bytes: usize,
    /// Grows new variables and local arrays; its body is elsewhere meanwhile.
    kernel: &'a mut Kernel,
    scope: &'a Scope,
}

/// Accumulator registers that keep a core's arithmetic busy.
const REGISTERS: usize = 8;

/// Bytes that the accumulators of a sum of open length take at most: of longer ones a short loop fills none.
const MOST_BYTES: usize = 256;

/// Times that a loop of constant length fills all of its accumulators at least.
const FEWEST_GROUPS: i64 = 4;

/// Widths of the vectors of a loop, in lanes.
struct Widths {
    /// Registers of the narrowest elements in a group.
    registers: usize,
    /// Lanes of the narrowest elements in a register.
    lanes: u16,
    /// Lanes of all registers.
    wide: u16,
}

impl Widths {
    /// The widths of the groups of iterations: all registers first, then one register for what is left.
    fn of_groups(&self) -> Vec<u16> {
        match self.wide == self.lanes {
            true => vec![self.lanes],
            false => vec![self.wide, self.lanes],
        }
    }
}

impl Expander<'_> {
    /// The loop on vectors, if it is marked and long enough; else the loop.
    fn reduction(&mut self, l: Loop) -> Vec<Stmt> {
        if l.kind != ForKind::SimdReduction {
            return vec![l.into()];
        }
        let on_vectors = match self.kernel.reduction(self.scope, &l) {
            Ok(Reduction::Sums(sums)) => {
                let widths = self.widths(&l, sums.iter().map(|sum| sum.dtype));
                widths.map(|widths| self.sums(&l, &sums, &widths))
            }
            Ok(Reduction::Choice(choice)) => {
                let widths = self.widths(&l, choice.0.iter().map(|chosen| chosen.dtype));
                widths.map(|widths| self.choice(&l, &choice, &widths))
            }
            Err(_) => None,
        };
        on_vectors.unwrap_or_else(|| vec![l.into()])
    }

    /// How wide the vectors of a loop are that accumulates elements of these types; `None` if it is too short for one.
    fn widths(&self, l: &Loop, dtypes: impl Iterator<Item = ScalarType> + Clone) -> Option<Widths> {
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

    /// Loops over groups of iterations, and then over the iterations that are left. `of_group` makes the statements of a group from its
    /// width and its first iteration; `behind` are those between the last group and what is left.
    fn groups(
        &mut self,
        l: &Loop,
        widths: &Widths,
        of_group: &mut dyn FnMut(&mut Self, u16, &Expr) -> Vec<Stmt>,
        behind: impl FnOnce(&mut Self) -> Vec<Stmt>,
    ) -> Vec<Stmt> {
        let mut out = vec![];
        let mut done = Expr::Int(0, self.kernel.vars[l.var].ty.scalar);
        for width in widths.of_groups() {
            done = self.step(l, width, done, of_group, &mut out);
        }
        out.extend(behind(self));
        out.push(self.rest(l, done));
        out
    }

    /// A loop over groups of `width` iterations from `done` on; gives how many iterations are done after it.
    fn step(
        &mut self,
        l: &Loop,
        width: u16,
        done: Expr,
        of_group: &mut dyn FnMut(&mut Self, u16, &Expr) -> Vec<Stmt>,
        out: &mut Vec<Stmt>,
    ) -> Expr {
        let ty = self.kernel.vars[l.var].ty.scalar;
        let group = self.kernel.new_var_like(l.var, "_group");
        let size = Expr::Int(width.into(), ty);
        let base = Expr::folded(BinOp::Mul, Expr::Var(group), size.clone());
        let start = Expr::folded(BinOp::Add, l.min.clone(), done.clone());
        let first = Expr::folded(BinOp::Add, start, base);
        let body = of_group(self, width, &first);
        let left = Expr::folded(BinOp::Sub, l.extent.clone(), done.clone());
        let count = match Expr::folded(BinOp::Div, left, size.clone()) {
            number @ Expr::Int(..) => number,
            groups => {
                let count = self.kernel.new_var_like(l.var, "_groups");
                out.push(Stmt::Let(count, groups));
                Expr::Var(count)
            }
        };
        let done_here = Expr::folded(BinOp::Mul, count.clone(), size);
        let over_groups = Loop {
            var: group,
            min: Expr::Int(0, ty),
            extent: count,
            kind: ForKind::Serial,
            body,
        };
        out.push(over_groups.into());
        Expr::folded(BinOp::Add, done, done_here)
    }

    /// The iterations behind those that are done, one by one.
    fn rest(&mut self, l: &Loop, done: Expr) -> Stmt {
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

    /// The values of a term in the iterations of a group.
    fn lanes(&self, l: &Loop, term: &Expr, first: &Expr, width: u16) -> Expr {
        let lanes = self.kernel.lanes_of(self.scope, term, l.var, first, width);
        lanes.expect("terms of a reduction are lanes of vectors")
    }
}

/// The index of the first element.
fn zero() -> Expr {
    Expr::Int(0, ScalarType::I64)
}
