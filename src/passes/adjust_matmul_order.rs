//! `adjust_matmul_order`: of a product of three matrices the cheaper half is computed first (Relax: `AdjustMatmulOrder`).

use super::PassError;
use super::early::Early;
use super::rewrite_call::{Site, rewrite_each};
use crate::arith::{Analyzer, IntBound};
use crate::ir::graph::dims::{Proof, compare_dims};
use crate::ir::graph::pattern::{DfPattern, is_op, wildcard};
use crate::ir::graph::{
    Arg, Become, Callee, Def, Function, GraphBuilder, InferError, Rewriter, Value,
};
use crate::ir::{AttrValue, Attrs, Expr, Module, StructInfo, Var};
use crate::ops;
use crate::tensor::DType;

/// The module where `(a b) c` and `a (b c)` are computed in the order with fewer multiplications. Where two neighbours of the
/// three follow from parameters after the first `num_input` ones alone, their product comes first: it can be computed before a
/// run. A transposed product is the product of the transposed matrices in reverse order. Symbolic sizes are at least 1, and in the
/// bounds that the attributes `tir_var_lower_bound` and `tir_var_upper_bound` of the function give.
///
/// ```text
/// w = R.matmul(a, b)          v = R.matmul(x, a)
/// y = R.matmul(x, w)      →   y = R.matmul(v, b)
/// ```
///
/// Sums of floats are rounded in another order then.
///
/// # Errors
/// [`PassError::Type`] if the types of a product do not fit.
pub(super) fn adjust_matmul_order(module: &Module) -> Result<Module, PassError> {
    let patterns = Patterns::new();
    rewrite_each(module, &patterns.any, &mut |function, rewriter, site| {
        let product = Product::of(&patterns, rewriter, site, function);
        let first = product.as_ref().and_then(|product| {
            let first = product.better(&bounds_of_sizes(function))?;
            Some((product, first))
        });
        match first {
            Some((product, first)) => product.def(rewriter.builder(), first).map(Become::Def),
            None => Ok(Become::Kept),
        }
    })
}

/// What is known of sizes.
fn bounds_of_sizes(function: &Function) -> Analyzer {
    let mut facts = Analyzer::new();
    let bound = |key: &str, name: &str| match function.attrs.get(key) {
        Some(AttrValue::Dict(bounds)) => bounds.get(name).and_then(AttrValue::as_int),
        _ => None,
    };
    for var in function.symbolic_vars() {
        let least = bound("tir_var_lower_bound", var.name()).unwrap_or(1);
        let end = bound("tir_var_upper_bound", var.name());
        let most = end.map_or(IntBound::POS_INF, |end| end - 1);
        facts.bind_bound(&var, IntBound::new(least.max(1), most));
    }
    facts
}

/// The ways to write a product of three matrices.
struct Patterns {
    factors: [DfPattern; 3],
    forms: [Form; 4],
    any: DfPattern,
}

/// One way: the product of one factor with a product of the others.
struct Form {
    whole: DfPattern,
    /// The product of two.
    inner: DfPattern,
    /// Its transpose, if that is multiplied.
    transposed: Option<DfPattern>,
    first: First,
}

impl Patterns {
    fn new() -> Self {
        let [a, b, c] = [wildcard(), wildcard(), wildcard()];
        let matmul = |a: &DfPattern, b: &DfPattern| is_op(ops::op("matmul"), [a, b]);
        let form = |first, inner: DfPattern, is_transposed: bool| {
            let transposed = is_transposed.then(|| is_op(ops::op("permute_dims"), [&inner]));
            let half = transposed.as_ref().unwrap_or(&inner);
            let whole = match first {
                First::Left => matmul(half, &c),
                First::Right => matmul(&a, half),
            };
            Form {
                whole,
                inner,
                transposed,
                first,
            }
        };
        let forms = [
            form(First::Left, matmul(&a, &b), false),
            form(First::Right, matmul(&b, &c), false),
            form(First::Left, matmul(&b, &a), true),
            form(First::Right, matmul(&c, &b), true),
        ];
        let [left, right, other_left, other_right] = forms.each_ref().map(|form| &form.whole);
        let any = &(left | right) | &(other_left | other_right);
        Self {
            factors: [a, b, c],
            forms,
            any,
        }
    }
}

/// Which two of three matrices are multiplied first.
#[derive(Clone, Copy, PartialEq, Eq)]
enum First {
    Left,
    Right,
}

/// A product of three matrices.
struct Product {
    factors: [Factor; 3],
    /// Which two are multiplied first as it is written, if neither is transposed.
    written: Option<First>,
}

/// A matrix, or several in a tensor.
struct Factor {
    arg: Arg,
    /// As they are before they are transposed.
    dims: Vec<Expr>,
    transposed: bool,
    /// Whether it is computed before a run.
    early: bool,
}

impl Product {
    /// The product that this value is, if another order means the same: all tensors have one element type, what is transposed is so
    /// by its last two dimensions, and a factor of one dimension stands at an end, beside matrices.
    fn of(
        patterns: &Patterns,
        rewriter: &Rewriter<'_>,
        site: &Site<'_>,
        function: &Function,
    ) -> Option<Self> {
        let is = |form: &&Form| site.matches.get(&form.whole).is_some();
        let form = patterns.forms.iter().find(is)?;
        let scope = rewriter.scope();
        let values = *scope.frames.last()?;
        let dtype = dtype_of(&site.old.value.sinfo);
        if dtype_of(&scope.arg(&site.matches[&form.inner])) != dtype {
            return None;
        }
        if let Some(Arg::Value(id)) = form.transposed.as_ref().map(|p| &site.matches[p])
            && !swaps_last_two(&values[*id])
        {
            return None;
        }
        let transposed = match (&form.transposed, form.first) {
            (None, _) => [false; 3],
            (Some(_), First::Left) => [true, true, false],
            (Some(_), First::Right) => [false, true, true],
        };
        let mut early = Early::new(&scope, function);
        let args = patterns.factors.each_ref().map(|p| &site.matches[p]);
        if args.iter().all(|arg| early.is(arg)) {
            return None;
        }
        let mut factors = vec![];
        for (arg, transposed) in args.into_iter().zip(transposed) {
            let info = scope.arg(arg);
            let dims = info.as_tensor()?.shape.dims()?.to_vec();
            if dtype_of(&info) != dtype || dims.is_empty() || (transposed && dims.len() < 2) {
                return None;
            }
            factors.push(Factor {
                early: !transposed && early.is(arg),
                arg: arg.clone(),
                dims,
                transposed,
            });
        }
        let factors: [Factor; 3] = factors.try_into().ok()?;
        let ndims = factors.each_ref().map(|factor| factor.dims.len());
        let vectors = ndims[0] == 1 || ndims[2] == 1;
        let meant = ndims[1] > 1 && (!vectors || ndims.iter().all(|ndim| *ndim <= 2));
        let written = Some(form.first).filter(|_| form.transposed.is_none());
        meant.then_some(Self { factors, written })
    }

    /// Which two factors are to be multiplied first, if that changes something.
    fn better(&self, facts: &Analyzer) -> Option<First> {
        let [a, b, c] = &self.factors;
        let first = if a.early && b.early {
            First::Left
        } else if b.early && c.early {
            First::Right
        } else {
            self.cheaper(facts)?
        };
        (self.written != Some(first)).then_some(first)
    }

    fn cheaper(&self, facts: &Analyzer) -> Option<First> {
        let [a, b, c] = &self.factors;
        let [rows, inner] = a.matrix(0);
        let [middle, columns] = c.matrix(2);
        let left = broadcast(a.batch(), b.batch())?;
        let right = broadcast(b.batch(), c.batch())?;
        let all = broadcast(&left, c.batch())?;
        let count = |batch: &[Expr], sizes: [&Expr; 3]| {
            let sizes = batch.iter().chain(sizes);
            sizes.fold(Expr::i64(1), |product, size| product * size.clone())
        };
        let left_first =
            count(&left, [&rows, &inner, &middle]) + count(&all, [&rows, &middle, &columns]);
        let right_first =
            count(&right, [&inner, &middle, &columns]) + count(&all, [&rows, &inner, &columns]);
        let sizes: Vec<&Expr> = all
            .iter()
            .chain([&rows, &inner, &middle, &columns])
            .collect();
        if is_less(facts, &left_first, &right_first, &sizes) {
            Some(First::Left)
        } else if is_less(facts, &right_first, &left_first, &sizes) {
            Some(First::Right)
        } else {
            None
        }
    }

    /// The product in this order.
    fn def(&self, builder: &mut GraphBuilder, first: First) -> Result<Def, InferError> {
        let [a, b, c] = &self.factors;
        let matmul = ops::op("matmul");
        let args = match first {
            First::Left => {
                let half = vec![a.bound(builder)?, b.bound(builder)?];
                let half = builder.op("lv", matmul, half, Attrs::new())?;
                vec![Arg::Value(half), c.bound(builder)?]
            }
            First::Right => {
                let a = a.bound(builder)?;
                let half = vec![b.bound(builder)?, c.bound(builder)?];
                let half = builder.op("lv", matmul, half, Attrs::new())?;
                vec![a, Arg::Value(half)]
            }
        };
        Ok(Def::Call {
            callee: Callee::Op(matmul),
            args,
            attrs: matmul.complete(Attrs::new())?,
            sinfo_args: vec![],
        })
    }
}

impl Factor {
    /// Rows and columns; one dimension is a row on the left and a column on the right.
    fn matrix(&self, position: usize) -> [Expr; 2] {
        match self.dims.as_slice() {
            [.., columns, rows] if self.transposed => [rows.clone(), columns.clone()],
            [.., rows, columns] => [rows.clone(), columns.clone()],
            [length] if position == 0 => [Expr::i64(1), length.clone()],
            [length] => [length.clone(), Expr::i64(1)],
            [] => [Expr::i64(1), Expr::i64(1)],
        }
    }

    fn batch(&self) -> &[Expr] {
        &self.dims[..self.dims.len().saturating_sub(2)]
    }

    /// The factor as it is multiplied.
    fn bound(&self, builder: &mut GraphBuilder) -> Result<Arg, InferError> {
        if !self.transposed {
            return Ok(self.arg.clone());
        }
        let mut attrs = Attrs::new();
        if self.dims.len() > 2 {
            let axes = last_two_swapped(self.dims.len()).into_iter();
            let axes = axes.map(AttrValue::Int).collect();
            attrs.insert("axes".to_owned(), AttrValue::List(axes));
        }
        let transposed =
            builder.op("lv", ops::op("permute_dims"), vec![self.arg.clone()], attrs)?;
        Ok(Arg::Value(transposed))
    }
}

fn last_two_swapped(ndim: usize) -> Vec<i64> {
    let mut axes: Vec<i64> = (0..ndim as i64).collect();
    axes.swap(ndim - 2, ndim - 1);
    axes
}

fn dtype_of(info: &StructInfo) -> Option<DType> {
    info.as_tensor().and_then(|info| info.dtype)
}

/// Whether a call of `permute_dims` swaps the last two dimensions.
fn swaps_last_two(value: &Value) -> bool {
    let ndim = value.sinfo.as_tensor().and_then(|info| info.shape.ndim());
    let Some(ndim) = ndim.filter(|ndim| *ndim >= 2) else {
        return false;
    };
    match value.def.attrs().and_then(|attrs| attrs.get("axes")) {
        // In reverse order.
        None => ndim == 2,
        Some(AttrValue::List(axes)) => {
            let ndim = ndim as i64;
            let axes = axes.iter().map(AttrValue::as_int);
            let axes = axes.map(|axis| axis.map(|at| if at < 0 { at + ndim } else { at }));
            let swapped = last_two_swapped(ndim as usize).into_iter().map(Some);
            axes.eq(swapped)
        }
        Some(_) => false,
    }
}

/// Whether `a` is less than `b`. Both are sums of products of these sizes, each of which occurs once in a product: where the sizes
/// are different variables, the difference is greatest where each is at one end of its bounds.
fn is_less(facts: &Analyzer, a: &Expr, b: &Expr, sizes: &[&Expr]) -> bool {
    let mut vars: Vec<&Var> = vec![];
    for size in sizes.iter().filter(|size| size.as_int().is_none()) {
        match size.as_var() {
            Some(var) if !vars.contains(&var) => vars.push(var),
            _ => {
                vars.clear();
                break;
            }
        }
    }
    let difference = facts.simplify(&(a.clone() - b.clone()));
    let mut corners = vec![difference];
    for var in vars {
        let bound = facts.bound(&var.expr());
        if bound.is_finite() && corners.len() < MAX_CORNERS {
            let ends = [bound.min, bound.max].map(Expr::i64);
            let at = |e: &Expr, end: &Expr| {
                facts.simplify(&e.substitute(&|v| (v == var).then(|| end.clone())))
            };
            let both = corners
                .iter()
                .flat_map(|e| ends.each_ref().map(|end| at(e, end)));
            corners = both.collect();
        }
    }
    corners.iter().all(|corner| facts.bound(corner).max < 0)
}

/// The most corners of the bounds of sizes that are looked at.
const MAX_CORNERS: usize = 256;

/// The shape that two shapes broadcast to, if that is known.
fn broadcast(a: &[Expr], b: &[Expr]) -> Option<Vec<Expr>> {
    let (long, short) = if a.len() < b.len() { (b, a) } else { (a, b) };
    let mut dims = long.to_vec();
    for (dim, other) in dims.iter_mut().rev().zip(short.iter().rev()) {
        if dim.as_int() == Some(1) {
            dim.clone_from(other);
        } else if other.as_int() != Some(1) && compare_dims(dim, other) != Proof::Yes {
            return None;
        }
    }
    Some(dims)
}
