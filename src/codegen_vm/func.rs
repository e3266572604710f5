//! One graph function to bytecode.

use std::collections::{HashMap, HashSet};

use super::assemble::{Assembler, End};
use super::closure::Unit;
use super::error::{GraphError, GraphProblem};
use super::operand::Bound;
use super::pool::Pool;
use super::shapes::Slots;
use crate::artifact::{Builtin, Operand, Reg};
use crate::ir::graph::{Arg, Body, Def, Function, ValueId};
use crate::kernel::Target;
use crate::support::Id;

/// Compiles one function into the pool.
pub(super) fn compile_function(pool: &mut Pool<'_>, unit: &Unit) -> Result<(), GraphError> {
    let function = &unit.function;
    let taken = unit.captured.len() + unit.dims.len();
    let gpu = matches!(pool.exec.target, Target::Gpu(_));
    let compiler = Compiler {
        pool,
        unit,
        function,
        gpu,
        asm: Assembler::default(),
        slots: Slots::default(),
        bound: HashMap::new(),
        used: used(function),
        host: HashSet::new(),
        keeps: HashSet::new(),
        regs: function.params.len() + taken + 1,
        heap: Reg::from_index(function.params.len() + taken),
        shape_func: 0,
    };
    compiler.function()
}

pub(super) struct Compiler<'a, 'm> {
    pub(super) pool: &'a mut Pool<'m>,
    pub(super) unit: &'a Unit,
    pub(super) function: &'a Function,
    pub(super) gpu: bool,
    pub(super) asm: Assembler,
    pub(super) slots: Slots,
    pub(super) bound: HashMap<ValueId, Bound>,
    /// Values that something uses.
    pub(super) used: HashSet<ValueId>,
    /// Registers of storages in host memory, and of tensors in them.
    pub(super) host: HashSet<Reg>,
    /// Registers that the machine keeps filled from call to call.
    pub(super) keeps: HashSet<Reg>,
    /// How many there are.
    pub(super) regs: usize,
    pub(super) heap: Reg,
    /// The shape function that computes dimensions here.
    pub(super) shape_func: usize,
}

impl Compiler<'_, '_> {
    fn function(mut self) -> Result<(), GraphError> {
        self.asm.heap(self.heap);
        self.params()?;
        let body = &self.function.body;
        self.body(body)?;
        let result = self.arg(&body.result, body_end(self.function))?;
        let result = self.in_register(result);
        self.check_result(Operand::Reg(result))?;
        self.asm.ret(result);
        let params = self.function.params.iter();
        let mut params: Vec<String> = params
            .map(|&param| self.function.values[param].name.clone())
            .collect();
        let captured = (0..self.unit.captured.len()).map(|at| format!("captured{at}"));
        params.extend(captured);
        params.extend(self.unit.dims.iter().map(|dim| dim.name().to_owned()));
        self.asm.finish(
            self.pool,
            &End {
                name: &self.unit.name,
                params: &params,
                num_regs: self.regs as u32,
                slots: &self.slots,
                heap: self.heap,
            },
        );
        Ok(())
    }

    pub(super) fn reg(&mut self) -> Reg {
        self.regs += 1;
        Reg::from_index(self.regs - 1)
    }

    pub(super) fn error(&self, value: ValueId, problem: GraphProblem) -> GraphError {
        GraphError {
            func: self.function.name.clone(),
            binding: self.function.values[value].name.clone(),
            problem,
            origin: self.function.values[value].origin.clone(),
        }
    }

    /// Calls a builtin into a new register.
    pub(super) fn builtin(&mut self, builtin: Builtin, args: Vec<Operand>) -> Reg {
        let dst = self.reg();
        let callee = self.pool.builtin(builtin);
        self.asm.call(Some(dst), callee, args);
        dst
    }

    fn params(&mut self) -> Result<(), GraphError> {
        let params = self.function.params.clone();
        for (index, &param) in params.iter().enumerate() {
            let operand = Operand::Reg(Reg::from_index(index));
            self.bound.insert(param, Bound::At(operand));
        }
        self.take_dims();
        let mut later = Vec::new();
        for (index, &param) in params.iter().enumerate() {
            let sinfo = self.function.values[param].sinfo.clone();
            let name = self.function.values[param].name.clone();
            let location = format!("param[{index}]");
            self.check(
                Operand::Reg(Reg::from_index(index)),
                &sinfo,
                &name,
                &location,
                &mut later,
            );
        }
        self.match_all(later, params.first().copied())
    }

    fn body(&mut self, body: &Body) -> Result<(), GraphError> {
        for &value in body.blocks.iter().flat_map(|block| &block.bindings) {
            self.binding(value)?;
        }
        Ok(())
    }

    fn binding(&mut self, value: ValueId) -> Result<(), GraphError> {
        self.asm.origin(&self.function.values[value].origin);
        let bound = match &self.function.values[value].def {
            Def::Param => return Ok(()),
            Def::Arg(arg) => self.arg(arg, value)?,
            Def::TupleItem(arg, index) => {
                let tuple = self.arg(arg, value)?;
                self.item(&tuple, *index)
            }
            Def::CallDps { .. } => return Err(self.error(value, GraphProblem::Unplanned)),
            Def::Call {
                callee,
                args,
                attrs: _,
                sinfo_args: _,
            } => self.call(value, callee, args)?,
            Def::MatchCast(arg, sinfo) => {
                let bound = self.arg(arg, value)?;
                let reg = self.in_register(bound.clone());
                let mut later = Vec::new();
                let name = &self.function.values[value].name;
                self.check(Operand::Reg(reg), sinfo, name, "match_cast", &mut later);
                self.match_all(later, Some(value))?;
                bound
            }
            Def::If {
                cond,
                then,
                otherwise,
            } => self.branch(value, cond, then, otherwise)?,
            Def::Function(inner) => self.closure(value, inner)?,
        };
        self.bound.insert(value, bound);
        Ok(())
    }

    fn branch(
        &mut self,
        value: ValueId,
        cond: &Arg,
        then: &Body,
        otherwise: &Body,
    ) -> Result<Bound, GraphError> {
        let cond = self.arg(cond, value)?;
        let mut cond = self.operand(cond);
        if self.gpu {
            cond = self.copy_to_host(cond);
        }
        let cond = self.builtin(Builtin::ReadIfCond, vec![cond]);
        let result = self.reg();
        let (other, end) = (self.asm.label(), self.asm.label());
        self.asm.branch(cond, other);
        self.side(value, then, result)?;
        self.asm.goto(end);
        self.asm.place(other);
        self.side(value, otherwise, result)?;
        self.asm.place(end);
        Ok(Bound::At(Operand::Reg(result)))
    }

    /// One side of a branch, which leaves its value in the register.
    fn side(&mut self, value: ValueId, body: &Body, result: Reg) -> Result<(), GraphError> {
        let shape_func = self.shape_func;
        self.body(body)?;
        let bound = self.arg(&body.result, value)?;
        let operand = self.operand(bound);
        let copy = self.pool.builtin(Builtin::Copy);
        self.asm.call(Some(result), copy, vec![operand]);
        self.shape_func = shape_func;
        Ok(())
    }
}

/// The values of a function that something in it uses.
fn used(function: &Function) -> HashSet<ValueId> {
    let mut used: HashSet<ValueId> = function.body.result.values().into_iter().collect();
    let values = function.values.iter();
    used.extend(values.flat_map(|(_, value)| value.def.used_values()));
    used
}

/// A value to blame for what is wrong with the result of a function.
fn body_end(function: &Function) -> ValueId {
    let mut bindings = function.body.blocks.iter().flat_map(|b| &b.bindings);
    let last = bindings.next_back().or(function.params.last());
    last.copied().unwrap_or(Id::from_index(0))
}
