//! `ErrorContext`: where a value that is checked comes from.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Where a value that is checked comes from, for the reader of the error.
///
/// ```
/// use weftile::artifact::ErrorContext;
///
/// let text = "ErrorContext(fn=main, loc=param[0], param=x, annotation=R.Tensor((n, T.min(m, 4)), dtype=\"float32\"))";
/// let context = ErrorContext::parse(text).expect("it has the form of one");
/// assert_eq!((context.func.as_str(), context.value.as_str()), ("main", "x"));
/// assert_eq!(context.dims, ["n", "T.min(m, 4)"]);
/// assert_eq!(context.to_string(), text);
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ErrorContext {
    /// Name of the function.
    pub func: String,
    /// Position in it: `param[0]`, `param[0][1]` for an element, `match_cast`, `return`, or `closure`.
    pub location: String,
    /// Name of the parameter or value.
    pub value: String,
    /// What it must be, as `R.Tensor((n, 4), dtype="float32")`.
    pub annotation: String,
    /// The dimensions as they are written.
    pub dims: Vec<String>,
}

impl ErrorContext {
    /// The context that a text in the form of TVM's contexts says. There, one of a result or of a cast has no name.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim().strip_prefix("ErrorContext(")?;
        let text = text.strip_suffix(')')?;
        if let Some(annotation) = text.strip_prefix("match_cast, ty=") {
            return Some(Self::new("", "match_cast", "", annotation));
        }
        let (head, annotation) = text.split_once("annotation=")?;
        let (func, rest) = head.strip_prefix("fn=")?.split_once(", loc=")?;
        let (location, rest) = rest.split_once(", ")?;
        let value = match rest.strip_prefix("param=") {
            // The name of a value may have commas.
            Some(value) => value.strip_suffix(", ")?,
            None => "",
        };
        Some(Self::new(func, location, value, annotation))
    }

    fn new(func: &str, location: &str, value: &str, annotation: &str) -> Self {
        Self {
            func: func.to_owned(),
            location: location.to_owned(),
            value: value.to_owned(),
            annotation: annotation.to_owned(),
            dims: dims(annotation),
        }
    }
}

impl fmt::Display for ErrorContext {
    /// As [`ErrorContext::parse`] reads it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            func,
            location,
            value,
            annotation,
            dims: _,
        } = self;
        write!(
            f,
            "ErrorContext(fn={func}, loc={location}, param={value}, annotation={annotation})"
        )
    }
}

/// The dimensions of a tensor or a shape, or the value of a scalar, as its annotation has them.
fn dims(annotation: &str) -> Vec<String> {
    let inner = ["R.Tensor((", "R.Shape([", "R.Prim(value="].into_iter();
    let Some(inner) = inner
        .filter_map(|head| annotation.strip_prefix(head))
        .next()
    else {
        return vec![];
    };
    let mut out = vec![];
    let (mut depth, mut start) = (0, 0);
    for (at, c) in inner.char_indices() {
        match c {
            '(' | '[' => depth += 1,
            ',' if depth == 0 => {
                out.push(&inner[start..at]);
                start = at + 1;
            }
            ')' | ']' if depth == 0 => {
                out.push(&inner[start..at]);
                break;
            }
            ')' | ']' => depth -= 1,
            _ => {}
        }
    }
    let out = out.into_iter().map(|dim| dim.trim().trim_matches('"'));
    out.filter(|dim| !dim.is_empty())
        .map(str::to_owned)
        .collect()
}
