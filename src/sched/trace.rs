//! The trace: the accepted primitives as plain data. Steps name loops and blocks by earlier results, so a trace replays on
//! another function.

use std::collections::HashMap;

use super::query::block_named;
use crate::ir::{AttrValue, BlockId, Expr, Lambda, LoopId, Place, PrimFunc};
use crate::tensor::DType;

/// An argument of a step.
#[derive(Clone, Debug, PartialEq)]
pub enum Arg {
    /// Left out, or to be inferred.
    None,
    /// A flag.
    Bool(bool),
    /// A number.
    Int(i64),
    /// A number.
    Float(f64),
    /// A name; where a block is expected, the block with this name.
    Str(String),
    /// Several; where a loop is expected, `[block name, index among the loops around it]`.
    List(Vec<Arg>),
    /// Several with names.
    Dict(Vec<(String, Arg)>),
    /// A map of indices.
    Map(Lambda),
    /// A result of an earlier step.
    Result {
        /// Position of the step in the trace.
        step: usize,
        /// Position among its results.
        index: usize,
    },
    /// A loop or block of the function, before the trace has named it.
    Handle(Place),
}

impl Arg {
    /// A constant. One of another type than `int32`, `float32` or `bool` says which.
    pub(crate) fn of_number(value: &Expr) -> Self {
        let number = match (value.as_bool(), value.as_int(), value.as_float()) {
            (Some(v), _, _) if value.dtype().is_bool() => return Self::Bool(v),
            (_, Some(v), _) => Self::Int(v),
            (_, _, Some(v)) => Self::Float(v),
            _ => return Self::None,
        };
        let dtype = value.dtype();
        if dtype == DType::I32 || dtype == DType::F32 {
            return number;
        }
        let entry = |key: &str, value: Self| (key.to_owned(), value);
        Self::Dict(vec![
            entry("dtype", Self::Str(dtype.to_string())),
            entry("value", number),
        ])
    }

    /// The constant that the argument is.
    pub(crate) fn as_number(&self) -> Option<Expr> {
        match self {
            Self::Bool(v) => Some(Expr::bool(*v)),
            Self::Int(v) => Some(Expr::int(*v, DType::I32)),
            Self::Float(v) => Some(Expr::float(*v, DType::F32)),
            Self::Dict(entries) => match &entries[..] {
                [(dtype_key, Self::Str(dtype)), (value_key, value)]
                    if dtype_key == "dtype" && value_key == "value" =>
                {
                    let dtype: DType = dtype.parse().ok()?;
                    match value {
                        Self::Int(v) if dtype.is_int() => Some(Expr::int(*v, dtype)),
                        Self::Int(v) if dtype.is_float() => Some(Expr::float(*v as f64, dtype)),
                        Self::Float(v) if dtype.is_float() => Some(Expr::float(*v, dtype)),
                        _ => None,
                    }
                }
                _ => None,
            },
            Self::None
            | Self::Str(_)
            | Self::List(_)
            | Self::Map(_)
            | Self::Result { step: _, index: _ }
            | Self::Handle(_) => None,
        }
    }
}

impl From<LoopId> for Arg {
    fn from(id: LoopId) -> Self {
        Self::Handle(id.into())
    }
}

impl From<BlockId> for Arg {
    fn from(id: BlockId) -> Self {
        Self::Handle(id.into())
    }
}

impl From<Place> for Arg {
    fn from(place: Place) -> Self {
        Self::Handle(place)
    }
}

impl From<&Lambda> for Arg {
    fn from(map: &Lambda) -> Self {
        Self::Map(map.clone())
    }
}

impl From<&AttrValue> for Arg {
    fn from(value: &AttrValue) -> Self {
        match value {
            AttrValue::None
            | AttrValue::Buffer(_)
            | AttrValue::Region(_)
            | AttrValue::Function(_)
            | AttrValue::IndexMap(_)
            | AttrValue::Reducer(_) => Self::None,
            AttrValue::Bool(v) => Self::Bool(*v),
            AttrValue::Int(v) => Self::Int(*v),
            AttrValue::Float(v) => Self::Float(*v),
            AttrValue::Str(text) => Self::Str(text.clone()),
            AttrValue::DType(dtype) => Self::Str(dtype.to_string()),
            AttrValue::Expr(e) => e.as_int().map_or(Self::None, Self::Int),
            AttrValue::List(items) => Self::List(items.iter().map(Self::from).collect()),
            AttrValue::Dict(items) => Self::Dict(
                items
                    .iter()
                    .map(|(key, value)| (key.clone(), value.into()))
                    .collect(),
            ),
        }
    }
}

impl From<&str> for Arg {
    fn from(text: &str) -> Self {
        Self::Str(text.to_owned())
    }
}

impl From<i64> for Arg {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl From<usize> for Arg {
    fn from(value: usize) -> Self {
        Self::Int(value as i64)
    }
}

impl From<bool> for Arg {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl<T: Into<Arg>> From<Vec<T>> for Arg {
    fn from(values: Vec<T>) -> Self {
        Self::List(values.into_iter().map(Into::into).collect())
    }
}

impl<T: Into<Arg> + Copy> From<&[T]> for Arg {
    fn from(values: &[T]) -> Self {
        Self::List(values.iter().map(|&v| v.into()).collect())
    }
}

/// One accepted primitive.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// Its name.
    pub primitive: &'static str,
    /// Its arguments.
    pub args: Vec<Arg>,
    /// What it gave back.
    pub results: Vec<ResultKind>,
}

/// What a result of a step is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ResultKind {
    /// A block; prints as `b1`.
    Block,
    /// A loop; prints as `l2`.
    Loop,
}

impl ResultKind {
    fn of(place: &Place) -> Self {
        match place {
            Place::Loop(_) => Self::Loop,
            Place::Block(_) => Self::Block,
        }
    }
}

/// What a primitive gives back, as the trace sees it.
pub trait StepResults {
    /// The loops and blocks in order.
    fn places(&self) -> Vec<Place>;
}

impl StepResults for () {
    fn places(&self) -> Vec<Place> {
        vec![]
    }
}

impl StepResults for LoopId {
    fn places(&self) -> Vec<Place> {
        vec![(*self).into()]
    }
}

impl StepResults for BlockId {
    fn places(&self) -> Vec<Place> {
        vec![(*self).into()]
    }
}

impl StepResults for Vec<LoopId> {
    fn places(&self) -> Vec<Place> {
        self.iter().map(|&id| id.into()).collect()
    }
}

impl StepResults for Vec<BlockId> {
    fn places(&self) -> Vec<Place> {
        self.iter().map(|&id| id.into()).collect()
    }
}

/// The accepted primitives in order.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    steps: Vec<Step>,
    names: HashMap<Place, (usize, usize)>,
}

impl Trace {
    /// The steps in order.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    pub(crate) fn push(&mut self, primitive: &'static str, args: Vec<Arg>, results: Vec<Place>) {
        let step = self.steps.len();
        for (index, place) in results.iter().enumerate() {
            self.names.insert(*place, (step, index));
        }
        self.steps.push(Step {
            primitive,
            args,
            results: results.iter().map(ResultKind::of).collect(),
        });
    }

    /// The arguments with every handle named: by the step that gave it, else by its place around a block.
    pub(crate) fn name_handles(&self, func: &PrimFunc, args: Vec<Arg>) -> Vec<Arg> {
        let name = |arg: Arg| match arg {
            Arg::Handle(place) => self.name_of(func, place),
            Arg::List(items) => Arg::List(self.name_handles(func, items)),
            other => other,
        };
        args.into_iter().map(name).collect()
    }

    fn name_of(&self, func: &PrimFunc, place: Place) -> Arg {
        if let Some(&(step, index)) = self.names.get(&place) {
            return Arg::Result { step, index };
        }
        let named = |block: BlockId| match self.names.get(&block.into()) {
            Some(&(step, index)) => Arg::Result { step, index },
            None => func.blocks[block].name.as_str().into(),
        };
        let block = match place {
            Place::Block(id) => return named(id),
            Place::Loop(_) => {
                // Copies may have one name.
                let blocks = func.child_blocks(place);
                let clear = |id: &&BlockId| {
                    let is_result = self.names.contains_key(&Place::Block(**id));
                    is_result || block_named(func, &func.blocks[**id].name).is_ok()
                };
                blocks.iter().find(clear).or(blocks.first()).copied()
            }
        };
        match block {
            Some(block) => Arg::List(vec![named(block), func.loops_above(place).len().into()]),
            None => Arg::Handle(place),
        }
    }
}
