//! Graph functions at run time.

use std::cell::Cell;
use std::collections::HashMap;
use std::rc::Rc;

use super::calls::make_closure;
use super::eval::Env;
use super::placed::{Placed, Storage, Writer};
use super::{InterpError, op};
use crate::ir::graph::dims::named;
use crate::ir::graph::{
    self, Arg, Body, Callee, Def, Function, Globals, InferError, Obligations, Op, OpCall, Scope,
    ValueId,
};
use crate::ir::{Attrs, Expr, Module};
use crate::ops::{self, Compute, MachineOp, ShapeBuiltin};
use crate::support::Arena;
use crate::tensor::Tensor;
use crate::tensor::scalar::Scalar;

/// A value of a graph function at run time.
#[derive(Clone)]
pub enum Value {
    /// A tensor.
    Tensor(Tensor),
    /// A tuple.
    Tuple(Vec<Value>),
    /// A shape.
    Shape(Vec<i64>),
    /// A scalar.
    Scalar(Scalar),
    /// Text.
    Str(String),
    /// A closure with the values around it.
    Closure(Rc<Closure>),
    /// Memory, inside of a function.
    Storage(Storage),
    /// A tensor in memory, inside of a function.
    Placed(Rc<Placed>),
}

/// A function of a graph function, with the values that it captures.
pub struct Closure {
    pub(super) func: Function,
    pub(super) around: Vec<Outer>,
    /// The value that the closure is in the function around. It may call itself.
    pub(super) own: Option<ValueId>,
    /// Values that follow the arguments of a call.
    pub(super) bound: Vec<Value>,
}

impl std::fmt::Debug for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Tensor(tensor) => tensor.fmt(f),
            Self::Tuple(items) => f.debug_list().entries(items).finish(),
            Self::Shape(dims) => write!(f, "Shape({dims:?})"),
            Self::Scalar(value) => value.fmt(f),
            Self::Str(text) => text.fmt(f),
            Self::Closure(closure) => write!(f, "Closure({})", closure.func.name),
            Self::Storage(_) => f.write_str("Storage"),
            Self::Placed(_) => f.write_str("Placed"),
        }
    }
}

/// A packed function in destination-passing style: the tensors are its inputs, then its outputs.
pub type Packed<'a> = &'a dyn Fn(&mut [Tensor]) -> Result<(), String>;

/// Runs a graph function of the module.
///
/// # Errors
/// If an argument does not fit its parameter, a function called is neither in the module nor in `packed`, or the program does
/// something that has no meaning.
pub fn run_module(
    module: &Module,
    func: &str,
    args: &[Value],
    packed: &HashMap<&str, Packed<'_>>,
) -> Result<Value, InterpError> {
    let depth = Cell::new(0);
    let run = Run {
        module,
        globals: &Globals::of(module),
        packed,
        depth: &depth,
    };
    run.call_global(func, args.to_vec())
}

/// Deepest nesting of calls.
const MAX_CALLS: usize = 200;

/// What the end of a body is the end of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ends {
    /// Of its function, too.
    Function,
    /// The same, of a branch: another one ends the function without it.
    Branch,
    /// Of a value of it.
    Value,
}

/// What a body comes to.
enum Flow {
    /// Its value.
    Value(Value),
    /// A call of the function itself with these arguments, whose result is that of the function.
    Again(Vec<Value>),
}

/// The value that a body ends in, if nothing but names for it follows.
fn last_of(func: &Function, body: &Body) -> Option<ValueId> {
    let Arg::Value(mut last) = body.result else {
        return None;
    };
    let mut bindings = body.blocks.iter().flat_map(|block| &block.bindings);
    while let Some(&id) = bindings.next_back() {
        if id != last {
            return None;
        }
        match func.values[id].def {
            Def::Arg(Arg::Value(named)) => last = named,
            _ => return Some(id),
        }
    }
    None
}

/// Values of one call.
#[derive(Clone, Default)]
pub(super) struct Frame {
    pub(super) values: HashMap<ValueId, Value>,
    pub(super) dims: HashMap<crate::ir::Var, Scalar>,
}

/// A function around a closure.
#[derive(Clone)]
pub(super) struct Outer {
    /// Its values when the closure was made.
    pub(super) frame: Frame,
    /// What is known of them.
    known: Rc<Arena<ValueId, graph::Value>>,
}

pub(super) struct Run<'a> {
    pub(super) module: &'a Module,
    globals: &'a Globals,
    pub(super) packed: &'a HashMap<&'a str, Packed<'a>>,
    /// Calls that are under way.
    depth: &'a Cell<usize>,
}

impl Run<'_> {
    fn call_global(&self, name: &str, args: Vec<Value>) -> Result<Value, InterpError> {
        let func = self.module.function(name).ok_or_else(|| unknown(name))?;
        self.call(func, args, &[])
    }

    pub(super) fn call(
        &self,
        func: &Function,
        args: Vec<Value>,
        around: &[Outer],
    ) -> Result<Value, InterpError> {
        let mut frame = self.enter(func, args, around)?;
        if self.depth.get() == MAX_CALLS {
            return Err(InterpError::Recursion(MAX_CALLS));
        }
        self.depth.set(self.depth.get() + 1);
        let result = loop {
            match self.body(func, &func.body, &mut frame, around, Ends::Function) {
                Ok(Flow::Value(value)) => break Ok(value),
                Ok(Flow::Again(args)) => match self.enter(func, args, around) {
                    Ok(next) => frame = next,
                    Err(error) => break Err(error),
                },
                Err(error) => break Err(error),
            }
        };
        self.depth.set(self.depth.get() - 1);
        let result = result?.settled()?;
        self.match_info(&func.name, "result", &func.ret, &result, &mut frame)?;
        Ok(result)
    }

    /// The values at the start of a call.
    #[inline(never)]
    fn enter(
        &self,
        func: &Function,
        args: Vec<Value>,
        around: &[Outer],
    ) -> Result<Frame, InterpError> {
        if func.params.len() != args.len() {
            let (expected, got) = (func.params.len(), args.len());
            return Err(InterpError::ArgumentCount {
                func: func.name.clone(),
                expected,
                got,
            });
        }
        let mut frame = Frame::default();
        if let Some(outer) = around.last() {
            frame.dims = outer.frame.dims.clone();
        }
        for (param, value) in func.params.iter().zip(args) {
            let value = value.settled()?;
            let info = &func.values[*param];
            self.match_info(&func.name, &info.name, &info.sinfo, &value, &mut frame)?;
            frame.values.insert(*param, value);
        }
        Ok(frame)
    }

    fn body(
        &self,
        func: &Function,
        body: &Body,
        frame: &mut Frame,
        around: &[Outer],
        ends: Ends,
    ) -> Result<Flow, InterpError> {
        let last = match ends {
            Ends::Function | Ends::Branch => last_of(func, body),
            Ends::Value => None,
        };
        for id in body.blocks.iter().flat_map(|block| &block.bindings) {
            let flow = match last == Some(*id) {
                true => self.define_last(func, *id, frame, around, ends),
                false => self.define(func, *id, frame, around).map(Flow::Value),
            };
            match flow.map_err(|error| error.from(&func.values[*id].origin))? {
                Flow::Value(value) => frame.values.insert(*id, value),
                again @ Flow::Again(_) => return Ok(again),
            };
        }
        let result = self.arg(func, &body.result, frame, around)?;
        Ok(Flow::Value(result))
    }

    /// The value that a function gives back. A call of the function itself in a branch starts it anew: loops that are written as
    /// recursion need no stack. Outside of branches such a call never ends, which the depth of calls shows.
    fn define_last(
        &self,
        func: &Function,
        id: ValueId,
        frame: &mut Frame,
        around: &[Outer],
        ends: Ends,
    ) -> Result<Flow, InterpError> {
        if let Def::If {
            cond,
            then,
            otherwise,
        } = &func.values[id].def
        {
            let taken = match self.truth(func, id, cond, frame, around)? {
                true => then,
                false => otherwise,
            };
            return self.body(func, taken, frame, around, Ends::Branch);
        }
        let again = match ends {
            Ends::Branch => self.own_call(func, id, frame, around)?,
            Ends::Function | Ends::Value => None,
        };
        match again {
            Some(args) => Ok(Flow::Again(args)),
            None => self.define(func, id, frame, around).map(Flow::Value),
        }
    }

    /// The arguments of a call of the function that is running.
    #[inline(never)]
    fn own_call(
        &self,
        func: &Function,
        id: ValueId,
        frame: &Frame,
        around: &[Outer],
    ) -> Result<Option<Vec<Value>>, InterpError> {
        let Def::Call { callee, args, .. } = &func.values[id].def else {
            return Ok(None);
        };
        let bound = match callee {
            Callee::Global(name) => match self.module.function(name) {
                Some(callee) if std::ptr::eq(callee, func) => vec![],
                _ => return Ok(None),
            },
            Callee::Value(callee) => match self.arg(func, &Arg::Value(*callee), frame, around)? {
                Value::Closure(closure) if std::ptr::eq(&closure.func, func) => {
                    closure.bound.clone()
                }
                _ => return Ok(None),
            },
            Callee::Op(_) | Callee::Packed(_) | Callee::PurePacked(_) => return Ok(None),
        };
        let mut args = self.args(func, args, frame, around)?;
        args.extend(bound);
        Ok(Some(args))
    }

    /// A value. Branches and calls, which nest, take little of the stack: what other definitions need of it is in
    /// [`Self::define_plain`].
    fn define(
        &self,
        func: &Function,
        id: ValueId,
        frame: &mut Frame,
        around: &[Outer],
    ) -> Result<Value, InterpError> {
        match &func.values[id].def {
            Def::If {
                cond,
                then,
                otherwise,
            } => {
                let taken = match self.truth(func, id, cond, frame, around)? {
                    true => then,
                    false => otherwise,
                };
                match self.body(func, taken, frame, around, Ends::Value)? {
                    Flow::Value(value) => Ok(value),
                    Flow::Again(_) => unreachable!("the function goes on after this branch"),
                }
            }
            Def::Call {
                callee: Callee::Global(name),
                args,
                ..
            } if let Some(program) = self.module.prim_func(name) => {
                self.call_writing(func, &Writer::Program(program), args, frame, around)
            }
            Def::Call {
                callee: Callee::Global(name),
                args,
                ..
            } => self.call_global(name, self.args(func, args, frame, around)?),
            Def::Call {
                callee: Callee::Value(callee),
                args,
                ..
            } => {
                let args = self.args(func, args, frame, around)?;
                let closure = self.arg(func, &Arg::Value(*callee), frame, around)?;
                self.call_closure(&closure, args)
            }
            Def::Call {
                callee: Callee::Op(op),
                args,
                ..
            } if op::machine(*op) == Some(MachineOp::InvokeClosure) => {
                match self.args(func, args, frame, around)?.as_mut_slice() {
                    [closure, Value::Tuple(args)] => {
                        self.call_closure(closure, std::mem::take(args))
                    }
                    _ => Err(InterpError::WrongKind {
                        value: func.values[id].name.clone(),
                        expected: "a closure and a tuple",
                    }),
                }
            }
            _ => self.define_plain(func, id, frame, around),
        }
    }

    /// The condition of a branch.
    #[inline(never)]
    fn truth(
        &self,
        func: &Function,
        id: ValueId,
        cond: &Arg,
        frame: &Frame,
        around: &[Outer],
    ) -> Result<bool, InterpError> {
        match self.arg(func, cond, frame, around)?.settled()? {
            Value::Tensor(t) if t.len() == 1 => Ok(t.bytes().iter().any(|&b| b != 0)),
            Value::Scalar(v) => Ok(v.is_true()),
            _ => Err(InterpError::WrongKind {
                value: func.values[id].name.clone(),
                expected: "a scalar condition",
            }),
        }
    }

    /// A value that no branch and no call of a function of the module computes.
    #[inline(never)]
    fn define_plain(
        &self,
        func: &Function,
        id: ValueId,
        frame: &mut Frame,
        around: &[Outer],
    ) -> Result<Value, InterpError> {
        let info = &func.values[id];
        match &info.def {
            Def::Param => Err(InterpError::UnboundVar {
                name: info.name.clone(),
            }),
            Def::Arg(arg) => self.arg(func, arg, frame, around),
            Def::TupleItem(arg, index) => match self.arg(func, arg, frame, around)? {
                Value::Tuple(items) if *index < items.len() => Ok(items[*index].clone()),
                _ => Err(InterpError::WrongKind {
                    value: info.name.clone(),
                    expected: "an element of a tuple",
                }),
            },
            Def::CallDps {
                callee,
                args,
                tir_vars,
                inplace,
                out,
            } => {
                let args = self.args(func, args, frame, around)?.into_iter();
                let args = args.map(Value::settled).collect::<Result<Vec<_>, _>>()?;
                let scalars = tir_vars
                    .iter()
                    .map(|e| eval(e, frame))
                    .collect::<Result<Vec<_>, _>>()?;
                self.call_dps(callee, args, &scalars, inplace.as_deref(), out, frame)
            }
            Def::Call {
                callee,
                args,
                attrs,
                sinfo_args: _,
            } => {
                if let Callee::Op(op) = callee {
                    match op::machine(*op) {
                        Some(MachineOp::CallProgram) => {
                            return self.call_program_op(func, args, frame, around);
                        }
                        Some(
                            memory @ (MachineOp::Alloc
                            | MachineOp::AllocStorage
                            | MachineOp::AllocTensor
                            | MachineOp::Kill),
                        ) => return self.memory_op(func, memory, args, frame, around),
                        Some(MachineOp::CallBuiltin) => {
                            return self.alloc_shape_heap(func, args, frame, around);
                        }
                        Some(MachineOp::Null) => return Ok(Value::Tuple(vec![])),
                        _ => {}
                    }
                }
                if let Callee::Packed(name) = callee
                    && let Some(packed) = self.packed.get(name.as_str())
                {
                    let callee = Writer::Packed(name, *packed);
                    return self.call_writing(func, &callee, args, frame, around);
                }
                if let Callee::Packed(name) | Callee::PurePacked(name) = callee
                    && let Some(builtin) = ShapeBuiltin::named(name)
                {
                    return self.shape_builtin(func, builtin, args, frame, around);
                }
                let values = self.args(func, args, frame, around)?.into_iter();
                let values = values.map(Value::settled).collect::<Result<Vec<_>, _>>()?;
                match callee {
                    Callee::Op(op) if op::machine(*op) == Some(MachineOp::MakeClosure) => {
                        make_closure(&info.name, &values)
                    }
                    Callee::Op(op) => {
                        self.check_obligations(func, *op, (args, &values), attrs, frame, around)?;
                        op::call(*op, args, &values, &attrs_in(attrs, frame)?)
                    }
                    // Packed functions that were given are in destination-passing style; those of the host return their result.
                    Callee::Packed(name) | Callee::PurePacked(name) => {
                        op::run_host(name, &values, &[])
                    }
                    Callee::Global(_) | Callee::Value(_) => {
                        unreachable!("`define` calls functions of the module")
                    }
                }
            }
            Def::MatchCast(arg, sinfo) => {
                let value = self.arg(func, arg, frame, around)?;
                let now = value.clone().settled()?;
                self.match_info(&func.name, &info.name, sinfo, &now, frame)?;
                Ok(value)
            }
            Def::If { .. } => unreachable!("`define` runs branches"),
            Def::Function(inner) => {
                let mut around = around.to_vec();
                around.push(Outer {
                    frame: frame.clone(),
                    known: Rc::new(func.values.clone()),
                });
                Ok(Value::Closure(Rc::new(Closure {
                    func: (**inner).clone(),
                    around,
                    own: Some(id),
                    bound: vec![],
                })))
            }
        }
    }

    /// Checks what an operator asks of symbolic extents. It asks for what its operands are known to be, not for the numbers that
    /// they turn out to be: an extent broadcasts if it is written as 1. Extents of which nothing is known get names, as
    /// `legalize_ops` gives them, where loops compute the operator.
    fn check_obligations(
        &self,
        func: &Function,
        op: Op,
        (args, values): (&[Arg], &[Value]),
        attrs: &Attrs,
        frame: &mut Frame,
        around: &[Outer],
    ) -> Result<(), InterpError> {
        let mut frames: Vec<_> = around.iter().map(|outer| &*outer.known).collect();
        frames.push(&func.values);
        let scope = Scope {
            globals: self.globals,
            frames,
        };
        let mut operands: Vec<_> = args.iter().map(|arg| scope.arg(arg)).collect();
        if matches!(ops::def(op).compute, Compute::Kernel(_)) {
            for (operand, value) in operands.iter_mut().zip(values) {
                if let Some(info) = named(operand) {
                    self.match_info(&func.name, op.name(), &info, value, frame)?;
                    *operand = info;
                }
            }
        }
        let obligations = Obligations::default();
        let call = OpCall::new(op, args, &operands, attrs).noting(&obligations);
        let failed = |error: InferError| InterpError::Operator(Box::new(error.into()));
        call.infer().map_err(failed)?;
        for obligation in obligations.take() {
            let given = eval(&obligation.given, frame)?.as_int();
            let expected = eval(&obligation.expected, frame)?.as_int();
            if given != expected {
                return Err(InterpError::Obligation {
                    op,
                    obligation,
                    given,
                    expected,
                });
            }
        }
        Ok(())
    }

    #[inline(never)]
    pub(super) fn args(
        &self,
        func: &Function,
        args: &[Arg],
        frame: &Frame,
        around: &[Outer],
    ) -> Result<Vec<Value>, InterpError> {
        args.iter()
            .map(|a| self.arg(func, a, frame, around))
            .collect()
    }

    #[inline(never)]
    pub(super) fn arg(
        &self,
        func: &Function,
        arg: &Arg,
        frame: &Frame,
        around: &[Outer],
    ) -> Result<Value, InterpError> {
        let missing = |id: &ValueId| InterpError::UnboundVar {
            name: func.values[*id].name.clone(),
        };
        match arg {
            Arg::Value(id) => frame.values.get(id).cloned().ok_or_else(|| missing(id)),
            Arg::Captured { depth, value } => around
                .len()
                .checked_sub(*depth)
                .and_then(|at| around[at].frame.values.get(value).cloned())
                .ok_or_else(|| InterpError::UnboundVar {
                    name: value.to_string(),
                }),
            Arg::Const(tensor) => Ok(Value::Tensor(tensor.clone())),
            Arg::Omitted(index) => Err(InterpError::OmittedConstant {
                func: func.name.clone(),
                index: *index,
            }),
            Arg::Tuple(items) => Ok(Value::Tuple(self.args(func, items, frame, around)?)),
            Arg::Shape(dims) => Ok(Value::Shape(
                dims.iter()
                    .map(|d| Ok(eval(d, frame)?.as_int()))
                    .collect::<Result<_, InterpError>>()?,
            )),
            Arg::Prim(e) => Ok(Value::Scalar(eval(e, frame)?)),
            Arg::Str(text) => Ok(Value::Str(text.clone())),
            Arg::DType(dtype) => Ok(Value::Str(dtype.to_string())),
            Arg::Global(name) if let Some(func) = self.module.function(name) => {
                Ok(Value::Closure(Rc::new(Closure {
                    func: func.clone(),
                    around: vec![],
                    own: None,
                    bound: vec![],
                })))
            }
            Arg::Global(name) | Arg::Extern(name) => Ok(Value::Str(name.clone())),
        }
    }
}

pub(super) fn eval(e: &Expr, frame: &Frame) -> Result<Scalar, InterpError> {
    let mut env = Env::default();
    env.vars.clone_from(&frame.dims);
    env.scalar(e)
}

/// Attributes with their expressions evaluated.
fn attrs_in(attrs: &Attrs, frame: &Frame) -> Result<Attrs, InterpError> {
    let mut failed = None;
    let attrs = attrs.iter().map(|(name, value)| {
        let value = value.map_exprs(&mut |e| match eval(e, frame) {
            Ok(Scalar::Int(v)) => Expr::constant(v, e.dtype()),
            Ok(Scalar::Float(v)) => Expr::float(v, e.dtype()),
            Err(error) => {
                failed = Some(error);
                e.clone()
            }
        });
        (name.clone(), value)
    });
    let attrs = attrs.collect();
    match failed {
        Some(error) => Err(error),
        None => Ok(attrs),
    }
}

pub(super) fn unknown(name: &str) -> InterpError {
    InterpError::UnknownFunction {
        name: name.to_owned(),
    }
}
