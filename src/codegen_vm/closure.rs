//! Closures: a function inside of another one is a bytecode function of its own, which takes what it uses of the functions around
//! it after its parameters.

use super::error::{GraphError, GraphProblem};
use super::func::Compiler;
use super::operand::Bound;
use crate::artifact::{Builtin, Callee, Operand, Reg};
use crate::ir::graph::{Arg, Def, Function, Op, ValueId};
use crate::support::Id;

/// A value of a function around, `depth` functions out.
pub(super) type Captured = (usize, ValueId);

/// A graph function to be compiled, with what it takes from outside.
#[derive(Clone, Debug)]
pub(super) struct Unit {
    /// Names of the functions around and of this one, with dots between.
    pub(super) name: String,
    pub(super) function: Function,
    /// Values of the functions around, passed after the parameters.
    pub(super) captured: Vec<Captured>,
    /// For a closure: its number, and the value that it is in the function around. It may call itself.
    pub(super) own: Option<(u32, ValueId)>,
}

impl Unit {
    /// A function of the module.
    pub(super) fn of(function: &Function) -> Self {
        Self {
            name: function.name.clone(),
            function: function.clone(),
            captured: vec![],
            own: None,
        }
    }
}

/// What a function, which is the value `own` in the one around it, uses of the functions around, each value once.
pub(super) fn captured(function: &Function, own: ValueId) -> Vec<Captured> {
    let mut out = Vec::new();
    let mut add = |(depth, value): Captured| {
        if (depth, value) != (1, own) && !out.contains(&(depth, value)) {
            out.push((depth, value));
        }
    };
    for arg in function.args() {
        arg.walk(&mut |leaf| {
            if let Arg::Captured { depth, value } = leaf {
                add((*depth, *value));
            }
        });
    }
    for (id, value) in function.values.iter() {
        if let Def::Function(inner) = &value.def {
            let outer = captured(inner, id).into_iter();
            outer
                .filter(|(depth, _)| *depth > 1)
                .for_each(|(depth, value)| add((depth - 1, value)));
        }
    }
    out
}

impl Compiler<'_, '_> {
    /// The closure that a function inside of this one is.
    pub(super) fn closure(
        &mut self,
        value: ValueId,
        inner: &Function,
    ) -> Result<Bound, GraphError> {
        let captured = captured(inner, value);
        let name = format!("{}.{}", self.unit.name, inner.name);
        let index = self.pool.enqueue(|index| Unit {
            name,
            function: inner.clone(),
            captured: captured.clone(),
            own: Some((index, value)),
        });
        let mut operands = Vec::new();
        for (depth, id) in captured {
            let arg = match depth {
                1 => Arg::Value(id),
                _ => Arg::Captured {
                    depth: depth - 1,
                    value: id,
                },
            };
            let bound = self.arg(&arg, value)?;
            operands.push(self.operand(bound));
        }
        Ok(self.make_closure(index, operands))
    }

    /// A function of the module as a value.
    pub(super) fn function_value(&mut self, name: &str, at: ValueId) -> Result<Bound, GraphError> {
        match self.pool.function(name) {
            Some(index) => Ok(self.make_closure(index, vec![])),
            None => {
                let (kind, name) = ("graph function", name.to_owned());
                Err(self.error(at, GraphProblem::UnknownFunction { kind, name }))
            }
        }
    }

    /// A value of a function around this one.
    pub(super) fn captured(
        &mut self,
        depth: usize,
        value: ValueId,
        at: ValueId,
    ) -> Result<Bound, GraphError> {
        let first = self.function.params.len();
        if let Some((index, own)) = self.unit.own
            && (depth, value) == (1, own)
        {
            // This closure itself: the same function with the same values.
            let count = self.unit.captured.len();
            let operands = (first..first + count).map(|reg| Operand::Reg(Reg::from_index(reg)));
            return Ok(self.make_closure(index, operands.collect()));
        }
        let position = self.unit.captured.iter().position(|c| *c == (depth, value));
        match position {
            Some(position) => Ok(Bound::At(Operand::Reg(Reg::from_index(first + position)))),
            None => Err(self.error(
                at,
                GraphProblem::Unsupported("a value of no function around"),
            )),
        }
    }

    fn make_closure(&mut self, index: u32, captured: Vec<Operand>) -> Bound {
        let callee = self.pool.callee(Callee::Function(index));
        let mut operands = vec![Operand::Func(callee)];
        operands.extend(captured);
        Bound::At(Operand::Reg(self.builtin(Builtin::MakeClosure, operands)))
    }

    /// A function of the module with values that follow its arguments (`R.make_closure`).
    pub(super) fn bound_function(
        &mut self,
        value: ValueId,
        op: Op,
        args: &[Arg],
    ) -> Result<Bound, GraphError> {
        let [Arg::Global(name), Arg::Tuple(captured)] = args else {
            let why = "it binds arguments of something else than a function of the module";
            return Err(self.error(value, GraphProblem::Operator { op, why }));
        };
        let Some(index) = self.pool.function(name) else {
            let (kind, name) = ("graph function", name.clone());
            return Err(self.error(value, GraphProblem::UnknownFunction { kind, name }));
        };
        let mut operands = vec![];
        for arg in captured {
            let bound = self.arg(arg, value)?;
            operands.push(self.operand(bound));
        }
        Ok(self.make_closure(index, operands))
    }

    /// A call of a closure.
    pub(super) fn call_closure(
        &mut self,
        value: ValueId,
        closure: &Arg,
        args: &[Arg],
    ) -> Result<Bound, GraphError> {
        let closure = self.arg(closure, value)?;
        let mut operands = vec![self.operand(closure)];
        for arg in args {
            let bound = self.arg(arg, value)?;
            operands.push(self.operand(bound));
        }
        let result = self.builtin(Builtin::InvokeClosure, operands);
        Ok(Bound::At(Operand::Reg(result)))
    }
}
