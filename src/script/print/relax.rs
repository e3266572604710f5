//! Prints the graph dialect (`R`), as TVM does: types beside the bindings that do not say theirs, symbolic dimensions as texts in
//! the signature, tensors as entries of `metadata`.

mod sinfo;
mod value;

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use serde_json::Value as Json;

use super::PrintOptions;
use super::namer::Namer;
use super::value::{dict, string};
use super::writer::Writer;
use crate::ir::graph::{
    Arg, BindingBlock, Body, Callee, Def, DpsCallee, Function, Part, Value, ValueId,
};
use crate::ir::{Func, Module, StructInfo, VDevice, Var};
use crate::script::constant::to_json;
use crate::tensor::Tensor;
use value::Defined;

/// The key of tensors in `metadata`.
const KEY: &str = "relax.expr.Constant";

/// The tensors that the printed functions refer to, in order; first those that are left out.
#[derive(Debug, Default)]
pub(super) struct Constants(Vec<Option<Tensor>>);

impl Constants {
    /// The constants of a module before it is printed: what its text left out keeps its numbers.
    pub(super) fn of(module: &Module) -> Self {
        let graphs = module.funcs.values().filter_map(|func| match func {
            Func::Graph(func) => Some(func),
            Func::Prim(_) => None,
        });
        Self(vec![None; graphs.map(omitted).max().unwrap_or(0)])
    }

    /// The entry of a tensor; one that is used twice has one entry.
    fn entry(&mut self, tensor: &Tensor) -> String {
        let same = |t: &Option<Tensor>| {
            let Some(t) = t else { return false };
            t.bytes().as_ptr() == tensor.bytes().as_ptr()
                && t.shape() == tensor.shape()
                && t.dtype() == tensor.dtype()
        };
        let index = self.0.iter().position(same).unwrap_or_else(|| {
            self.0.push(Some(tensor.clone()));
            self.0.len() - 1
        });
        reference(index)
    }
}

/// One more than the greatest number of a constant that a function refers to and the text left out.
fn omitted(func: &Function) -> usize {
    let mut count = 0;
    for arg in func.args() {
        arg.walk(&mut |leaf| {
            if let Arg::Omitted(index) = leaf {
                count = count.max(index + 1);
            }
        });
    }
    for (_, value) in func.values.iter() {
        if let Def::Function(inner) = &value.def {
            count = count.max(omitted(inner));
        }
    }
    count
}

/// How the text names a constant.
fn reference(index: usize) -> String {
    format!("metadata[\"{KEY}\"][{index}]")
}

/// Attributes and devices of the module.
pub(super) fn module_header(out: &mut Writer, module: &Module) {
    if !module.attrs.is_empty() {
        let attrs = dict(&mut Namer::default(), &module.attrs);
        out.line(format!("I.module_attrs({attrs})"));
    }
    if !module.vdevices.is_empty() {
        let devices: Vec<_> = module
            .vdevices
            .iter()
            .map(|d| {
                let (target, scope) = (string(&d.target), string(&d.scope));
                format!("I.vdevice({target}, {}, {scope})", d.index)
            })
            .collect();
        let devices = devices.join(", ");
        out.line(format!(
            "I.module_global_infos({{\"vdevice\": [{devices}]}})"
        ));
    }
}

/// The functions of the environment that the module names.
pub(super) fn externs(out: &mut Writer, module: &Module) {
    let (mut constants, mut spans) = (Constants::default(), Spans::new());
    let mut printer = Printer {
        out,
        namer: Namer::default(),
        constants: &mut constants,
        frames: vec![],
        path: vec![],
        spans: &mut spans,
        open: HashSet::new(),
        devices: &module.vdevices,
    };
    for (name, func) in &module.externs {
        let symbol = string(&func.symbol);
        let ty = if func.sinfo == StructInfo::any_function() {
            String::new()
        } else {
            format!(", {}", printer.quoted(&func.sinfo))
        };
        printer
            .out
            .line(format!("{name} = R.ExternFunc({symbol}{ty})"));
    }
}

/// The bytes of the parts of graph functions and of their values, by the path of the function.
pub(super) type Spans = HashMap<(String, Option<ValueId>, Part), Range<usize>>;

/// A graph function, which the module calls `name`; adds where its parts are.
pub(super) fn print(
    out: &mut Writer,
    name: &str,
    func: &Function,
    devices: &[VDevice],
    constants: &mut Constants,
    spans: &mut Spans,
) {
    let mut namer = Namer::default();
    namer.push();
    Printer {
        out,
        namer,
        constants,
        frames: vec![],
        path: vec![name.to_owned()],
        spans,
        open: HashSet::new(),
        devices,
    }
    .function(func, &func.name);
}

/// The constants as a statement above the module, if they are to be shown.
pub(super) fn metadata(constants: &Constants, options: &PrintOptions) -> String {
    if constants.0.iter().all(Option::is_none) || !options.show_meta {
        return String::new();
    }
    let json = |entry: &Option<Tensor>| entry.as_ref().map_or(Json::Null, to_json);
    let list: Vec<Json> = constants.0.iter().map(json).collect();
    let json = serde_json::json!({ KEY: list });
    format!("metadata = tvm.ir.load_json(\"\"\"{json:#}\"\"\")\n\n")
}

/// What is said below the module if the constants are not shown.
pub(super) fn trailer(constants: &Constants, options: &PrintOptions) -> &'static str {
    if constants.0.is_empty() || options.show_meta && constants.0.iter().all(Option::is_some) {
        ""
    } else {
        "\n# Metadata omitted. Use show_meta=True in script() method to show it.\n"
    }
}

/// A function being printed.
struct Frame<'f> {
    func: &'f Function,
    names: HashMap<ValueId, String>,
    used: HashSet<ValueId>,
}

struct Printer<'p, 'f> {
    out: &'p mut Writer,
    namer: Namer,
    constants: &'p mut Constants,
    /// The functions around the one being printed, and it.
    frames: Vec<Frame<'f>>,
    /// Their names.
    path: Vec<String>,
    spans: &'p mut Spans,
    /// Branches being printed, with the number of their function: an ill-formed one may hold itself.
    open: HashSet<(usize, ValueId)>,
    /// Those of the module.
    devices: &'p [VDevice],
}

impl<'f> Printer<'_, 'f> {
    fn frame(&mut self) -> &mut Frame<'f> {
        self.frames.last_mut().expect("a function is being printed")
    }

    fn value(&self, id: ValueId) -> Option<&'f Value> {
        self.frames.last()?.func.values.get(id)
    }

    /// Remembers where a part of a value or of the function is.
    fn place(&mut self, value: Option<ValueId>, part: Part, at: Range<usize>) {
        self.spans.insert((self.path.join("."), value, part), at);
    }

    /// A line, which is a part of a value or of the function.
    fn part(&mut self, value: Option<ValueId>, part: Part, line: &str) {
        let start = self.out.next_line_start();
        self.place(value, part, start..start + line.len());
        self.out.line(line);
    }

    fn function(&mut self, func: &'f Function, name: &str) {
        let mut used = HashSet::new();
        collect_uses(func, 0, &mut used);
        self.namer.push();
        let vars = self.define_vars(func);
        self.frames.push(Frame {
            func,
            names: HashMap::new(),
            used,
        });
        let mut flags = Vec::new();
        if !func.pure {
            flags.push("pure=False");
        }
        if func.private {
            flags.push("private=True");
        }
        self.out.line(if flags.is_empty() {
            "@R.function".to_owned()
        } else {
            format!("@R.function({})", flags.join(", "))
        });
        let start = self.out.next_line_start();
        let mut head = format!("def {name}(");
        for (at, id) in func.params.iter().enumerate() {
            if at > 0 {
                head.push_str(", ");
            }
            let from = start + head.len();
            head.push_str(&self.define(*id));
            if let Some(param) = func.values.get(*id) {
                head.push_str(": ");
                let annotation = start + head.len();
                head.push_str(&self.quoted(&param.sinfo));
                let to = start + head.len();
                self.place(Some(*id), Part::Annotation, annotation..to);
            }
            self.place(Some(*id), Part::Definition, from..start + head.len());
        }
        let ret = self.quoted(&func.ret);
        head.push_str(&format!(") -> {ret}:"));
        self.part(None, Part::Definition, &head);
        self.out.indent();
        for (name, dtype) in vars {
            self.out.line(format!("{name} = T.{dtype}()"));
        }
        if !func.attrs.is_empty() {
            let attrs = dict(&mut self.namer, &func.attrs);
            self.out.line(format!("R.func_attr({attrs})"));
        }
        if self.frames.len() == 1 && names_globals(func) {
            self.out.line("cls = Module");
        }
        self.blocks(&func.body);
        let result = self.arg(&func.body.result);
        self.part(None, Part::Result, &format!("return {result}"));
        self.out.dedent();
        self.frames.pop();
        self.namer.pop();
    }

    /// Names the symbolic variables that no function around knows, in the order of their names; gives names and types.
    fn define_vars(&mut self, func: &Function) -> Vec<(String, String)> {
        let mut vars: Vec<Var> = func.symbolic_vars();
        vars.retain(|var| !self.namer.knows_var(var));
        vars.sort_by(|a, b| a.name().cmp(b.name()));
        vars.iter()
            .map(|var| (self.namer.define_var(var), var.dtype().to_string()))
            .collect()
    }

    /// Gives a value its name.
    fn define(&mut self, id: ValueId) -> String {
        let wanted = self.value(id).map_or("v", |v| v.name.as_str());
        let name = self.namer.fresh(wanted);
        self.frame().names.insert(id, name.clone());
        name
    }

    fn name(&self, depth: usize, id: ValueId) -> String {
        let frame = self.frames.len().checked_sub(depth + 1);
        let name = frame.and_then(|at| self.frames[at].names.get(&id));
        // An ill-formed function may use a value above its definition, or one that does not exist.
        let value = || frame.and_then(|at| self.frames[at].func.values.get(id));
        name.cloned()
            .or_else(|| Some(value()?.name.clone()))
            .unwrap_or_else(|| format!("undefined_{}", id.to_string().trim_matches('%')))
    }

    fn blocks(&mut self, body: &'f Body) {
        for block in &body.blocks {
            self.block(block);
        }
    }

    fn block(&mut self, block: &'f BindingBlock) {
        let Some(outputs) = &block.dataflow else {
            block.bindings.iter().for_each(|id| self.binding(*id));
            return;
        };
        self.out.line("with R.dataflow():");
        self.out.indent();
        block.bindings.iter().for_each(|id| self.binding(*id));
        let outputs: Vec<_> = outputs.iter().map(|id| self.name(0, *id)).collect();
        self.out.line(format!("R.output({})", outputs.join(", ")));
        self.out.dedent();
    }

    fn binding(&mut self, id: ValueId) {
        let Some(value) = self.value(id) else {
            let missing = format!("# {id} is missing");
            return self.part(Some(id), Part::Definition, &missing);
        };
        match &value.def {
            Def::If {
                cond,
                then,
                otherwise,
            } => self.branch(id, cond, then, otherwise),
            Def::Function(inner) => {
                let name = self.define(id);
                let start = self.out.next_line_start();
                self.path.push(inner.name.clone());
                self.function(inner, &name);
                self.path.pop();
                self.place(Some(id), Part::Definition, start..self.out.last_line_end());
            }
            def => self.simple_binding(id, value, def),
        }
    }

    /// A binding on one line.
    fn simple_binding(&mut self, id: ValueId, value: &Value, def: &Def) {
        let start = self.out.next_line_start();
        let Defined { text, args } = self.def(def);
        let unused = value.name == "_" && !self.frame().used.contains(&id);
        let mut line = String::new();
        if !unused || !matches!(def, Def::Call { .. }) {
            line.push_str(&self.define(id));
            let says_type = matches!(def, Def::CallDps { out, .. } if *out == value.sinfo);
            if !says_type {
                line.push_str(": ");
                let from = start + line.len();
                line.push_str(&self.plain(&value.sinfo));
                self.place(Some(id), Part::Annotation, from..start + line.len());
            }
            line.push_str(" = ");
        }
        let from = start + line.len();
        for (at, arg) in args.into_iter().enumerate() {
            let arg = from + arg.start..from + arg.end;
            self.place(Some(id), Part::Argument(at), arg);
        }
        self.place(Some(id), Part::Definition, from..from + text.len());
        line.push_str(&text);
        self.out.line(line);
    }

    fn branch(&mut self, id: ValueId, cond: &Arg, then: &'f Body, otherwise: &'f Body) {
        let inside = (self.frames.len(), id);
        if !self.open.insert(inside) {
            return;
        }
        let cond = self.arg(cond);
        let name = self.define(id);
        let head = format!("if {cond}:");
        let at = self.out.next_line_start() + "if ".len();
        self.place(Some(id), Part::Argument(0), at..at + cond.len());
        self.part(Some(id), Part::Definition, &head);
        self.branch_body(id, &name, then, Part::Then);
        self.out.line("else:");
        self.branch_body(id, &name, otherwise, Part::Otherwise);
        self.open.remove(&inside);
    }

    fn branch_body(&mut self, id: ValueId, name: &str, body: &'f Body, part: Part) {
        self.out.indent();
        self.blocks(body);
        let result = self.arg(&body.result);
        let sinfo = self
            .value(id)
            .map_or(StructInfo::Object, |v| v.sinfo.clone());
        let start = self.out.next_line_start();
        let head = format!("{name}: ");
        let sinfo = self.plain(&sinfo);
        let annotation = start + head.len();
        let annotation = annotation..annotation + sinfo.len();
        self.place(Some(id), Part::Annotation, annotation);
        self.part(Some(id), part, &format!("{head}{sinfo} = {result}"));
        self.out.dedent();
    }
}

/// Whether the function names functions of the module otherwise than by a text.
fn names_globals(func: &Function) -> bool {
    func.values.iter().any(|(_, value)| {
        let called = match &value.def {
            Def::Call { callee, .. } => matches!(callee, Callee::Global(_)),
            Def::CallDps { callee, .. } => matches!(callee, DpsCallee::Prim(_)),
            Def::Function(inner) => names_globals(inner),
            _ => false,
        };
        let results = value.def.bodies().into_iter().map(|body| &body.result);
        called
            || value
                .def
                .args()
                .into_iter()
                .chain(results)
                .any(names_global)
    }) || names_global(&func.body.result)
}

fn names_global(arg: &Arg) -> bool {
    let mut found = false;
    arg.walk(&mut |leaf| found |= matches!(leaf, Arg::Global(_)));
    found
}

/// The values of the function `depth` functions out that `func` uses.
fn collect_uses(func: &Function, depth: usize, out: &mut HashSet<ValueId>) {
    let mut leaf = |leaf: &Arg| match leaf {
        Arg::Value(id) if depth == 0 => {
            out.insert(*id);
        }
        Arg::Captured { depth: d, value } if *d == depth => {
            out.insert(*value);
        }
        _ => {}
    };
    func.args().into_iter().for_each(|arg| arg.walk(&mut leaf));
    for (_, value) in func.values.iter() {
        match &value.def {
            Def::Call {
                callee: Callee::Value(id),
                ..
            } if depth == 0 => {
                out.insert(*id);
            }
            Def::Function(inner) => collect_uses(inner, depth + 1, out),
            _ => {}
        }
    }
    if depth == 0 {
        out.extend(
            func.blocks()
                .iter()
                .filter_map(|b| b.dataflow.as_ref())
                .flatten(),
        );
    }
}
