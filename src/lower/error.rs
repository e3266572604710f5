//! Why a loop program has no kernel IR.
//!
//! A [`LowerProblem`] says what is wrong, with the names and numbers; a [`LowerError`] adds the function, and the loops and
//! blocks to underline in it.

use crate::ir::{Buffer, Expr, ExprKind, External, Located, Place, PrimFunc, ThreadAxis, Tiled};
use crate::script;
use crate::tensor::{DType, ScalarType};

/// Lowering refused a function.
#[derive(Clone, Debug, thiserror::Error)]
#[error("`{func}`: {problem}")]
pub struct LowerError {
    /// The function.
    pub func: String,
    /// What is wrong.
    pub problem: Box<LowerProblem>,
    /// Where: loops and blocks of the function, the most telling first; empty if it is the whole function.
    pub places: Vec<Place>,
}

impl LowerError {
    /// The error with the loops and blocks underlined in the printed function.
    pub fn render(&self, func: &PrimFunc) -> String {
        script::print_prim_func(func).render(func, self)
    }

    /// The same at these places, unless better ones are known.
    pub(super) fn or_at(mut self, places: &[Place]) -> Self {
        if self.places.is_empty() {
            self.places = places.to_vec();
        }
        self
    }

    /// The same of this function.
    pub(super) fn of(mut self, func: &PrimFunc) -> Self {
        self.func.clone_from(&func.name);
        self
    }
}

/// What to do about a type that the GPU does not compute with.
pub(crate) fn wide_type_advice() -> &'static str {
    "cast it to float32, or run it on the CPU (--device cpu)"
}

/// Refuses a tile that no operation on fragments can name.
pub(super) fn fragment_tile(buffer: &Buffer, problem: &'static str) -> LowerError {
    let buffer = buffer.name().to_owned();
    LowerProblem::FragmentTile { buffer, problem }.into()
}

impl Located for LowerError {
    fn places(&self) -> &[Place] {
        &self.places
    }
}

/// A problem whose place and function are not known yet; [`super::lower`] adds them.
impl From<LowerProblem> for LowerError {
    fn from(problem: LowerProblem) -> Self {
        Self {
            func: String::new(),
            problem: Box::new(problem),
            places: vec![],
        }
    }
}

/// What kernel IR cannot say, or the target does not have.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LowerProblem {
    /// A loop nest of a GPU function that no loop binds to the launch.
    #[error("the loops {nest} are not bound to threads; did you forget a schedule?")]
    NotBound {
        /// Which nest it is: `of block …`, or `over …` if it has none.
        nest: String,
    },
    /// A call on fragments for a device without those of this extent.
    #[error("the device multiplies no tiles of {extent} x {extent} elements")]
    NoFragments {
        /// Rows and columns.
        extent: i64,
    },
    /// A product of fragments that the device does not make.
    #[error("the device multiplies no tiles of {extent} x {extent} {a} by {b} with sums in {sums}")]
    NoFragmentProduct {
        /// Rows and columns.
        extent: i64,
        /// Element type of the left factor.
        a: ScalarType,
        /// Element type of the right factor.
        b: ScalarType,
        /// Element type of the sums.
        sums: ScalarType,
    },
    /// A call on fragments that is not made by whole subgroups.
    #[error("a call on fragments is made by the 32 threads of threadIdx.x together, once for each other thread, which is not so along {}", axis.name())]
    FragmentThreads {
        /// The launch axis.
        axis: ThreadAxis,
    },
    /// Fragments of elements that the device has no fragments of.
    #[error(
        "fragments of buffer `{buffer}` hold {dtype}, and the device has them of {expected} alone"
    )]
    FragmentElements {
        /// The buffer.
        buffer: String,
        /// Its element type.
        dtype: DType,
        /// The element types of such fragments.
        expected: String,
    },
    /// A tile that no operation on fragments can name.
    #[error("a tile of buffer `{buffer}` {problem}")]
    FragmentTile {
        /// The buffer.
        buffer: String,
        /// What is wrong.
        problem: &'static str,
    },
    /// A loop that runs on the host around a kernel, or a second launch inside a launch.
    #[error("loop `{var}` surrounds loops bound to blockIdx; only unit loops may")]
    LoopAroundLaunch {
        /// The variable of the loop.
        var: String,
    },
    /// A loop inside another one that is bound to the same axis.
    #[error("a loop bound to {} stands inside another one; each needs an axis of its own", axis.name())]
    NestedAxis {
        /// The launch axis.
        axis: ThreadAxis,
    },
    /// A loop inside another one that is bound to the same axis and repeats what the inner one adds to a buffer.
    #[error(
        "a loop bound to {} repeats updates of `{buffer}` inside of another loop of that axis; each needs an axis of its own", axis.name()
    )]
    RepeatedUpdate {
        /// The launch axis.
        axis: ThreadAxis,
        /// The buffer.
        buffer: String,
    },
    /// Loops that are written out to more code than anybody wants.
    #[error(
        "unrolled or vectorized loops, `{var}` among them, are written out to more than {limit} statements; split them first"
    )]
    TooLong {
        /// The variable of the loop.
        var: String,
        /// Most statements.
        limit: usize,
    },
    /// Two loops of one kernel bind the same axis with different extents.
    #[error("{} is bound with extents {first:#} and {second:#} in one kernel", axis.name())]
    AxisExtent {
        /// The launch axis.
        axis: ThreadAxis,
        /// Extent of the first loop.
        first: Expr,
        /// Extent of the other one.
        second: Expr,
    },
    /// A thread axis, or a vectorized or unrolled loop, whose extent is not constant.
    #[error("{what} needs a constant extent, got {extent:#}")]
    NotConstant {
        /// Which loop or axis.
        what: String,
        /// Its extent.
        extent: Expr,
    },
    /// An array of a thread or workgroup of which no constant part is used.
    #[error(
        "no part of constant size holds what is used of {scope} array `{buffer}` of shape {}",
        extents(.shape)
    )]
    ArraySize {
        /// The array.
        buffer: String,
        /// Its scope.
        scope: String,
        /// Its shape in the program.
        shape: Vec<Expr>,
    },
    /// An annotation of a block that lowering cannot read.
    #[error(
        "the annotation \"buffer_dim_align\" must be a list of [buffer, axis, factor, offset], of buffers that the block writes and positive factors"
    )]
    Alignment,
    /// An extent of a launch, tensor or temporary that is no expression of the symbolic dims.
    #[error("{what} must follow from the symbolic dims, got {value:#}")]
    NotHost {
        /// Which value.
        what: String,
        /// What it is.
        value: Expr,
    },
    /// A variable that no loop, block or parameter defines.
    #[error("variable `{var}` is not defined here")]
    Undefined {
        /// The variable.
        var: String,
    },
    /// A buffer that neither a parameter nor a block declares.
    #[error("nothing declares buffer `{buffer}`")]
    Undeclared {
        /// The buffer.
        buffer: String,
    },
    /// A store of a vector at indices that are a vector.
    #[error("a store to `{buffer}` has a vector as its index")]
    VectorIndex {
        /// The buffer.
        buffer: String,
    },
    /// More threads, shared memory or storage buffers than the device has.
    #[error("needs {needs} {what}, the device has {limit}")]
    DeviceLimit {
        /// Of what.
        what: &'static str,
        /// How much is needed.
        needs: u64,
        /// How much there is.
        limit: u64,
    },
    /// More passes through loops than the device makes.
    #[error(
        "kernel `{kernel}`: a thread goes through loops {passes} times or more, but this software adapter ends every loop after {limit}; spread the reduction over threads, or run it on the CPU"
    )]
    LongLoops {
        /// The kernel.
        kernel: String,
        /// How many, at least.
        passes: i64,
        /// How many there may be.
        limit: u32,
    },
    /// A loop of which nobody knows how often it runs, on a device with a limit.
    #[error(
        "kernel `{kernel}`: the iterations of a loop depend on data, and this software adapter ends every loop after {limit}, without an error; run it on the CPU, as compiled modules do"
    )]
    UnboundedLoop {
        /// The kernel.
        kernel: String,
        /// How many passes through loops there may be.
        limit: u32,
    },
    /// An element type that the target lacks.
    #[error("`{what}` has type {dtype}, which the target does not have")]
    DType {
        /// The buffer or variable.
        what: String,
        /// Its type.
        dtype: DType,
    },
    /// Computation with `float64` or `bfloat16` values on a GPU, or with `float16` on one without it.
    #[error(
        "{what} has type {dtype}, which the GPU does not compute with; {}",
        wide_type_advice()
    )]
    WideType {
        /// The buffer that the value comes from, or the value.
        what: String,
        /// The buffer, if there is one.
        buffer: Option<String>,
        /// Its type.
        dtype: DType,
    },
    /// Index arithmetic with values that the index type does not hold.
    #[error(
        "`{expr}` {}, and GPUs compute indices in int32; run it on the CPU",
        .value.map_or("has no known bound".to_owned(), |value| format!("reaches {value}"))
    )]
    TooWide {
        /// The arithmetic, as kernels print it.
        expr: String,
        /// The value furthest from 0, if there is a bound.
        value: Option<i64>,
    },
    /// A buffer whose number of elements does not fit the index type.
    #[error("buffer `{buffer}` has {len} elements, more than an index of type {index} can name")]
    TooLarge {
        /// The buffer.
        buffer: String,
        /// Its number of elements.
        len: i64,
        /// The index type.
        index: ScalarType,
    },
    /// A barrier would be needed where not all threads of the workgroup come by.
    #[error(
        "threads communicate through `{array}` under a condition or loop that differs between threads"
    )]
    DivergentBarrier {
        /// The shared array.
        array: String,
    },
    /// A barrier of the kernel where not all threads of the workgroup come by.
    #[error("a barrier stands under a condition or loop that differs between threads")]
    BarrierApart,
    /// A temporary in device memory through which threads of one kernel communicate.
    #[error(
        "threads of one kernel communicate through `{buffer}` in device memory, where none waits for the others"
    )]
    CrossThread {
        /// The buffer.
        buffer: String,
    },
    /// A barrier of the program where not all threads of the workgroup come by.
    #[error(
        "threads meet at `T.tvm_storage_sync` under a condition or loop that differs between threads"
    )]
    Barrier,
    /// Memory of a thread or workgroup that several kernels use.
    #[error(
        "several kernels use `{buffer}`, but memory of scope \"{scope}\" is gone when a kernel ends; \
         move its blocks into one loop nest (compute_at, reverse_compute_at)"
    )]
    Scattered {
        /// The buffer.
        buffer: String,
        /// Its scope.
        scope: String,
    },
    /// A reduction over threads of a form that has no lowering.
    #[error("block `{block}` reduces over threads, but {reason}")]
    ThreadReduction {
        /// The block.
        block: String,
        /// What is not as it must be.
        reason: &'static str,
    },
    /// A function that returns a scalar. Kernels give back what they write to tensors.
    #[error("a function that returns a scalar has no lowering; let it write a tensor instead")]
    ScalarResult,
    /// `break` out of a loop of threads that meet, whose iterations have no order, or `return` out of a loop of the launch of
    /// which something of the same thread follows.
    #[error(
        "`{statement}` leaves {}, whose iterations have no order",
        .var.as_ref().map_or("a loop that is bound to the launch".to_owned(), |var| format!("loop `{var}` of the launch"))
    )]
    Jump {
        /// The statement.
        statement: &'static str,
        /// The variable of the loop.
        var: Option<String>,
    },
    /// A function that only another compiler knows.
    #[error(
        "{} is no function that kernels can call",
        .function.as_ref().map_or(format!("`T.{call}`"), |function| format!("`{function}` (`T.{call}`)"))
    )]
    External {
        /// The kind of call, as `call_extern`.
        call: &'static str,
        /// The name of the function, if the call says one.
        function: Option<String>,
    },
    /// A tile operation, or a buffer that is laid out for some.
    #[error("{0} has no meaning on this target")]
    Tiled(Tiled),
    /// Bits of a value as a value of another type.
    #[error("`T.reinterpret` to {dtype} has no lowering")]
    Reinterpret {
        /// The other type.
        dtype: DType,
    },
    /// A text as a value.
    #[error("the text \"{text}\" is no value of a kernel")]
    Text {
        /// The text.
        text: String,
    },
    /// An address as a value.
    #[error("the address of `{buffer}` is no value of a kernel")]
    Address {
        /// Whose address.
        buffer: String,
    },
    /// A view of memory that is given by an address alone.
    #[error("`{view}` views memory by its address")]
    AddressView {
        /// The view.
        view: String,
    },
    /// A parameter that says it is laid out in another way than tensors are.
    #[error(
        "parameter `{param}` has the stride or offset {said:#}, but tensors are dense: it is {value:#}"
    )]
    ParamLayout {
        /// The parameter.
        param: String,
        /// What it says.
        said: Expr,
        /// What a tensor has.
        value: Expr,
    },
    /// A view of memory whose buffer has strides or an offset of its own.
    #[error("`{view}` views the memory of `{source_buffer}`, which has strides or an offset")]
    StridedMemory {
        /// The view.
        view: String,
        /// The buffer.
        source_buffer: String,
    },
    /// A view of a region that says it is laid out in another way.
    #[error(
        "`{view}` has the stride or offset {said:#}, but the region that it views has {value:#}"
    )]
    ViewLayout {
        /// The view.
        view: String,
        /// What it says.
        said: Expr,
        /// What the region has.
        value: Expr,
    },
}

impl LowerProblem {
    /// Whether the device lacks nothing that the program needs, but would end its loops: the host runs it then.
    pub fn is_of_long_loops(&self) -> bool {
        matches!(self, Self::LongLoops { .. } | Self::UnboundedLoop { .. })
    }

    /// A call of a function or instruction that only another compiler knows.
    pub(super) fn external(external: External, args: &[Expr]) -> Self {
        let function = args.first().and_then(|name| match name.kind() {
            ExprKind::Str(name) => Some(name.to_string()),
            _ => None,
        });
        Self::External {
            call: external.name(),
            function,
        }
    }
}

fn extents(shape: &[Expr]) -> String {
    let extents: Vec<String> = shape.iter().map(|e| format!("{e:#}")).collect();
    format!("[{}]", extents.join(", "))
}
