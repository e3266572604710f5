//! Replays recorded schedule cases and tells where this scheduler and the recorded one agree.
//!
//! A case is a base program, steps, and what came of them: the scheduled program, or a refusal of the last step. Agreement
//! means the same outcome: accepted, and the result is `alpha_eq` to the recorded one after simplification of both; or refused
//! at the same step by the same primitive. What is accepted must also compute the same as the base program, which the
//! caller tells (by the interpreter, on seeded inputs).

use std::io::{BufRead, BufReader, Read};

use indexmap::IndexMap;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use weftile::ir::{PrimFunc, alpha_eq};
use weftile::sched::{Arg, Schedule, StepError, Steps, parse_step, primitive};
use weftile::script::{self, ScriptErrors};

use crate::simplify::simplify_prim_func;

/// One recorded case.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Case {
    /// Name of the case.
    pub(crate) id: String,
    /// Printed base program.
    pub(crate) before: String,
    /// The steps.
    pub(crate) steps: Vec<Value>,
    /// For an accepted case: the printed result.
    pub(crate) after: Option<String>,
    /// For a refused case: the refusal.
    pub(crate) error: Option<RecordedError>,
    /// For an accepted case: whether the result computes the same as the base program. It need not where the trace changes types.
    #[serde(default)]
    pub(crate) numeric_check: NumericCheck,
}

/// Whether the recorded result was compared with the base program.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum NumericCheck {
    /// Both give the same outputs.
    #[default]
    Equal,
    /// The trace changes the element type or the shape of a parameter or of what is stored on the way.
    NotRun,
}

/// A recorded refusal.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct RecordedError {
    /// Index of the refused step.
    pub(crate) step: usize,
    /// Short text of the reason.
    pub(crate) class: Option<String>,
}

/// How a case went.
#[derive(Clone, Debug)]
pub(crate) enum Verdict {
    /// As recorded.
    Agree,
    /// A step names a primitive that is not there.
    Unsupported,
    /// Not as recorded.
    Disagree(Disagreement),
}

/// Where this scheduler and the recorded one part.
#[derive(Clone, Debug)]
pub(crate) enum Disagreement {
    /// A program of the case does not parse, or is not one function.
    NotRead(String),
    /// A step that was accepted is refused here.
    Refused {
        /// Index of the step.
        step: usize,
        /// Why.
        error: String,
    },
    /// The refused step is accepted here.
    Accepted {
        /// The recorded reason.
        class: String,
        /// The program that came of it.
        got: String,
    },
    /// The results differ.
    Differs {
        /// The first difference.
        difference: String,
        /// The recorded result, simplified.
        expected: String,
        /// The result here, simplified.
        got: String,
    },
    /// The result computes something else than the base program.
    Wrong {
        /// The first difference.
        difference: String,
        /// The result.
        got: String,
    },
}

/// Runs two loop programs and tells how their results differ.
pub(crate) type SameResults<'a> = dyn Fn(&PrimFunc, &PrimFunc) -> Result<(), String> + 'a;

/// A file of cases that cannot be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CaseError {
    /// The bytes end early or are no gzip.
    #[error("the file cannot be read")]
    Io(#[from] std::io::Error),
    /// A line is no case.
    #[error("line {line} is no case")]
    Line {
        /// Its number, from 1.
        line: usize,
        /// What is wrong with it.
        #[source]
        source: serde_json::Error,
    },
}

/// The lines of a file with one JSON object a line, compressed with gzip.
///
/// # Errors
/// If it is no such file.
pub(crate) fn read_lines(bytes: impl Read) -> Result<Vec<Value>, CaseError> {
    let reader = BufReader::new(flate2::read::GzDecoder::new(bytes));
    let mut lines = Vec::new();
    for (at, line) in reader.lines().enumerate() {
        let value = serde_json::from_str(&line?);
        lines.push(value.map_err(|source| CaseError::Line {
            line: at + 1,
            source,
        })?);
    }
    Ok(lines)
}

/// The cases that these lines are.
///
/// # Errors
/// If one is no case.
pub(crate) fn cases_of<C: DeserializeOwned>(lines: Vec<Value>) -> Result<Vec<C>, CaseError> {
    let numbered = lines.into_iter().enumerate();
    let cases = numbered.map(|(at, value)| {
        serde_json::from_value(value).map_err(|source| CaseError::Line {
            line: at + 1,
            source,
        })
    });
    cases.collect()
}

impl Case {
    /// Names of the primitives that the steps use, each once.
    pub(crate) fn primitives(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for step in &self.steps {
            if let Ok((name, _)) = parse_step(step)
                && !names.contains(&name)
            {
                names.push(name);
            }
        }
        names
    }

    /// Replays the case. `same_results` runs two programs and tells how their results differ.
    pub(crate) fn judge(&self, same_results: &SameResults<'_>) -> Verdict {
        if self
            .primitives()
            .iter()
            .any(|name| primitive(name).is_none())
        {
            return Verdict::Unsupported;
        }
        match self.replay(same_results) {
            Ok(()) => Verdict::Agree,
            Err(disagreement) => Verdict::Disagree(disagreement),
        }
    }

    fn replay(&self, same_results: &SameResults<'_>) -> Result<(), Disagreement> {
        let before = parse_func(&self.before)?;
        let mut schedule = Schedule::new(before.clone());
        let mut steps = Steps::new(&mut schedule);
        let refused_at = self.error.as_ref().map(|e| e.step);
        for (at, step) in self.steps.iter().enumerate() {
            match steps.apply_json(step) {
                Ok(_) => {}
                Err(_) if refused_at == Some(at) => return Ok(()),
                Err(error) => {
                    let error = describe(&error);
                    return Err(Disagreement::Refused { step: at, error });
                }
            }
        }
        let got = schedule.func();
        if let Some(error) = &self.error {
            return Err(Disagreement::Accepted {
                class: error.class.clone().unwrap_or_default(),
                got: print(got),
            });
        }
        let after = self.after.as_deref().unwrap_or_default();
        let expected = simplify_prim_func(&parse_func(after)?);
        // Read back, so that variables were made in the same order: sums are ordered by that.
        let simple = simplify_prim_func(&parse_func(&print(got))?);
        if let Err(difference) = alpha_eq::prim_func(&expected, &simple) {
            return Err(Disagreement::Differs {
                difference: difference.to_string(),
                expected: print(&expected),
                got: print(&simple),
            });
        }
        if self.numeric_check == NumericCheck::NotRun {
            return Ok(());
        }
        same_results(&before, got).map_err(|difference| Disagreement::Wrong {
            difference,
            got: print(got),
        })
    }
}

fn describe(error: &StepError) -> String {
    match error {
        StepError::Argument {
            index,
            expected,
            found: Arg::Str(name),
        } => {
            format!("argument {index}, \"{name}\", is not {expected}")
        }
        error => error.to_string(),
    }
}

fn print(func: &PrimFunc) -> String {
    script::print_prim_func(func).text
}

/// The only loop program of a module.
fn parse_func(text: &str) -> Result<PrimFunc, Disagreement> {
    let failed = |e: ScriptErrors| Disagreement::NotRead(e.to_string());
    let module = script::parse("case", text).map_err(failed)?;
    let mut funcs = module.prim_funcs().map(|(_, func)| func.clone());
    let func = funcs.next();
    func.ok_or_else(|| Disagreement::NotRead("the module has no loop program".to_owned()))
}

/// Counts over cases.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Count {
    /// Cases that name only known primitives, and the others.
    pub(crate) cases: usize,
    /// Cases that went as recorded.
    pub(crate) agree: usize,
    /// Cases with an unknown primitive.
    pub(crate) unsupported: usize,
    /// Cases whose refused step was accepted here.
    pub(crate) accepted_but_refused_by_tvm: usize,
}

impl Count {
    fn add(&mut self, verdict: &Verdict) {
        self.cases += 1;
        match verdict {
            Verdict::Agree => self.agree += 1,
            Verdict::Unsupported => self.unsupported += 1,
            Verdict::Disagree(Disagreement::Accepted { class: _, got: _ }) => {
                self.accepted_but_refused_by_tvm += 1;
            }
            Verdict::Disagree(_) => {}
        }
    }

    /// Cases that could be replayed.
    pub(crate) fn supported(self) -> usize {
        self.cases - self.unsupported
    }

    fn to_json(self) -> Value {
        serde_json::json!({
            "cases": self.cases,
            "agree": self.agree,
            "unsupported": self.unsupported,
            "accepted_but_refused_by_tvm": self.accepted_but_refused_by_tvm,
        })
    }
}

/// How a file of cases went.
#[derive(Clone, Default, Debug)]
pub(crate) struct Report {
    /// All cases.
    pub(crate) total: Count,
    /// The cases that use each primitive.
    pub(crate) per_primitive: IndexMap<String, Count>,
}

impl Report {
    /// Adds the verdict on a case.
    pub(crate) fn add(&mut self, case: &Case, verdict: &Verdict) {
        self.total.add(verdict);
        for name in case.primitives() {
            self.per_primitive.entry(name).or_default().add(verdict);
        }
    }

    /// The counts for machines.
    pub(crate) fn to_json(&self) -> Value {
        let mut json = self.total.to_json();
        json["primitives"] = self
            .per_primitive
            .iter()
            .map(|(name, count)| (name.clone(), count.to_json()))
            .collect::<serde_json::Map<_, _>>()
            .into();
        json
    }
}
