//! Packed functions that check values and keep symbolic dimensions in a shape heap, as `vm_shape_lower` writes them.
//!
//! The heap is a tensor of `int64` in memory, which shape functions read and write as any loop program does.

use std::rc::Rc;

use super::InterpError;
use super::module::{Frame, Outer, Run, Value};
use super::placed::Placed;
use crate::ir::graph::{Arg, Function};
use crate::ops::{ALLOC_SHAPE_HEAP, CodeError, MakeDim, MatchDim, ShapeBuiltin};
use crate::tensor::scalar::{Scalar, wrap_int};
use crate::tensor::{DType, Tensor};

/// Most slots of a heap.
const MOST_SLOTS: i64 = 1 << 20;

impl Run<'_> {
    /// What `R.call_builtin_with_ctx` gives: a shape heap.
    #[inline(never)]
    pub(super) fn alloc_shape_heap(
        &self,
        func: &Function,
        args: &[Arg],
        frame: &Frame,
        around: &[Outer],
    ) -> Result<Value, InterpError> {
        let [Arg::Extern(name), count] = args else {
            return Err(malformed(
                "call_builtin_with_ctx",
                "called with a name and a tuple",
            ));
        };
        if name != ALLOC_SHAPE_HEAP {
            return Err(super::module::unknown(name));
        }
        let count = match self.arg(func, count, frame, around)? {
            Value::Tuple(items) => items.first().and_then(integer),
            Value::Shape(dims) => dims.first().copied(),
            _ => None,
        };
        let count = count.filter(|count| (0..=MOST_SLOTS).contains(count));
        let count = count.ok_or_else(|| malformed(name, "given a number of slots"))?;
        let zeros = Tensor::zeros(DType::I64, &[count as usize])?;
        Ok(Value::Placed(Rc::new(Placed::of(&zeros))))
    }

    /// A check, or what is made from the heap.
    #[inline(never)]
    pub(super) fn shape_builtin(
        &self,
        func: &Function,
        builtin: ShapeBuiltin,
        args: &[Arg],
        frame: &Frame,
        around: &[Outer],
    ) -> Result<Value, InterpError> {
        let values = self.args(func, args, frame, around)?;
        let value = match args.first() {
            Some(Arg::Value(id)) => func.values[*id].name.clone(),
            _ => "an argument".to_owned(),
        };
        let call = Call {
            func: &func.name,
            builtin,
            value,
        };
        match (builtin, values.as_slice()) {
            (ShapeBuiltin::CheckTensor, [value, ndim, dtype, _]) => {
                call.check_tensor(value, ndim, dtype)
            }
            (ShapeBuiltin::CheckShape, [Value::Shape(dims), ndim, _]) => {
                call.check_ndim(dims.len(), ndim)
            }
            (ShapeBuiltin::CheckShape, [_, _, _]) => Err(call.wrong("a shape")),
            (ShapeBuiltin::CheckPrim, [Value::Scalar(given), Value::Str(dtype), _]) => {
                call.check_prim(*given, dtype)
            }
            (ShapeBuiltin::CheckPrim, [_, Value::Str(_), _]) => Err(call.wrong("a scalar")),
            (ShapeBuiltin::CheckTuple, [Value::Tuple(items), len, _])
                if integer(len) == Some(items.len() as i64) =>
            {
                Ok(nothing())
            }
            (ShapeBuiltin::CheckTuple, [_, _, _]) => Err(call.wrong("a tuple of this size")),
            (ShapeBuiltin::CheckFunc, [Value::Closure(_), _]) => Ok(nothing()),
            (ShapeBuiltin::CheckFunc, [_, _]) => Err(call.wrong("a function")),
            (ShapeBuiltin::MatchShape, [value, heap, ndim, codes @ .., _]) => {
                let given = match value {
                    Value::Shape(dims) => dims.clone(),
                    Value::Tensor(tensor) => extents(tensor.shape()),
                    Value::Placed(placed) => extents(placed.shape()),
                    _ => return Err(call.wrong("a tensor or a shape")),
                };
                call.check_ndim(given.len(), ndim)?;
                call.match_all(&given, heap, codes)
            }
            (ShapeBuiltin::MatchPrim, [value, heap, codes @ .., _]) => {
                let given = integer(value).ok_or_else(|| call.wrong("an integer"))?;
                call.match_all(&[given], heap, codes)
            }
            (ShapeBuiltin::MakeShape, [heap, ndim, codes @ ..]) => {
                let dims = call.make(heap, codes)?;
                call.check_ndim(dims.len(), ndim)?;
                Ok(Value::Shape(dims))
            }
            (ShapeBuiltin::MakePrim, [heap, codes @ ..]) => match call.make(heap, codes)?[..] {
                [made] => Ok(Value::Scalar(Scalar::Int(made))),
                _ => Err(call.malformed()),
            },
            (ShapeBuiltin::TupleItem, [Value::Tuple(items), index]) => {
                let index = integer(index).and_then(|index| usize::try_from(index).ok());
                let item = index.and_then(|index| items.get(index));
                item.cloned().ok_or_else(|| call.wrong("a longer tuple"))
            }
            (ShapeBuiltin::TupleItem, [_, _]) => Err(call.wrong("a tuple")),
            _ => Err(call.malformed()),
        }
    }
}

/// One call, for errors.
struct Call<'a> {
    func: &'a str,
    builtin: ShapeBuiltin,
    /// Name of the first argument.
    value: String,
}

impl Call<'_> {
    fn wrong(&self, expected: &'static str) -> InterpError {
        InterpError::WrongKind {
            value: self.value.clone(),
            expected,
        }
    }

    fn malformed(&self) -> InterpError {
        malformed(self.builtin.name(), "called with arguments that it takes")
    }

    fn code(&self, source: CodeError) -> InterpError {
        InterpError::ShapeCode {
            builtin: self.builtin.name(),
            source,
        }
    }

    fn check_tensor(
        &self,
        value: &Value,
        ndim: &Value,
        dtype: &Value,
    ) -> Result<Value, InterpError> {
        let (shape, got) = match value {
            Value::Tensor(tensor) => (tensor.shape(), tensor.dtype()),
            Value::Placed(placed) => (placed.shape(), placed.dtype()),
            _ => return Err(self.wrong("a tensor")),
        };
        self.check_ndim(shape.len(), ndim)?;
        match dtype {
            Value::Str(expected) if *expected != got.to_string() => {
                Err(InterpError::ArgumentDType {
                    func: self.func.to_owned(),
                    param: self.value.clone(),
                    expected: expected.parse().map_err(|_| self.malformed())?,
                    got,
                })
            }
            _ => Ok(nothing()),
        }
    }

    fn check_ndim(&self, got: usize, ndim: &Value) -> Result<Value, InterpError> {
        let ndim = integer(ndim).ok_or_else(|| self.malformed())?;
        match usize::try_from(ndim) {
            Ok(expected) if expected != got => Err(InterpError::ArgumentNdim {
                func: self.func.to_owned(),
                param: self.value.clone(),
                expected,
                got,
            }),
            _ => Ok(nothing()),
        }
    }

    fn check_prim(&self, given: Scalar, dtype: &str) -> Result<Value, InterpError> {
        let dtype: DType = dtype.parse().map_err(|_| self.malformed())?;
        let of_type = match given {
            Scalar::Int(v) => !dtype.is_float() && wrap_int(v, dtype.scalar) == v,
            Scalar::Float(_) => dtype.is_float(),
        };
        match of_type {
            true => Ok(nothing()),
            false => Err(self.wrong("a scalar of its type")),
        }
    }

    /// Matches every dimension by its code, and fills the heap.
    fn match_all(
        &self,
        given: &[i64],
        heap: &Value,
        codes: &[Value],
    ) -> Result<Value, InterpError> {
        let mut slots = self.slots(heap)?;
        let codes = self.pairs(codes)?;
        if codes.len() != given.len() {
            return Err(self.malformed());
        }
        for (dim, (&got, code)) in given.iter().zip(codes).enumerate() {
            let rule = MatchDim::of(code, slots.len()).map_err(|source| self.code(source))?;
            let expected = match rule {
                MatchDim::Skip => continue,
                MatchDim::Store(slot) => {
                    slots[slot] = got;
                    continue;
                }
                MatchDim::Equal(value) => value,
                MatchDim::EqualSlot(slot) => slots[slot],
            };
            if expected == got {
                continue;
            }
            let (func, param) = (self.func.to_owned(), self.value.clone());
            let expected = expected.to_string();
            return Err(match self.builtin {
                ShapeBuiltin::MatchPrim => InterpError::ArgumentValue {
                    func,
                    param,
                    expected,
                    got: got.to_string(),
                },
                _ => InterpError::ArgumentShape {
                    func,
                    param,
                    dim,
                    expected,
                    got: got as usize,
                },
            });
        }
        if let Value::Placed(heap) = heap {
            heap.write(&Tensor::from_slice(&[slots.len()], &slots)?);
        }
        Ok(nothing())
    }

    fn make(&self, heap: &Value, codes: &[Value]) -> Result<Vec<i64>, InterpError> {
        let slots = self.slots(heap)?;
        let dims = self.pairs(codes)?.into_iter().map(|code| {
            let made = MakeDim::of(code, slots.len()).map_err(|source| self.code(source))?;
            Ok(match made {
                MakeDim::Imm(value) => value,
                MakeDim::Slot(slot) => slots[slot],
            })
        });
        dims.collect()
    }

    /// What the heap holds; where there is none, it has no slots.
    fn slots(&self, heap: &Value) -> Result<Vec<i64>, InterpError> {
        match heap {
            Value::Placed(heap) if heap.dtype() == DType::I64 => {
                Ok(heap.read()?.as_slice::<i64>()?.to_vec())
            }
            Value::Tuple(items) if items.is_empty() => Ok(vec![]),
            _ => Err(malformed(self.builtin.name(), "given a shape heap")),
        }
    }

    fn pairs(&self, codes: &[Value]) -> Result<Vec<[i64; 2]>, InterpError> {
        let pair = |pair: &[Value]| match pair {
            [code, operand] => Some([integer(code)?, integer(operand)?]),
            _ => None,
        };
        let pairs: Option<_> = codes.chunks(2).map(pair).collect();
        pairs.ok_or_else(|| self.malformed())
    }
}

/// What a check gives.
fn nothing() -> Value {
    Value::Tuple(vec![])
}

fn malformed(callee: &str, expected: &'static str) -> InterpError {
    InterpError::WrongKind {
        value: callee.to_owned(),
        expected,
    }
}

fn integer(value: &Value) -> Option<i64> {
    match value {
        Value::Scalar(Scalar::Int(value)) => Some(*value),
        _ => None,
    }
}

fn extents(shape: &[usize]) -> Vec<i64> {
    shape.iter().map(|&dim| dim as i64).collect()
}
