//! `create_prim_func`: tensor expressions written as a loop program.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::tensor::{Body, Operation, Output};
use super::{TeError, Tensor};
use crate::arith::access_regions;
use crate::ir::{
    AttrValue, Axis, Buffer, Expr, ExprKind, PrimFunc, PrimFuncBuilder, Stmt, Var, attrs,
};

/// The loop program that computes the tensors among `params` which are no placeholders from those that are. Parameters are in
/// the order of `params`; tensors in between become temporaries.
///
/// Each computed tensor is one block with a loop for each index; its name is that of the tensor. Symbolic extents are variables
/// of the function's own.
///
/// # Errors
/// If a placeholder that is read is no parameter, or the program is not well formed.
pub fn create_prim_func(name: impl Into<String>, params: &[Tensor]) -> Result<PrimFunc, TeError> {
    create_prim_func_with(name, params, &[])
}

/// The same with scalar parameters after the tensors: symbolic variables that no extent of a parameter is.
///
/// # Errors
/// As [`create_prim_func`].
pub fn create_prim_func_with(
    name: impl Into<String>,
    params: &[Tensor],
    scalars: &[Var],
) -> Result<PrimFunc, TeError> {
    let name = name.into();
    let mut builder = PrimFuncBuilder::new(name.as_str());
    let mut writer = Writer {
        buffers: HashMap::new(),
        vars: HashMap::new(),
        names: HashSet::new(),
    };
    for tensor in params {
        let buffer = writer.buffer(&tensor.buffer);
        let known = writer.buffers.insert(tensor.buffer.clone(), buffer.clone());
        if known.is_some() {
            return Err(TeError::GivenTwice {
                name: tensor.name().to_owned(),
            });
        }
        builder.buffer_param(&buffer);
    }
    for var in scalars {
        let own = writer.var(var);
        builder.scalar_param(&own);
    }
    let program = Program::below(params);
    for placeholder in &program.placeholders {
        if !writer.buffers.contains_key(placeholder) {
            return Err(TeError::NoParameter {
                name: placeholder.name().to_owned(),
            });
        }
    }
    for computation in &program.computations {
        writer.write(&mut builder, computation);
    }
    let finished = builder.finish(access_regions);
    finished.map_err(|errors| TeError::IllFormed { func: name, errors })
}

/// Whether one of the results is computed from the elements of the placeholder.
pub fn is_read(placeholder: &Tensor, results: &[Tensor]) -> bool {
    Program::below(results)
        .placeholders
        .contains(&placeholder.buffer)
}

/// The symbolic variables of the program that no extent of a parameter is: those that it needs as scalars, in order of first use.
pub fn unbound_vars(params: &[Tensor]) -> Vec<Var> {
    let extents = params.iter().flat_map(Tensor::shape);
    let mut bound: HashSet<Var> = extents.clone().filter_map(Expr::as_var).cloned().collect();
    let mut unbound = Vec::new();
    let mut see = |e: &Expr| {
        for var in e.free_vars() {
            if bound.insert(var.clone()) {
                unbound.push(var);
            }
        }
    };
    extents.for_each(&mut see);
    for computation in Program::below(params).computations {
        computation.op.for_each_expr(&mut see);
    }
    unbound
}

/// An operation and the buffers of its results, as far as anything names them.
pub(super) struct Computation {
    pub(super) op: Arc<Operation>,
    results: Vec<Option<Buffer>>,
}

/// What tensors are made of.
#[derive(Default)]
pub(super) struct Program {
    /// Each operation after those that it reads.
    pub(super) computations: Vec<Computation>,
    pub(super) placeholders: Vec<Buffer>,
}

impl Program {
    /// Everything that these tensors need. Without recursion: chains of tensors may be long.
    pub(super) fn below(tensors: &[Tensor]) -> Self {
        enum Visit {
            Enter(Buffer),
            Leave(Arc<Operation>),
        }
        let mut program = Self::default();
        let mut results: HashMap<*const Operation, Vec<Option<Buffer>>> = HashMap::new();
        let mut seen: HashSet<Buffer> = HashSet::new();
        let mut order = Vec::new();
        let enter = |tensor: &Tensor| Visit::Enter(tensor.buffer.clone());
        let mut stack: Vec<Visit> = tensors.iter().rev().map(enter).collect();
        while let Some(visit) = stack.pop() {
            let buffer = match visit {
                Visit::Enter(buffer) => buffer,
                Visit::Leave(op) => {
                    order.push(op);
                    continue;
                }
            };
            if !seen.insert(buffer.clone()) {
                continue;
            }
            let Some(output) = Output::of(&buffer) else {
                program.placeholders.push(buffer);
                continue;
            };
            let first = !results.contains_key(&Arc::as_ptr(&output.op));
            let known = results.entry(Arc::as_ptr(&output.op)).or_default();
            if known.len() <= output.index {
                known.resize(output.index + 1, None);
            }
            known[output.index] = Some(buffer.clone());
            if first {
                stack.push(Visit::Leave(Arc::clone(&output.op)));
                let inputs = output.op.inputs();
                stack.extend(inputs.into_iter().rev().map(Visit::Enter));
            }
        }
        let computation = |op: Arc<Operation>| {
            let mut results = results.remove(&Arc::as_ptr(&op)).unwrap_or_default();
            results.resize(op.outputs(), None);
            Computation { op, results }
        };
        program.computations = order.into_iter().map(computation).collect();
        program
    }
}

struct Writer {
    /// The function's buffer for each tensor.
    buffers: HashMap<Buffer, Buffer>,
    /// The function's variable for each symbolic one.
    vars: HashMap<Var, Var>,
    names: HashSet<String>,
}

impl Writer {
    /// A buffer of the function for a tensor, with a name that no other has.
    fn buffer(&mut self, of: &Buffer) -> Buffer {
        let mut name = of.name().to_owned();
        let mut count = 0;
        while !self.names.insert(name.clone()) {
            count += 1;
            name = format!("{}_{count}", of.name());
        }
        let shape = of.shape().iter().map(|e| self.expr(e)).collect();
        Buffer::new(name, shape, of.dtype())
    }

    fn var(&mut self, of: &Var) -> Var {
        let own = self.vars.entry(of.clone());
        own.or_insert_with(|| of.renamed(of.name())).clone()
    }

    /// An expression in the function's variables and buffers.
    fn expr(&mut self, e: &Expr) -> Expr {
        for var in e.free_vars() {
            self.var(&var);
        }
        let e = e.substitute(&|var| self.vars.get(var).map(Var::expr));
        e.rewrite_bottom_up(&mut |e| match e.kind() {
            ExprKind::Load(buffer, indices) => match self.buffers.get(buffer) {
                Some(own) => Expr::load(own, indices.clone()),
                None => e.clone(),
            },
            _ => e.clone(),
        })
    }

    /// Writes one operation. What it reads is written already.
    fn write(&mut self, b: &mut PrimFuncBuilder, computation: &Computation) {
        let results: Vec<Buffer> = (computation.results.iter().enumerate())
            .map(|(index, buffer)| self.result(b, &computation.op, index, buffer.as_ref()))
            .collect();
        match &*computation.op {
            Operation::Compute {
                name,
                axes,
                shape,
                body,
            } => {
                let iters = axes.iter().zip(shape).map(|(axis, extent)| {
                    let extent = self.expr(extent);
                    (axis.clone(), Axis::spatial(axis.name(), extent))
                });
                let mut iters: Vec<_> = iters.collect();
                if let Body::Reduce(reduction) = body {
                    for axis in &reduction.axes {
                        let extent = self.expr(&axis.extent);
                        let iter = Axis::reduce(axis.var.name(), extent);
                        iters.push((axis.var.clone(), iter));
                    }
                }
                let (vars, iters): (Vec<Var>, Vec<Axis>) = iters.into_iter().unzip();
                self.nest(b, name, &vars, iters, body, &results);
            }
            Operation::Extern {
                name,
                axes,
                inputs,
                results: _,
                write,
            } => {
                let axes = axes.iter().enumerate();
                let axes = axes.map(|(at, extent)| (format!("i{at}"), self.expr(extent)));
                let axes = axes.map(|(name, extent)| Axis::spatial(name, extent));
                let axes: Vec<Axis> = axes.collect();
                let inputs = inputs
                    .iter()
                    .map(|tensor| self.buffers[&tensor.buffer].clone());
                let inputs: Vec<Buffer> = inputs.collect();
                let any_order = !axes.is_empty();
                b.nest(name.as_str(), axes, |b, at| {
                    if any_order {
                        b.annotate(attrs::ANY_ORDER, AttrValue::Bool(true));
                    }
                    write(b, at, &inputs, &results);
                });
            }
            Operation::Either {
                name: _,
                cond,
                then,
                otherwise,
            } => {
                let mut side = |tensor| b.inside(|b| self.side(b, tensor, &results[0])).0;
                let (then, otherwise) = (side(then), side(otherwise));
                let cond = self.expr(cond);
                b.stmt(Stmt::If {
                    cond,
                    then,
                    otherwise,
                });
            }
        }
    }

    /// Writes one side of a choice, which computes the result of the choice.
    fn side(&mut self, b: &mut PrimFuncBuilder, tensor: &Tensor, result: &Buffer) {
        self.buffers.insert(tensor.buffer.clone(), result.clone());
        for computation in &Program::below(std::slice::from_ref(tensor)).computations {
            self.write(b, computation);
        }
    }

    /// The function's buffer for a result: the one that is known, or a temporary.
    fn result(
        &mut self,
        b: &mut PrimFuncBuilder,
        op: &Operation,
        index: usize,
        buffer: Option<&Buffer>,
    ) -> Buffer {
        let own = buffer.and_then(|buffer| self.buffers.get(buffer));
        if let Some(own) = own {
            return own.clone();
        }
        let own = match buffer {
            Some(buffer) => self.buffer(buffer),
            None => {
                let (shape, dtype) = op.result_type(index);
                self.buffer(&Buffer::new(op.result_name(index), shape, dtype))
            }
        };
        b.alloc_buffer(&own);
        if let Some(buffer) = buffer {
            self.buffers.insert(buffer.clone(), own.clone());
        }
        own
    }

    /// A block in its loops: `vars` are the indices of the expressions. Those of spatial axes come first, and index the results.
    fn nest(
        &mut self,
        b: &mut PrimFuncBuilder,
        name: &str,
        vars: &[Var],
        iters: Vec<Axis>,
        body: &Body,
        results: &[Buffer],
    ) {
        let spatial = results.first().map_or(0, Buffer::ndim);
        let (mut values, mut identity) = match body {
            Body::Values(values) => (values.clone(), vec![]),
            Body::Reduce(reduction) => (reduction.values.clone(), reduction.identity()),
        };
        for value in values.iter_mut().chain(&mut identity) {
            // The indices stay: they become the iter variables of the block.
            for var in vars {
                self.vars.insert(var.clone(), var.clone());
            }
            *value = self.expr(value);
        }
        b.nest(name, iters, |b, iters| {
            let bind = |e: &Expr| {
                e.substitute(&|var| {
                    let at = vars.iter().position(|v| v == var)?;
                    Some(iters[at].expr())
                })
            };
            let place = &iters[..spatial];
            let values: Vec<Expr> = values.iter().map(bind).collect();
            let Body::Reduce(reduction) = body else {
                store_all(b, results, place, values);
                return;
            };
            b.init(|b| store_all(b, results, place, identity));
            let index: Vec<Expr> = place.iter().map(Var::expr).collect();
            let accumulated = results.iter().map(|r| Expr::load(r, index.clone()));
            let accumulated: Vec<Expr> = accumulated.collect();
            store_all(b, results, place, reduction.combine(&accumulated, &values));
        });
    }
}

/// `results[..][place] = values`, all at once: no value sees what another store writes.
fn store_all(b: &mut PrimFuncBuilder, results: &[Buffer], place: &[Var], values: Vec<Expr>) {
    if let [result] = results {
        let value = values
            .into_iter()
            .next()
            .expect("one value for each result");
        b.store(result, place, value);
        return;
    }
    fn rest(
        b: &mut PrimFuncBuilder,
        results: &[Buffer],
        place: &[Var],
        values: &[Expr],
        named: &mut Vec<Expr>,
    ) {
        if named.len() < values.len() {
            let name = format!("v_{}", results[named.len()].name());
            b.let_(&name, values[named.len()].clone(), |b, var| {
                named.push(var.expr());
                rest(b, results, place, values, named);
            });
            return;
        }
        for (result, value) in results.iter().zip(named.iter()) {
            b.store(result, place, value);
        }
    }
    rest(b, results, place, &values, &mut Vec::new());
}
