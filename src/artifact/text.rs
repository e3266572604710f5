//! `stats` and `as_text`: an executable for readers, in the form of TVM's `Executable.stats()` and `.as_text()`.

use std::fmt::Write as _;

use indexmap::IndexSet;

use super::{Callee, Constant, ErrorContext, Executable, Instr, Operand};

/// An entry of the function table, by its position among the functions or the callees.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Global {
    Function(usize),
    Other(usize),
}

impl Executable {
    /// Sizes and names: the constant pool and the globals, which are functions and what they call.
    pub fn stats(&self) -> String {
        let constants: Vec<String> = self.constants.iter().map(constant_text).collect();
        let globals: Vec<&str> = self.globals().iter().map(|g| self.global_name(g)).collect();
        format!(
            "Relax VM executable statistics:\n  Constant pool (# {}): [{}]\n  Globals (#{}): [{}]\n",
            constants.len(),
            constants.join(", "),
            globals.len(),
            globals.join(", ")
        )
    }

    /// The globals: of a function its bytecode, of anything else its name.
    pub fn as_text(&self) -> String {
        let mut out = String::new();
        for global in self.globals() {
            let Global::Function(index) = global else {
                let _ = writeln!(out, "@{} packed_func;\n", self.global_name(&global));
                continue;
            };
            let function = &self.functions[index];
            let _ = writeln!(out, "@{}:", function.name);
            for instr in self.code.get(function.range()).unwrap_or_default() {
                let _ = writeln!(out, "  {}", self.instr_text(instr));
            }
            out.push('\n');
        }
        out
    }

    /// Every function, and after it what it is the first to name: that is the order of TVM's function table.
    fn globals(&self) -> Vec<Global> {
        let mut out = IndexSet::new();
        for (index, function) in self.functions.iter().enumerate() {
            out.insert(Global::Function(index));
            for instr in self.code.get(function.range()).unwrap_or_default() {
                let Instr::Call {
                    dst: _,
                    callee,
                    args,
                } = instr
                else {
                    continue;
                };
                let named = args.iter().filter_map(|arg| match arg {
                    Operand::Func(index) => Some(*index),
                    Operand::Reg(_) | Operand::Imm(_) | Operand::Const(_) | Operand::Vm => None,
                });
                out.extend(
                    named
                        .chain([*callee])
                        .map(|index| self.global(index as usize)),
                );
            }
        }
        out.extend((0..self.callees.len()).map(|index| self.global(index)));
        out.into_iter().collect()
    }

    fn global(&self, callee: usize) -> Global {
        match self.callees.get(callee) {
            Some(Callee::Function(index)) if (*index as usize) < self.functions.len() => {
                Global::Function(*index as usize)
            }
            _ => Global::Other(callee),
        }
    }

    fn global_name(&self, global: &Global) -> &str {
        match *global {
            Global::Function(index) => &self.functions[index].name,
            Global::Other(index) => {
                let callee = self.callees.get(index);
                callee.map_or("?", |callee| self.callee_name(callee))
            }
        }
    }

    /// One instruction, as `call  vm.builtin.make_tuple in: %0, %1    dst: %2`.
    pub fn instr_text(&self, instr: &Instr) -> String {
        match instr {
            Instr::Call { dst, callee, args } => {
                let name = self
                    .callees
                    .get(*callee as usize)
                    .map_or("?", |callee| self.callee_name(callee));
                let args: Vec<String> = args.iter().map(|&arg| self.operand_text(arg)).collect();
                let dst = dst.map_or("%void".to_owned(), |reg| reg.to_string());
                format!("call  {name:<16} in: {:<12} dst: {dst}", args.join(", "))
            }
            Instr::Ret { result } => format!("ret   {result}"),
            Instr::Goto { offset } => format!("goto  {offset}"),
            Instr::If { cond, false_offset } => format!("If    {cond}, {false_offset}"),
        }
    }

    fn operand_text(&self, operand: Operand) -> String {
        match operand {
            Operand::Reg(reg) => reg.to_string(),
            Operand::Imm(value) => format!("i{value}"),
            Operand::Const(index) => format!("c[{index}]"),
            Operand::Func(index) => {
                let callee = self.callees.get(index as usize);
                format!("f[{}]", callee.map_or("?", |c| self.callee_name(c)))
            }
            Operand::Vm => "%vm".to_owned(),
        }
    }
}

fn constant_text(constant: &Constant) -> String {
    let list = |dims: &mut dyn Iterator<Item = String>| dims.collect::<Vec<_>>().join(", ");
    match constant {
        Constant::Tensor(tensor) if tensor.shape().is_empty() => "scalar".to_owned(),
        Constant::Tensor(tensor) => {
            format!(
                "[{}]",
                list(&mut tensor.shape().iter().map(usize::to_string))
            )
        }
        Constant::Shape(dims) => {
            format!("shapetuple[{}]", list(&mut dims.iter().map(i64::to_string)))
        }
        Constant::DType(dtype) => dtype.to_string(),
        Constant::Str(text) => format!("\"{text}\""),
        Constant::Int(value) => value.to_string(),
        Constant::Float(value) => value.to_string(),
        Constant::Context(context) => format!("\"{}\"", context_text(context)),
    }
}

/// The text of a context as TVM has it, which says less of results and casts.
fn context_text(context: &ErrorContext) -> String {
    let ErrorContext {
        func, annotation, ..
    } = context;
    match context.location.as_str() {
        "match_cast" => format!("ErrorContext(match_cast, ty={annotation}) "),
        "return" => format!("ErrorContext(fn={func}, loc=return, annotation={annotation}) "),
        _ => format!("{context} "),
    }
}
