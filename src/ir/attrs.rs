//! Attributes and annotations: named plain values on functions, loops, blocks and calls.

use std::fmt;

use indexmap::IndexMap;

use super::{Buffer, BufferRegion, Expr, Range, Var};
use crate::tensor::DType;

/// Attributes in the order in which they were written.
pub type Attrs = IndexMap<String, AttrValue>;

/// Annotation of a loop or block at the root of a loop program: on a GPU it runs in one thread, where no loop is bound.
pub const ONE_THREAD: &str = "one_thread";

/// Attribute of a loop program: the name of the one that it is a variant of, for other sizes. A call of that one may run it instead.
pub const VARIANT_OF: &str = "variant_of";

/// Attribute of a variant: it is the only program for its sizes, so it must have a schedule.
pub const ALTERNATIVE: &str = "alternative";

/// Attribute of a loop program: the sizes of its launches, by name, for which its schedule is chosen. It runs with any others, too.
pub const USUAL_SIZES: &str = "usual_sizes";

/// Annotation of a block: iterations that differ in its spatial iter variables store to different elements, and read of these none but
/// their own, which its regions do not show. So they may run in any order.
pub const ANY_ORDER: &str = "any_order";

/// Annotation of a loop: what accumulates in it may be combined in any order, on the CPU on vectors with several accumulators (OpenMP:
/// `simd reduction`). In a loop without it, one term is combined after the other. Elements that a loop chooses, as the index and the
/// value of an argmax, must be chosen by an order that tells all but equal ones apart.
pub const SIMD_REDUCTION: &str = "simd_reduction";

/// Annotation of a block whose sum runs over padding, too: how many terms it has without. Reports count those.
pub const UNPADDED_TERMS: &str = "unpadded_terms";

/// Annotation of a block: which strides of the buffers it writes are more than a multiple of a factor by an offset; see
/// [`alignments`].
pub const STORAGE_ALIGN: &str = "buffer_dim_align";

/// What [`STORAGE_ALIGN`] says: position of the write region, dimension, factor, offset. `None` if it does not have that form.
pub fn alignments(value: &AttrValue) -> Option<Vec<[i64; 4]>> {
    let AttrValue::List(entries) = value else {
        return None;
    };
    let int = |value: &AttrValue| match value {
        AttrValue::Int(value) => Some(*value),
        AttrValue::Expr(e) => e.as_int(),
        _ => None,
    };
    let entry = |entry: &AttrValue| match entry {
        AttrValue::List(values) => values
            .iter()
            .map(int)
            .collect::<Option<Vec<i64>>>()?
            .try_into()
            .ok(),
        _ => None,
    };
    entries.iter().map(entry).collect()
}

/// Annotation of a loop: the stage of each part of its body. What a part of the first stage loads, it loads for the next iteration while
/// the others compute. Any number of stages counts as two, and `software_pipeline_order` is not read; see [`stages`].
pub const PIPELINE_STAGE: &str = "software_pipeline_stage";

/// What [`PIPELINE_STAGE`] says. `None` if it is no list of integers, or an empty one.
pub fn stages(value: &AttrValue) -> Option<Vec<i64>> {
    let AttrValue::List(values) = value else {
        return None;
    };
    let stages: Option<Vec<i64>> = values.iter().map(AttrValue::as_int).collect();
    stages.filter(|stages| !stages.is_empty())
}

/// Key of a remark that is a hint: advice about its body (`T.hint`).
pub const HINT_KEY: &str = "tirx_hint";

/// What the text of a hint is called among its attributes.
pub const HINT_TEXT: &str = "message";

/// A plain value.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum AttrValue {
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    Str(String),
    DType(DType),
    Expr(Expr),
    Buffer(Buffer),
    Region(BufferRegion),
    Function(Lambda),
    IndexMap(Lambda),
    Reducer(Reducer),
    List(Vec<AttrValue>),
    Dict(Attrs),
}

/// A function of scalars, as the map of a layout.
#[derive(Clone, Debug, PartialEq)]
pub struct Lambda {
    /// Parameters.
    pub params: Vec<Var>,
    /// Results.
    pub results: Vec<Expr>,
}

/// A commutative reducer (`T.comm_reducer`). The first half of the parameters of `combine` is one tuple of values, the other
/// half the other one.
#[derive(Clone, Debug, PartialEq)]
pub struct Reducer {
    /// Combines two tuples of values.
    pub combine: Lambda,
    /// What changes nothing: one value for each result.
    pub identity: Vec<Expr>,
}

/// The plain values of JSON; a number that is no integer is a float.
impl From<&serde_json::Value> for AttrValue {
    fn from(value: &serde_json::Value) -> Self {
        use serde_json::Value;
        match value {
            Value::Null => Self::None,
            Value::Bool(v) => Self::Bool(*v),
            Value::Number(v) => match v.as_i64() {
                Some(v) => Self::Int(v),
                None => Self::Float(v.as_f64().unwrap_or(f64::NAN)),
            },
            Value::String(text) => Self::Str(text.clone()),
            Value::Array(items) => Self::List(items.iter().map(Self::from).collect()),
            Value::Object(items) => {
                let items = items.iter().map(|(key, v)| (key.clone(), v.into()));
                Self::Dict(items.collect())
            }
        }
    }
}

/// The value for messages, as the text of a program has it.
impl fmt::Display for AttrValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("None"),
            Self::Bool(true) => f.write_str("True"),
            Self::Bool(false) => f.write_str("False"),
            Self::Int(v) => v.fmt(f),
            Self::Float(v) => write!(f, "{v:?}"),
            Self::Str(text) => write!(f, "{text:?}"),
            Self::DType(dtype) => write!(f, "\"{dtype}\""),
            Self::Expr(e) => write!(f, "{e:#}"),
            Self::Buffer(buffer) => f.write_str(buffer.name()),
            Self::Region(region) => region.fmt(f),
            Self::Function(map) | Self::IndexMap(map) => map.fmt(f),
            Self::Reducer(reducer) => reducer.combine.fmt(f),
            Self::List(items) => {
                f.write_str("[")?;
                for (at, item) in items.iter().enumerate() {
                    f.write_str(if at > 0 { ", " } else { "" })?;
                    item.fmt(f)?;
                }
                f.write_str("]")
            }
            Self::Dict(items) => {
                f.write_str("{")?;
                for (at, (key, value)) in items.iter().enumerate() {
                    let comma = if at > 0 { ", " } else { "" };
                    write!(f, "{comma}{key:?}: {value}")?;
                }
                f.write_str("}")
            }
        }
    }
}

impl fmt::Display for Lambda {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let params: Vec<_> = self.params.iter().map(|param| param.name()).collect();
        let results: Vec<_> = self.results.iter().map(|e| format!("{e:#}")).collect();
        write!(f, "lambda {}: ({})", params.join(", "), results.join(", "))
    }
}

impl AttrValue {
    /// The integer, if it is one.
    pub fn as_int(&self) -> Option<i64> {
        match self {
            Self::Int(v) => Some(*v),
            Self::Bool(v) => Some((*v).into()),
            Self::Expr(e) => e.as_int(),
            _ => None,
        }
    }

    /// The text, if it is one.
    pub fn as_str(&self) -> Option<&str> {
        if let Self::Str(text) = self {
            Some(text)
        } else {
            None
        }
    }
}

impl AttrValue {
    /// The expressions inside, but for those of functions.
    pub fn exprs(&self) -> Vec<&Expr> {
        match self {
            Self::None
            | Self::Bool(_)
            | Self::Int(_)
            | Self::Float(_)
            | Self::Str(_)
            | Self::DType(_)
            | Self::Buffer(_)
            | Self::Function(_)
            | Self::IndexMap(_) => vec![],
            Self::Region(region) => {
                let ranges = region.region.iter();
                ranges.flat_map(|r| [&r.min, &r.extent]).collect()
            }
            Self::Reducer(reducer) => reducer.identity.iter().collect(),
            Self::Expr(e) => vec![e],
            Self::List(items) => items.iter().flat_map(Self::exprs).collect(),
            Self::Dict(items) => items.values().flat_map(Self::exprs).collect(),
        }
    }

    /// The regions of buffers inside; a buffer is the region of all its elements.
    pub fn regions(&self) -> Vec<BufferRegion> {
        match self {
            Self::Buffer(buffer) => vec![BufferRegion::full(buffer)],
            Self::Region(region) => vec![region.clone()],
            Self::List(items) => items.iter().flat_map(Self::regions).collect(),
            Self::Dict(items) => items.values().flat_map(Self::regions).collect(),
            _ => vec![],
        }
    }

    /// The value with `f` applied to every expression.
    pub fn map_exprs(&self, f: &mut dyn FnMut(&Expr) -> Expr) -> Self {
        match self {
            Self::None
            | Self::Bool(_)
            | Self::Int(_)
            | Self::Float(_)
            | Self::Str(_)
            | Self::DType(_)
            | Self::Buffer(_)
            | Self::Function(_)
            | Self::IndexMap(_) => self.clone(),
            Self::Region(region) => Self::Region(BufferRegion {
                buffer: region.buffer.clone(),
                region: (region.region.iter())
                    .map(|range| Range {
                        min: f(&range.min),
                        extent: f(&range.extent),
                    })
                    .collect(),
            }),
            Self::Reducer(reducer) => Self::Reducer(Reducer {
                combine: reducer.combine.clone(),
                identity: reducer.identity.iter().map(f).collect(),
            }),
            Self::Expr(e) => Self::Expr(f(e)),
            Self::List(items) => Self::List(items.iter().map(|i| i.map_exprs(f)).collect()),
            Self::Dict(items) => Self::Dict(
                items
                    .iter()
                    .map(|(k, v)| (k.clone(), v.map_exprs(f)))
                    .collect(),
            ),
        }
    }
}
