//! Options of a pass that text or a table gives it.

use super::PassError;
use crate::ir::graph::{AttrSpec, complete};
use crate::ir::{AttrValue, Attrs};
use crate::tensor::DType;

/// The options of one pass: checked, with defaults filled in.
#[derive(Clone, Debug)]
pub struct Options(Attrs);

impl Options {
    pub(super) fn new(
        pass: &'static str,
        specs: &'static [AttrSpec],
        given: Attrs,
    ) -> Result<Self, PassError> {
        let complete = complete(specs, given);
        complete
            .map(Self)
            .map_err(|error| PassError::Option { pass, error })
    }

    /// The value, if it is there.
    pub(super) fn get(&self, name: &str) -> Option<&AttrValue> {
        self.0.get(name)
    }

    /// The integer, if it is there.
    pub(super) fn int(&self, name: &str) -> Option<i64> {
        self.get(name).and_then(AttrValue::as_int)
    }

    /// The element type, if it is there.
    pub(super) fn dtype(&self, name: &str) -> Option<DType> {
        match self.get(name)? {
            AttrValue::DType(dtype) => Some(*dtype),
            AttrValue::Str(text) => text.parse().ok(),
            _ => None,
        }
    }

    /// A truth value that has a default.
    pub(super) fn bool(&self, name: &str) -> bool {
        self.int(name).is_some_and(|v| v != 0)
    }

    /// A text that has a default.
    pub(super) fn text(&self, name: &str) -> &str {
        self.get(name).and_then(AttrValue::as_str).unwrap_or("")
    }

    /// The texts of a list; one text counts as a list. Nothing if the option is not there.
    pub(super) fn texts(&self, name: &str) -> Vec<&str> {
        match self.get(name) {
            Some(AttrValue::List(items)) => items.iter().filter_map(AttrValue::as_str).collect(),
            Some(AttrValue::Str(text)) => vec![text],
            _ => vec![],
        }
    }
}
