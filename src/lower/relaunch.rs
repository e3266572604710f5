//! Kernels whose threads would go through loops more often than the device allows are launched several times.
//!
//! The statements of a kernel, and those of a loop whose body is too long for one launch, are a region: its launches have numbers from 0.
//! A loop of a region runs a part of its iterations in each of its launches, the first of them beside what comes before the
//! loop and the last beside what comes after it; what is short runs in one.
//!
//! ```text
//! acc = 0                     if run > 0: acc = state[thread]
//! for k in 0 .. n:     =>     if run == 0: acc = 0
//!     acc += A[k]             for k in run * s .. min(run * s + s, n): acc += A[k]
//! B = acc                     if run == n / s - 1: B = acc
//!                             if run < n / s - 1: state[thread] = acc
//! ```
//!
//! Between launches the arrays of threads and workgroups lie in device memory (`state`), except those that are new in each
//! launch. The end of a launch is more than a barrier, so every kernel may be cut like this.

mod state;

use std::collections::{HashMap, HashSet};

use super::Launches;
use super::cost::sum;
use super::loop_passes::last_pass;
use super::ranges::Ranges;
use crate::kernel::{
    Array, ArrayId, Expr, ForKind, GpuTarget, HostExpr, Kernel, Launch, Space, Stmt, TempInfo, Ty,
    VarId, VarInfo,
};
use crate::tensor::ScalarType;
use crate::tensor::scalar::BinOp;

/// Most launches of a kernel.
pub(super) const MOST_LAUNCHES: i64 = 1 << 12;
/// Shares of the passes of a launch, one of which is the most that a statement may have that is not cut.
const SHARES: i64 = 16;
/// Most elements that a thread keeps where the number of launches depends on the dims: mostly there is but one.
const FEW_ELEMENTS: i64 = 16;

/// Spreads a kernel over launches, if a thread passes its loops more often than the limit. With [`Launches::One`], only a kernel whose
/// passes depend on the dims: mostly it is launched once. `dims` is the number of dims of the
/// function; the number of the launch is the dim behind them. `fresh` has the loops in each of whose iterations an array is new.
/// What lies in device memory between launches becomes a temporary.
pub(super) fn relaunch(
    kernel: &mut Kernel,
    dims: usize,
    gpu: &GpuTarget,
    limit: u32,
    launches: Launches,
    fresh: &HashMap<ArrayId, Vec<VarId>>,
    temps: &mut Vec<TempInfo>,
) {
    let Some(launch) = &kernel.launch else { return };
    let passes = Ranges::new(&kernel.scalars, launch).passes(&kernel.body);
    let Some(passes) = passes.map(|passes| passes.as_const()) else {
        return;
    };
    if passes.is_some_and(|n| launches == Launches::One || n <= i64::from(limit)) {
        return;
    }
    // What a launch reads and writes of its state takes passes, too: there are few elements, and then no loops, or much is left.
    let mut most = i64::from(limit) - 1;
    if let Some((spread, _)) = Cut::new(kernel, launch, dims).whole(most, fresh) {
        most -= spread.state.passes();
    }
    let Some((spread, times)) = Cut::new(kernel, launch, dims).whole(most, fresh) else {
        return;
    };
    let symbolic = passes.is_none();
    let too_often = times.as_const().is_some_and(|n| n > MOST_LAUNCHES);
    let too_much = symbolic && (spread.state.elements() > FEW_ELEMENTS || spread.state.is_shared());
    if too_often || too_much {
        return;
    }
    if let Some(whole) = spread.into_kernel(kernel, &times, gpu, temps) {
        *kernel = whole;
    }
}

/// A kernel on its way, with what its regions use.
struct Cut<'a> {
    /// The arrays, variables and scalars grow.
    kernel: Kernel,
    ranges: Ranges<'a>,
    /// The number of the launch.
    run: VarId,
    /// Arrays that the kernel stores to.
    stored: HashSet<ArrayId>,
    /// Loops around here that launches go through.
    around: Vec<VarId>,
    /// Statements that run in one launch, or in one of the launches of a loop: how many there are.
    pieces: usize,
    /// Arrays of threads and workgroups, with the pieces that use them, and the loops around these.
    uses: HashMap<ArrayId, Vec<(usize, Vec<VarId>)>>,
}

/// A cut kernel.
struct Spread {
    kernel: Kernel,
    run: VarId,
    state: state::State,
}

/// A region: the statements of each launch, and how many launches go through it.
type Region = (Vec<Stmt>, HostExpr);

impl<'a> Cut<'a> {
    fn new(kernel: &Kernel, launch: &'a Launch, dims: usize) -> Self {
        let ranges = Ranges::new(&kernel.scalars, launch);
        let mut kernel = kernel.clone();
        let ty = Ty::scalar(ScalarType::I32);
        let name = "run".to_owned();
        let run = kernel.vars.push(VarInfo { name, ty });
        kernel.scalars.push((run, HostExpr::Dim(dims)));
        let mut stored = HashSet::new();
        for stmt in &kernel.body {
            stmt.walk(&mut |stmt| {
                stored.extend(stmt.written());
            });
        }
        Self {
            kernel,
            ranges,
            run,
            stored,
            around: vec![],
            pieces: 0,
            uses: HashMap::new(),
        }
    }

    /// The kernel with at most so many passes in each launch, and the number of launches.
    fn whole(
        mut self,
        most: i64,
        fresh: &HashMap<ArrayId, Vec<VarId>>,
    ) -> Option<(Spread, HostExpr)> {
        let body = std::mem::take(&mut self.kernel.body);
        let (body, times) = self.region(&body, &Expr::Var(self.run), most)?;
        self.kernel.body = body;
        let lives = |array: &ArrayId| {
            let uses = &self.uses[array];
            let one = uses.iter().all(|(piece, _)| *piece == uses[0].0);
            let new = |var| fresh.get(array).is_some_and(|loops| loops.contains(var));
            !(one && uses[0].1.iter().all(new))
        };
        let mut kept: Vec<ArrayId> = self.uses.keys().copied().filter(lives).collect();
        kept.sort();
        let state = state::State::new(&self.kernel, kept);
        let (kernel, run) = (self.kernel, self.run);
        Some((Spread { kernel, run, state }, times))
    }

    /// Statements of which launch `at`, counted from 0, is to run its part. Nothing if they cannot be cut.
    fn region(&mut self, stmts: &[Stmt], at: &Expr, most: i64) -> Option<Region> {
        let mut items = vec![];
        for stmt in stmts {
            let passes = self.ranges.passes(std::slice::from_ref(stmt))?;
            let short = passes.as_const().filter(|n| *n <= most / SHARES);
            items.push((stmt, short));
        }
        let short: i64 = items.iter().filter_map(|(_, short)| *short).sum();
        let long = items.iter().filter(|(_, short)| short.is_none()).count();
        let share = (most - short.min(most / 2)) / (long.max(1) as i64);
        let is_let = |stmt: &Stmt| matches!(stmt, Stmt::Let(_, value) if !self.changes(value));
        let alone = items
            .iter()
            .all(|(stmt, short)| short.is_none() || is_let(stmt));
        let alone = alone && long == 1;
        let mut out = Body {
            at: at.clone(),
            now: HostExpr::Const(0),
            pending: vec![],
            stmts: vec![],
        };
        let mut used = 0;
        for (stmt, short) in items {
            match (stmt, short) {
                (Stmt::Let(var, value), _) => self.define(*var, value, &mut out),
                (_, Some(passes)) => {
                    if used + passes > most / 2 {
                        self.flush(&mut out);
                        out.now = sum(out.now, HostExpr::Const(1));
                        used = 0;
                    }
                    used += passes;
                    out.pending.push(stmt.clone());
                }
                (stmt, None) => {
                    self.flush(&mut out);
                    let first = out.now.clone();
                    let number = self.difference(at, &first);
                    let (stmts, count) = self.long(stmt, &number, &mut out, share)?;
                    match alone {
                        true => out.stmts.extend(stmts),
                        false => {
                            let end = self.host(&count);
                            let before = binary(BinOp::Lt, number.clone(), end);
                            let within = match first {
                                HostExpr::Const(0) => before,
                                _ => binary(BinOp::And, binary(BinOp::Ge, number, int(0)), before),
                            };
                            out.stmts.push(branch(within, stmts));
                        }
                    }
                    out.now = sum(first, sum(count, HostExpr::Const(-1)));
                }
            }
        }
        self.flush(&mut out);
        let count = sum(out.now, HostExpr::Const(1));
        Some((out.stmts, count))
    }

    /// A statement that is too long for one launch; `number` counts its launches.
    fn long(&mut self, stmt: &Stmt, number: &Expr, out: &mut Body, share: i64) -> Option<Region> {
        match stmt {
            Stmt::For {
                var,
                min,
                extent,
                kind,
                body,
            } => {
                let [min, extent] = [min, extent].map(|e| self.kept("bound", e, out));
                self.loop_(*var, &min, &extent, *kind, body, number, share)
            }
            Stmt::If {
                cond,
                then,
                otherwise,
            } => {
                let cond = self.kept("taken", cond, out);
                let (then, first) = self.region(then, number, share)?;
                let (otherwise, second) = self.region(otherwise, number, share)?;
                let count = HostExpr::binary(BinOp::Max, first, second);
                let stmt = Stmt::If {
                    cond,
                    then,
                    otherwise,
                };
                Some((vec![stmt], count))
            }
            Stmt::Let(..)
            | Stmt::Store { .. }
            | Stmt::While { .. }
            | Stmt::Barrier
            | Stmt::Fragment(_) => None,
        }
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of a loop")]
    fn loop_(
        &mut self,
        var: VarId,
        min: &Expr,
        extent: &Expr,
        kind: ForKind,
        body: &[Stmt],
        number: &Expr,
        share: i64,
    ) -> Option<Region> {
        let passes = sum(self.ranges.passes(body)?, HostExpr::Const(1));
        let share = share - last_pass(body);
        let (_, bound) = self.ranges.range(extent)?;
        let bound = HostExpr::binary(BinOp::Max, bound, HostExpr::Const(1));
        self.around.push(var);
        // As many iterations as a launch has passes for; none if it has not enough for one.
        let fit = HostExpr::binary(BinOp::FloorDiv, HostExpr::Const(share), passes);
        let (index, (body, times)) = if fit.as_const().is_some_and(|n| n > 0) {
            self.piece(body);
            (number.clone(), (body.to_vec(), HostExpr::Const(1)))
        } else {
            let inner = self.local("launch");
            let (mut stmts, times) = self.region(body, &Expr::Var(inner), share - 1)?;
            let count = self.host(&times);
            let launch = binary(BinOp::Mod, number.clone(), count.clone());
            stmts.insert(0, Stmt::Let(inner, launch));
            (binary(BinOp::Div, number.clone(), count), (stmts, times))
        };
        // Iterations of several launches each come one after the other.
        let several = HostExpr::binary(BinOp::Gt, times.clone(), HostExpr::Const(1));
        let step = match (fit.as_const(), several.as_const()) {
            (Some(n), _) => HostExpr::Const(n.max(1)),
            (None, Some(1)) => HostExpr::Const(1),
            (None, _) => {
                let fit = HostExpr::binary(BinOp::Max, fit, HostExpr::Const(1));
                HostExpr::Select(several.into(), HostExpr::Const(1).into(), fit.into())
            }
        };
        let size = self.host(&step);
        let start = binary(BinOp::Mul, index, size.clone());
        let part = match step {
            // The launches of a region may be more than those of a loop: there is the other side of a branch.
            HostExpr::Const(1) => {
                let runs = binary(BinOp::Lt, start.clone(), extent.clone());
                let at = Stmt::Let(var, binary(BinOp::Add, min.clone(), start));
                branch(runs, std::iter::once(at).chain(body).collect())
            }
            _ => {
                let left = binary(BinOp::Sub, extent.clone(), start.clone());
                Stmt::For {
                    var,
                    min: binary(BinOp::Add, min.clone(), start),
                    extent: binary(BinOp::Min, left, size),
                    kind,
                    body,
                }
            }
        };
        let last = sum(bound, sum(step.clone(), HostExpr::Const(-1)));
        let count = HostExpr::binary(BinOp::FloorDiv, last, step);
        let region = (vec![part], HostExpr::binary(BinOp::Mul, count, times));
        self.around.pop();
        Some(region)
    }

    /// The pending statements of a region run in their launch.
    fn flush(&mut self, out: &mut Body) {
        if out.pending.is_empty() {
            return;
        }
        let stmts = std::mem::take(&mut out.pending);
        self.piece(&stmts);
        let now = self.host(&out.now);
        let cond = binary(BinOp::Eq, out.at.clone(), now);
        out.stmts.push(branch(cond, stmts));
    }

    /// A definition of a region, which each of its launches makes, with the value that it has where it stands.
    fn define(&mut self, var: VarId, value: &Expr, out: &mut Body) {
        let name = self.kernel.vars[var].name.clone();
        let value = self.kept(&name, value, out);
        out.stmts.push(Stmt::Let(var, value));
    }

    /// A value that later launches ask for, too: what may be another one then lies in an array of the thread.
    fn kept(&mut self, name: &str, value: &Expr, out: &mut Body) -> Expr {
        if !self.changes(value) {
            return value.clone();
        }
        let Ty { scalar, lanes } = self.kernel.ty(value);
        let array = self.kernel.arrays.push(Array {
            name: name.to_owned(),
            dtype: scalar,
            len: HostExpr::Const(lanes.into()),
            space: Space::Local,
            vector: 1,
        });
        let index = int(0);
        out.pending.push(Stmt::Store {
            array,
            index: index.clone(),
            value: value.clone(),
            active: None,
        });
        self.flush(out);
        let index = Box::new(index);
        let load = Expr::Load {
            array,
            index,
            lanes,
            active: None,
        };
        self.pieces += 1;
        self.uses_of(&load);
        load
    }

    /// Whether a value may be another one in a later launch.
    fn changes(&self, value: &Expr) -> bool {
        value.any(&|e| match e {
            Expr::Load { array, .. } => {
                let is_global = matches!(self.kernel.arrays[*array].space, Space::Global { .. });
                !is_global || self.stored.contains(array)
            }
            _ => false,
        })
    }

    /// Notes what statements use that run in the same launch, or in launches of the same loop.
    fn piece(&mut self, stmts: &[Stmt]) {
        self.pieces += 1;
        for stmt in stmts {
            stmt.walk(&mut |stmt| {
                stmt.written()
                    .into_iter()
                    .chain(stmt.read())
                    .for_each(|array| self.used(array));
                stmt.exprs().into_iter().for_each(|e| self.uses_of(e));
            });
        }
    }

    fn uses_of(&mut self, e: &Expr) {
        e.walk(&mut |e| {
            if let Expr::Load { array, .. } = e {
                self.used(*array);
            }
        });
    }

    fn used(&mut self, array: ArrayId) {
        if !matches!(self.kernel.arrays[array].space, Space::Global { .. }) {
            let uses = self.uses.entry(array).or_default();
            uses.push((self.pieces, self.around.clone()));
        }
    }

    fn local(&mut self, name: &str) -> VarId {
        let ty = Ty::scalar(ScalarType::I32);
        let name = name.to_owned();
        self.kernel.vars.push(VarInfo { name, ty })
    }

    /// A number that the host knows, as a value of the kernel.
    fn host(&mut self, value: &HostExpr) -> Expr {
        host_value(&mut self.kernel, value)
    }

    fn difference(&mut self, at: &Expr, first: &HostExpr) -> Expr {
        let first = self.host(first);
        binary(BinOp::Sub, at.clone(), first)
    }
}

/// The statements of a region so far.
struct Body {
    /// The number of the launch.
    at: Expr,
    /// The launch that the next statement runs in.
    now: HostExpr,
    /// Statements of that launch.
    pending: Vec<Stmt>,
    stmts: Vec<Stmt>,
}

/// A number that the host knows, as a value of the kernel.
fn host_value(kernel: &mut Kernel, value: &HostExpr) -> Expr {
    if let Some(n) = value.as_const() {
        return int(n);
    }
    if let Some((var, _)) = kernel.scalars.iter().find(|(_, known)| known == value) {
        return Expr::Var(*var);
    }
    let ty = Ty::scalar(ScalarType::I32);
    let name = "launches".to_owned();
    let var = kernel.vars.push(VarInfo { name, ty });
    kernel.scalars.push((var, value.clone()));
    Expr::Var(var)
}

fn branch(cond: Expr, then: Vec<Stmt>) -> Stmt {
    Stmt::If {
        cond,
        then,
        otherwise: vec![],
    }
}

fn binary(op: BinOp, a: Expr, b: Expr) -> Expr {
    match (op, &a, &b) {
        (BinOp::Add, Expr::Int(0, _), _) => b,
        (BinOp::Add | BinOp::Sub, _, Expr::Int(0, _)) => a,
        (BinOp::Mul | BinOp::Div, _, Expr::Int(1, _)) | (BinOp::Mul, Expr::Int(0, _), _) => a,
        _ => Expr::Binary(op, Box::new(a), Box::new(b)),
    }
}

fn int(value: i64) -> Expr {
    Expr::Int(value, ScalarType::I32)
}
