//! The passes of lowering, in order. All work on one [`Lowering`]: a function first, then the nests of its root, then kernels.

use super::lowering::Lowering;
use super::{
    LowerError, kernels, launch_breaks, layout, nests, requirements, returns, thread_returns,
};

/// One step of lowering.
pub(super) struct Pass {
    /// Its name, in dumps and tests.
    pub(super) name: &'static str,
    targets: Targets,
    pub(super) run: fn(&mut Lowering<'_>) -> Result<Next, LowerError>,
}

/// The targets that a pass is for.
#[derive(Clone, Copy)]
enum Targets {
    All,
    Cpu,
    Gpu,
}

/// What comes after a pass.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// The pass that follows in the list.
    Pass,
    /// [`PASSES`] from `place_buffers` on: a buffer has to be in device memory, which the nests were made without knowing.
    PlaceBuffers,
}

pub(super) const PASSES: &[Pass] = &[
    all("launch_breaks", |l| {
        l.rewrite(|f, _| Ok(launch_breaks::in_order(f)))
    }),
    all("thread_returns", |l| {
        l.rewrite(|f, _| thread_returns::structured(f))
    }),
    all("returns", |l| l.rewrite(|f, _| returns::structured(f))),
    all("dense_layout", |l| l.rewrite(layout::dense)),
    all(PLACE_BUFFERS, nests::place_buffers),
    all("unblock", nests::unblock),
    cpu("imply_barriers", nests::imply_barriers),
    all("compact", nests::compact),
    cpu("split_thread_loops", nests::split_thread_loops),
    cpu("trim_loops", nests::trim_loops),
    gpu("check_bound", nests::check_bound),
    gpu("check_cross_thread", nests::check_cross_thread),
    all("write_out", nests::write_out),
    all("emit", kernels::emit),
    gpu("check_limits", kernels::check_limits),
    cpu("check_stack", kernels::check_stack),
    cpu("promote_accumulators", kernels::promote_accumulators),
    cpu("check_simd_reductions", kernels::check_simd_reductions),
    gpu("narrow_indices", requirements::narrow_indices),
    gpu("hoist_loads", kernels::hoist_loads),
    gpu("prefetch", kernels::prefetch),
    gpu("shorten_loops", kernels::shorten_loops),
    gpu("name_common", kernels::name_common),
    gpu("relaunch", kernels::relaunch),
    gpu("hide_extents", kernels::hide_extents),
    gpu("insert_barriers", kernels::insert_barriers),
    gpu("bound_arrays", requirements::bound_arrays),
    gpu("bound_loops", requirements::bound_loops),
];

const PLACE_BUFFERS: &str = "place_buffers";

type Run = fn(&mut Lowering<'_>) -> Result<Next, LowerError>;

const fn pass(name: &'static str, targets: Targets, run: Run) -> Pass {
    Pass { name, targets, run }
}

const fn all(name: &'static str, run: Run) -> Pass {
    pass(name, Targets::All, run)
}

const fn cpu(name: &'static str, run: Run) -> Pass {
    pass(name, Targets::Cpu, run)
}

const fn gpu(name: &'static str, run: Run) -> Pass {
    pass(name, Targets::Gpu, run)
}

/// Runs the passes that are for the target. `see` gets the name of each and what is there after it.
pub(super) fn run(
    lowering: &mut Lowering<'_>,
    see: &mut dyn FnMut(&'static str, &Lowering<'_>),
) -> Result<(), LowerError> {
    let on_gpu = lowering.gpu().is_some();
    let mut at = 0;
    while let Some(pass) = PASSES.get(at) {
        at += 1;
        let applies = match pass.targets {
            Targets::All => true,
            Targets::Cpu => !on_gpu,
            Targets::Gpu => on_gpu,
        };
        if !applies {
            continue;
        }
        match (pass.run)(lowering)? {
            Next::Pass => see(pass.name, lowering),
            Next::PlaceBuffers => {
                let is_it = |pass: &Pass| pass.name == PLACE_BUFFERS;
                at = PASSES.iter().position(is_it).expect("it is in the list");
            }
        }
    }
    Ok(())
}
