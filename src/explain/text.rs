//! The cost of a kernel as a page.

use std::fmt::Write as _;

use super::{
    AccessCost, Control, ControlCost, Direction, GpuModel, KernelCost, Limit, Memory, Prediction,
};

impl KernelCost {
    /// A page for readers. `lines` gives the line of the shader for each statement, in the order of the kernel.
    pub fn page(&self, prediction: &Prediction, model: &GpuModel, lines: &[u32]) -> String {
        let mut out = String::new();
        let mut line = |text: String| {
            let _ = writeln!(out, "{text}");
        };
        let [x, y, z] = self.grid;
        line(format!("{}: {}", self.kernel, self.blocks));
        line(format!(
            "  launch      {x} x {y} x {z} workgroups of {} threads{}",
            self.threads,
            if self.dispatches == 1 {
                String::new()
            } else {
                format!(", {} times", self.dispatches)
            },
        ));
        let per_byte = self.intensity();
        line(format!(
            "  work        {} operations, {} bytes, {per_byte:.2} operations a byte",
            short(self.flops()),
            short(self.bytes as f64),
        ));
        if let Some(share) = self.shared_per_fma().filter(|&share| share > 0.0) {
            line(format!(
                "  shared      {share:.3} elements read for each fused multiply-add"
            ));
        }
        line(format!(
            "  workgroup   {} registers a thread, {} bytes shared, {:.0} barriers, {} at once on a core ({})",
            self.registers,
            self.shared_bytes,
            self.barriers,
            prediction.resident,
            prediction.resident_limit,
        ));
        if self.divergent > 0.0 {
            line(format!(
                "  divergence  {} branches take both sides",
                short(self.divergent)
            ));
        }
        if self.unknown {
            line("  not known   what is loaded decides a loop or a condition: counted once, and both sides".to_owned());
        }
        if prediction.limit == Limit::NoWorkgroups {
            line(
                "  predicted   nothing: there are no workgroups, so the launch does not take place"
                    .to_owned(),
            );
            return out;
        }
        let parts: Vec<String> = prediction
            .parts
            .iter()
            .filter(|(_, seconds)| *seconds > 0.0)
            .map(|(part, seconds)| format!("{part} {}", time(*seconds)))
            .collect();
        line(format!(
            "  predicted   {} on {}, by {} ({:.0} % of the cores busy)",
            time(prediction.time),
            model.device,
            prediction.limit,
            100.0 * prediction.busy,
        ));
        line(format!("              {}", parts.join(", ")));
        for access in &self.accesses {
            line(row(access, lines));
        }
        for control in &self.control {
            line(row_of_control(control, self.groups(), lines));
        }
        out
    }
}

fn row(access: &AccessCost, lines: &[u32]) -> String {
    let place = place(access.statements, lines);
    let verb = match access.direction {
        Direction::Read => "read",
        Direction::Write => "write",
    };
    let detail = match access.memory {
        Memory::Global => format!(
            "{:.2} sectors an access, {:.0} % of them used{}",
            access.per_access(),
            100.0 * access.share_used(),
            if access.scattered { ", scattered" } else { "" },
        ),
        Memory::Shared if access.excess() > 1.005 => {
            format!("{:.1}-way bank conflict", access.excess())
        }
        Memory::Shared => "no bank conflict".to_owned(),
    };
    let around = around(&access.loops);
    format!(
        "  {place:<14} {verb} {} x{}{around}: {} accesses, {detail}",
        access.array,
        access.width,
        short(access.accesses),
    )
}

fn row_of_control(row: &ControlCost, groups: f64, lines: &[u32]) -> String {
    let place = place((row.statement, row.statement), lines);
    let around = around(&row.loops);
    match row.control {
        Control::Barrier => {
            let each = row.count / groups.max(1.0);
            format!("  {place:<14} barrier{around}: {each:.0} a workgroup")
        }
        Control::Divergence => {
            let count = short(row.count);
            format!("  {place:<14} branch{around}: {count} times both sides of a subgroup")
        }
    }
}

/// The lines of the first and the last of some statements.
fn place((first, last): (usize, usize), lines: &[u32]) -> String {
    let at = |statement: usize| lines.get(statement).copied();
    match (at(first), at(last)) {
        (Some(a), Some(b)) if a != b => format!("lines {a}-{b}"),
        (Some(a), _) => format!("line {a}"),
        (None, _) => String::new(),
    }
}

fn around(loops: &[String]) -> String {
    match loops {
        [] => String::new(),
        loops => format!(" in {}", loops.join(", ")),
    }
}

/// A count with a unit of thousands.
fn short(n: f64) -> String {
    let units = [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")];
    match units.into_iter().find(|(unit, _)| n >= *unit) {
        Some((unit, name)) => format!("{:.2} {name}", n / unit),
        None => format!("{n:.0}"),
    }
}

fn time(seconds: f64) -> String {
    match seconds {
        1.0.. => format!("{seconds:.2} s"),
        1e-3.. => format!("{:.2} ms", seconds * 1e3),
        _ => format!("{:.1} us", seconds * 1e6),
    }
}
