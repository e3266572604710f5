//! The shape heap in graph functions: packed functions that check values and keep symbolic dimensions in slots of `int64`.
//!
//! Names and codes are those that the Relax pass VMShapeLower writes. The pass `vm_shape_lower` writes them, the interpreter runs
//! them, `codegen_vm` translates them to bytecode.

/// What `R.call_builtin_with_ctx` calls for a shape heap with that many slots.
pub const ALLOC_SHAPE_HEAP: &str = "vm.builtin.alloc_shape_heap";

/// A packed function that checks a value, or moves dimensions between values and the shape heap. Each check ends with a text that
/// says where the value comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ShapeBuiltin {
    /// `(value, ndim or -1, dtype or nothing, context)`: the value is a tensor of this kind.
    CheckTensor,
    /// `(value, ndim or -1, context)`: the value is a shape of this kind.
    CheckShape,
    /// `(value, dtype, context)`: the value is a scalar.
    CheckPrim,
    /// `(value, len, context)`: the value is a tuple of this length.
    CheckTuple,
    /// `(value, context)`: the value is a function.
    CheckFunc,
    /// `(value, heap, ndim, (code, operand)*, context)`, see [`MatchDim`]: dimensions of a tensor or shape agree with the heap, or
    /// fill it.
    MatchShape,
    /// `(value, heap, code, operand, context)`: the same for a scalar.
    MatchPrim,
    /// `(heap, ndim, (code, operand)*)`, see [`MakeDim`]: a shape.
    MakeShape,
    /// `(heap, code, operand)`: a scalar.
    MakePrim,
    /// `(tuple, index)`: an element of a value of which nothing is known.
    TupleItem,
}

impl ShapeBuiltin {
    const ALL: [Self; 10] = [
        Self::CheckTensor,
        Self::CheckShape,
        Self::CheckPrim,
        Self::CheckTuple,
        Self::CheckFunc,
        Self::MatchShape,
        Self::MatchPrim,
        Self::MakeShape,
        Self::MakePrim,
        Self::TupleItem,
    ];

    /// Its name as a packed function.
    pub fn name(self) -> &'static str {
        match self {
            Self::CheckTensor => "vm.builtin.check_tensor_info",
            Self::CheckShape => "vm.builtin.check_shape_info",
            Self::CheckPrim => "vm.builtin.check_prim_value_info",
            Self::CheckTuple => "vm.builtin.check_tuple_info",
            Self::CheckFunc => "vm.builtin.check_func_info",
            Self::MatchShape => "vm.builtin.match_shape",
            Self::MatchPrim => "vm.builtin.match_prim_value",
            Self::MakeShape => "vm.builtin.make_shape",
            Self::MakePrim => "vm.builtin.make_prim_value",
            Self::TupleItem => "vm.builtin.tuple_getitem",
        }
    }

    /// The one with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|builtin| builtin.name() == name)
    }
}

/// What `match_shape` does with a dimension (TVM: `MatchShapeCode`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MatchDim {
    /// It is this number.
    Equal(i64),
    /// It goes to a slot.
    Store(usize),
    /// Nothing.
    Skip,
    /// It is what a slot holds.
    EqualSlot(usize),
}

impl MatchDim {
    /// Its code and operand.
    pub fn code(self) -> [i64; 2] {
        match self {
            Self::Equal(value) => [0, value],
            Self::Store(slot) => [1, slot as i64],
            Self::Skip => [2, 0],
            Self::EqualSlot(slot) => [3, slot as i64],
        }
    }

    /// What a code and an operand mean.
    ///
    /// # Errors
    /// [`CodeError`] if there is no such code, or no such slot among `slots`.
    pub fn of([code, operand]: [i64; 2], slots: usize) -> Result<Self, CodeError> {
        Ok(match code {
            0 => Self::Equal(operand),
            1 => Self::Store(slot(operand, slots)?),
            2 => Self::Skip,
            3 => Self::EqualSlot(slot(operand, slots)?),
            _ => return Err(CodeError::Code { code, codes: 4 }),
        })
    }
}

/// Where `make_shape` finds a dimension (TVM: `MakeShapeCode`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MakeDim {
    /// It is this number.
    Imm(i64),
    /// It is what a slot holds.
    Slot(usize),
}

impl MakeDim {
    /// Its code and operand.
    pub fn code(self) -> [i64; 2] {
        match self {
            Self::Imm(value) => [0, value],
            Self::Slot(slot) => [1, slot as i64],
        }
    }

    /// What a code and an operand mean.
    ///
    /// # Errors
    /// [`CodeError`] if there is no such code, or no such slot among `slots`.
    pub fn of([code, operand]: [i64; 2], slots: usize) -> Result<Self, CodeError> {
        Ok(match code {
            0 => Self::Imm(operand),
            1 => Self::Slot(slot(operand, slots)?),
            _ => return Err(CodeError::Code { code, codes: 2 }),
        })
    }
}

/// A code or an operand that means nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum CodeError {
    /// There is no such code.
    #[error("there is no code {code}, only 0 to {}", codes - 1)]
    Code {
        /// The code.
        code: i64,
        /// How many there are.
        codes: i64,
    },
    /// The shape heap has no such slot.
    #[error("the shape heap has {slots} slots, and there is no slot {slot}")]
    Slot {
        /// The slot.
        slot: i64,
        /// How many there are.
        slots: usize,
    },
}

fn slot(slot: i64, slots: usize) -> Result<usize, CodeError> {
    let found = usize::try_from(slot).ok().filter(|&at| at < slots);
    found.ok_or(CodeError::Slot { slot, slots })
}
