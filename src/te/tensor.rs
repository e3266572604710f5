//! `Tensor`: a node of the DAG.

use std::fmt;
use std::sync::Arc;

use indexmap::IndexSet;

use super::prim_func::Program;
use super::reduce::Reduction;
use crate::ir::{
    Buffer, BufferHints, BufferNode, Expr, ExprKind, PrimFuncBuilder, Producer, Scope, Var,
};
use crate::tensor::DType;

/// Writes the body of an external computation: the iter variables of its block, inputs, outputs.
pub(super) type Write = dyn Fn(&mut PrimFuncBuilder, &[Var], &[Buffer], &[Buffer]) + Send + Sync;

/// How tensors are computed; several where one computation has several results.
pub(super) enum Operation {
    /// Element by element.
    Compute {
        /// The name that its block gets.
        name: String,
        /// An index for each dimension.
        axes: Vec<Var>,
        /// The extents.
        shape: Vec<Expr>,
        /// The elements at these indices.
        body: Body,
    },
    /// By statements of its own.
    Extern {
        /// The name that its block gets.
        name: String,
        /// Extents of the spatial axes of its block.
        axes: Vec<Expr>,
        /// What it reads.
        inputs: Vec<Tensor>,
        /// Shapes and element types of its results.
        results: Vec<(Vec<Expr>, DType)>,
        /// The statements.
        write: Box<Write>,
    },
    /// As one tensor or as another one, which a condition of sizes decides.
    Either {
        /// Its name.
        name: String,
        /// The condition.
        cond: Expr,
        /// Where the condition holds.
        then: Tensor,
        /// Where it does not.
        otherwise: Tensor,
    },
}

impl Operation {
    /// The buffers that it reads: of a choice those that both sides are computed from in the end.
    pub(super) fn inputs(&self) -> Vec<Buffer> {
        match self {
            Self::Compute { body, .. } => body.reads(),
            Self::Extern { inputs, .. } => inputs.iter().map(|t| t.buffer.clone()).collect(),
            Self::Either {
                then, otherwise, ..
            } => Program::below(&[then.clone(), otherwise.clone()]).placeholders,
        }
    }

    /// Calls `f` on every expression, in which only symbolic variables are free.
    pub(super) fn for_each_expr(&self, f: &mut dyn FnMut(&Expr)) {
        match self {
            Self::Compute {
                name: _,
                axes,
                shape,
                body,
            } => {
                shape.iter().for_each(&mut *f);
                let reduced: &[_] = match body {
                    Body::Values(_) => &[],
                    Body::Reduce(reduction) => &reduction.axes,
                };
                reduced.iter().for_each(|axis| f(&axis.extent));
                let zero = |var: &Var| {
                    let bound = axes.contains(var) || reduced.iter().any(|axis| axis.var == *var);
                    bound.then(|| Expr::i64(0))
                };
                body.values().iter().for_each(|e| f(&e.substitute(&zero)));
            }
            Self::Extern { axes, results, .. } => {
                let shapes = results.iter().flat_map(|(shape, _)| shape);
                axes.iter().chain(shapes).for_each(f);
            }
            Self::Either {
                name: _,
                cond,
                then,
                otherwise,
            } => {
                f(cond);
                for side in Program::below(&[then.clone(), otherwise.clone()]).computations {
                    side.op.for_each_expr(f);
                }
            }
        }
    }

    /// Number of results.
    pub(super) fn outputs(&self) -> usize {
        match self {
            Self::Compute { body, .. } => body.values().len(),
            Self::Extern { results, .. } => results.len(),
            Self::Either { .. } => 1,
        }
    }

    /// Shape and element type of a result.
    pub(super) fn result_type(&self, index: usize) -> (Vec<Expr>, DType) {
        match self {
            Self::Compute { shape, body, .. } => (shape.clone(), body.values()[index].dtype()),
            Self::Extern { results, .. } => results[index].clone(),
            Self::Either { then, .. } => (then.shape().to_vec(), then.dtype()),
        }
    }

    /// Name of a result: that of the operation, with a number if there are several.
    pub(super) fn result_name(&self, index: usize) -> String {
        let (Self::Compute { name, .. } | Self::Extern { name, .. } | Self::Either { name, .. }) =
            self;
        match self.outputs() {
            1 => name.clone(),
            _ => format!("{name}_v{index}"),
        }
    }
}

/// Which result of an operation a buffer is.
pub(super) struct Output {
    pub(super) op: Arc<Operation>,
    pub(super) index: usize,
}

impl Producer for Output {}

impl fmt::Debug for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.op.result_name(self.index))
    }
}

impl Output {
    /// What produces a buffer of tensor expressions; `None` for a placeholder.
    pub(super) fn of(buffer: &Buffer) -> Option<&Self> {
        let producer: &dyn std::any::Any = &**buffer.node().producer.as_ref()?;
        producer.downcast_ref()
    }
}

/// The elements of tensors at one index.
#[derive(Clone, Debug)]
pub enum Body {
    /// One value for each result.
    Values(Vec<Expr>),
    /// A reduction.
    Reduce(Reduction),
}

impl Body {
    /// One value for each result: of a reduction those that it combines.
    fn values(&self) -> &[Expr] {
        match self {
            Self::Values(values) => values,
            Self::Reduce(reduction) => &reduction.values,
        }
    }

    /// The buffers that the values read, in order of first use.
    fn reads(&self) -> Vec<Buffer> {
        let mut seen = IndexSet::new();
        for value in self.values() {
            value.walk(&mut |e| {
                if let ExprKind::Load(buffer, _) = e.kind() {
                    seen.insert(buffer.clone());
                }
                true
            });
        }
        seen.into_iter().collect()
    }
}

impl From<Expr> for Body {
    fn from(value: Expr) -> Self {
        Self::Values(vec![value])
    }
}

impl From<Vec<Expr>> for Body {
    fn from(values: Vec<Expr>) -> Self {
        Self::Values(values)
    }
}

impl From<Reduction> for Body {
    fn from(reduction: Reduction) -> Self {
        Self::Reduce(reduction)
    }
}

/// A tensor: a placeholder, a function of its indices, or one scalar. Equal by identity.
#[derive(Clone, Debug)]
pub struct Tensor {
    pub(super) buffer: Buffer,
    /// The only element, where it is an expression and takes no memory.
    scalar: Option<Expr>,
}

impl Tensor {
    /// The element at these indices, one for each dimension.
    ///
    /// # Panics
    /// If there are more or fewer indices.
    pub fn at<E: Into<Expr>>(&self, indices: impl IntoIterator<Item = E>) -> Expr {
        let indices: Vec<Expr> = indices.into_iter().map(Into::into).collect();
        assert_eq!(
            indices.len(),
            self.ndim(),
            "one index for each dimension of `{}`",
            self.name()
        );
        match &self.scalar {
            Some(value) => value.clone(),
            None => Expr::load(&self.buffer, indices),
        }
    }

    /// The extents.
    pub fn shape(&self) -> &[Expr] {
        self.buffer.shape()
    }

    /// Number of dimensions.
    pub fn ndim(&self) -> usize {
        self.buffer.ndim()
    }

    /// The element type.
    pub fn dtype(&self) -> DType {
        self.buffer.dtype()
    }

    /// The name it was given.
    pub fn name(&self) -> &str {
        self.buffer.name()
    }

    /// Whether both are the same tensor.
    pub fn is(&self, other: &Self) -> bool {
        self.buffer == other.buffer
    }

    /// Whether it is one scalar that takes no memory.
    pub fn is_scalar(&self) -> bool {
        self.scalar.is_some()
    }
}

impl From<Tensor> for Vec<Tensor> {
    fn from(tensor: Tensor) -> Self {
        vec![tensor]
    }
}

fn exprs<E: Into<Expr>>(shape: impl IntoIterator<Item = E>) -> Vec<Expr> {
    let index = |e: E| e.into().cast(DType::I64);
    shape.into_iter().map(index).collect()
}

/// A tensor that is given.
pub fn placeholder<E: Into<Expr>>(
    name: impl Into<String>,
    shape: impl IntoIterator<Item = E>,
    dtype: DType,
) -> Tensor {
    Tensor {
        buffer: Buffer::new(name, exprs(shape), dtype),
        scalar: None,
    }
}

/// A tensor without dimensions whose element is this expression wherever it is read.
pub fn scalar(value: impl Into<Expr>) -> Tensor {
    let value = value.into();
    Tensor {
        buffer: Buffer::new("scalar", vec![], value.dtype()),
        scalar: Some(value),
    }
}

/// A tensor whose elements are a function of their indices. `element` gets one index for each dimension.
///
/// # Panics
/// If `element` gives more than one value; see [`compute_all`].
pub fn compute<E: Into<Expr>, B: Into<Body>>(
    name: impl Into<String>,
    shape: impl IntoIterator<Item = E>,
    element: impl FnOnce(&[Expr]) -> B,
) -> Tensor {
    let mut tensors = compute_all(name, shape, element);
    assert_eq!(tensors.len(), 1, "one value for each index");
    tensors.remove(0)
}

/// Tensors of one shape that are computed together, as the values and positions of an argmax.
pub fn compute_all<E: Into<Expr>, B: Into<Body>>(
    name: impl Into<String>,
    shape: impl IntoIterator<Item = E>,
    element: impl FnOnce(&[Expr]) -> B,
) -> Vec<Tensor> {
    let (name, shape) = (name.into(), exprs(shape));
    let index = |at| Var::new(format!("i{at}"), DType::I64);
    let axes: Vec<Var> = (0..shape.len()).map(index).collect();
    let indices: Vec<Expr> = axes.iter().map(Var::expr).collect();
    let body = element(&indices).into();
    outputs(Operation::Compute {
        name,
        axes,
        shape,
        body,
    })
}

/// Tensors that statements write. `write` gets the buffers of the inputs and those of the outputs; it runs inside of a block.
pub fn extern_(
    name: impl Into<String>,
    inputs: &[Tensor],
    results: Vec<(Vec<Expr>, DType)>,
    write: impl Fn(&mut PrimFuncBuilder, &[Buffer], &[Buffer]) + Send + Sync + 'static,
) -> Vec<Tensor> {
    let axes: [Expr; 0] = [];
    extern_each(name, axes, inputs, results, move |b, _, inputs, outputs| {
        write(b, inputs, outputs);
    })
}

/// Tensors that statements write, once for each index of these axes, in any order: no two of them write the same element, or
/// read what another one writes. `write` gets the indices too.
pub fn extern_each<E: Into<Expr>>(
    name: impl Into<String>,
    axes: impl IntoIterator<Item = E>,
    inputs: &[Tensor],
    results: Vec<(Vec<Expr>, DType)>,
    write: impl Fn(&mut PrimFuncBuilder, &[Var], &[Buffer], &[Buffer]) + Send + Sync + 'static,
) -> Vec<Tensor> {
    outputs(Operation::Extern {
        name: name.into(),
        axes: exprs(axes),
        inputs: inputs.to_vec(),
        results,
        write: Box::new(write),
    })
}

/// The tensor `then` where a condition of sizes holds, else `otherwise`; only one of them is computed. In a loop program this is an `if`
/// around the nests of both, with temporaries of their own.
///
/// # Panics
/// If one of them is a placeholder, or if their element types or numbers of dimensions differ.
pub fn either(name: impl Into<String>, cond: Expr, then: &Tensor, otherwise: &Tensor) -> Tensor {
    for side in [then, otherwise] {
        assert!(
            Output::of(&side.buffer).is_some(),
            "`{}` is computed",
            side.name()
        );
    }
    assert_eq!(
        (then.dtype(), then.ndim()),
        (otherwise.dtype(), otherwise.ndim()),
        "`{}` and `{}` have one type",
        then.name(),
        otherwise.name()
    );
    let mut tensors = outputs(Operation::Either {
        name: name.into(),
        cond,
        then: then.clone(),
        otherwise: otherwise.clone(),
    });
    tensors.remove(0)
}

/// The results of an operation as tensors.
fn outputs(op: Operation) -> Vec<Tensor> {
    let op = Arc::new(op);
    let result = |index| {
        let (shape, dtype) = op.result_type(index);
        let op = Arc::clone(&op);
        let buffer = Buffer::from_node(BufferNode {
            name: op.result_name(index),
            dtype,
            shape,
            strides: vec![],
            elem_offset: None,
            scope: Scope::Global,
            layout: None,
            address: vec![],
            hints: BufferHints::default(),
            producer: Some(Arc::new(Output { op, index })),
        });
        Tensor {
            buffer,
            scalar: None,
        }
    };
    (0..op.outputs()).map(result).collect()
}
