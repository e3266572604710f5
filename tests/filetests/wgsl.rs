//! `# test: wgsl`

use libtest_mimic::Failed;
use weftile::kernel::{GpuTarget, Target};
use weftile::sched::rules;
use weftile::{codegen_wgsl, lower, script};

use crate::case::{Case, Expected, tidy};

/// The shaders of the one loop program are what is expected; naga takes them.
pub(crate) fn run(case: &Case) -> Result<(), Failed> {
    let target = GpuTarget {
        f16: true,
        immediate_bytes: 128,
        ..GpuTarget::default()
    };
    let module = script::parse(&case.name, &case.input).map_err(|e| e.to_string())?;
    let mut funcs = module.prim_funcs();
    let (_, func) = funcs.next().ok_or("the case has no loop program")?;
    let gpu = Target::Gpu(target.clone());
    let scheduled = rules::schedule(func, &gpu);
    let lowered = lower::lower(scheduled.schedule.func(), &gpu)?;
    let mut listing = String::new();
    for kernel in &lowered.kernels {
        let shader = codegen_wgsl::emit(kernel, &target)?;
        codegen_wgsl::validate(&shader)?;
        listing += &shader.text;
    }
    case.compare(&Expected::Listing(tidy(&listing)))
}
