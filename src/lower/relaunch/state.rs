//! Arrays of threads and workgroups in device memory between the launches of a kernel.

use super::{Expr, MOST_LAUNCHES, Spread, binary, branch, host_value, int};
use crate::kernel::{
    Access, Array, ArrayId, BufferRef, ForKind, GpuTarget, HostExpr, Kernel, Launch, Space, Stmt,
    TempInfo, Ty, VarInfo,
};
use crate::tensor::ScalarType;
use crate::tensor::scalar::BinOp;

/// Elements that are copied one by one, without a loop.
const FEW: i64 = 16;

/// The arrays that keep their elements from one launch to the next.
pub(super) struct State {
    arrays: Vec<(ArrayId, Kept)>,
}

/// What there is to keep of an array.
struct Kept {
    /// Elements.
    len: i64,
    /// Whether it is of the workgroup, and not of the thread.
    shared: bool,
    /// Threads of a workgroup, which copy a shared array together.
    threads: i64,
}

impl Kept {
    /// Elements that a thread copies, if it copies as many as the others.
    fn of_thread(&self) -> i64 {
        match self.shared {
            true => (self.len + self.threads - 1) / self.threads,
            false => self.len,
        }
    }
}

fn threads(launch: Option<&Launch>) -> i64 {
    let block = launch.map_or([1; 3], |launch| launch.block);
    block.into_iter().map(i64::from).product()
}

impl State {
    pub(super) fn new(kernel: &Kernel, arrays: Vec<ArrayId>) -> Self {
        let threads = threads(kernel.launch.as_ref());
        let kept = |array: ArrayId| {
            let info = &kernel.arrays[array];
            let kept = Kept {
                len: info.len.as_const().unwrap_or(0),
                shared: info.space == Space::Shared,
                threads,
            };
            (array, kept)
        };
        let arrays = arrays.into_iter().map(kept).collect();
        Self { arrays }
    }

    /// Elements that a thread reads and writes.
    pub(super) fn elements(&self) -> i64 {
        self.arrays.iter().map(|(_, kept)| kept.of_thread()).sum()
    }

    pub(super) fn is_shared(&self) -> bool {
        self.arrays.iter().any(|(_, kept)| kept.shared)
    }

    /// Passes through loops that copying takes in a launch.
    pub(super) fn passes(&self) -> i64 {
        let each = self.arrays.iter().map(|(_, kept)| kept.of_thread());
        each.filter(|n| *n > FEW).map(|n| 2 * (n + 1)).sum()
    }
}

impl Spread {
    /// The kernel that reads the state when a launch starts and writes it when it ends. Nothing if the device has no room for it.
    pub(super) fn into_kernel(
        self,
        original: &Kernel,
        times: &HostExpr,
        gpu: &GpuTarget,
        temps: &mut Vec<TempInfo>,
    ) -> Option<Kernel> {
        let Self {
            mut kernel,
            run,
            state,
        } = self;
        let bindings = original.bindings().count() + state.arrays.len();
        if bindings > gpu.max_storage_buffers as usize {
            return None;
        }
        let launch = original.launch.clone()?;
        let groups = launch.grid.iter().cloned();
        let groups = groups.reduce(|a, b| HostExpr::binary(BinOp::Mul, a, b))?;
        let (mut before, mut after) = (vec![], vec![]);
        let mut new_temps = vec![];
        for (array, kept) in &state.arrays {
            let info = kernel.arrays[*array].clone();
            let owners = match kept.shared {
                true => groups.clone(),
                false => {
                    HostExpr::binary(BinOp::Mul, groups.clone(), HostExpr::Const(kept.threads))
                }
            };
            let len = HostExpr::binary(BinOp::Mul, owners, HostExpr::Const(kept.len));
            if len.as_const().is_some_and(|n| n > i64::from(i32::MAX)) {
                return None;
            }
            // One launch keeps nothing.
            let several = HostExpr::binary(BinOp::Gt, times.clone(), HostExpr::Const(1));
            let len = match times {
                HostExpr::Const(_) => len,
                _ => HostExpr::Select(several.into(), len.into(), HostExpr::Const(1).into()),
            };
            let buffer = BufferRef::Temp(temps.len() + new_temps.len());
            let name = format!("{}_state", info.name);
            new_temps.push(TempInfo {
                name: name.clone(),
                dtype: info.dtype,
                len: len.clone(),
            });
            let access = Access::ReadWrite;
            let memory = kernel.arrays.push(Array {
                name,
                dtype: info.dtype,
                len,
                space: Space::Global { buffer, access },
                vector: 1,
            });
            let (read, write) = copies(&mut kernel, &launch, *array, memory, kept);
            before.extend(read);
            after.extend(write);
        }
        let run = Expr::Var(run);
        if !before.is_empty() {
            let later = binary(BinOp::Gt, run.clone(), int(0));
            let last = host_value(&mut kernel, &super::sum(times.clone(), HostExpr::Const(-1)));
            let earlier = binary(BinOp::Lt, run, last);
            kernel.body.insert(0, branch(later, before));
            kernel.body.push(branch(earlier, after));
        }
        temps.extend(new_temps);
        kernel.launch = Some(Launch {
            times: times.clone(),
            ..launch
        });
        debug_assert!(times.as_const().is_none_or(|n| n <= MOST_LAUNCHES));
        Some(kernel)
    }
}

/// Statements that copy an array from its memory, and to it.
fn copies(
    kernel: &mut Kernel,
    launch: &Launch,
    array: ArrayId,
    memory: ArrayId,
    kept: &Kept,
) -> (Vec<Stmt>, Vec<Stmt>) {
    let group = linear(kernel, Expr::BlockIdx, &launch.grid.clone());
    let block = launch.block.map(|n| HostExpr::Const(n.into()));
    let thread = linear(kernel, Expr::ThreadIdx, &block);
    let owner = match kept.shared {
        true => group,
        false => {
            let first = binary(BinOp::Mul, group, int(kept.threads));
            binary(BinOp::Add, first, thread.clone())
        }
    };
    let first = binary(BinOp::Mul, owner, int(kept.len));
    let count = kept.of_thread();
    let partial = kept.shared && kept.len % kept.threads != 0;
    let (mut read, mut write) = (vec![], vec![]);
    let mut element = |number: Expr| {
        let at = match kept.shared {
            true => {
                let row = binary(BinOp::Mul, number, int(kept.threads));
                binary(BinOp::Add, row, thread.clone())
            }
            false => number,
        };
        let here = binary(BinOp::Add, first.clone(), at.clone());
        let exists = partial.then(|| binary(BinOp::Lt, at.clone(), int(kept.len)));
        let if_exists = |stmt: Stmt| match &exists {
            Some(exists) => branch(exists.clone(), vec![stmt]),
            None => stmt,
        };
        let (own, away) = ((array, at), (memory, here));
        read.push(if_exists(copy(own.clone(), away.clone())));
        write.push(if_exists(copy(away, own)));
    };
    if count <= FEW {
        (0..count).for_each(|at| element(int(at)));
        return (read, write);
    }
    let ty = Ty::scalar(ScalarType::I32);
    let name = "element".to_owned();
    let var = kernel.vars.push(VarInfo { name, ty });
    element(Expr::Var(var));
    let whole = |body| {
        vec![Stmt::For {
            var,
            min: int(0),
            extent: int(count),
            kind: ForKind::Serial,
            body,
        }]
    };
    (whole(read), whole(write))
}

fn copy((to, index): (ArrayId, Expr), (from, at): (ArrayId, Expr)) -> Stmt {
    let value = Expr::Load {
        array: from,
        index: Box::new(at),
        lanes: 1,
        active: None,
    };
    Stmt::Store {
        array: to,
        index,
        value,
        active: None,
    }
}

/// The number of a workgroup or thread among all of the extents.
fn linear(kernel: &mut Kernel, of: fn(u8) -> Expr, extents: &[HostExpr; 3]) -> Expr {
    let mut number = int(0);
    for dim in [2, 1, 0] {
        let extent = &extents[usize::from(dim)];
        if extent.as_const() == Some(1) {
            continue;
        }
        let count = host_value(kernel, extent);
        number = match number {
            Expr::Int(0, _) => of(dim),
            outer => binary(BinOp::Add, binary(BinOp::Mul, outer, count), of(dim)),
        };
    }
    number
}
