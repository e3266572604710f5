//! `Call`: one node while it is imported. It gives the operands in the form in which an operator wants them (a value of the graph,
//! numbers, sizes), and emits what the node becomes.

use serde_json::Value as Json;

use super::attributes::Attributes;
use super::error::{Fault, MAX_RANK};
use super::import::Importer;
use super::proto::NodeProto;
use super::scope::Scope;
use super::value::{Fraction, Known, Value};
use crate::ir::{AttrValue, Attrs, Expr as Size, ShapeInfo, StructInfo};
use crate::relax::{self, BlockBuilder, Expr, Var};
use crate::tensor::{DType, Tensor};

/// What an import gives: the outputs of the node, as many as it knows.
pub(super) type Outputs = Result<Vec<Value>, Fault>;

/// A node, and where it stands.
pub(super) struct Call<'a, 'm> {
    pub(super) importer: &'a mut Importer<'m>,
    pub(super) bb: &'a mut BlockBuilder,
    pub(super) node: &'m NodeProto,
    pub(super) inputs: Vec<Value>,
    pub(super) attributes: Attributes<'m>,
    /// The version of the operator: that of the operator set in which it last changed.
    pub(super) version: i64,
    pub(super) scope: &'a Scope<'a, 'm>,
    pub(super) place: &'a str,
}

/// One output.
pub(super) fn one(var: impl Into<Value>) -> Outputs {
    Ok(vec![var.into()])
}

impl From<Var> for Value {
    fn from(var: Var) -> Self {
        Self::Var(var)
    }
}

impl From<Known> for Value {
    fn from(known: Known) -> Self {
        Self::Known(known)
    }
}

impl From<Tensor> for Value {
    fn from(tensor: Tensor) -> Self {
        Self::Const(tensor)
    }
}

impl<'m> Call<'_, 'm> {
    /// Whether the operand is given.
    pub(super) fn has(&self, index: usize) -> bool {
        !matches!(self.inputs.get(index), None | Some(Value::Absent))
    }

    /// Whether somebody may use the output.
    pub(super) fn wants(&self, index: usize) -> bool {
        self.node
            .output
            .get(index)
            .is_some_and(|name| !name.is_empty())
    }

    fn given(&self, index: usize) -> Result<&Value, Fault> {
        match self.inputs.get(index) {
            None | Some(Value::Absent) => Err(Fault::NoOperand(index)),
            Some(value) => Ok(value),
        }
    }

    /// An operand that is not as the operator wants it.
    pub(super) fn bad(&self, index: usize, given: impl ToString, expected: impl ToString) -> Fault {
        Fault::Operand {
            index,
            name: self.node.input.get(index).cloned().unwrap_or_default(),
            given: given.to_string(),
            expected: expected.to_string(),
        }
    }

    /// The operand as a value of the graph.
    pub(super) fn x(&mut self, index: usize) -> Result<Expr, Fault> {
        let value = self.given(index)?.clone();
        self.graph_value(&value)?
            .ok_or_else(|| self.bad(index, "a sequence or an optional value", "a tensor"))
    }

    /// The operand as a value of the graph, if it is given.
    pub(super) fn optional(&mut self, index: usize) -> Result<Option<Expr>, Fault> {
        match self.has(index) {
            true => self.x(index).map(Some),
            false => Ok(None),
        }
    }

    /// A value as one of the graph, if it is a tensor.
    pub(super) fn graph_value(&mut self, value: &Value) -> Result<Option<Expr>, Fault> {
        Ok(match value {
            Value::Var(var) => Some(var.into()),
            Value::Const(tensor) => Some(relax::constant(tensor.clone())),
            Value::Known(known) => Some(materialized(known)?),
            Value::Packed(packed) => {
                return Err(Fault::ElementType(packed.dtype_name().to_owned()));
            }
            Value::List(_) | Value::Rows(_) | Value::Absent | Value::Missing => None,
        })
    }

    /// Unpacks an operand of four bits a number: from then on it is one of `int32`.
    pub(super) fn unpack(&mut self, index: usize) -> Result<(), Fault> {
        if let Some(Value::Packed(packed)) = self.inputs.get(index) {
            let packed = packed.clone();
            self.inputs[index] = packed.unpacked(self)?.into();
        }
        Ok(())
    }

    /// The operand as a variable of the graph.
    pub(super) fn var(&mut self, index: usize) -> Result<Var, Fault> {
        let x = self.x(index)?;
        self.emit(x)
    }

    /// What is known of the operand.
    fn sinfo(&self, index: usize) -> Result<StructInfo, Fault> {
        match self.given(index)? {
            Value::Packed(packed) => Err(Fault::ElementType(packed.dtype_name().to_owned())),
            value => sinfo_of(value)
                .ok_or_else(|| self.bad(index, "a sequence or an optional value", "a tensor")),
        }
    }

    /// The element type of the operand.
    pub(super) fn dtype(&self, index: usize) -> Result<DType, Fault> {
        let sinfo = self.sinfo(index)?;
        let dtype = sinfo.as_tensor().and_then(|info| info.dtype);
        dtype.ok_or_else(|| self.bad(index, &sinfo, "a tensor of known element type"))
    }

    /// The extents of the operand.
    pub(super) fn dims(&self, index: usize) -> Result<Vec<Size>, Fault> {
        let sinfo = self.sinfo(index)?;
        match sinfo.as_tensor().map(|info| &info.shape) {
            Some(ShapeInfo::Known(dims)) => Ok(dims.clone()),
            _ => Err(self.bad(index, &sinfo, "a tensor of a known number of dimensions")),
        }
    }

    pub(super) fn ndim(&self, index: usize) -> Result<usize, Fault> {
        Ok(self.dims(index)?.len())
    }

    /// The extent of a dimension, which must be a number.
    pub(super) fn dim(&self, index: usize, axis: usize) -> Result<i64, Fault> {
        let dims = self.dims(index)?;
        let dim = dims.get(axis).and_then(Size::as_int);
        dim.ok_or_else(|| {
            let expected = format!(
                "a tensor with a constant extent in dimension {axis} (--dim fixes a symbolic one)"
            );
            self.bad(index, shown(&dims), expected)
        })
    }

    /// The dimension that an axis means, counted from the end if it is below 0.
    pub(super) fn axis(&self, axis: i64, ndim: usize) -> Result<usize, Fault> {
        let from = if axis < 0 { axis + ndim as i64 } else { axis };
        let found = usize::try_from(from).ok().filter(|&axis| axis < ndim);
        found.ok_or_else(|| Fault::Attribute {
            name: "axis".to_owned(),
            given: axis.to_string(),
            expected: format!("a dimension of {ndim}"),
        })
    }

    /// The same, where the axis may also be the number of dimensions.
    pub(super) fn axis_or_end(&self, axis: i64, ndim: usize) -> Result<usize, Fault> {
        match usize::try_from(axis) {
            Ok(end) if end == ndim => Ok(ndim),
            _ => self.axis(axis, ndim),
        }
    }

    /// The elements of the operand, if all are known.
    pub(super) fn known(&self, index: usize) -> Option<Known> {
        known(self.inputs.get(index)?)
    }

    /// The elements of the operand, which must be integers of the model.
    pub(super) fn ints(&self, index: usize) -> Result<Vec<i64>, Fault> {
        self.given(index)?;
        let ints = self.known(index).and_then(|known| known.ints());
        ints.ok_or_else(|| self.bad(index, "computed", "known when the model is imported"))
    }

    /// The elements of the operand, which must be numbers of the model.
    pub(super) fn floats(&self, index: usize) -> Result<Vec<f64>, Fault> {
        self.given(index)?;
        let floats = self.known(index).and_then(|known| known.floats());
        floats.ok_or_else(|| self.bad(index, "computed", "known when the model is imported"))
    }

    /// The integers of an attribute up to some version, and of an operand from then on.
    pub(super) fn ints_since(
        &self,
        version: i64,
        name: &str,
        index: usize,
    ) -> Result<Option<Vec<i64>>, Fault> {
        if self.version < version {
            return self.attributes.ints(name);
        }
        match self.has(index) {
            true => self.ints(index).map(Some),
            false => Ok(None),
        }
    }

    /// A vector of integers as sizes. Those that the graph computes are read on the host and become new symbolic sizes.
    pub(super) fn sizes(&mut self, index: usize) -> Result<Vec<Size>, Fault> {
        if let Some(sizes) = self.known(index).and_then(|known| known.sizes()) {
            return match sizes.len() {
                ..=MAX_RANK => Ok(sizes),
                rank => Err(Fault::Rank(rank)),
            };
        }
        let dims = self.dims(index)?;
        let count = match dims.as_slice() {
            [] => 1,
            _ => self.count(index)?,
        };
        let mut x = self.x(index)?;
        if self.dtype(index)? != DType::I64 {
            x = cast(x, DType::I64);
        }
        if dims.is_empty() {
            x = relax::op("reshape", [x, relax::shape([1i64])]);
        }
        let known = self.partly_known(index);
        let shape = self.emit(relax::op("tensor_to_shape", [x]))?;
        let symbols = self.symbols(&shape, count as usize)?;
        Ok(match known {
            Some(known) => known.into_iter().zip(symbols),
            None => return Ok(symbols),
        }
        .map(|(known, symbol)| known.unwrap_or(symbol))
        .collect())
    }

    /// The elements of a vector of integers as sizes, those that are known.
    pub(super) fn partly_known(&self, index: usize) -> Option<Vec<Option<Size>>> {
        match self.inputs.get(index)? {
            Value::Var(var) => self.importer.partly_known(var).map(<[_]>::to_vec),
            value => {
                let sizes = known(value)?.sizes()?;
                Some(sizes.into_iter().map(Some).collect())
            }
        }
    }

    /// How many elements a vector of sizes has.
    pub(super) fn count(&self, index: usize) -> Result<i64, Fault> {
        let dims = self.dims(index)?;
        let count = match dims.as_slice() {
            [count] => count
                .as_int()
                .filter(|count| (0..=MAX_RANK as i64).contains(count)),
            _ => None,
        };
        let expected = format!("a vector of a known number of sizes, at most {MAX_RANK}");
        count.ok_or_else(|| self.bad(index, shown(&dims), expected))
    }

    /// New symbolic sizes that are those of a shape.
    pub(super) fn symbols(&mut self, shape: &Var, count: usize) -> Result<Vec<Size>, Fault> {
        let stem = self.node.output.first().cloned().unwrap_or_default();
        let symbols = (0..count).map(|_| self.importer.fresh(&stem).expr());
        let symbols: Vec<Size> = symbols.collect();
        let sinfo = StructInfo::Shape(ShapeInfo::Known(symbols.clone()));
        self.bb.match_cast(shape, sinfo)?;
        Ok(symbols)
    }

    /// Binds an expression. A tensor of extents that depend on elements gets new symbolic ones.
    pub(super) fn emit(&mut self, value: impl Into<Expr>) -> Result<Var, Fault> {
        let var = self.bb.emit(value)?;
        let StructInfo::Tensor(info) = var.sinfo() else {
            return Ok(var);
        };
        if let Some(rank) = info.shape.ndim().filter(|&ndim| ndim > MAX_RANK) {
            return Err(Fault::Rank(rank));
        }
        let ndim = match &info.shape {
            ShapeInfo::Known(dims) => {
                self.importer.know_extents(dims);
                return Ok(var);
            }
            ShapeInfo::Ndim(ndim) => *ndim,
            ShapeInfo::Unknown => return Ok(var),
        };
        let mut info = info.clone();
        let output = self.node.output.first().cloned().unwrap_or_default();
        let dims = (0..ndim).map(|_| self.importer.fresh(&output).expr());
        info.shape = ShapeInfo::Known(dims.collect());
        Ok(self.bb.match_cast(&var, StructInfo::Tensor(info))?)
    }

    /// Emits an operator without attributes.
    pub(super) fn op<E: Into<Expr>>(
        &mut self,
        name: &str,
        args: impl IntoIterator<Item = E>,
    ) -> Result<Var, Fault> {
        self.emit(relax::op(name, args))
    }

    /// Emits an operator with attributes.
    pub(super) fn op_with<E: Into<Expr>>(
        &mut self,
        name: &str,
        args: impl IntoIterator<Item = E>,
        attributes: &Json,
    ) -> Result<Var, Fault> {
        self.emit(relax::op_with(name, args, attrs(attributes)))
    }

    /// Emits items of a tuple, so many.
    pub(super) fn items(&mut self, tuple: &Var, count: usize) -> Result<Vec<Value>, Fault> {
        let items = 0..count;
        let items = items.map(|at| Ok(Value::Var(self.emit(relax::item(tuple, at))?)));
        items.collect()
    }

    /// Has the call check that two sizes are equal, unless they always are.
    pub(super) fn check_size(&mut self, given: Size, expected: Size) -> Result<(), Fault> {
        if !self.importer.arith.can_prove_equal(&given, &expected) {
            let expected = StructInfo::Shape(ShapeInfo::Known(vec![expected]));
            self.bb.match_cast(relax::shape([given]), expected)?;
        }
        Ok(())
    }

    /// One operator of the graph with the first operands, and its result.
    pub(super) fn simple(&mut self, name: &str, operands: usize) -> Outputs {
        if let Some(more) = self.inputs.get(operands)
            && !matches!(more, Value::Absent)
        {
            return Err(self.bad(operands, "given", "left out"));
        }
        let args: Result<Vec<Expr>, Fault> = (0..operands).map(|at| self.x(at)).collect();
        one(self.op(name, args?)?)
    }

    /// The shape operand of the graph with these extents.
    pub(super) fn reshaped(
        &mut self,
        x: impl Into<Expr>,
        dims: impl IntoIterator<Item = Size>,
    ) -> Result<Var, Fault> {
        self.op("reshape", [x.into(), relax::shape(dims)])
    }

    /// The place of a graph in this node.
    pub(super) fn inside(&self, name: &str) -> String {
        format!("{} / {name}", self.place)
    }
}

/// A tensor of known elements as a value of the graph: a constant, or made of sizes on the host.
pub(super) fn materialized(known: &Known) -> Result<Expr, Fault> {
    if let Some(tensor) = known.tensor() {
        let tensor = tensor.map_err(relax::BuildError::from)?;
        return Ok(relax::constant(tensor));
    }
    let fractions = known.elements.iter().map(|e| match e.dtype().is_float() {
        true => Fraction::of(e).expect("floats that are no numbers are fractions"),
        false => Fraction::new(e.cast(DType::I64), 1),
    });
    let (sizes, below): (Vec<Size>, Vec<i64>) = fractions.map(|f| (f.top, f.bottom)).unzip();
    let mut made = relax::op("shape_to_tensor", [relax::shape(sizes)]);
    if known.dtype != DType::I64 {
        made = cast(made, known.dtype);
    }
    if below.iter().any(|&below| below != 1) {
        let below = below
            .iter()
            .map(|&below| Size::float(below as f64, known.dtype));
        let below = Known {
            dtype: known.dtype,
            shape: vec![known.elements.len()],
            elements: below.collect(),
        };
        made = relax::op("divide", [made, materialized(&below)?]);
    }
    if known.shape.len() != 1 {
        let shape = known.shape.iter().map(|&dim| dim as i64);
        made = relax::op("reshape", [made, relax::shape(shape)]);
    }
    Ok(made)
}

/// What is known of a value of the graph, or a constant.
pub(super) fn sinfo_of(value: &Value) -> Option<StructInfo> {
    let constant = |shape: &[usize], dtype| {
        let dims = shape.iter().map(|&dim| Size::i64(dim as i64));
        StructInfo::tensor(dims.collect(), dtype)
    };
    match value {
        Value::Var(var) => Some(var.sinfo().clone()),
        Value::Const(tensor) => Some(constant(tensor.shape(), tensor.dtype())),
        Value::Known(known) => Some(constant(&known.shape, known.dtype)),
        Value::Packed(_) | Value::List(_) | Value::Rows(_) | Value::Absent | Value::Missing => None,
    }
}

/// The elements of a value, if all are known.
pub(super) fn known(value: &Value) -> Option<Known> {
    match value {
        Value::Known(known) => Some(known.clone()),
        Value::Const(tensor) => Known::of(tensor),
        Value::Var(_)
        | Value::Packed(_)
        | Value::List(_)
        | Value::Rows(_)
        | Value::Absent
        | Value::Missing => None,
    }
}

/// A constant of this type with one element.
pub(super) fn number(value: f64, dtype: DType) -> Result<Expr, Fault> {
    let number = Size::constant(0, dtype);
    let element = match number.dtype().is_float() {
        true => Size::float(value, dtype),
        false => Size::int(value as i64, dtype),
    };
    let known = Known::scalar(element);
    let tensor = known.tensor().expect("the element is a number");
    Ok(relax::constant(tensor.map_err(relax::BuildError::from)?))
}

/// The elements converted.
pub(super) fn cast(x: impl Into<Expr>, dtype: DType) -> Expr {
    let mut attrs = Attrs::new();
    attrs.insert("dtype".to_owned(), AttrValue::DType(dtype));
    relax::op_with("astype", [x.into()], attrs)
}

/// The elements in type `to`; as they are if they have it.
pub(super) fn in_type(x: impl Into<Expr>, from: DType, to: DType) -> Expr {
    match from == to {
        true => x.into(),
        false => cast(x, to),
    }
}

/// Attributes of a graph operator.
pub(super) fn attrs(json: &Json) -> Attrs {
    match AttrValue::from(json) {
        AttrValue::Dict(attrs) => attrs,
        _ => Attrs::new(),
    }
}

/// Extents for a message.
pub(super) fn shown(dims: &[Size]) -> String {
    let dims: Vec<String> = dims.iter().map(|dim| format!("{dim:#}")).collect();
    format!("a tensor of shape ({})", dims.join(", "))
}
