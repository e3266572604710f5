//! `verify`: every index of the bytecode names something. What calls pass is checked when the machine decodes them.

use std::collections::BTreeSet;

use super::{BytecodeError, Callee, Executable, Function, Instr, KernelFunc, Operand, Pc, Reg};
use crate::support::Id;

/// Most variants of a program.
const MOST_VARIANTS: usize = 16;

/// Most registers, and most slots of the shape heap, of one function.
const MAX_FRAME: usize = 1 << 20;

impl Executable {
    /// Checks registers, constants, callees and jumps.
    ///
    /// # Errors
    /// The first thing that is out of range.
    pub fn verify(&self) -> Result<(), BytecodeError> {
        self.verify_callees()?;
        self.verify_variants()?;
        self.verify_apart()?;
        self.functions
            .iter()
            .try_for_each(|function| self.verify_function(function))
    }

    /// No instruction belongs to two functions, so that all registers together are bounded by the code.
    fn verify_apart(&self) -> Result<(), BytecodeError> {
        let mut functions: Vec<&Function> = self.functions.iter().collect();
        functions.sort_by_key(|function| function.start);
        let shared = functions
            .windows(2)
            .find(|pair| pair[1].start < pair[0].end);
        match shared {
            Some(pair) => Err(BytecodeError {
                pc: pair[1].start,
                problem: format!("`{}` begins inside `{}`", pair[1].name, pair[0].name),
            }),
            None => Ok(()),
        }
    }

    /// Most registers and most slots of the shape heap that the code of a function can mean something by: an instruction gives
    /// one register a value and takes one as a size, a slot is an operand or the output of a shape function.
    fn most(&self, function: &Function) -> (usize, usize) {
        let code = &self.code[function.range()];
        let mut called = BTreeSet::new();
        let mut operands = 0;
        for instr in code {
            if let Instr::Call {
                dst: _,
                callee,
                args,
            } = instr
            {
                operands += args.len();
                if let Some(Callee::ShapeFunc(index)) = self.callees.get(*callee as usize) {
                    called.insert(*index as usize);
                }
            }
        }
        let outputs = called
            .into_iter()
            .map(|i| self.shape_funcs[i].outputs.len());
        let regs = function.params.len() + 2 * code.len() + 2;
        (regs, operands + outputs.sum::<usize>())
    }

    fn verify_callees(&self) -> Result<(), BytecodeError> {
        for (index, callee) in self.callees.iter().enumerate() {
            let (i, len) = match callee {
                Callee::Function(i) => (*i, self.functions.len()),
                Callee::Kernel(i) => (*i, self.kernels.len()),
                Callee::ShapeFunc(i) => (*i, self.shape_funcs.len()),
                Callee::Packed(_) | Callee::Builtin(_) => continue,
            };
            if i as usize >= len {
                return Err(BytecodeError {
                    pc: Pc::from_index(0),
                    problem: format!("callee {index} names entry {i} of {len}"),
                });
            }
        }
        Ok(())
    }

    /// Variants have none themselves, and take the same arguments in the same way.
    fn verify_variants(&self) -> Result<(), BytecodeError> {
        for (at, kernel) in self.kernels.iter().enumerate() {
            let is_variant = |other: &KernelFunc| {
                other.variants.is_empty()
                    && other.is_native() == kernel.is_native()
                    && other.func.is_called_as(&kernel.func)
            };
            let mut variants = kernel.variants.iter().enumerate();
            let wrong = variants.find_map(|(position, variant)| {
                let other = self.kernels.get(*variant as usize);
                let is_new = !kernel.variants[..position].contains(variant);
                let fits = is_new && *variant as usize != at && other.is_some_and(is_variant);
                (position >= MOST_VARIANTS || !fits).then_some(*variant)
            });
            if let Some(wrong) = wrong {
                return Err(BytecodeError {
                    pc: Pc::from_index(0),
                    problem: format!("entry {wrong} is no variant of `{}`", kernel.func.name),
                });
            }
        }
        Ok(())
    }

    fn verify_function(&self, function: &Function) -> Result<(), BytecodeError> {
        let range = function.range();
        let fail = |pc: Pc, problem: String| Err(BytecodeError { pc, problem });
        if range.is_empty() || range.end > self.code.len() {
            return fail(
                function.start,
                format!(
                    "`{}` ends at {} of {} instructions",
                    function.name,
                    function.end,
                    self.code.len()
                ),
            );
        }
        let (most_regs, most_slots) = self.most(function);
        if function.num_regs as usize > most_regs.min(MAX_FRAME)
            || function.num_slots as usize > most_slots.min(MAX_FRAME)
            || function.params.len() > function.num_regs as usize
        {
            return fail(
                function.start,
                format!(
                    "`{}` has {} registers for {} parameters, {} slots",
                    function.name,
                    function.num_regs,
                    function.params.len(),
                    function.num_slots
                ),
            );
        }
        for pc in range.map(Pc::from_index) {
            self.verify_instr(function, pc)
                .or_else(|problem| fail(pc, problem))?;
        }
        Ok(())
    }

    fn verify_instr(&self, function: &Function, pc: Pc) -> Result<(), String> {
        let reg = |reg: Reg| {
            if reg.index() < function.num_regs as usize {
                Ok(())
            } else {
                Err(format!("register {reg} of {}", function.num_regs))
            }
        };
        let instr = &self.code[pc.index()];
        let target = || match instr.target(pc) {
            Some(to) if function.range().contains(&to.index()) => Ok(()),
            _ => Err(format!("a jump out of `{}`", function.name)),
        };
        let runs_past = || Err(format!("`{}` runs past its end", function.name));
        let last = pc.index() + 1 == function.end.index();
        match instr {
            Instr::Call { dst, callee, args } => {
                dst.map_or(Ok(()), reg)?;
                index("callee", *callee, self.callees.len())?;
                for arg in args {
                    match *arg {
                        Operand::Reg(r) => reg(r)?,
                        Operand::Const(c) => index("constant", c, self.constants.len())?,
                        Operand::Func(f) => index("callee", f, self.callees.len())?,
                        Operand::Imm(_) | Operand::Vm => {}
                    }
                }
                if last {
                    return runs_past();
                }
            }
            Instr::Ret { result } => reg(*result)?,
            Instr::Goto { offset: _ } => target()?,
            Instr::If {
                cond,
                false_offset: _,
            } => {
                reg(*cond)?;
                target()?;
                if last {
                    return runs_past();
                }
            }
        }
        Ok(())
    }
}

fn index(what: &str, index: u32, len: usize) -> Result<(), String> {
    if (index as usize) < len {
        Ok(())
    } else {
        Err(format!("{what} {index} of {len}"))
    }
}
