//! The steps of operations that call no function of the executable.

use std::sync::Arc;

use super::VmError;
use super::check::{
    check_func, check_prim, check_shape, check_tensor, check_tuple, match_scalar, match_shape,
    tensor_info,
};
use super::frame::{Frame, Heap, Regs};
use super::launch::Args;
use super::place::Place;
use super::program::{Make, Op, Src};
use super::run::Run;
use crate::artifact::{Constant, ErrorContext, Pc};
use crate::runtime::{Closure, Value};
use crate::tensor::{ScalarType, Tensor};

impl Run<'_> {
    /// An operation that calls no function of the executable.
    pub(super) fn step(&mut self, op: &Op, pc: Pc, frame: &mut Frame) -> Result<(), VmError> {
        let consts = &self.state.consts;
        let value = |frame: &Frame, src: Src| match src {
            Src::Reg(reg) => frame.regs[reg].clone(),
            Src::Const(index) => consts[index].clone(),
            Src::Int(value) => Value::Int(value),
        };
        match op {
            Op::Nop => {}
            Op::Null(dst) => frame.regs[*dst] = Value::None,
            Op::CheckTensor(src, ndim, dtype, context) => check_tensor(
                peek(&frame.regs, consts, *src),
                *ndim,
                *dtype,
                self.context(*context),
            )?,
            Op::CheckShape(src, ndim, context) => {
                check_shape(
                    peek(&frame.regs, consts, *src),
                    *ndim,
                    self.context(*context),
                )?;
            }
            Op::CheckPrim(src, context) => {
                check_prim(peek(&frame.regs, consts, *src), self.context(*context))?;
            }
            Op::CheckTuple(src, len, context) => {
                check_tuple(
                    peek(&frame.regs, consts, *src),
                    *len,
                    self.context(*context),
                )?;
            }
            Op::CheckFunc(src, context) => {
                check_func(peek(&frame.regs, consts, *src), self.context(*context))?;
            }
            Op::MatchShape(src, dims, context) => {
                let context = self.context(*context);
                let given = peek(&frame.regs, consts, *src);
                match_shape(given, dims, &mut frame.heap, context)?;
            }
            Op::MatchPrim(src, rule, context) => {
                let context = self.context(*context);
                let given = value(frame, *src);
                check_prim(&given, context)?;
                let given = given
                    .as_int()
                    .map_err(|e| self.register(pc, e.expected, &given))?;
                match_scalar(given, *rule, &mut frame.heap, context)?;
            }
            Op::ShapeFunc(index) => self.shape_func(*index, frame)?,
            Op::MakeShape(dst, dims) => make_shape(&mut frame.regs[*dst], dims, &frame.heap),
            Op::MakePrim(dst, dim) => frame.regs[*dst] = Value::Int(made(*dim, &frame.heap)),
            Op::AllocStorage {
                storage,
                size,
                place,
            } => {
                let bytes = self.shape(peek(&frame.regs, consts, *size), pc)?;
                let bytes = self.storage_bytes(bytes)?;
                let storage = &mut frame.storages[*storage];
                storage.bytes = bytes;
                storage.place = Some(*place);
            }
            Op::AllocTensor {
                dst,
                storages,
                offset,
                shape,
                dtype,
            } => {
                let place = Place {
                    storages,
                    offset: *offset,
                    shape: *shape,
                    dtype: *dtype,
                };
                self.alloc_tensor(frame, *dst, place, pc)?;
            }
            Op::Launch {
                kernel,
                sharings,
                args,
                site,
            } => {
                let native = self.exec.kernels[*kernel].is_native();
                let mut args = Args {
                    srcs: args,
                    regs: &mut frame.regs,
                    consts: match native {
                        true => &self.state.host_consts,
                        false => &self.state.consts,
                    },
                };
                let site = &mut frame.sites[*site];
                let profile = self.state.profile.is_some();
                let backend = &mut self.state.backend;
                backend.launch(self.exec, *kernel, sharings, site, &mut args, profile)?;
            }
            Op::CallPacked(dst, index, args) => {
                let result = self.call_packed(*index, args, frame)?;
                if let Some(dst) = dst {
                    frame.regs[*dst] = result;
                }
            }
            Op::MakeTuple(dst, items) => {
                let items = items.iter().map(|&item| value(frame, item)).collect();
                frame.regs[*dst] = Value::Tuple(items);
            }
            Op::TupleGetItem(dst, tuple, index) => {
                let Value::Tuple(items) = peek(&frame.regs, consts, *tuple) else {
                    let given = peek(&frame.regs, consts, *tuple);
                    return Err(self.register(pc, "a tuple", given));
                };
                let item = items.get(*index).cloned();
                frame.regs[*dst] =
                    item.ok_or_else(|| self.register(pc, "a longer tuple", &Value::Tuple(vec![])))?;
            }
            Op::Copy(dst, src) => frame.regs[*dst] = value(frame, *src),
            Op::ReadIfCond(dst, src) => {
                let taken = truth(peek(&frame.regs, consts, *src));
                let given = peek(&frame.regs, consts, *src);
                let taken = taken.ok_or_else(|| self.register(pc, "a scalar bool", given))?;
                frame.regs[*dst] = Value::Int(taken.into());
            }
            Op::ToHost(dst, src) => {
                let given = value(frame, *src);
                frame.regs[*dst] = self.state.backend.copy_to_host(given)?;
            }
            Op::ToDevice(dst, src) => {
                let given = value(frame, *src);
                frame.regs[*dst] = self.state.backend.copy_to_device(given)?;
            }
            Op::ShapeOf(dst, src) => {
                let given = peek(&frame.regs, consts, *src);
                let (shape, _) =
                    tensor_info(given).ok_or_else(|| self.register(pc, "a tensor", given))?;
                let dims = shape.iter().map(|&dim| dim as i64);
                let known = match &frame.regs[*dst] {
                    Value::Shape(old) => old.iter().copied().eq(dims.clone()),
                    _ => false,
                };
                if !known {
                    let shape: Arc<[i64]> = dims.collect();
                    frame.regs[*dst] = Value::Shape(shape);
                }
            }
            Op::Reshape(dst, src, shape) => {
                let shape = self.shape(peek(&frame.regs, consts, *shape), pc)?;
                let shape: Vec<usize> = self.extents(shape)?.collect();
                let result = self.reshape(peek(&frame.regs, consts, *src), &shape, pc)?;
                frame.regs[*dst] = result;
            }
            Op::MakeClosure(dst, function, values) => {
                frame.regs[*dst] = self.make_closure(*function, values, frame);
            }
            Op::CallFunction(..) | Op::InvokeClosure(..) => {
                unreachable!("calls are handled by `activation`")
            }
            Op::Ret(_) | Op::Goto(_) | Op::If(..) => {
                unreachable!("control flow is handled by `activation`")
            }
        }
        Ok(())
    }

    fn context(&self, index: usize) -> &ErrorContext {
        match &self.exec.constants[index] {
            Constant::Context(context) => context,
            _ => unreachable!("decoding checked that the constant is a context"),
        }
    }

    pub(super) fn register(&self, pc: Pc, expected: &'static str, given: &Value) -> VmError {
        VmError::Register {
            func: self.code.name.to_string(),
            pc,
            expected,
            given: given.kind(),
        }
    }

    fn shape_func(&self, index: usize, frame: &mut Frame) -> Result<(), VmError> {
        for (slot, expr) in &self.exec.shape_funcs[index].outputs {
            let value = expr
                .eval_exact(frame.heap.slots())
                .map_err(|source| VmError::Eval {
                    func: self.code.name.to_string(),
                    source,
                })?;
            frame.heap[*slot] = value;
        }
        Ok(())
    }

    pub(super) fn shape<'v>(&self, value: &'v Value, pc: Pc) -> Result<&'v [i64], VmError> {
        match value {
            Value::Shape(dims) => Ok(dims),
            other => Err(self.register(pc, "a shape", other)),
        }
    }

    /// The dimensions as extents.
    pub(super) fn extents<'v>(
        &self,
        dims: &'v [i64],
    ) -> Result<impl Iterator<Item = usize> + use<'v>, VmError> {
        match dims.iter().find(|dim| **dim < 0) {
            Some(&given) => Err(VmError::NegativeDimension {
                func: self.code.name.to_string(),
                given,
            }),
            None => Ok(dims.iter().map(|&dim| dim as usize)),
        }
    }

    /// Bytes of a storage, as a product of counts.
    fn storage_bytes(&self, counts: &[i64]) -> Result<usize, VmError> {
        let mut left = counts.iter();
        let bytes = left.try_fold(1i64, |bytes, &count| bytes.checked_mul(count));
        let fits = bytes.and_then(|bytes| usize::try_from(bytes).ok());
        fits.ok_or_else(|| VmError::Storage {
            func: self.code.name.to_string(),
            bytes,
        })
    }

    fn reshape(&self, value: &Value, shape: &[usize], pc: Pc) -> Result<Value, VmError> {
        let failed = |source| VmError::Tensor {
            func: self.code.name.to_string(),
            source,
        };
        match value {
            Value::Tensor(tensor) => tensor.reshape(shape).map(Value::Tensor).map_err(failed),
            #[cfg(feature = "gpu")]
            Value::DeviceTensor(tensor) => Ok(Value::DeviceTensor(tensor.reshape(shape)?)),
            other => Err(self.register(pc, "a tensor", other)),
        }
    }

    fn make_closure(&self, function: usize, values: &[Src], frame: &Frame) -> Value {
        Value::Closure(Arc::new(Closure {
            machine: self.state.machine,
            function,
            name: self.program.codes[function].name.clone(),
            captured: self.values(values, frame),
        }))
    }

    pub(super) fn values(&self, srcs: &[Src], frame: &Frame) -> Vec<Value> {
        srcs.iter().map(|&src| self.value(src, frame)).collect()
    }

    pub(super) fn value(&self, src: Src, frame: &Frame) -> Value {
        match src {
            Src::Int(value) => Value::Int(value),
            held => peek(&frame.regs, &self.state.consts, held).clone(),
        }
    }

    /// The function of a closure that this machine made, and its arguments.
    pub(super) fn closure_call(
        &self,
        closure: Src,
        args: &[Src],
        frame: &Frame,
        pc: Pc,
    ) -> Result<(usize, Vec<Value>), VmError> {
        let given = peek(&frame.regs, &self.state.consts, closure);
        let Value::Closure(closure) = given else {
            return Err(self.register(pc, "a closure", given));
        };
        let captured = &closure.captured;
        let code = self.state.closure_code(self.program, closure)?;
        let takes = code.params.len() - captured.len();
        if args.len() != takes {
            return Err(VmError::ClosureArguments {
                func: code.name.to_string(),
                expected: takes,
                given: args.len(),
            });
        }
        let mut values = self.values(args, frame);
        values.extend(captured.iter().cloned());
        Ok((closure.function, values))
    }

    /// Calls a packed function. Values of registers are moved there and back, so that an output is not shared.
    fn call_packed(
        &mut self,
        index: usize,
        args: &[Src],
        frame: &mut Frame,
    ) -> Result<Value, VmError> {
        let mut values = std::mem::take(&mut self.state.packed_args);
        values.clear();
        for (at, arg) in args.iter().enumerate() {
            values.push(match *arg {
                Src::Reg(reg) if !args[..at].contains(arg) => frame.regs.take(reg),
                Src::Reg(_) => {
                    let first = args.iter().position(|other| other == arg);
                    values[first.expect("it is among those before")].clone()
                }
                Src::Const(index) => self.state.host_consts[index].clone(),
                Src::Int(value) => Value::Int(value),
            });
        }
        let func = self.state.packed[index].clone();
        let result = func(&mut values);
        for (arg, value) in args.iter().zip(values.drain(..)).rev() {
            if let Src::Reg(reg) = *arg {
                frame.regs[reg] = value;
            }
        }
        self.state.packed_args = values;
        result.map_err(|source| VmError::Packed {
            name: self.program.packed[index].clone(),
            source,
        })
    }
}

/// The value of an operand; of an integer, nothing.
pub(super) fn peek<'a>(regs: &'a Regs, consts: &'a [Value], src: Src) -> &'a Value {
    match src {
        Src::Reg(reg) => &regs[reg],
        Src::Const(index) => &consts[index],
        Src::Int(_) => &Value::None,
    }
}

fn made(dim: Make, heap: &Heap) -> i64 {
    match dim {
        Make::Imm(value) => value,
        Make::Load(slot) => heap[slot],
    }
}

/// Makes a shape, or leaves the one that is there if it is the same.
fn make_shape(reg: &mut Value, dims: &[Make], heap: &Heap) {
    if let Value::Shape(old) = reg
        && old.len() == dims.len()
        && old
            .iter()
            .zip(dims)
            .all(|(old, dim)| *old == made(*dim, heap))
    {
        return;
    }
    *reg = Value::Shape(dims.iter().map(|dim| made(*dim, heap)).collect());
}

/// Whether a scalar is true; `None` if it is none.
fn truth(value: &Value) -> Option<bool> {
    match value {
        Value::Int(value) => Some(*value != 0),
        Value::Tensor(tensor) if tensor.len() == 1 => Some(scalar_truth(tensor)),
        _ => None,
    }
}

fn scalar_truth(tensor: &Tensor) -> bool {
    match tensor.dtype().scalar {
        // The sign of a zero does not make it true.
        ScalarType::F16 | ScalarType::BF16 => {
            tensor.bytes()[0] != 0 || tensor.bytes()[1] & 0x7f != 0
        }
        ScalarType::F32 => tensor.as_slice::<f32>().is_ok_and(|s| s[0] != 0.0),
        ScalarType::F64 => tensor.as_slice::<f64>().is_ok_and(|s| s[0] != 0.0),
        _ => tensor.bytes().iter().any(|byte| *byte != 0),
    }
}
