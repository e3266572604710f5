//! An estimate of the registers that a thread needs: what is alive at once.

use std::collections::HashMap;

use crate::kernel::{Expr, FRAGMENT_THREADS, Kernel, Space, Stmt, Ty, VarId};

/// Registers for addresses, ids and what an expression holds while it is computed.
const SCRATCH: u32 = 12;

/// 32-bit registers of a thread: its arrays, and the most that its variables take between definition and last use.
pub(super) fn registers(kernel: &Kernel) -> u32 {
    let arrays = kernel
        .arrays
        .iter()
        .filter(|(_, array)| array.space == Space::Local);
    let held = arrays.map(|(_, array)| {
        let elements = u32::try_from(array.len.as_const().unwrap_or(0)).unwrap_or(u32::MAX);
        elements.saturating_mul(words(Ty::scalar(array.dtype)))
    });
    // The threads of a subgroup share the elements of a fragment.
    let fragments = kernel.fragments.iter().map(|(_, fragment)| {
        let bytes = fragment.extent * fragment.extent * fragment.dtype.bytes() as u32;
        bytes.div_ceil(4 * FRAGMENT_THREADS)
    });
    let held = held.chain(fragments).fold(0u32, u32::saturating_add);
    let mut live = Live {
        kernel,
        last_use: HashMap::new(),
        position: 0,
    };
    live.find_uses(&kernel.body);
    live.position = 0;
    let variables = live.most(&kernel.body, 0);
    SCRATCH.saturating_add(held).saturating_add(variables)
}

fn words(ty: Ty) -> u32 {
    u32::from(ty.lanes) * (ty.scalar.bytes() as u32).div_ceil(4).max(1)
}

struct Live<'a> {
    kernel: &'a Kernel,
    /// The statement, counted outer ones first, that uses a variable last.
    last_use: HashMap<VarId, usize>,
    position: usize,
}

impl Live<'_> {
    fn find_uses(&mut self, stmts: &[Stmt]) {
        for stmt in stmts {
            let at = self.position;
            self.position += 1;
            for e in stmt.exprs() {
                e.walk(&mut |e| {
                    if let Expr::Var(var) = e {
                        self.last_use.insert(*var, at);
                    }
                });
            }
            for inner in stmt.nested() {
                self.find_uses(inner);
            }
        }
    }

    /// The most words that variables of these statements take at once, above those that are alive around them.
    fn most(&mut self, stmts: &[Stmt], around: u32) -> u32 {
        let mut alive: Vec<(usize, u32)> = vec![];
        let mut most = around;
        for stmt in stmts {
            let at = self.position;
            self.position += 1;
            alive.retain(|(last, _)| *last >= at);
            let now = around + alive.iter().map(|(_, words)| words).sum::<u32>();
            match stmt {
                Stmt::Let(var, _) => {
                    let last = self.last_use.get(var).copied().unwrap_or(at);
                    alive.push((last, words(self.kernel.vars[*var].ty)));
                }
                Stmt::For { .. } => most = most.max(now + 1),
                Stmt::Store { .. }
                | Stmt::If { .. }
                | Stmt::While { .. }
                | Stmt::Barrier
                | Stmt::Fragment(_) => {}
            }
            for inner in stmt.nested() {
                let own = u32::from(matches!(stmt, Stmt::For { .. }));
                most = most.max(self.most(inner, now + own));
            }
            let now = around + alive.iter().map(|(_, words)| words).sum::<u32>();
            most = most.max(now);
        }
        most
    }
}
