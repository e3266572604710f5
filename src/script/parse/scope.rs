//! Names in scope: a stack of frames, inner ones hide outer ones.

use std::cell::Cell;
use std::collections::HashMap;

use crate::ir::graph::ValueId;
use crate::ir::{Buffer, ThreadAxis, Var};

/// What a name stands for.
#[derive(Clone, Debug)]
pub(super) enum Binding {
    /// A scalar variable of either dialect: loop, block iter, symbolic dimension, parameter or `let`.
    Var(Var),
    /// A buffer of the loop dialect.
    Buffer(Buffer),
    /// A parameter of the loop dialect that gets its buffer by `T.match_buffer`.
    Handle {
        /// Its index.
        index: usize,
        /// Its address.
        var: Var,
    },
    /// A thread of the launch that `T.env_thread` names.
    Thread(ThreadAxis),
    /// A value of the graph dialect.
    Value {
        /// Number of functions around the one that defines it.
        level: usize,
        /// The value there.
        id: ValueId,
    },
    /// The module itself (`cls = Module`).
    Module,
    /// A definition that was wrong and has been reported: uses are not reported again.
    Failed,
}

impl Binding {
    /// The kind of thing, for messages.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Var(_) => "a scalar variable",
            Self::Buffer(_) => "a buffer",
            Self::Handle { index: _, var: _ } => "a handle",
            Self::Thread(_) => "a thread that is not launched here",
            Self::Value { level: _, id: _ } => "a graph value",
            Self::Module => "the module",
            Self::Failed => "not defined",
        }
    }
}

/// Frames of names.
#[derive(Debug, Default)]
pub(super) struct Scopes {
    frames: Vec<HashMap<String, Binding>>,
    /// How many names were compared with others that are not defined.
    compared: Cell<usize>,
}

/// Comparisons of names that a text may take to say what was meant: of many names all undefined, each would be compared with all
/// that are defined.
const COMPARISONS: usize = 1 << 18;

impl Scopes {
    /// Opens a frame.
    pub(super) fn push(&mut self) {
        self.frames.push(HashMap::new());
    }

    /// Closes the innermost frame.
    pub(super) fn pop(&mut self) {
        self.frames.pop();
    }

    /// Defines a name in the innermost frame, hiding an earlier one.
    pub(super) fn define(&mut self, name: impl Into<String>, binding: Binding) {
        if self.frames.is_empty() {
            self.push();
        }
        let frame = self.frames.last_mut().expect("a frame was pushed");
        frame.insert(name.into(), binding);
    }

    /// What the name stands for.
    pub(super) fn get(&self, name: &str) -> Option<&Binding> {
        self.frames.iter().rev().find_map(|frame| frame.get(name))
    }

    /// Whether the innermost frame defines the name.
    pub(super) fn defines_here(&self, name: &str) -> bool {
        self.frames
            .last()
            .is_some_and(|frame| frame.contains_key(name))
    }

    /// The name in scope most like this one, if any is close. Nothing, once a text has taken [`COMPARISONS`].
    pub(super) fn similar(&self, name: &str) -> Option<String> {
        let compared = self.compared.get();
        if compared > COMPARISONS {
            return None;
        }
        let mut names: Vec<&str> = self
            .frames
            .iter()
            .flat_map(|frame| frame.iter())
            .filter(|(_, binding)| !matches!(binding, Binding::Failed))
            .map(|(name, _)| name.as_str())
            .collect();
        self.compared.set(compared + names.len());
        names.sort_unstable();
        most_similar(name, names.into_iter())
    }
}

/// The candidate nearest to `name` in single-character edits, if it is near.
pub(super) fn most_similar<'a>(
    name: &str,
    candidates: impl Iterator<Item = &'a str>,
) -> Option<String> {
    let limit = match name.chars().count() {
        0..=2 => return None,
        3..=5 => 1,
        _ => 2,
    };
    candidates
        .map(|candidate| (edit_distance(name, candidate, limit), candidate))
        .filter(|(distance, _)| *distance <= limit)
        .min()
        .map(|(_, candidate)| candidate.to_owned())
}

/// Number of insertions, deletions and replacements from `a` to `b` (Levenshtein); more than `limit` for any larger number.
fn edit_distance(a: &str, b: &str, limit: usize) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.len().abs_diff(b.len()) > limit {
        return limit + 1;
    }
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, cb) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(ca != cb);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inner_names_hide_outer_ones() {
        let mut scopes = Scopes::default();
        scopes.define("a", Binding::Module);
        scopes.push();
        assert!(!scopes.defines_here("a"));
        scopes.define("a", Binding::Failed);
        assert!(matches!(scopes.get("a"), Some(Binding::Failed)));
        scopes.pop();
        assert!(matches!(scopes.get("a"), Some(Binding::Module)));
    }

    #[test]
    fn near_names_are_found() {
        let names = ["match_buffer", "alloc_buffer", "grid"];
        assert_eq!(
            most_similar("mach_buffer", names.into_iter()).as_deref(),
            Some("match_buffer")
        );
        assert_eq!(
            most_similar("grad", names.into_iter()).as_deref(),
            Some("grid")
        );
        assert_eq!(most_similar("x", names.into_iter()), None);
        assert_eq!(most_similar("softmax", names.into_iter()), None);
    }
}
