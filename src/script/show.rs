//! `Module::show`: a module on standard output, with colours on a terminal.

use std::io::{self, IsTerminal, Write};

use super::{highlight, print};
use crate::ir::Module;

impl Module {
    /// Writes the module as TVMScript to standard output, with colours if that is a terminal, `NO_COLOR` is not set, and the
    /// terminal has colours (`TERM` is not `dumb`).
    ///
    /// # Errors
    /// If standard output is closed.
    pub fn show(&self) -> io::Result<()> {
        let mut out = io::stdout().lock();
        let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let dumb = set("TERM").is_some_and(|term| term == "dumb");
        let colours = out.is_terminal() && set("NO_COLOR").is_none() && !dumb;
        let text = print(self);
        let text = if colours { highlight(&text) } else { text };
        out.write_all(text.as_bytes())
    }
}
