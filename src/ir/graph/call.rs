//! A call of an operator as inference sees it, and what it asks of extents that only the values of variables decide.

use std::cell::RefCell;

use super::dims::{Proof, compare_dims};
use super::{Arg, InferError, Op};
use crate::ir::{AttrValue, Attrs, Expr, ExprKind, ShapeInfo, StructInfo, TensorInfo};
use crate::tensor::DType;
use crate::tensor::scalar::BinOp;

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
        let result = (schema.infer)(self)?;
        match negative_extent(&result) {
            Some(extent) => Err(InferError::NegativeExtent {
                op: self.op.name().to_owned(),
                extent,
            }),
            None => Ok(result),
        }
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

/// An extent of a tensor in it that is a number below 0.
fn negative_extent(info: &StructInfo) -> Option<Expr> {
    match info {
        StructInfo::Tensor(info) => {
            let mut extents = info.shape.dims()?.iter();
            let is_negative = |extent: &&Expr| extent.as_int().is_some_and(|extent| extent < 0);
            extents.find(is_negative).cloned()
        }
        StructInfo::Tuple(items) => items.iter().find_map(negative_extent),
        StructInfo::Object
        | StructInfo::Prim { dtype: _, value: _ }
        | StructInfo::Shape(_)
        | StructInfo::Callable {
            params: _,
            ret: _,
            pure: _,
        } => None,
    }
}
