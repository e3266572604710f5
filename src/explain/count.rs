//! Counts what a launch does, workgroup by workgroup of a few that stand for all.

use std::collections::HashMap;

use super::cycle;
use super::integers;
use super::lanes::{Lanes, Workgroup};
use super::registers::registers;
use super::transactions::{self, Transactions};
use super::{
    AccessCost, Control, ControlCost, Direction, ExplainError, GpuModel, KernelCost, Memory,
};
use crate::kernel::{
    ArrayId, BufferRef, Expr, FRAGMENT_ALIGN, FRAGMENT_THREADS, FragmentId, FragmentOp, HostExpr,
    Kernel, Space, Stmt, Ty, VarId,
};
use crate::tensor::ScalarType;
use crate::tensor::scalar::{BinOp, Intrin};

/// What a launch of a kernel does, with these sizes, where `model.subgroup` threads run in step.
///
/// # Errors
/// If it is no kernel of a GPU, sizes are missing, or the launch cannot be computed for them.
pub fn explain(
    kernel: &Kernel,
    dims: &[i64],
    model: &GpuModel,
) -> Result<KernelCost, ExplainError> {
    count(kernel, dims, model, samples)
}

/// The same, counted in one workgroup that stands for all: in each direction the one in the middle.
///
/// # Errors
/// See [`explain`].
pub fn explain_one_workgroup(
    kernel: &Kernel,
    dims: &[i64],
    model: &GpuModel,
) -> Result<KernelCost, ExplainError> {
    count(kernel, dims, model, |count| match count {
        ..=0 => vec![],
        _ => vec![(middle(count), count as f64)],
    })
}

fn count(
    kernel: &Kernel,
    dims: &[i64],
    model: &GpuModel,
    workgroups: fn(i64) -> Vec<(i64, f64)>,
) -> Result<KernelCost, ExplainError> {
    let name = || kernel.name.clone();
    let launch = kernel.launch.as_ref();
    let launch = launch.ok_or_else(|| ExplainError::NoLaunch { kernel: name() })?;
    let mut needed = 0;
    let mut need = |dim: usize| needed = needed.max(dim + 1);
    let scalars = kernel.scalars.iter().map(|(_, value)| value);
    let sizes = launch.grid.iter().chain([&launch.times, &kernel.bytes]);
    scalars.chain(sizes).for_each(|e| e.for_each_dim(&mut need));
    // The number of the dispatch stands behind the sizes.
    let all: Vec<i64> = dims.iter().copied().chain([0]).collect();
    if all.len() < needed {
        let (kernel, given) = (name(), dims.len());
        return Err(ExplainError::Sizes {
            kernel,
            needed: needed - 1,
            given,
        });
    }
    let value = |e: &HostExpr| {
        e.eval_exact(&all).map_err(|source| ExplainError::Launch {
            kernel: name(),
            source,
        })
    };
    let mut grid = [0; 3];
    for (extent, e) in grid.iter_mut().zip(&launch.grid) {
        *extent = value(e)?.max(0);
    }
    let dispatches = value(&launch.times)?.max(0);
    let mut count = Count {
        kernel,
        model,
        rows: vec![],
        row_of: HashMap::new(),
        control: vec![],
        loops: vec![],
        statement: 0,
        fma: 0.0,
        tile_fma: 0.0,
        arithmetic: 0.0,
        special: 0.0,
        integers: 0.0,
        integers_of: integers::of_statements(kernel),
        barriers: 0.0,
        waits: 0.0,
        asked: 0.0,
        asked_at_waits: 0.0,
        divergent: 0.0,
        unknown: false,
        group: Workgroup::new(kernel, [0; 3], launch.block),
    };
    let threads: u32 = launch.block.iter().product();
    let scalars = kernel.scalars.iter();
    let scalars = scalars.map(|(var, e)| Ok((*var, Lanes::Same(Some(value(e)?)))));
    let scalars = scalars.collect::<Result<Vec<_>, ExplainError>>()?;
    count.group.set_all(&scalars);
    let lengths = [0, 1, 2].map(|d| cycle::of_work(kernel, &count.group, d));
    let along = |d: usize| cycle::samples(grid[d], lengths[d], workgroups);
    for (z, of_z) in along(2) {
        for (y, of_y) in along(1) {
            for (x, of_x) in along(0) {
                count.group = Workgroup::new(kernel, [x, y, z], launch.block);
                count.group.set_all(&scalars);
                count.statement = 0;
                count.asked = 0.0;
                let active = vec![true; threads as usize];
                count.body(
                    &kernel.body,
                    &active,
                    of_x * of_y * of_z * dispatches as f64,
                );
            }
        }
    }
    let groups = grid.iter().map(|&n| n as f64).product::<f64>() * dispatches as f64;
    Ok(KernelCost {
        kernel: name(),
        blocks: kernel.comment.clone(),
        grid,
        dispatches,
        threads,
        subgroup: model.subgroup,
        fma: count.fma,
        tile_fma: count.tile_fma,
        arithmetic: count.arithmetic,
        special: count.special,
        integers: count.integers,
        barriers: count.barriers / groups.max(1.0),
        waits: count.waits / groups.max(1.0),
        asked: match count.waits {
            0.0 => 0.0,
            waits => count.asked_at_waits / waits,
        },
        divergent: count.divergent,
        accesses: count.rows,
        control: count.control,
        shared_bytes: shared_bytes(kernel),
        registers: registers(kernel),
        bytes: value(&kernel.bytes)?,
        own_bytes: own_bytes(kernel, value)?,
        unknown: count.unknown,
    })
}

/// The iterations that are walked, each with how many it stands for. Work that grows from one to the next, as that of queries which see
/// only what came before, is in the middle what it is on average.
fn samples(count: i64) -> Vec<(i64, f64)> {
    match count {
        ..=0 => vec![],
        1..=3 => (0..count).map(|at| (at, 1.0)).collect(),
        _ => {
            let between = (middle(count), (count - 2) as f64);
            vec![(0, 1.0), between, (count - 1, 1.0)]
        }
    }
}

fn middle(count: i64) -> i64 {
    (count - 1) / 2
}

/// Bytes of temporaries of the program.
fn own_bytes(
    kernel: &Kernel,
    value: impl Fn(&HostExpr) -> Result<i64, ExplainError>,
) -> Result<i64, ExplainError> {
    let bindings = kernel.bindings();
    let own = bindings.filter(|(_, _, buffer, _)| matches!(buffer, BufferRef::Temp(_)));
    let bytes = own.map(|(_, array, ..)| Ok(value(&array.len)? * array.dtype.bytes() as i64));
    bytes.sum()
}

fn shared_bytes(kernel: &Kernel) -> i64 {
    let shared = kernel
        .arrays
        .iter()
        .filter(|(_, array)| array.space == Space::Shared);
    let bytes =
        shared.map(|(_, array)| array.len.as_const().unwrap_or(0) * array.dtype.bytes() as i64);
    bytes.sum()
}

/// Accesses that are one row: of an array, in a direction, so wide, in these loops.
type Row = (ArrayId, Direction, u16, Vec<VarId>);

struct Count<'a> {
    kernel: &'a Kernel,
    model: &'a GpuModel,
    rows: Vec<AccessCost>,
    row_of: HashMap<Row, usize>,
    control: Vec<ControlCost>,
    loops: Vec<VarId>,
    /// The number of the statement, outer ones first.
    statement: usize,
    fma: f64,
    tile_fma: f64,
    arithmetic: f64,
    special: f64,
    integers: f64,
    /// Operations on integers of each statement.
    integers_of: Vec<f64>,
    barriers: f64,
    waits: f64,
    /// Bytes that the workgroup has asked global memory for since the last barrier, in the last iteration of loops without one; and
    /// the sum of that over all barriers.
    asked: f64,
    asked_at_waits: f64,
    divergent: f64,
    unknown: bool,
    group: Workgroup<'a>,
}

impl Count<'_> {
    /// Statements that the active threads make, as one of so many times that they are made.
    fn body(&mut self, stmts: &[Stmt], active: &[bool], times: f64) {
        for stmt in stmts {
            let at = self.statement;
            self.statement += 1;
            self.stmt(stmt, at, active, times);
            // However the iterations were walked, what follows has one number.
            self.statement = at + 1 + nested_count(stmt);
        }
    }

    fn stmt(&mut self, stmt: &Stmt, at: usize, active: &[bool], times: f64) {
        let threads = active.iter().filter(|&&active| active).count();
        self.integers += self.integers_of[at] * threads as f64 * times;
        let mut seen: Vec<&Expr> = vec![];
        for e in stmt.exprs() {
            self.expr(e, at, active, times, &mut seen);
        }
        match stmt {
            Stmt::Let(var, value) => {
                let value = self.group.eval(value);
                self.group.set(*var, value);
            }
            Stmt::Store {
                array,
                index,
                value,
                active: _,
            } => {
                let lanes = self.kernel.ty(value).lanes;
                self.access(*array, Direction::Write, index, lanes, at, active, times);
            }
            Stmt::For {
                var,
                min,
                extent,
                kind: _,
                body,
            } => {
                let (min, extent) = (self.group.eval(min), self.group.eval(extent));
                let threads = || (0..active.len()).filter(|&t| active[t]);
                let known = threads().all(|t| extent.at(t).is_some());
                self.unknown |= !known;
                let most = threads()
                    .map(|t| extent.at(t).unwrap_or(1))
                    .max()
                    .unwrap_or(0);
                self.loops.push(*var);
                let (before, barriers) = (self.asked, self.barriers);
                let mut most_asked = before;
                for (k, of) in samples(most) {
                    if self.barriers == barriers {
                        self.asked = before;
                    }
                    let value = min.zip(&Lanes::Same(Some(k)), |a, b| Some(a + b));
                    self.group.set(*var, value);
                    let inside: Vec<bool> = (0..active.len())
                        .map(|t| active[t] && extent.at(t).is_none_or(|n| k < n))
                        .collect();
                    self.statement = at + 1;
                    self.body(body, &inside, times * of);
                    most_asked = most_asked.max(self.asked);
                }
                if self.barriers == barriers {
                    self.asked = most_asked;
                }
                self.loops.pop();
            }
            Stmt::If {
                cond,
                then,
                otherwise,
            } => {
                let cond = self.group.eval(cond);
                let side = |wanted: bool| -> Vec<bool> {
                    let taken = |t: usize| cond.at(t).is_none_or(|c| (c != 0) == wanted);
                    (0..active.len()).map(|t| active[t] && taken(t)).collect()
                };
                let (yes, no) = (side(true), side(false));
                let threads = || (0..active.len()).filter(|&t| active[t]);
                self.unknown |= threads().any(|t| cond.at(t).is_none());
                let width = self.model.subgroup as usize;
                let both = yes.chunks(width).zip(no.chunks(width));
                let both = both.filter(|(yes, no)| yes.contains(&true) && no.contains(&true));
                let both = times * both.count() as f64;
                if both > 0.0 {
                    self.divergent += both;
                    self.control(Control::Divergence, at, both);
                }
                self.statement = at + 1;
                self.body(then, &yes, times);
                self.body(otherwise, &no, times);
            }
            Stmt::While { cond: _, body } => {
                self.unknown = true;
                self.statement = at + 1;
                self.body(body, active, times);
            }
            Stmt::Barrier => {
                self.barriers += times;
                self.control(Control::Barrier, at, times);
                let asked = std::mem::take(&mut self.asked);
                if asked > 0.0 {
                    self.waits += times;
                    self.asked_at_waits += times * asked;
                }
            }
            Stmt::Fragment(op) => self.fragment(op, at, active, times),
        }
    }

    /// Threads wait or part at this statement, so many times.
    fn control(&mut self, control: Control, statement: usize, times: f64) {
        let same = |row: &&mut ControlCost| (row.control, row.statement) == (control, statement);
        if let Some(row) = self.control.iter_mut().find(same) {
            row.count += times;
            return;
        }
        self.control.push(ControlCost {
            control,
            statement,
            loops: names(self.kernel, &self.loops),
            count: times,
        });
    }

    /// An operation that subgroups make. The model takes each thread to move sixteen bytes of a row at once, neighbours side by side, or
    /// its part of a fragment that has less for each thread.
    fn fragment(&mut self, op: &FragmentOp, at: usize, active: &[bool], times: f64) {
        let extent_of = |id: FragmentId| self.kernel.fragments[id].extent;
        let (direction, extent, tile) = match op {
            FragmentOp::Clear(_) => return,
            FragmentOp::MultiplyAdd { sum, a: _, b: _ } => {
                let subgroups = active.chunks(FRAGMENT_THREADS as usize);
                let subgroups = subgroups.filter(|threads| threads.contains(&true)).count();
                let products = f64::from(extent_of(*sum)).powi(3);
                self.tile_fma += times * subgroups as f64 * products;
                return;
            }
            FragmentOp::Load(id, tile) => (Direction::Read, extent_of(*id), tile),
            FragmentOp::Store(id, tile) => (Direction::Write, extent_of(*id), tile),
        };
        let int = |value: u32| Expr::Int(value.into(), ScalarType::I32);
        let binary = |op, a: Expr, b| Expr::Binary(op, Box::new(a), Box::new(int(b)));
        let lanes = FRAGMENT_ALIGN / self.kernel.arrays[tile.array].dtype.bytes() as u32;
        let lanes = lanes.min(extent * extent / FRAGMENT_THREADS).max(1);
        let in_row = extent / lanes;
        let rows = FRAGMENT_THREADS / in_row;
        for first in (0..extent).step_by(rows as usize) {
            let row = binary(BinOp::Div, Expr::ThreadIdx(0), in_row);
            let row = binary(BinOp::Mul, binary(BinOp::Add, row, first), tile.stride);
            let column = binary(BinOp::Mod, Expr::ThreadIdx(0), in_row);
            let column = binary(BinOp::Mul, column, lanes);
            let place = Expr::Binary(BinOp::Add, Box::new(row), Box::new(column));
            let index = Expr::Binary(BinOp::Add, Box::new(tile.index.clone()), Box::new(place));
            self.access(
                tile.array,
                direction,
                &index,
                lanes as u16,
                at,
                active,
                times,
            );
        }
    }

    /// The loads and operations of an expression. What the statement has computed before is not computed again.
    fn expr<'e>(
        &mut self,
        e: &'e Expr,
        at: usize,
        active: &[bool],
        times: f64,
        seen: &mut Vec<&'e Expr>,
    ) {
        let ty = self.kernel.ty(e);
        if let Expr::Load {
            array,
            index,
            lanes,
            active: _,
        } = e
            && !seen.contains(&e)
        {
            seen.push(e);
            let (array, lanes) = (*array, *lanes);
            self.access(array, Direction::Read, index, lanes, at, active, times);
        }
        let each = |ty: Ty| {
            let threads = active.iter().filter(|&&active| active).count();
            times * threads as f64 * f64::from(ty.lanes)
        };
        match e {
            Expr::Binary(op, a, b) if self.kernel.ty(a).scalar.is_float() => match op {
                BinOp::Add | BinOp::Sub => {
                    let product = [a, b]
                        .into_iter()
                        .find(|side| matches!(&***side, Expr::Binary(BinOp::Mul, ..)));
                    match product {
                        // The product is part of the fused operation.
                        Some(product) => {
                            self.fma += each(ty);
                            let other = if std::ptr::eq(product, a) { b } else { a };
                            self.expr(other, at, active, times, seen);
                            for factor in product.children() {
                                self.expr(factor, at, active, times, seen);
                            }
                            return;
                        }
                        None => self.arithmetic += each(ty),
                    }
                }
                BinOp::Div | BinOp::Mod | BinOp::FloorDiv | BinOp::FloorMod => {
                    self.special += each(ty)
                }
                _ => self.arithmetic += each(self.kernel.ty(a)),
            },
            Expr::Shuffle(..) => self.special += each(ty),
            Expr::Select(_, a, _) if self.kernel.ty(a).scalar.is_float() => {
                self.arithmetic += each(ty)
            }
            Expr::Call(intrin, args)
                if args
                    .first()
                    .is_some_and(|a| self.kernel.ty(a).scalar.is_float()) =>
            {
                match intrin {
                    Intrin::Fma => self.fma += each(ty),
                    Intrin::Abs
                    | Intrin::Floor
                    | Intrin::Ceil
                    | Intrin::Trunc
                    | Intrin::Round
                    | Intrin::IsNan
                    | Intrin::IsInf
                    | Intrin::IsFinite => self.arithmetic += each(ty),
                    _ => self.special += each(ty),
                }
            }
            _ => {}
        }
        for child in e.children() {
            self.expr(child, at, active, times, seen);
        }
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of an access")]
    fn access(
        &mut self,
        array: ArrayId,
        direction: Direction,
        index: &Expr,
        lanes: u16,
        at: usize,
        active: &[bool],
        times: f64,
    ) {
        let declared = &self.kernel.arrays[array];
        let memory = match declared.space {
            Space::Global { .. } => Memory::Global,
            Space::Shared => Memory::Shared,
            Space::Local => return,
        };
        let element = declared.dtype.bytes() as i64;
        let bytes = element as u32 * u32::from(lanes);
        let index = self.group.eval(index);
        let width = self.model.subgroup as usize;
        let (mut accesses, mut total, mut scattered) = (0u64, Transactions::default(), false);
        for (first, part) in active.chunks(width).enumerate() {
            let threads = (first * width..)
                .zip(part)
                .filter_map(|(t, &active)| active.then_some(t));
            let addresses: Option<Vec<i64>> = threads
                .clone()
                .map(|t| Some(index.at(t)? * element))
                .collect();
            let found = match addresses {
                Some(addresses) if addresses.is_empty() => continue,
                Some(addresses) => self.transactions(memory, &addresses, bytes),
                None => {
                    scattered = true;
                    let threads = threads.count() as u64;
                    let each = self.transactions(memory, &[0], bytes);
                    Transactions {
                        taken: threads * each.taken,
                        ideal: threads * each.ideal,
                        bytes: threads * u64::from(bytes),
                    }
                }
            };
            accesses += 1;
            total.taken += found.taken;
            total.ideal += found.ideal;
            total.bytes += found.bytes;
        }
        if memory == Memory::Global && direction == Direction::Read {
            self.asked += total.bytes as f64;
        }
        let threads = active.iter().filter(|&&active| active).count() as f64;
        let row = (array, direction, lanes, self.loops.clone());
        let row = *self.row_of.entry(row).or_insert_with(|| {
            self.rows.push(AccessCost {
                array: declared.name.clone(),
                memory,
                direction,
                width: lanes,
                loops: names(self.kernel, &self.loops),
                statements: (at, at),
                accesses: 0.0,
                transactions: 0.0,
                ideal: 0.0,
                bytes: 0.0,
                elements: 0.0,
                scattered: false,
            });
            self.rows.len() - 1
        });
        let row = &mut self.rows[row];
        row.statements = (row.statements.0.min(at), row.statements.1.max(at));
        row.accesses += times * accesses as f64;
        row.transactions += times * total.taken as f64;
        row.ideal += times * total.ideal as f64;
        row.bytes += times * total.bytes as f64;
        row.elements += times * threads * f64::from(lanes);
        row.scattered |= scattered;
    }

    fn transactions(&self, memory: Memory, addresses: &[i64], bytes: u32) -> Transactions {
        match (memory, self.model.banks) {
            (Memory::Global, _) => transactions::global(addresses, bytes),
            (Memory::Shared, Some(banks)) => transactions::shared(addresses, bytes, banks),
            // Ordinary memory: neighbours meet nobody.
            (Memory::Shared, None) => transactions::shared(addresses, bytes, self.model.subgroup),
        }
    }
}

/// Names of the variables of loops.
fn names(kernel: &Kernel, loops: &[VarId]) -> Vec<String> {
    let name = |var: &VarId| kernel.vars[*var].name.clone();
    loops.iter().map(name).collect()
}

/// Statements inside of this one, at any depth.
fn nested_count(stmt: &Stmt) -> usize {
    let inside = stmt.nested().into_iter().flatten();
    inside.map(|stmt| 1 + nested_count(stmt)).sum()
}
