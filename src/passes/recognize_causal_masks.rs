//! `recognize_causal_masks`: attention with a bias that says no more than that a query sees the keys up to its own position becomes
//! attention with a causal mask, which leaves out what no query sees.
//!
//! What a bias says is known from its elements as a function of their indices: those of the calls that make it, one in terms of the
//! other, as far as they make it of nothing but sizes and numbers.

use std::cell::Cell;
use std::convert::Infallible;

use super::PassError;
use super::dead_code_elimination::without_unused;
use crate::arith::Analyzer;
use crate::ir::graph::{
    Arg, Become, Callee, Def, Globals, Op, OpCall, Scope, Value, ValueId, rewrite,
};
use crate::ir::{
    AttrValue, Expr, ExprKind, Func, IterKind, Module, Param, Place, PrimFunc, Range, Stmt,
    StructInfo, Var,
};
use crate::ops::{self, Operand, Threads};
use crate::support::Arena;
use crate::tensor::scalar::decode;
use crate::tensor::{DType, Tensor};

const ATTENTION: Op = ops::op("nn.attention");
const ATTENTION_BIAS: Op = ops::op("nn.attention_bias");

/// What is added to scores of keys that a query does not see, at most. Beside a score that it sees, the weight of such a key is 0,
/// unless scores are as large themselves.
const HIDES: f64 = -1e8;

/// Most calls between a bias and the numbers that it is made of.
const DEEPEST: usize = 24;

/// The module with causal masks in place of such biases. Every query sees a key by them, so no result changes but by the rounding of
/// scores beyond 1e8.
///
/// ```text
/// i, j = R.arange(n) as columns and rows
/// b = R.where(R.less_equal(j, i), R.const(0.0), R.const(-1e9))    →    y = R.nn.attention(q, k, v, causal_mask="TopLeft")
/// y = R.nn.attention_bias(q, k, v, b)
/// ```
pub(super) fn recognize_causal_masks(module: &Module) -> Result<Module, PassError> {
    let globals = Globals::of(module);
    let mut out = module.clone();
    for (name, function) in module.functions() {
        let mut changed = false;
        let Ok(new) = rewrite::<Infallible>(function, &globals, &mut |rewriter, old| {
            let causal = causal(old.def, &rewriter.scope());
            changed |= causal.is_some();
            Ok(causal.map_or(Become::Kept, Become::Def))
        });
        if changed {
            let new = without_unused(&new, &globals);
            out.funcs.insert(name.to_owned(), Func::Graph(new));
        }
    }
    Ok(out)
}

/// The call with a causal mask in place of its bias, if it is such a call.
fn causal(def: &Def, scope: &Scope<'_>) -> Option<Def> {
    let (op, [operands @ .., bias], attrs) = def.op_call()? else {
        return None;
    };
    let is_set = |name: &str| !matches!(attrs.get(name), None | Some(AttrValue::None));
    if op != ATTENTION_BIAS || is_set("causal_mask") || is_set("window_size") {
        return None;
    }
    let length = |arg: &Arg| Some(scope.arg(arg).as_tensor()?.shape.dims()?.get(1)?.clone());
    let [queries, keys] = [length(&operands[0])?, length(&operands[1])?];
    let mask = match bias {
        Arg::Const(mask) => of_constant(mask, &queries, &keys),
        _ => of_elements(bias, scope, &queries, &keys),
    };
    let mut attrs = attrs.clone();
    attrs.insert("causal_mask".to_owned(), AttrValue::Str(mask?.to_owned()));
    Some(Def::Call {
        callee: Callee::Op(ATTENTION),
        args: operands.to_vec(),
        attrs,
        sinfo_args: vec![],
    })
}

/// The masks by which each query sees a key, each with the keys before that of the first query's position.
fn masks(queries: &Expr, keys: &Expr) -> Vec<(&'static str, Expr)> {
    let top_left = ("TopLeft", Expr::i64(0));
    match (queries.as_int(), keys.as_int()) {
        (Some(queries), Some(keys)) if keys > 0 => {
            let bottom_right = ("BottomRight", Expr::i64(keys - queries));
            let all_see = (keys >= queries).then_some(bottom_right);
            [Some(top_left), all_see].into_iter().flatten().collect()
        }
        _ if queries == keys => vec![top_left],
        _ => {
            // A cache, and what is new.
            let mut known = Analyzer::new();
            for var in [queries, keys].into_iter().flat_map(Expr::free_vars) {
                known.bind_shape_var(&var);
            }
            let before = known.simplify(&(keys - queries));
            let all_see = known.can_prove(&before.ge(0));
            all_see
                .then_some(("BottomRight", before))
                .into_iter()
                .collect()
        }
    }
}

/// The mask that a constant is.
fn of_constant(mask: &Tensor, queries: &Expr, keys: &Expr) -> Option<&'static str> {
    let (outer, &[rows, columns]) = mask.shape().split_last_chunk::<2>()?;
    let (rows, columns) = (rows as i64, columns as i64);
    if outer.iter().any(|extent| *extent != 1)
        || [queries.as_int(), keys.as_int()] != [Some(rows), Some(columns)]
    {
        return None;
    }
    let scalar = mask.dtype().scalar;
    let elements: Vec<f64> = mask
        .bytes()
        .chunks_exact(scalar.bytes())
        .map(|bytes| decode(bytes, scalar).as_float())
        .collect();
    let is = |before: i64| {
        let mut at = (0..rows).flat_map(|i| (0..columns).map(move |j| j <= i + before));
        elements.iter().all(|element| match at.next() {
            Some(true) => *element == 0.0,
            Some(false) => *element <= HIDES,
            None => false,
        })
    };
    let masks = masks(queries, keys).into_iter();
    let mut found = masks.filter(|(_, before)| before.as_int().is_some_and(is));
    found.next().map(|(name, _)| name)
}

/// The mask that a bias is by its elements.
fn of_elements(bias: &Arg, scope: &Scope<'_>, queries: &Expr, keys: &Expr) -> Option<&'static str> {
    let elements = Elements::of(scope)?;
    let bias = elements.of_pairs(bias, queries, keys)?;
    let (ExprKind::Select(cond, seen, hidden) | ExprKind::IfThenElse(cond, seen, hidden)) =
        bias.element.kind()
    else {
        return None;
    };
    let (seen, hidden) = (seen.as_float()?, hidden.as_float()?);
    match (
        seen == 0.0 && hidden <= HIDES,
        hidden == 0.0 && seen <= HIDES,
    ) {
        (true, _) => bias.mask(cond, queries, keys),
        (_, true) => bias.mask(&cond.not(), queries, keys),
        _ => None,
    }
}

/// Whether a condition holds for the keys up to the own position of each query, in one of the ways by which all see some.
pub(super) fn is_causal(
    condition: &Arg,
    scope: &Scope<'_>,
    [queries, keys]: [&Expr; 2],
    hidden: f64,
) -> bool {
    let elements = Elements::of(scope);
    let sees = elements.and_then(|elements| elements.of_pairs(condition, queries, keys));
    hidden <= HIDES && sees.is_some_and(|sees| sees.mask(&sees.element, queries, keys).is_some())
}

/// An element for each pair of a query and a key.
struct OfPairs {
    query: Var,
    key: Var,
    element: Expr,
    known: Analyzer,
}

impl OfPairs {
    /// The mask by which a query sees a key if this holds.
    fn mask(&self, sees: &Expr, queries: &Expr, keys: &Expr) -> Option<&'static str> {
        let implies = |a: &Expr, b: &Expr| {
            let mut known = self.known.clone();
            known.assume(a);
            known.can_prove(b)
        };
        let is = |before: &Expr| {
            let earlier = self.key.expr().le(self.query.expr() + before);
            implies(sees, &earlier) && implies(&earlier, sees)
        };
        let mut found = masks(queries, keys)
            .into_iter()
            .filter(|(_, before)| is(before));
        found.next().map(|(name, _)| name)
    }
}

/// Elements of tensors as functions of their indices.
struct Elements<'a> {
    scope: &'a Scope<'a>,
    values: &'a Arena<ValueId, Value>,
}

impl<'a> Elements<'a> {
    /// Of the function whose values are in scope.
    fn of(scope: &'a Scope<'a>) -> Option<Self> {
        let values = *scope.frames.last()?;
        Some(Self { scope, values })
    }

    /// The element of a tensor for a query and a key, its last two dimensions, which is the same along the others.
    fn of_pairs(&self, arg: &Arg, queries: &Expr, keys: &Expr) -> Option<OfPairs> {
        let info = self.scope.arg(arg);
        let dims = info.as_tensor()?.shape.dims()?;
        let outer = dims.len().checked_sub(2)?;
        if dims[outer..] != [queries.clone(), keys.clone()] {
            return None;
        }
        let [query, key] = ["i", "j"].map(|name| Var::new(name, DType::I64));
        let mut known = Analyzer::new();
        for var in [queries, keys].into_iter().flat_map(Expr::free_vars) {
            known.bind_shape_var(&var);
        }
        known.bind_iteration(&query, &Range::to(queries.clone()));
        known.bind_iteration(&key, &Range::to(keys.clone()));
        let others: Vec<Var> = (0..outer).map(|_| Var::new("other", DType::I64)).collect();
        let at: Vec<Expr> = others.iter().chain([&query, &key]).map(Var::expr).collect();
        let element = known.simplify(&self.at(arg, &at, DEEPEST)?);
        (!others.iter().any(|var| element.uses(var))).then_some(OfPairs {
            query,
            key,
            element,
            known,
        })
    }

    /// The element at these indices, if it is made of nothing but sizes and numbers by so many calls at most.
    fn at(&self, arg: &Arg, at: &[Expr], depth: usize) -> Option<Expr> {
        let id = match arg {
            Arg::Const(tensor) if tensor.len() == 1 => {
                let dtype = tensor.dtype();
                return Some(Expr::scalar(decode(tensor.bytes(), dtype.scalar), dtype));
            }
            Arg::Value(id) => id,
            _ => return None,
        };
        let value = self.values.get(*id)?;
        let (op, args, attrs) = match &value.def {
            Def::Arg(inner) => return self.at(inner, at, depth.checked_sub(1)?),
            def => def.op_call()?,
        };
        let depth = depth.checked_sub(1)?;
        let operands: Vec<StructInfo> = args.iter().map(|arg| self.scope.arg(arg)).collect();
        let call = OpCall::new(op, args, &operands, attrs);
        let name = ops::def(op).program_name();
        let kernel = ops::kernel(call, &value.sinfo, name, Threads::Few).ok()?;
        let (indices, element) = stored(&kernel.func)?;
        let (buffers, scalars): (Vec<&Param>, Vec<&Param>) =
            (kernel.func.params.iter()).partition(|p| matches!(p, Param::Buffer { .. }));
        let given = kernel.args.iter().map(|operand| match operand {
            Operand::Whole(index) => Some(&args[*index]),
            Operand::Item(..) => None,
        });
        let given = given.collect::<Option<Vec<&Arg>>>()?;
        // Sizes of the program are those of the graph.
        let mut sizes: Vec<(Var, Expr)> = vec![];
        let infos = given.iter().map(|arg| self.scope.arg(arg));
        for (param, info) in buffers.iter().zip(infos.chain([value.sinfo.clone()])) {
            let Param::Buffer { handle: _, buffer } = param else {
                continue;
            };
            let dims = info.as_tensor()?.shape.dims()?.to_vec();
            let own = buffer.shape().iter().map(Expr::as_var);
            sizes.extend(
                own.zip(dims)
                    .filter_map(|(var, dim)| Some((var?.clone(), dim))),
            );
        }
        for (param, value) in scalars.iter().zip(&kernel.scalars) {
            if let Param::Scalar(var) = param {
                sizes.push((var.clone(), value.clone()));
            }
        }
        let places = indices.iter().zip(at);
        let element = element.substitute(&|var| {
            let place = places.clone().find(|(index, _)| *index == var);
            let size = || sizes.iter().find(|(own, _)| own == var);
            place
                .map(|(_, at)| at.clone())
                .or_else(|| size().map(|(_, size)| size.clone()))
        });
        let complete = Cell::new(true);
        let element = element.rewrite_bottom_up(&mut |e| {
            let ExprKind::Load(buffer, at) = e.kind() else {
                return e.clone();
            };
            let is = |param: &&&Param| matches!(param, Param::Buffer { buffer: own, .. } if own == buffer);
            let loaded = buffers.iter().position(|param| is(&param));
            let loaded = loaded.and_then(|index| self.at(given.get(index)?, at, depth));
            loaded.unwrap_or_else(|| {
                complete.set(false);
                e.clone()
            })
        });
        complete.get().then_some(element)
    }
}

/// The iter variables by which the one block of a program stores an element, and what it stores.
fn stored(func: &PrimFunc) -> Option<(Vec<Var>, Expr)> {
    let [block] = func.child_blocks(Place::Block(func.root))[..] else {
        return None;
    };
    let [
        Stmt::Store {
            buffer: _,
            indices,
            value,
        },
    ] = func.tree.body(Place::Block(block))
    else {
        return None;
    };
    let iters = &func.blocks[block].iters;
    let spatial = iters.iter().all(|iter| iter.kind == IterKind::Spatial);
    let indices = indices.iter().map(|index| index.as_var().cloned());
    let indices = indices.collect::<Option<Vec<Var>>>()?;
    spatial.then(|| (indices, value.clone()))
}
