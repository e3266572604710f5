//! Bytecode to operations: callees and constants resolved, operands checked, once per machine.

use std::collections::HashSet;

use super::arenas::{Arenas, Sharing};
use super::program::{Code, Context, Make, Match, Op, Program, Src};
use crate::artifact::{
    Builtin, BytecodeError, Callee, Constant, Executable, Function, Instr, MemorySpace, Operand,
    Pc, Reg, Slot, match_code, shape_code,
};
use crate::support::{Id, SideTable};
use crate::tensor::DType;

/// Decodes every function.
pub(super) fn decode(exec: &Executable) -> Result<Program, BytecodeError> {
    exec.verify()?;
    for kernel in &exec.kernels {
        kernel.func.verify().map_err(|error| BytecodeError {
            pc: Pc::from_index(0),
            problem: error.to_string(),
        })?;
    }
    let mut program = Program::default();
    for function in &exec.functions {
        let mut decoder = Decoder {
            exec,
            function,
            packed: &mut program.packed,
            sharings: &mut program.sharings,
            storages: SideTable::new(),
            num_storages: 0,
            num_sites: 0,
        };
        let code = decoder.function()?;
        program.codes.push(code);
    }
    Ok(program)
}

struct Decoder<'a> {
    exec: &'a Executable,
    function: &'a Function,
    packed: &'a mut Vec<String>,
    sharings: &'a mut Vec<Sharing>,
    /// By register: the storage it names.
    storages: SideTable<Reg, Option<usize>>,
    num_storages: usize,
    num_sites: usize,
}

impl Decoder<'_> {
    fn function(&mut self) -> Result<Code, BytecodeError> {
        let Function {
            name,
            params,
            num_regs,
            num_slots,
            start,
            end: _,
        } = self.function;
        let mut ops = Vec::new();
        for pc in self.function.range().map(Pc::from_index) {
            let op = self.instr(&self.exec.code[pc.index()], pc);
            ops.push(op.map_err(|problem| BytecodeError { pc, problem })?);
        }
        let arenas = Arenas::of(&ops, *start, params.len(), self.num_storages);
        let arenas = arenas.map_err(|(at, problem)| BytecodeError {
            pc: Pc::from_index(start.index() + at),
            problem,
        })?;
        for op in &mut ops {
            if let Op::Launch {
                kernel,
                sharings,
                args,
                ..
            } = op
            {
                let variants = self.exec.variants(*kernel);
                let sharing = |variant: usize| {
                    let func = &self.exec.kernels[variant].func;
                    self.sharing(arenas.sharing(variant, func, args))
                };
                *sharings = variants.map(sharing).collect();
            }
        }
        let mut keeps = SideTable::<Reg, bool>::new();
        for op in &ops {
            if let Op::AllocTensor { dst: reg, .. } | Op::MakeShape(reg, _) | Op::ShapeOf(reg, _) =
                op
            {
                *keeps.entry(*reg) = true;
            }
        }
        let regs = (0..*num_regs as usize).map(Reg::from_index);
        let transient = regs.filter(|&reg| !keeps[reg]).collect();
        Ok(Code {
            name: name.as_str().into(),
            params: params.clone(),
            results: results(&ops),
            tail_calls: tail_calls(&ops, *start),
            start: *start,
            ops,
            num_regs: *num_regs as usize,
            num_slots: *num_slots as usize,
            num_storages: self.num_storages,
            arenas,
            num_sites: self.num_sites,
            transient,
        })
    }

    fn instr(&mut self, instr: &Instr, pc: Pc) -> Result<Op, String> {
        let target = || instr.target(pc).ok_or("a jump to nowhere");
        match instr {
            Instr::Ret { result } => Ok(Op::Ret(*result)),
            Instr::Goto { offset: _ } => Ok(Op::Goto(target()?)),
            Instr::If {
                cond,
                false_offset: _,
            } => Ok(Op::If(*cond, target()?)),
            Instr::Call { dst, callee, args } => {
                let dst = *dst;
                match &self.exec.callees[*callee as usize] {
                    Callee::Builtin(builtin) => self.builtin(*builtin, dst, args),
                    Callee::Function(index) => {
                        let callee = *index as usize;
                        let expected = self.exec.functions[callee].params.len();
                        if expected != args.len() {
                            return Err(format!("{} arguments for {expected}", args.len()));
                        }
                        Ok(Op::CallFunction(dst, callee, sources(args)?))
                    }
                    Callee::Kernel(index) => self.launch(*index as usize, args),
                    Callee::ShapeFunc(index) => {
                        let func = &self.exec.shape_funcs[*index as usize];
                        for (slot, expr) in &func.outputs {
                            self.slot(slot.index() as i64)?;
                            expr.verify(self.function.num_slots as usize)?;
                        }
                        Ok(Op::ShapeFunc(*index as usize))
                    }
                    Callee::Packed(name) => {
                        let known = self.packed.iter().position(|n| n == name);
                        let index = known.unwrap_or_else(|| {
                            self.packed.push(name.clone());
                            self.packed.len() - 1
                        });
                        Ok(Op::CallPacked(dst, index, sources(args)?))
                    }
                }
            }
        }
    }

    fn launch(&mut self, kernel: usize, args: &[Operand]) -> Result<Op, String> {
        let func = &self.exec.kernels[kernel].func;
        let args = sources(args)?;
        let expected = func.params.len() + func.scalar_params.len();
        if args.len() != expected {
            return Err(format!("{} arguments for {expected}", args.len()));
        }
        for (param, arg) in func.params.iter().zip(&args) {
            let uses = args.iter().filter(|other| *other == arg).count();
            if param.written && (uses > 1 || !matches!(arg, Src::Reg(_))) {
                return Err(format!("`{}` is written and not only there", param.name));
            }
        }
        let site = self.num_sites;
        self.num_sites += 1;
        Ok(Op::Launch {
            kernel,
            sharings: Box::default(),
            args,
            site,
        })
    }

    /// The number of the sharing.
    fn sharing(&mut self, sharing: Sharing) -> usize {
        let known = self.sharings.iter().position(|known| *known == sharing);
        known.unwrap_or_else(|| {
            self.sharings.push(sharing);
            self.sharings.len() - 1
        })
    }

    fn builtin(
        &mut self,
        builtin: Builtin,
        dst: Option<Reg>,
        args: &[Operand],
    ) -> Result<Op, String> {
        let to = dst.ok_or_else(|| format!("`{}` gives its result to %void", builtin.name()));
        let wrong = || Err(format!("`{}` does not take these operands", builtin.name()));
        match (builtin, args) {
            (Builtin::AllocShapeHeap, [Operand::Vm, Operand::Imm(_)]) => Ok(Op::Nop),
            (
                Builtin::CheckTensorInfo,
                [value, Operand::Imm(ndim), dtype, Operand::Const(context)],
            ) => {
                let dtype = match *dtype {
                    Operand::Const(index) => Some(self.dtype(index)?),
                    _ => None,
                };
                let ndim = usize::try_from(*ndim).ok();
                Ok(Op::CheckTensor(
                    source(*value)?,
                    ndim,
                    dtype,
                    self.context(*context)?,
                ))
            }
            (Builtin::CheckShapeInfo, [value, Operand::Imm(ndim), Operand::Const(context)]) => {
                let ndim = usize::try_from(*ndim).ok();
                Ok(Op::CheckShape(
                    source(*value)?,
                    ndim,
                    self.context(*context)?,
                ))
            }
            (Builtin::CheckPrimValueInfo, [value, _, Operand::Const(context)]) => {
                Ok(Op::CheckPrim(source(*value)?, self.context(*context)?))
            }
            (Builtin::CheckTupleInfo, [value, Operand::Imm(len), Operand::Const(context)]) => {
                let len = usize::try_from(*len).map_err(|_| format!("a tuple of {len} values"))?;
                Ok(Op::CheckTuple(
                    source(*value)?,
                    len,
                    self.context(*context)?,
                ))
            }
            (Builtin::CheckFuncInfo, [value, Operand::Const(context)]) => {
                Ok(Op::CheckFunc(source(*value)?, self.context(*context)?))
            }
            (
                Builtin::MatchShape,
                [
                    value,
                    _,
                    Operand::Imm(ndim),
                    dims @ ..,
                    Operand::Const(context),
                ],
            ) => {
                let dims = self.pairs(*ndim, dims, Self::match_dim)?;
                Ok(Op::MatchShape(
                    source(*value)?,
                    dims,
                    self.context(*context)?,
                ))
            }
            (
                Builtin::MatchPrimValue,
                [
                    value,
                    _,
                    Operand::Imm(code),
                    Operand::Imm(operand),
                    Operand::Const(context),
                ],
            ) => {
                let dim = self.match_dim(*code, *operand)?;
                Ok(Op::MatchPrim(source(*value)?, dim, self.context(*context)?))
            }
            (Builtin::MakeShape, [_, Operand::Imm(ndim), dims @ ..]) => {
                Ok(Op::MakeShape(to?, self.pairs(*ndim, dims, Self::make_dim)?))
            }
            (Builtin::MakePrimValue, [_, Operand::Imm(code), Operand::Imm(operand)]) => {
                Ok(Op::MakePrim(to?, self.make_dim(*code, *operand)?))
            }
            (Builtin::AllocStorage, [Operand::Vm, size, Operand::Imm(place)]) => {
                let place = MemorySpace::from_imm(*place).ok_or(format!("place {place}"))?;
                let to = to?;
                let storage = *self.storages.entry(to).get_or_insert_with(|| {
                    self.num_storages += 1;
                    self.num_storages - 1
                });
                let size = source(*size)?;
                Ok(Op::AllocStorage {
                    storage,
                    size,
                    place,
                })
            }
            (Builtin::AllocTensor, [first, others @ .., offset, shape, Operand::Const(dtype)]) => {
                let storage = |operand: &Operand| match operand {
                    Operand::Reg(reg) => self.storages[*reg].ok_or("the storage is not one"),
                    _ => Err("the storage is not one"),
                };
                let storages = [first].into_iter().chain(others).map(storage);
                let storages = storages.collect::<Result<_, _>>()?;
                Ok(Op::AllocTensor {
                    dst: to?,
                    storages,
                    offset: source(*offset)?,
                    shape: source(*shape)?,
                    dtype: self.dtype(*dtype)?,
                })
            }
            (Builtin::MakeTuple, items) => Ok(Op::MakeTuple(to?, sources(items)?)),
            (Builtin::TupleGetItem, [tuple, Operand::Imm(index)]) => {
                let index = usize::try_from(*index).map_err(|_| format!("element {index}"))?;
                Ok(Op::TupleGetItem(to?, source(*tuple)?, index))
            }
            (Builtin::Copy, [value]) => Ok(Op::Copy(to?, source(*value)?)),
            (Builtin::ReadIfCond, [value]) => Ok(Op::ReadIfCond(to?, source(*value)?)),
            (Builtin::ToHost, [value]) => Ok(Op::ToHost(to?, source(*value)?)),
            (Builtin::ToDevice, [value]) => Ok(Op::ToDevice(to?, source(*value)?)),
            (Builtin::ShapeOf, [value]) => Ok(Op::ShapeOf(to?, source(*value)?)),
            (Builtin::Reshape, [value, shape]) => {
                Ok(Op::Reshape(to?, source(*value)?, source(*shape)?))
            }
            (Builtin::MakeClosure, [Operand::Func(callee), values @ ..]) => {
                let Callee::Function(index) = self.exec.callees[*callee as usize] else {
                    return Err("a closure of what is no function".to_owned());
                };
                let takes = self.exec.functions[index as usize].params.len();
                if values.len() > takes {
                    return Err(format!("{} values for {takes} parameters", values.len()));
                }
                Ok(Op::MakeClosure(to?, index as usize, sources(values)?))
            }
            (Builtin::NullValue, []) => Ok(Op::Null(to?)),
            (Builtin::InvokeClosure, [closure, args @ ..]) => {
                Ok(Op::InvokeClosure(dst, source(*closure)?, sources(args)?))
            }
            _ => wrong(),
        }
    }

    fn pairs<T>(
        &self,
        ndim: i64,
        operands: &[Operand],
        decode: fn(&Self, i64, i64) -> Result<T, String>,
    ) -> Result<Box<[T]>, String> {
        if usize::try_from(ndim) != Ok(operands.len() / 2) || !operands.len().is_multiple_of(2) {
            return Err(format!("{} operands for {ndim} dimensions", operands.len()));
        }
        let pair = |pair: &[Operand]| match *pair {
            [Operand::Imm(code), Operand::Imm(operand)] => decode(self, code, operand),
            _ => Err("a dimension is given by two integers".to_owned()),
        };
        operands.chunks(2).map(pair).collect()
    }

    fn match_dim(&self, code: i64, operand: i64) -> Result<Match, String> {
        match code {
            match_code::ASSERT_EQUAL_TO_IMM => Ok(Match::Imm(operand)),
            match_code::STORE_TO_HEAP => Ok(Match::Store(self.slot(operand)?)),
            match_code::NO_OP => Ok(Match::Skip),
            match_code::ASSERT_EQUAL_TO_LOAD => Ok(Match::Load(self.slot(operand)?)),
            other => Err(format!("code {other}")),
        }
    }

    fn make_dim(&self, code: i64, operand: i64) -> Result<Make, String> {
        match code {
            shape_code::USE_IMM => Ok(Make::Imm(operand)),
            shape_code::LOAD_SHAPE => Ok(Make::Load(self.slot(operand)?)),
            other => Err(format!("code {other}")),
        }
    }

    fn slot(&self, slot: i64) -> Result<Slot, String> {
        let len = self.function.num_slots as usize;
        usize::try_from(slot)
            .ok()
            .filter(|&slot| slot < len)
            .map(Slot::from_index)
            .ok_or_else(|| format!("slot {slot} of {len}"))
    }

    fn dtype(&self, index: u32) -> Result<DType, String> {
        match &self.exec.constants[index as usize] {
            Constant::DType(dtype) => Ok(*dtype),
            _ => Err(format!("constant {index} is no element type")),
        }
    }

    fn context(&self, index: u32) -> Result<Context, String> {
        match &self.exec.constants[index as usize] {
            Constant::Context(_) => Ok(index as usize),
            _ => Err(format!("constant {index} is no error context")),
        }
    }
}

fn source(operand: Operand) -> Result<Src, String> {
    match operand {
        Operand::Reg(reg) => Ok(Src::Reg(reg)),
        Operand::Const(index) => Ok(Src::Const(index as usize)),
        Operand::Imm(value) => Ok(Src::Int(value)),
        Operand::Func(_) | Operand::Vm => Err("an operand is no value".to_owned()),
    }
}

fn sources(operands: &[Operand]) -> Result<Box<[Src]>, String> {
    operands.iter().map(|&operand| source(operand)).collect()
}

/// The positions of calls of functions after which nothing happens to their results until they are returned. A call that no way
/// through the function avoids is not among them: a function that calls itself there never ends, which the depth of calls shows.
fn tail_calls(ops: &[Op], start: Pc) -> HashSet<Pc> {
    let calls = ops.iter().enumerate().filter_map(|(at, op)| match op {
        Op::CallFunction(Some(dst), ..) | Op::InvokeClosure(Some(dst), ..) => Some((at, *dst)),
        _ => None,
    });
    let tails = calls
        .filter(|&(at, dst)| is_returned(ops, start, at + 1, dst) && ends_without(ops, start, at));
    tails
        .map(|(at, _)| Pc::from_index(start.index() + at))
        .collect()
}

/// Whether a way through the operations ends that does not come to the one at this position.
fn ends_without(ops: &[Op], start: Pc, avoided: usize) -> bool {
    let mut seen = vec![false; ops.len()];
    let mut open = vec![0];
    while let Some(at) = open.pop() {
        let Some(op) = ops.get(at).filter(|_| at != avoided && !seen[at]) else {
            continue;
        };
        seen[at] = true;
        match op {
            Op::Ret(_) => return true,
            Op::Goto(to) => open.push(to.index() - start.index()),
            Op::If(_, to) => open.extend([at + 1, to.index() - start.index()]),
            _ => open.push(at + 1),
        }
    }
    false
}

/// Whether the operations from `at` on do nothing but return the value of the register.
fn is_returned(ops: &[Op], start: Pc, mut at: usize, mut reg: Reg) -> bool {
    // Jumps may lead back: no way that ends is longer than the function.
    for _ in 0..ops.len() {
        at = match ops.get(at) {
            Some(Op::Ret(result)) => return *result == reg,
            Some(Op::Goto(to)) => to.index() - start.index(),
            Some(Op::Nop) => at + 1,
            Some(Op::Null(other)) if *other != reg => at + 1,
            Some(Op::Copy(to, Src::Reg(from))) if *from == reg => {
                reg = *to;
                at + 1
            }
            _ => return false,
        };
    }
    false
}

/// The registers of the results, if there is one way out and they are tensors made in the function.
fn results(ops: &[Op]) -> Vec<(Reg, usize)> {
    let mut outs = ops.iter().filter_map(|op| match op {
        Op::Ret(reg) => Some(*reg),
        _ => None,
    });
    let (Some(out), None) = (outs.next(), outs.next()) else {
        return vec![];
    };
    let allocated = |reg: Reg| {
        ops.iter().find_map(|op| match op {
            Op::AllocTensor { dst, storages, .. } if *dst == reg => match **storages {
                [storage] => Some((reg, storage)),
                _ => None,
            },
            _ => None,
        })
    };
    if let Some(result) = allocated(out) {
        return vec![result];
    }
    let items = ops.iter().find_map(|op| match op {
        Op::MakeTuple(dst, items) if *dst == out => Some(items),
        _ => None,
    });
    let regs = items.map(|items| {
        let reg = |src: &Src| match src {
            Src::Reg(reg) => allocated(*reg),
            Src::Const(_) | Src::Int(_) => None,
        };
        items.iter().map(reg).collect::<Option<Vec<_>>>()
    });
    regs.flatten().unwrap_or_default()
}
