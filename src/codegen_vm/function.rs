//! One graph function.

use std::collections::HashMap;

use super::memory::{MemoryPlan, Size};
use super::shapes::{Dim, Slots};
use super::{Builder, CodegenVmError};
use crate::artifact::{self, Builtin, Callee, Constant, Instr, Operand, Place, shape_code};
use crate::ir::graph::{self, Arg, Body, Def, DpsCallee, Function, Value, ValueId};
use crate::ir::{Expr, ShapeInfo, StructInfo};
use crate::tensor::DType;

/// Compiles a function; its instructions are appended to those of the executable.
pub(super) fn compile(
    builder: &mut Builder,
    name: &str,
    func: &Function,
) -> Result<artifact::Function, CodegenVmError> {
    let mut compiler = FunctionCompiler::new(builder, name, func);
    let after_params = compiler.params()?;
    compiler.body(&func.body)?;
    let result = compiler.value("return", &func.body.result)?;
    let result = compiler.in_register(result);
    compiler.emit(Instr::Ret { result });
    compiler.finish(after_params)
}

/// State of compiling one function.
pub(super) struct FunctionCompiler<'a, 'b> {
    pub(super) builder: &'a mut Builder,
    pub(super) name: String,
    func: &'b Function,
    code: Vec<Instr>,
    regs: u32,
    /// Register of the shape heap.
    pub(super) heap: u32,
    pub(super) slots: Slots,
    /// Registers that hold these shapes.
    pub(super) shapes: HashMap<Vec<Expr>, u32>,
    /// Values with compound extents that wait to be checked.
    pub(super) compound: Vec<(Operand, Vec<Expr>, Operand)>,
    values: HashMap<ValueId, Operand>,
    /// Where a copy of a value in the other memory is.
    on_host: HashMap<u32, u32>,
    on_device: HashMap<u32, u32>,
    memory: MemoryPlan,
    /// Position of the binding at hand in the function.
    at: usize,
}

impl<'a, 'b> FunctionCompiler<'a, 'b> {
    fn new(builder: &'a mut Builder, name: &str, func: &'b Function) -> Self {
        let heap = func.params.len() as u32;
        Self {
            builder,
            name: name.to_owned(),
            func,
            code: vec![],
            regs: heap + 1,
            heap,
            slots: Slots::default(),
            shapes: HashMap::new(),
            compound: vec![],
            values: HashMap::new(),
            on_host: HashMap::new(),
            on_device: HashMap::new(),
            memory: MemoryPlan::new(func),
            at: 0,
        }
    }

    /// Checks the parameters; gives the position behind the checks, where dimensions are computed.
    fn params(&mut self) -> Result<usize, CodegenVmError> {
        for (at, id) in self.func.params.iter().enumerate() {
            let Value {
                name,
                sinfo,
                def: _,
            } = &self.func.values[*id];
            let source = Operand::Reg(at as u32);
            self.values.insert(*id, source);
            self.check(source, sinfo, &format!("param[{at}]"), name)?;
        }
        self.slots.entry_vars = self.slots.vars.keys().cloned().collect();
        let position = self.code.len();
        self.check_compound("a parameter")?;
        Ok(position)
    }

    /// Puts what is computed at entry in its place and appends the code to the executable.
    fn finish(mut self, after_params: usize) -> Result<artifact::Function, CodegenVmError> {
        let entry = std::mem::take(&mut self.slots.entry);
        if !entry.is_empty() {
            let callee = self.builder.shape_func(entry);
            let args = vec![Operand::Reg(self.heap)];
            // Jumps are relative and all lie behind this place.
            self.code.insert(
                after_params,
                Instr::Call {
                    dst: None,
                    callee,
                    args,
                },
            );
        }
        if self.slots.count > 0 {
            let callee = self
                .builder
                .callee(Callee::Builtin(Builtin::AllocShapeHeap));
            let args = vec![Operand::Vm, Operand::Imm(self.slots.count.into())];
            self.code.insert(
                0,
                Instr::Call {
                    dst: Some(self.heap),
                    callee,
                    args,
                },
            );
        }
        let start = self.builder.exec.code.len() as u32;
        self.builder.exec.code.append(&mut self.code);
        Ok(artifact::Function {
            name: self.name,
            params: self
                .func
                .params
                .iter()
                .map(|id| self.func.values[*id].name.clone())
                .collect(),
            num_regs: self.regs,
            num_slots: self.slots.count,
            start,
            end: self.builder.exec.code.len() as u32,
        })
    }

    pub(super) fn emit(&mut self, instr: Instr) {
        self.code.push(instr);
    }

    fn register(&mut self) -> u32 {
        self.regs += 1;
        self.regs - 1
    }

    /// Calls a builtin and gives the register of its result.
    pub(super) fn builtin(&mut self, builtin: Builtin, args: Vec<Operand>) -> u32 {
        let callee = self.builder.callee(Callee::Builtin(builtin));
        self.call(callee, args)
    }

    fn call(&mut self, callee: u32, args: Vec<Operand>) -> u32 {
        let dst = self.register();
        self.emit(Instr::Call {
            dst: Some(dst),
            callee,
            args,
        });
        dst
    }

    fn in_register(&mut self, operand: Operand) -> u32 {
        match operand {
            Operand::Reg(reg) => reg,
            other => self.builtin(Builtin::Copy, vec![other]),
        }
    }

    fn body(&mut self, body: &'b Body) -> Result<(), CodegenVmError> {
        for id in body.blocks.iter().flat_map(|block| &block.bindings) {
            let value = &self.func.values[*id];
            let operand = self.define(*id, value)?;
            self.values.insert(*id, operand);
            self.at += 1;
        }
        Ok(())
    }

    fn define(&mut self, id: ValueId, value: &'b Value) -> Result<Operand, CodegenVmError> {
        match &value.def {
            Def::Param => Ok(self.values[&id]),
            Def::Arg(arg) => self.value(&value.name, arg),
            Def::TupleItem(arg, index) => {
                let tuple = self.value(&value.name, arg)?;
                Ok(Operand::Reg(self.builtin(
                    Builtin::TupleGetItem,
                    vec![tuple, Operand::Imm(*index as i64)],
                )))
            }
            Def::CallDps {
                callee,
                args,
                tir_vars,
                inplace,
                out,
            } => {
                let call = Dps {
                    id,
                    value,
                    args,
                    tir_vars,
                    inplace: inplace.as_deref(),
                    out,
                };
                self.call_dps(callee, &call)
            }
            Def::Call {
                callee,
                args,
                attrs: _,
                sinfo_args: _,
            } => self.call_any(value, callee, args),
            Def::MatchCast(arg, sinfo) => {
                let operand = self.value(&value.name, arg)?;
                self.check(operand, sinfo, "match_cast", &value.name)?;
                self.check_compound(&value.name)?;
                Ok(operand)
            }
            Def::If {
                cond,
                then,
                otherwise,
            } => self.branch(&value.name, cond, then, otherwise),
            Def::Function(_) => Err(self.closure(&value.name)),
        }
    }

    fn closure(&self, value: &str) -> CodegenVmError {
        CodegenVmError::Closure {
            func: self.name.clone(),
            value: value.to_owned(),
        }
    }

    /// An argument as an operand.
    fn value(&mut self, value: &str, arg: &Arg) -> Result<Operand, CodegenVmError> {
        Ok(match arg {
            Arg::Value(id) => self.values[id],
            Arg::Captured { depth: _, value: _ } => return Err(self.closure(value)),
            Arg::Const(tensor) => {
                Operand::Const(self.builder.constant(Constant::Tensor(tensor.clone())))
            }
            Arg::Tuple(items) => {
                let items = items
                    .iter()
                    .map(|item| self.value(value, item))
                    .collect::<Result<Vec<_>, _>>()?;
                Operand::Reg(self.builtin(Builtin::MakeTuple, items))
            }
            Arg::Shape(dims) => self.shape(value, dims)?,
            Arg::Prim(e) => self.prim(value, e)?,
            Arg::Str(text) => Operand::Const(self.builder.constant(Constant::Str(text.clone()))),
            Arg::DType(dtype) => Operand::Const(self.builder.constant(Constant::DType(*dtype))),
            Arg::Global(callee) | Arg::Extern(callee) => {
                return Err(CodegenVmError::Argument {
                    func: self.name.clone(),
                    value: value.to_owned(),
                    callee: callee.clone(),
                    what: "a function",
                });
            }
        })
    }

    /// A scalar: a constant, or an integer from the shape heap.
    fn prim(&mut self, value: &str, e: &Expr) -> Result<Operand, CodegenVmError> {
        if let Some(v) = e.as_float() {
            return Ok(Operand::Const(self.builder.constant(Constant::Float(v))));
        }
        Ok(match self.dim(value, e)? {
            Dim::Imm(v) => Operand::Imm(v),
            Dim::Slot(slot) => {
                let args = vec![
                    Operand::Reg(self.heap),
                    Operand::Imm(shape_code::LOAD_SHAPE),
                    Operand::Imm(slot.into()),
                ];
                Operand::Reg(self.builtin(Builtin::MakePrimValue, args))
            }
        })
    }

    fn call_any(
        &mut self,
        value: &Value,
        callee: &graph::Callee,
        args: &[Arg],
    ) -> Result<Operand, CodegenVmError> {
        let builtin = match callee {
            graph::Callee::Op(op) if op == "shape_of" => Some(Builtin::ShapeOf),
            graph::Callee::Op(op) if op == "reshape" => Some(Builtin::Reshape),
            _ => None,
        };
        let mut operands = args
            .iter()
            .map(|a| self.value(&value.name, a))
            .collect::<Result<Vec<_>, _>>()?;
        if let Some(builtin) = builtin {
            return Ok(Operand::Reg(self.builtin(builtin, operands)));
        }
        let callee = match callee {
            graph::Callee::Global(name) => match self.builder.functions.get(name) {
                Some(index) => Callee::Function(*index),
                None => return Err(self.unknown(&value.name, name)),
            },
            graph::Callee::Packed(name) | graph::Callee::PurePacked(name) => {
                for operand in &mut operands {
                    *operand = self.to_host(*operand);
                }
                Callee::Packed(name.clone())
            }
            graph::Callee::Value(_) => return Err(self.closure(&value.name)),
            graph::Callee::Op(op) => {
                let (func, value, op) = (self.name.clone(), value.name.clone(), op.clone());
                return Err(CodegenVmError::Operator { func, value, op });
            }
        };
        let callee = self.builder.callee(callee);
        Ok(Operand::Reg(self.call(callee, operands)))
    }

    fn unknown(&self, value: &str, callee: &str) -> CodegenVmError {
        CodegenVmError::UnknownFunction {
            func: self.name.clone(),
            value: value.to_owned(),
            callee: callee.to_owned(),
        }
    }

    fn call_dps(&mut self, callee: &DpsCallee, call: &Dps<'_>) -> Result<Operand, CodegenVmError> {
        let (DpsCallee::Prim(name) | DpsCallee::Packed(name)) = callee;
        let kernel = self.builder.kernels.get(name).copied();
        if kernel.is_none() && matches!(callee, DpsCallee::Prim(_)) {
            return Err(self.unknown(&call.value.name, name));
        }
        let on_host = kernel.is_none() && self.builder.on_gpu;
        let mut operands = Vec::new();
        for arg in call.args {
            let operand = self.value(&call.value.name, arg)?;
            operands.push(match (kernel, on_host) {
                (None, true) => self.to_host(operand),
                (Some(_), _) => self.to_device(operand),
                (None, false) => operand,
            });
        }
        let place = if on_host { Place::Host } else { Place::Device };
        let outputs = self.outputs(call, &operands, place)?;
        operands.extend(
            outputs
                .iter()
                .filter(|(_, fresh)| *fresh)
                .map(|(reg, _)| Operand::Reg(*reg)),
        );
        for e in call.tir_vars {
            operands.push(self.prim(&call.value.name, e)?);
        }
        let callee = match kernel {
            Some(index) => Callee::Kernel(index),
            None => Callee::Packed(name.clone()),
        };
        let callee = self.builder.callee(callee);
        self.emit(Instr::Call {
            dst: None,
            callee,
            args: operands,
        });
        let regs: Vec<_> = outputs
            .into_iter()
            .map(|(reg, _)| Operand::Reg(reg))
            .collect();
        match call.out {
            StructInfo::Tuple(_) => Ok(Operand::Reg(self.builtin(Builtin::MakeTuple, regs))),
            _ => Ok(regs[0]),
        }
    }

    /// The register of each output, and whether it is a fresh tensor that is passed behind the inputs.
    fn outputs(
        &mut self,
        call: &Dps<'_>,
        inputs: &[Operand],
        place: Place,
    ) -> Result<Vec<(u32, bool)>, CodegenVmError> {
        let infos = match call.out {
            StructInfo::Tuple(items) => items.iter().collect(),
            single => vec![single],
        };
        let single = infos.len() == 1;
        let mut outputs = Vec::new();
        for (at, info) in infos.into_iter().enumerate() {
            let overwritten = call
                .inplace
                .and_then(|list| list.get(at).copied().flatten());
            outputs.push(match overwritten.and_then(|input| inputs.get(input)) {
                Some(Operand::Reg(reg)) => (*reg, false),
                Some(_) => {
                    return Err(CodegenVmError::Argument {
                        func: self.name.clone(),
                        value: call.value.name.clone(),
                        callee: "call_tir_inplace".into(),
                        what: "a constant to overwrite",
                    });
                }
                None => (
                    self.alloc(call.value, info, single.then_some(call.id), place)?,
                    true,
                ),
            });
        }
        Ok(outputs)
    }

    /// A tensor for an output.
    fn alloc(
        &mut self,
        value: &Value,
        info: &StructInfo,
        holder: Option<ValueId>,
        place: Place,
    ) -> Result<u32, CodegenVmError> {
        let known = info.as_tensor().and_then(|t| match (&t.shape, t.dtype) {
            (ShapeInfo::Known(dims), Some(dtype)) => Some((dims, dtype)),
            _ => None,
        });
        let Some((dims, dtype)) = known else {
            return Err(CodegenVmError::UnknownShape {
                func: self.name.clone(),
                value: value.name.clone(),
            });
        };
        let size = byte_size(dims, dtype);
        let storage = match self.memory.reuse(holder, &size, place, self.at) {
            Some(storage) => storage,
            None => {
                let bytes = match &size {
                    Size::Const(bytes) => Expr::i64(*bytes),
                    Size::Symbolic(e) => e.clone(),
                };
                let shape = self.shape(&value.name, &[bytes])?;
                let storage = self.builtin(
                    Builtin::AllocStorage,
                    vec![Operand::Vm, shape, Operand::Imm(place.imm())],
                );
                self.memory.add(storage, holder, size, place);
                storage
            }
        };
        let shape = self.shape(&value.name, dims)?;
        let dtype = Operand::Const(self.builder.constant(Constant::DType(dtype)));
        Ok(self.builtin(
            Builtin::AllocTensor,
            vec![Operand::Reg(storage), shape, dtype],
        ))
    }

    /// The value in host memory; only on a GPU can it be elsewhere.
    fn to_host(&mut self, operand: Operand) -> Operand {
        let Operand::Reg(from) = operand else {
            return operand;
        };
        if let (true, None) = (self.builder.on_gpu, self.on_host.get(&from)) {
            let reg = self.builtin(Builtin::ToHost, vec![operand]);
            self.on_host.insert(from, reg);
        }
        Operand::Reg(self.on_host.get(&from).copied().unwrap_or(from))
    }

    /// The value in device memory. Constants are there already.
    fn to_device(&mut self, operand: Operand) -> Operand {
        let Operand::Reg(from) = operand else {
            return operand;
        };
        if let (true, None) = (self.builder.on_gpu, self.on_device.get(&from)) {
            let reg = self.builtin(Builtin::ToDevice, vec![operand]);
            self.on_device.insert(from, reg);
        }
        Operand::Reg(self.on_device.get(&from).copied().unwrap_or(from))
    }

    fn branch(
        &mut self,
        value: &str,
        cond: &Arg,
        then: &'b Body,
        otherwise: &'b Body,
    ) -> Result<Operand, CodegenVmError> {
        let cond = self.value(value, cond)?;
        let cond = self.builtin(Builtin::ReadIfCond, vec![cond]);
        let dst = self.register();
        let test = self.code.len();
        self.emit(Instr::If {
            cond,
            false_offset: 0,
        });
        self.side(value, then, dst)?;
        let jump = self.code.len();
        self.emit(Instr::Goto { offset: 0 });
        let false_offset = (self.code.len() - test) as i32;
        self.code[test] = Instr::If { cond, false_offset };
        self.side(value, otherwise, dst)?;
        self.code[jump] = Instr::Goto {
            offset: (self.code.len() - jump) as i32,
        };
        Ok(Operand::Reg(dst))
    }

    /// One side of a branch. What it computes on the way is not there on the other side or behind.
    fn side(&mut self, value: &str, body: &'b Body, dst: u32) -> Result<(), CodegenVmError> {
        let (shapes, derived) = (self.shapes.clone(), self.slots.derived.clone());
        let (on_host, on_device) = (self.on_host.clone(), self.on_device.clone());
        let vars = self.slots.vars.clone();
        self.body(body)?;
        let result = self.value(value, &body.result)?;
        let callee = self.builder.callee(Callee::Builtin(Builtin::Copy));
        self.emit(Instr::Call {
            dst: Some(dst),
            callee,
            args: vec![result],
        });
        self.shapes = shapes;
        self.on_host = on_host;
        self.on_device = on_device;
        self.slots.vars = vars;
        // What is computed at entry stays known.
        let entry: Vec<u32> = self.slots.entry.iter().map(|(slot, _)| *slot).collect();
        self.slots
            .derived
            .retain(|e, slot| derived.contains_key(e) || entry.contains(slot));
        Ok(())
    }
}

/// A call in destination-passing style.
struct Dps<'a> {
    id: ValueId,
    value: &'a Value,
    args: &'a [Arg],
    tir_vars: &'a [Expr],
    inplace: Option<&'a [Option<usize>]>,
    out: &'a StructInfo,
}

/// Bytes of a dense tensor.
fn byte_size(dims: &[Expr], dtype: DType) -> Size {
    let fixed = dims
        .iter()
        .filter_map(Expr::as_int)
        .fold(dtype.bytes() as i64, i64::saturating_mul);
    let symbolic = dims.iter().filter(|d| d.as_int().is_none());
    match symbolic.cloned().reduce(|a, b| a * b) {
        None => Size::Const(fixed),
        Some(product) => Size::Symbolic(product * Expr::i64(fixed)),
    }
}
