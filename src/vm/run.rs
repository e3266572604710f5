//! The loop over activations: operations one after the other, calls, and copies that the host waits for.

use super::VmError;
use super::backend::Backend;
use super::call::Activation;
use super::machine::State;
use super::program::{Code, Op, Program};
use crate::artifact::{Executable, Pc};
use crate::runtime::Value;
use crate::support::Id;

/// Deepest nesting of calls.
const MAX_CALLS: usize = 200;

/// How far a call has come.
pub(super) enum Progress {
    /// To its end, with this result.
    Done(Value),
    /// To a copy of this value to the host, which [`Run::run`] takes to go on.
    Copy(Value),
}

/// What an activation stops for.
enum Event {
    /// It is over.
    Return(Value),
    /// A call of a function of the executable.
    Call(usize, Vec<Value>),
    /// A copy of a value to the host.
    Copy(Value),
}

/// A call while the host works on it. All that it goes on with is in the stack of the machine.
pub(super) struct Run<'a> {
    pub(super) exec: &'a Executable,
    pub(super) program: &'a Program,
    /// The function of the innermost activation.
    pub(super) code: &'a Code,
    pub(super) state: &'a mut State,
}

impl<'a> Run<'a> {
    /// The call whose activations are on the stack.
    pub(super) fn new(exec: &'a Executable, program: &'a Program, state: &'a mut State) -> Self {
        let innermost = state.stack.last().expect("a call has an activation");
        Self {
            exec,
            program,
            code: &program.codes[innermost.function],
            state,
        }
    }

    /// Runs to the end or to the next copy to the host. `copied` is what the copy gave that it stopped for. After an error the stack
    /// has the first activation alone.
    pub(super) fn run(
        &mut self,
        copied: Option<Result<Value, VmError>>,
    ) -> Result<Progress, VmError> {
        let mut stack = std::mem::take(&mut self.state.stack);
        let progress = self.activations(&mut stack, copied);
        let progress = progress.map_err(|error| self.unwind(&mut stack, error));
        self.state.stack = stack;
        progress
    }

    fn activations(
        &mut self,
        stack: &mut Vec<Activation>,
        mut copied: Option<Result<Value, VmError>>,
    ) -> Result<Progress, VmError> {
        loop {
            let innermost = stack.last_mut().expect("a call has an activation");
            self.code = &self.program.codes[innermost.function];
            if let Some(copied) = copied.take() {
                self.give(innermost, copied?)?;
            }
            match self.activation(innermost)? {
                Event::Copy(value) => return Ok(Progress::Copy(value)),
                Event::Call(function, args) => {
                    // The first activation stays: memory for the results of the call is in its frame.
                    let ends = self.code.returns_call(innermost.pc);
                    if ends && stack.len() > 1 {
                        let ended = stack.pop().expect("it is the innermost");
                        self.state.keep(self.program, ended);
                    }
                    if stack.len() > MAX_CALLS {
                        return Err(VmError::Recursion(MAX_CALLS));
                    }
                    let code = &self.program.codes[function];
                    let mut frame = self.state.frame(function, code);
                    frame.begin(code, &self.state.backend);
                    frame.regs.set_args(args);
                    stack.push(Activation {
                        function,
                        frame,
                        pc: code.start,
                    });
                }
                Event::Return(value) => {
                    let ended = stack.pop().expect("it is the innermost");
                    self.state.keep(self.program, ended);
                    if stack.is_empty() {
                        return Ok(Progress::Done(value));
                    }
                    copied = Some(Ok(value));
                }
            }
        }
    }

    /// Runs an activation until it needs something of others.
    fn activation(&mut self, activation: &mut Activation) -> Result<Event, VmError> {
        loop {
            let code = self.code;
            let pc = activation.pc;
            let next = Pc::from_index(pc.index() + 1);
            let frame = &mut activation.frame;
            activation.pc = match code.op(pc) {
                Op::Ret(reg) => return Ok(Event::Return(frame.regs.take(*reg))),
                Op::Goto(to) => *to,
                Op::If(cond, to) => {
                    let cond = &frame.regs[*cond];
                    let taken = cond
                        .as_int()
                        .map_err(|e| self.register(pc, e.expected, cond))?;
                    if taken != 0 { next } else { *to }
                }
                Op::CallFunction(_, callee, args) => {
                    if !self.skips(pc, frame)? {
                        return Ok(Event::Call(*callee, self.values(args, frame)));
                    }
                    next
                }
                Op::InvokeClosure(_, closure, args) => {
                    if !self.skips(pc, frame)? {
                        let (function, args) = self.closure_call(*closure, args, frame, pc)?;
                        return Ok(Event::Call(function, args));
                    }
                    next
                }
                // A profile times the copy, so the thread waits for it.
                Op::ToHost(_, src) if self.state.profile.is_none() => {
                    if !self.skips(pc, frame)? {
                        let value = self.value(*src, frame);
                        if Backend::is_on_device(&value) {
                            return Ok(Event::Copy(value));
                        }
                        self.give(activation, value)?;
                        continue;
                    }
                    next
                }
                op if self.state.is_watched() => {
                    self.watched(op, pc, frame)?;
                    next
                }
                op => {
                    self.step(op, pc, frame)?;
                    next
                }
            };
        }
    }

    /// Ends the operation that an activation stopped for with its result.
    fn give(&mut self, activation: &mut Activation, value: Value) -> Result<(), VmError> {
        let pc = activation.pc;
        let dst = match self.code.op(pc) {
            Op::CallFunction(dst, ..) | Op::InvokeClosure(dst, ..) => *dst,
            Op::ToHost(dst, _) => Some(*dst),
            _ => None,
        };
        if let Some(dst) = dst {
            activation.frame.regs[dst] = value;
        }
        self.shows(pc, &activation.frame)?;
        activation.pc = Pc::from_index(pc.index() + 1);
        Ok(())
    }

    /// Gives up all activations but the first. The error says where the innermost of them comes from whose place is known.
    fn unwind(&mut self, stack: &mut Vec<Activation>, error: VmError) -> VmError {
        let places = stack.iter().rev().map(|activation| activation.pc);
        let error = places.fold(error, |error, pc| self.with_origin(pc, error));
        while stack.len() > 1 {
            let ended = stack.pop().expect("there are several");
            self.state.keep(self.program, ended);
        }
        error
    }

    /// The error, with where the instruction comes from. One that says so already stays.
    fn with_origin(&self, pc: Pc, error: VmError) -> VmError {
        match self.exec.origin(pc) {
            Some(origin) if !error.says_where() => error.located(origin),
            _ => error,
        }
    }
}
