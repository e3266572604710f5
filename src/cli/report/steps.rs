//! The steps of a call with their times, and which box of the graph each one is.

use std::collections::HashMap;

use indexmap::IndexMap;

use super::data::Step;
use crate::artifact::{Callee, Executable, Instr, Pc};
use crate::ir::Module;
use crate::ir::graph::ValueId;
use crate::support::Id;
use crate::vm::{Profile, ProfileEntry, ProfileKind};

/// Who is called, and for the how manieth time in the text of its function.
type Call = (String, usize);

/// The steps of calls that took the same way, with medians of their times.
pub(super) fn steps(
    profiles: &[Profile],
    executable: &Executable,
    calls: &HashMap<Call, usize>,
    func: &str,
    programs: &IndexMap<String, usize>,
) -> Vec<Step> {
    let Some(first) = profiles.first() else {
        return vec![];
    };
    let same = |profile: &&Profile| profile.entries.len() == first.entries.len();
    let alike: Vec<&Profile> = profiles.iter().filter(same).collect();
    let at = call_sites(executable, func);
    let mut steps = vec![];
    for (index, entry) in first.entries.iter().enumerate() {
        if entry.kind == ProfileKind::Builtin {
            continue;
        }
        let mut seconds: Vec<f64> = alike.iter().map(|p| p.entries[index].seconds).collect();
        seconds.sort_by(f64::total_cmp);
        let call = at.get(&entry.pc);
        steps.push(Step {
            name: entry.name.clone(),
            kind: entry.kind,
            program: program(executable, entry).and_then(|name| programs.get(name).copied()),
            node: call.and_then(|call| calls.get(call).copied()),
            us: seconds[seconds.len() / 2] * 1e6,
            clock: entry.clock,
            launches: entry.launches,
            bytes: entry.bytes,
            flops: entry.flops,
            why: entry.why.clone(),
        });
    }
    steps
}

/// The loop program that ran: that which the instruction calls, or a variant of it.
fn program<'a>(executable: &'a Executable, entry: &ProfileEntry) -> Option<&'a str> {
    if let Instr::Call { callee, .. } = executable.code.get(entry.pc.index())?
        && let Some(Callee::Kernel(kernel)) = executable.callees.get(*callee as usize)
    {
        let variants = executable.variants(*kernel as usize);
        let mut funcs = variants.map(|at| &executable.kernels[at].func);
        let ran = funcs.find(|func| func.kernels.iter().any(|k| k.name == entry.name));
        return ran.map(|func| func.name.as_str());
    }
    callee(executable, entry.pc)
}

/// By call in the text of a function: the box of its value.
pub(super) fn calls(
    module: &Module,
    func: &str,
    boxes: &HashMap<ValueId, usize>,
) -> HashMap<Call, usize> {
    let mut counts: HashMap<String, usize> = HashMap::new();
    let mut calls = HashMap::new();
    if let Some(function) = module.function(func) {
        function.for_each_binding(&mut |id, value| {
            if let Some(callee) = value.def.callee() {
                let call = next(&mut counts, callee);
                calls.extend(boxes.get(&id).map(|node| (call, *node)));
            }
        });
    }
    calls
}

/// The calls that instructions of a function make.
fn call_sites(executable: &Executable, func: &str) -> HashMap<Pc, Call> {
    let mut counts: HashMap<String, usize> = HashMap::new();
    let mut sites = HashMap::new();
    let Some(function) = executable.function(func) else {
        return sites;
    };
    for pc in function.start.index()..function.end.index() {
        let pc = Pc::from_index(pc);
        if let Some(name) = callee(executable, pc) {
            sites.insert(pc, next(&mut counts, name));
        }
    }
    sites
}

fn next(counts: &mut HashMap<String, usize>, callee: &str) -> Call {
    let count = counts.entry(callee.to_owned()).or_default();
    *count += 1;
    (callee.to_owned(), *count)
}

/// The loop program or function of somebody else that an instruction calls.
fn callee(executable: &Executable, pc: Pc) -> Option<&str> {
    let Instr::Call { callee, .. } = executable.code.get(pc.index())? else {
        return None;
    };
    let callee = executable.callees.get(*callee as usize)?;
    match callee {
        Callee::Kernel(_) | Callee::Packed(_) | Callee::Function(_) => {
            Some(executable.callee_name(callee))
        }
        Callee::ShapeFunc(_) | Callee::Builtin(_) => None,
    }
}
