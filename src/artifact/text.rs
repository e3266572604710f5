//! `stats` and `as_text`: an executable for readers, in the form of TVM's `Executable.stats()` and `.as_text()`.

use std::fmt::Write as _;

use super::{Callee, Constant, Executable, Instr, Operand};

impl Executable {
    /// Sizes and names: the constant pool and the globals.
    pub fn stats(&self) -> String {
        let constants: Vec<String> = self.constants.iter().map(constant_text).collect();
        let globals = self.global_names();
        format!(
            "Relax VM executable statistics:\n  Constant pool (# {}): [{}]\n  Globals (#{}): [{}]\n",
            constants.len(),
            constants.join(", "),
            globals.len(),
            globals.join(", ")
        )
    }

    /// The bytecode of every function, then the names of what it calls.
    pub fn as_text(&self) -> String {
        let mut out = String::new();
        for function in &self.functions {
            let _ = writeln!(out, "@{}:", function.name);
            for instr in self.code.get(function.range()).unwrap_or_default() {
                let _ = writeln!(out, "  {}", self.instr_text(instr));
            }
            out.push('\n');
        }
        for callee in &self.callees {
            if !matches!(callee, Callee::Function(_)) {
                let _ = writeln!(out, "@{} packed_func;\n", self.callee_name(callee));
            }
        }
        out
    }

    fn global_names(&self) -> Vec<&str> {
        let functions = self.functions.iter().map(|f| f.name.as_str());
        let others = self
            .callees
            .iter()
            .filter(|callee| !matches!(callee, Callee::Function(_)))
            .map(|callee| self.callee_name(callee));
        functions.chain(others).collect()
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
        Constant::Str(text) => format!("{text:?}"),
        Constant::Int(value) => value.to_string(),
        Constant::Float(value) => value.to_string(),
        Constant::Context(context) => format!("{:?}", context.to_string()),
    }
}
