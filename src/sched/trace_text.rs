//! A trace as text: as the Python function that TVM prints, and as JSON lines, which replay.

use std::fmt::{self, Write};

use serde_json::{Map, Value, json};

use super::primitives::primitive;
use super::step::{StepError, Steps};
use super::{Arg, ResultKind, Schedule, Trace};
use crate::ir::{PrimFunc, Var};

impl Arg {
    /// The argument of a step in JSON.
    pub fn from_json(value: &Value) -> Self {
        match value {
            Value::Null => Self::None,
            Value::Bool(v) => Self::Bool(*v),
            Value::Number(n) => match n.as_i64() {
                Some(v) => Self::Int(v),
                None => Self::Float(n.as_f64().unwrap_or(f64::NAN)),
            },
            Value::String(text) => Self::Str(text.clone()),
            Value::Array(items) => Self::List(items.iter().map(Self::from_json).collect()),
            Value::Object(map) => {
                let index = |v: &Value| v.as_u64().and_then(|v| usize::try_from(v).ok());
                let reference = map.get("r").and_then(Value::as_array);
                if let Some([step, at]) = reference.map(Vec::as_slice)
                    && let (Some(step), Some(index)) = (index(step), index(at))
                    && map.len() == 1
                {
                    return Self::Result { step, index };
                }
                Self::Dict(
                    map.iter()
                        .map(|(key, value)| (key.clone(), Self::from_json(value)))
                        .collect(),
                )
            }
        }
    }

    /// The argument in JSON.
    pub fn to_json(&self) -> Value {
        match self {
            Self::None => Value::Null,
            Self::Bool(v) => (*v).into(),
            Self::Int(v) => (*v).into(),
            Self::Float(v) => (*v).into(),
            Self::Str(text) => text.as_str().into(),
            Self::List(items) => items.iter().map(Self::to_json).collect(),
            Self::Dict(items) => Value::Object(
                items
                    .iter()
                    .map(|(key, value)| (key.clone(), value.to_json()))
                    .collect::<Map<_, _>>(),
            ),
            Self::Map(map) => json!({
                "in": map.params.iter().map(Var::name).collect::<Vec<_>>(),
                "out": map.results.iter().map(|e| format!("{e:#}")).collect::<Vec<_>>(),
            }),
            Self::Result { step, index } => {
                let mut map = Map::new();
                map.insert("r".to_owned(), Value::from(vec![*step, *index]));
                Value::Object(map)
            }
            Self::Handle(place) => place.to_string().into(),
        }
    }
}

impl Trace {
    /// One step a line, `["split", {"r": [1, 0]}, [null, 4], true]`; [`Trace::replay`] reads it.
    pub fn to_json_lines(&self) -> String {
        let mut out = String::new();
        for step in self.steps() {
            let args = step.args.iter().map(Arg::to_json);
            let line: Value = [Value::from(step.primitive)]
                .into_iter()
                .chain(args)
                .collect();
            out.push_str(&line.to_string());
            out.push('\n');
        }
        out
    }

    /// Applies the steps of a trace in JSON lines to a function.
    ///
    /// # Errors
    /// At the first line that is no step or is refused.
    pub fn replay(lines: &str, func: PrimFunc) -> Result<Schedule, StepError> {
        Self::replay_on(lines, Schedule::new(func))
    }

    /// The same on a schedule, which may know tensor intrinsics.
    ///
    /// # Errors
    /// As [`replay`](Self::replay).
    pub fn replay_on(lines: &str, mut schedule: Schedule) -> Result<Schedule, StepError> {
        let mut steps = Steps::new(&mut schedule);
        for line in lines.lines().filter(|line| !line.trim().is_empty()) {
            let step: Value = serde_json::from_str(line).map_err(|_| StepError::NotAStep {
                step: line.to_owned(),
            })?;
            steps.apply_json(&step)?;
        }
        Ok(schedule)
    }

    /// Applies the steps to another function.
    ///
    /// # Errors
    /// At the first step that is refused.
    pub fn apply_to(&self, func: PrimFunc) -> Result<Schedule, StepError> {
        let mut schedule = Schedule::new(func);
        let mut steps = Steps::new(&mut schedule);
        for step in self.steps() {
            steps.apply(step.primitive, &step.args)?;
        }
        Ok(schedule)
    }

    /// Names of the results of each step: `b0`, `l1`, … in one count, as TVM numbers them.
    fn names(&self) -> Vec<Vec<String>> {
        let mut count = 0;
        let mut name = |kind: &ResultKind| {
            let letter = match kind {
                ResultKind::Block => 'b',
                ResultKind::Loop => 'l',
            };
            count += 1;
            format!("{letter}{}", count - 1)
        };
        self.steps()
            .iter()
            .map(|step| step.results.iter().map(&mut name).collect())
            .collect()
    }
}

/// The Python function that TVM prints.
impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.names();
        f.write_str("def apply_trace(sch):\n")?;
        if self.steps().is_empty() {
            f.write_str("    pass\n")?;
        }
        for (step, results) in self.steps().iter().zip(&names) {
            f.write_str("    ")?;
            if !results.is_empty() {
                write!(f, "{} = ", results.join(", "))?;
            }
            write!(f, "sch.{}(", step.primitive)?;
            let params = primitive(step.primitive).map_or(&[][..], |p| p.params);
            for (i, arg) in step.args.iter().enumerate() {
                let comma = if i > 0 { ", " } else { "" };
                let text = arg_text(arg, &names);
                match params.get(i) {
                    Some(param) => write!(f, "{comma}{param}={text}")?,
                    None => write!(f, "{comma}{text}")?,
                }
            }
            f.write_str(")\n")?;
        }
        Ok(())
    }
}

fn arg_text(arg: &Arg, names: &[Vec<String>]) -> String {
    let list = |items: &[Arg]| {
        let items: Vec<String> = items.iter().map(|item| arg_text(item, names)).collect();
        items.join(", ")
    };
    match arg {
        Arg::None => "None".to_owned(),
        Arg::Bool(v) => if *v { "True" } else { "False" }.to_owned(),
        Arg::Int(v) => v.to_string(),
        Arg::Float(v) => format!("{v:?}"),
        Arg::Str(text) => format!("{text:?}"),
        Arg::List(items) => format!("[{}]", list(items)),
        Arg::Dict(items) => {
            let mut out = String::from("{");
            for (i, (key, value)) in items.iter().enumerate() {
                let comma = if i > 0 { ", " } else { "" };
                let text = arg_text(value, names);
                write!(out, "{comma}{key:?}: {text}").expect("a String takes all that is written");
            }
            out + "}"
        }
        Arg::Map(map) => map.to_string(),
        Arg::Result { step, index } => names
            .get(*step)
            .and_then(|results| results.get(*index))
            .cloned()
            .unwrap_or_else(|| "None".to_owned()),
        Arg::Handle(place) => place.to_string(),
    }
}
