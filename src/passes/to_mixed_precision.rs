//! `to_mixed_precision`: products in `float16` (Relax: `ToMixedPrecision`).
//!
//! Operators say which precision they take ([`Precision`]). A first walk, backwards, finds the values of which nothing but products
//! makes use: they are kept in `float16`. A second one converts the operands of every call to what it takes. Values that leave
//! their dataflow block keep the types that they had.

use std::collections::{HashMap, HashSet};
use std::convert::Infallible;

use crate::ir::graph::{
    Arg, Become, Callee, Def, Function, Globals, Old, Op, Rewriter, ValueId, rewrite,
};
use crate::ir::{AttrValue, Attrs, Func, Module, StructInfo};
use crate::ops::{self, Precision};
use crate::tensor::scalar::decode;
use crate::tensor::{DType, Tensor};

/// The module where products of `float32` in dataflow blocks take `float16`, with sums in `out`. Operators that follow are in
/// `float16` where all their operands are. Parameters with these names become `float16`.
///
/// ```text
/// y = R.matmul(x, w)        a = R.astype(x, "float16"); b = R.astype(w, "float16")
///                      →    c = R.matmul(a, b, out_dtype="float32")
/// z = R.nn.gelu(y)          y = R.astype(c, "float16")
///                           z = R.nn.gelu(y)
/// ```
pub(super) fn to_mixed_precision(module: &Module, out: DType, half_params: &[&str]) -> Module {
    let globals = Globals::of(module);
    let mut new = module.clone();
    for (name, function) in module.functions() {
        let mut pass = Pass::new(function, out, half_params);
        let Ok(function) = rewrite::<Infallible>(function, &globals, &mut |rewriter, old| {
            Ok(pass.value(rewriter, old))
        });
        new.funcs.insert(name.to_owned(), Func::Graph(function));
    }
    new
}

/// What the users of a value take, the loosest first.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Need {
    /// Nobody takes it.
    Unknown,
    /// Products only.
    Half,
    /// The precision in which it is written.
    Full,
    /// By item of a tuple.
    Items(Vec<Need>),
}

impl Need {
    fn merge(self, other: Self) -> Self {
        match (self, other) {
            (Self::Items(a), Self::Items(b)) => {
                Self::Items(a.into_iter().zip(b).map(|(a, b)| a.merge(b)).collect())
            }
            (Self::Items(items), one) | (one, Self::Items(items)) => Self::Items(
                items
                    .into_iter()
                    .map(|item| item.merge(one.clone()))
                    .collect(),
            ),
            (Self::Full, _) | (_, Self::Full) => Self::Full,
            (Self::Half, _) | (_, Self::Half) => Self::Half,
            (Self::Unknown, Self::Unknown) => Self::Unknown,
        }
    }

    fn item(&self, index: usize) -> Self {
        match self {
            Self::Items(items) => items.get(index).cloned().unwrap_or(Self::Unknown),
            one => one.clone(),
        }
    }
}

struct Pass<'f> {
    function: &'f Function,
    out: DType,
    /// Parameters that become `float16`.
    half_params: HashSet<ValueId>,
    needs: HashMap<ValueId, Need>,
    /// The first value of each block, and whether it is a dataflow block.
    starts: HashMap<ValueId, bool>,
    /// Values that leave their dataflow block, and those that a function inside captures.
    outputs: HashSet<ValueId>,
    /// What the block uses instead of old values.
    local: HashMap<ValueId, Arg>,
}

impl<'f> Pass<'f> {
    fn new(function: &'f Function, out: DType, half_params: &[&str]) -> Self {
        let mut pass = Self {
            function,
            out,
            half_params: HashSet::new(),
            needs: HashMap::new(),
            starts: HashMap::new(),
            outputs: HashSet::new(),
            local: HashMap::new(),
        };
        let named = |id: &&ValueId| half_params.contains(&function.values[**id].name.as_str());
        pass.half_params = function.params.iter().filter(named).copied().collect();
        pass.require(&function.body.result, &Need::Full);
        // A function inside takes what it captures as it was.
        for (_, value) in function.values.iter() {
            if let Def::Function(inner) = &value.def {
                pass.outputs.extend(inner.captured(1));
            }
        }
        for block in function.blocks().into_iter().rev() {
            if let Some(first) = block.bindings.first() {
                pass.starts.insert(*first, block.dataflow.is_some());
            }
            pass.outputs.extend(block.dataflow.iter().flatten());
            if block.dataflow.is_some() {
                for id in block.bindings.iter().rev() {
                    pass.collect(*id);
                }
            }
        }
        pass
    }

    /// Notes what a value takes of its operands.
    fn collect(&mut self, id: ValueId) {
        let function = self.function;
        match &function.values[id].def {
            Def::Call {
                callee: Callee::Op(op),
                args,
                attrs: _,
                sinfo_args: _,
            } => {
                let need = match self.precision(*op, args) {
                    Precision::Half => Need::Half,
                    Precision::Follow | Precision::Full => Need::Full,
                };
                args.iter().for_each(|arg| self.require(arg, &need));
            }
            Def::Arg(arg @ Arg::Tuple(_)) => {
                let need = self.needs.get(&id).cloned().unwrap_or(Need::Unknown);
                self.require(arg, &need);
            }
            Def::TupleItem(Arg::Value(tuple), index) => {
                let own = self.needs.get(&id).cloned().unwrap_or(Need::Unknown);
                let count = match &function.values[*tuple].sinfo {
                    StructInfo::Tuple(items) => items.len(),
                    _ => index + 1,
                };
                let mut items = vec![Need::Unknown; count];
                items[*index] = own;
                self.require(&Arg::Value(*tuple), &Need::Items(items));
            }
            def => {
                for arg in def.args() {
                    self.require(arg, &Need::Full);
                }
            }
        }
    }

    /// The precision of a call. A product of integers is exact in the type in which it is written, and has none else.
    fn precision(&self, op: Op, args: &[Arg]) -> Precision {
        let mut has_float = false;
        for arg in args {
            arg.walk(&mut |leaf| has_float |= is_float(leaf, self.function));
        }
        match ops::def(op).precision() {
            Precision::Half if !has_float => Precision::Full,
            stated => stated,
        }
    }

    fn require(&mut self, arg: &Arg, need: &Need) {
        match arg {
            Arg::Value(id) => {
                let known = self.needs.remove(id).unwrap_or(Need::Unknown);
                self.needs.insert(*id, known.merge(need.clone()));
            }
            Arg::Tuple(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.require(item, &need.item(index));
                }
            }
            _ => {}
        }
    }

    fn value(&mut self, rewriter: &mut Rewriter<'_>, old: Old<'_>) -> Become {
        if old.depth > 0 {
            return Become::Kept;
        }
        if self.half_params.contains(&old.id) {
            let half = with_float(&old.value.sinfo, DType::F16);
            let param = rewriter.builder().param(old.value.name.as_str(), half);
            return Become::Arg(Arg::Value(param));
        }
        if matches!(old.def, Def::Param) {
            return Become::Kept;
        }
        if let Some(&dataflow) = self.starts.get(&old.id) {
            self.local.clear();
            if dataflow {
                for param in self.function.params.clone() {
                    self.keep_half(rewriter, param, Arg::Value(param));
                }
            }
        }
        if !rewriter.builder().in_dataflow() {
            return self.restored(rewriter, &old);
        }
        let name = old.value.name.as_str();
        let value = match &old.value.def {
            Def::Call {
                callee: Callee::Op(op),
                args,
                attrs,
                sinfo_args: _,
            } => match self.precision(*op, args) {
                Precision::Full => return self.restored(rewriter, &old),
                precision => {
                    let mut new: Vec<Arg> =
                        args.iter().map(|arg| self.current(rewriter, arg)).collect();
                    let half = precision == Precision::Half
                        || new.iter().all(|arg| fits_half(rewriter, arg));
                    let to = if half { DType::F16 } else { DType::F32 };
                    new = new.iter().map(|arg| converted(rewriter, arg, to)).collect();
                    let mut attrs = attrs.clone();
                    let has_out = op
                        .schema()
                        .attrs
                        .iter()
                        .any(|attr| attr.name == "out_dtype");
                    if precision == Precision::Half && has_out {
                        attrs.insert("out_dtype".to_owned(), AttrValue::DType(self.out));
                    }
                    let Ok(call) = rewriter.builder().op(name, *op, new, attrs) else {
                        return self.restored(rewriter, &old);
                    };
                    let keep = precision == Precision::Half && !self.outputs.contains(&old.id);
                    match keep {
                        true => converted(rewriter, &Arg::Value(call), DType::F16),
                        false => Arg::Value(call),
                    }
                }
            },
            Def::Arg(arg @ Arg::Tuple(_)) => self.current(rewriter, arg),
            Def::TupleItem(tuple, index) => match self.current(rewriter, tuple) {
                Arg::Tuple(mut items) => items.swap_remove(*index),
                tuple => {
                    let item = rewriter.builder().bind(name, Def::TupleItem(tuple, *index));
                    Arg::Value(item.expect("the tuple has this element"))
                }
            },
            _ => return self.restored(rewriter, &old),
        };
        self.bind(rewriter, &old, value)
    }

    /// Names the new value. One that leaves the block gets its old type again; one that products alone use is kept in `float16`.
    fn bind(&mut self, rewriter: &mut Rewriter<'_>, old: &Old<'_>, value: Arg) -> Become {
        let value = match self.outputs.contains(&old.id) {
            true => like(rewriter, &value, &old.value.sinfo),
            false => value,
        };
        let value = match value {
            Arg::Value(_) => value,
            tuple => {
                let sinfo = rewriter.scope().arg(&tuple);
                let name = old.value.name.as_str();
                Arg::Value(rewriter.builder().bind_as(name, Def::Arg(tuple), sinfo))
            }
        };
        self.keep_half(rewriter, old.id, value.clone());
        Become::Arg(value)
    }

    /// Lets the block use a copy in `float16` of a value that only products use. `now` is the value as an argument of the old
    /// function if it is a parameter, else of the new one.
    fn keep_half(&mut self, rewriter: &mut Rewriter<'_>, id: ValueId, now: Arg) {
        let Some(need) = self.needs.get(&id) else {
            return;
        };
        let is_param = self.function.params.contains(&id);
        let now = if is_param { rewriter.arg(&now) } else { now };
        let new = halved(rewriter, &now, need);
        if !is_same(&new, &now) {
            self.local.insert(id, new);
        }
    }

    /// The argument of the old function as it is now.
    fn current(&self, rewriter: &Rewriter<'_>, arg: &Arg) -> Arg {
        match arg {
            Arg::Value(id) => self
                .local
                .get(id)
                .cloned()
                .unwrap_or_else(|| rewriter.arg(arg)),
            Arg::Tuple(items) => Arg::Tuple(
                items
                    .iter()
                    .map(|item| self.current(rewriter, item))
                    .collect(),
            ),
            other => rewriter.arg(other),
        }
    }

    /// The definition with operands of the types that they had.
    fn restored(&self, rewriter: &mut Rewriter<'_>, old: &Old<'_>) -> Become {
        let changed = old.value.def.args().into_iter().any(|arg| {
            let mut changed = false;
            arg.walk(&mut |leaf| {
                if let Arg::Value(id) = leaf {
                    let was = &self.function.values[*id].sinfo;
                    changed |= rewriter.scope().arg(&rewriter.arg(leaf)) != *was;
                }
            });
            changed
        });
        if !changed {
            return Become::Kept;
        }
        let mut leaf = |leaf: &Arg| match leaf {
            Arg::Value(id) => {
                let was = self.function.values[*id].sinfo.clone();
                let now = rewriter.arg(leaf);
                like(rewriter, &now, &was)
            }
            other => rewriter.arg(other),
        };
        let def = match old.def {
            Def::If { .. } | Def::Function(_) => return Become::Kept,
            _ => old.value.def.map(&mut leaf, &mut Clone::clone),
        };
        Become::Def(def)
    }
}

/// The value with floats of `to`: `float32` and `float16` are converted, other types stay.
fn converted(rewriter: &mut Rewriter<'_>, arg: &Arg, to: DType) -> Arg {
    let target = with_float(&rewriter.scope().arg(arg), to);
    like(rewriter, arg, &target)
}

/// The value with what products alone use in `float16`.
fn halved(rewriter: &mut Rewriter<'_>, arg: &Arg, need: &Need) -> Arg {
    let target = halved_type(&rewriter.scope().arg(arg), need);
    like(rewriter, arg, &target)
}

fn halved_type(sinfo: &StructInfo, need: &Need) -> StructInfo {
    match (sinfo, need) {
        (StructInfo::Tuple(items), need) => {
            let items = items.iter().enumerate();
            StructInfo::Tuple(
                items
                    .map(|(at, item)| halved_type(item, &need.item(at)))
                    .collect(),
            )
        }
        (tensor, Need::Half) => with_float(tensor, DType::F16),
        (other, _) => other.clone(),
    }
}

/// The type with `float32` and `float16` replaced.
fn with_float(sinfo: &StructInfo, to: DType) -> StructInfo {
    match sinfo {
        StructInfo::Tensor(info) => {
            let mut info = info.clone();
            if matches!(info.dtype, Some(DType::F16 | DType::F32)) {
                info.dtype = Some(to);
            }
            StructInfo::Tensor(info)
        }
        StructInfo::Tuple(items) => {
            StructInfo::Tuple(items.iter().map(|item| with_float(item, to)).collect())
        }
        other => other.clone(),
    }
}

/// The value with the element types of `target`; itself if it has them.
fn like(rewriter: &mut Rewriter<'_>, arg: &Arg, target: &StructInfo) -> Arg {
    let sinfo = rewriter.scope().arg(arg);
    match (&sinfo, target) {
        (StructInfo::Tensor(now), StructInfo::Tensor(wanted)) => {
            let float = |dtype: Option<DType>| matches!(dtype, Some(DType::F16 | DType::F32));
            if now.dtype == wanted.dtype || !float(now.dtype) || !float(wanted.dtype) {
                return arg.clone();
            }
            let dtype = wanted.dtype.unwrap_or(DType::F32);
            let attrs = Attrs::from_iter([("dtype".to_owned(), AttrValue::DType(dtype))]);
            let cast = rewriter
                .builder()
                .op("lv", ops::op("astype"), vec![arg.clone()], attrs);
            Arg::Value(cast.expect("a tensor of floats"))
        }
        (StructInfo::Tuple(now), StructInfo::Tuple(wanted)) if now != wanted => {
            let mut items = vec![];
            for (index, wanted) in wanted.iter().enumerate() {
                let item = match arg {
                    Arg::Tuple(items) => items[index].clone(),
                    tuple => {
                        let item = Def::TupleItem(tuple.clone(), index);
                        let item = rewriter.builder().bind("lv", item);
                        Arg::Value(item.expect("the tuple has this element"))
                    }
                };
                items.push(like(rewriter, &item, wanted));
            }
            Arg::Tuple(items)
        }
        _ => arg.clone(),
    }
}

/// Whether the operand is in `float16`, or a constant that fits it. What is no tensor does not matter.
fn fits_half(rewriter: &Rewriter<'_>, arg: &Arg) -> bool {
    match arg {
        Arg::Const(tensor) => is_in_range(tensor),
        Arg::Tuple(items) => items.iter().all(|item| fits_half(rewriter, item)),
        _ => match rewriter.scope().arg(arg) {
            StructInfo::Tensor(info) => info.dtype == Some(DType::F16),
            StructInfo::Tuple(_) => false,
            _ => true,
        },
    }
}

/// Whether `float16` holds every element, rounded.
fn is_in_range(tensor: &Tensor) -> bool {
    const MAX: f64 = 65504.0;
    let scalar = tensor.dtype().scalar;
    let elements = tensor.bytes().chunks_exact(scalar.bytes());
    tensor.dtype().lanes == 1
        && elements
            .map(|bytes| decode(bytes, scalar).as_float())
            .all(|v| v.abs() <= MAX)
}

/// Whether the leaf of an argument is a tensor of floats, or one of which the type is not known.
fn is_float(leaf: &Arg, function: &Function) -> bool {
    let dtype = match leaf {
        Arg::Const(tensor) => Some(tensor.dtype()),
        Arg::Value(id) => match &function.values[*id].sinfo {
            StructInfo::Tensor(info) => info.dtype,
            _ => None,
        },
        _ => return false,
    };
    dtype.is_none_or(|dtype| dtype.is_float())
}

fn is_same(a: &Arg, b: &Arg) -> bool {
    matches!((a, b), (Arg::Value(a), Arg::Value(b)) if a == b)
}
