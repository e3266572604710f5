//! `# test: lower`, `# test: clif`, `# test: asm`: what one loop program becomes.

use libtest_mimic::Failed;
use weftile::ir::PrimFunc;
use weftile::kernel::{CpuTarget, GpuClass, GpuTarget, LoweredFunc, Target};
use weftile::sched::rules;
use weftile::{lower, script};

use crate::case::{Case, Expected};

/// The kernel IR, or why there is none, is what is expected.
pub(crate) fn lower(case: &Case) -> Result<(), Failed> {
    let func = read(case)?;
    let got = match kernels(case, &func)? {
        Ok(lowered) => Expected::Listing(crate::case::tidy(&lowered.to_string())),
        Err(message) => Expected::Error(crate::case::tidy(&message)),
    };
    case.compare(&got)
}

/// The native code of all kernels is what is expected.
#[cfg(feature = "cpu")]
pub(crate) fn clif(case: &Case) -> Result<(), Failed> {
    let lowered = kernels(case, &read(case)?)??;
    let mut text = String::new();
    for kernel in &lowered.kernels {
        text += &weftile::codegen_cpu::clif_text(kernel)?;
    }
    case.compare(&Expected::Listing(crate::case::tidy(&text)))
}

/// The instructions that are made of the kernels for the vectors that the case names as its target.
#[cfg(feature = "cpu")]
pub(crate) fn asm(case: &Case) -> Result<(), Failed> {
    let backend = case
        .target
        .parse()
        .map_err(|_| format!("`# target: {}` has no code of its own", case.target))?;
    let lowered = kernels(case, &read(case)?)??;
    let mut text = String::new();
    for kernel in &lowered.kernels {
        text += &weftile::codegen_cpu::asm_text(kernel, backend)?;
    }
    case.compare(&Expected::Listing(crate::case::tidy(&text)))
}

/// The one loop program of the case.
fn read(case: &Case) -> Result<PrimFunc, Failed> {
    let module = script::parse(&case.name, &case.input).map_err(|e| e.to_string())?;
    let mut funcs = module.prim_funcs();
    let (_, func) = funcs.next().ok_or("the case has no loop program")?;
    Ok(func.clone())
}

/// The function lowered for the target that the case names, after the default rules if it says `# run: default rules`; or
/// the message of the refusal.
pub(crate) fn kernels(case: &Case, func: &PrimFunc) -> Result<Result<LoweredFunc, String>, Failed> {
    let target = target(&case.target)?;
    let lower = |func: &PrimFunc| lower::lower(func, &target);
    let scheduled = match case.run.as_slice() {
        [] => return Ok(lower(func).map_err(|error| error.render(func))),
        [one] if one == "default rules" => rules::choose(func, &target, lower),
        other => {
            return Err(format!(
                "unknown `# run: {}`: there is `default rules`",
                other.join(", ")
            )
            .into());
        }
    };
    let (scheduled, lowered) = scheduled;
    Ok(lowered.map_err(|error| error.render(scheduled.schedule.func())))
}

fn target(name: &str) -> Result<Target, Failed> {
    let gpu = |class| {
        Target::Gpu(GpuTarget {
            class,
            ..GpuTarget::default()
        })
    };
    let cpu = |f32_lanes, vector_registers| {
        Target::Cpu(CpuTarget {
            threads: 2,
            f32_lanes,
            vector_registers,
            fma: true,
        })
    };
    Ok(match name {
        "cpu" => cpu(4, 16),
        "avx2" => cpu(8, 16),
        "avx512" => cpu(16, 32),
        "gpu" => gpu(GpuClass::Unknown),
        "software" => gpu(GpuClass::Software),
        other => {
            return Err(format!(
                "unknown `# target: {other}`: there are cpu, avx2, avx512, gpu and software"
            )
            .into());
        }
    })
}
