//! `fold_constant`: what depends on constants only is computed at compile time (Relax: `FoldConstant`).

use std::collections::{HashMap, HashSet};
use std::convert::Infallible;

use indexmap::IndexSet;

use super::dead_code_elimination::without_unused;
use super::evaluate::{Evaluate, Interpreter};
use super::fuse_ops::Limits;
use super::op_pattern::op_pattern;
use super::unpacked_weights::UnpackedWeights;
use super::{Cx, PassError};
use crate::interp::Value;
use crate::ir::graph::{
    Arg, Become, Callee, Def, DpsCallee, Function, Globals, GraphBuilder, ValueId, rewrite,
};
use crate::ir::{Expr, Func, Module, PrimFunc, StructInfo};
use crate::ops::{self, Compute, MachineOp, Pattern};
use crate::tensor::scalar::Scalar;

/// Elements that a value made of nothing may have to be stored in the program. A greater one is made when the program runs, unless it is a
/// weight. Values for each channel of a network are fewer.
const MAX_MADE: i64 = 4096;

/// Elements of the largest such weight that is stored.
const MAX_WEIGHT: i64 = 1 << 24;

/// How many times the elements of the constants that it is made of a value may have to be stored in the program. A dequantised
/// weight of packed 8-bit numbers has four times as many; a number that is repeated for a whole image has more.
const MAX_GROWTH: i64 = 4;

/// Elements and iterations from which on [`Cx::evaluator`] computes: the interpreter is done before it starts.
const MANY: i64 = 1 << 14;

/// The module with constants in place of what depends on constants only: calls of loop programs, and in dataflow blocks calls of
/// operators. What is then unused goes. What cannot be computed here stays: the device may report it. A value that is much larger
/// than the constants it is made of is not stored, unless sums of products alone use it, as a weight; it is made of what is computed here when
/// the program runs. So is a weight of few bits that one product takes, on a GPU ([`UnpackedWeights`]).
///
/// ```text
/// # w is a constant
/// with R.dataflow():                with R.dataflow():
///     t = R.permute_dims(w)    →        y = R.matmul(x, metadata["relax.expr.Constant"][0])
///     y = R.matmul(x, t)                R.output(y)
///     R.output(y)
/// ```
pub(super) fn fold_constant(module: &Module, cx: &Cx) -> Result<Module, PassError> {
    let globals = Globals::of(module);
    let mut out = module.clone();
    for (name, function) in module.functions() {
        let folder = Folder {
            module,
            cx,
            globals: &globals,
            function,
            unpacked: UnpackedWeights::of(module, function, &cx.target, Limits::of(cx)),
        };
        if let Some(folded) = folder.fold() {
            out.funcs.insert(name.to_owned(), Func::Graph(folded));
        }
    }
    Ok(out)
}

struct Folder<'a> {
    module: &'a Module,
    cx: &'a Cx,
    globals: &'a Globals,
    function: &'a Function,
    /// What kernels unpack.
    unpacked: UnpackedWeights,
}

impl Folder<'_> {
    /// The function with constants, unless nothing of it is constant.
    fn fold(&self) -> Option<Function> {
        let constant = self.constant();
        if constant.is_empty() {
            return None;
        }
        let needed = self.needed(&constant);
        let values = self.evaluate(&constant, &needed, &HashMap::new());
        let values = values.unwrap_or_else(|| self.evaluate_one_by_one(&constant));
        let Ok(folded) =
            rewrite::<Infallible>(self.function, self.globals, &mut |rewriter, old| {
                if old.depth > 0 {
                    return Ok(Become::Kept);
                }
                if let Some(value) = values.get(&old.id) {
                    return Ok(Become::Arg(value.clone()));
                }
                let branches = matches!(old.def, Def::If { .. } | Def::Function(_) | Def::Param);
                if branches || !self.uses_any(old.id, &values) {
                    return Ok(Become::Kept);
                }
                // More may be known of the result now, as of a reshaped tensor.
                let builder = rewriter.builder();
                Ok(match builder.infer(old.def) {
                    Ok(sinfo) => {
                        let name = old.value.name.as_str();
                        Become::Arg(Arg::Value(builder.bind_as(name, old.def.clone(), sinfo)))
                    }
                    Err(_) => Become::Kept,
                })
            });
        Some(without_unused(&folded, self.globals))
    }

    /// The bindings that depend on constants only, in order.
    fn constant(&self) -> IndexSet<ValueId> {
        let mut known = IndexSet::new();
        for block in self.function.blocks() {
            for &id in &block.bindings {
                let def = &self.function.values[id].def;
                let of_known = def.args().into_iter().all(|arg| is_constant(arg, &known));
                if of_known && self.folds(id, def, block.dataflow.is_some()) {
                    known.insert(id);
                }
            }
        }
        known
    }

    /// Whether a definition of constants is to be computed here.
    fn folds(&self, id: ValueId, def: &Def, dataflow: bool) -> bool {
        let value = &self.function.values[id];
        match def {
            Def::Arg(arg) => !matches!(arg, Arg::Global(_) | Arg::Extern(_)),
            Def::TupleItem(_, _) => true,
            Def::CallDps {
                callee: DpsCallee::Prim(_),
                args,
                tir_vars,
                inplace: None,
                out,
            } => {
                let known = tir_vars.iter().all(|e| e.as_int().is_some());
                known && elements(out).is_some() && self.is_worth_it(id, args, out)
            }
            Def::Call {
                callee: Callee::Op(op),
                args,
                attrs,
                ..
            } => {
                let computed = match ops::def(*op).compute {
                    Compute::Kernel(_) | Compute::View(_) => true,
                    Compute::Machine(op) => op != MachineOp::Forward,
                    Compute::Host(_) | Compute::Nothing(_) => false,
                };
                let pure = Callee::Op(*op).is_pure(self.globals, &self.function.values);
                let exprs = attrs.values().flat_map(|attr| attr.exprs());
                let mut exprs = exprs.into_iter();
                let known = exprs.all(|e| e.free_vars().is_empty());
                let sinfo = &value.sinfo;
                dataflow && computed && pure && known && self.is_worth_it(id, args, sinfo)
            }
            _ => false,
        }
    }

    /// Whether the result is worth its place in the program.
    fn is_worth_it(&self, id: ValueId, args: &[Arg], out: &StructInfo) -> bool {
        let tensor = args.iter().any(|arg| {
            let mut found = false;
            arg.walk(&mut |leaf| {
                found |= match leaf {
                    Arg::Const(_) => true,
                    Arg::Value(id) => has_tensor(&self.function.values[*id].sinfo),
                    _ => false,
                }
            });
            found
        });
        tensor || elements(out).is_none_or(|count| count <= MAX_MADE) || self.is_weight(id)
    }

    /// Whether a value of moderate size is used, and as a weight alone: as an operand, but not the first, of sums of products.
    fn is_weight(&self, id: ValueId) -> bool {
        if elements(&self.function.values[id].sinfo).is_none_or(|count| count > MAX_WEIGHT) {
            return false;
        }
        let takes_weight = |def: &Def| {
            let Def::CallDps { args, .. } = def else {
                return false;
            };
            let is_it = |arg: &Arg| matches!(arg, Arg::Value(used) if *used == id);
            let callee = def.callee().and_then(|name| self.module.prim_func(name));
            args.first().is_some_and(|first| !is_it(first))
                && callee.is_some_and(|func| op_pattern(func) == Pattern::OutEWiseFusable)
        };
        let values = self.function.values.iter().map(|(_, value)| &value.def);
        let mut users = values
            .filter(|def| def.used_values().contains(&id))
            .peekable();
        users.peek().is_some()
            && users.all(takes_weight)
            && !self.function.body.result.values().contains(&id)
    }

    /// Those of the values that are stored: others use them, and they are not much larger than what they are made of.
    fn needed(&self, constant: &IndexSet<ValueId>) -> IndexSet<ValueId> {
        let mut used: HashSet<ValueId> = self.function.body.result.values().into_iter().collect();
        let values = self.function.values.iter();
        for (_, value) in values.filter(|(id, _)| !constant.contains(id)) {
            used.extend(value.def.used_values());
        }
        let mut needed: Vec<ValueId> = vec![];
        for &id in constant.iter().rev() {
            if !used.contains(&id) {
                continue;
            }
            if self.grows(id) || self.unpacked.contains(id) {
                used.extend(self.function.values[id].def.used_values());
            } else {
                needed.push(id);
            }
        }
        needed.into_iter().rev().collect()
    }

    /// Whether a value that depends on constants only is much larger than they are.
    fn grows(&self, id: ValueId) -> bool {
        let count = elements(&self.function.values[id].sinfo).unwrap_or(0);
        count > MAX_MADE && count / MAX_GROWTH > self.elements_of_sources(id) && !self.is_weight(id)
    }

    /// Elements of all constants that a value depends on; of unsigned integers, which may hold several numbers, bytes.
    fn elements_of_sources(&self, id: ValueId) -> i64 {
        let (mut seen, mut next, mut count) = (IndexSet::from([id]), 0, 0_i64);
        while let Some(&id) = seen.get_index(next) {
            next += 1;
            for arg in self.function.values[id].def.args() {
                arg.walk(&mut |leaf| match leaf {
                    Arg::Const(tensor) => {
                        let held = match tensor.dtype().scalar.is_unsigned_int() {
                            true => tensor.bytes().len(),
                            false => tensor.len(),
                        };
                        count = count.saturating_add(held as i64);
                    }
                    Arg::Value(id) => {
                        seen.insert(*id);
                    }
                    _ => {}
                });
            }
        }
        count
    }

    /// Whether a binding uses one of the values.
    fn uses_any(&self, id: ValueId, values: &HashMap<ValueId, Arg>) -> bool {
        let mut uses = false;
        for arg in self.function.values[id].def.args() {
            arg.walk(&mut |leaf| uses |= matches!(leaf, Arg::Value(id) if values.contains_key(id)));
        }
        uses
    }

    /// Each value alone, without those that cannot be computed and what depends on them; of the others those that are needed then.
    fn evaluate_one_by_one(&self, constant: &IndexSet<ValueId>) -> HashMap<ValueId, Arg> {
        let mut values: HashMap<ValueId, Arg> = HashMap::new();
        for &id in constant {
            let args = self.function.values[id].def.args();
            let known = values.keys().copied().collect();
            if args.into_iter().all(|arg| is_constant(arg, &known)) {
                let alone = IndexSet::from([id]);
                let found = self.evaluate(&alone, &alone, &values);
                values.extend(found.into_iter().flatten());
            }
        }
        let computed = constant.iter().filter(|id| values.contains_key(*id));
        let needed = self.needed(&computed.copied().collect());
        values.retain(|id, _| needed.contains(id));
        values
    }

    /// The needed ones of values that depend on constants and on values that are known; nothing if that cannot be computed.
    fn evaluate(
        &self,
        constant: &IndexSet<ValueId>,
        needed: &IndexSet<ValueId>,
        known: &HashMap<ValueId, Arg>,
    ) -> Option<HashMap<ValueId, Arg>> {
        let mut work = 0;
        let mut alone = Module::default();
        for &id in constant {
            let value = &self.function.values[id];
            if let Some(name) = value.def.callee()
                && let Some(func) = self.module.prim_func(name)
            {
                alone
                    .funcs
                    .insert(name.to_owned(), Func::Prim(func.clone()));
            }
            if matches!(value.def, Def::CallDps { .. } | Def::Call { .. }) {
                work = self.work(id).saturating_add(work);
            }
        }
        let mut builder = GraphBuilder::in_module(NAME, Globals::of(&alone));
        let mut new: HashMap<ValueId, Arg> = known.clone();
        for &id in constant {
            let value = &self.function.values[id];
            let mut leaf = |leaf: &Arg| match leaf {
                Arg::Value(id) => new[id].clone(),
                other => other.clone(),
            };
            let def = value.def.map(&mut leaf, &mut Clone::clone);
            let bound = builder.bind(value.name.as_str(), def).ok()?;
            new.insert(id, Arg::Value(bound));
        }
        let result = Arg::Tuple(needed.iter().map(|id| new[id].clone()).collect());
        let function = builder.finish(result);
        alone.funcs.insert(NAME.to_owned(), Func::Graph(function));
        let evaluator: &dyn Evaluate = match &self.cx.evaluator {
            Some(evaluator) if work > MANY => &**evaluator,
            _ => &Interpreter,
        };
        let values = match evaluator.evaluate(&alone, NAME) {
            Ok(values) => values,
            Err(error) => {
                let func = &self.function.name;
                log::debug!("constants of `{func}` are not computed: {error}");
                return None;
            }
        };
        let values = needed.iter().zip(values).map(|(id, value)| {
            let sinfo = &self.function.values[*id].sinfo;
            Some((*id, argument(value, sinfo)?))
        });
        values.collect()
    }
}

/// The function that gives the constants, while they are computed.
const NAME: &str = "constants";

impl Folder<'_> {
    /// Elements that a binding reads and writes, and iterations of the loop program that it calls.
    fn work(&self, id: ValueId) -> i64 {
        let value = &self.function.values[id];
        let mut work = elements(&value.sinfo).unwrap_or(0);
        for arg in value.def.args() {
            arg.walk(&mut |leaf| {
                work = work.saturating_add(match leaf {
                    Arg::Const(tensor) => tensor.len() as i64,
                    Arg::Value(id) => elements(&self.function.values[*id].sinfo).unwrap_or(0),
                    _ => 0,
                });
            });
        }
        let callee = value.def.callee();
        let program = callee.and_then(|name| self.module.prim_func(name));
        program.map_or(work, |program| work.saturating_add(iterations(program)))
    }
}

/// Instances of all blocks of a loop program; where extents are symbolic, more than the interpreter should run.
fn iterations(program: &PrimFunc) -> i64 {
    let blocks = program.blocks.iter().map(|(_, block)| {
        let mut extents = block.iters.iter().map(|iter| iter.dom.extent.as_int());
        extents.try_fold(1, |count: i64, extent| Some(count.saturating_mul(extent?)))
    });
    let mut blocks = blocks.map(|count| count.unwrap_or(MANY + 1));
    blocks.try_fold(0, i64::checked_add).unwrap_or(i64::MAX)
}

/// Whether the argument is a constant once the known values are.
fn is_constant(arg: &Arg, known: &IndexSet<ValueId>) -> bool {
    let mut constant = true;
    arg.walk(&mut |leaf| {
        constant &= match leaf {
            Arg::Value(id) => known.contains(id),
            Arg::Shape(dims) => dims.iter().all(|dim| dim.as_int().is_some()),
            Arg::Prim(e) => e.free_vars().is_empty(),
            Arg::Captured { .. } | Arg::Omitted(_) | Arg::Global(_) | Arg::Extern(_) => false,
            Arg::Const(_) | Arg::Tuple(_) | Arg::Str(_) | Arg::DType(_) => true,
        };
    });
    constant
}

fn has_tensor(info: &StructInfo) -> bool {
    match info {
        StructInfo::Tensor(_) => true,
        StructInfo::Tuple(items) => items.iter().any(has_tensor),
        _ => false,
    }
}

/// Number of elements of a tensor, or of all of a tuple; nothing where extents are not known.
fn elements(info: &StructInfo) -> Option<i64> {
    match info {
        StructInfo::Tensor(tensor) => {
            let dims = tensor.shape.dims()?.iter();
            let mut extents = dims.map(Expr::as_int);
            extents.try_fold(1, |count: i64, extent| Some(count.saturating_mul(extent?)))
        }
        StructInfo::Tuple(items) => {
            let mut counts = items.iter().map(elements);
            counts.try_fold(0, |sum: i64, count| Some(sum.saturating_add(count?)))
        }
        _ => None,
    }
}

/// The value as an argument, if it can be one.
fn argument(value: Value, sinfo: &StructInfo) -> Option<Arg> {
    Some(match (value, sinfo) {
        (Value::Tensor(tensor), _) => Arg::Const(tensor),
        (Value::Tuple(values), StructInfo::Tuple(items)) if values.len() == items.len() => {
            let items = values.into_iter().zip(items);
            Arg::Tuple(
                items
                    .map(|(value, info)| argument(value, info))
                    .collect::<Option<_>>()?,
            )
        }
        (Value::Shape(dims), _) => Arg::Shape(dims.into_iter().map(Expr::i64).collect()),
        (Value::Scalar(Scalar::Int(v)), StructInfo::Prim { dtype, .. }) => {
            Arg::Prim(Expr::constant(v, *dtype))
        }
        (Value::Scalar(Scalar::Float(v)), StructInfo::Prim { dtype, .. }) => {
            Arg::Prim(Expr::float(v, *dtype))
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
