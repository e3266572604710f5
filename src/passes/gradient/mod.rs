//! `gradient`: a function that also gives the derivatives of its result (Relax: `Gradient`).
//!
//! Reverse mode (Griewank and Walther, "Evaluating Derivatives", 2008, chapter 3): the bindings of the function, then, from the last one
//! back to the first, the adjoint of each operand from that of the result. [`rules`] has a table of operators with their derivatives.

mod rules;
mod tree;

use std::collections::HashMap;

use indexmap::IndexMap;

use super::dead_code_elimination::without_unused;
use super::signature::function;
use super::{Options, PassError};
use crate::ir::graph::{
    Arg, Callee, Def, Function, Globals, GraphBuilder, InferError, Op, ValueId,
};
use crate::ir::{AttrValue, Attrs, Func, Module, ShapeInfo, StructInfo, TensorInfo};
use rules::Site;
use tree::Tree;

/// Why a function cannot be differentiated.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum GradientError {
    /// The body is not one dataflow block.
    #[error("its body is not one dataflow block")]
    NotDataflow,
    /// There is no such result.
    #[error("there is no result {index}, of {count}")]
    NoResult {
        /// The result asked for.
        index: i64,
        /// How many there are.
        count: usize,
    },
    /// The result that is differentiated is no scalar of floats.
    #[error("its result is {0}, not a scalar of floating-point numbers that it computes")]
    NotAScalar(Box<StructInfo>),
    /// No derivative is known.
    #[error("value `{value}`: {what} has no derivative here")]
    NoRule {
        /// The value.
        value: String,
        /// What computes it.
        what: String,
    },
    /// An operand or an attribute of which too little is known.
    #[error("value `{value}`: {what} is not known")]
    Unknown {
        /// The value.
        value: String,
        /// What would have to be known.
        what: &'static str,
    },
    /// A call of the derivative does not fit.
    #[error("value `{value}`: {error}")]
    Type {
        /// The value whose derivative it is.
        value: String,
        /// What does not fit.
        error: Box<InferError>,
    },
}

/// The options of the pass.
pub(super) struct Target {
    /// The function.
    pub(super) func: String,
    /// Names of the parameters whose derivatives are wanted; all, if there is none.
    pub(super) params: Vec<String>,
    /// Which element of its result is differentiated.
    pub(super) index: i64,
}

impl Target {
    pub(super) fn of(options: &Options) -> Self {
        let params = options.texts("require_grads");
        Self {
            func: options.text("func_name").to_owned(),
            params: params.into_iter().map(str::to_owned).collect(),
            index: options.int("target_index").unwrap_or(0),
        }
    }
}

/// The module with a function more, `<func>_adjoint`: it returns what `func` returns and, as a tuple, the derivatives of its result by
/// parameters.
///
/// ```text
///                            def main_adjoint(x, y):
/// def main(x, y):                a = R.multiply(x, y)
///     a = R.multiply(x, y)       s = R.sum(a)
///     s = R.sum(a)           →   a_adjoint = R.broadcast_to(R.ones(()), x.shape)
///     return s                   x_adjoint = R.multiply(a_adjoint, y)
///                                y_adjoint = R.multiply(a_adjoint, x)
///                                return (s, (x_adjoint, y_adjoint))
/// ```
///
/// # Errors
/// [`PassError::Gradient`] if the body is more than one dataflow block, the result no scalar, or an operator on the way has no derivative.
pub(super) fn gradient(module: &Module, target: &Target) -> Result<Module, PassError> {
    let func = function(module, &target.func)?;
    let failed = |error| PassError::Gradient {
        func: target.func.clone(),
        error,
    };
    let wanted = wanted(func, target)?;
    let globals = Globals::of(module);
    let made = Backward::new(func, globals.clone()).run(target.index, &wanted);
    // Adjoints of values that only other parameters need are gone.
    let made = without_unused(&made.map_err(failed)?, &globals);
    let mut out = module.clone();
    out.funcs.insert(made.name.clone(), Func::Graph(made));
    Ok(out)
}

/// The parameters whose derivatives are wanted.
fn wanted(func: &Function, target: &Target) -> Result<Vec<ValueId>, PassError> {
    if target.params.is_empty() {
        return Ok(func.params.clone());
    }
    let name = |id: &ValueId| func.values[*id].name.clone();
    let find = |wanted: &String| {
        let found = func.params.iter().find(|id| name(id) == *wanted);
        found.copied().ok_or_else(|| PassError::UnknownParam {
            func: target.func.clone(),
            name: wanted.clone(),
            params: func.params.iter().map(name).collect(),
        })
    };
    target.params.iter().map(find).collect()
}

type Made<T> = Result<T, GradientError>;

/// The function in the making.
struct Backward<'f> {
    func: &'f Function,
    builder: GraphBuilder,
    /// By value of the function: the one of the new function.
    new: HashMap<ValueId, ValueId>,
    /// By value of the new function: its adjoint.
    adjoints: IndexMap<ValueId, Arg>,
}

impl<'f> Backward<'f> {
    fn new(func: &'f Function, globals: Globals) -> Self {
        let name = format!("{}_adjoint", func.name);
        Self {
            func,
            builder: GraphBuilder::in_module(name, globals),
            new: HashMap::new(),
            adjoints: IndexMap::new(),
        }
    }

    fn run(mut self, index: i64, wanted: &[ValueId]) -> Made<Function> {
        let func = self.func;
        let [block] = func.body.blocks.as_slice() else {
            return Err(GradientError::NotDataflow);
        };
        let outputs = block.dataflow.as_ref().ok_or(GradientError::NotDataflow)?;
        let scalar = self.scalar(index)?;
        for id in &func.params {
            let value = &func.values[*id];
            let new = self.builder.param(&value.name, value.sinfo.clone());
            self.new.insert(*id, new);
        }
        self.builder.begin_dataflow();
        for id in &block.bindings {
            let value = &func.values[*id];
            let def = value.def.map(&mut |arg| self.moved(arg), &mut Clone::clone);
            self.builder.set_origin(value.origin.clone());
            let new = self.builder.bind_as(&value.name, def, value.sinfo.clone());
            self.new.insert(*id, new);
        }
        let (seed, name) = (self.new[&scalar], &func.values[scalar].name);
        let one = self.filled("ones", &func.values[scalar].sinfo, name)?;
        self.add(seed, &one, name)?;
        for id in block.bindings.iter().rev() {
            self.binding(self.new[id], &func.values[*id].name)?;
        }
        let mut given = vec![];
        for id in wanted {
            let value = &func.values[*id];
            let adjoint = self.adjoints.get(&self.new[id]).cloned();
            let adjoint = match adjoint {
                Some(adjoint) => adjoint,
                None => {
                    let zeros = self.zeros(&value.sinfo, &value.name)?;
                    self.add(self.new[id], &zeros, &value.name)?;
                    self.adjoints[&self.new[id]].clone()
                }
            };
            let name = format!("{}_adjoint_out", value.name);
            given.push(self.bound(&name, Def::Arg(adjoint), &value.name)?);
        }
        let outputs = outputs.iter().map(|id| self.new[id]);
        let outputs: Vec<ValueId> = outputs.chain(given.iter().copied()).collect();
        self.builder.end_dataflow(outputs);
        let result = func.body.result.map_leaves(&mut |arg| self.moved(arg));
        let given = given.into_iter().map(Arg::Value).collect();
        *self.builder.attrs() = func.attrs.clone();
        self.builder.attrs().shift_remove("global_symbol");
        let result = Arg::Tuple(vec![result, Arg::Tuple(given)]);
        Ok(self.builder.finish(result))
    }

    /// The result that is differentiated.
    fn scalar(&self, index: i64) -> Made<ValueId> {
        let result = &self.func.body.result;
        let items = match result {
            Arg::Tuple(items) => items.as_slice(),
            other => std::slice::from_ref(other),
        };
        let count = items.len();
        let item = usize::try_from(index).ok().and_then(|at| items.get(at));
        let item = item.ok_or(GradientError::NoResult { index, count })?;
        let info = match item {
            Arg::Value(id) => &self.func.values[*id].sinfo,
            _ => &StructInfo::Object,
        };
        let is_scalar = info.as_tensor().is_some_and(|info| {
            info.shape.ndim() == Some(0) && info.dtype.is_some_and(|dtype| dtype.is_float())
        });
        match item {
            Arg::Value(id) if is_scalar => Ok(*id),
            _ => Err(GradientError::NotAScalar(Box::new(info.clone()))),
        }
    }

    fn moved(&self, arg: &Arg) -> Arg {
        match arg {
            Arg::Value(id) => Arg::Value(self.new[id]),
            other => other.clone(),
        }
    }

    /// Binds the adjoints of what a value is computed from, if it has one.
    fn binding(&mut self, id: ValueId, name: &str) -> Made<()> {
        let Some(adjoint) = self.adjoints.get(&id).cloned() else {
            return Ok(());
        };
        let def = self.builder.values()[id].def.clone();
        let adjoint = Tree::Arg(adjoint);
        match &def {
            Def::Arg(arg) => self.add_to(arg, &adjoint, name),
            Def::TupleItem(Arg::Value(tuple), index) => {
                self.add_item(*tuple, *index, &adjoint, name)
            }
            Def::Call {
                callee: Callee::Op(op),
                args,
                attrs,
                sinfo_args: _,
            } => self.call(id, *op, args, attrs, adjoint, name),
            other => Err(GradientError::NoRule {
                value: name.to_owned(),
                what: match other.callee() {
                    Some(callee) => format!("a call of `{callee}`"),
                    None => "a binding of this kind".to_owned(),
                },
            }),
        }
    }

    fn call(
        &mut self,
        id: ValueId,
        op: Op,
        args: &[Arg],
        attrs: &Attrs,
        adjoint: Tree,
        name: &str,
    ) -> Made<()> {
        let rule = rules::of(op).ok_or_else(|| GradientError::NoRule {
            value: name.to_owned(),
            what: op.to_string(),
        })?;
        let mut site = Site {
            builder: &mut self.builder,
            name,
            args,
            attrs,
            y: Tree::Arg(Arg::Value(id)),
            dy: adjoint,
        };
        let partials = rule(&mut site)?;
        // Their operands come first, so that the adjoints stand together.
        for partial in partials.iter().flatten() {
            let def = partial.def(&mut self.builder);
            def.map_err(|error| type_error(name, error))?;
        }
        for (arg, partial) in args.iter().zip(partials) {
            if let Some(partial) = partial {
                self.add_to(arg, &partial, name)?;
            }
        }
        Ok(())
    }

    /// Adds to the adjoint of an argument: that of a value, or those of the elements of a tuple.
    fn add_to(&mut self, arg: &Arg, partial: &Tree, name: &str) -> Made<()> {
        match arg {
            Arg::Value(id) => self.add(*id, partial, name),
            Arg::Tuple(items) => {
                let tuple = partial.bind(&mut self.builder);
                let tuple = tuple.map_err(|error| type_error(name, error))?;
                for (index, item) in items.iter().enumerate() {
                    let part = Def::TupleItem(tuple.clone(), index);
                    match item {
                        Arg::Value(id) if !self.adjoints.contains_key(id) => {
                            let at = self.adjoint_name(*id);
                            let part = self.bound(&at, part, name)?;
                            self.adjoints.insert(*id, Arg::Value(part));
                        }
                        item => {
                            let part = Arg::Value(self.bound("lv", part, name)?);
                            self.add_to(item, &Tree::Arg(part), name)?;
                        }
                    }
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Adds to the adjoint of a value.
    fn add(&mut self, id: ValueId, partial: &Tree, name: &str) -> Made<()> {
        let typed = |error| type_error(name, error);
        let def = match self.adjoints.get(&id).cloned() {
            None => partial.def(&mut self.builder).map_err(typed)?,
            Some(before) => {
                let partial = partial.bind(&mut self.builder).map_err(typed)?;
                self.sum(before, partial, name)?
            }
        };
        let new = self.bound(&self.adjoint_name(id), def, name)?;
        self.adjoints.insert(id, Arg::Value(new));
        Ok(())
    }

    /// The sum of two adjoints, element by element if they are tuples.
    fn sum(&mut self, a: Arg, b: Arg, name: &str) -> Made<Def> {
        let StructInfo::Tuple(items) = self.builder.scope().arg(&a) else {
            let sum = Tree::of("add", &[&Tree::Arg(a), &Tree::Arg(b)]);
            let def = sum.def(&mut self.builder);
            return def.map_err(|error| type_error(name, error));
        };
        let mut sums = vec![];
        for index in 0..items.len() {
            let mut part = |of: &Arg| {
                let part = self.bound("lv", Def::TupleItem(of.clone(), index), name);
                part.map(Arg::Value)
            };
            let (a, b) = (part(&a)?, part(&b)?);
            let sum = self.sum(a, b, name)?;
            sums.push(Arg::Value(self.bound("lv", sum, name)?));
        }
        Ok(Def::Arg(Arg::Tuple(sums)))
    }

    /// Adds to one element of the adjoint of a tuple.
    fn add_item(&mut self, tuple: ValueId, index: usize, partial: &Tree, name: &str) -> Made<()> {
        let StructInfo::Tuple(infos) = self.builder.values()[tuple].sinfo.clone() else {
            let value = name.to_owned();
            let what = "the tuple of which it is an element";
            return Err(GradientError::Unknown { value, what });
        };
        let typed = |error| type_error(name, error);
        let before = self.adjoints.get(&tuple).cloned();
        let partial = partial.bind(&mut self.builder).map_err(typed)?;
        let mut items = vec![];
        for (at, info) in infos.iter().enumerate() {
            let item = match &before {
                None if at == index => partial.clone(),
                None => {
                    let zeros = self.zeros(info, name)?;
                    zeros.bind(&mut self.builder).map_err(typed)?
                }
                Some(before) => {
                    let part = self.bound("lv", Def::TupleItem(before.clone(), at), name)?;
                    let part = Arg::Value(part);
                    if at == index {
                        let sum = self.sum(part, partial.clone(), name)?;
                        Arg::Value(self.bound("lv", sum, name)?)
                    } else {
                        part
                    }
                }
            };
            items.push(item);
        }
        let at = self.adjoint_name(tuple);
        let new = self.bound(&at, Def::Arg(Arg::Tuple(items)), name)?;
        self.adjoints.insert(tuple, Arg::Value(new));
        Ok(())
    }

    /// Zeros of this type.
    fn zeros(&mut self, info: &StructInfo, name: &str) -> Made<Tree> {
        match info {
            StructInfo::Tuple(items) => {
                let mut zeros = vec![];
                for info in items {
                    let item = self.zeros(info, name)?.bind(&mut self.builder);
                    zeros.push(item.map_err(|error| type_error(name, error))?);
                }
                Ok(Tree::Arg(Arg::Tuple(zeros)))
            }
            info => self.filled("zeros", info, name),
        }
    }

    fn filled(&self, op: &'static str, info: &StructInfo, name: &str) -> Made<Tree> {
        let Some(TensorInfo {
            shape: ShapeInfo::Known(dims),
            dtype: Some(dtype),
            vdevice: _,
        }) = info.as_tensor()
        else {
            let value = name.to_owned();
            let what = "the shape and the element type of what is differentiated";
            return Err(GradientError::Unknown { value, what });
        };
        let dtype = AttrValue::DType(*dtype);
        Ok(Tree::with(op, &[&Tree::shape(dims)], [("dtype", dtype)]))
    }

    fn adjoint_name(&self, id: ValueId) -> String {
        format!("{}_adjoint", self.builder.values()[id].name)
    }

    fn bound(&mut self, name: &str, def: Def, at: &str) -> Made<ValueId> {
        let bound = self.builder.bind(name, def);
        bound.map_err(|error| type_error(at, error))
    }
}

fn type_error(value: &str, error: InferError) -> GradientError {
    GradientError::Type {
        value: value.to_owned(),
        error: Box::new(error),
    }
}
