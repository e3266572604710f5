//! How long the driver of a software adapter compiles a kernel, from what the kernel writes out.
//!
//! A software adapter makes vector code of every access: lanes are loaded and stored one by one, under the mask of those that run.
//! So a load costs its compiler as much as a dozen multiplications, and an epilogue that reads another tensor as much as all of the
//! sum. Fitted to 390 first calls of kernels without a cache of shaders: eight of ten took 0.87 to 1.55 times what the fit says, those of
//! two seconds and more up to 2.2 times.

use crate::ir::{Block, BlockId, Expr, ExprKind, Place, PrimFunc, Stmt};
use crate::sched::Schedule;
use crate::sched::rules::epilogue::inline_consumers;
use crate::sched::rules::products::cache_result;

/// Microseconds for a scalar of one thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct CompileTime {
    pub(super) load: i64,
    pub(super) store: i64,
    pub(super) operation: i64,
    /// What a kernel may take: that is a second for most.
    pub(super) most: i64,
}

/// Operations of an intrinsic function, as `erf`.
const CALL: i64 = 8;

/// What a thread of a product writes out, in scalars.
#[derive(Clone, Copy, Debug)]
pub(super) struct Written {
    /// Loads of operands for a step of the sums.
    pub(super) operands: i64,
    pub(super) sums: i64,
    /// Operations of a step.
    pub(super) operations: i64,
    pub(super) epilogue: Epilogue,
    /// Whether each vector of sums is written back under a condition of its own, with all that the epilogue reads.
    pub(super) is_guarded: bool,
}

/// What is computed of each element of a result where it is written back.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Epilogue {
    /// Elements of other tensors, one for each of the result.
    reads: i64,
    operations: i64,
}

impl CompileTime {
    /// Mesa 22.3.
    pub(super) const OF_MESA_22: Self = Self {
        load: 1_800,
        store: 1_100,
        operation: 150,
        most: 850_000,
    };
    /// Mesa 25.
    pub(super) const OF_MESA_25: Self = Self {
        load: 9_500,
        store: 3_400,
        operation: 570,
        most: 800_000,
    };

    /// Whether a kernel compiles soon enough.
    pub(super) fn is_short(self, written: Written) -> bool {
        let Written {
            operands,
            sums,
            operations,
            epilogue,
            is_guarded,
        } = written;
        let guards = i64::from(is_guarded);
        // The condition costs as much as the load that it guards.
        let loads = operands + sums * (epilogue.reads + 2 * guards);
        let stores = sums * (1 + guards);
        let operations = operations + sums * epilogue.operations;
        loads * self.load + stores * self.store + operations * self.operation <= self.most
    }
}

impl Epilogue {
    /// What follows a block, as far as it is computed where the result is written back.
    pub(super) fn of(sch: &Schedule, block: BlockId) -> Self {
        let mut attempt = sch.clone();
        let Ok(write_back) = cache_result(&mut attempt, block) else {
            return Self::default();
        };
        inline_consumers(&mut attempt, write_back);
        Self::of_write_back(attempt.func(), write_back)
    }

    /// What the block computes that writes the result back.
    pub(super) fn of_write_back(func: &PrimFunc, write_back: BlockId) -> Self {
        let block = &func.blocks[write_back];
        let mut epilogue = Self::default();
        for stmt in func.tree.body(Place::Block(write_back)) {
            if let Stmt::Store { value, .. } = stmt {
                epilogue.count(value, block);
            }
        }
        // The sum itself is there.
        epilogue.reads = (epilogue.reads - 1).max(0);
        epilogue
    }

    fn count(&mut self, value: &Expr, block: &Block) {
        value.walk(&mut |e| match e.kind() {
            ExprKind::Load(_, indices) => {
                let mut running = block.iters.iter().filter(|i| !i.dom.extent.is_one());
                let is_whole = running.all(|i| indices.iter().any(|at| at.uses(&i.var)));
                self.reads += i64::from(is_whole);
                false
            }
            ExprKind::Call(..) => {
                self.operations += CALL;
                true
            }
            ExprKind::Int(_) | ExprKind::Float(_) | ExprKind::Var(_) => false,
            _ => {
                self.operations += 1;
                true
            }
        });
    }
}
