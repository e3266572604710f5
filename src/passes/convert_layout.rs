//! `convert_layout`: operators with layouts in their attributes get the layouts that are wanted (Relax: `ConvertLayout`).

use std::collections::{HashMap, HashSet};

use super::bodies::values_that_stay;
use super::{Options, PassError};
use crate::ir::graph::{
    Arg, AttrKind, Become, Callee, Def, Globals, InferError, Old, Op, OpCall, Rewriter, Value,
    ValueId, rewrite,
};
use crate::ir::{AttrValue, Attrs, Expr, Func, Module, ShapeInfo, StructInfo, TensorInfo};
use crate::ops::{self, Layout};

/// For operators, by name, the layouts of the data, of the weight and of the result; the last two may be left out.
type Wanted = HashMap<String, Vec<String>>;

/// The module where operators of dataflow blocks have the wanted layouts. Operators after them work in these layouts as far as
/// they can; where layouts meet, and for values that leave a dataflow block, `R.permute_dims` stands.
///
/// ```text
/// y = R.nn.conv2d(x, w)      a = R.permute_dims(x, axes=[0, 2, 3, 1])
/// z = R.nn.relu(y)           b = R.permute_dims(w, axes=[0, 2, 3, 1])
/// R.output(z)            →   y = R.nn.conv2d(a, b, data_layout="NHWC", kernel_layout="OHWI")
///                            c = R.nn.relu(y)
///                            z = R.permute_dims(c, axes=[0, 3, 1, 2])
///                            R.output(z)
/// ```
///
/// # Errors
/// If a wanted layout does not reorder the letters of the layout that a call has.
pub(super) fn convert_layout(module: &Module, options: &Options) -> Result<Module, PassError> {
    let wanted = wanted(options);
    let globals = Globals::of(module);
    let mut out = module.clone();
    for (name, function) in module.functions() {
        let mut stay = HashSet::new();
        values_that_stay(&mut vec![function], &mut stay);
        let mut conversion = Conversion {
            function: name,
            wanted: &wanted,
            stay,
            orders: vec![],
        };
        let new = rewrite(function, &globals, &mut |rewriter, old| {
            conversion.value(rewriter, old)
        })?;
        out.funcs.insert(name.to_owned(), Func::Graph(new));
    }
    Ok(out)
}

fn wanted(options: &Options) -> Wanted {
    let Some(AttrValue::Dict(items)) = options.get("desired_layouts") else {
        return Wanted::new();
    };
    let texts = |value: &AttrValue| match value {
        AttrValue::List(items) => {
            let texts = items.iter().filter_map(AttrValue::as_str);
            texts.map(str::to_owned).collect()
        }
        value => value.as_str().map(str::to_owned).into_iter().collect(),
    };
    let name = |name: &String| name.trim_start_matches("relax.").to_owned();
    items
        .iter()
        .map(|(key, value)| (name(key), texts(value)))
        .collect()
}

/// The dimensions of a tensor in the order in which it has them now, by their numbers in the original program.
type Order = Vec<usize>;

/// The order of the dimensions of each tensor in a value.
#[derive(Clone, PartialEq, Debug)]
enum Orders {
    /// No tensor, or one of which the number of dimensions is not known: it is as it was.
    Unknown,
    /// A tensor.
    Tensor(Order),
    /// A tuple.
    Tuple(Vec<Orders>),
}

impl Orders {
    /// Those of the original program.
    fn original(sinfo: &StructInfo) -> Self {
        match sinfo {
            StructInfo::Tensor(info) => match info.shape.ndim() {
                Some(ndim) => Self::Tensor((0..ndim).collect()),
                None => Self::Unknown,
            },
            StructInfo::Tuple(items) => Self::Tuple(items.iter().map(Self::original).collect()),
            _ => Self::Unknown,
        }
    }

    /// Those of a result: `order` for tensors with as many dimensions, and the original one for others.
    fn like(sinfo: &StructInfo, order: &Order) -> Self {
        match (sinfo, Self::original(sinfo)) {
            (_, Self::Tensor(own)) if own.len() == order.len() => Self::Tensor(order.clone()),
            (StructInfo::Tuple(items), _) => {
                let items = items.iter().map(|item| Self::like(item, order));
                Self::Tuple(items.collect())
            }
            (_, original) => original,
        }
    }
}

/// A call in another layout.
struct Plan {
    /// The operands in the layouts that it takes them in; those that are not here stay.
    operands: Vec<(usize, Orders)>,
    /// Operands that are replaced.
    replaced: Vec<(usize, Arg)>,
    /// Attributes that change.
    attrs: Vec<(&'static str, AttrValue)>,
    /// The layout of the results.
    result: Order,
}

impl Plan {
    /// A call that gives its first operand, which it takes in this order, back in another one.
    fn of_first(order: &Order, result: Order) -> Self {
        Self {
            operands: vec![(0, Orders::Tensor(order.clone()))],
            replaced: vec![],
            attrs: vec![],
            result,
        }
    }

    fn attr(mut self, name: &'static str, value: AttrValue) -> Self {
        self.attrs.push((name, value));
        self
    }
}

/// One function while its layouts are converted.
struct Conversion<'m> {
    function: &'m str,
    wanted: &'m Wanted,
    /// Addresses of values that keep the original layout.
    stay: HashSet<usize>,
    /// The orders of new values that have others than the original ones, for the function and those inside that are copied now.
    orders: Vec<HashMap<ValueId, Orders>>,
}

impl Conversion<'_> {
    fn value(&mut self, rewriter: &mut Rewriter<'_>, old: Old<'_>) -> Result<Become, PassError> {
        self.orders.resize_with(old.depth + 1, HashMap::new);
        if !rewriter.builder().in_dataflow() {
            return Ok(Become::Kept);
        }
        let failed = failed(self.function, old.value);
        let stays = self
            .stay
            .contains(&(std::ptr::from_ref(old.value) as usize));
        let (def, orders) = match old.def {
            Def::Param | Def::Function(_) | Def::If { .. } => return Ok(Become::Kept),
            Def::Arg(tuple @ Arg::Tuple(_)) if !stays => {
                let sinfo = rewriter.scope().arg(tuple);
                (old.def.clone(), self.orders_of(tuple, &sinfo))
            }
            Def::TupleItem(tuple, index) => {
                let sinfo = rewriter.scope().arg(tuple);
                let orders = self.orders_of(tuple, &sinfo);
                let to = if stays {
                    Orders::original(&sinfo)
                } else {
                    orders
                };
                let tuple = self.converted(rewriter, tuple, &to).map_err(failed)?;
                let item = match to {
                    Orders::Tuple(items) => items.get(*index).cloned(),
                    _ => None,
                };
                let def = match tuple {
                    Arg::Tuple(items) if *index < items.len() => Def::Arg(items[*index].clone()),
                    tuple => Def::TupleItem(tuple, *index),
                };
                (def, item.unwrap_or(Orders::Unknown))
            }
            Def::MatchCast(arg, sinfo) if !stays => {
                let orders = self.orders_of(arg, &rewriter.scope().arg(arg));
                let sinfo = reordered(sinfo, &orders);
                (Def::MatchCast(arg.clone(), sinfo), orders)
            }
            Def::Call {
                callee: Callee::Op(op),
                args,
                attrs,
                sinfo_args,
            } => {
                let scope = rewriter.scope();
                let operands: Vec<_> = args.iter().map(|arg| scope.arg(arg)).collect();
                let call = OpCall::new(*op, args, &operands, attrs);
                let orders = args.iter().zip(&operands);
                let orders: Vec<_> = orders.map(|(a, s)| self.orders_of(a, s)).collect();
                let plan = match operands.iter().any(has_unknown) {
                    true => None,
                    false => self.plan(&call, &orders, &old)?,
                };
                let Some(plan) = plan else {
                    let def = self.original(rewriter, old.def).map_err(failed)?;
                    return Ok(Become::Def(def));
                };
                let mut args = args.clone();
                for (at, to) in &plan.operands {
                    args[*at] = self.converted(rewriter, &args[*at], to).map_err(failed)?;
                }
                for (at, arg) in plan.replaced {
                    args[at] = arg;
                }
                let mut attrs = attrs.clone();
                for (name, value) in plan.attrs {
                    attrs.insert(name.to_owned(), value);
                }
                let def = Def::Call {
                    callee: Callee::Op(*op),
                    args,
                    attrs: op.complete(attrs).map_err(failed)?,
                    sinfo_args: sinfo_args.clone(),
                };
                let sinfo = rewriter.builder().infer(&def).map_err(failed)?;
                (def, Orders::like(&sinfo, &plan.result))
            }
            def => {
                let def = self.original(rewriter, def).map_err(failed)?;
                return Ok(Become::Def(def));
            }
        };
        let original = Orders::original(&old.value.sinfo);
        if orders == original || orders == Orders::Unknown {
            return Ok(Become::Def(def));
        }
        let sinfo = rewriter.builder().infer(&def).map_err(failed)?;
        let name = if stays { "lv" } else { &old.value.name };
        let new = rewriter.builder().bind_as(name, def, sinfo);
        self.orders[old.depth].insert(new, orders.clone());
        let new = Arg::Value(new);
        if !stays {
            return Ok(Become::Arg(new));
        }
        Ok(Become::Def(match (orders, original) {
            (Orders::Tensor(from), Orders::Tensor(to)) => permuted(new, &from, &to),
            (_, to) => Def::Arg(self.converted(rewriter, &new, &to).map_err(failed)?),
        }))
    }

    /// The orders that an argument has now.
    fn orders_of(&self, arg: &Arg, sinfo: &StructInfo) -> Orders {
        match (arg, sinfo) {
            (Arg::Value(id), _) => {
                let known = self.orders.last().and_then(|orders| orders.get(id));
                known.cloned().unwrap_or_else(|| Orders::original(sinfo))
            }
            (Arg::Tuple(items), StructInfo::Tuple(infos)) => {
                let items = items.iter().zip(infos);
                Orders::Tuple(items.map(|(a, s)| self.orders_of(a, s)).collect())
            }
            _ => Orders::original(sinfo),
        }
    }

    /// The definition with operands as they were in the original program.
    fn original(&self, rewriter: &mut Rewriter<'_>, def: &Def) -> Result<Def, InferError> {
        let mut failed = None;
        let def = def.map(
            &mut |leaf| {
                let to = Orders::original(&rewriter.scope().arg(leaf));
                self.converted(rewriter, leaf, &to).unwrap_or_else(|error| {
                    failed = Some(error);
                    leaf.clone()
                })
            },
            &mut Clone::clone,
        );
        match failed {
            Some(error) => Err(error),
            None => Ok(def),
        }
    }

    /// The argument with its tensors in these orders.
    fn converted(
        &self,
        rewriter: &mut Rewriter<'_>,
        arg: &Arg,
        to: &Orders,
    ) -> Result<Arg, InferError> {
        let from = self.orders_of(arg, &rewriter.scope().arg(arg));
        convert(rewriter, arg, &from, to)
    }

    /// How the call works in another layout than the original one, or `None` if it does not.
    fn plan(
        &self,
        call: &OpCall<'_>,
        orders: &[Orders],
        old: &Old<'_>,
    ) -> Result<Option<Plan>, PassError> {
        let failed = failed(self.function, old.value);
        let first = match orders.first() {
            Some(Orders::Tensor(order)) => Some(order),
            _ => None,
        };
        let layout = ops::def(call.op).layout;
        if let Layout::Attributes { data, kernel, out } = layout {
            return self.attributes(call, orders, old, [Some(data), kernel, out]);
        }
        let plan = match layout {
            Layout::Fixed | Layout::Attributes { .. } => Ok(None),
            Layout::Any => Ok(any(orders)),
            Layout::Axes(names) => axes(call, orders, names),
            _ => match (first, layout) {
                (Some(order), Layout::AxesOperand(at)) => Ok(axes_operand(call, order, at)),
                (Some(order), Layout::Reduces(name)) => reduces(call, order, name).map(Some),
                (Some(order), Layout::Squeezes(name)) => squeezes(call, order, name),
                (Some(order), Layout::Inserts(name)) => inserts(call, order, name).map(Some),
                (Some(order), Layout::Permutes(name)) => permutes(call, order, name).map(Some),
                _ => Ok(None),
            },
        };
        plan.map_err(failed)
    }

    /// A call whose layouts of data, weight and result are in these attributes.
    fn attributes(
        &self,
        call: &OpCall<'_>,
        orders: &[Orders],
        old: &Old<'_>,
        names: [Option<&'static str>; 3],
    ) -> Result<Option<Plan>, PassError> {
        let failed = failed(self.function, old.value);
        let wanted = self.wanted.get(call.op.name());
        let mut plan = Plan {
            operands: vec![],
            replaced: vec![],
            attrs: vec![],
            result: vec![],
        };
        let mut data_text = String::new();
        for (at, name) in names.into_iter().enumerate() {
            let given = name.map(|name| call.text(name)).transpose();
            let given = given.map_err(failed)?.flatten();
            let text = match at {
                0 => given.unwrap_or_default(),
                1 if name.is_none() => continue,
                _ => given.unwrap_or_else(|| data_text.clone()),
            };
            let order = match wanted {
                Some(wanted) => {
                    let wanted = wanted.get(at).or_else(|| wanted.get(at % 2));
                    let wanted = wanted.unwrap_or(&text);
                    order_of(&text, wanted).ok_or_else(|| PassError::Layout {
                        func: self.function.to_owned(),
                        value: old.value.name.clone(),
                        wanted: wanted.clone(),
                        given: text.clone(),
                    })?
                }
                None => match (at, orders.get(at)) {
                    (0 | 1, Some(Orders::Tensor(order))) if order.len() == text.len() => {
                        order.clone()
                    }
                    (2, _) if plan.result.len() == text.len() => plan.result.clone(),
                    _ => return Ok(None),
                },
            };
            let letters: Vec<char> = text.chars().collect();
            let new: String = order.iter().map(|&axis| letters[axis]).collect();
            if let Some(name) = name {
                plan.attrs.push((name, AttrValue::Str(new)));
            }
            if at < 2 {
                plan.operands.push((at, Orders::Tensor(order.clone())));
            }
            if at != 1 {
                plan.result = order;
            }
            if at == 0 {
                data_text = text;
            }
        }
        Ok(Some(plan))
    }
}

/// The error of a value whose arguments do not fit.
fn failed<'v>(function: &'v str, value: &'v Value) -> impl Fn(InferError) -> PassError + Copy + 'v {
    move |error| PassError::Type {
        func: function.to_owned(),
        value: value.name.clone(),
        error: Box::new(error),
    }
}

/// The order in which a tensor of layout `from` has layout `to`.
fn order_of(from: &str, to: &str) -> Option<Order> {
    let order: Option<Order> = to.chars().map(|letter| from.find(letter)).collect();
    let order = order.filter(|order| order.len() == from.len())?;
    let all = (0..order.len()).all(|axis| order.contains(&axis));
    all.then_some(order)
}

/// Whether there is a tensor of which the number of dimensions is not known.
fn has_unknown(sinfo: &StructInfo) -> bool {
    match sinfo {
        StructInfo::Tensor(info) => info.shape.ndim().is_none(),
        StructInfo::Tuple(items) => items.iter().any(has_unknown),
        _ => false,
    }
}

/// What is known of a value whose tensors have these orders.
fn reordered(sinfo: &StructInfo, orders: &Orders) -> StructInfo {
    match (sinfo, orders) {
        (StructInfo::Tensor(info), Orders::Tensor(order)) => StructInfo::Tensor(TensorInfo {
            shape: match &info.shape {
                ShapeInfo::Known(dims) if dims.len() == order.len() => {
                    ShapeInfo::Known(order.iter().map(|&axis| dims[axis].clone()).collect())
                }
                shape => shape.clone(),
            },
            dtype: info.dtype,
            vdevice: info.vdevice.clone(),
        }),
        (StructInfo::Tuple(items), Orders::Tuple(orders)) => {
            let items = items.iter().zip(orders);
            StructInfo::Tuple(items.map(|(item, order)| reordered(item, order)).collect())
        }
        _ => sinfo.clone(),
    }
}

/// The argument, whose tensors have the orders `from`, in the orders `to`.
fn convert(
    rewriter: &mut Rewriter<'_>,
    arg: &Arg,
    from: &Orders,
    to: &Orders,
) -> Result<Arg, InferError> {
    match (from, to) {
        _ if from == to => Ok(arg.clone()),
        (Orders::Tensor(from), Orders::Tensor(to)) if from.len() == to.len() => {
            let def = permuted(arg.clone(), from, to);
            rewriter.builder().bind("lv", def).map(Arg::Value)
        }
        (Orders::Tuple(from), Orders::Tuple(to)) => {
            let mut items = Vec::new();
            for (index, (from, to)) in from.iter().zip(to).enumerate() {
                let item = match arg {
                    Arg::Tuple(items) => items[index].clone(),
                    tuple => {
                        let item = Def::TupleItem(tuple.clone(), index);
                        Arg::Value(rewriter.builder().bind("lv", item)?)
                    }
                };
                items.push(convert(rewriter, &item, from, to)?);
            }
            Ok(Arg::Tuple(items))
        }
        _ => Ok(arg.clone()),
    }
}

/// The call that takes a tensor from one order of its dimensions to another.
fn permuted(arg: Arg, from: &Order, to: &Order) -> Def {
    let axes = to.iter().map(|axis| position(from, *axis));
    Def::Call {
        callee: Callee::Op(ops::op("permute_dims")),
        args: vec![arg],
        attrs: Attrs::from_iter([("axes".to_owned(), ints(axes))]),
        sinfo_args: vec![],
    }
}

fn position(order: &Order, axis: usize) -> usize {
    let position = order.iter().position(|&at| at == axis);
    position.expect("an order has each dimension once")
}

fn ints(values: impl Iterator<Item = usize>) -> AttrValue {
    AttrValue::List(values.map(|v| AttrValue::Int(v as i64)).collect())
}

/// Axes as the value of an attribute that is one integer or a list of them.
fn axes_value(op: Op, name: &str, axes: &[usize]) -> AttrValue {
    let spec = op.schema().attrs.iter().find(|spec| spec.name == name);
    match axes {
        [axis] if spec.is_some_and(|spec| matches!(spec.kind, AttrKind::Int)) => {
            AttrValue::Int(*axis as i64)
        }
        axes => ints(axes.iter().copied()),
    }
}

/// Tensors that are broadcast to each other. The first one decides; of two with different numbers of dimensions the one with
/// fewer does, of three the two last ones if they agree.
fn any(orders: &[Orders]) -> Option<Plan> {
    let tensors = orders.iter().enumerate();
    let tensors: Vec<(usize, &Order)> = tensors
        .filter_map(|(at, order)| match order {
            Orders::Tensor(order) => Some((at, order)),
            _ => None,
        })
        .collect();
    let (orders, result): (Vec<Order>, Order) = match tensors.as_slice() {
        [(_, order)] => (vec![(*order).clone()], (*order).clone()),
        [(_, a), (_, b)] if a.is_empty() || b.is_empty() => {
            let result = if a.is_empty() { b } else { a };
            (vec![(*a).clone(), (*b).clone()], (*result).clone())
        }
        [(_, a), (_, b)] if a.len() <= b.len() => {
            let result = followed(a, b.len());
            (vec![(*a).clone(), result.clone()], result)
        }
        [(_, a), (_, b)] => {
            let result = followed(b, a.len());
            (vec![result.clone(), (*b).clone()], result)
        }
        [(_, a), (_, b), (_, c)] if a.len() == b.len() && b.len() == c.len() => {
            let order = if b == c { *b } else { *a };
            (vec![order.clone(); 3], order.clone())
        }
        _ => return None,
    };
    let operands = tensors.iter().zip(orders);
    Some(Plan {
        operands: operands
            .map(|((at, _), order)| (*at, Orders::Tensor(order)))
            .collect(),
        replaced: vec![],
        attrs: vec![],
        result,
    })
}

/// The order of a tensor of `ndim` dimensions to which one of this order is broadcast.
fn followed(order: &Order, ndim: usize) -> Order {
    let more = ndim - order.len();
    (0..more)
        .chain(order.iter().map(|axis| axis + more))
        .collect()
}

fn axes(
    call: &OpCall<'_>,
    orders: &[Orders],
    names: &[&'static str],
) -> Result<Option<Plan>, InferError> {
    let (order, operand) = match orders.first() {
        Some(Orders::Tensor(order)) => (order, Orders::Tensor(order.clone())),
        Some(Orders::Tuple(items)) => {
            let Some(Orders::Tensor(order)) = items.first() else {
                return Ok(None);
            };
            let same = |item: &Orders| matches!(item, Orders::Tensor(o) if o.len() == order.len());
            if !items.iter().all(same) {
                return Ok(None);
            }
            let all = vec![Orders::Tensor(order.clone()); items.len()];
            (order, Orders::Tuple(all))
        }
        _ => return Ok(None),
    };
    let mut plan = Plan {
        operands: vec![(0, operand)],
        replaced: vec![],
        attrs: vec![],
        result: order.clone(),
    };
    for name in names {
        // Without an axis the operator works on the elements in their order.
        let Some(axes) = call.ints(name)? else {
            return Ok(None);
        };
        let axes = axes.iter().map(|&axis| call.axis(axis, order.len()));
        let axes: Vec<_> = axes
            .map(|axis| Ok(position(order, axis?)))
            .collect::<Result<_, InferError>>()?;
        let value = axes_value(call.op, name, &axes);
        plan = plan.attr(name, value);
    }
    Ok(Some(plan))
}

fn axes_operand(call: &OpCall<'_>, order: &Order, at: usize) -> Option<Plan> {
    let axes = call.shape(at);
    let axes = axes.dims()?.iter().map(|axis| {
        let axis = call.axis(axis.as_int()?, order.len()).ok()?;
        Some(Expr::i64(position(order, axis) as i64))
    });
    let axes: Vec<_> = axes.collect::<Option<_>>()?;
    let axes = match call.args.get(at)? {
        Arg::Shape(_) => Arg::Shape(axes),
        _ => Arg::Tuple(axes.into_iter().map(Arg::Prim).collect()),
    };
    let mut plan = Plan::of_first(order, order.clone());
    plan.replaced.push((at, axes));
    Some(plan)
}

/// The positions of these axes, and the order of the result without them.
fn without(order: &Order, axes: &[usize]) -> (Vec<usize>, Order) {
    let gone = |&at: &usize| axes.contains(&order[at]);
    let positions = (0..order.len()).filter(gone).collect();
    let left = order.iter().filter(|axis| !axes.contains(axis));
    // The result numbers the axes that are left.
    let renumbered = left.map(|&axis| axis - axes.iter().filter(|&&a| a < axis).count());
    (positions, renumbered.collect())
}

fn reduces(call: &OpCall<'_>, order: &Order, name: &'static str) -> Result<Plan, InferError> {
    let (positions, rest) = without(order, &call.axes(name, order.len())?);
    let result = match call.flag("keepdims")? {
        true => order.clone(),
        false => rest,
    };
    Ok(Plan::of_first(order, result).attr(name, ints(positions.into_iter())))
}

fn squeezes(
    call: &OpCall<'_>,
    order: &Order,
    name: &'static str,
) -> Result<Option<Plan>, InferError> {
    let axes = match (call.ints(name)?, call.tensor(0)?) {
        (Some(_), _) => call.axes(name, order.len())?,
        (None, Some(info)) => {
            let Some(dims) = info.shape.dims() else {
                return Ok(None);
            };
            let ones = dims.iter().zip(order).filter(|(extent, _)| extent.is_one());
            ones.map(|(_, &axis)| axis).collect()
        }
        (None, None) => return Ok(None),
    };
    let (positions, result) = without(order, &axes);
    let plan = Plan::of_first(order, result);
    Ok(Some(plan.attr(name, ints(positions.into_iter()))))
}

fn inserts(call: &OpCall<'_>, order: &Order, name: &'static str) -> Result<Plan, InferError> {
    let new = call.ints(name)?.unwrap_or_default();
    let ndim = order.len() + new.len();
    let new = call.axes(name, ndim)?;
    let old: Vec<usize> = (0..ndim).filter(|axis| !new.contains(axis)).collect();
    let mut rest = order.iter().map(|&axis| old[axis]);
    let result = (0..ndim).map(|axis| match new.contains(&axis) {
        true => axis,
        false => rest.next().expect("as many as the operand has"),
    });
    Ok(Plan::of_first(order, result.collect()))
}

fn permutes(call: &OpCall<'_>, order: &Order, name: &'static str) -> Result<Plan, InferError> {
    let ndim = order.len();
    let axes = match call.ints(name)? {
        None => (0..ndim).rev().collect(),
        Some(axes) => {
            let axes = axes.iter().map(|&axis| call.axis(axis, ndim));
            axes.collect::<Result<Vec<_>, _>>()?
        }
    };
    let axes = axes.iter().map(|&axis| position(order, axis));
    Ok(Plan::of_first(order, (0..ndim).collect()).attr(name, ints(axes)))
}
