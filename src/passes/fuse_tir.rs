//! `fuse_tir`: functions that are computed as a whole become loop programs (Relax: `FuseTIR`).

use std::collections::HashMap;
use std::convert::Infallible;

use indexmap::IndexSet;

use super::PassError;
use super::dead_code_elimination::dead_code_elimination;
use super::expand_tuple_arguments::expand_tuple_arguments;
use super::groups::PRIMITIVE;
use super::remove_unused_parameters::remove_unused_parameters;
use crate::arith::Analyzer;
use crate::ir::graph::{
    Arg, Become, Callee, Def, DpsCallee, Function, Globals, Rewriter, ValueId, rewrite,
};
use crate::ir::{
    AttrValue, Attrs, Buffer, Definitions, Expr, Func, Module, Origin, Param, PrimFunc, Rewrite,
    ShapeInfo, StructInfo, Substitution, Var,
};
use crate::tensor::DType;

/// The module where functions with the attribute `Primitive` are loop programs: the programs that they call one after the
/// other. What goes from one to the next is memory of the new program. Programs that nothing calls any more are gone.
///
/// ```text
/// def fused_exp_neg(x):                          def fused_exp_neg(x, C):
///     a = R.call_tir(cls.exp, (x,), …)               B = T.alloc_buffer(…)
///     b = R.call_tir(cls.negative, (a,), …)    →     for i: B[i] = T.exp(x[i])
///     return b                                       for i: C[i] = -B[i]
/// ```
///
/// A function that does anything but call loop programs stays, and is called as others are. Before that, private functions take the
/// elements of tuples and only what they use (`expand_tuple_arguments`, `remove_unused_parameters`); what nothing uses is gone after it.
///
/// # Errors
/// Those of `expand_tuple_arguments`.
pub(super) fn fuse_tir(module: &Module, entries: &IndexSet<String>) -> Result<Module, PassError> {
    let module = expand_tuple_arguments(module, entries)?;
    let module = remove_unused_parameters(&module);
    Ok(dead_code_elimination(&made_programs(&module), entries))
}

/// The module where functions that are computed as a whole are loop programs.
fn made_programs(module: &Module) -> Module {
    let is_primitive = |function: &Function| {
        let set = function.attrs.get(PRIMITIVE).and_then(AttrValue::as_int);
        set.is_some_and(|set| set != 0) && !function.attrs.contains_key("Codegen")
    };
    let mut out = module.clone();
    let mut fused: HashMap<String, InPlace> = HashMap::new();
    for (name, function) in module.functions().filter(|(_, f)| is_primitive(f)) {
        let (program, inplace) = match fuse(module, function) {
            Ok(made) => made,
            Err(reason) => {
                log::debug!("`{name}` stays a function: it {reason}");
                continue;
            }
        };
        out.funcs.insert(name.to_owned(), Func::Prim(program));
        fused.insert(name.to_owned(), inplace);
    }
    if fused.is_empty() {
        return out;
    }
    let globals = Globals::of(module);
    for (name, function) in module
        .functions()
        .filter(|(name, _)| !fused.contains_key(*name))
    {
        let Ok(new) = rewrite::<Infallible>(function, &globals, &mut |rewriter, old| {
            Ok(match old.def {
                Def::Call {
                    callee: Callee::Global(callee),
                    args,
                    attrs: _,
                    sinfo_args: _,
                } if let Some(inplace) = fused.get(callee) => {
                    Become::Def(call(rewriter, callee, args, inplace, &old.value.sinfo))
                }
                _ => Become::Kept,
            })
        });
        out.funcs.insert(name.to_owned(), Func::Graph(new));
    }
    out
}

/// The call of a loop program that stands for the call of a function: tuples of tensors are passed by their elements, shapes as
/// scalars after all tensors.
fn call(
    rewriter: &mut Rewriter<'_>,
    callee: &str,
    args: &[Arg],
    inplace: &InPlace,
    out: &StructInfo,
) -> Def {
    let (mut tensors, mut scalars) = (vec![], vec![]);
    for arg in args {
        pass(rewriter, arg.clone(), &mut tensors, &mut scalars);
    }
    Def::CallDps {
        callee: DpsCallee::Prim(callee.to_owned()),
        args: tensors,
        tir_vars: scalars,
        inplace: inplace.iter().any(Option::is_some).then(|| inplace.clone()),
        out: out.clone(),
    }
}

fn pass(rewriter: &mut Rewriter<'_>, arg: Arg, tensors: &mut Vec<Arg>, scalars: &mut Vec<Expr>) {
    let sinfo = rewriter.scope().arg(&arg);
    match (arg, sinfo) {
        (Arg::Tuple(items), _) => {
            for item in items {
                pass(rewriter, item, tensors, scalars);
            }
        }
        (tuple, StructInfo::Tuple(items)) => {
            for (index, info) in items.into_iter().enumerate() {
                let item = Def::TupleItem(tuple.clone(), index);
                let item = rewriter.builder().bind_as("lv", item, info);
                pass(rewriter, Arg::Value(item), tensors, scalars);
            }
        }
        (Arg::Shape(dims), _) => scalars.extend(dims),
        (_, StructInfo::Shape(ShapeInfo::Known(dims))) => scalars.extend(dims),
        (Arg::Prim(value), _) => scalars.push(value),
        (
            _,
            StructInfo::Prim {
                dtype: _,
                value: Some(value),
            },
        ) => scalars.push(value),
        (other, _) => tensors.push(other),
    }
}

/// Why a function is no loop program.
type Fused<T> = Result<T, &'static str>;

/// By result of a program: which of the tensors that it takes it overwrites with it.
type InPlace = Vec<Option<usize>>;

/// The loop program of a function, and what it overwrites.
fn fuse(module: &Module, function: &Function) -> Fused<(PrimFunc, InPlace)> {
    // The program has symbolic sizes of its own.
    let function = &function.with_own_vars();
    let mut fuse = Fuse {
        module,
        function,
        buffers: HashMap::new(),
        results: HashMap::new(),
        overwritten: vec![],
        inplace: vec![],
        scalars: vec![],
        unnamed: HashMap::new(),
        program: PrimFunc::new(function.name.as_str(), vec![]),
    };
    for param in &function.params {
        let value = &function.values[*param];
        let buffers = fuse.param(*param, &value.name, &value.sinfo)?;
        fuse.buffers.insert(*param, buffers);
    }
    fuse.results()?;
    let bindings = function
        .body
        .blocks
        .iter()
        .flat_map(|block| &block.bindings);
    for id in bindings {
        fuse.binding(*id)?;
    }
    let scalars = std::mem::take(&mut fuse.scalars).into_iter();
    fuse.program.params.extend(scalars.map(Param::Scalar));
    let origins = function.values.iter().map(|(_, value)| &value.origin);
    fuse.program.origin = Origin::of_all(origins);
    fuse.program.attrs = Attrs::from_iter([("tir.noalias".to_owned(), AttrValue::Bool(true))]);
    fuse.program.private = true;
    Ok((fuse.program, fuse.inplace))
}

/// The memory that a result is written to.
enum Memory {
    /// That of a result of this call.
    Call(ValueId, usize),
    /// That of a parameter.
    Param(ValueId),
}

struct Fuse<'a> {
    module: &'a Module,
    function: &'a Function,
    /// The tensors of each value so far.
    buffers: HashMap<ValueId, Vec<Buffer>>,
    /// The outputs of the program, by the call that computes them and their place among its results.
    results: HashMap<(ValueId, usize), Buffer>,
    /// Parameters that results are written to.
    overwritten: Vec<Buffer>,
    inplace: InPlace,
    /// Scalars of the program that the call gives as arithmetic.
    scalars: Vec<Var>,
    /// By parameter: the scalar of the program, where the type of the parameter says nothing of its value. The call gives a value.
    unnamed: HashMap<ValueId, Var>,
    program: PrimFunc,
}

impl Fuse<'_> {
    /// The buffers of a parameter; scalars wait until all tensors are there.
    fn param(&mut self, id: ValueId, name: &str, sinfo: &StructInfo) -> Fused<Vec<Buffer>> {
        match sinfo {
            StructInfo::Tensor(_) => {
                let buffer = self.buffer(name, sinfo)?;
                self.program.params.push(Param::of_buffer(&buffer));
                Ok(vec![buffer])
            }
            StructInfo::Tuple(items) => {
                let mut all = vec![];
                for (index, item) in items.iter().enumerate() {
                    if item.as_tensor().is_none() {
                        return Err("takes a tuple of something else than tensors");
                    }
                    all.extend(self.param(id, &format!("{name}_{index}"), item)?);
                }
                Ok(all)
            }
            StructInfo::Shape(ShapeInfo::Known(dims)) => {
                let vars = dims.iter().map(|dim| dim.as_var().cloned());
                let vars: Option<Vec<Var>> = vars.collect();
                let vars = vars.ok_or("takes a shape that is no variables")?;
                self.scalars.extend(vars);
                Ok(vec![])
            }
            StructInfo::Prim {
                dtype: _,
                value: Some(value),
            } => {
                let var = value.as_var().cloned();
                let var = var.ok_or("takes a scalar that is no variable")?;
                self.scalars.push(var);
                Ok(vec![])
            }
            StructInfo::Prim { dtype, value: None } => {
                let var = Var::new(name, *dtype);
                self.program.params.push(Param::Scalar(var.clone()));
                self.unnamed.insert(id, var);
                Ok(vec![])
            }
            _ => Err("takes something else than tensors and shapes"),
        }
    }

    /// What a value is in arithmetic, if it is a scalar.
    fn scalar(&self, id: ValueId) -> Option<Expr> {
        match &self.function.values[id].sinfo {
            StructInfo::Prim { dtype: _, value } => match value {
                Some(value) => Some(value.clone()),
                None => self.unnamed.get(&id).map(Var::expr),
            },
            _ => None,
        }
    }

    fn buffer(&self, name: &str, sinfo: &StructInfo) -> Fused<Buffer> {
        let info = sinfo.as_tensor();
        let known = info.and_then(|info| Some((info.shape.dims()?.to_vec(), info.dtype?)));
        let (shape, dtype) = known.ok_or("has a tensor of unknown shape")?;
        Ok(Buffer::new(name, shape, dtype))
    }

    /// Output buffers of the program for the results of the function.
    fn results(&mut self) -> Fused<()> {
        let results = match &self.function.body.result {
            Arg::Tuple(items) => items.clone(),
            single => vec![single.clone()],
        };
        for result in results {
            let Arg::Value(id) = result else {
                return Err("gives something that it does not compute");
            };
            let value = &self.function.values[id];
            let items = match &value.sinfo {
                StructInfo::Tuple(items) => items.clone(),
                single => vec![single.clone()],
            };
            for (index, item) in items.iter().enumerate() {
                let source = match &value.def {
                    Def::CallDps { .. } => (id, index),
                    Def::TupleItem(Arg::Value(call), index) => (*call, *index),
                    _ => return Err("gives something that it does not compute"),
                };
                let source = match self.memory(source)? {
                    Memory::Call(call, index) => (call, index),
                    Memory::Param(param) => {
                        self.overwrite(param)?;
                        continue;
                    }
                };
                self.inplace.push(None);
                let name = match items.len() {
                    1 => value.name.clone(),
                    _ => format!("{}_{index}", value.name),
                };
                let buffer = self.buffer(&name, item)?;
                self.program.params.push(Param::of_buffer(&buffer));
                if self.results.insert(source, buffer).is_some() {
                    return Err("gives one value twice");
                }
            }
        }
        Ok(())
    }

    /// Where the elements of a result of a call lie: a call in place passes on the memory of an operand.
    fn memory(&self, result: (ValueId, usize)) -> Fused<Memory> {
        let (mut call, mut index) = result;
        loop {
            let Def::CallDps {
                inplace: Some(inplace),
                args,
                ..
            } = &self.function.values[call].def
            else {
                return Ok(Memory::Call(call, index));
            };
            let Some(Some(at)) = inplace.get(index) else {
                return Ok(Memory::Call(call, index));
            };
            let Some(Arg::Value(operand)) = args.get(*at) else {
                return Err("overwrites what is no tensor of its own");
            };
            (call, index) = match &self.function.values[*operand].def {
                Def::Param => return Ok(Memory::Param(*operand)),
                Def::CallDps { .. } => (*operand, 0),
                Def::TupleItem(Arg::Value(tuple), index) => (*tuple, *index),
                _ => return Err("overwrites what is no tensor of its own"),
            };
        }
    }

    /// A result is in the memory of this parameter.
    fn overwrite(&mut self, param: ValueId) -> Fused<()> {
        let Some([buffer]) = self.buffers.get(&param).map(Vec::as_slice) else {
            return Err("overwrites a part of what it takes");
        };
        if self.overwritten.contains(buffer) {
            return Err("gives one value twice");
        }
        let is_buffer = |param: &Param| match param {
            Param::Buffer {
                handle: _,
                buffer: other,
            } => other == buffer,
            Param::Scalar(_) => false,
        };
        let at = self.program.params.iter().position(is_buffer);
        self.inplace.push(at);
        self.overwritten.push(buffer.clone());
        Ok(())
    }

    fn binding(&mut self, id: ValueId) -> Fused<()> {
        let value = &self.function.values[id];
        match &value.def {
            Def::TupleItem(Arg::Value(tuple), index) => {
                let item = self
                    .buffers
                    .get(tuple)
                    .and_then(|all| all.get(*index))
                    .cloned();
                let item = item.ok_or("takes an element of no tuple")?;
                self.buffers.insert(id, vec![item]);
                Ok(())
            }
            Def::CallDps {
                callee: DpsCallee::Prim(callee),
                args,
                tir_vars,
                inplace,
                out,
            } => {
                let callee = self.module.prim_func(callee);
                let callee = callee.ok_or("calls no loop program")?;
                let (mut given, mut scalars) = (vec![], vec![]);
                for arg in args {
                    given.push(match arg {
                        Arg::Value(arg) if let Some(scalar) = self.scalar(*arg) => {
                            scalars.push(scalar);
                            vec![]
                        }
                        Arg::Value(arg) => self.buffers.get(arg).cloned().unwrap_or_default(),
                        Arg::Prim(scalar) => {
                            scalars.push(scalar.clone());
                            vec![]
                        }
                        _ => return Err("passes something else than tensors and scalars"),
                    });
                }
                scalars.extend_from_slice(tir_vars);
                let outputs = self.outputs(id, callee, &given, inplace.as_deref(), out)?;
                let mut actual = given.concat();
                actual.extend(outputs);
                self.import(callee, &actual, &scalars)
            }
            _ => Err("does something else than call loop programs"),
        }
    }

    /// The buffers that a call takes for its results: those of results of the function, or new ones of the program. What it writes in
    /// place it takes as an operand.
    fn outputs(
        &mut self,
        id: ValueId,
        callee: &PrimFunc,
        given: &[Vec<Buffer>],
        inplace: Option<&[Option<usize>]>,
        out: &StructInfo,
    ) -> Fused<Vec<Buffer>> {
        let items = match out {
            StructInfo::Tuple(items) => items.clone(),
            single => vec![single.clone()],
        };
        let inputs = given.iter().map(Vec::len).sum();
        let mut names = callee.buffer_params().skip(inputs).map(Buffer::name);
        let (mut all, mut passed) = (vec![], vec![]);
        for (index, item) in items.iter().enumerate() {
            let operand = inplace.and_then(|inplace| *inplace.get(index)?);
            if let Some(operand) = operand {
                let Some([buffer]) = given.get(operand).map(Vec::as_slice) else {
                    return Err("overwrites what is no tensor of its own");
                };
                let is_param = self.program.buffer_params().any(|param| param == buffer);
                let is_result = || self.results.values().any(|result| result == buffer);
                if is_param && !self.overwritten.contains(buffer) && !is_result() {
                    return Err("overwrites what it takes, and does not give it back");
                }
                all.push(buffer.clone());
                continue;
            }
            let name = names.next().ok_or("calls a program with fewer results")?;
            let buffer = match self.results.get(&(id, index)) {
                Some(result) => result.clone(),
                None => {
                    let buffer = self.buffer(&format!("{name}_intermediate"), item)?;
                    let root = self.program.root;
                    self.program.blocks[root].alloc_buffers.push(buffer.clone());
                    buffer
                }
            };
            passed.push(buffer.clone());
            all.push(buffer);
        }
        self.buffers.insert(id, all);
        Ok(passed)
    }

    /// Writes the statements of a callee to the end of the program.
    fn import(&mut self, callee: &PrimFunc, actual: &[Buffer], tir_vars: &[Expr]) -> Fused<()> {
        let analyzer = Analyzer::new();
        let simplify = |e: &Expr| {
            let simple = analyzer.simplify(e);
            if simple == *e { e.clone() } else { simple }
        };
        let mut rewrite = Substitution::new(Definitions::Fresh);
        let mut known: Vec<Var> = vec![];
        let mut scalars = tir_vars.iter();
        let mut buffers = actual.iter();
        for param in &callee.params {
            match param {
                Param::Scalar(var) => {
                    let value = scalars.next();
                    let value = value.ok_or("passes too few scalars")?;
                    rewrite.set_var(var, value.cast(var.dtype()));
                    known.push(var.clone());
                }
                Param::Buffer { handle: _, buffer } => {
                    let given = buffers.next();
                    let given = given
                        .filter(|given| given.ndim() == buffer.ndim())
                        .ok_or("passes tensors that the program does not take")?;
                    for (dim, given) in buffer.shape().iter().zip(given.shape()) {
                        if let Some(var) = dim.as_var()
                            && !known.contains(var)
                        {
                            rewrite.set_var(var, simplify(&given.cast(var.dtype())));
                            known.push(var.clone());
                        }
                    }
                    rewrite.set_buffer(buffer, given);
                }
            }
        }
        // A call of its own checks extents that the types leave open; inside of a program nobody would.
        for (buffer, given) in callee.buffer_params().zip(actual) {
            for (dim, given) in buffer.shape().iter().zip(given.shape()) {
                let dim = rewrite.expr(dim).cast(DType::I64);
                if !analyzer.can_prove_equal(&dim, &given.cast(DType::I64)) {
                    return Err("passes tensors whose extents may not be those of the program");
                }
            }
        }
        let root = self.program.root;
        self.program.import(callee, root, &mut rewrite);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use crate::interp::{Value, run_module};
    use crate::passes::tests::run_passes;
    use crate::script;
    use crate::tensor::Tensor;

    /// A product with its epilogue over a constant, a diamond, a softmax, a reshape, parts of a tensor.
    const NETWORK: &str = r#"
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 4), "float32"), w: R.Tensor((4, 6), "float32")):
        with R.dataflow():
            a = R.matmul(x, w)
            b = R.add(a, R.const([1, 2, 3, 4, 5, 6], "float32"))
            c = R.tanh(b)
            d = R.negative(b)
            e = R.add(c, d)
            f = R.nn.softmax(e)
            g = R.split(f, 2, axis=1)
            h = R.concat((g[1], g[0]), axis=1)
            i = R.permute_dims(h)
            j = R.flatten(i)
            k = R.exp(j)
            l = R.sum(h, axis=1)
            R.output(f, k, l)
        return (f, k, l)
"#;

    #[test]
    fn fused_programs_compute_the_same() {
        let module = script::parse("network.py", NETWORK).expect("it parses");
        let names = [
            "legalize_ops",
            "annotate_tir_op_pattern",
            "fuse_ops",
            "fuse_tir",
        ];
        let fused = run_passes(&module, &names);
        script::well_formed(&fused).unwrap_or_else(|e| panic!("{e}"));
        let calls = |module: &crate::ir::Module| {
            let main = module.function("main").expect("it stays");
            let values = main.values.iter();
            values
                .filter(|(_, value)| value.def.callee().is_some())
                .count()
        };
        assert_eq!(calls(&run_passes(&module, &names[..1])), 12);
        assert_eq!(calls(&fused), 5, "{}", script::print(&fused));
        let numbers = |count: usize| -> Vec<f32> {
            (0..count)
                .map(|i| (i * 7 % 11) as f32 / 5.0 - 1.0)
                .collect()
        };
        let args = [[3, 4], [4, 6]].map(|shape: [usize; 2]| {
            let tensor = Tensor::from_slice(&shape, &numbers(shape[0] * shape[1]));
            Value::Tensor(tensor.expect("as many numbers"))
        });
        let run = |module| {
            let result = run_module(module, "main", &args, &HashMap::new());
            let Value::Tuple(items) = result.expect("it runs") else {
                panic!("it gives a tuple");
            };
            let numbers = items.into_iter().map(|item| match item {
                Value::Tensor(tensor) => tensor.as_slice::<f32>().expect("float32").to_vec(),
                other => panic!("{other:?}"),
            });
            numbers.collect::<Vec<_>>()
        };
        assert_eq!(run(&module), run(&fused));
    }
}
