//! Buffers, regions of them, and where they live.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::{Attrs, Expr, Layout, Var};
use crate::tensor::DType;

/// Where a buffer lives. Prints as TVM's scope string.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub enum Scope {
    /// Device memory.
    #[default]
    Global,
    /// Memory of a workgroup.
    Shared,
    /// Registers of a thread.
    Local,
    /// A scope that the compiler keeps and prints but gives no meaning, as `shared.dyn` and `wmma.accumulator`.
    Other(String),
}

impl Scope {
    /// The scope with this name.
    pub fn parse(name: &str) -> Self {
        match name {
            "" | "global" => Self::Global,
            "shared" => Self::Shared,
            "local" => Self::Local,
            other => Self::Other(other.to_owned()),
        }
    }

    /// TVM's name.
    pub fn name(&self) -> &str {
        match self {
            Self::Global => "global",
            Self::Shared => "shared",
            Self::Local => "local",
            Self::Other(name) => name,
        }
    }

    /// Whether all threads of a workgroup see the same elements, and other workgroups do not: `shared` and `shared.dyn`, which
    /// say the same of a buffer.
    pub fn is_shared(&self) -> bool {
        match self {
            Self::Shared => true,
            Self::Global | Self::Local => false,
            Self::Other(name) => name == "shared.dyn",
        }
    }
}

/// What computes a buffer while the program is made of tensor expressions (TVM: `DataProducer`). Loop programs have no such
/// buffers.
pub trait Producer: std::any::Any + Send + Sync + fmt::Debug {}

/// What a buffer is.
#[derive(Clone, Debug)]
pub struct BufferNode {
    /// Name it was given; names need not be unique.
    pub name: String,
    /// Type of the elements.
    pub dtype: DType,
    /// Extents, which may be symbolic.
    pub shape: Vec<Expr>,
    /// Distance of neighbours in each dimension, in elements; empty for a dense row-major buffer.
    pub strides: Vec<Expr>,
    /// Offset of the first element, in elements; `None` for 0.
    pub elem_offset: Option<Expr>,
    /// Where its elements lie in memory and over threads; `None` for row-major ones.
    pub layout: Option<Arc<Layout>>,
    /// Where an allocator has put it: coordinates of its scope. Empty where nothing has.
    pub address: Vec<Expr>,
    /// Where it lives.
    pub scope: Scope,
    /// What else is said of it.
    pub hints: BufferHints,
    /// What computes it, for a buffer of a tensor expression.
    pub producer: Option<Arc<dyn Producer>>,
}

/// Promises and wishes about a buffer. They change nothing of what a program computes.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct BufferHints {
    /// Alignment of the first element, in bytes; 0 for the usual one.
    pub align: i64,
    /// The offset of the first element is a multiple of so many elements; 0 for any.
    pub offset_factor: i64,
    /// Dimensions before which the memory is cut into axes of their own.
    pub axis_separators: Vec<i64>,
    /// Annotations of its allocation.
    pub annotations: Attrs,
}

/// A multi-dimensional array that loops read and write. Equal by identity.
#[derive(Clone)]
pub struct Buffer(Arc<BufferNode>);

impl Buffer {
    /// A new dense buffer in device memory, different from every other one.
    pub fn new(name: impl Into<String>, shape: Vec<Expr>, dtype: DType) -> Self {
        Self::with_scope(name, shape, dtype, Scope::Global)
    }

    /// A new dense buffer.
    pub fn with_scope(
        name: impl Into<String>,
        shape: Vec<Expr>,
        dtype: DType,
        scope: Scope,
    ) -> Self {
        Self::from_node(BufferNode {
            name: name.into(),
            dtype,
            shape,
            strides: vec![],
            elem_offset: None,
            layout: None,
            address: vec![],
            scope,
            hints: BufferHints::default(),
            producer: None,
        })
    }

    /// A new buffer with all properties given.
    pub fn from_node(node: BufferNode) -> Self {
        Self(Arc::new(node))
    }

    /// All properties.
    pub fn node(&self) -> &BufferNode {
        &self.0
    }

    /// Name it was given.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Type of the elements.
    pub fn dtype(&self) -> DType {
        self.0.dtype
    }

    /// Extents.
    pub fn shape(&self) -> &[Expr] {
        &self.0.shape
    }

    /// Number of dimensions.
    pub fn ndim(&self) -> usize {
        self.0.shape.len()
    }

    /// Where it lives.
    pub fn scope(&self) -> &Scope {
        &self.0.scope
    }
}

impl PartialEq for Buffer {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Buffer {}

impl Hash for Buffer {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Arc::as_ptr(&self.0).hash(state);
    }
}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {:?} {}", self.name(), self.shape(), self.dtype())
    }
}

/// `extent` integers from `min` on.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Range {
    /// First one.
    pub min: Expr,
    /// How many.
    pub extent: Expr,
}

impl Range {
    /// `0 .. extent`
    pub fn to(extent: Expr) -> Self {
        Self {
            min: Expr::int(0, extent.dtype()),
            extent,
        }
    }

    /// The single value.
    pub fn point(value: Expr) -> Self {
        let extent = Expr::int(1, value.dtype());
        Self { min: value, extent }
    }
}

/// A rectangular part of a buffer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BufferRegion {
    /// The buffer.
    pub buffer: Buffer,
    /// One range for each dimension.
    pub region: Vec<Range>,
}

impl BufferRegion {
    /// The whole buffer.
    pub fn full(buffer: &Buffer) -> Self {
        Self {
            buffer: buffer.clone(),
            region: buffer.shape().iter().cloned().map(Range::to).collect(),
        }
    }

    /// One element.
    pub fn point(buffer: &Buffer, indices: &[Expr]) -> Self {
        Self {
            buffer: buffer.clone(),
            region: indices.iter().cloned().map(Range::point).collect(),
        }
    }

    /// The region with variables replaced.
    pub fn substitute(&self, map: &dyn Fn(&Var) -> Option<Expr>) -> Self {
        let range = |r: &Range| Range {
            min: r.min.substitute(map),
            extent: r.extent.substitute(map),
        };
        Self {
            buffer: self.buffer.clone(),
            region: self.region.iter().map(range).collect(),
        }
    }
}

/// The region for messages.
impl fmt::Display for BufferRegion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ranges = self.region.iter();
        let ranges: Vec<_> = ranges
            .map(|range| format!("{:#}:+{:#}", range.min, range.extent))
            .collect();
        write!(f, "{}[{}]", self.buffer.name(), ranges.join(", "))
    }
}

/// What statements read and write.
#[derive(Clone, Debug)]
pub struct Access {
    /// Read regions, in order of first use.
    pub reads: Vec<BufferRegion>,
    /// Written regions, in order of first use.
    pub writes: Vec<BufferRegion>,
}
