//! Replays recorded passes over graph functions: structure where a pass promises it, and numbers.
//!
//! A case is a module, passes, and what they made of it, or their refusal. Agreement means the same outcome: a refusal; a module
//! `alpha_eq` to the recorded one; the same graph functions over other loop programs, where the passes make loop programs; or,
//! where the passes are free in what they make, the same outputs. Whatever is made must compute the recorded outputs.

use std::convert::Infallible;

use indexmap::IndexMap;
use serde::Deserialize;
use serde_json::Value as Json;

use weftile::arith::Analyzer;
use weftile::codegen_cpu::host_target;
use weftile::ir::graph::{Arg, Become, Callee, Def, DpsCallee, Function, Globals, rewrite};
use weftile::ir::{AttrValue, Expr, Func, Module, StructInfo, Var, alpha_eq};
use weftile::kernel::Target;
use weftile::passes::{self, Cx, Pass, PassError, Sequential, Verify};
use weftile::pipeline::{CompileOptions, compile};
use weftile::runtime::{Device, Value};
use weftile::script;
use weftile::tensor::scalar::decode;
use weftile::tensor::{DType, Tensor};
use weftile::vm::VirtualMachine;

use crate::objects;

/// One recorded case.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Case {
    /// Its name.
    pub(crate) id: String,
    kind: String,
    /// The module as it was written.
    #[serde(default)]
    source: Option<String>,
    /// Names and options.
    #[serde(default)]
    passes: Vec<Vec<Json>>,
    /// What the module breaks, in plain words.
    #[serde(default)]
    rule: Option<String>,
    outcome: String,
    #[serde(default)]
    error: Option<Recorded>,
    #[serde(default)]
    after: Option<String>,
    #[serde(default)]
    after_constants: Option<Vec<Array>>,
    #[serde(default)]
    run: Option<Run>,
}

#[derive(Clone, Debug, Deserialize)]
struct Recorded {
    message: String,
}

#[derive(Clone, Debug, Deserialize)]
struct Array {
    dtype: String,
    shape: Vec<usize>,
    data: Vec<Json>,
}

#[derive(Clone, Debug, Deserialize)]
struct Run {
    function: String,
    inputs: Vec<Array>,
    outputs: Vec<Array>,
    /// Names of the parameters that are left.
    #[serde(default)]
    after_inputs: Option<Vec<String>>,
    #[serde(default)]
    transformed_params: Option<Vec<Array>>,
}

/// How a case agrees.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum How {
    /// Refused, as recorded.
    Refused,
    /// The same module.
    Module,
    /// The same graph functions.
    Graph,
    /// The same outputs.
    Numbers,
    /// No more memory.
    Memory,
}

/// How a case went.
#[derive(Clone, Debug)]
pub(crate) enum Verdict {
    /// As recorded.
    Agree(How),
    /// A pass is not there.
    Unsupported(String),
    /// Not as recorded.
    Disagree {
        /// What differs.
        why: String,
        /// The recorded module, and the one that was made, printed.
        texts: Option<Box<(String, String)>>,
    },
}

/// Passes whose loop programs are their own: the graph functions must agree.
const MAKE_PROGRAMS: &[&str] = &[
    "AlterOpImpl",
    "LegalizeOps",
    "AnnotateTIROpPattern",
    "FuseOps",
    "FuseTIR",
];

/// Passes that may make another module of the same meaning.
const FREE: &[&str] = &["FoldConstant", "StaticPlanBlockMemory", "ToMixedPrecision"];

impl Case {
    /// What its passes are called together.
    pub(crate) fn title(&self) -> String {
        if self.kind == "well_formed" {
            return self.kind.clone();
        }
        self.names().join("+")
    }

    fn names(&self) -> Vec<&str> {
        let names = self.passes.iter();
        names.filter_map(|pass| pass.first()?.as_str()).collect()
    }

    /// Replays the case.
    pub(crate) fn judge(&self) -> Verdict {
        let Some(source) = &self.source else {
            return self.judge_built();
        };
        if self.kind == "well_formed" {
            return self.judge_form(script::parse("case.py", source).ok().as_ref());
        }
        self.replay(source)
            .unwrap_or_else(|why| Verdict::Disagree { why, texts: None })
    }

    /// Whether the parser or the verifier refuses what the recorded ones do. Those of weftile may refuse more.
    fn judge_form(&self, module: Option<&Module>) -> Verdict {
        let refused = module.is_none_or(|module| script::well_formed(module).is_err());
        if refused || self.outcome == "well-formed" {
            return Verdict::Agree(if refused { How::Refused } else { How::Module });
        }
        Verdict::Disagree {
            why: "accepted, and recorded as ill-formed".to_owned(),
            texts: None,
        }
    }

    /// A module that no text says, made as the rule of the case says. The types of the IR leave some no way to be made: a parameter
    /// of two functions, a value of a dataflow block in a plain one, a value without a type.
    fn judge_built(&self) -> Verdict {
        let rule = self.rule.as_deref().unwrap_or_default();
        match ill_formed(rule) {
            Some(module) => self.judge_form(Some(&module)),
            None => Verdict::Unsupported(format!("cannot be made: {rule}")),
        }
    }

    fn replay(&self, source: &str) -> Result<Verdict, String> {
        let module = parse(source)?;
        let mut passes = Vec::new();
        for pass in &self.passes {
            let name = pass.first().and_then(Json::as_str).unwrap_or_default();
            let options = pass.get(1).unwrap_or(&Json::Null);
            if let Some(pass) = objects::pass(name, options) {
                passes.push(pass?);
                continue;
            }
            match self.pass(pass) {
                Ok(pass) => passes.push(pass),
                Err(PassError::UnknownPass { name }) => return Ok(Verdict::Unsupported(name)),
                Err(error) => return Err(error.to_string()),
            }
        }
        let mut cx = Cx::new(&module, &Target::Cpu(host_target(1)));
        cx.context.opt_level = 3;
        cx.context.instruments.push(std::sync::Arc::new(Verify));
        let made = match (Sequential::new(passes).run(&module, &cx), &self.error) {
            (Err(error @ PassError::IllFormed { .. }), _) => return Err(error.to_string()),
            (Err(_), Some(_)) => return Ok(Verdict::Agree(How::Refused)),
            (Err(error), None) => return Err(format!("refused: {error}")),
            (Ok(_), Some(error)) => return Err(format!("accepted; TVM: {}", error.message)),
            (Ok(made), None) => made,
        };
        let after = parse(self.after.as_deref().unwrap_or_default())?;
        let after = self.with_constants(&after)?;
        let mixed = self.names().contains(&"ToMixedPrecision");
        let tolerance = if mixed { 3e-2 } else { 1e-4 };
        let numbers = (self.run.as_ref()).map(|run| run.check(&module, &made, tolerance));
        if let Some(Err(why)) = numbers {
            let texts = Some(Box::new((script::print(&after), script::print(&made))));
            return Ok(Verdict::Disagree { why, texts });
        }
        let uses = |list: &[&str]| self.names().iter().any(|name| list.contains(name));
        let difference = match alpha_eq::module(&simplified(&after), &simplified(&made)) {
            Ok(()) => return Ok(Verdict::Agree(How::Module)),
            Err(difference) => difference,
        };
        if uses(MAKE_PROGRAMS) && same_graphs(&after, &made) {
            return Ok(Verdict::Agree(How::Graph));
        }
        if uses(&["DataflowUseInplaceCalls"])
            && numbers.is_some()
            && overwritten(&made) >= overwritten(&after)
        {
            return Ok(Verdict::Agree(How::Numbers));
        }
        if uses(FREE) && numbers.is_some() {
            return Ok(Verdict::Agree(How::Numbers));
        }
        if uses(&["StaticPlanBlockMemory"]) && memory(&made)? <= memory(&after)? {
            return Ok(Verdict::Agree(How::Memory));
        }
        Ok(Verdict::Disagree {
            why: difference.to_string(),
            texts: Some(Box::new((script::print(&after), script::print(&made)))),
        })
    }

    fn pass(&self, pass: &[Json]) -> Result<Pass, PassError> {
        let name = pass.first().and_then(Json::as_str).unwrap_or_default();
        let options = pass.get(1).map_or(AttrValue::None, AttrValue::from);
        if name == "BindParams" {
            let func = pass[1]["func_name"].as_str().unwrap_or_default().to_owned();
            let params: IndexMap<String, Array> =
                serde_json::from_value(pass[1]["params"].clone()).unwrap_or_default();
            return Ok(Pass::new("bind_params", 0, move |module, _| {
                let params = params.iter().map(|(name, array)| {
                    let tensor = array.tensor().expect("arrays of a case are whole");
                    (name.clone(), tensor)
                });
                passes::bind_params(module, &func, &params.collect())
            }));
        }
        match options {
            AttrValue::Dict(options) => passes::pass_with(name, options),
            _ => passes::pass(name),
        }
    }

    /// The module with the constants that its text leaves out.
    fn with_constants(&self, module: &Module) -> Result<Module, String> {
        let Some(arrays) = &self.after_constants else {
            return Ok(module.clone());
        };
        let tensors: Vec<Tensor> = arrays.iter().map(Array::tensor).collect::<Result<_, _>>()?;
        let mut out = module.clone();
        let globals = Globals::of(module);
        for func in out.funcs.values_mut() {
            let Func::Graph(function) = func else {
                continue;
            };
            let fill = |arg: &Arg| match arg {
                Arg::Omitted(index) => Arg::Const(tensors[*index].clone()),
                other => other.clone(),
            };
            let Ok(mut new) = rewrite::<Infallible>(function, &globals, &mut |rewriter, old| {
                let def = match old.def {
                    Def::If { .. } | Def::Function(_) | Def::Param => return Ok(Become::Kept),
                    def => def.map(&mut |leaf| fill(leaf), &mut Clone::clone),
                };
                // Another name for a constant has its type.
                if let Def::Arg(_) = def
                    && let Ok(new) = rewriter
                        .builder()
                        .bind(old.value.name.as_str(), def.clone())
                {
                    return Ok(Become::Arg(Arg::Value(new)));
                }
                Ok(Become::Def(def))
            });
            new.body.result = new.body.result.map_leaves(&mut |leaf| fill(leaf));
            *function = new;
        }
        Ok(out)
    }
}

/// A small module that breaks a rule, by what the recorded cases say of it.
fn ill_formed(rule: &str) -> Option<Module> {
    let text = r#"
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        y = R.exp(x)
        z = R.negative(y)
        return z
"#;
    let mut module = parse(text).ok()?;
    let Some(Func::Graph(main)) = module.funcs.get_mut("main") else {
        return None;
    };
    let bindings = &mut main.body.blocks.first_mut()?.bindings;
    match rule {
        "the same variable is bound twice" => bindings.insert(1, bindings[0]),
        "a variable is used before its binding" => bindings.reverse(),
        "the global_symbol of a function is not its name in the module" => {
            let other = AttrValue::Str("other".to_owned());
            main.attrs.insert("global_symbol".to_owned(), other);
        }
        "the declared return type of a function contradicts the type of its body (made without the parser)" =>
        {
            main.ret = StructInfo::tensor(vec![Expr::i64(5)], DType::F32);
        }
        _ => return None,
    }
    Some(module)
}

/// How many calls of the graph functions write into an operand.
fn overwritten(module: &Module) -> usize {
    let values = module.functions().flat_map(|(_, f)| f.values.iter());
    let overwrites = |def: &Def| {
        matches!(
            def,
            Def::CallDps {
                inplace: Some(_),
                ..
            }
        )
    };
    values.filter(|(_, value)| overwrites(&value.def)).count()
}

/// Bytes that the functions of a module allocate, where symbolic extents are 8.
fn memory(module: &Module) -> Result<u64, String> {
    let lower = passes::pass("lower_alloc_tensor").map_err(|e| e.to_string())?;
    let cx = Cx::new(module, &Target::Cpu(host_target(1)));
    let module = cx.run(&lower, module).map_err(|e| e.to_string())?;
    let vars = module.functions().flat_map(|(_, f)| f.defined_vars());
    let sizes: Vec<String> = vars.map(|var| var.name().to_owned()).collect();
    let sizes = sizes.iter().map(|name| (name.as_str(), 8)).collect();
    let functions = module.functions();
    let usage = functions.map(|(_, function)| passes::memory_usage(function, &sizes));
    let usage: Option<Vec<_>> = usage.collect();
    let usage = usage.ok_or("its memory depends on sizes that no parameter has")?;
    Ok(usage.iter().map(|usage| usage.planned).sum())
}

fn parse(text: &str) -> Result<Module, String> {
    script::parse("case.py", text).map_err(|e| format!("not read: {e}"))
}

/// The module with extents in one spelling: that of a sum is no property of a pass. Sums are ordered by their variables, which are
/// made anew in the order in which the function defines them.
fn simplified(module: &Module) -> Module {
    let mut out = module.clone();
    for func in out.funcs.values_mut() {
        if let Func::Graph(function) = func {
            let vars = function.defined_vars();
            let made = vars.iter().map(|var| Var::new(var.name(), var.dtype()));
            let made: Vec<Expr> = made.map(|var| var.expr()).collect();
            // No extent is negative.
            let mut analyzer = Analyzer::new();
            for var in made.iter().filter_map(Expr::as_var) {
                analyzer.bind_shape_var(var);
            }
            let renamed = |var: &Var| {
                let at = vars.iter().position(|other| other == var)?;
                Some(made[at].clone())
            };
            *function = function.map_exprs(&mut |e| analyzer.simplify(&e.substitute(&renamed)));
        }
    }
    out
}

/// Whether the graph functions that others can reach are the same, whatever the loop programs are and functions of the module's
/// own are called.
fn same_graphs(a: &Module, b: &Module) -> bool {
    let (a, b) = (numbered(&simplified(a)), numbered(&simplified(b)));
    a.len() == b.len()
        && a.iter().all(|(name, function)| {
            let other = b.get(name);
            other.is_some_and(|other| alpha_eq::function(function, other).is_ok())
        })
}

/// Graph functions by name; those that only the module calls, and loop programs, are named after their first call.
fn numbered(module: &Module) -> IndexMap<String, Function> {
    let mut names: IndexMap<String, String> = IndexMap::new();
    let mut public: Vec<&str> = module
        .functions()
        .filter(|(_, f)| !f.private)
        .map(|(name, _)| name)
        .collect();
    public.sort_unstable();
    names.extend(
        public
            .iter()
            .map(|name| ((*name).to_owned(), (*name).to_owned())),
    );
    let (globals, mut out) = (Globals::default(), IndexMap::new());
    let mut at = 0;
    while let Some((name, new_name)) = names.get_index(at).map(|(a, b)| (a.clone(), b.clone())) {
        at += 1;
        let Some(function) = module.function(&name) else {
            continue;
        };
        let mut rename = |name: &str| {
            let next = format!("f{}", names.len());
            names.entry(name.to_owned()).or_insert(next).clone()
        };
        let Ok(mut function) = rewrite::<Infallible>(function, &globals, &mut |_, old| {
            let mut def = old.def.clone();
            match &mut def {
                Def::CallDps {
                    callee: DpsCallee::Prim(name),
                    ..
                }
                | Def::Call {
                    callee: Callee::Global(name),
                    ..
                } => *name = rename(name),
                _ => return Ok(Become::Kept),
            }
            // Where among its parameters a program takes scalars is a property of the program.
            if let Def::CallDps {
                args,
                tir_vars,
                inplace: None,
                ..
            } = &mut def
            {
                args.retain(|arg| match arg {
                    Arg::Prim(scalar) => {
                        tir_vars.push(scalar.clone());
                        false
                    }
                    _ => true,
                });
                tir_vars.sort_by_cached_key(|e| format!("{e:#}"));
            }
            Ok(Become::Def(def))
        });
        function.name.clone_from(&new_name);
        out.insert(new_name, function);
    }
    out
}

impl Array {
    fn tensor(&self) -> Result<Tensor, String> {
        let dtype: DType = self.dtype.parse().map_err(|_| self.dtype.clone())?;
        let numbers: Vec<f64> = self.data.iter().map(number).collect();
        let ints: Vec<i64> = self.data.iter().map(|v| v.as_i64().unwrap_or(0)).collect();
        let shape = &self.shape;
        let tensor = match self.dtype.as_str() {
            "float64" => Tensor::from_slice(shape, &numbers),
            "float32" => Tensor::from_slice(shape, &convert(&numbers, |v| v as f32)),
            "float16" => Tensor::from_slice(shape, &convert(&numbers, half::f16::from_f64)),
            "int64" => Tensor::from_slice(shape, &ints),
            "int32" => Tensor::from_slice(shape, &convert(&ints, |v| v as i32)),
            "int8" => Tensor::from_slice(shape, &convert(&ints, |v| v as i8)),
            "uint8" => Tensor::from_slice(shape, &convert(&ints, |v| v as u8)),
            "bool" => Tensor::from_bytes(dtype, shape, &convert(&numbers, |v| u8::from(v != 0.0))),
            other => return Err(format!("arrays of {other}")),
        };
        tensor.map_err(|e| e.to_string())
    }

    /// Whether the tensor is this array, up to a relative and absolute tolerance.
    fn fits(&self, tensor: &Tensor, tolerance: f64) -> Result<(), String> {
        if tensor.shape() != self.shape || tensor.dtype().to_string() != self.dtype {
            let (shape, dtype) = (tensor.shape(), tensor.dtype());
            return Err(format!(
                "{shape:?} {dtype} is not {:?} {}",
                self.shape, self.dtype
            ));
        }
        let want = self.tensor()?;
        let numbers = |t: &Tensor| -> Vec<f64> {
            let scalar = t.dtype().scalar;
            let elements = t.bytes().chunks_exact(scalar.bytes());
            elements
                .map(|bytes| decode(bytes, scalar).as_float())
                .collect()
        };
        for (index, (got, want)) in numbers(tensor).into_iter().zip(numbers(&want)).enumerate() {
            let same = got == want
                || (got.is_nan() && want.is_nan())
                || (got - want).abs() <= tolerance * (1.0 + want.abs());
            if !same {
                return Err(format!("element {index}: {got} is not {want}"));
            }
        }
        Ok(())
    }
}

fn number(value: &Json) -> f64 {
    match value {
        Json::Bool(v) => f64::from(u8::from(*v)),
        Json::String(text) => text.parse().unwrap_or(f64::NAN),
        other => other.as_f64().unwrap_or(f64::NAN),
    }
}

fn convert<A: Copy, B>(values: &[A], f: impl Fn(A) -> B) -> Vec<B> {
    values.iter().map(|&v| f(v)).collect()
}

impl Run {
    /// The arrays for the parameters that are left of those of `before`.
    fn inputs_left(&self, before: &Module) -> Result<Vec<Array>, String> {
        let Some(left) = &self.after_inputs else {
            return Ok(self.inputs.clone());
        };
        let function = before.function(&self.function).ok_or("no such function")?;
        let params = function.params.iter();
        let names: Vec<&str> = params
            .map(|&param| function.values[param].name.as_str())
            .collect();
        let array = |name: &String| {
            let at = names.iter().position(|param| param == name)?;
            self.inputs.get(at).cloned()
        };
        let arrays: Option<_> = left.iter().map(array).collect();
        arrays.ok_or_else(|| "parameters of other names are left".to_owned())
    }

    /// Runs what was made of `before` on the CPU and compares.
    fn check(&self, before: &Module, module: &Module, tolerance: f64) -> Result<(), String> {
        let options = CompileOptions::new(Target::Cpu(host_target(1)));
        let compiled = compile(module, &options).map_err(|e| format!("not compiled: {e}"))?;
        let mut machine = VirtualMachine::new(compiled, Device::Cpu).map_err(|e| e.to_string())?;
        let tensors = |arrays: &[Array]| -> Result<Vec<Value>, String> {
            let values = arrays.iter().map(|a| a.tensor().map(Value::from));
            values.collect()
        };
        let function = &self.function;
        let mut args = tensors(&self.inputs_left(before)?)?;
        let transform = format!("{function}_transform_params");
        if let (Some(expected), Some(_)) = (&self.transformed_params, module.function(&transform)) {
            let main = module.function(function).ok_or("no such function")?;
            let count = main.attrs.get("num_input").and_then(AttrValue::as_int);
            let weights = args.split_off(count.unwrap_or(0) as usize);
            let made = machine
                .call(&transform, &[Value::Tuple(weights)])
                .map_err(|e| format!("`{transform}`: {e}"))?;
            let made = flat(made)?;
            compare(&made, expected, tolerance).map_err(|e| format!("`{transform}`: {e}"))?;
            args.extend(made.into_iter().map(Value::from));
        }
        let made = machine
            .call(function, &args)
            .map_err(|e| format!("`{function}`: {e}"))?;
        compare(&flat(made)?, &self.outputs, tolerance).map_err(|e| format!("`{function}`: {e}"))
    }
}

fn compare(made: &[Tensor], expected: &[Array], tolerance: f64) -> Result<(), String> {
    if made.len() != expected.len() {
        return Err(format!("{} outputs, not {}", made.len(), expected.len()));
    }
    for (tensor, array) in made.iter().zip(expected) {
        // What passes through float16 is as coarse as that.
        let coarse = array.dtype == "float16";
        array.fits(tensor, if coarse { 3e-2 } else { tolerance })?;
    }
    Ok(())
}

fn flat(value: Value) -> Result<Vec<Tensor>, String> {
    match value {
        Value::Tuple(items) => {
            let parts: Vec<Vec<Tensor>> = items.into_iter().map(flat).collect::<Result<_, _>>()?;
            Ok(parts.concat())
        }
        other => Ok(vec![other.into_tensor().map_err(|e| e.to_string())?]),
    }
}

/// Counts of one sequence of passes.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Count {
    cases: usize,
    agree: usize,
    unsupported: usize,
}

/// How a file of cases went.
#[derive(Clone, Default, Debug)]
pub(crate) struct Report {
    total: Count,
    per_title: IndexMap<String, Count>,
}

impl Report {
    /// Adds the verdict on a case.
    pub(crate) fn add(&mut self, case: &Case, verdict: &Verdict) {
        let count = self.per_title.entry(case.title()).or_default();
        for count in [&mut self.total, count] {
            count.cases += 1;
            match verdict {
                Verdict::Agree(_) => count.agree += 1,
                Verdict::Unsupported(_) => count.unsupported += 1,
                Verdict::Disagree { why: _, texts: _ } => {}
            }
        }
    }

    /// The counts for machines.
    pub(crate) fn to_json(&self) -> Json {
        let json = |count: &Count| {
            serde_json::json!({
                "cases": count.cases, "agree": count.agree, "unsupported": count.unsupported,
            })
        };
        let mut out = json(&self.total);
        let titles = self.per_title.iter();
        out["passes"] = titles
            .map(|(title, count)| (title.clone(), json(count)))
            .collect::<serde_json::Map<_, _>>()
            .into();
        out
    }

    /// The counts for people.
    pub(crate) fn print(&self) {
        println!(
            "{:>6} {:>6} {:>12}  passes",
            "cases", "agree", "unsupported"
        );
        let mut rows: Vec<_> = self.per_title.iter().collect();
        rows.sort_by_key(|(title, _)| *title);
        let line = |title: &str, count: &Count| {
            println!(
                "{:>6} {:>6} {:>12}  {title}",
                count.cases, count.agree, count.unsupported
            );
        };
        for (title, count) in rows {
            line(title, count);
        }
        line("all", &self.total);
    }
}

/// Says what is not as recorded.
pub(crate) fn explain(case: &Case, verdict: &Verdict, verbose: bool) {
    match verdict {
        Verdict::Agree(how) if verbose => println!("{} {}: {how:?}", case.id, case.title()),
        Verdict::Agree(_) => {}
        Verdict::Unsupported(what) => println!("{} {}: no {what}", case.id, case.title()),
        Verdict::Disagree { why, texts } => {
            println!("{} {}: {why}", case.id, case.title());
            if let (Some(texts), true) = (texts, verbose) {
                crate::print_diff(&texts.0, &texts.1);
            }
        }
    }
}
