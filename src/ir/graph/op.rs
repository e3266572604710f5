//! Operators of graph functions: what text, inference and verification know of one.
//!
//! The table of all operators is [`crate::ops`], a room above; a call holds an [`Op`], which is a reference into that table.

use std::cell::RefCell;

use super::dims::{Proof, compare_dims};
use super::{Arg, InferError};
use crate::ir::{AttrValue, Attrs, Expr, ExprKind, ShapeInfo, StructInfo, TensorInfo, VDevice};
use crate::tensor::DType;
use crate::tensor::scalar::BinOp;

/// What an operand is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OperandKind {
    /// A tensor.
    Tensor,
    /// A tuple of tensors.
    Tensors,
    /// A shape, or a tuple of scalars.
    Shape,
    /// A scalar (`R.prim_value`).
    Scalar,
    /// A packed function; a text names one.
    Packed,
    /// A tuple, whatever its elements are.
    Tuple,
    /// Anything.
    Any,
}

/// One operand of an operator.
#[derive(Clone, Copy, Debug)]
pub struct Operand {
    /// TVM's name, which a call may use as a keyword.
    pub name: &'static str,
    /// What it is.
    pub kind: OperandKind,
    /// Whether a call may leave it out. Optional operands come last.
    pub optional: bool,
}

/// What values an attribute takes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum AttrKind {
    /// An integer.
    Int,
    /// A number.
    Float,
    /// `True` or `False`.
    Bool,
    /// One of these texts; any text if there are none.
    Str(&'static [&'static str]),
    /// An element type; `"void"` is the same as `None`.
    DType,
    /// A list of integers; one integer counts as a list.
    Ints,
    /// A list of numbers; one number counts as a list.
    Floats,
    /// A device, as `"vulkan:0"`.
    VDevice,
    /// Any plain value.
    Any,
}

/// What an attribute is where a call does not give it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum AttrDefault {
    /// A call must give it.
    Required,
    /// Absent.
    None,
    /// An integer.
    Int(i64),
    /// A number.
    Float(f64),
    /// A truth value.
    Bool(bool),
    /// A text.
    Str(&'static str),
    /// A list of integers.
    Ints(&'static [i64]),
}

impl AttrDefault {
    /// The value; `None` if the attribute is then absent.
    pub fn value(self) -> Option<AttrValue> {
        Some(match self {
            Self::Required | Self::None => return None,
            Self::Int(v) => AttrValue::Int(v),
            Self::Float(v) => AttrValue::Float(v),
            Self::Bool(v) => AttrValue::Bool(v),
            Self::Str(v) => AttrValue::Str(v.to_owned()),
            Self::Ints(v) => AttrValue::List(v.iter().map(|&v| AttrValue::Int(v)).collect()),
        })
    }
}

/// One attribute of an operator.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct AttrSpec {
    /// TVM's name.
    pub name: &'static str,
    /// The values it takes.
    pub kind: AttrKind,
    /// Its value where a call does not give it.
    pub default: AttrDefault,
}

impl AttrSpec {
    /// The value as the operator keeps it: a truth value for `0` and `1`, a list for a single number. `None` if the attribute
    /// does not take the value.
    fn normalize(&self, value: AttrValue) -> Option<AttrValue> {
        let is_number = |v: &AttrValue| {
            v.as_int().is_some() || matches!(v, AttrValue::Float(_) | AttrValue::Expr(_))
        };
        let one = |value: AttrValue| match value {
            list @ AttrValue::List(_) => list,
            single => AttrValue::List(vec![single]),
        };
        match self.kind {
            AttrKind::Any => Some(value),
            AttrKind::VDevice => {
                let device = VDevice::parse(value.as_str()?)?;
                Some(AttrValue::Str(device.to_string()))
            }
            AttrKind::Int => value.as_int().map(AttrValue::Int),
            AttrKind::Float => match value {
                AttrValue::Int(v) => Some(AttrValue::Float(v as f64)),
                AttrValue::Float(_) => Some(value),
                AttrValue::Expr(e) => e
                    .as_float()
                    .or(e.as_int().map(|v| v as f64))
                    .map(AttrValue::Float),
                AttrValue::Str(text) => text.parse().ok().map(AttrValue::Float),
                _ => None,
            },
            AttrKind::Bool => value
                .as_int()
                .filter(|v| matches!(v, 0 | 1))
                .map(|v| AttrValue::Bool(v == 1)),
            AttrKind::Str(allowed) => value
                .as_str()
                .filter(|text| allowed.is_empty() || allowed.contains(text))
                .map(|text| AttrValue::Str(text.to_owned())),
            AttrKind::DType => match value {
                AttrValue::DType(_) => Some(value),
                AttrValue::Str(text) => text.parse().ok().map(AttrValue::DType),
                _ => None,
            },
            AttrKind::Ints => match one(value) {
                AttrValue::List(items) => items
                    .iter()
                    .map(|item| match item {
                        AttrValue::Expr(e) if e.as_int().is_none() => Some(item.clone()),
                        _ => item.as_int().map(AttrValue::Int),
                    })
                    .collect::<Option<_>>()
                    .map(AttrValue::List),
                _ => None,
            },
            AttrKind::Floats => match one(value) {
                AttrValue::List(items) if items.iter().all(is_number) => {
                    Some(AttrValue::List(items))
                }
                _ => None,
            },
        }
    }

    /// Whether the value says that the attribute is absent.
    fn is_absent(&self, value: &AttrValue) -> bool {
        match value {
            AttrValue::None => true,
            AttrValue::Str(text) => {
                (self.kind == AttrKind::DType && (text == "void" || text.is_empty()))
                    || (matches!(self.kind, AttrKind::Str(_))
                        && text.is_empty()
                        && (self.default == AttrDefault::None || self.kind != AttrKind::Str(&[])))
            }
            _ => false,
        }
    }
}

/// Why named values do not fit what takes them.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum AttrError {
    /// It takes other values.
    #[error("`{name}` takes {expected}, not {got}")]
    Value {
        /// The name.
        name: &'static str,
        /// What it takes.
        expected: AttrKind,
        /// What is given.
        got: String,
    },
    /// It must be given.
    #[error("`{name}` must be given")]
    Missing {
        /// The name.
        name: &'static str,
    },
    /// There is none with this name.
    #[error("there is no `{name}`, only {}", names(known))]
    Unknown {
        /// The name.
        name: String,
        /// Those that there are.
        known: &'static [AttrSpec],
    },
}

fn names(specs: &[AttrSpec]) -> String {
    let names: Vec<&str> = specs.iter().map(|spec| spec.name).collect();
    if names.is_empty() {
        "nothing".to_owned()
    } else {
        names.join(", ")
    }
}

/// The named values with defaults filled in, in the order of their specifications. What is `None` is absent.
///
/// # Errors
/// If a name is unknown, does not take its value, or is required and missing.
pub fn complete(specs: &'static [AttrSpec], mut given: Attrs) -> Result<Attrs, AttrError> {
    let mut attrs = Attrs::new();
    for spec in specs {
        let value = given.shift_remove(spec.name).filter(|v| !spec.is_absent(v));
        let value = match value {
            Some(value) => {
                let got = value.to_string();
                Some(spec.normalize(value).ok_or(AttrError::Value {
                    name: spec.name,
                    expected: spec.kind,
                    got,
                })?)
            }
            None if spec.default == AttrDefault::Required => {
                return Err(AttrError::Missing { name: spec.name });
            }
            None => spec.default.value(),
        };
        if let Some(value) = value {
            attrs.insert(spec.name.to_owned(), value);
        }
    }
    match given.into_iter().next() {
        Some((name, _)) => Err(AttrError::Unknown { name, known: specs }),
        None => Ok(attrs),
    }
}

/// How the type of a result follows from a call.
pub type Infer = fn(&OpCall<'_>) -> Result<StructInfo, InferError>;

/// What is known of an operator at this level.
#[derive(Clone, Copy, Debug)]
pub struct OpSchema {
    /// Name without `R.`, as `nn.conv2d`.
    pub name: &'static str,
    /// Operands in order.
    pub operands: &'static [Operand],
    /// Whether more operands of any kind may follow.
    pub variadic: bool,
    /// One more operand that a text may give in front of the attributes, and the name of the operator that it is then.
    pub extended: Option<(&'static str, &'static str)>,
    /// Attributes in order; positional arguments after the operands are attributes.
    pub attrs: &'static [AttrSpec],
    /// The type of the result.
    pub infer: Infer,
    /// Gives complete attributes the one spelling that calls have: attributes of the same meaning are equal then.
    pub spelling: fn(&mut Attrs),
    /// Whether it has no side effect.
    pub pure: bool,
}

/// An operator: a reference into the table. Equal by name.
#[derive(Clone, Copy)]
pub struct Op(&'static OpSchema);

impl Op {
    /// The operator with this schema.
    pub const fn new(schema: &'static OpSchema) -> Self {
        Self(schema)
    }

    /// Name without `R.`.
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// What is known of it.
    pub fn schema(self) -> &'static OpSchema {
        self.0
    }

    /// The attributes of a call with defaults filled in, in the order of the schema and in the spelling of the operator. What is
    /// `None` is absent.
    ///
    /// # Errors
    /// If the operator has no such attribute, the attribute does not take the value, or a required one is missing.
    pub fn complete(self, given: Attrs) -> Result<Attrs, InferError> {
        let mut attrs = complete(self.0.attrs, given).map_err(|error| match error {
            AttrError::Value {
                name,
                expected,
                got,
            } => InferError::AttributeValue {
                op: self.name(),
                name,
                expected,
                got,
            },
            AttrError::Missing { name } => InferError::MissingAttribute {
                op: self.name(),
                name,
            },
            AttrError::Unknown { name, known } => InferError::UnknownAttribute {
                op: self.name(),
                name,
                known,
            },
        })?;
        (self.0.spelling)(&mut attrs);
        Ok(attrs)
    }
}

impl PartialEq for Op {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Op {}

impl std::hash::Hash for Op {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.name().hash(state);
    }
}

impl std::fmt::Debug for Op {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl std::fmt::Display for Op {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "R.{}", self.name())
    }
}

impl std::fmt::Display for AttrKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Int => f.write_str("an integer"),
            Self::Float => f.write_str("a number"),
            Self::Bool => f.write_str("True or False"),
            Self::Str([]) => f.write_str("a text"),
            Self::Str(allowed) => {
                let allowed: Vec<_> = allowed.iter().map(|text| format!("{text:?}")).collect();
                write!(f, "one of {}", allowed.join(", "))
            }
            Self::DType => f.write_str("an element type"),
            Self::Ints => f.write_str("a list of integers"),
            Self::Floats => f.write_str("a list of numbers"),
            Self::VDevice => f.write_str("a device, as \"vulkan:0\""),
            Self::Any => f.write_str("a value"),
        }
    }
}

/// Two extents that an operator takes only if they are equal, where the values of symbolic variables decide.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Obligation {
    /// Which extents.
    pub what: &'static str,
    /// What the operands have.
    pub given: Expr,
    /// What the operator takes.
    pub expected: Expr,
}

impl Obligation {
    /// What an operator asks, as `R.matmul (the extents of the reduction): m must be n`.
    pub fn asks(&self, op: Op) -> String {
        let Self {
            what,
            given,
            expected,
        } = self;
        let other = |a: &Expr, b: &Expr| match expected {
            _ if b == expected => Some(a.clone()),
            _ if a == expected => Some(b.clone()),
            _ => None,
        };
        // What is the smaller one of two extents is at most the other one.
        let asked = match given.kind() {
            ExprKind::Binary(BinOp::Min, a, b) => other(a, b).map(|extent| (extent, "at least ")),
            ExprKind::Binary(BinOp::Max, a, b) => other(a, b).map(|extent| (extent, "at most ")),
            _ => None,
        };
        let (extent, how) = asked.unwrap_or_else(|| (given.clone(), ""));
        format!("{op} ({what}): {extent:#} must be {how}{expected:#}")
    }
}

/// The obligations of one call, in the order in which inference meets them.
pub type Obligations = RefCell<Vec<Obligation>>;

/// A call of an operator: what inference looks at.
#[derive(Clone, Copy, Debug)]
pub struct OpCall<'a> {
    /// The operator.
    pub op: Op,
    /// Operands as written.
    pub args: &'a [Arg],
    /// What is known of each operand.
    pub operands: &'a [StructInfo],
    /// Attributes as written; [`OpCall::attr`] knows the defaults.
    pub attrs: &'a Attrs,
    /// Where inference leaves what it could not decide; `None` where nobody checks it later.
    pub obligations: Option<&'a Obligations>,
}

impl<'a> OpCall<'a> {
    /// A call with these parts, of which nobody checks later what inference cannot decide.
    pub fn new(op: Op, args: &'a [Arg], operands: &'a [StructInfo], attrs: &'a Attrs) -> Self {
        Self {
            op,
            args,
            operands,
            attrs,
            obligations: None,
        }
    }

    /// The same, whose inference leaves here what it cannot decide.
    #[must_use]
    pub fn noting(self, obligations: &'a Obligations) -> Self {
        Self {
            obligations: Some(obligations),
            ..self
        }
    }

    /// The type of the result.
    ///
    /// # Errors
    /// If the operands or attributes do not fit.
    pub fn infer(&self) -> Result<StructInfo, InferError> {
        let schema = self.op.schema();
        let required = schema.operands.iter().filter(|o| !o.optional).count();
        let given = self.operands.len();
        if given < required || (given > schema.operands.len() && !schema.variadic) {
            return Err(InferError::ArgumentCount {
                callee: self.op.to_string(),
                expected: if given < required {
                    required
                } else {
                    schema.operands.len()
                },
                got: given,
            });
        }
        (schema.infer)(self)
    }

    /// Whether two extents are equal. Where the values of variables decide, the call gets an [`Obligation`].
    pub fn compare(&self, what: &'static str, given: &Expr, expected: &Expr) -> Proof {
        let proof = compare_dims(given, expected);
        if proof == Proof::Unknown
            && let Some(obligations) = self.obligations
        {
            obligations.borrow_mut().push(Obligation {
                what,
                given: given.clone(),
                expected: expected.clone(),
            });
        }
        proof
    }

    /// The tensor in operand `index`; `None` if nothing is known of it.
    ///
    /// # Errors
    /// If the operand is something else.
    pub fn tensor(&self, index: usize) -> Result<Option<&'a TensorInfo>, InferError> {
        match &self.operands[index] {
            StructInfo::Tensor(info) => Ok(Some(info)),
            StructInfo::Object => Ok(None),
            _ => Err(self.bad_operand(index, "a tensor")),
        }
    }

    /// The tensors in the tuple of operand `index`; `None` if nothing is known of one of them.
    ///
    /// # Errors
    /// If the operand is something else.
    pub fn tensors(&self, index: usize) -> Result<Option<Vec<&'a TensorInfo>>, InferError> {
        match &self.operands[index] {
            StructInfo::Tuple(items) => items
                .iter()
                .map(|item| match item {
                    StructInfo::Tensor(info) => Ok(Some(info)),
                    StructInfo::Object => Ok(None),
                    _ => Err(self.bad_operand(index, "a tuple of tensors")),
                })
                .collect(),
            StructInfo::Object => Ok(None),
            _ => Err(self.bad_operand(index, "a tuple of tensors")),
        }
    }

    /// Whether the call gives operand `index`.
    pub fn has(&self, index: usize) -> bool {
        index < self.operands.len()
    }

    /// The error of an operand that is not `expected`.
    pub fn bad_operand(&self, index: usize, expected: &'static str) -> InferError {
        InferError::Operand {
            op: self.op.name().to_owned(),
            index,
            expected,
            got: Box::new(self.operands[index].clone()),
        }
    }

    /// The error of an attribute that is not `expected`, in general or with these operands.
    pub fn bad_attribute(&self, name: &'static str, expected: &'static str) -> InferError {
        let got = self.attr(name);
        InferError::Attribute {
            op: self.op.name().to_owned(),
            name,
            expected,
            got: got.map_or_else(|| "nothing".to_owned(), |got| got.to_string()),
        }
    }

    /// The attribute, or its default.
    pub fn attr(&self, name: &'static str) -> Option<AttrValue> {
        let spec = self.op.schema().attrs.iter().find(|spec| spec.name == name);
        debug_assert!(spec.is_some(), "{} has no attribute `{name}`", self.op);
        match self.attrs.get(name) {
            Some(value) if spec.is_none_or(|spec| !spec.is_absent(value)) => Some(value.clone()),
            _ => spec.and_then(|spec| spec.default.value()),
        }
    }

    /// The element type in an attribute, if there is one.
    ///
    /// # Errors
    /// If the attribute is no element type.
    pub fn dtype(&self, name: &'static str) -> Result<Option<DType>, InferError> {
        match self.attr(name) {
            None => Ok(None),
            Some(AttrValue::DType(dtype)) => Ok(Some(dtype)),
            Some(AttrValue::Str(text)) => text
                .parse()
                .map(Some)
                .map_err(|_| self.bad_attribute(name, "an element type")),
            Some(_) => Err(self.bad_attribute(name, "an element type")),
        }
    }

    /// The integers in an attribute, if there is one; one integer counts as a list.
    ///
    /// # Errors
    /// If the attribute is no list of integers.
    pub fn ints(&self, name: &'static str) -> Result<Option<Vec<i64>>, InferError> {
        let bad = || self.bad_attribute(name, "a list of integers");
        match self.attr(name) {
            None => Ok(None),
            Some(AttrValue::List(items)) => {
                let items = items.iter().map(|item| item.as_int().ok_or_else(bad));
                items.collect::<Result<_, _>>().map(Some)
            }
            Some(value) => Ok(Some(vec![value.as_int().ok_or_else(bad)?])),
        }
    }

    /// The integer in an attribute, if there is one.
    ///
    /// # Errors
    /// If the attribute is no integer.
    pub fn int(&self, name: &'static str) -> Result<Option<i64>, InferError> {
        match self.ints(name)?.as_deref() {
            None => Ok(None),
            Some([value]) => Ok(Some(*value)),
            Some(_) => Err(self.bad_attribute(name, "an integer")),
        }
    }

    /// The number in an attribute, if there is one.
    ///
    /// # Errors
    /// If the attribute is no number.
    pub fn float(&self, name: &'static str) -> Result<Option<f64>, InferError> {
        match self.attr(name) {
            None => Ok(None),
            Some(AttrValue::Float(v)) => Ok(Some(v)),
            Some(value) => match value.as_int() {
                Some(v) => Ok(Some(v as f64)),
                None => Err(self.bad_attribute(name, "a number")),
            },
        }
    }

    /// Whether the attribute is true.
    ///
    /// # Errors
    /// If the attribute is no truth value.
    pub fn flag(&self, name: &'static str) -> Result<bool, InferError> {
        match self.attr(name) {
            None => Ok(false),
            Some(value) => match value.as_int() {
                Some(0) => Ok(false),
                Some(1) => Ok(true),
                _ => Err(self.bad_attribute(name, "True or False")),
            },
        }
    }

    /// The text in an attribute, if there is one.
    ///
    /// # Errors
    /// If the attribute is no text.
    pub fn text(&self, name: &'static str) -> Result<Option<String>, InferError> {
        match self.attr(name) {
            None => Ok(None),
            Some(AttrValue::Str(text)) => Ok(Some(text)),
            Some(_) => Err(self.bad_attribute(name, "a text")),
        }
    }

    /// The position of an axis, which may count from the end.
    ///
    /// # Errors
    /// If a tensor of `ndim` dimensions does not have it.
    pub fn axis(&self, axis: i64, ndim: usize) -> Result<usize, InferError> {
        let at = if axis < 0 { axis + ndim as i64 } else { axis };
        let at = usize::try_from(at).ok().filter(|&at| at < ndim);
        at.ok_or_else(|| InferError::Axis {
            op: self.op.name().to_owned(),
            axis,
            ndim,
        })
    }

    /// The positions of the axes in an attribute, each once and ascending; of all dimensions where the attribute is absent.
    ///
    /// # Errors
    /// If the tensor does not have one of them, or one is there twice.
    pub fn axes(&self, name: &'static str, ndim: usize) -> Result<Vec<usize>, InferError> {
        let Some(axes) = self.ints(name)? else {
            return Ok((0..ndim).collect());
        };
        let axes = axes.into_iter().map(|axis| self.axis(axis, ndim));
        let mut axes = axes.collect::<Result<Vec<_>, _>>()?;
        axes.sort_unstable();
        match axes.windows(2).any(|pair| pair[0] == pair[1]) {
            true => Err(self.bad_attribute(name, "axes that are there once")),
            false => Ok(axes),
        }
    }

    /// The extents that operand `index` says: a shape, or a tuple of scalars.
    pub fn shape(&self, index: usize) -> ShapeInfo {
        match (&self.args[index], &self.operands[index]) {
            (Arg::Shape(dims), _) => ShapeInfo::Known(dims.clone()),
            (_, StructInfo::Shape(shape)) => shape.clone(),
            (_, StructInfo::Tuple(items)) => items
                .iter()
                .map(|item| match item {
                    StructInfo::Prim {
                        dtype: _,
                        value: Some(e),
                    } => Some(e.cast(DType::I64)),
                    _ => None,
                })
                .collect::<Option<_>>()
                .map_or(ShapeInfo::Ndim(items.len()), ShapeInfo::Known),
            _ => ShapeInfo::Unknown,
        }
    }

    /// The value of the scalar in operand `index`, if it is known.
    pub fn scalar(&self, index: usize) -> Option<Expr> {
        match (self.args.get(index)?, self.operands.get(index)?) {
            (Arg::Prim(e), _) => Some(e.clone()),
            (_, StructInfo::Prim { dtype: _, value }) => value.clone(),
            _ => None,
        }
    }
}
