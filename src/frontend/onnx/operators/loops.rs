//! Loops. Iterations that are known to run are written out. If the importer cannot decide whether the next one runs, the rest of the
//! loop becomes a recursive function.

use serde_json::json;

use super::Operator;
use super::control::{MAX_ITERATIONS, inline, result_of, stack};
use super::pieces::dims_of;
use crate::frontend::onnx::attributes::Attributes;
use crate::frontend::onnx::call::{Call, Outputs, attrs, known, number};
use crate::frontend::onnx::error::Fault;
use crate::frontend::onnx::import::Importer;
use crate::frontend::onnx::model::is_impure;
use crate::frontend::onnx::order::needs;
use crate::frontend::onnx::proto::{GraphProto, NodeProto};
use crate::frontend::onnx::scope::Scope;
use crate::frontend::onnx::value::{Known, Value};
use crate::ir::{AttrValue, Attrs, Expr as Size, ShapeInfo, StructInfo, Var as Symbol};
use crate::relax::{self, BlockBuilder, BuildError, Expr, FunctionOptions, Var};
use crate::tensor::DType;

pub(super) const OPERATORS: &[Operator] = &[
    Operator::new("Loop", &[1, 11, 13, 16, 19, 21, 23, 24, 25], repeat).note(
        "up to 256 iterations whose number follows from the model are written out; other loops carry tensors, and sequences that they append to",
    ),
];

/// A loop before an iteration.
struct State {
    /// The number of the iteration.
    iteration: i64,
    /// Whether there is another one, as the body says.
    going: Value,
    carried: Vec<Value>,
    /// By result: what each iteration so far gives.
    scanned: Vec<Vec<Value>>,
}

/// Whether a condition is known to be true, or false.
fn decided(value: &Value) -> Option<bool> {
    let condition = known(value)?.ints()?;
    condition.first().map(|&flag| flag != 0)
}

/// Whether the body gives the condition back as it gets it: only the number of iterations ends the loop.
fn keeps_going(body: &GraphProto) -> bool {
    let given = body.input.get(1).and_then(|input| input.name.as_deref());
    let result = body.output.first().and_then(|out| out.name.as_deref());
    let (Some(given), Some(mut result)) = (given, result) else {
        return false;
    };
    // Names are given in chains without end in damaged graphs only.
    for _ in 0..=body.node.len() {
        if result == given {
            return true;
        }
        let makes = |node: &&NodeProto| node.output.first().is_some_and(|name| name == result);
        let Some(maker) = body.node.iter().find(makes) else {
            return false;
        };
        match (maker.op_type.as_deref(), maker.input.first()) {
            (Some("Identity"), Some(name)) => result = name,
            (Some("Constant"), _) => return is_true(maker),
            _ => return false,
        }
    }
    false
}

/// Whether a constant is the condition that holds.
fn is_true(constant: &NodeProto) -> bool {
    let value = constant.attribute.iter().find_map(|a| a.t.as_ref());
    value.is_some_and(|tensor| match tensor.raw_data.as_deref() {
        Some(raw) => raw == [1],
        None => tensor.int32_data == [1],
    })
}

/// Whether the body appends to the sequence that it carries in this place, and uses it for nothing else.
fn appends(body: &GraphProto, at: usize) -> bool {
    let given = body
        .input
        .get(2 + at)
        .and_then(|input| input.name.as_deref());
    let result = body.output.get(1 + at).and_then(|out| out.name.as_deref());
    let (Some(mut name), Some(result)) = (given, result) else {
        return false;
    };
    let mut appended = false;
    // Each step is another node, but for damaged graphs.
    for _ in 0..=body.node.len() {
        if name == result {
            return appended;
        }
        let mut users = body.node.iter().filter(|node| needs(node, name));
        let (Some(user), None) = (users.next(), users.next()) else {
            return false;
        };
        let at_end = user.input.get(2).is_none_or(String::is_empty);
        let inserts = user.op_type.as_deref() == Some("SequenceInsert") && at_end;
        let identity = user.op_type.as_deref() == Some("Identity");
        let first = user.input.first().is_some_and(|input| input == name);
        let once = user.input.iter().filter(|input| *input == name).count() == 1;
        match user.output.first() {
            Some(output) if (inserts || identity) && first && once => {
                appended |= inserts;
                name = output;
            }
            _ => return false,
        }
    }
    false
}

fn repeat(c: &mut Call<'_, '_>) -> Outputs {
    let body = c.attributes.graph("body")?;
    let limit = match c.has(0) {
        true => c.known(0).and_then(|known| known.ints()),
        false => Some(vec![i64::MAX]),
    };
    let limit = limit.map(|limit| limit.first().copied().unwrap_or(0));
    let going = match c.has(1) {
        true => c.inputs[1].clone(),
        false => Known::scalar(Size::bool(true)).into(),
    };
    let carried: Vec<Value> = c.inputs.iter().skip(2).cloned().collect();
    let scanned = vec![vec![]; c.node.output.len().saturating_sub(carried.len())];
    let mut state = State {
        iteration: 0,
        going,
        carried,
        scanned,
    };
    let fits = |limit: i64| c.importer.has_room(limit.clamp(0, MAX_ITERATIONS), body);
    let writes_out =
        limit.is_some_and(|limit| fits(limit) && (limit <= MAX_ITERATIONS || !keeps_going(body)));
    if limit.is_some_and(|limit| limit <= 0) && !state.scanned.is_empty() {
        // The types of the results are those of an iteration.
        return recursion(c, body, state);
    }
    loop {
        if limit.is_some_and(|limit| limit <= state.iteration) {
            break;
        }
        match decided(&state.going) {
            Some(false) => break,
            Some(true) if writes_out && state.iteration < MAX_ITERATIONS => {}
            Some(true) | None => return recursion(c, body, state),
        }
        let State {
            iteration,
            going,
            carried,
            ..
        } = &mut state;
        let mut inputs = vec![Known::scalar(Size::i64(*iteration)).into(), going.clone()];
        inputs.append(carried);
        let count = inputs.len() - 2;
        let place = format!("body, iteration {iteration}");
        let Some(values) = inline(c, body, inputs, &place)? else {
            return Ok(vec![]);
        };
        let mut values = values.into_iter();
        state.going = values.next().unwrap_or(Value::Absent);
        state.carried = values.by_ref().take(count).collect();
        for (list, value) in state.scanned.iter_mut().zip(values) {
            list.push(value);
        }
        state.iteration += 1;
    }
    let mut outputs = state.carried;
    for list in state.scanned {
        outputs.push(stack(c, list, 0)?);
    }
    Ok(outputs)
}

/// What a loop carries from one iteration to the next.
struct Carried {
    dtype: DType,
    dims: Vec<Size>,
    /// Which extents change from iteration to iteration.
    open: Vec<bool>,
}

impl Carried {
    fn of(sinfo: &StructInfo) -> Result<Self, Fault> {
        let (dims, dtype) = shape_of(sinfo)?;
        let open = vec![false; dims.len()];
        Ok(Self { dtype, dims, open })
    }

    fn param(&self) -> StructInfo {
        StructInfo::tensor(self.dims.clone(), self.dtype)
    }

    /// What is known of it after any number of iterations.
    fn result(&self) -> StructInfo {
        match self.open.contains(&true) {
            true => unknown(self.dims.len(), self.dtype),
            false => self.param(),
        }
    }

    /// Opens the extents that an iteration changes; whether there are some.
    fn widen(&mut self, c: &mut Call<'_, '_>, made: &StructInfo) -> Result<bool, Fault> {
        let (dims, dtype) = shape_of(made)?;
        if dims.len() != self.dims.len() || dtype != self.dtype {
            let text = format!(
                "an iteration makes {made} of {}, and it is not known how many there are",
                self.param()
            );
            return Err(Fault::Unsupported(text));
        }
        let mut changed = false;
        for (at, dim) in dims.iter().enumerate() {
            let difference = c.importer.arith.simplify(&(dim - &self.dims[at]));
            if !self.open[at] && !difference.is_zero() {
                let stem = c.node.output.first().cloned().unwrap_or_default();
                self.dims[at] = c.importer.fresh(&stem).expr();
                self.open[at] = true;
                changed = true;
            }
        }
        Ok(changed)
    }
}

/// A tensor of so many dimensions.
fn unknown(ndim: usize, dtype: DType) -> StructInfo {
    let mut sinfo = StructInfo::tensor(vec![Size::i64(1); ndim], dtype);
    if let StructInfo::Tensor(info) = &mut sinfo {
        info.shape = ShapeInfo::Ndim(ndim);
    }
    sinfo
}

fn shape_of(sinfo: &StructInfo) -> Result<(Vec<Size>, DType), Fault> {
    let info = sinfo.as_tensor();
    match info.map(|info| (&info.shape, info.dtype)) {
        Some((ShapeInfo::Known(dims), Some(dtype))) => Ok((dims.clone(), dtype)),
        _ => Err(Fault::Unsupported(format!(
            "a loop whose number of iterations is computed carries {sinfo}"
        ))),
    }
}

/// A value without dimensions.
fn scalar(c: &mut Call<'_, '_>, value: &Value) -> Result<Var, Fault> {
    let var = c.emit(result_of(value)?)?;
    match shape_of(var.sinfo())?.0.as_slice() {
        [] => Ok(var),
        _ => c.reshaped(&var, []),
    }
}

/// Why the body of a loop is not a function yet.
enum Stop {
    /// Its types are known now.
    Known(Vec<StructInfo>),
    /// Something in it stands in the way; that has been reported.
    Reported,
    Fault(Fault),
}

impl From<BuildError> for Stop {
    fn from(error: BuildError) -> Self {
        Self::Fault(error.into())
    }
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

/// The body of a loop as a function of the iteration's number, the condition, what is carried, and what iterations gave so far.
struct Body<'m> {
    graph: &'m GraphProto,
    /// How many iterations there are at most; captured by the function.
    limit: Option<Var>,
    params: Vec<Var>,
    /// How many tensors are carried.
    count: usize,
    /// Where among what is carried the sequences are. Iterations append to them, and use them for nothing else.
    lists: Vec<usize>,
    impure: bool,
}

impl<'m> Body<'m> {
    /// What one iteration makes of the parameters, each as a variable: the condition, what is carried, and the results.
    fn iteration(&self, c: &mut Call<'_, 'm>) -> Result<Vec<Var>, Stop> {
        let inputs = self.params[..2 + self.count].iter();
        let mut inputs: Vec<Value> = inputs.map(|param| Value::Var(param.clone())).collect();
        for &at in &self.lists {
            inputs.insert(2 + at, Value::List(vec![]));
        }
        let before = c.importer.problems.len();
        let values = inline(c, self.graph, inputs, "body")?;
        let Some(values) = values.filter(|_| c.importer.problems.len() == before) else {
            return Err(Stop::Reported);
        };
        let (mut vars, mut appended) = (vec![], vec![]);
        for (at, value) in values.iter().enumerate() {
            match value {
                Value::List(items) if at > 0 && self.lists.contains(&(at - 1)) => {
                    appended.push(items.clone());
                }
                value if at == 0 => vars.push(scalar(c, value)?),
                value => vars.push(c.emit(result_of(value)?)?),
            }
        }
        for items in appended {
            match stack(c, items, 0)? {
                Value::Var(var) => vars.push(var),
                other => vars.push(c.emit(result_of(&other)?)?),
            }
        }
        Ok(vars)
    }

    /// The types of what one iteration makes. Nothing is emitted.
    fn types(&self, c: &mut Call<'_, 'm>) -> Result<Vec<StructInfo>, Stop> {
        let params: Vec<&Var> = self.params.iter().collect();
        let tried = in_function(c, |c, bb| {
            bb.local_function::<Stop>("loop", &params, |bb| {
                let made = self.iteration(&mut c.with(bb))?;
                let types = made.iter().map(|var| var.sinfo().clone()).collect();
                Err(Stop::Known(types))
            })
        });
        match tried {
            Err(Stop::Known(types)) => Ok(types),
            Err(stop) => Err(stop),
            Ok(_) => unreachable!("the function is given up"),
        }
    }

    /// The function, which gives what is carried after the last iteration, and the results of all iterations.
    fn function(&self, c: &mut Call<'_, 'm>, ret: StructInfo) -> Result<Var, Stop> {
        let params: Vec<&Var> = self.params.iter().collect();
        let options = FunctionOptions {
            private: true,
            impure: self.impure,
            ret: Some(ret),
            ..FunctionOptions::default()
        };
        in_function(c, |c, bb| {
            bb.recursive_function::<Stop>("loop", &params, options, |bb, own| {
                let [number, going] = [&self.params[0], &self.params[1]];
                let another = match &self.limit {
                    Some(limit) => {
                        let within = relax::op("less", [number, limit]);
                        bb.emit(relax::op("logical_and", [going.into(), within]))?
                    }
                    None => bb.emit(going)?,
                };
                let state = &self.params[2..];
                let result = bb.if_::<Stop>(
                    &another,
                    |bb| self.next(&mut c.with(bb), own),
                    |_| Ok(relax::tuple(state.iter().map(Expr::from))),
                )?;
                Ok(bb.emit_func_output(&result)?)
            })
        })
    }

    /// An iteration and those after it.
    fn next(&self, c: &mut Call<'_, 'm>, own: &Var) -> Result<Expr, Stop> {
        let made = self.iteration(c)?;
        let one = number(1.0, DType::I64)?;
        let number = c.emit(&self.params[0] + one)?;
        let mut args = vec![number];
        args.extend(made[..=self.count].iter().cloned());
        let results = made[1 + self.count..].iter();
        for (all, last) in self.params[2 + self.count..].iter().zip(results) {
            let last = relax::op_with("expand_dims", [last], attrs(&json!({"axis": [0]})));
            let both = relax::tuple([all.into(), last]);
            args.push(c.op_with("concat", [both], &json!({"axis": 0}))?);
        }
        Ok(own.call(&args))
    }
}

/// Runs `f` with the call but for its builder, and with that.
fn in_function<'m, R>(
    c: &mut Call<'_, 'm>,
    f: impl FnOnce(&mut CallContext<'_, 'm>, &mut BlockBuilder) -> R,
) -> R {
    let mut rest = CallContext {
        importer: c.importer,
        node: c.node,
        version: c.version,
        scope: c.scope,
        place: c.place,
    };
    f(&mut rest, c.bb)
}

/// A call without its builder, which functions in functions hand on.
struct CallContext<'a, 'm> {
    importer: &'a mut Importer<'m>,
    node: &'m NodeProto,
    version: i64,
    scope: &'a Scope<'a, 'm>,
    place: &'a str,
}

impl<'m> CallContext<'_, 'm> {
    fn with<'b>(&'b mut self, bb: &'b mut BlockBuilder) -> Call<'b, 'm> {
        Call {
            importer: self.importer,
            bb,
            node: self.node,
            inputs: vec![],
            attributes: Attributes::of(vec![]),
            version: self.version,
            scope: self.scope,
            place: self.place,
        }
    }
}

/// The rest of a loop from this state on, whose number of iterations the graph computes.
fn recursion<'m>(c: &mut Call<'_, 'm>, graph: &'m GraphProto, state: State) -> Outputs {
    let operands = [(0, c.known(0).is_none()), (1, state.iteration == 0)];
    let computed = operands.into_iter().find(|&(at, open)| c.has(at) && open);
    match rest_of_loop(c, graph, state) {
        Ok(values) => Ok(values),
        Err(Stop::Reported) => Ok(vec![]),
        // The iterations could be written out if the operand were known.
        Err(Stop::Fault(Fault::Unsupported(why))) => Err(match computed {
            Some((at, _)) => c.bad(
                at,
                "computed",
                format!("known when the model is imported: {why}"),
            ),
            None => Fault::Unsupported(why),
        }),
        Err(Stop::Fault(fault)) => Err(fault),
        Err(Stop::Known(_)) => unreachable!("types are asked for elsewhere"),
    }
}

/// The extents and the type of what an iteration gives, if the extents are the same in all of them.
fn of_known_extents(c: &Call<'_, '_>, result: &StructInfo) -> Result<(Vec<Size>, DType), Fault> {
    let (dims, dtype) = shape_of(result)?;
    let inner = |var: &Symbol| !c.bb.defines(var);
    if dims.iter().any(|dim| dim.free_vars().iter().any(inner)) {
        let text = format!("an iteration gives {result}, whose extents it computes");
        return Err(Fault::Unsupported(text));
    }
    Ok((dims, dtype))
}

/// The extents of so many tensors, one after the other.
fn one_after_another(count: Size, dims: &[Size]) -> Vec<Size> {
    std::iter::once(count).chain(dims.iter().cloned()).collect()
}

/// What iterations that are written out gave, as the first rows of a result.
fn so_far(
    c: &mut Call<'_, '_>,
    given: &[Value],
    dims: &[Size],
    dtype: DType,
) -> Result<Var, Fault> {
    if given.is_empty() {
        let none = relax::shape(one_after_another(Size::i64(0), dims));
        let mut attributes = Attrs::new();
        attributes.insert("dtype".to_owned(), AttrValue::DType(dtype));
        return c.emit(relax::op_with("zeros", [none], attributes));
    }
    match stack(c, given.to_vec(), 0)? {
        Value::Var(var) => Ok(var),
        other => c.emit(result_of(&other)?),
    }
}

fn rest_of_loop<'m>(
    c: &mut Call<'_, 'm>,
    graph: &'m GraphProto,
    state: State,
) -> Result<Vec<Value>, Stop> {
    let limit = match c.has(0) {
        true => {
            let limit = c.inputs[0].clone();
            Some(scalar(c, &limit)?)
        }
        false => None,
    };
    let first = c.emit(number(state.iteration as f64, DType::I64)?)?;
    let going = scalar(c, &state.going)?;
    let mut args = vec![first, going];
    let mut lists: Vec<(usize, &[Value])> = vec![];
    for (at, value) in state.carried.iter().enumerate() {
        match value {
            Value::List(items) if appends(graph, at) => lists.push((at, items)),
            value => args.push(c.emit(result_of(value)?)?),
        }
    }
    let carried = args[2..].iter().map(|arg| Carried::of(arg.sinfo()));
    let mut carried = carried.collect::<Result<Vec<_>, Fault>>()?;
    let stem = c.node.output.first().cloned().unwrap_or_default();
    let param = |at: usize, sinfo| Var::new(format!("state{at}"), sinfo);
    let mut body = Body {
        graph,
        limit,
        params: vec![],
        count: carried.len(),
        lists: lists.iter().map(|(at, _)| *at).collect(),
        impure: is_impure(&graph.node),
    };
    let results = loop {
        body.params = vec![
            Var::new("iteration", args[0].sinfo().clone()),
            Var::new("going", args[1].sinfo().clone()),
        ];
        let states = carried.iter().enumerate();
        body.params
            .extend(states.map(|(at, state)| param(at, state.param())));
        let types = body.types(c)?;
        let Some((made, results)) = types
            .get(1..)
            .and_then(|types| types.split_at_checked(carried.len()))
        else {
            return Err(Fault::Unsupported("the body gives too few values".to_owned()).into());
        };
        let mut changed = false;
        for (state, made) in carried.iter_mut().zip(made) {
            changed |= state.widen(c, made)?;
        }
        if !changed {
            break results.to_vec();
        }
    };
    let mut ret: Vec<StructInfo> = carried.iter().map(Carried::result).collect();
    let mut parts = vec![];
    let none = vec![];
    let before = state.scanned.iter();
    let before = before.chain(lists.iter().map(|_| &none));
    for (at, (result, before)) in results.iter().zip(before).enumerate() {
        let (dims, dtype) = of_known_extents(c, result)?;
        let count = c.importer.fresh(&stem).expr();
        let sinfo = StructInfo::tensor(one_after_another(count, &dims), dtype);
        body.params.push(Var::new(format!("results{at}"), sinfo));
        ret.push(unknown(dims.len() + 1, dtype));
        args.push(so_far(c, before, &dims, dtype)?);
        parts.push((dims, dtype));
    }
    let function = body.function(c, StructInfo::Tuple(ret))?;
    let all = c.emit(function.call(&args))?;
    let mut values = c.items(&all, carried.len() + parts.len())?;
    for (value, (dims, dtype)) in values[carried.len()..].iter_mut().zip(parts) {
        if let Value::Var(var) = value {
            let all = one_after_another(c.importer.fresh(&stem).expr(), &dims);
            let made = c.bb.match_cast(&*var, StructInfo::tensor(all, dtype))?;
            *var = made;
        }
    }
    let mut appended = values.split_off(values.len() - lists.len()).into_iter();
    for (at, items) in lists {
        let appended = appended.next().unwrap_or(Value::Missing);
        values.insert(at, rows(c, items, appended)?);
    }
    Ok(values)
}

/// The sequence of these tensors and of those that iterations appended, each the same number.
fn rows(c: &mut Call<'_, '_>, first: &[Value], appended: Value) -> Result<Value, Fault> {
    let Value::Var(appended) = appended else {
        return Ok(Value::Missing);
    };
    let mut dims = dims_of(c, &appended)?;
    let count = dims.remove(0);
    dims[0] = count * &dims[0];
    let mut all = c.reshaped(&appended, dims)?;
    if !first.is_empty() {
        let first = result_of(&stack(c, first.to_vec(), 0)?)?;
        let both = relax::tuple([first, (&all).into()]);
        all = c.op_with("concat", [both], &json!({"axis": 0}))?;
    }
    Ok(Value::Rows(all))
}
