//! One graph function to bytecode.

use std::collections::{HashMap, HashSet};

use super::assemble::{Assembler, End};
use super::closure::Unit;
use super::error::{GraphError, GraphProblem};
use super::operand::Bound;
use super::pool::Pool;
use super::shape_builtin::ShapeHeap;
use crate::artifact::{Builtin, Operand, Reg};
use crate::ir::graph::{Arg, Body, Callee, Def, Function, ValueId};
use crate::ir::{Origin, StructInfo};
use crate::kernel::Target;
use crate::ops::{self, Compute, MachineOp};
use crate::support::Id;

/// Compiles one function into the pool.
pub(super) fn compile_function(pool: &mut Pool<'_>, unit: &Unit) -> Result<(), GraphError> {
    let function = &unit.function;
    let gpu = matches!(pool.exec.target, Target::Gpu(_));
    let compiler = Compiler {
        pool,
        unit,
        function,
        gpu,
        asm: Assembler::default(),
        heap: None,
        sizes: HashMap::new(),
        bound: HashMap::new(),
        used: used(function),
        launched: launched_sizes(function),
        host: HashSet::new(),
        keeps: HashSet::new(),
        regs: function.params.len() + unit.captured.len(),
    };
    compiler.function()
}

pub(super) struct Compiler<'a, 'm> {
    pub(super) pool: &'a mut Pool<'m>,
    pub(super) unit: &'a Unit,
    pub(super) function: &'a Function,
    pub(super) gpu: bool,
    pub(super) asm: Assembler,
    /// The shape heap, when it is there.
    pub(super) heap: Option<ShapeHeap>,
    /// By shape that launches take: its dimensions.
    pub(super) sizes: HashMap<ValueId, Vec<Operand>>,
    pub(super) bound: HashMap<ValueId, Bound>,
    /// Values that something uses.
    pub(super) used: HashSet<ValueId>,
    /// Shapes that launches take, and whether something else uses them, too.
    pub(super) launched: HashMap<ValueId, bool>,
    /// Registers of storages in host memory, and of tensors in them.
    pub(super) host: HashSet<Reg>,
    /// Registers that the machine keeps filled from call to call.
    pub(super) keeps: HashSet<Reg>,
    /// How many there are.
    pub(super) regs: usize,
}

impl Compiler<'_, '_> {
    fn function(mut self) -> Result<(), GraphError> {
        for (index, &param) in self.function.params.iter().enumerate() {
            let operand = Operand::Reg(Reg::from_index(index));
            self.bound.insert(param, Bound::At(operand));
        }
        let body = &self.function.body;
        self.body(body)?;
        self.asm.origin(&Origin::Unknown);
        let result = self.arg(&body.result, body_end(self.function))?;
        let result = self.in_register(result);
        self.asm.ret(result);
        let params = self.function.params.iter();
        let mut params: Vec<String> = params
            .map(|&param| self.function.values[param].name.clone())
            .collect();
        let captured = (0..self.unit.captured.len()).map(|at| format!("captured{at}"));
        params.extend(captured);
        self.asm.finish(
            self.pool,
            &End {
                name: &self.unit.name,
                params: &params,
                num_regs: self.regs as u32,
                num_slots: self.heap.as_ref().map_or(0, |heap| heap.used),
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
            // What a `match_cast` says is checked before it.
            Def::Arg(arg) | Def::MatchCast(arg, _) => {
                if let Arg::Value(shape) = arg
                    && let Some(sizes) = self.sizes.get(shape).cloned()
                {
                    self.sizes.insert(value, sizes);
                }
                self.arg(arg, value)?
            }
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
        self.body(body)?;
        let bound = self.arg(&body.result, value)?;
        let operand = self.operand(bound);
        let copy = self.pool.builtin(Builtin::Copy);
        self.asm.call(Some(result), copy, vec![operand]);
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

/// Shapes among the arguments that loop programs are called with, and whether something else uses them, too.
fn launched_sizes(function: &Function) -> HashMap<ValueId, bool> {
    let mut launched = HashMap::new();
    let mut others: HashSet<ValueId> = function.body.result.values().into_iter().collect();
    function.for_each_binding(&mut |_, value| match &value.def {
        Def::Call {
            callee: Callee::Op(op),
            args,
            ..
        } if matches!(
            ops::def(*op).compute,
            Compute::Machine(MachineOp::CallProgram)
        ) =>
        {
            for id in args.iter().flat_map(Arg::values) {
                if matches!(function.values[id].sinfo, StructInfo::Shape(_)) {
                    launched.insert(id, false);
                }
            }
        }
        def => others.extend(def.used_values()),
    });
    for (id, elsewhere) in &mut launched {
        *elsewhere = others.contains(id);
    }
    launched
}

/// A value to blame for what is wrong with the result of a function.
fn body_end(function: &Function) -> ValueId {
    let mut bindings = function.body.blocks.iter().flat_map(|b| &b.bindings);
    let last = bindings.next_back().or(function.params.last());
    last.copied().unwrap_or(Id::from_index(0))
}
