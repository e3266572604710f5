//! `lazy_get_input`, `lazy_set_output`: weights are fetched when they are needed, and results are handed on when they are there
//! (Relax: `LazyGetInput`, `LazySetOutput`). So a transformation of weights needs no memory for all of them at once.

use std::collections::HashMap;
use std::convert::Infallible;

use super::PassError;
use super::dead_code_elimination::without_unused;
use super::eliminate_common_subexpr::without_common;
use crate::ir::graph::{
    Arg, Become, BindingBlock, Callee, Def, Function, Globals, Old, Rewriter, Value, ValueId,
    open_vars_erased, rewrite,
};
use crate::ir::{AttrValue, Attrs, Expr, Func, Module, Origin, StructInfo};
use crate::support::Id;
use crate::tensor::DType;

/// The attribute that says how many parameters come before the weights.
pub(super) const NUM_INPUT: &str = "num_input";

/// The module where public functions take a function in the place of their parameters from `num_input` on, or of all without this
/// attribute. It gets number and name of a parameter where the parameter is first needed.
///
/// ```text
/// def f(w, v):                     def f(fget_param):
///     a = R.exp(w)                     w = fget_param(0, "w")
///     b = R.add(a, v)        →         a = R.exp(w)
///     return b                         v = fget_param(1, "v")
///                                      b = R.add(a, v)
///                                      return b
/// ```
///
/// # Errors
/// [`PassError::WeightRange`] if a function has fewer parameters than `num_input`.
pub(super) fn lazy_get_input(module: &Module) -> Result<Module, PassError> {
    each_public(module, &|function, globals| {
        let inputs = num_input(function)?.unwrap_or(0);
        Ok(with_lazy_inputs(function, inputs, globals))
    })
}

/// The module where public functions give nothing, and hand each result, with its number, to a function when it is there. They
/// take this function before their parameters from `num_input` on, or as the last one without this attribute.
///
/// ```text
/// def f(x):                        def f(x, fset_output):
///     a = R.exp(x)                     a = R.exp(x)
///     b = R.negative(a)      →         fset_output(1, a)
///     return (b, a)                    b = R.negative(a)
///                                      fset_output(0, b)
///                                      return R.tuple()
/// ```
///
/// # Errors
/// [`PassError::WeightRange`] if a function has fewer parameters than `num_input`.
pub(super) fn lazy_set_output(module: &Module) -> Result<Module, PassError> {
    each_public(module, &|function, globals| {
        let inputs = num_input(function)?;
        Ok(with_lazy_outputs(function, inputs, globals))
    })
}

/// What becomes of a function.
type Change<'c> = &'c dyn Fn(&Function, &Globals) -> Result<Function, PassError>;

fn each_public(module: &Module, change: Change<'_>) -> Result<Module, PassError> {
    let globals = Globals::of(module);
    let mut out = module.clone();
    for (name, function) in module.functions().filter(|(_, f)| !f.private) {
        let new = change(function, &globals)?;
        out.funcs.insert(name.to_owned(), Func::Graph(new));
    }
    Ok(out)
}

fn num_input(function: &Function) -> Result<Option<usize>, PassError> {
    let Some(inputs) = function.attrs.get(NUM_INPUT) else {
        return Ok(None);
    };
    let params = function.params.len();
    let count = inputs.as_int().and_then(|n| usize::try_from(n).ok());
    let count = count.filter(|count| *count <= params);
    count.map(Some).ok_or_else(|| PassError::WeightRange {
        func: function.name.clone(),
        attr: NUM_INPUT.to_owned(),
        given: inputs.to_string(),
        params,
    })
}

fn value(name: &str, sinfo: StructInfo, def: Def) -> Value {
    Value {
        name: name.to_owned(),
        sinfo,
        def,
        origin: Origin::Unknown,
    }
}

/// What is known of a function that takes a number and a value.
fn callback(ret: StructInfo, pure: bool) -> StructInfo {
    let number = StructInfo::Prim {
        dtype: DType::I64,
        value: None,
    };
    StructInfo::Callable {
        params: Some(vec![number, StructInfo::Object]),
        ret: Box::new(ret),
        pure,
    }
}

fn call(function: ValueId, number: usize, arg: Arg) -> Def {
    Def::Call {
        callee: Callee::Value(function),
        args: vec![Arg::Prim(Expr::i64(number as i64)), arg],
        attrs: Attrs::new(),
        sinfo_args: vec![],
    }
}

fn set_num_input(function: &mut Function, count: usize) {
    let count = AttrValue::Int(count as i64);
    function.attrs.insert(NUM_INPUT.to_owned(), count);
}

fn with_lazy_inputs(function: &Function, inputs: usize, globals: &Globals) -> Function {
    let mut old = function.clone();
    let sinfo = callback(StructInfo::Object, true);
    let fetch = old.values.push(value("fget_param", sinfo, Def::Param));
    let weights = old.params.split_off(inputs);
    old.params.push(fetch);
    set_num_input(&mut old, inputs + 1);
    let known = old.values.bound();
    name_results(&mut old, &weights);
    name_conditions(&mut old, &weights);
    let mut lazy = Lazy {
        fetch,
        number: weights
            .iter()
            .enumerate()
            .map(|(at, id)| (*id, at))
            .collect(),
        function: &old,
        names: known,
        fetched: HashMap::new(),
    };
    let Ok(mut new) = rewrite::<Infallible>(&old, globals, &mut |rewriter, at| {
        Ok(match lazy.block(at.id).filter(|_| at.depth == 0) {
            Some(block) => lazy.with_weights(rewriter, &at, block),
            None => Become::Kept,
        })
    });
    new = without_unused(&without_common(&new, globals), globals);
    new.ret = open_vars_erased(&new, &new.ret);
    new
}

/// Gives a weight another name.
fn name(function: &mut Function, weight: ValueId) -> ValueId {
    let Value { name, sinfo, .. } = &function.values[weight];
    let named = value(name, sinfo.clone(), Def::Arg(Arg::Value(weight)));
    function.values.push(named)
}

/// Gives weights that a function returns as they are another name at its end.
fn name_results(function: &mut Function, weights: &[ValueId]) {
    let mut names = vec![];
    let result = function.body.result.clone();
    function.body.result = result.map_leaves(&mut |leaf| match leaf {
        Arg::Value(id) if weights.contains(id) => {
            let named = name(function, *id);
            names.push(named);
            Arg::Value(named)
        }
        other => other.clone(),
    });
    if !names.is_empty() {
        function.body.blocks.push(plain(names));
    }
}

/// Gives weights that decide a branch another name before it.
fn name_conditions(function: &mut Function, weights: &[ValueId]) {
    for at in 0..function.body.blocks.len() {
        let mut bindings = vec![];
        for id in std::mem::take(&mut function.body.blocks[at].bindings) {
            if let Def::If { cond, .. } = &function.values[id].def
                && let Arg::Value(weight) = *cond
                && weights.contains(&weight)
            {
                let named = name(function, weight);
                if let Def::If { cond, .. } = &mut function.values[id].def {
                    *cond = Arg::Value(named);
                }
                bindings.push(named);
            }
            bindings.push(id);
        }
        function.body.blocks[at].bindings = bindings;
    }
}

fn plain(bindings: Vec<ValueId>) -> BindingBlock {
    BindingBlock {
        dataflow: None,
        bindings,
    }
}

/// Fetches weights while a function is copied.
struct Lazy<'f> {
    function: &'f Function,
    fetch: ValueId,
    /// The weights with their numbers.
    number: HashMap<ValueId, usize>,
    /// Where the names for weights begin that were added.
    names: usize,
    /// The blocks where weights were fetched.
    fetched: HashMap<ValueId, Vec<usize>>,
}

impl Lazy<'_> {
    /// The block of the function's own body that binds the value.
    fn block(&self, id: ValueId) -> Option<usize> {
        let mut blocks = self.function.body.blocks.iter();
        blocks.position(|block| block.bindings.contains(&id))
    }

    /// What becomes of a value of a block, after the weights that it needs.
    fn with_weights(&mut self, rewriter: &mut Rewriter<'_>, at: &Old<'_>, block: usize) -> Become {
        let mut needs = vec![];
        self.needs(&at.value.def, &mut needs);
        needs.retain(|id| self.number.contains_key(id));
        if needs.is_empty() {
            return Become::Kept;
        }
        for weight in needs {
            self.fetch(rewriter, weight, block);
        }
        let mut def = match &at.value.def {
            Def::Arg(weight) if at.id.index() >= self.names => {
                return Become::Arg(rewriter.arg(weight));
            }
            Def::If { .. } | Def::Function(_) => return Become::Kept,
            def => def.map(&mut |leaf| rewriter.arg(leaf), &mut Clone::clone),
        };
        if let Def::Call { callee, .. } = &mut def
            && let Callee::Value(closure) = callee
            && let Arg::Value(new) = rewriter.arg(&Arg::Value(*closure))
        {
            *closure = new;
        }
        Become::Def(def)
    }

    /// Binds a weight, unless it is there in this block.
    fn fetch(&mut self, rewriter: &mut Rewriter<'_>, weight: ValueId, block: usize) {
        let fetched = self.fetched.entry(weight).or_default();
        let blocks = &self.function.body.blocks;
        if (fetched.iter()).any(|&at| at == block || blocks[at].dataflow.is_none()) {
            return;
        }
        fetched.push(block);
        let Value { name, sinfo, .. } = &self.function.values[weight];
        let Arg::Value(fetch) = rewriter.arg(&Arg::Value(self.fetch)) else {
            return;
        };
        let untyped = call(fetch, self.number[&weight], Arg::Str(name.clone()));
        let builder = rewriter.builder();
        let untyped = builder.bind_as(format!("{name}_untyped"), untyped, StructInfo::Object);
        let typed = Def::MatchCast(Arg::Value(untyped), sinfo.clone());
        let typed = builder.bind_as(name.as_str(), typed, sinfo.clone());
        rewriter.replace(weight, Arg::Value(typed));
    }

    /// The values that a definition needs, in branches too.
    fn needs(&self, def: &Def, out: &mut Vec<ValueId>) {
        out.extend(def.used_values());
        for body in def.bodies() {
            for id in body.blocks.iter().flat_map(|block| &block.bindings) {
                self.needs(&self.function.values[*id].def, out);
            }
        }
    }
}

fn with_lazy_outputs(function: &Function, inputs: Option<usize>, globals: &Globals) -> Function {
    let mut new = function.clone();
    let nothing = StructInfo::Tuple(vec![]);
    let sinfo = callback(nothing.clone(), false);
    let set = new.values.push(value("fset_output", sinfo, Def::Param));
    new.params.insert(inputs.unwrap_or(new.params.len()), set);
    if let Some(inputs) = inputs {
        set_num_input(&mut new, inputs + 1);
    }
    let outputs = match &function.body.result {
        Arg::Tuple(items) => items.clone(),
        single => vec![single.clone()],
    };
    // The calls that follow a value, and those at the end.
    let mut after: HashMap<ValueId, Vec<ValueId>> = HashMap::new();
    let mut last = vec![];
    for (number, output) in outputs.into_iter().enumerate() {
        let def = call(set, number, output.clone());
        let made = new.values.push(value("_void", nothing.clone(), def));
        match output {
            Arg::Value(id) => after.entry(id).or_default().push(made),
            _ => last.push(made),
        }
    }
    let params = function.params.iter();
    let first = params.flat_map(|param| after.remove(param).unwrap_or_default());
    let mut blocks = vec![plain(first.collect())];
    for mut block in std::mem::take(&mut new.body.blocks) {
        let mut own = vec![];
        let mut late = vec![];
        for id in block.bindings {
            own.push(id);
            // Nothing with an effect stands in a dataflow block.
            let calls = if block.dataflow.is_some() {
                &mut late
            } else {
                &mut own
            };
            calls.extend(after.remove(&id).unwrap_or_default());
        }
        block.bindings = own;
        blocks.push(block);
        blocks.push(plain(late));
    }
    blocks.push(plain(last));
    blocks.retain(|block| !block.bindings.is_empty());
    new.body.blocks = blocks;
    new.body.result = Arg::Tuple(vec![]);
    new.ret = nothing;
    new.pure = false;
    let Ok(new) = rewrite::<Infallible>(&new, globals, &mut |_, _| Ok(Become::Kept));
    new
}
