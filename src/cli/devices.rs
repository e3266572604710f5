//! `weftile devices`: what programs can run on here.

use serde::Serialize;

use super::args::{DeviceArgs, DevicesArgs};
use super::device::{Chosen, open_among};
use super::error::CliError;
use super::terminal::Terminal;
use crate::codegen_cpu::{Backend, this_cpu};
use crate::kernel::CpuTarget;
use crate::runtime_gpu::{Adapter, AdapterInfo, adapters};

/// What `--json` prints.
#[derive(Serialize)]
struct Report {
    cpu: CpuTarget,
    gpus: Vec<AdapterInfo>,
    /// What `--device auto` takes.
    chosen: String,
    reason: String,
}

pub(super) fn run(args: &DevicesArgs, terminal: &mut Terminal) -> Result<(), CliError> {
    let found = adapters();
    let chosen = open_among(&found, &automatic())?;
    if args.json {
        terminal.json(&Report {
            cpu: this_cpu(),
            gpus: found.iter().map(|a| a.info().clone()).collect(),
            chosen: chosen.name,
            reason: chosen.reason,
        })?;
        return Ok(());
    }
    print(terminal, &found, &chosen)
}

/// What `--device auto` means.
fn automatic() -> DeviceArgs {
    DeviceArgs {
        device: "auto".to_owned(),
        allow_software: false,
    }
}

/// The devices as a table, and which one is used.
pub(super) fn print(
    terminal: &mut Terminal,
    adapters: &[Adapter],
    chosen: &Chosen,
) -> Result<(), CliError> {
    let cpu = this_cpu();
    let fma = if cpu.fma { ", fused multiply-add" } else { "" };
    let mut rows = vec![vec![
        "cpu".to_owned(),
        "native code".to_owned(),
        format!(
            "{} threads, {} lanes of float32{fma}, code by {}",
            cpu.threads,
            cpu.f32_lanes,
            Backend::default().name()
        ),
    ]];
    for info in adapters.iter().map(Adapter::info) {
        rows.push(vec![
            info.name.clone(),
            format!("{}, {}", info.kind, info.backend),
            info.driver.clone(),
        ]);
    }
    terminal.table(&["device", "kind", "details"], &rows)?;
    terminal.line("")?;
    terminal.line(format!(
        "using {}: {}",
        terminal.bold(&chosen.name),
        chosen.reason
    ))?;
    Ok(())
}
