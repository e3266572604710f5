//! A hook before and after each call that a machine makes: of kernels, functions, packed functions and builtins.

use super::machine::VirtualMachine;
use crate::artifact::Pc;
use crate::runtime::Value;

/// A call that a machine is about to make, or has made.
#[derive(Clone, Copy, Debug)]
pub struct CallEvent<'a> {
    /// The function that calls.
    pub caller: &'a str,
    /// The instruction.
    pub pc: Pc,
    /// What is called.
    pub callee: &'a str,
    /// The arguments. Those of a kernel or of a function in destination-passing style end with its outputs.
    pub args: &'a [Value],
    /// After the call: what it gave.
    pub result: Option<&'a Value>,
}

/// What is to be done with a call. What a hook says after the call means nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// The call is made.
    Run,
    /// It is left out: its register gets [`Value::None`], its outputs stay as they are, and the hook hears no more of it.
    Skip,
}

/// The hook.
pub(super) type Instrument = dyn FnMut(&CallEvent<'_>) -> Verdict + Send + Sync;

impl VirtualMachine {
    /// Calls the hook before and after each call of the machine, in place of one set before. It sees tensors where they are: on
    /// a GPU, `DeviceTensor::to_host` gives their elements, and what was recorded is submitted before the hook is called. A
    /// machine with a hook is slower.
    ///
    /// A closure of the executable is called by `vm.builtin.invoke_closure`, whose first argument it is.
    pub fn set_instrument<F>(&mut self, hook: F)
    where
        F: FnMut(&CallEvent<'_>) -> Verdict + Send + Sync + 'static,
    {
        self.state.instrument = Some(Box::new(hook));
    }

    /// Takes the hook away.
    pub fn clear_instrument(&mut self) {
        self.state.instrument = None;
    }
}
