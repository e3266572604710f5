//! Steps from data: what a trace, a recorded case or a test file holds, applied to a schedule.
//!
//! A step is a primitive's name and its arguments, `["split", {"r": [1, 0]}, [null, 4]]` in JSON. Arguments that are left out
//! have their defaults. Every reference is resolved in the schedule as it is when the step starts:
//!
//! * a block: its name, `"C"`, which must be unique
//! * a loop: `["C", 1]`, the loop with that index among the loops around block `C`, outermost first
//! * either: `{"r": [0, 1]}`, value 1 that step 0 gave back
//! * `null` in a list of factors: the factor to be inferred

use serde_json::Value;

use super::primitives::primitive;
use super::query::block_named;
use super::{Arg, BufferAccess, Factor, InsertAt, Schedule, ScheduleError};
use crate::arith::iter_map::UnitIters;
use crate::ir::{AttrValue, BlockId, Expr, Lambda, LoopId, Place, ThreadAxis};
use crate::script;

/// Why a step was not applied.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StepError {
    /// No primitive has the name.
    #[error("there is no primitive `{name}`")]
    UnknownPrimitive {
        /// The name.
        name: String,
    },
    /// The step is not a JSON list that starts with a name.
    #[error("a step is a list that starts with the name of a primitive, not {step}")]
    NotAStep {
        /// The step.
        step: String,
    },
    /// An argument has the wrong form, or a reference names nothing.
    #[error("argument {index} is not {expected}: {}", .found.to_json())]
    Argument {
        /// Position of the argument.
        index: usize,
        /// What it should be.
        expected: &'static str,
        /// What it is.
        found: Arg,
    },
    /// The primitive refused.
    #[error(transparent)]
    Refused(#[from] ScheduleError),
}

/// Applies steps that name the results of earlier ones.
#[derive(Debug)]
pub struct Steps<'a> {
    schedule: &'a mut Schedule,
    results: Vec<Vec<Place>>,
}

impl<'a> Steps<'a> {
    /// No step is applied yet.
    pub fn new(schedule: &'a mut Schedule) -> Self {
        Self {
            schedule,
            results: vec![],
        }
    }

    /// Applies one step.
    ///
    /// # Errors
    /// If an argument does not fit or the primitive refuses; the schedule is unchanged then.
    pub fn apply(&mut self, name: &str, args: &[Arg]) -> Result<&[Place], StepError> {
        let primitive = primitive(name).ok_or_else(|| StepError::UnknownPrimitive {
            name: name.to_owned(),
        })?;
        let args = Args {
            results: &self.results,
            args,
        };
        let places = (primitive.run)(self.schedule, &args)?;
        self.results.push(places);
        Ok(self.results.last().map_or(&[], Vec::as_slice))
    }

    /// Applies a step in JSON.
    ///
    /// # Errors
    /// As [`apply`](Self::apply), and if the JSON is no step.
    pub fn apply_json(&mut self, step: &Value) -> Result<&[Place], StepError> {
        let (name, args) = parse_step(step)?;
        self.apply(&name, &args)
    }
}

impl Schedule {
    /// Applies a step that refers to blocks by name and loops by their index around a block.
    ///
    /// # Errors
    /// If an argument does not fit or the primitive refuses; the schedule is unchanged then.
    pub fn apply_step(&mut self, name: &str, args: &Value) -> Result<Vec<Place>, StepError> {
        let Arg::List(args) = Arg::from_json(args) else {
            let step = args.to_string();
            return Err(StepError::NotAStep { step });
        };
        Steps::new(self).apply(name, &args).map(<[Place]>::to_vec)
    }
}

/// The name and the arguments of a step in JSON.
///
/// # Errors
/// If it is not a list that starts with a name.
pub fn parse_step(step: &Value) -> Result<(String, Vec<Arg>), StepError> {
    let items = step.as_array().map_or(&[][..], Vec::as_slice);
    match items.split_first() {
        Some((Value::String(name), args)) => {
            Ok((name.clone(), args.iter().map(Arg::from_json).collect()))
        }
        _ => Err(StepError::NotAStep {
            step: step.to_string(),
        }),
    }
}

/// The arguments of a step, read as what the primitive takes.
pub(super) struct Args<'a> {
    results: &'a [Vec<Place>],
    args: &'a [Arg],
}

impl Args<'_> {
    fn at(&self, index: usize) -> &Arg {
        self.args.get(index).unwrap_or(&Arg::None)
    }

    fn wrong<T>(&self, index: usize, expected: &'static str) -> Result<T, StepError> {
        let found = self.at(index).clone();
        Err(StepError::Argument {
            index,
            expected,
            found,
        })
    }

    pub(super) fn text(&self, index: usize) -> Result<&str, StepError> {
        match self.at(index) {
            Arg::Str(text) => Ok(text),
            _ => self.wrong(index, "a text"),
        }
    }

    pub(super) fn int(&self, index: usize) -> Result<i64, StepError> {
        match self.at(index) {
            Arg::Int(value) => Ok(*value),
            _ => self.wrong(index, "an integer"),
        }
    }

    /// Several integers.
    pub(super) fn ints(&self, index: usize) -> Result<Vec<i64>, StepError> {
        let int = |arg: &Arg| match arg {
            Arg::Int(value) => Some(*value),
            _ => None,
        };
        let found = match self.at(index) {
            Arg::List(items) => items.iter().map(int).collect(),
            _ => None,
        };
        found.map_or_else(|| self.wrong(index, "a list of integers"), Ok)
    }

    /// An integer; `default` if left out.
    pub(super) fn int_or(&self, index: usize, default: i64) -> Result<i64, StepError> {
        match self.at(index) {
            Arg::None => Ok(default),
            _ => self.int(index),
        }
    }

    /// A flag; `default` if left out.
    pub(super) fn flag_or(&self, index: usize, default: bool) -> Result<bool, StepError> {
        match self.at(index) {
            Arg::None => Ok(default),
            Arg::Bool(value) => Ok(*value),
            _ => self.wrong(index, "true or false"),
        }
    }

    /// A position in a list.
    pub(super) fn index(&self, index: usize) -> Result<usize, StepError> {
        let position = usize::try_from(self.int(index)?);
        position.or_else(|_| self.wrong(index, "a position"))
    }

    /// A count; `default` if left out.
    pub(super) fn index_or(&self, index: usize, default: usize) -> Result<usize, StepError> {
        match self.at(index) {
            Arg::None => Ok(default),
            _ => self.index(index),
        }
    }

    /// Where a moved block goes, as late as it may if left out.
    pub(super) fn insert_at(&self, index: usize) -> Result<InsertAt, StepError> {
        match self.int_or(index, -1)? {
            -1 => Ok(InsertAt::Latest),
            -2 => Ok(InsertAt::Earliest),
            _ => Ok(InsertAt::Index(self.index(index)?)),
        }
    }

    /// `preserve_unit_iters`, true if left out.
    pub(super) fn units(&self, index: usize) -> Result<UnitIters, StepError> {
        Ok(self.flag_or(index, true)?.into())
    }

    pub(super) fn block(&self, s: &Schedule, index: usize) -> Result<BlockId, StepError> {
        match resolve(s, self.results, self.at(index)) {
            Some(Place::Block(id)) => Ok(id),
            _ => self.wrong(index, "a block"),
        }
    }

    /// Several blocks; none if left out.
    pub(super) fn blocks(&self, s: &Schedule, index: usize) -> Result<Vec<BlockId>, StepError> {
        let block = |arg: &Arg| match resolve(s, self.results, arg) {
            Some(Place::Block(id)) => Some(id),
            _ => None,
        };
        let found = match self.at(index) {
            Arg::None => Some(vec![]),
            Arg::List(items) => items.iter().map(block).collect(),
            _ => None,
        };
        found.map_or_else(|| self.wrong(index, "a list of blocks"), Ok)
    }

    pub(super) fn loop_(&self, s: &Schedule, index: usize) -> Result<LoopId, StepError> {
        match resolve(s, self.results, self.at(index)) {
            Some(Place::Loop(id)) => Ok(id),
            _ => self.wrong(index, "a loop"),
        }
    }

    pub(super) fn loops(&self, s: &Schedule, index: usize) -> Result<Vec<LoopId>, StepError> {
        let loop_ = |arg: &Arg| match resolve(s, self.results, arg) {
            Some(Place::Loop(id)) => Some(id),
            _ => None,
        };
        let found = match self.at(index) {
            Arg::List(items) => items.iter().map(loop_).collect(),
            _ => None,
        };
        found.map_or_else(|| self.wrong(index, "a list of loops"), Ok)
    }

    /// A loop, or a list of blocks, which may be written `{"blocks": [...]}`.
    pub(super) fn loop_or_blocks(
        &self,
        s: &Schedule,
        index: usize,
    ) -> Result<LoopOrBlocks, StepError> {
        let arg = self.at(index);
        if let Some(Place::Loop(id)) = resolve(s, self.results, arg) {
            return Ok(LoopOrBlocks::Loop(id));
        }
        let items = match arg {
            Arg::List(items) => Some(items),
            Arg::Dict(entries) => match &entries[..] {
                [(key, Arg::List(items))] if key == "blocks" => Some(items),
                _ => None,
            },
            _ => None,
        };
        let block = |arg: &Arg| match resolve(s, self.results, arg) {
            Some(Place::Block(id)) => Some(id),
            _ => None,
        };
        let blocks: Option<Vec<BlockId>> =
            items.and_then(|items| items.iter().map(block).collect());
        match blocks {
            Some(blocks) => Ok(LoopOrBlocks::Blocks(blocks)),
            None => self.wrong(index, "a loop or a list of blocks"),
        }
    }

    pub(super) fn place(&self, s: &Schedule, index: usize) -> Result<Place, StepError> {
        let found = resolve(s, self.results, self.at(index));
        found.map_or_else(|| self.wrong(index, "a block or a loop"), Ok)
    }

    pub(super) fn factors(&self, index: usize) -> Result<Vec<Factor>, StepError> {
        let factor = |arg: &Arg| match arg {
            Arg::None | Arg::Int(-1) => Some(Factor::Infer),
            Arg::Int(value) => Some(Factor::Of(*value)),
            _ => None,
        };
        let found = match self.at(index) {
            Arg::List(items) => items.iter().map(factor).collect(),
            _ => None,
        };
        found.map_or_else(|| self.wrong(index, "a list of factors"), Ok)
    }

    /// A map of indices: `lambda i, j: (j, i)`, or `{"in": ["i", "j"], "out": ["j", "i"]}`.
    pub(super) fn index_map(&self, index: usize) -> Result<Lambda, StepError> {
        let text = match self.at(index) {
            Arg::Map(map) => return Ok(map.clone()),
            Arg::Str(text) => Some(text.clone()),
            Arg::Dict(items) => {
                let part = |name: &str| joined(&items.iter().find(|(key, _)| key == name)?.1);
                let parts = part("in").zip(part("out"));
                parts.map(|(params, results)| format!("lambda {params}: ({results},)"))
            }
            _ => None,
        };
        let map = text.and_then(|text| script::parse_lambda(&text).ok());
        map.map_or_else(|| self.wrong(index, "a map of indices"), Ok)
    }

    /// A constant, if one is given: `0.0` is of `float32`, `0` of `int32`, `{"dtype": "float16", "value": 0}` of `float16`.
    pub(super) fn number(&self, index: usize) -> Result<Option<Expr>, StepError> {
        match self.at(index) {
            Arg::None => Ok(None),
            arg => match arg.as_number() {
                Some(number) => Ok(Some(number)),
                None => self.wrong(index, "a number"),
            },
        }
    }

    /// `"read"` or `"write"`.
    pub(super) fn access(&self, index: usize) -> Result<BufferAccess, StepError> {
        match self.text(index)? {
            "read" => Ok(BufferAccess::Read),
            "write" => Ok(BufferAccess::Write),
            _ => self.wrong(index, "\"read\" or \"write\""),
        }
    }

    pub(super) fn axis(&self, index: usize) -> Result<ThreadAxis, StepError> {
        let axis = ThreadAxis::parse(self.text(index)?);
        axis.map_or_else(|| self.wrong(index, "a thread axis"), Ok)
    }

    pub(super) fn value(&self, index: usize) -> Result<AttrValue, StepError> {
        let value = attr_value(self.at(index));
        value.map_or_else(|| self.wrong(index, "a plain value"), Ok)
    }
}

/// What `blockize` makes a block of.
pub(super) enum LoopOrBlocks {
    Loop(LoopId),
    Blocks(Vec<BlockId>),
}

/// A list of texts, written as one with commas.
fn joined(arg: &Arg) -> Option<String> {
    let Arg::List(items) = arg else {
        return None;
    };
    let texts = items.iter().map(|item| match item {
        Arg::Str(text) => Some(text.as_str()),
        _ => None,
    });
    Some(texts.collect::<Option<Vec<_>>>()?.join(", "))
}

fn attr_value(arg: &Arg) -> Option<AttrValue> {
    Some(match arg {
        Arg::None => AttrValue::None,
        Arg::Bool(v) => AttrValue::Bool(*v),
        Arg::Int(v) => AttrValue::Int(*v),
        Arg::Float(v) => AttrValue::Float(*v),
        Arg::Str(text) => AttrValue::Str(text.clone()),
        Arg::List(items) => AttrValue::List(items.iter().map(attr_value).collect::<Option<_>>()?),
        Arg::Dict(items) => {
            let entry = |(key, value): &(String, Arg)| Some((key.clone(), attr_value(value)?));
            AttrValue::Dict(items.iter().map(entry).collect::<Option<_>>()?)
        }
        Arg::Map(map) => AttrValue::IndexMap(map.clone()),
        Arg::Result { step: _, index: _ } | Arg::Handle(_) => return None,
    })
}

/// The loop or block that a reference names.
fn resolve(s: &Schedule, results: &[Vec<Place>], arg: &Arg) -> Option<Place> {
    match arg {
        Arg::Handle(place) => Some(*place),
        Arg::Result { step, index } => results.get(*step)?.get(*index).copied(),
        Arg::Str(name) => block_named(s.func(), name).ok().map(Place::Block),
        Arg::List(items) => match &items[..] {
            [block, Arg::Int(index)] => {
                let block = resolve(s, results, block)?;
                let loops = s.func().loops_above(block);
                let index = usize::try_from(*index).ok()?;
                loops.get(index).copied().map(Place::Loop)
            }
            _ => None,
        },
        Arg::None | Arg::Bool(_) | Arg::Int(_) | Arg::Float(_) | Arg::Dict(_) | Arg::Map(_) => None,
    }
}
