//! Memory of graph functions: storage, tensors placed in it, and calls that write them.
//!
//! What is written through one tensor is seen through all that share its bytes, so that a plan that lets two tensors share memory
//! while both are needed gives wrong numbers here as it would on a device. Between functions values go as they are at that moment.

use std::cell::RefCell;
use std::rc::Rc;

use super::module::{Frame, Outer, Packed, Run, Value};
use super::{InterpError, call_prim_func};
use crate::ir::PrimFunc;
use crate::ir::graph::{Arg, Function, ValueId};
use crate::ops::MachineOp;
use crate::tensor::pack::memory_of;
use crate::tensor::scalar::Scalar;
use crate::tensor::{DType, Tensor};

/// Bytes that tensors are placed in.
#[derive(Clone, Default)]
pub struct Storage(Rc<RefCell<Vec<u8>>>);

/// A tensor in storage.
#[derive(Clone)]
pub struct Placed {
    storage: Storage,
    offset: usize,
    shape: Vec<usize>,
    dtype: DType,
}

impl Placed {
    /// The tensor in storage of its own.
    pub(super) fn of(tensor: &Tensor) -> Self {
        Self {
            storage: Storage(Rc::new(RefCell::new(tensor.bytes().to_vec()))),
            offset: 0,
            shape: tensor.shape().to_vec(),
            dtype: tensor.dtype(),
        }
    }

    pub(super) fn shape(&self) -> &[usize] {
        &self.shape
    }

    pub(super) fn dtype(&self) -> DType {
        self.dtype
    }

    fn bytes(&self) -> std::ops::Range<usize> {
        let len = self.shape.iter().product::<usize>() * self.dtype.bytes();
        self.offset..self.offset + len
    }

    /// The tensor as it is now.
    pub(super) fn read(&self) -> Result<Tensor, InterpError> {
        let storage = self.storage.0.borrow();
        Ok(Tensor::from_bytes(
            self.dtype,
            &self.shape,
            &storage[self.bytes()],
        )?)
    }

    pub(super) fn write(&self, tensor: &Tensor) {
        self.storage.0.borrow_mut()[self.bytes()].copy_from_slice(tensor.bytes());
    }
}

impl Value {
    /// The storages that tensors are placed in: one, or several one after the other.
    fn storages(&self) -> Option<Vec<Storage>> {
        match self {
            Self::Storage(storage) => Some(vec![storage.clone()]),
            Self::Tuple(items) => {
                let items = items.iter().map(Self::storages);
                Some(items.collect::<Option<Vec<_>>>()?.concat())
            }
            _ => None,
        }
    }

    /// The value as it is now: its tensors in memory of their own.
    pub(super) fn settled(self) -> Result<Self, InterpError> {
        Ok(match self {
            Self::Placed(placed) => Self::Tensor(placed.read()?),
            Self::Tuple(items) => {
                let items = items.into_iter().map(Self::settled);
                Self::Tuple(items.collect::<Result<_, _>>()?)
            }
            other => other,
        })
    }
}

/// What writes into its arguments.
pub(super) enum Writer<'a> {
    Program(&'a PrimFunc),
    Packed(&'a str, Packed<'a>),
}

/// Where an argument lies.
enum Location {
    Placed(Rc<Placed>),
    /// A value of the function.
    Value(ValueId),
    Nowhere,
}

impl Run<'_> {
    /// Memory, a tensor in it, or the end of a life.
    #[inline(never)]
    pub(super) fn memory_op(
        &self,
        func: &Function,
        op: MachineOp,
        args: &[Arg],
        frame: &mut Frame,
        around: &[Outer],
    ) -> Result<Value, InterpError> {
        let wrong = |expected| InterpError::WrongKind {
            value: "memory".to_owned(),
            expected,
        };
        let values = self.args(func, args, frame, around)?;
        match (op, values.as_slice(), args) {
            (MachineOp::Alloc, [Value::Shape(shape), ..], [_, Arg::DType(dtype), ..]) => {
                let zeros = Tensor::zeros(*dtype, &extents(shape))?;
                Ok(Value::Placed(Rc::new(Placed::of(&zeros))))
            }
            (MachineOp::AllocStorage, [Value::Shape(size), ..], _) => {
                let bytes = Tensor::zeros(DType::U8, &extents(size))?.bytes().to_vec();
                Ok(Value::Storage(Storage(Rc::new(RefCell::new(bytes)))))
            }
            (
                MachineOp::AllocTensor,
                [memory, Value::Scalar(offset), Value::Shape(shape), ..],
                [_, _, _, Arg::DType(dtype), ..],
            ) => {
                let storages = memory.storages().ok_or_else(|| wrong("storage"))?;
                let offset = usize::try_from(offset.as_int()).map_err(|_| wrong("of an offset"))?;
                let mut placed = Placed {
                    storage: Storage::default(),
                    offset,
                    shape: extents(shape),
                    dtype: *dtype,
                };
                let sizes = storages.iter().map(|storage| storage.0.borrow().len());
                let found = memory_of(sizes, offset, placed.bytes().end);
                let (at, start) = found.ok_or_else(|| wrong("large enough for its tensors"))?;
                placed.storage = storages[at].clone();
                placed.offset = start;
                Ok(Value::Placed(Rc::new(placed)))
            }
            (MachineOp::Kill, _, _) => Ok(Value::Tuple(vec![])),
            _ => Err(wrong("given as shapes and element types")),
        }
    }

    /// Calls what writes into its arguments: tensors and scalars, tuples by their elements, shapes by their extents.
    #[inline(never)]
    pub(super) fn call_writing(
        &self,
        func: &Function,
        callee: &Writer<'_>,
        args: &[Arg],
        frame: &mut Frame,
        around: &[Outer],
    ) -> Result<Value, InterpError> {
        let mut call = Leaves::default();
        for arg in args {
            let value = self.arg(func, arg, frame, around)?;
            call.add(value, Some(arg))?;
        }
        let before = call.tensors.clone();
        // The same tensor may be given twice, so every argument becomes a tensor of its own.
        let mut tensors = before
            .iter()
            .map(|t| Tensor::from_bytes(t.dtype(), t.shape(), t.bytes()))
            .collect::<Result<Vec<_>, _>>()?;
        match callee {
            Writer::Program(program) => {
                if let Some(result) = call_prim_func(program, &mut tensors, &call.scalars)? {
                    return Ok(Value::Scalar(result));
                }
            }
            Writer::Packed(name, packed) => {
                packed(&mut tensors).map_err(|message| InterpError::Packed {
                    name: (*name).to_owned(),
                    message,
                })?;
            }
        }
        for ((tensor, before), location) in tensors.into_iter().zip(before).zip(call.locations) {
            if tensor.bytes() == before.bytes() {
                continue;
            }
            match location {
                Location::Placed(placed) => placed.write(&tensor),
                Location::Value(id) => {
                    frame.values.insert(id, Value::Tensor(tensor));
                }
                Location::Nowhere => {
                    return Err(InterpError::WrongKind {
                        value: "an argument that is written".to_owned(),
                        expected: "memory",
                    });
                }
            }
        }
        Ok(Value::Tuple(vec![]))
    }

    /// The scalars and tensors that a shape and a tuple of arguments are for `vm.call_tir_dyn`.
    #[inline(never)]
    pub(super) fn call_program_op(
        &self,
        func: &Function,
        args: &[Arg],
        frame: &mut Frame,
        around: &[Outer],
    ) -> Result<Value, InterpError> {
        let program = match args {
            [Arg::Global(name), Arg::Tuple(args)] => {
                let program = self.module.prim_func(name);
                program.map(|program| (program, args))
            }
            _ => None,
        };
        let (program, args) = program.ok_or_else(|| InterpError::WrongKind {
            value: "what is called".to_owned(),
            expected: "a loop program with a tuple of arguments",
        })?;
        self.call_writing(func, &Writer::Program(program), args, frame, around)
    }
}

/// The leaves of arguments.
#[derive(Default)]
struct Leaves {
    tensors: Vec<Tensor>,
    locations: Vec<Location>,
    scalars: Vec<Scalar>,
}

impl Leaves {
    fn add(&mut self, value: Value, arg: Option<&Arg>) -> Result<(), InterpError> {
        match value {
            Value::Placed(placed) => {
                self.tensors.push(placed.read()?);
                self.locations.push(Location::Placed(placed));
            }
            Value::Tensor(tensor) => {
                self.tensors.push(tensor);
                self.locations.push(match arg {
                    Some(Arg::Value(id)) => Location::Value(*id),
                    _ => Location::Nowhere,
                });
            }
            Value::Scalar(scalar) => self.scalars.push(scalar),
            Value::Shape(dims) => self.scalars.extend(dims.into_iter().map(Scalar::Int)),
            Value::Tuple(items) => {
                for item in items {
                    self.add(item, None)?;
                }
            }
            Value::Str(_) | Value::Closure(_) | Value::Storage(_) => {
                return Err(InterpError::WrongKind {
                    value: "an argument of a loop program".to_owned(),
                    expected: "a tensor or a scalar",
                });
            }
        }
        Ok(())
    }
}

fn extents(shape: &[i64]) -> Vec<usize> {
    shape.iter().map(|&dim| dim.max(0) as usize).collect()
}
