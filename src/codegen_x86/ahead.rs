//! Software prefetch of rows: what the next iteration of a parallel loop will read of a large array comes to the caches while this
//! one computes.
//!
//! A row that is read in several passes (softmax: for its maximum, then for its powers) comes from memory in the first, while there
//! is little to compute; in the second memory would have nothing to do. So the second pass fetches the row of the next iteration,
//! line by line as it reads its own. Fetching past the end of an array is no fault.

use std::collections::{BTreeMap, HashMap};

use iced_x86::Code;

use super::emit::Emitter;
use super::inst::{Arg, Inst, Kind, Mem};
use crate::codegen_common::streams::{LINE, is_large};
use crate::kernel::poly::{Atom, Poly, Scope};
use crate::kernel::{Access, ArrayId, Expr, Kernel, Space, Stmt, VarId};

/// Bytes of the longest row that is fetched ahead: half of an L2 cache, so that it is still there when the next iteration begins.
const LONGEST_ROW: u32 = 256 << 10;

/// What is fetched ahead in a parallel loop.
#[derive(Default)]
pub(super) struct Ahead {
    /// The variable of the parallel loop.
    row: Option<VarId>,
    /// The arrays of which a loop right inside of it is the second pass, by its variable.
    passes: HashMap<VarId, Vec<ArrayId>>,
    /// Those of the loop at hand.
    current: Vec<ArrayId>,
}

impl Ahead {
    /// What the second passes are in the body of a parallel loop over `row`.
    pub(super) fn of(kernel: &Kernel, row: VarId, body: &[Stmt]) -> Self {
        /// How often the elements from one on were read.
        struct Seen {
            array: ArrayId,
            from: Poly,
            passes: usize,
        }
        let mut seen: Vec<Seen> = vec![];
        let mut passes: HashMap<VarId, Vec<ArrayId>> = HashMap::new();
        for stmt in body {
            let Stmt::For { var, min, .. } = stmt else {
                continue;
            };
            if !matches!(min, Expr::Int(0, _)) {
                continue;
            }
            let mut first: BTreeMap<ArrayId, Poly> = BTreeMap::new();
            stmt.walk_exprs(&mut |e| {
                e.walk(&mut |e| {
                    if let Expr::Load { array, index, .. } = e
                        && is_large_input(kernel, *array)
                        && let Some(from) = start(kernel, row, index)
                    {
                        let known = first.entry(*array).or_insert_with(|| from.clone());
                        if from.constant < known.constant {
                            *known = from;
                        }
                    }
                });
            });
            for (array, from) in first {
                match seen.iter_mut().find(|s| s.array == array && s.from == from) {
                    Some(known) => {
                        known.passes += 1;
                        if known.passes == 2 {
                            passes.entry(*var).or_default().push(array);
                        }
                    }
                    None => seen.push(Seen {
                        array,
                        from,
                        passes: 1,
                    }),
                }
            }
        }
        Self {
            row: Some(row),
            passes,
            current: vec![],
        }
    }

    /// A loop begins; gives what is to be put back when it ends.
    pub(super) fn enter(&mut self, var: VarId) -> Vec<ArrayId> {
        let arrays = match self.passes.get(&var) {
            Some(arrays) => arrays.clone(),
            None => self.current.clone(),
        };
        std::mem::replace(&mut self.current, arrays)
    }

    /// A loop ends.
    pub(super) fn leave(&mut self, before: Vec<ArrayId>) {
        self.current = before;
    }
}

fn is_large_input(kernel: &Kernel, array: ArrayId) -> bool {
    let array = &kernel.arrays[array];
    let read = matches!(
        array.space,
        Space::Global {
            buffer: _,
            access: Access::Read
        }
    );
    read && is_large(array)
}

/// Where a load begins in a row: its index without the loops inside of the row.
fn start(kernel: &Kernel, row: VarId, index: &Expr) -> Option<Poly> {
    let mut poly = Scope::default().poly(kernel, index);
    step(&poly, row)?;
    poly.terms
        .retain(|term| term.factors.iter().any(|f| f.atom == Atom::Var(row)));
    Some(poly)
}

/// By how much the index grows from one row to the next.
fn step(poly: &Poly, row: VarId) -> Option<i64> {
    let mut terms = poly
        .terms
        .iter()
        .filter(|term| term.factors.iter().any(|f| f.atom == Atom::Var(row)));
    let term = terms.next()?;
    (terms.next().is_none() && term.factors.len() == 1).then_some(term.coefficient)
}

impl Emitter<'_> {
    /// Fetches the lines that the next row has where this one has so many bytes from an address on.
    pub(super) fn fetch_ahead(&mut self, id: ArrayId, index: &Expr, from: Mem, bytes: usize) {
        let Some(row) = self.ahead.row.filter(|_| self.ahead.current.contains(&id)) else {
            return;
        };
        let element = self.kernel.arrays[id].dtype.bytes() as i64;
        let poly = self.scope.poly(self.kernel, index);
        let step = step(&poly, row).and_then(|step| step.checked_mul(element));
        let step = step.and_then(|step| i32::try_from(step).ok());
        let Some(step) = step.filter(|step| step.unsigned_abs() <= LONGEST_ROW) else {
            return;
        };
        for line in (0..bytes).step_by(LINE) {
            let ahead = step.checked_add(line as i32);
            let Some(disp) = ahead.and_then(|ahead| from.disp.checked_add(ahead)) else {
                return;
            };
            self.b.push(Inst {
                kind: Kind::Code(Code::Prefetcht0_m8),
                args: vec![Arg::Mem(Mem { disp, ..from })],
                defs: vec![],
            });
        }
    }
}
