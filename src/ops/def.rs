//! `OpDef`: one operator, and the builder that the tables of the families are written with.

use super::broadcast::Broadcasting;
use super::legalize::ComputeCall;
use super::rules;
use crate::ir::Attrs;
use crate::ir::graph::{
    Arg, AttrDefault, AttrKind, AttrSpec, Infer, InferError, Op, OpCall, OpSchema, Operand,
    OperandKind,
};
use crate::te::Tensor;
use crate::tensor::DType;

/// How the loops of an operator read what they compute from (TVM: `OpPatternKind`); fusion decides by it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Pattern {
    /// Every output element from the input elements at the same place.
    ElemWise,
    /// The same with broadcast inputs.
    Broadcast,
    /// Every output element from one element of each input, anywhere.
    Injective,
    /// A commutative reduction of axes.
    CommReduce,
    /// A reduction to whose end elementwise operators can be joined.
    OutEWiseFusable,
    /// Several results.
    Tuple,
    /// Fuses with nothing.
    Opaque,
}

/// What becomes of the operator when the layout of its input changes (TVM: `FRelaxInferLayout`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Layout {
    /// It takes its inputs in the layout that they are written for, and no other.
    Fixed,
    /// It works in any layout, the same for all operands and the result.
    Any,
    /// The first operand, or each tensor in it, may have any layout if the axes in these attributes go with it. So do results
    /// with as many dimensions; the other operands and results stay.
    Axes(&'static [&'static str]),
    /// The same, with the axes in this operand.
    AxesOperand(usize),
    /// It works in any layout if the axes in this attribute, which it reduces, go with it.
    Reduces(&'static str),
    /// It works in any layout if the axes in this attribute, which it drops, go with it.
    Squeezes(&'static str),
    /// It works in any layout: the axes in this attribute are new ones of the result.
    Inserts(&'static str),
    /// It works in any layout if the order in this attribute goes with it; the result stays.
    Permutes(&'static str),
    /// The layouts are attributes.
    Attributes {
        /// The attribute with the layout of the data.
        data: &'static str,
        /// The attribute with the layout of the weight, if there is a weight.
        kernel: Option<&'static str>,
        /// The attribute with the layout of the result; absent means that of the data.
        out: Option<&'static str>,
    },
}

/// In which precision an operator is computed where a network is to use `float16` (TVM: `TMixedPrecisionPolicy`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Precision {
    /// In `float16`: products, whose sums may be wider.
    Half,
    /// In `float16` if all its operands have it.
    Follow,
    /// In the precision in which it is written: `float16` would lose too much.
    Full,
}

/// Element types of the first operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DTypes {
    /// All types.
    All,
    /// Integers and floats.
    Numeric,
    /// Floats.
    Float,
    /// Integers.
    Int,
    /// Integers and `bool`.
    IntOrBool,
    /// `bool`.
    Bool,
}

impl DTypes {
    /// Whether the type is one of these.
    pub fn contains(self, dtype: DType) -> bool {
        match self {
            Self::All => true,
            Self::Numeric => !dtype.is_bool(),
            Self::Float => dtype.is_float(),
            Self::Int => dtype.is_int() && !dtype.is_bool(),
            Self::IntOrBool => !dtype.is_float(),
            Self::Bool => dtype.is_bool(),
        }
    }

    /// What an operand of these types is called in a message.
    pub fn expected(self) -> &'static str {
        match self {
            Self::All => "a tensor",
            Self::Numeric => "a tensor of numbers",
            Self::Float => "a tensor of floats",
            Self::Int => "a tensor of integers",
            Self::IntOrBool => "a tensor of integers or bool",
            Self::Bool => "a tensor of bool",
        }
    }
}

/// The results of a call as tensor expressions.
pub type Computed = Result<Vec<Tensor>, InferError>;

/// How a call is computed.
#[derive(Clone, Copy, Debug)]
pub enum Compute {
    /// As one loop program, made of tensor expressions.
    Kernel(fn(&ComputeCall<'_>) -> Computed),
    /// By the virtual machine, without a kernel: the same elements in another shape. As a part of a larger program by this loop
    /// program.
    View(fn(&ComputeCall<'_>) -> Computed),
    /// By the virtual machine, without a kernel.
    Machine(MachineOp),
    /// By a function of the host (see [`crate::tensor::host_op`]): the extents of the result depend on elements.
    Host(HostCall),
    /// It has a type and a text, and there is no way here to run it; the reason.
    Nothing(&'static str),
}

/// A call of a function of the host.
#[derive(Clone, Copy, Debug)]
pub struct HostCall {
    /// The function.
    pub name: &'static str,
    /// The numbers that it takes after the tensors and shapes among the operands.
    pub numbers: fn(&OpCall<'_>) -> Result<Vec<i64>, InferError>,
    /// Before which of its arguments it takes the attribute `format`, if it writes a message.
    pub message: Option<usize>,
}

/// The device index of memory of the host among the operands of `memory.alloc_storage` and its kin (TVM: where the virtual
/// machine keeps its own data).
pub const HOST_DEVICE: i64 = -1;

/// What the virtual machine does without a kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MachineOp {
    /// The shape of a tensor.
    ShapeOf,
    /// The first operand as it is.
    Forward,
    /// The scalar that the type of the result says.
    Scalar,
    /// A function of the module with values that follow its arguments.
    MakeClosure,
    /// The call of such a function with a tuple of arguments.
    InvokeClosure,
    /// Memory for a tensor, wherever it is found.
    Alloc,
    /// Memory for one tensor at a time.
    AllocStorage,
    /// A tensor in such memory.
    AllocTensor,
    /// The end of a value's life.
    Kill,
    /// The call of a loop program with a tuple of arguments, outputs among them, and a shape of its scalars.
    CallProgram,
    /// The call of a packed function that the machine itself is an argument of.
    CallBuiltin,
    /// No value.
    Null,
}

/// One operator.
#[derive(Clone, Copy, Debug)]
pub struct OpDef {
    /// Name, operands, attributes, the type of the result.
    pub schema: OpSchema,
    /// One line for the documentation.
    pub doc: &'static str,
    /// Element types of the first operand.
    pub dtypes: DTypes,
    /// How it is computed.
    pub compute: Compute,
    /// How it fuses.
    pub pattern: Pattern,
    /// What a change of layout does to it.
    pub layout: Layout,
    /// Which dimensions of its operands broadcast.
    pub broadcasting: Broadcasting,
    /// Its precision in a network of mixed precision, where that does not follow from the pattern.
    stated_precision: Option<Precision>,
    /// What its programs are called, if not as the operator.
    program: Option<&'static str>,
    /// Whether each call gives memory of its own (TVM: `TAllocator`), so that equal calls are not the same.
    pub allocates: bool,
}

impl OpDef {
    /// A definition with no operands, an unknown result, and no way to compute it.
    pub(super) const fn new(name: &'static str, doc: &'static str) -> Self {
        Self {
            schema: OpSchema {
                name,
                operands: &[],
                variadic: false,
                extended: None,
                left_out: |_| (),
                attrs: &[],
                infer: rules::object,
                spelling: |_| (),
                pure: true,
                commutative: false,
            },
            doc,
            dtypes: DTypes::All,
            compute: Compute::Nothing("it has no definition in tensor expressions"),
            pattern: Pattern::Opaque,
            layout: Layout::Fixed,
            broadcasting: Broadcasting::Never,
            stated_precision: None,
            program: None,
            allocates: false,
        }
    }

    /// What its loop programs are called: as the operator without its group, or as another one that computes the same, with which
    /// it shares them.
    pub fn program_name(&self) -> &'static str {
        let name = self.schema.name;
        let own = name.rsplit('.').next().unwrap_or(name);
        self.program.unwrap_or(own)
    }

    /// Its precision in a network of mixed precision. What computes each element from few others follows its operands.
    pub fn precision(&self) -> Precision {
        match (self.stated_precision, self.pattern) {
            (Some(stated), _) => stated,
            (None, Pattern::ElemWise | Pattern::Broadcast | Pattern::Injective) => {
                Precision::Follow
            }
            (None, _) => Precision::Full,
        }
    }

    /// With loop programs of another name.
    pub(super) const fn programs_named(mut self, name: &'static str) -> Self {
        self.program = Some(name);
        self
    }

    pub(super) const fn in_precision(mut self, precision: Precision) -> Self {
        self.stated_precision = Some(precision);
        self
    }

    pub(super) const fn operands(mut self, operands: &'static [Operand]) -> Self {
        self.schema.operands = operands;
        self
    }

    /// Any number of operands of any kind.
    pub(super) const fn variadic(mut self) -> Self {
        self.schema.variadic = true;
        self
    }

    /// With one more operand of this name, which may be `None`, a text means another operator.
    pub(super) const fn extended(mut self, operand: &'static str, op: &'static str) -> Self {
        self.schema.extended = Some((operand, op));
        self
    }

    /// With operands that a text may leave out in front of others.
    pub(super) const fn left_out(mut self, fill: fn(&mut [Option<Arg>])) -> Self {
        self.schema.left_out = fill;
        self
    }

    pub(super) const fn attrs(mut self, attrs: &'static [AttrSpec]) -> Self {
        self.schema.attrs = attrs;
        self
    }

    pub(super) const fn infer(mut self, infer: Infer) -> Self {
        self.schema.infer = infer;
        self
    }

    /// Attributes of the same meaning become equal by this.
    pub(super) const fn spelling(mut self, spelling: fn(&mut Attrs)) -> Self {
        self.schema.spelling = spelling;
        self
    }

    pub(super) const fn impure(mut self) -> Self {
        self.schema.pure = false;
        self
    }

    pub(super) const fn commutative(mut self) -> Self {
        self.schema.commutative = true;
        self
    }

    pub(super) const fn dtypes(mut self, dtypes: DTypes) -> Self {
        self.dtypes = dtypes;
        self
    }

    /// As one loop program, which these tensor expressions make.
    pub(super) const fn compute(mut self, compute: fn(&ComputeCall<'_>) -> Computed) -> Self {
        self.compute = Compute::Kernel(compute);
        self
    }

    /// Each call gives memory of its own.
    pub(super) const fn allocates(mut self) -> Self {
        self.allocates = true;
        self
    }

    /// By the virtual machine.
    pub(super) const fn machine(mut self, op: MachineOp) -> Self {
        self.compute = Compute::Machine(op);
        self
    }

    /// By the virtual machine, as the same elements in another shape, or by a loop program.
    pub(super) const fn view(mut self, compute: fn(&ComputeCall<'_>) -> Computed) -> Self {
        self.compute = Compute::View(compute);
        self
    }

    /// By a function of the host, which takes the tensors and shapes among the operands, and these numbers.
    pub(super) const fn host(
        mut self,
        name: &'static str,
        numbers: fn(&OpCall<'_>) -> Result<Vec<i64>, InferError>,
    ) -> Self {
        self.compute = Compute::Host(HostCall {
            name,
            numbers,
            message: None,
        });
        self
    }

    /// By a function of the host, which writes a message: it takes all operands and, before operand `at`, the attribute `format`.
    pub(super) const fn host_message(mut self, name: &'static str, at: usize) -> Self {
        self.compute = Compute::Host(HostCall {
            name,
            numbers: |_| Ok(vec![]),
            message: Some(at),
        });
        self
    }

    pub(super) const fn pattern(mut self, pattern: Pattern) -> Self {
        self.pattern = pattern;
        self
    }

    pub(super) const fn broadcasting(mut self, broadcasting: Broadcasting) -> Self {
        self.broadcasting = broadcasting;
        self
    }

    pub(super) const fn layout(mut self, layout: Layout) -> Self {
        self.layout = layout;
        self
    }

    /// The operator as calls name it.
    pub const fn op(&'static self) -> Op {
        Op::new(&self.schema)
    }
}

/// An operand that is a tensor.
pub(super) const fn tensor(name: &'static str) -> Operand {
    operand(name, OperandKind::Tensor)
}

/// An operand of this kind.
pub(super) const fn operand(name: &'static str, kind: OperandKind) -> Operand {
    Operand {
        name,
        kind,
        optional: false,
    }
}

/// An operand that a call may leave out.
pub(super) const fn optional(name: &'static str, kind: OperandKind) -> Operand {
    Operand {
        name,
        kind,
        optional: true,
    }
}

/// An attribute.
pub(super) const fn attr(name: &'static str, kind: AttrKind, default: AttrDefault) -> AttrSpec {
    AttrSpec {
        name,
        kind,
        default,
    }
}

/// One tensor.
pub(super) const X: &[Operand] = &[tensor("x")];
/// One tensor, called data.
pub(super) const DATA: &[Operand] = &[tensor("data")];
/// Two tensors.
pub(super) const X1_X2: &[Operand] = &[tensor("x1"), tensor("x2")];
