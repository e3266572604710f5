//! `weftile diff`: one function on two devices, and the first step in which they differ.
//!
//! The function is changed to return every tensor that it computes. First the kernels are compared that the second device runs, fused
//! as they are there. Where one differs that was made of several operators, these are compared one by one: either one of them
//! differs by itself, or what was made of them is to blame.

use serde::Serialize;

use super::args::{DeviceArgs, DiffArgs};
use super::device::{self, Chosen};
use super::entry::Entry;
use super::environment::Environment;
use super::error::{Blame, CliError};
use super::inputs::gather;
use super::loop_program::free_name;
use super::program::{Program, interpret, parts};
use super::terminal::Terminal;
use crate::ir::graph::{Arg, Callee, Def, DpsCallee, Function, ValueId};
use crate::ir::{Func, Module, Origin, StructInfo};
use crate::runtime::Value;
use crate::support::tolerance::{Tolerance, compare};
use crate::tensor::Tensor;

/// How many terms a sum is taken to have, for the tolerance: more than the sums of common layers.
const TERMS: usize = 4096;

/// What `--json` prints.
#[derive(Serialize)]
struct Report {
    reference: String,
    device: String,
    agree: bool,
    /// What each kernel gives, or each operator on a device that fuses none.
    values: Vec<Compared>,
    /// Where a fused kernel differs: what each operator of the function gives.
    #[serde(skip_serializing_if = "Option::is_none")]
    operators: Option<Vec<Compared>>,
}

/// A value of the function on both devices.
#[derive(Serialize)]
struct Compared {
    name: String,
    /// What computes it.
    by: String,
    #[serde(serialize_with = "as_text", skip_serializing_if = "Origin::is_unknown")]
    origin: Origin,
    agree: bool,
    max_abs_difference: Option<f64>,
    difference: Option<String>,
}

pub(super) fn run(
    args: &DiffArgs,
    environment: &Environment,
    terminal: &mut Terminal,
) -> Result<(), CliError> {
    let [reference, device] = args.devices.as_slice() else {
        return Err(CliError::TwoDevices {
            given: args.devices.len(),
        });
    };
    let entry = Entry::read(&args.module, &args.inputs)?;
    let module = entry.module()?;
    let inputs = gather(&entry.signature, &entry.inputs)?;
    let pair = Pair {
        reference: Side::open(reference, args, environment)?,
        device: Side::open(device, args, environment)?,
        inputs,
        environment,
    };
    let fused = pair.fused(module)?;
    let values = pair.compared(fused.as_ref().unwrap_or(module), &entry.func)?;
    let first = values.iter().find(|value| !value.agree);
    let operators = match (first, &fused) {
        (
            Some(Compared {
                origin: Origin::Several(_),
                ..
            }),
            Some(_),
        ) => Some(pair.compared(module, &entry.func)?),
        _ => None,
    };
    let report = Report {
        reference: reference.clone(),
        device: device.clone(),
        agree: first.is_none(),
        values,
        operators,
    };
    if args.json {
        terminal.json(&report)?;
    } else {
        print(terminal, &report)?;
    }
    match report.values.into_iter().find(|value| !value.agree) {
        None => Ok(()),
        Some(first) => Err(CliError::Differ {
            reference: report.reference,
            device: report.device,
            value: first.name,
            by: first.by,
            origin: Box::new(first.origin),
            blame: blame(report.operators),
        }),
    }
}

/// What is to blame for a difference, by what each operator gives by itself.
fn blame(operators: Option<Vec<Compared>>) -> Blame {
    match operators {
        None => Blame::Single,
        Some(operators) => match operators.into_iter().find(|value| !value.agree) {
            None => Blame::Fusion,
            Some(value) => Blame::Operator(Box::new(value.origin)),
        },
    }
}

/// A device, or the interpreter.
enum Side {
    Interpreter,
    Device(Box<Chosen>),
}

impl Side {
    fn open(device: &str, args: &DiffArgs, environment: &Environment) -> Result<Self, CliError> {
        if device::is_interpreter(device) {
            return Ok(Self::Interpreter);
        }
        let args = DeviceArgs {
            device: device.to_owned(),
            allow_software: args.allow_software,
        };
        let chosen = device::open(&args, &environment.pipelines)?;
        Ok(Self::Device(Box::new(chosen)))
    }

    /// All values that the function computes: a tuple with an item for each.
    fn run(
        &self,
        opened: &Opened,
        inputs: &[Tensor],
        environment: &Environment,
    ) -> Result<Value, CliError> {
        let chosen = match self {
            Self::Interpreter => return interpret(&opened.module, &opened.func, inputs.to_vec()),
            Self::Device(chosen) => chosen,
        };
        let mut program = Program::new(&opened.module, chosen, environment)?;
        let values = program.upload(&opened.func, inputs.to_vec())?;
        let result = program.call(&opened.func, &values)?;
        program.download(result)
    }
}

/// What is compared.
struct Pair<'a> {
    reference: Side,
    device: Side,
    inputs: Vec<Tensor>,
    environment: &'a Environment,
}

impl Pair<'_> {
    /// The module as it is when it is fused, for the device that is not the reference; nothing where neither fuses.
    fn fused(&self, module: &Module) -> Result<Option<Module>, CliError> {
        let target = match (&self.device, &self.reference) {
            (Side::Device(chosen), _) | (Side::Interpreter, Side::Device(chosen)) => &chosen.target,
            (Side::Interpreter, Side::Interpreter) => return Ok(None),
        };
        let fused = self.environment.compile_until(module, target, "fuse_tir")?;
        Ok(Some(fused.module))
    }

    /// Every value of a function on both sides.
    fn compared(&self, module: &Module, func: &str) -> Result<Vec<Compared>, CliError> {
        let opened = open_up(module, func);
        let run = |side: &Side| side.run(&opened, &self.inputs, self.environment);
        let expected = items(run(&self.reference)?);
        let got = items(run(&self.device)?);
        let mut values = Vec::new();
        // Tensors are compared by value: those that were compared go.
        for ((node, expected), got) in opened.nodes.iter().zip(expected).zip(got) {
            let pairs = tensors(&node.name, expected).zip(tensors(&node.name, got));
            values.extend(
                pairs.map(|((name, expected), (_, got))| compared(&name, node, &expected, &got)),
            );
        }
        Ok(values)
    }
}

fn as_text<S: serde::Serializer>(origin: &Origin, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(origin)
}

fn compared(name: &str, node: &Node, expected: &Tensor, got: &Tensor) -> Compared {
    let tolerance = Tolerance::of(expected.dtype().scalar, TERMS);
    let result = compare(expected, got, tolerance);
    Compared {
        name: name.to_owned(),
        by: node.by.clone(),
        origin: node.origin.clone(),
        agree: result.is_ok(),
        max_abs_difference: result.as_ref().ok().copied(),
        difference: result.err().map(|difference| difference.to_string()),
    }
}

fn print(terminal: &mut Terminal, report: &Report) -> Result<(), CliError> {
    let verdict = format!("{} against {}", report.device, report.reference);
    terminal.table(&["value", "computed by", &verdict], &rows(&report.values))?;
    if let Some(operators) = &report.operators {
        terminal.line("\nEach operator by itself:")?;
        terminal.table(&["value", "computed by", &verdict], &rows(operators))?;
    }
    if report.agree {
        let good = terminal.good("no difference beyond rounding");
        terminal.line(good)?;
    }
    Ok(())
}

fn rows(values: &[Compared]) -> Vec<Vec<String>> {
    let rows = values.iter().map(|value| {
        let verdict = match (&value.difference, value.max_abs_difference) {
            (Some(difference), _) => difference.clone(),
            (None, Some(worst)) => format!("agree, at most {worst:.1e} apart"),
            (None, None) => "agree".to_owned(),
        };
        vec![value.name.clone(), value.by.clone(), verdict]
    });
    rows.collect()
}

/// The items of a tuple.
fn items(result: Value) -> Vec<Value> {
    match result {
        Value::Tuple(items) => items,
        _ => vec![],
    }
}

/// The tensors in one item of a result: `name`, or `name.0`, `name.1` … for those of a tuple.
fn tensors(name: &str, item: Value) -> impl Iterator<Item = (String, Tensor)> {
    let parts = parts(name, item).into_iter();
    parts.filter_map(|(name, value)| Some((name, value.into_tensor().ok()?)))
}

/// A module with a function that returns every value it computes.
struct Opened {
    module: Module,
    func: String,
    nodes: Vec<Node>,
}

/// A value of the function.
struct Node {
    name: String,
    /// What computes it.
    by: String,
    origin: Origin,
}

/// Adds the function to the module. The one that it is made of stays, for it may call itself.
fn open_up(module: &Module, func: &str) -> Opened {
    let mut module = module.clone();
    let function = module.function(func).expect("it was found");
    let mut func = function.with_own_vars();
    func.name = free_name(&module, &format!("{}_values", function.name));
    func.attrs.shift_remove("global_symbol");
    let mut nodes = Vec::new();
    let mut results = Vec::new();
    for block in &mut func.body.blocks {
        for id in &block.bindings {
            let value = &func.values[*id];
            match &value.sinfo {
                StructInfo::Tensor(_) | StructInfo::Tuple(_) | StructInfo::Object => {}
                StructInfo::Prim { .. } | StructInfo::Shape(_) | StructInfo::Callable { .. } => {
                    continue;
                }
            }
            nodes.push(Node {
                name: value.name.clone(),
                by: computed_by(&value.def),
                origin: value.origin.clone(),
            });
            results.push(*id);
            if let Some(outputs) = &mut block.dataflow
                && !outputs.contains(id)
            {
                outputs.push(*id);
            }
        }
    }
    set_result(&mut func, &results);
    let name = func.name.clone();
    module.funcs.insert(name.clone(), Func::Graph(func));
    Opened {
        module,
        func: name,
        nodes,
    }
}

fn set_result(func: &mut Function, results: &[ValueId]) {
    func.body.result = Arg::Tuple(results.iter().map(|id| Arg::Value(*id)).collect());
    let sinfos = results.iter().map(|id| func.values[*id].sinfo.clone());
    func.ret = StructInfo::Tuple(sinfos.collect());
}

/// What computes a value, in a word.
fn computed_by(def: &Def) -> String {
    match def {
        Def::Param => "parameter".to_owned(),
        Def::Arg(_) => "another name".to_owned(),
        Def::TupleItem(_, index) => format!("item {index} of a tuple"),
        Def::CallDps { callee, .. } => match callee {
            DpsCallee::Prim(name) | DpsCallee::Packed(name) => name.clone(),
        },
        Def::Call { callee, .. } => match callee {
            Callee::Op(op) => op.name().to_owned(),
            Callee::Global(name) | Callee::Packed(name) | Callee::PurePacked(name) => name.clone(),
            Callee::Value(_) => "a closure".to_owned(),
        },
        Def::MatchCast(..) => "match_cast".to_owned(),
        Def::If { .. } => "a branch".to_owned(),
        Def::Function(_) => "a closure".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operator_that_agrees_by_itself_is_not_to_blame() {
        let compared = |name: &str, agree| Compared {
            name: name.to_owned(),
            by: name.to_owned(),
            origin: Origin::Node(format!("node `{name}`").into()),
            agree,
            max_abs_difference: None,
            difference: None,
        };
        assert_eq!(blame(None).to_string(), "");
        let all_agree = vec![compared("a", true), compared("b", true)];
        let fusion = "\n  each of its operators by itself agrees: the fusion is to blame";
        assert_eq!(blame(Some(all_agree)).to_string(), fusion);
        let one_differs = vec![
            compared("a", true),
            compared("b", false),
            compared("c", false),
        ];
        let operator = "\n  by itself, the first to differ is from node `b`";
        assert_eq!(blame(Some(one_differs)).to_string(), operator);
    }
}
