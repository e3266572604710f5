//! One graph function to bytecode.

use std::collections::HashMap;

use super::assemble::{Assembler, End};
use super::error::{GraphError, GraphProblem};
use super::liveness::Liveness;
use super::pool::Pool;
use super::shapes::{Dim, Slots};
use super::storage::{Shared, Size, StoragePlan};
use crate::artifact::{Builtin, Callee, Constant, Operand, Place, shape_code};
use crate::ir::graph::{Arg, Body, Callee as GraphCallee, Def, DpsCallee, Function, ValueId};
use crate::ir::{Expr, ShapeInfo, StructInfo, TensorInfo};
use crate::kernel::Target;
use crate::script::print_expr;
use crate::tensor::DType;

/// A value at compile time: where it is at run time, tuples by their parts.
#[derive(Clone, Debug)]
pub(super) enum Bound {
    /// In a register or the constant pool, or an integer.
    At(Operand),
    /// A tuple that exists only if something asks for it whole.
    Tuple(Vec<Bound>),
}

/// Compiles one function into the pool.
pub(super) fn compile_function(pool: &mut Pool, function: &Function) -> Result<(), GraphError> {
    let gpu = matches!(pool.exec.target, Target::Gpu(_));
    let mut compiler = Compiler {
        pool,
        function,
        gpu,
        asm: Assembler::default(),
        slots: Slots::default(),
        storages: StoragePlan::default(),
        storage_funcs: vec![],
        live: Liveness::of(function),
        bound: HashMap::new(),
        owned: HashMap::new(),
        regs: function.params.len() as u32,
        heap: 0,
        shape_func: 0,
    };
    compiler.heap = compiler.reg();
    compiler.function()
}

pub(super) struct Compiler<'a> {
    pub(super) pool: &'a mut Pool,
    pub(super) function: &'a Function,
    gpu: bool,
    pub(super) asm: Assembler,
    pub(super) slots: Slots,
    storages: StoragePlan,
    /// By storage: the shape function that computes its size.
    storage_funcs: Vec<usize>,
    live: Liveness,
    bound: HashMap<ValueId, Bound>,
    /// By value: the storages that hold its tensors.
    owned: HashMap<ValueId, Vec<usize>>,
    regs: u32,
    pub(super) heap: u32,
    /// The shape function that computes dimensions here.
    pub(super) shape_func: usize,
}

impl Compiler<'_> {
    fn function(mut self) -> Result<(), GraphError> {
        self.asm.heap(self.heap);
        self.params()?;
        let body = &self.function.body;
        self.body(body)?;
        let result = self.arg(&body.result, body_end(self.function))?;
        let result = self.in_register(result);
        self.asm.ret(result);
        let mut sizes = Vec::new();
        for (storage, func) in self.storages.all.iter().zip(&self.storage_funcs) {
            let size = self.slots.dim(&storage.size.expr(), *func);
            sizes.push(size.map_err(|problem| GraphError {
                func: self.function.name.clone(),
                binding: "memory plan".to_owned(),
                problem,
            })?);
        }
        let params = self.function.params.iter();
        let params: Vec<String> = params
            .map(|&param| self.function.values[param].name.clone())
            .collect();
        self.asm.finish(
            self.pool,
            &End {
                name: &self.function.name,
                params: &params,
                num_regs: self.regs,
                slots: &self.slots,
                plan: &self.storages,
                sizes: &sizes,
                heap: self.heap,
            },
        );
        Ok(())
    }

    pub(super) fn reg(&mut self) -> u32 {
        self.regs += 1;
        self.regs - 1
    }

    pub(super) fn error(&self, value: ValueId, problem: GraphProblem) -> GraphError {
        GraphError {
            func: self.function.name.clone(),
            binding: self.function.values[value].name.clone(),
            problem,
        }
    }

    /// Calls a builtin into a new register.
    pub(super) fn builtin(&mut self, builtin: Builtin, args: Vec<Operand>) -> u32 {
        let dst = self.reg();
        let callee = self.pool.builtin(builtin);
        self.asm.call(Some(dst), callee, args);
        dst
    }

    fn params(&mut self) -> Result<(), GraphError> {
        let params = self.function.params.clone();
        for (index, &param) in params.iter().enumerate() {
            let operand = Operand::Reg(index as u32);
            self.bound.insert(param, Bound::At(operand));
        }
        let mut later = Vec::new();
        for (index, &param) in params.iter().enumerate() {
            let sinfo = self.function.values[param].sinfo.clone();
            let location = format!("param[{index}]");
            self.check(
                Operand::Reg(index as u32),
                &sinfo,
                param,
                &location,
                &mut later,
            );
        }
        self.match_all(later, params.first().copied())
    }

    fn body(&mut self, body: &Body) -> Result<(), GraphError> {
        for &value in body.blocks.iter().flat_map(|block| &block.bindings) {
            self.binding(value)?;
            self.release_dead(value);
        }
        Ok(())
    }

    /// Frees the storages of values that this binding was the last to use.
    fn release_dead(&mut self, binding: ValueId) {
        let dead = |value: &ValueId| self.live.dead_after(*value, binding);
        let mut dead: Vec<ValueId> = self.owned.keys().copied().filter(dead).collect();
        dead.sort_by_key(|value| crate::support::Id::index(*value));
        for value in dead {
            for storage in self.owned.remove(&value).unwrap_or_default() {
                self.storages.release(storage);
            }
        }
    }

    fn binding(&mut self, value: ValueId) -> Result<(), GraphError> {
        let bound = match &self.function.values[value].def {
            Def::Param => return Ok(()),
            Def::Arg(arg) => self.arg(arg, value)?,
            Def::TupleItem(arg, index) => {
                let tuple = self.arg(arg, value)?;
                self.item(&tuple, *index)
            }
            Def::CallDps {
                callee,
                args,
                tir_vars,
                inplace,
                out,
            } => self.call_dps(value, callee, args, tir_vars, inplace.as_deref(), out)?,
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
                self.check(Operand::Reg(reg), sinfo, value, "match_cast", &mut later);
                self.match_all(later, Some(value))?;
                bound
            }
            Def::If {
                cond,
                then,
                otherwise,
            } => self.branch(value, cond, then, otherwise)?,
            Def::Function(_) => {
                return Err(self.error(value, GraphProblem::Unsupported("a closure")));
            }
        };
        self.bound.insert(value, bound);
        Ok(())
    }

    /// The parts of an argument. `at` is where it is used, for errors.
    fn arg(&mut self, arg: &Arg, at: ValueId) -> Result<Bound, GraphError> {
        Ok(match arg {
            Arg::Value(value) => match self.bound.get(value) {
                Some(bound) => bound.clone(),
                None => {
                    let problem =
                        GraphProblem::Unsupported("a value that is used before it is bound");
                    return Err(self.error(at, problem));
                }
            },
            Arg::Captured { depth: _, value: _ } => {
                return Err(self.error(at, GraphProblem::Unsupported("a captured value")));
            }
            Arg::Const(tensor) => Bound::At(self.pool.constant(Constant::Tensor(tensor.clone()))),
            Arg::Tuple(items) => {
                let items = items.iter().map(|item| self.arg(item, at));
                Bound::Tuple(items.collect::<Result<_, _>>()?)
            }
            Arg::Shape(dims) => Bound::At(self.shape(dims, at)?),
            Arg::Prim(e) => Bound::At(self.prim(e, at)?),
            Arg::Str(text) => Bound::At(self.pool.constant(Constant::Str(text.clone()))),
            Arg::DType(dtype) => Bound::At(self.pool.dtype(*dtype)),
            Arg::Global(_) | Arg::Extern(_) => {
                return Err(self.error(at, GraphProblem::Unsupported("a function as a value")));
            }
        })
    }

    fn item(&mut self, tuple: &Bound, index: usize) -> Bound {
        match tuple {
            Bound::Tuple(items) if index < items.len() => items[index].clone(),
            whole => {
                let tuple = self.operand(whole.clone());
                let args = vec![tuple, Operand::Imm(index as i64)];
                Bound::At(Operand::Reg(self.builtin(Builtin::TupleGetItem, args)))
            }
        }
    }

    /// The value as one operand; a tuple is made whole.
    fn operand(&mut self, bound: Bound) -> Operand {
        match bound {
            Bound::At(operand) => operand,
            Bound::Tuple(items) => {
                let items = items.into_iter().map(|item| self.operand(item)).collect();
                Operand::Reg(self.builtin(Builtin::MakeTuple, items))
            }
        }
    }

    /// The value in a register.
    pub(super) fn in_register(&mut self, bound: Bound) -> u32 {
        match self.operand(bound) {
            Operand::Reg(reg) => reg,
            other => self.builtin(Builtin::Copy, vec![other]),
        }
    }

    /// All leaves of the arguments, in order.
    fn flat(&mut self, args: &[Arg], at: ValueId) -> Result<Vec<Operand>, GraphError> {
        fn leaves(bound: Bound, out: &mut Vec<Operand>) {
            match bound {
                Bound::At(operand) => out.push(operand),
                Bound::Tuple(items) => items.into_iter().for_each(|item| leaves(item, out)),
            }
        }
        let mut out = Vec::new();
        for arg in args {
            leaves(self.arg(arg, at)?, &mut out);
        }
        Ok(out)
    }

    /// A shape: a constant, or made from the heap.
    fn shape(&mut self, dims: &[Expr], at: ValueId) -> Result<Operand, GraphError> {
        let func = self.shape_func;
        let dims = dims.iter().map(|dim| self.slots.dim(dim, func));
        let dims: Vec<Dim> = dims
            .collect::<Result<_, _>>()
            .map_err(|problem| self.error(at, problem))?;
        let constant = |dim: &Dim| match dim {
            Dim::Imm(value) => Some(*value),
            Dim::Slot(_) => None,
        };
        if let Some(dims) = dims.iter().map(constant).collect::<Option<Vec<i64>>>() {
            return Ok(self.pool.constant(Constant::Shape(dims)));
        }
        let mut args = vec![Operand::Reg(self.heap), Operand::Imm(dims.len() as i64)];
        args.extend(dims.into_iter().flat_map(make_operands));
        Ok(Operand::Reg(self.builtin(Builtin::MakeShape, args)))
    }

    /// A scalar: an integer or float constant, or made from the heap.
    fn prim(&mut self, e: &Expr, at: ValueId) -> Result<Operand, GraphError> {
        if let Some(value) = e.as_float() {
            return Ok(self.pool.constant(Constant::Float(value)));
        }
        let dim = self.slots.dim(e, self.shape_func);
        let dim = dim.map_err(|problem| self.error(at, problem))?;
        if let Dim::Imm(value) = dim {
            return Ok(Operand::Imm(value));
        }
        let mut args = vec![Operand::Reg(self.heap)];
        args.extend(make_operands(dim));
        Ok(Operand::Reg(self.builtin(Builtin::MakePrimValue, args)))
    }

    fn call_dps(
        &mut self,
        value: ValueId,
        callee: &DpsCallee,
        args: &[Arg],
        tir_vars: &[Expr],
        inplace: Option<&[Option<usize>]>,
        out: &StructInfo,
    ) -> Result<Bound, GraphError> {
        let (kernel, name) = match callee {
            DpsCallee::Prim(name) | DpsCallee::Packed(name) => (self.pool.kernel(name), name),
        };
        if let (None, DpsCallee::Prim(name)) = (kernel, callee) {
            let problem = GraphProblem::UnknownFunction {
                kind: "loop program",
                name: name.clone(),
            };
            return Err(self.error(value, problem));
        }
        let on_host = self.gpu && kernel.is_none();
        let mut operands = self.flat(args, value)?;
        if on_host {
            operands = operands
                .into_iter()
                .map(|op| self.copy_to_host(op))
                .collect();
        }
        let place = if on_host { Place::Host } else { Place::Device };
        let inputs = operands.clone();
        let mut results = Vec::new();
        let infos: Vec<&StructInfo> = match out {
            StructInfo::Tuple(items) => items.iter().collect(),
            single => vec![single],
        };
        for (index, info) in infos.into_iter().enumerate() {
            let reused = inplace.and_then(|list| list.get(index).copied().flatten());
            let reg = match reused {
                Some(input) => match inputs.get(input) {
                    Some(Operand::Reg(reg)) => *reg,
                    _ => return Err(self.error(value, GraphProblem::Inplace(index))),
                },
                None => {
                    let reg = self.alloc(value, info, place)?;
                    operands.push(Operand::Reg(reg));
                    reg
                }
            };
            results.push(reg);
        }
        for var in tir_vars {
            let scalar = self.prim(var, value)?;
            operands.push(scalar);
        }
        let callee = match kernel {
            Some(index) => Callee::Kernel(index),
            None => Callee::Packed(name.clone()),
        };
        let callee = self.pool.callee(callee);
        self.asm.call(None, callee, operands);
        let results = results.into_iter().map(|reg| {
            if on_host {
                self.builtin(Builtin::ToDevice, vec![Operand::Reg(reg)])
            } else {
                reg
            }
        });
        let mut results: Vec<Bound> = results.map(|reg| Bound::At(Operand::Reg(reg))).collect();
        Ok(match out {
            StructInfo::Tuple(_) => Bound::Tuple(results),
            _ => results.pop().unwrap_or(Bound::Tuple(vec![])),
        })
    }

    /// On a GPU, the operand in host memory: constants are there already.
    fn copy_to_host(&mut self, operand: Operand) -> Operand {
        match operand {
            Operand::Reg(_) => Operand::Reg(self.builtin(Builtin::ToHost, vec![operand])),
            other => other,
        }
    }

    /// A register with memory for an output.
    fn alloc(
        &mut self,
        value: ValueId,
        info: &StructInfo,
        place: Place,
    ) -> Result<u32, GraphError> {
        let unknown = GraphProblem::UnknownOutput;
        let Some(TensorInfo {
            shape: ShapeInfo::Known(dims),
            dtype: Some(dtype),
            vdevice: _,
        }) = info.as_tensor()
        else {
            return Err(self.error(value, unknown));
        };
        let shape = self.shape(dims, value)?;
        let size = Size::of(dims, *dtype);
        let shared = if self.live.is_result(value) {
            Shared::No
        } else {
            Shared::Yes
        };
        let regs = &mut self.regs;
        let (index, new) = self.storages.take(size, place, shared, || {
            *regs += 1;
            *regs - 1
        });
        if new {
            self.storage_funcs.push(self.shape_func);
            let size_reg = self.reg();
            self.asm.storage(index, size_reg);
        }
        self.owned.entry(value).or_default().push(index);
        let storage = Operand::Reg(self.storages.all[index].reg);
        let dtype = self.pool.dtype(*dtype);
        Ok(self.builtin(Builtin::AllocTensor, vec![storage, shape, dtype]))
    }

    fn call(
        &mut self,
        value: ValueId,
        callee: &GraphCallee,
        args: &[Arg],
    ) -> Result<Bound, GraphError> {
        if let GraphCallee::Op(name) = callee {
            return self.call_op(value, name, args);
        }
        let mut operands = Vec::new();
        for arg in args {
            let bound = self.arg(arg, value)?;
            operands.push(self.operand(bound));
        }
        let (callee, packed) = match callee {
            GraphCallee::Global(name) => {
                let index = self.pool.function(name).ok_or_else(|| {
                    let problem = GraphProblem::UnknownFunction {
                        kind: "graph function",
                        name: name.clone(),
                    };
                    self.error(value, problem)
                })?;
                (Callee::Function(index), false)
            }
            GraphCallee::Packed(name) | GraphCallee::PurePacked(name) => {
                (Callee::Packed(name.clone()), true)
            }
            GraphCallee::Op(_) | GraphCallee::Value(_) => {
                return Err(self.error(value, GraphProblem::Unsupported("a call of a closure")));
            }
        };
        let on_host = self.gpu && packed;
        if on_host {
            operands = operands
                .into_iter()
                .map(|op| self.copy_to_host(op))
                .collect();
        }
        let callee = self.pool.callee(callee);
        let dst = self.reg();
        self.asm.call(Some(dst), callee, operands);
        let result = if on_host {
            self.builtin(Builtin::ToDevice, vec![Operand::Reg(dst)])
        } else {
            dst
        };
        Ok(Bound::At(Operand::Reg(result)))
    }

    /// The operators that are instructions of the machine; all others are legalized before.
    fn call_op(&mut self, value: ValueId, name: &str, args: &[Arg]) -> Result<Bound, GraphError> {
        let builtin = match (name, args.len()) {
            ("shape_of", 1) => Builtin::ShapeOf,
            ("reshape", 2) => Builtin::Reshape,
            _ => return Err(self.error(value, GraphProblem::Operator(name.to_owned()))),
        };
        let operands = self.flat(args, value)?;
        Ok(Bound::At(Operand::Reg(self.builtin(builtin, operands))))
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
    fn side(&mut self, value: ValueId, body: &Body, result: u32) -> Result<(), GraphError> {
        let shape_func = self.shape_func;
        self.storages.enter();
        self.body(body)?;
        let bound = self.arg(&body.result, value)?;
        let operand = self.operand(bound);
        let copy = self.pool.builtin(Builtin::Copy);
        self.asm.call(Some(result), copy, vec![operand]);
        self.storages.leave();
        self.shape_func = shape_func;
        Ok(())
    }
}

/// A value to blame for what is wrong with the result of a function.
fn body_end(function: &Function) -> ValueId {
    let mut bindings = function.body.blocks.iter().flat_map(|b| &b.bindings);
    let last = bindings.next_back().or(function.params.last());
    last.copied().unwrap_or(crate::support::Id::from_index(0))
}

fn make_operands(dim: Dim) -> [Operand; 2] {
    match dim {
        Dim::Imm(value) => [Operand::Imm(shape_code::USE_IMM), Operand::Imm(value)],
        Dim::Slot(slot) => [
            Operand::Imm(shape_code::LOAD_SHAPE),
            Operand::Imm(slot.into()),
        ],
    }
}

/// `R.Tensor((n, 4), dtype="float32")` and its kin, for error contexts.
pub(super) fn annotation(sinfo: &StructInfo) -> String {
    let list = |dims: &[Expr]| match dims {
        [one] => format!("({},)", dim_text(one)),
        dims => format!(
            "({})",
            dims.iter().map(dim_text).collect::<Vec<_>>().join(", ")
        ),
    };
    match sinfo {
        StructInfo::Object => "R.Object".to_owned(),
        StructInfo::Prim { dtype, value } => match value {
            Some(value) => format!("R.Prim(value={})", dim_text(value)),
            None => format!("R.Prim(\"{dtype}\")"),
        },
        StructInfo::Shape(ShapeInfo::Known(dims)) => {
            let dims: Vec<String> = dims.iter().map(dim_text).collect();
            format!("R.Shape([{}])", dims.join(", "))
        }
        StructInfo::Shape(ShapeInfo::Ndim(ndim)) => format!("R.Shape(ndim={ndim})"),
        StructInfo::Shape(ShapeInfo::Unknown) => "R.Shape()".to_owned(),
        StructInfo::Tensor(info) => {
            let shape = match &info.shape {
                ShapeInfo::Known(dims) => Some(list(dims)),
                ShapeInfo::Ndim(_) | ShapeInfo::Unknown => None,
            };
            let dtype = info.dtype.map(|dtype: DType| format!("dtype=\"{dtype}\""));
            let ndim = match &info.shape {
                ShapeInfo::Ndim(ndim) => Some(format!("ndim={ndim}")),
                ShapeInfo::Known(_) | ShapeInfo::Unknown => None,
            };
            let parts: Vec<String> = [shape, dtype, ndim].into_iter().flatten().collect();
            format!("R.Tensor({})", parts.join(", "))
        }
        StructInfo::Tuple(items) => {
            let items: Vec<String> = items.iter().map(annotation).collect();
            format!("R.Tuple({})", items.join(", "))
        }
        StructInfo::Callable {
            params: _,
            ret: _,
            pure: _,
        } => "R.Callable".to_owned(),
    }
}

/// A dimension as it is written in an annotation: integers without their type.
pub(super) fn dim_text(dim: &Expr) -> String {
    dim.as_int()
        .map_or_else(|| print_expr(dim), |value| value.to_string())
}
