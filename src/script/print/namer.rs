//! Names for variables and buffers: unique where they are visible, valid in Python, and as near to the given name as can be.

use std::collections::{HashMap, HashSet};

use crate::ir::text::{IntTypes, Names};
use crate::ir::{Buffer, Var};

/// Words that cannot be names of variables in a script.
const RESERVED: [&str; 43] = [
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue",
    "def", "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import",
    "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while",
    "with", "yield", "T", "R", "I", "cls", "metadata", "range", "tvm", "Module",
];

/// Gives names, in frames: a name is free again when its frame is closed.
#[derive(Debug, Default)]
pub(super) struct Namer {
    /// Names in use, for each open frame.
    frames: Vec<HashSet<String>>,
    vars: HashMap<Var, String>,
    buffers: HashMap<Buffer, String>,
}

impl Namer {
    /// Opens a frame.
    pub(super) fn push(&mut self) {
        self.frames.push(HashSet::new());
    }

    /// Closes the innermost frame; its names are free again.
    pub(super) fn pop(&mut self) {
        self.frames.pop();
    }

    /// A new name in the innermost frame: `wanted`, or `wanted_1` and so on if it is taken.
    pub(super) fn fresh(&mut self, wanted: &str) -> String {
        let base = sanitize(wanted);
        let mut name = base.clone();
        let mut count = 0;
        while RESERVED.contains(&name.as_str()) || self.frames.iter().any(|f| f.contains(&name)) {
            count += 1;
            name = format!("{base}_{count}");
        }
        if self.frames.is_empty() {
            self.push();
        }
        let frame = self.frames.last_mut().expect("a frame was pushed");
        frame.insert(name.clone());
        name
    }

    /// Defines a variable in the innermost frame.
    pub(super) fn define_var(&mut self, var: &Var) -> String {
        let name = self.fresh(var.name());
        self.vars.insert(var.clone(), name.clone());
        name
    }

    /// Defines a buffer in the innermost frame.
    pub(super) fn define_buffer(&mut self, buffer: &Buffer) -> String {
        let name = self.fresh(buffer.name());
        self.buffers.insert(buffer.clone(), name.clone());
        name
    }

    /// Whether the variable was defined.
    pub(super) fn knows_var(&self, var: &Var) -> bool {
        self.vars.contains_key(var)
    }

    /// The name of the variable. One that was not defined is free in what is printed and keeps its name.
    pub(super) fn var(&mut self, var: &Var) -> String {
        match self.vars.get(var) {
            Some(name) => name.clone(),
            None => self.define_var(var),
        }
    }

    /// The name of the buffer.
    pub(super) fn buffer(&mut self, buffer: &Buffer) -> String {
        match self.buffers.get(buffer) {
            Some(name) => name.clone(),
            None => self.define_buffer(buffer),
        }
    }
}

impl Names for Namer {
    fn var(&mut self, var: &Var) -> String {
        Self::var(self, var)
    }

    fn buffer(&mut self, buffer: &Buffer) -> String {
        Self::buffer(self, buffer)
    }

    fn enter(&mut self, var: &Var) -> String {
        self.push();
        self.define_var(var)
    }

    fn leave(&mut self) {
        self.pop();
    }

    fn types(&self) -> IntTypes {
        IntTypes::Shown
    }
}

/// The name with all that Python does not allow in a name replaced by `_`.
fn sanitize(name: &str) -> String {
    let mut out: String = name
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || c == '_' {
                c
            } else {
                '_'
            }
        })
        .collect();
    if out.is_empty() || out.starts_with(|c: char| c.is_ascii_digit()) {
        out.insert(0, '_');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::DType;

    #[test]
    fn names_are_unique_where_they_are_visible() {
        let var = |name: &str| Var::new(name, DType::I32);
        let mut namer = Namer::default();
        namer.push();
        let i = var("i");
        assert_eq!(namer.define_var(&i), "i");
        namer.push();
        assert_eq!(namer.define_var(&var("i")), "i_1");
        assert_eq!(namer.define_var(&var("for")), "for_1");
        assert_eq!(namer.define_var(&var("1x.y")), "_1x_y");
        namer.pop();
        assert_eq!(namer.define_var(&var("i")), "i_1");
        assert_eq!(namer.var(&i), "i");
    }
}
