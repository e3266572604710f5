//! `Value`: what functions take and give.

use std::sync::Arc;

#[cfg(feature = "gpu")]
use crate::runtime_gpu::DeviceTensor;
use crate::tensor::Tensor;

/// An argument or a result. Clones share what they hold.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub enum Value {
    /// Nothing.
    #[default]
    None,
    /// A tensor in host memory.
    Tensor(Tensor),
    /// A tensor in the memory of a GPU.
    #[cfg(feature = "gpu")]
    DeviceTensor(DeviceTensor),
    /// Several values.
    Tuple(Vec<Value>),
    /// A shape.
    Shape(Arc<[i64]>),
    /// An integer or a `bool`.
    Int(i64),
    /// A float.
    Float(f64),
    /// Text.
    Str(Arc<str>),
    /// A function with values that it takes after its arguments.
    Closure(Arc<Closure>),
}

/// A closure, which the machine that made it can call.
#[derive(Clone, Debug)]
pub struct Closure {
    /// The number of that machine.
    pub(crate) machine: u64,
    /// The number of the function there.
    pub(crate) function: usize,
    /// Its name, for messages.
    pub(crate) name: Arc<str>,
    /// The values.
    pub(crate) captured: Vec<Value>,
}

impl Closure {
    /// One that no machine can call.
    #[cfg(feature = "cli")]
    pub(crate) fn of_no_machine() -> Self {
        Self {
            machine: u64::MAX,
            function: 0,
            name: "closure".into(),
            captured: vec![],
        }
    }
}

/// The value is of another kind than the one asked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected {expected}, got {got}")]
pub struct ValueError {
    /// What was asked for.
    pub expected: &'static str,
    /// What it is.
    pub got: &'static str,
}

impl Value {
    /// What kind of value it is, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::None => "nothing",
            Self::Tensor(_) => "a tensor",
            #[cfg(feature = "gpu")]
            Self::DeviceTensor(_) => "a device tensor",
            Self::Tuple(_) => "a tuple",
            Self::Shape(_) => "a shape",
            Self::Int(_) => "an integer",
            Self::Float(_) => "a float",
            Self::Str(_) => "text",
            Self::Closure(_) => "a closure",
        }
    }

    fn other(&self, expected: &'static str) -> ValueError {
        let got = self.kind();
        ValueError { expected, got }
    }

    /// The tensor in host memory.
    ///
    /// # Errors
    /// If it is anything else.
    pub fn as_tensor(&self) -> Result<&Tensor, ValueError> {
        if let Self::Tensor(tensor) = self {
            Ok(tensor)
        } else {
            Err(self.other("a tensor"))
        }
    }

    /// The tensor in host memory, to be written: an output of a packed function.
    ///
    /// # Errors
    /// If it is anything else.
    pub fn as_tensor_mut(&mut self) -> Result<&mut Tensor, ValueError> {
        if let Self::Tensor(tensor) = self {
            Ok(tensor)
        } else {
            Err(self.other("a tensor"))
        }
    }

    /// The tensor itself.
    ///
    /// # Errors
    /// If it is anything else.
    pub fn into_tensor(self) -> Result<Tensor, ValueError> {
        if let Self::Tensor(tensor) = self {
            Ok(tensor)
        } else {
            Err(self.other("a tensor"))
        }
    }

    /// The elements of the tuple.
    ///
    /// # Errors
    /// If it is anything else.
    pub fn as_tuple(&self) -> Result<&[Self], ValueError> {
        if let Self::Tuple(items) = self {
            Ok(items)
        } else {
            Err(self.other("a tuple"))
        }
    }

    /// The integer.
    ///
    /// # Errors
    /// If it is anything else.
    pub fn as_int(&self) -> Result<i64, ValueError> {
        if let Self::Int(value) = self {
            Ok(*value)
        } else {
            Err(self.other("an integer"))
        }
    }
}

impl From<Tensor> for Value {
    fn from(tensor: Tensor) -> Self {
        Self::Tensor(tensor)
    }
}

#[cfg(feature = "gpu")]
impl From<DeviceTensor> for Value {
    fn from(tensor: DeviceTensor) -> Self {
        Self::DeviceTensor(tensor)
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Self {
        Self::Float(value)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Str(text.into())
    }
}

impl From<Vec<Self>> for Value {
    fn from(items: Vec<Self>) -> Self {
        Self::Tuple(items)
    }
}
