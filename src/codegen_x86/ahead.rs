//! Software prefetch: while a pass over a part of an array computes, the part that is read next comes to the caches.
//!
//! If a part is read in several passes, the first waits for memory, and memory is idle in the others. So the others fetch the part of
//! the next first pass, line by line as they read their own. Fetching past the end of an array is no fault.
//!
//! - A row of a large array that a parallel loop reads twice (softmax: for its maximum, then for its powers): the second pass fetches
//!   the row of the next iteration.
//! - A panel of packed weights that several tiles of a product read one after the other: each pass fetches the panel behind it, to the
//!   L2 cache, since both may not fit the L1 cache.

use std::collections::{BTreeMap, HashMap};

use iced_x86::Code;

use super::emit::Emitter;
use super::inst::{Arg, Inst, Kind, Mem};
use crate::codegen_common::streams::{LARGE, LINE, known_bytes};
use crate::kernel::poly::{Atom, Poly, Scope};
use crate::kernel::{Access, ArrayId, Expr, Kernel, Space, Stmt, VarId};

/// Bytes of the longest row that is fetched ahead: half of an L2 cache, so that it is still there when the next iteration begins.
const LONGEST_ROW: u32 = 256 << 10;

/// Bytes of the smallest array whose panels are fetched ahead: it fills an L2 cache.
const LEAST_BYTES: i64 = 1 << 20;

/// Bytes of the smallest panel that is fetched ahead, and lanes of its rows.
const LEAST_PANEL: i64 = 4 << 10;
const LEAST_LANES: u16 = 8;

/// What is fetched ahead in a parallel loop.
#[derive(Default)]
pub(super) struct Ahead {
    /// The variable of the parallel loop.
    row: Option<VarId>,
    /// What a loop in it fetches, by its variable.
    passes: HashMap<VarId, Vec<Fetched>>,
    /// What the loop at hand fetches.
    current: Vec<Fetched>,
}

/// What a loop fetches ahead.
#[derive(Clone, Copy)]
struct Fetched {
    array: ArrayId,
    next: Next,
}

/// The place that is read next.
#[derive(Clone, Copy)]
enum Next {
    /// Where the next iteration of the parallel loop reads.
    Row,
    /// So many bytes behind.
    Behind(i64),
}

impl Ahead {
    /// Finds the loops that fetch ahead in the body of a parallel loop over `row`.
    pub(super) fn of(kernel: &Kernel, row: VarId, body: &[Stmt]) -> Self {
        /// How often the elements from one on were read.
        struct Seen {
            array: ArrayId,
            from: Poly,
            passes: usize,
        }
        let mut seen: Vec<Seen> = vec![];
        let mut passes: HashMap<VarId, Vec<Fetched>> = HashMap::new();
        panels(kernel, body, &mut passes);
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
                        && is_input(kernel, *array, LARGE)
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
                            let next = Next::Row;
                            passes
                                .entry(*var)
                                .or_default()
                                .push(Fetched { array, next });
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
    pub(super) fn enter(&mut self, var: VarId) -> Ended {
        let fetched = match self.passes.get(&var) {
            Some(fetched) => fetched.clone(),
            None => self.current.clone(),
        };
        Ended(std::mem::replace(&mut self.current, fetched))
    }

    /// A loop ends.
    pub(super) fn leave(&mut self, before: Ended) {
        self.current = before.0;
    }
}

/// What is fetched after a loop has ended.
pub(super) struct Ended(Vec<Fetched>);

/// Notes the loops that read a panel over and over: all iterations of the loop around them read the same elements, which lie side by side.
fn panels(kernel: &Kernel, stmts: &[Stmt], passes: &mut HashMap<VarId, Vec<Fetched>>) {
    for stmt in stmts {
        for body in stmt.nested() {
            panels(kernel, body, passes);
        }
        let Stmt::For {
            var: tile,
            extent,
            body,
            ..
        } = stmt
        else {
            continue;
        };
        for stmt in body {
            if let Stmt::For {
                var,
                extent: Expr::Int(depth, _),
                body,
                ..
            } = stmt
                && !matches!(extent, Expr::Int(1, _))
            {
                let found = panels_of(kernel, *tile, *var, *depth, body);
                if !found.is_empty() {
                    passes.insert(*var, found);
                }
            }
        }
    }
}

/// The panels that a loop of so many iterations reads, whichever tile it is in.
fn panels_of(kernel: &Kernel, tile: VarId, row: VarId, depth: i64, body: &[Stmt]) -> Vec<Fetched> {
    let mut found: Vec<Fetched> = vec![];
    let mut note = |e: &Expr| {
        let Expr::Load {
            array,
            index,
            lanes,
            active: None,
        } = e
        else {
            return;
        };
        let poly = Scope::default().poly(kernel, index);
        let element = kernel.arrays[*array].dtype.bytes() as i64;
        let bytes = depth.saturating_mul(i64::from(*lanes) * element);
        let is_panel = *lanes >= LEAST_LANES
            && is_input(kernel, *array, LEAST_BYTES)
            && !index.uses(tile)
            && step(&poly, row) == Some((*lanes).into())
            && (LEAST_PANEL..=LONGEST_ROW.into()).contains(&bytes);
        if is_panel && !found.iter().any(|known| known.array == *array) {
            found.push(Fetched {
                array: *array,
                next: Next::Behind(bytes),
            });
        }
    };
    let is_innermost = !body.iter().any(|stmt| matches!(stmt, Stmt::For { .. }));
    if is_innermost {
        body.iter()
            .for_each(|stmt| stmt.walk_exprs(&mut |e| e.walk(&mut note)));
    }
    found
}

/// Whether an array is read alone, and surely has so many bytes.
fn is_input(kernel: &Kernel, array: ArrayId, least: i64) -> bool {
    let array = &kernel.arrays[array];
    let read = matches!(
        array.space,
        Space::Global {
            buffer: _,
            access: Access::Read
        }
    );
    read && known_bytes(array).is_some_and(|bytes| bytes >= least)
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
    /// Fetches lines of the next part, if so many bytes from this address on are read now.
    pub(super) fn fetch_ahead(&mut self, id: ArrayId, index: &Expr, from: Mem, bytes: usize) {
        let mut current = self.ahead.current.iter();
        let Some(&Fetched { next, .. }) = current.find(|fetched| fetched.array == id) else {
            return;
        };
        let (code, step) = match next {
            Next::Behind(bytes) => (Code::Prefetcht1_m8, Some(bytes)),
            Next::Row => {
                let element = self.kernel.arrays[id].dtype.bytes() as i64;
                let poly = self.scope.poly(self.kernel, index);
                let step = self.ahead.row.and_then(|row| step(&poly, row));
                let step = step.and_then(|step| step.checked_mul(element));
                (Code::Prefetcht0_m8, step)
            }
        };
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
                kind: Kind::Code(code),
                args: vec![Arg::Mem(Mem { disp, ..from })],
                defs: vec![],
            });
        }
    }
}
