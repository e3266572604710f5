//! Bytecode: four instructions over registers. Everything but control flow is a call: of a function of the module, a kernel,
//! a shape function, a packed function, or a builtin. Names, operands and printed form are those of TVM's Relax VM.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::ErrorContext;
use crate::id_type;
use crate::kernel::HostExpr;
use crate::support::Id;
use crate::tensor::{DType, Tensor};

id_type!(
    /// A register of a function.
    pub Reg, "%"
);

id_type!(
    /// A slot of the shape heap of a function, which holds an `int64`.
    pub Slot, "slot "
);

id_type!(
    /// Position of an instruction in the code of an executable.
    pub Pc, ""
);

/// An argument of a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Operand {
    /// A register of the running function.
    Reg(Reg),
    /// An integer.
    Imm(i64),
    /// A constant of the pool.
    Const(u32),
    /// A callee of the table.
    Func(u32),
    /// The machine itself (`%vm`).
    Vm,
}

impl From<Slot> for Operand {
    /// The slot as [`Builtin::MatchShape`] and [`Builtin::MakeShape`] take it: by its number.
    fn from(slot: Slot) -> Self {
        Self::Imm(slot.index() as i64)
    }
}

/// An instruction.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Instr {
    /// Calls and keeps the result, if there is a register for it.
    Call {
        /// Register of the result; `None` for `%void`.
        dst: Option<Reg>,
        /// Index into the table of callees.
        callee: u32,
        /// Arguments.
        args: Vec<Operand>,
    },
    /// Ends the function with the value of a register.
    Ret {
        /// The register.
        result: Reg,
    },
    /// Goes on at this distance from here.
    Goto {
        /// In instructions.
        offset: i32,
    },
    /// Goes on with the next instruction if the register is true, else at this distance from here.
    If {
        /// Register of a condition, from `vm.builtin.read_if_cond`.
        cond: Reg,
        /// In instructions.
        false_offset: i32,
    },
}

impl Instr {
    /// Where a jump leads, if it is one and that is not before the first instruction.
    pub fn target(&self, from: Pc) -> Option<Pc> {
        let offset = match self {
            Self::Goto { offset } => *offset,
            Self::If {
                cond: _,
                false_offset,
            } => *false_offset,
            Self::Call { .. } | Self::Ret { .. } => return None,
        };
        let to = from.index() as i64 + i64::from(offset);
        u32::try_from(to).ok().map(|to| Pc::from_index(to as usize))
    }
}

/// A function in bytecode.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Function {
    /// Its name in the module.
    pub name: String,
    /// Names of the parameters, which arrive in the first registers.
    pub params: Vec<String>,
    /// Number of registers.
    pub num_regs: u32,
    /// Number of `int64` slots of the shape heap.
    pub num_slots: u32,
    /// First instruction.
    pub start: Pc,
    /// One past the last instruction.
    pub end: Pc,
}

impl Function {
    /// The positions of its instructions in the code of its executable.
    pub fn range(&self) -> Range<usize> {
        self.start.index()..self.end.index()
    }
}

/// What a call can call.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Callee {
    /// A function of this executable, by its index.
    Function(u32),
    /// A lowered loop program of this executable, by its index. Arguments: tensors, then integers for its scalar parameters.
    Kernel(u32),
    /// A shape function of this executable, by its index. Argument: the shape heap.
    ShapeFunc(u32),
    /// A packed function, by the name it is registered under.
    Packed(String),
    /// A builtin.
    Builtin(Builtin),
}

/// Builtins of the machine.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Builtin {
    /// `(%vm, slots)`: the shape heap.
    AllocShapeHeap,
    /// `(value, ndim or -1, dtype, context)`: the value is a tensor of this kind.
    CheckTensorInfo,
    /// `(value, ndim or -1, context)`: the value is a shape of this kind.
    CheckShapeInfo,
    /// `(value, dtype, context)`: the value is a scalar.
    CheckPrimValueInfo,
    /// `(value, len, context)`: the value is a tuple.
    CheckTupleInfo,
    /// `(value, context)`: the value is a closure.
    CheckFuncInfo,
    /// `(value, heap, ndim, (code, operand)*, context)`, codes as in [`match_code`]: dimensions agree with the shape heap, or
    /// fill it.
    MatchShape,
    /// `(value, heap, code, operand, context)`: the same for an integer.
    MatchPrimValue,
    /// `(heap, ndim, (code, operand)*)`, codes as in [`shape_code`]: a shape.
    MakeShape,
    /// `(heap, code, operand)`: an integer.
    MakePrimValue,
    /// `(%vm, shape of the size in bytes, place)`: memory for tensors, kept from call to call.
    AllocStorage,
    /// `(storages*, offset, shape, dtype)`: a tensor in the storages, whose bytes are counted one after the other. Where all tensors of a
    /// storage start at 0, it is in place of the one before; else the storage is an arena, and only kernels may see its tensors, but
    /// for one that ends it: the last of the storage, at its start.
    AllocTensor,
    /// `(values*)`: a tuple.
    MakeTuple,
    /// `(tuple, index)`: an element.
    TupleGetItem,
    /// `(value)`: the value again.
    Copy,
    /// `(tensor)`: its truth, for `If`.
    ReadIfCond,
    /// `(value)`: tensors in it copied from the device to the host.
    ToHost,
    /// `(value)`: tensors in it copied from the host to the device.
    ToDevice,
    /// `(value)`: the shape of a tensor.
    ShapeOf,
    /// `(tensor, shape)`: the same elements in another shape.
    Reshape,
    /// `(function, values*)`: a closure of a function of the executable, which takes the values after its arguments.
    MakeClosure,
    /// `(closure, arguments*)`: what the closure gives.
    InvokeClosure,
    /// `()`: nothing, in place of a value that is needed no more.
    NullValue,
}

impl Builtin {
    /// All of them.
    pub const ALL: [Self; 23] = [
        Self::AllocShapeHeap,
        Self::CheckTensorInfo,
        Self::CheckShapeInfo,
        Self::CheckPrimValueInfo,
        Self::CheckTupleInfo,
        Self::CheckFuncInfo,
        Self::MatchShape,
        Self::MatchPrimValue,
        Self::MakeShape,
        Self::MakePrimValue,
        Self::AllocStorage,
        Self::AllocTensor,
        Self::MakeTuple,
        Self::TupleGetItem,
        Self::Copy,
        Self::ReadIfCond,
        Self::ToHost,
        Self::ToDevice,
        Self::ShapeOf,
        Self::Reshape,
        Self::MakeClosure,
        Self::InvokeClosure,
        Self::NullValue,
    ];

    /// Its name, as TVM has it.
    pub fn name(self) -> &'static str {
        match self {
            Self::AllocShapeHeap => "vm.builtin.alloc_shape_heap",
            Self::CheckTensorInfo => "vm.builtin.check_tensor_info",
            Self::CheckShapeInfo => "vm.builtin.check_shape_info",
            Self::CheckPrimValueInfo => "vm.builtin.check_prim_value_info",
            Self::CheckTupleInfo => "vm.builtin.check_tuple_info",
            Self::CheckFuncInfo => "vm.builtin.check_func_info",
            Self::MatchShape => "vm.builtin.match_shape",
            Self::MatchPrimValue => "vm.builtin.match_prim_value",
            Self::MakeShape => "vm.builtin.make_shape",
            Self::MakePrimValue => "vm.builtin.make_prim_value",
            Self::AllocStorage => "vm.builtin.alloc_storage",
            Self::AllocTensor => "vm.builtin.alloc_tensor",
            Self::MakeTuple => "vm.builtin.make_tuple",
            Self::TupleGetItem => "vm.builtin.tuple_getitem",
            Self::Copy => "vm.builtin.copy",
            Self::ReadIfCond => "vm.builtin.read_if_cond",
            Self::ToHost => "vm.builtin.to_host",
            Self::ToDevice => "vm.builtin.to_device",
            Self::ShapeOf => "vm.builtin.shape_of",
            Self::Reshape => "vm.builtin.reshape",
            Self::MakeClosure => "vm.builtin.make_closure",
            Self::InvokeClosure => "vm.builtin.invoke_closure",
            Self::NullValue => "vm.builtin.null_value",
        }
    }

    /// The builtin that a graph function may call by this name, on values alone.
    pub fn named(name: &str) -> Option<Self> {
        let on_values = [Self::Copy, Self::ToHost, Self::ToDevice, Self::ShapeOf];
        on_values.into_iter().find(|builtin| builtin.name() == name)
    }
}

/// What [`Builtin::MatchShape`] does with a dimension (TVM: `MatchShapeCode`).
pub mod match_code {
    /// It equals the immediate.
    pub const ASSERT_EQUAL_TO_IMM: i64 = 0;
    /// It goes to a slot of the heap.
    pub const STORE_TO_HEAP: i64 = 1;
    /// Nothing.
    pub const NO_OP: i64 = 2;
    /// It equals a slot of the heap.
    pub const ASSERT_EQUAL_TO_LOAD: i64 = 3;
}

/// Where [`Builtin::MakeShape`] gets a dimension (TVM: `MakeShapeCode`).
pub mod shape_code {
    /// The immediate.
    pub const USE_IMM: i64 = 0;
    /// A slot of the heap.
    pub const LOAD_SHAPE: i64 = 1;
}

/// Where memory lies: the operand of [`Builtin::AllocStorage`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MemorySpace {
    /// On the device that the executable runs on.
    Device,
    /// In host memory.
    Host,
}

impl MemorySpace {
    /// The operand.
    pub fn imm(self) -> i64 {
        match self {
            Self::Device => 0,
            Self::Host => 1,
        }
    }

    /// The place of an operand.
    pub fn from_imm(value: i64) -> Option<Self> {
        match value {
            0 => Some(Self::Device),
            1 => Some(Self::Host),
            _ => None,
        }
    }
}

/// Integers computed on the host from the shape heap, written back to it (TVM: the PrimFuncs `shape_func` of VMShapeLower).
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ShapeFunc {
    /// Its name in the listing.
    pub name: String,
    /// Slots and what goes there, in order. `HostExpr::Dim` counts slots.
    pub outputs: Vec<(Slot, HostExpr)>,
}

impl ShapeFunc {
    /// The slots that it reads and writes.
    pub fn slots(&self) -> Vec<Slot> {
        fn read(e: &HostExpr, out: &mut Vec<Slot>) {
            match e {
                HostExpr::Const(_) => {}
                HostExpr::Dim(slot) => out.push(Slot::from_index(*slot)),
                HostExpr::Binary(_, a, b) => [a, b].into_iter().for_each(|e| read(e, out)),
                HostExpr::Select(c, a, b) => [c, a, b].into_iter().for_each(|e| read(e, out)),
            }
        }
        let mut out = vec![];
        for (slot, value) in &self.outputs {
            read(value, &mut out);
            out.push(*slot);
        }
        out
    }
}

/// A constant of the pool.
#[derive(Clone, PartialEq, Debug)]
pub enum Constant {
    /// A tensor.
    Tensor(Tensor),
    /// A shape.
    Shape(Vec<i64>),
    /// An element type.
    DType(DType),
    /// Text.
    Str(String),
    /// An integer.
    Int(i64),
    /// A float.
    Float(f64),
    /// Where a checked value comes from.
    Context(ErrorContext),
}
