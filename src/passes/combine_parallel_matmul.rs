//! `combine_parallel_matmul`: products of one matrix with several others become one product (Relax: `CombineParallelMatmul`).

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use indexmap::IndexMap;

use super::PassError;
use super::bodies::{for_each_own_body, pure_runs};
use super::groups::is_whole;
use super::rewrite_call::settled;
use crate::ir::graph::dims::{Proof, compare_dims};
use crate::ir::graph::{
    Arg, Become, Callee, Def, Function, Globals, GraphBuilder, InferError, Op, Scope, ValueId,
    rewrite,
};
use crate::ir::{AttrValue, Attrs, Expr, Func, Module, TensorInfo};
use crate::ops;

/// Activations that are computed for all products at once.
const ACTIVATIONS: &[Op] = &[
    ops::op("nn.relu"),
    ops::op("nn.gelu"),
    ops::op("nn.gelu_tanh"),
    ops::op("nn.silu"),
];

/// The module where products with the same left operand, in a dataflow block or without side effects in between, are one product
/// with the right operands next to each other. Where each product gets a bias, or the same activation, that is computed for all
/// at once, too. Of right operands with a symbolic number of columns one takes part, as the last.
///
/// ```text
/// a = R.matmul(x, w0)          w = R.concat((w0, w1), axis=1)
/// b = R.matmul(x, w1)     →    c = R.split(R.matmul(x, w), [3], axis=1)
///                              a = c[0]
///                              b = c[1]
/// ```
///
/// # Errors
/// [`PassError::Type`] if the types of a product do not fit.
pub(super) fn combine_parallel_matmul(module: &Module) -> Result<Module, PassError> {
    let globals = Globals::of(module);
    let mut out = module.clone();
    for (name, function) in module.functions().filter(|(_, f)| !is_whole(f)) {
        if let Some(new) = combined(function, &globals)? {
            out.funcs.insert(name.to_owned(), Func::Graph(new));
        }
    }
    Ok(out)
}

fn combined(function: &Function, globals: &Globals) -> Result<Option<Function>, PassError> {
    let scope = Scope {
        globals,
        frames: vec![&function.values],
    };
    let mut ordered = function.clone();
    let mut plans: Vec<Plan> = vec![];
    for run in pure_runs(function, globals) {
        let products = Products {
            function,
            scope: &scope,
            run: &run,
        };
        let first = plans.len();
        for plan in products.plans() {
            plans.push(plan);
            if order(function, &run, &plans[first..]).is_none() {
                plans.pop();
            }
        }
        if let Some(order) = order(function, &run, &plans[first..]) {
            set_order(&mut ordered, &run, &order);
        }
    }
    if plans.is_empty() {
        return Ok(None);
    }
    let mut made: HashMap<usize, ValueId> = HashMap::new();
    let new = rewrite(&ordered, globals, &mut |rewriter, old| {
        let found = plans.iter().enumerate().find_map(|(at, plan)| {
            let index = plan.branches.iter().position(|b| b.result() == old.id)?;
            Some((at, plan, index))
        });
        let Some((at, plan, index)) = found.filter(|_| old.depth == 0) else {
            return Ok(Become::Kept);
        };
        let parts = match made.entry(at) {
            Entry::Occupied(parts) => *parts.get(),
            Entry::Vacant(entry) => {
                let plan = plan.map(&|arg| rewriter.arg(arg));
                let parts = plan.emit(rewriter.builder());
                *entry.insert(parts.map_err(|error| PassError::Type {
                    func: function.name.clone(),
                    value: old.value.name.clone(),
                    error: Box::new(error),
                })?)
            }
        };
        Ok::<_, PassError>(Become::Def(Def::TupleItem(Arg::Value(parts), index)))
    })?;
    settled(new, globals).map(Some)
}

/// The bindings of a run where the inputs of all products of a plan stand before the first; `None` if they need one of them.
fn order(function: &Function, run: &[ValueId], plans: &[Plan]) -> Option<Vec<ValueId>> {
    let inside: HashSet<ValueId> = run.iter().copied().collect();
    let needs = |id: ValueId| {
        let plan = plans
            .iter()
            .find(|plan| plan.branches.iter().any(|b| b.result() == id));
        match plan {
            Some(plan) => plan.inputs().flat_map(Arg::values).collect(),
            None => function.values[id].def.used_values(),
        }
    };
    let (mut order, mut done, mut late) = (vec![], HashSet::new(), vec![]);
    for &id in run {
        let mut next = Some((id, needs(id)));
        while let Some((id, needs)) = next {
            if needs
                .iter()
                .all(|id| done.contains(id) || !inside.contains(id))
            {
                order.push(id);
                done.insert(id);
            } else {
                late.push((id, needs));
            }
            let ready = |(_, needs): &(ValueId, Vec<ValueId>)| {
                needs
                    .iter()
                    .all(|id| done.contains(id) || !inside.contains(id))
            };
            next = late.iter().position(ready).map(|at| late.remove(at));
        }
    }
    late.is_empty().then_some(order)
}

/// Puts the bindings of a run, which stand next to each other, in this order.
fn set_order(function: &mut Function, run: &[ValueId], order: &[ValueId]) {
    for_each_own_body(function, &mut |body| {
        for block in &mut body.blocks {
            let start = block.bindings.iter().position(|id| *id == run[0]);
            if let Some(start) = start {
                block.bindings[start..start + run.len()].copy_from_slice(order);
            }
        }
    });
}

/// A product, what is added to it, and its activation.
#[derive(Clone)]
struct Branch {
    rhs: Arg,
    rhs_dims: Vec<Expr>,
    product: ValueId,
    /// The bias with its extents, and the sum.
    bias: Option<(Arg, Vec<Expr>, ValueId)>,
    activation: Option<(Op, ValueId)>,
}

impl Branch {
    /// The value that comes last.
    fn result(&self) -> ValueId {
        match (&self.activation, &self.bias) {
            (Some((_, id)), _) | (None, Some((_, _, id))) => *id,
            (None, None) => self.product,
        }
    }

    /// The number of columns of the right operand.
    fn width(&self) -> &Expr {
        &self.rhs_dims[self.rhs_dims.len() - 1]
    }
}

/// Products that become one. All have a bias of as many dimensions, or none; and the same activation, or none.
struct Plan {
    lhs: Arg,
    branches: Vec<Branch>,
    /// Of the products.
    info: TensorInfo,
    ndim: usize,
}

impl Plan {
    fn inputs(&self) -> impl Iterator<Item = &Arg> {
        let branches = self.branches.iter();
        let operands =
            branches.flat_map(|b| [Some(&b.rhs), b.bias.as_ref().map(|(arg, _, _)| arg)]);
        std::iter::once(&self.lhs).chain(operands.flatten())
    }

    fn map(&self, f: &dyn Fn(&Arg) -> Arg) -> Self {
        let branches = self.branches.iter().map(|branch| Branch {
            rhs: f(&branch.rhs),
            bias: (branch.bias.as_ref()).map(|(arg, dims, id)| (f(arg), dims.clone(), *id)),
            ..branch.clone()
        });
        Self {
            lhs: f(&self.lhs),
            branches: branches.collect(),
            info: self.info.clone(),
            ndim: self.ndim,
        }
    }

    /// Binds the product and its parts.
    fn emit(&self, builder: &mut GraphBuilder) -> Result<ValueId, InferError> {
        let axis = |at: usize| ("axis".to_owned(), AttrValue::Int(at as i64));
        let concat = |builder: &mut GraphBuilder, parts: Vec<Arg>, ndim: usize| {
            let (op, attrs) = (ops::op("concat"), Attrs::from_iter([axis(ndim - 1)]));
            builder.op("lv", op, vec![Arg::Tuple(parts)], attrs)
        };
        let first = &self.branches[0];
        let rhs = self.branches.iter().map(|b| b.rhs.clone()).collect();
        let rhs = concat(builder, rhs, first.rhs_dims.len())?;
        let dtype = self.info.dtype.map(AttrValue::DType);
        let attrs = dtype.map(|dtype| ("out_dtype".to_owned(), dtype));
        let operands = vec![self.lhs.clone(), Arg::Value(rhs)];
        let attrs = Attrs::from_iter(attrs);
        let mut all = builder.op("lv", ops::op("matmul"), operands, attrs)?;
        let biases = self.branches.iter().filter_map(|b| b.bias.as_ref());
        let biases: Vec<Arg> = biases.map(|(arg, _, _)| arg.clone()).collect();
        if let Some((_, dims, _)) = &first.bias {
            let bias = concat(builder, biases, dims.len())?;
            let operands = vec![Arg::Value(all), Arg::Value(bias)];
            all = builder.op("lv", ops::op("add"), operands, Attrs::new())?;
        }
        if let Some((op, _)) = first.activation {
            all = builder.op("lv", op, vec![Arg::Value(all)], Attrs::new())?;
        }
        let widths = self.branches.iter().map(|branch| branch.width().as_int());
        let mut ends = vec![];
        let mut end = 0;
        // The last one takes the rest.
        for width in widths.take(self.branches.len() - 1) {
            end += width.unwrap_or_default();
            ends.push(AttrValue::Int(end));
        }
        let ends = ("indices_or_sections".to_owned(), AttrValue::List(ends));
        let attrs = Attrs::from_iter([ends, axis(self.ndim - 1)]);
        builder.op("lv", ops::op("split"), vec![Arg::Value(all)], attrs)
    }
}

/// The products of a run of bindings.
struct Products<'a> {
    function: &'a Function,
    scope: &'a Scope<'a>,
    run: &'a [ValueId],
}

impl Products<'_> {
    fn plans(&self) -> Vec<Plan> {
        let mut by_lhs: IndexMap<ValueId, Vec<Branch>> = IndexMap::new();
        for &id in self.run {
            let Some([lhs, rhs]) = self.operands(id, ops::op("matmul")) else {
                continue;
            };
            let rhs_dims = self.tensor(&rhs).and_then(|info| dims(&info));
            if let (Arg::Value(lhs), Some(rhs_dims)) = (lhs, rhs_dims) {
                by_lhs.entry(lhs).or_default().push(Branch {
                    rhs,
                    rhs_dims,
                    product: id,
                    bias: None,
                    activation: None,
                });
            }
        }
        let mut plans = vec![];
        for (lhs, branches) in by_lhs {
            if branches.len() > 1 {
                let branches = self.with_epilogues(branches);
                let mut by_ndim: IndexMap<usize, Vec<Branch>> = IndexMap::new();
                for branch in branches {
                    let ndim = branch.rhs_dims.len();
                    by_ndim.entry(ndim).or_default().push(branch);
                }
                let alike = by_ndim.into_values();
                plans.extend(alike.filter_map(|branches| self.plan(lhs, branches)));
            }
        }
        plans
    }

    /// The branches with what all have after their products.
    fn with_epilogues(&self, products: Vec<Branch>) -> Vec<Branch> {
        let with = |find: &dyn Fn(&Branch) -> Option<Branch>, branches: &[Branch]| {
            branches.iter().map(find).collect::<Option<Vec<_>>>()
        };
        let bias = |branch: &Branch| {
            let with = self.with_bias(branch)?;
            // What is itself a product of the group is there only after it.
            let (bias, _, _) = with.bias.as_ref()?;
            let is_bias = |other: &Branch| *bias == Arg::Value(other.product);
            (!products.iter().any(is_bias)).then_some(with)
        };
        let activation = |branch: &Branch| self.with_activation(branch);
        let alike = |branches: &Vec<Branch>| {
            let same = |b: &Branch| {
                let op = |b: &Branch| b.activation.map(|(op, _)| op);
                let ndim = |b: &Branch| b.bias.as_ref().map(|(_, dims, _)| dims.len());
                op(b) == op(&branches[0]) && ndim(b) == ndim(&branches[0])
            };
            branches.iter().all(same)
        };
        let sums = with(&bias, &products).filter(alike);
        let both = sums.as_ref().and_then(|sums| with(&activation, sums));
        both.filter(alike)
            .or_else(|| with(&activation, &products).filter(alike))
            .or(sums)
            .unwrap_or(products)
    }

    /// The branch with its bias: one value for each column, and as many for each branch.
    fn with_bias(&self, branch: &Branch) -> Option<Branch> {
        let is_sum = |id: &ValueId| self.operands(*id, ops::op("add")).is_some();
        let [sum] = self.users(branch.product, &is_sum)[..] else {
            return None;
        };
        let product = Arg::Value(branch.product);
        let bias = match self.operands(sum, ops::op("add"))? {
            [a, bias] if a == product && bias != product => bias,
            [bias, b] if b == product && bias != product => bias,
            _ => return None,
        };
        let dims = dims(&self.tensor(&bias)?)?;
        let columns = compare_dims(dims.last()?, branch.width()) == Proof::Yes;
        let info = |id: ValueId| self.function.values[id].sinfo.as_tensor();
        let same = info(sum)? == info(branch.product)?;
        (columns && same).then(|| Branch {
            bias: Some((bias, dims, sum)),
            ..branch.clone()
        })
    }

    fn with_activation(&self, branch: &Branch) -> Option<Branch> {
        let op = |id: ValueId| match &self.function.values[id].def {
            Def::Call {
                callee: Callee::Op(op),
                args: _,
                attrs: _,
                sinfo_args: _,
            } if ACTIVATIONS.contains(op) => Some(*op),
            _ => None,
        };
        let [id] = self.users(branch.result(), &|id| op(*id).is_some())[..] else {
            return None;
        };
        Some(Branch {
            activation: Some((op(id)?, id)),
            ..branch.clone()
        })
    }

    /// The branches that become one product, if there are several.
    fn plan(&self, lhs: ValueId, mut branches: Vec<Branch>) -> Option<Plan> {
        let is_symbolic = |branch: &Branch| branch.width().as_int().is_none();
        branches.sort_by_key(is_symbolic);
        if let Some(at) = branches.iter().position(is_symbolic) {
            branches.truncate(at + 1);
        }
        let first = branches.first()?;
        let info = |id: ValueId| self.function.values[id].sinfo.as_tensor();
        let product = info(first.product)?;
        let ndim = dims(product)?.len();
        let alike = |branch: &Branch| {
            let dtype = |b: &Branch| self.tensor(&b.rhs).map(|info| (info.dtype, info.vdevice));
            let bias = |b: &Branch| {
                b.bias
                    .as_ref()
                    .map(|(_, dims, _)| dims[..dims.len() - 1].to_vec())
            };
            let bias_dtype =
                |b: &Branch| b.bias.as_ref().map(|(arg, _, _)| self.tensor(arg)?.dtype);
            let batch = |b: &Branch| b.rhs_dims[..b.rhs_dims.len() - 1].to_vec();
            let equal = |a: &[Expr], b: &[Expr]| {
                a.len() == b.len()
                    && a.iter()
                        .zip(b)
                        .all(|(a, b)| compare_dims(a, b) == Proof::Yes)
            };
            equal(&batch(branch), &batch(first))
                && dtype(branch) == dtype(first)
                && bias_dtype(branch) == bias_dtype(first)
                && equal(
                    &bias(branch).unwrap_or_default(),
                    &bias(first).unwrap_or_default(),
                )
                && info(branch.product).is_some_and(|info| info.dtype == product.dtype)
        };
        let columns = first.rhs_dims.len() > 1 && ndim > 0;
        (columns && branches.len() > 1 && branches.iter().all(alike)).then(|| Plan {
            lhs: Arg::Value(lhs),
            info: product.clone(),
            ndim,
            branches,
        })
    }

    /// The operands of a call of this operator, under their first names.
    fn operands(&self, id: ValueId, wanted: Op) -> Option<[Arg; 2]> {
        match &self.function.values[id].def {
            Def::Call {
                callee: Callee::Op(op),
                args,
                attrs: _,
                sinfo_args: _,
            } if *op == wanted => {
                let [a, b] = args.as_slice() else {
                    return None;
                };
                Some([self.first_name(a), self.first_name(b)])
            }
            _ => None,
        }
    }

    fn first_name(&self, arg: &Arg) -> Arg {
        match arg {
            Arg::Value(id) => match &self.function.values[*id].def {
                Def::Arg(other) => self.first_name(other),
                _ => arg.clone(),
            },
            _ => arg.clone(),
        }
    }

    /// The users of a value in the run that are wanted.
    fn users(&self, of: ValueId, wanted: &dyn Fn(&ValueId) -> bool) -> Vec<ValueId> {
        let uses = |id: &ValueId| {
            let args = self.function.values[*id].def.args();
            args.into_iter()
                .any(|arg| self.first_name(arg) == Arg::Value(of))
        };
        let users = self.run.iter().filter(|id| uses(id) && wanted(id));
        users.copied().collect()
    }

    fn tensor(&self, arg: &Arg) -> Option<TensorInfo> {
        self.scope.arg(arg).as_tensor().cloned()
    }
}

fn dims(info: &TensorInfo) -> Option<Vec<Expr>> {
    let dims = info.shape.dims()?;
    (!dims.is_empty()).then(|| dims.to_vec())
}
