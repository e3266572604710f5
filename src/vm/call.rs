//! `Call`: one call of a machine from outside, which waits for copies to the host or is waited for.

use super::VmError;
use super::asynchronous::copying;
use super::frame::Frame;
use super::machine::{Callable, State, fill, give_back};
use super::program::Program;
use super::run::{Progress, Run};
use super::stateful::IncludeReturn;
use crate::artifact::{Executable, Pc};
use crate::runtime::Value;

/// One activation of a function: what it works on, and the instruction that it is at.
pub(super) struct Activation {
    pub(super) function: usize,
    pub(super) frame: Frame,
    pub(super) pc: Pc,
}

/// A call that is under way. Its activations are those of the machine, the innermost last. One that is dropped before its end gives
/// their frames back.
pub(super) struct Call<'m> {
    exec: &'m Executable,
    program: &'m Program,
    state: &'m mut State,
    include_return: IncludeReturn,
}

impl<'m> Call<'m> {
    /// Starts a call: arguments, and memory for its results, are put where the function finds them. Activations of a call that was
    /// leaked, and so never dropped, are given up.
    pub(super) fn start(
        exec: &'m Executable,
        program: &'m Program,
        state: &'m mut State,
        callable: Callable<'_>,
        args: &[Value],
        outputs: &mut [Value],
    ) -> Result<Self, VmError> {
        let Callable {
            index,
            code,
            bound,
            include_return,
        } = callable;
        state.give_up(program);
        state.backend.begin(state.profile.is_some());
        let mut frame = state.frame(index, code);
        let filled = fill(state, code, &mut frame, args.iter().chain(bound), outputs);
        state.stack.push(Activation {
            function: index,
            frame,
            pc: code.start,
        });
        let mut call = Self {
            exec,
            program,
            state,
            include_return,
        };
        match filled {
            Ok(()) => Ok(call),
            Err(error) => call.end(Err(error), outputs).map(|_| call),
        }
    }

    /// Runs to the end; the thread waits for copies to the host.
    pub(super) fn wait(mut self, outputs: &mut [Value]) -> Result<Value, VmError> {
        let mut copied = None;
        let result = loop {
            match self.proceed(copied) {
                Ok(Progress::Done(value)) => break Ok(value),
                Ok(Progress::Copy(value)) => copied = Some(self.state.backend.copy_to_host(value)),
                Err(error) => break Err(error),
            }
        };
        self.end(result, outputs)
    }

    /// Runs to the end; copies to the host are awaited.
    pub(super) async fn finish(mut self) -> Result<Value, VmError> {
        let mut copied = None;
        let result = loop {
            match self.proceed(copied) {
                Ok(Progress::Done(value)) => break Ok(value),
                Ok(Progress::Copy(value)) => {
                    let started = self.state.backend.submit().and_then(|()| copying(value));
                    copied = Some(match started {
                        Ok(copy) => copy.await,
                        Err(error) => Err(error),
                    });
                }
                Err(error) => break Err(error),
            }
        };
        self.end(result, &mut [])
    }

    /// Runs to the end, or up to the next copy to the host. `copied` is what the copy before gave.
    fn proceed(&mut self, copied: Option<Result<Value, VmError>>) -> Result<Progress, VmError> {
        Run::new(self.exec, self.program, self.state).run(copied)
    }

    /// Ends the call: what was recorded is submitted, and after an error memory for results goes back.
    fn end(
        &mut self,
        result: Result<Value, VmError>,
        outputs: &mut [Value],
    ) -> Result<Value, VmError> {
        let ended = self.state.backend.submit();
        if let (Err(_), Some(first)) = (&result, self.state.stack.first_mut()) {
            let code = &self.program.codes[first.function];
            give_back(code, &mut first.frame, outputs);
        }
        let value = result?;
        ended.map(|()| match self.include_return {
            IncludeReturn::Yes => value,
            IncludeReturn::No => Value::None,
        })
    }
}

impl Drop for Call<'_> {
    fn drop(&mut self) {
        self.state.give_up(self.program);
    }
}
