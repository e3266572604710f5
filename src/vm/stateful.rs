//! Calls that a machine keeps: saved ones, and those whose inputs are set before and whose outputs are taken after. And
//! arguments by the names of parameters, which all of these take.

use super::VmError;
use super::machine::{Callable, FuncId, VirtualMachine};
use crate::runtime::Value;

/// Whether a saved call gives what its function gives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IncludeReturn {
    /// It gives that.
    Yes,
    /// It gives [`Value::None`], so that nobody who only wants it run, as to time it, gets a result.
    No,
}

/// A function with values for its last parameters, under a name of its own.
pub(super) struct Saved {
    pub(super) name: String,
    pub(super) function: usize,
    pub(super) args: Vec<Value>,
    pub(super) include_return: IncludeReturn,
}

/// Inputs that were set and outputs of the last call with them.
#[derive(Default)]
pub(super) struct Stateful {
    inputs: Option<Vec<Value>>,
    outputs: Option<Value>,
}

impl VirtualMachine {
    /// Saves a call: the function of the new name is `name` with these values for its last parameters. If they are values for
    /// all of them, it is called without arguments, as often as wanted; [`arguments`](Self::arguments) puts values by name in order.
    /// Tensors are copied to the device now. What was saved under the name before is gone.
    ///
    /// # Errors
    /// [`VmError::NoFunction`]; [`VmError::Arity`] if there are more values than parameters; [`VmError::NameTaken`] if a function
    /// of the executable has the name.
    pub fn save_function(
        &mut self,
        name: &str,
        saved_name: &str,
        args: &[Value],
        include_return: IncludeReturn,
    ) -> Result<FuncId, VmError> {
        let func = self.function(name)?;
        let codes = &self.lease.program.codes;
        if codes.iter().any(|code| *code.name == *saved_name) {
            return Err(VmError::NameTaken(saved_name.to_owned()));
        }
        let callable = self.callable(func)?;
        if args.len() > callable.params().len() {
            return Err(arity(callable, args.len()));
        }
        let function = callable.index;
        let bound = callable.bound.to_vec();
        let mut args = self.on_device(args)?;
        args.extend(bound);
        let new = Saved {
            name: saved_name.to_owned(),
            function,
            args,
            include_return,
        };
        match self.saved.iter_mut().find(|saved| saved.name == saved_name) {
            Some(old) => *old = new,
            None => self.saved.push(new),
        }
        self.function(saved_name)
    }

    /// Sets the arguments of the calls that [`invoke_stateful`](Self::invoke_stateful) makes. Tensors are copied to the device
    /// now, and once.
    ///
    /// # Errors
    /// [`VmError::NoFunction`]; [`VmError::Arity`]; or if the device cannot hold them.
    pub fn set_input(&mut self, name: &str, args: &[Value]) -> Result<(), VmError> {
        let func = self.function(name)?;
        let callable = self.callable(func)?;
        if args.len() != callable.params().len() {
            return Err(arity(callable, args.len()));
        }
        let inputs = self.on_device(args)?;
        self.stateful_of(func).inputs = Some(inputs);
        Ok(())
    }

    /// Calls a function with the arguments that were set, and keeps what it gives.
    ///
    /// # Errors
    /// [`VmError::NoInputs`] if none were set; as [`VirtualMachine::call`].
    pub fn invoke_stateful(&mut self, name: &str) -> Result<(), VmError> {
        let func = self.function(name)?;
        let stateful = self.stateful_of(func);
        let Some(inputs) = stateful.inputs.take() else {
            return Err(VmError::NoInputs(name.to_owned()));
        };
        // Outputs of the call before are let go, so that it may write where they are.
        stateful.outputs = None;
        let result = self.call_func(func, &inputs);
        let stateful = self.stateful_of(func);
        stateful.inputs = Some(inputs);
        stateful.outputs = Some(result?);
        Ok(())
    }

    /// What the last call by [`invoke_stateful`](Self::invoke_stateful) gave. A tuple is a list of outputs.
    ///
    /// # Errors
    /// [`VmError::NoOutputs`] if there was no such call, or it failed.
    pub fn get_outputs(&self, name: &str) -> Result<&Value, VmError> {
        let func = self.function(name)?;
        let outputs = self.stateful.get(func.index);
        let outputs = outputs.and_then(|stateful| stateful.outputs.as_ref());
        outputs.ok_or_else(|| VmError::NoOutputs(name.to_owned()))
    }

    /// The arguments of a function in the order of its parameters: those by name, in any order, and the others in the places
    /// that are left.
    ///
    /// # Errors
    /// If a name is unknown or there twice, or a parameter is left without an argument.
    pub fn arguments(
        &self,
        name: &str,
        args: &[Value],
        named: &[(&str, Value)],
    ) -> Result<Vec<Value>, VmError> {
        let callable = self.callable(self.function(name)?)?;
        let params = callable.params();
        let func = &callable.code.name;
        let mut places: Vec<Option<Value>> = vec![None; params.len()];
        for (name, value) in named {
            let Some(at) = params.iter().position(|param| param == name) else {
                return Err(VmError::UnknownArgument {
                    func: func.to_string(),
                    name: (*name).to_owned(),
                    params: params.to_vec(),
                });
            };
            if places[at].replace(value.clone()).is_some() {
                return Err(VmError::RepeatedArgument {
                    func: func.to_string(),
                    name: (*name).to_owned(),
                });
            }
        }
        let mut rest = args.iter();
        let mut missing = vec![];
        for (place, param) in places.iter_mut().zip(params) {
            if place.is_none() {
                *place = rest.next().cloned();
            }
            if place.is_none() {
                missing.push(param.clone());
            }
        }
        if !missing.is_empty() {
            return Err(VmError::MissingArguments {
                func: func.to_string(),
                missing,
            });
        }
        if rest.next().is_some() {
            return Err(arity(callable, args.len() + named.len()));
        }
        Ok(places.into_iter().flatten().collect())
    }

    /// Calls a function with arguments by the names of its parameters, in any order.
    ///
    /// # Errors
    /// As [`VirtualMachine::call`] and [`VirtualMachine::arguments`].
    pub fn call_named(&mut self, name: &str, args: &[(&str, Value)]) -> Result<Value, VmError> {
        let args = self.arguments(name, &[], args)?;
        self.call(name, &args)
    }

    fn on_device(&mut self, args: &[Value]) -> Result<Vec<Value>, VmError> {
        let args = args.iter().cloned();
        args.map(|arg| self.to_device(arg)).collect()
    }

    fn stateful_of(&mut self, func: FuncId) -> &mut Stateful {
        if self.stateful.len() <= func.index {
            self.stateful.resize_with(func.index + 1, Stateful::default);
        }
        &mut self.stateful[func.index]
    }
}

fn arity(callable: Callable<'_>, given: usize) -> VmError {
    VmError::Arity {
        func: callable.code.name.to_string(),
        params: callable.params().to_vec(),
        given,
    }
}
