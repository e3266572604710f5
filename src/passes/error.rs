//! Why a pass cannot be applied.

use crate::ir::Origin;
use crate::tensor::DType;

/// Why a pass cannot be applied. Nothing has changed then.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PassError {
    /// There is no pass with this name.
    #[error("there is no pass `{name}`")]
    UnknownPass {
        /// Name asked for.
        name: String,
    },
    /// There is no operator with this name.
    #[error("there is no operator `{name}`")]
    UnknownOperator {
        /// Name asked for.
        name: String,
    },
    /// A pass does not take these options.
    #[error("pass `{pass}`: {error}")]
    Option {
        /// The pass.
        pass: &'static str,
        /// Why not.
        error: crate::ir::graph::AttrError,
    },
    /// A pass made a module that breaks rules: a fault of the pass.
    #[error("after `{pass}` the module is not well formed\n{error}")]
    IllFormed {
        /// The pass.
        pass: String,
        /// What it breaks.
        error: Box<crate::script::IllFormed>,
    },
    /// The module has no graph function with this name.
    #[error(
        "the module has no graph function `{name}`; it has: {}",
        list(functions)
    )]
    UnknownFunction {
        /// Name asked for.
        name: String,
        /// Graph functions of the module.
        functions: Vec<String>,
    },
    /// A function cannot be differentiated.
    #[error("`{func}` cannot be differentiated: {error}")]
    Gradient {
        /// The function.
        func: String,
        /// Why not.
        error: crate::passes::GradientError,
    },
    /// The function has no parameter with this name.
    #[error(
        "`{func}` has no parameter `{name}`; its parameters are: {}",
        list(params)
    )]
    UnknownParam {
        /// The function.
        func: String,
        /// Name asked for.
        name: String,
        /// Parameters of the function.
        params: Vec<String>,
    },
    /// Several parameters have this name.
    #[error(
        "`{func}` has several parameters `{name}`; its parameters are: {}",
        list(params)
    )]
    DuplicateParam {
        /// The function.
        func: String,
        /// Name asked for.
        name: String,
        /// Parameters of the function.
        params: Vec<String>,
    },
    /// A parameter that is no tensor cannot be bound to one.
    #[error("parameter `{param}` of `{func}` is {sinfo}, not a tensor")]
    NotATensor {
        /// The function.
        func: String,
        /// The parameter.
        param: String,
        /// What is declared of it.
        sinfo: Box<crate::ir::StructInfo>,
    },
    /// An output whose shape or element type nothing says.
    #[error("`{func}`, `{value}`: the shape and element type of an output must be known")]
    UnknownOutput {
        /// The function.
        func: String,
        /// The call.
        value: String,
    },
    /// A symbolic dimension that no parameter and no `match_cast` before its use defines.
    #[error("`{func}`, `{value}`: nothing before it defines the symbolic dimension `{var}`")]
    UnboundDim {
        /// The function.
        func: String,
        /// The value that takes the dimension.
        value: String,
        /// The dimension.
        var: String,
    },
    /// A scalar of sizes that is no integer.
    #[error("`{func}`, `{value}`: `{scalar}` is no integer, and the shape heap holds nothing else")]
    NotOnShapeHeap {
        /// The function.
        func: String,
        /// The value that takes the scalar.
        value: String,
        /// The scalar.
        scalar: String,
    },
    /// A device that the module does not have.
    #[error(
        "`{func}`: {value} is of no device of the module; it has: {}",
        list(devices)
    )]
    UnknownDevice {
        /// The function.
        func: String,
        /// What asks for the device.
        value: String,
        /// The devices of the module.
        devices: Vec<String>,
    },
    /// Bounds of symbolic extents are something else.
    #[error(
        "`{func}`: the attribute `{attr}` is no map from names of extents to integers, which are not negative"
    )]
    Bound {
        /// The function.
        func: String,
        /// The attribute.
        attr: &'static str,
    },
    /// Another element type than the parameter declares.
    #[error("parameter `{param}` of `{func}`: expected elements of {expected}, given {given}")]
    DTypeMismatch {
        /// The function.
        func: String,
        /// The parameter.
        param: String,
        /// Declared.
        expected: DType,
        /// Of the tensor.
        given: DType,
    },
    /// Another number of dimensions than the parameter declares.
    #[error("parameter `{param}` of `{func}`: expected {expected} dimensions, given {given}")]
    NdimMismatch {
        /// The function.
        func: String,
        /// The parameter.
        param: String,
        /// Declared.
        expected: usize,
        /// Of the tensor.
        given: usize,
    },
    /// Another extent than the parameter declares.
    #[error("parameter `{param}` of `{func}`: dimension {dim} expected {expected}, given {given}")]
    DimMismatch {
        /// The function.
        func: String,
        /// The parameter.
        param: String,
        /// Which dimension, from 0.
        dim: usize,
        /// Declared; with the value that the other tensors give the variable.
        expected: String,
        /// Of the tensor.
        given: i64,
    },
    /// Two checks give a symbolic variable different values, so that one of them fails.
    #[error(
        "`{func}`: the check `{value}` says that {var} is {given}; a check before says {known}"
    )]
    Contradiction {
        /// The function.
        func: String,
        /// The second check.
        value: String,
        /// The variable.
        var: String,
        /// What the first check says.
        known: String,
        /// What the second check says.
        given: String,
    },
    /// A call of an operator that no loop program can be made for.
    #[error("`{func}`, value `{value}`: {error}{}", origin.from())]
    Legalize {
        /// The function.
        func: String,
        /// The value that the call computes.
        value: String,
        /// Where it comes from.
        origin: Origin,
        /// Why not.
        error: Box<crate::ops::LegalizeError>,
    },
    /// Arguments of a call that a pass made do not fit.
    #[error("`{func}`, value `{value}`: {error}")]
    Type {
        /// The function.
        func: String,
        /// The value that the call computes.
        value: String,
        /// Why not.
        error: Box<crate::ir::graph::InferError>,
    },
    /// A wanted layout is none of the same dimensions.
    #[error("`{func}`, value `{value}`: layout {wanted} does not reorder {given}")]
    Layout {
        /// The function.
        func: String,
        /// The value that the call computes.
        value: String,
        /// The wanted layout.
        wanted: String,
        /// The layout that the call has.
        given: String,
    },
    /// A symbolic dimension that no function defines.
    #[error("there is no symbolic dimension `{var}`; there are: {}", list(known))]
    UnknownSymbolicVar {
        /// Name asked for.
        var: String,
        /// Names of those that are defined.
        known: Vec<String>,
    },
    /// Several symbolic dimensions of a function have this name.
    #[error("`{func}` has several symbolic dimensions `{var}`")]
    DuplicateSymbolicVar {
        /// The function.
        func: String,
        /// The name.
        var: String,
    },
    /// A symbolic dimension is bound to something else than an integer.
    #[error("symbolic dimension `{var}` is bound to {given}, not to an integer")]
    NotAnExtent {
        /// The dimension.
        var: String,
        /// What it is bound to.
        given: String,
    },
    /// An option takes names with values.
    #[error("`{option}` takes a dictionary, not {given}")]
    NotADictionary {
        /// The option.
        option: &'static str,
        /// What is given.
        given: String,
    },
    /// An option takes a truth value or names.
    #[error("`{option}` takes a truth value or names of functions, not {given}")]
    NotNames {
        /// The option.
        option: &'static str,
        /// What is given.
        given: String,
    },
    /// An attribute of a function says of parameters that it does not have that they are weights.
    #[error("`{func}` has {params} parameters, and `{attr}` is {given}")]
    WeightRange {
        /// The function.
        func: String,
        /// The attribute.
        attr: String,
        /// Its value.
        given: String,
        /// Number of parameters.
        params: usize,
    },
    /// No attribute of a function says which of its parameters are weights.
    #[error("`{func}` has no attribute `num_input` that says where its weights begin")]
    NoWeights {
        /// The function.
        func: String,
    },
    /// Functions that share the transformation of their weights have different numbers of them.
    #[error("`{second}` takes {given} weights, and `{first}`, which shares them, {expected}")]
    WeightCount {
        /// The function that is compared with.
        first: String,
        /// The other function.
        second: String,
        /// Number of weights of the first.
        expected: usize,
        /// Number of weights of the second.
        given: usize,
    },
    /// Functions that share the transformation of their weights take unlike weights.
    #[error(
        "weight `{param}` of `{second}` is {given}, and that of `{first}`, which shares it, {expected}"
    )]
    WeightMismatch {
        /// The function that is compared with.
        first: String,
        /// The other function.
        second: String,
        /// The weight of the second.
        param: String,
        /// What the first declares.
        expected: Box<crate::ir::StructInfo>,
        /// What the second declares.
        given: Box<crate::ir::StructInfo>,
    },
    /// A loop program that is to compute an operator does not fit the one that it replaces.
    #[error(
        "operator `{operator}` is computed by a loop program of {params} parameters, and is to be by one of {given} with {layouts} layouts"
    )]
    Replacement {
        /// The operator.
        operator: String,
        /// Number of parameters of the program that is there.
        params: usize,
        /// Number of parameters of the other program.
        given: usize,
        /// For how many of these a layout is given, or that there is none.
        layouts: usize,
    },
    /// Nobody compiles a function for an external code generator.
    #[error(
        "`{func}` is for the code generator `{codegen}`; there are: {}",
        list(known)
    )]
    NoCodegen {
        /// The function.
        func: String,
        /// The code generator.
        codegen: String,
        /// Those that there are.
        known: Vec<String>,
    },
    /// An external code generator cannot compile a function.
    #[error("code generator `{codegen}` on `{func}`: {reason}")]
    Codegen {
        /// The function.
        func: String,
        /// The code generator.
        codegen: String,
        /// What it says.
        reason: String,
    },
    /// The results of a function that becomes a packed one cannot be allocated before the call.
    #[error("`{func}` gives {sinfo}, not tensors of known shapes")]
    NotAllocated {
        /// The function.
        func: String,
        /// What it gives.
        sinfo: Box<crate::ir::StructInfo>,
    },
    /// Other functions of the module pass the parameters.
    #[error("`{func}` is called by `{caller}`, so its parameters cannot be taken away")]
    CalledInModule {
        /// The function.
        func: String,
        /// Who calls it.
        caller: String,
    },
}

fn list(names: &[String]) -> String {
    if names.is_empty() {
        "none".to_owned()
    } else {
        names.join(", ")
    }
}
