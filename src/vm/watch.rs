//! Steps that somebody watches: timed for a profile, and with the hook of an instrument around them.

use std::time::Instant;

use super::VmError;
use super::frame::Frame;
use super::instrument::{CallEvent, Verdict};
use super::profile::{Clock, ProfileEntry, ProfileKind};
use super::program::{Op, Src};
use super::run::Run;
use super::step::peek;
use crate::artifact::{Builtin, Callee, Instr, Operand, Pc, Reg};
use crate::runtime::Value;
use crate::support::Id;
use crate::tensor::Tensor;

impl Run<'_> {
    /// One step, with the hook called before and after it.
    pub(super) fn watched(&mut self, op: &Op, pc: Pc, frame: &mut Frame) -> Result<(), VmError> {
        if self.skips(pc, frame)? {
            return Ok(());
        }
        if self.state.profile.is_some() {
            self.profiled(op, pc, frame)?;
        } else {
            self.step(op, pc, frame)?;
        }
        self.shows(pc, frame)
    }

    /// Calls the hook before a step, and says whether that leaves it out: it gives nothing then.
    pub(super) fn skips(&mut self, pc: Pc, frame: &mut Frame) -> Result<bool, VmError> {
        let skips = self.ask(pc, frame, None)? == Verdict::Skip;
        if skips && let Some(dst) = self.dst(pc) {
            frame.regs[dst] = Value::None;
        }
        Ok(skips)
    }

    /// Calls the hook after a step.
    pub(super) fn shows(&mut self, pc: Pc, frame: &Frame) -> Result<(), VmError> {
        if self.state.instrument.is_some() {
            self.state.backend.submit()?;
            let result = self.dst(pc).map(|dst| self.shown(&frame.regs[dst]));
            self.ask(pc, frame, Some(result.transpose()?.unwrap_or_default()))?;
        }
        Ok(())
    }

    /// What the hook says, if there is one. Its copies of the arguments are gone when the step is made, so that they do not
    /// count as holders of a tensor that is changed in place.
    fn ask(&mut self, pc: Pc, frame: &Frame, result: Option<Value>) -> Result<Verdict, VmError> {
        let Some(mut hook) = self.state.instrument.take() else {
            return Ok(Verdict::Run);
        };
        self.state.backend.submit()?;
        let args: Vec<Value> = match &self.exec.code[pc.index()] {
            Instr::Call { args, .. } => {
                let args = args.iter().map(|&arg| self.argument(arg, frame));
                args.collect::<Result<_, _>>()?
            }
            Instr::Ret { .. } | Instr::Goto { .. } | Instr::If { .. } => vec![],
        };
        let verdict = hook(&CallEvent {
            caller: &self.code.name,
            pc,
            callee: &self.callee_name(pc),
            args: &args,
            result: result.as_ref(),
        });
        self.state.instrument = Some(hook);
        Ok(verdict)
    }

    fn argument(&self, operand: Operand, frame: &Frame) -> Result<Value, VmError> {
        Ok(match operand {
            Operand::Reg(reg) => self.shown(&frame.regs[reg])?,
            Operand::Imm(value) => Value::Int(value),
            Operand::Const(index) => self.state.consts[index as usize].clone(),
            Operand::Func(index) => {
                let callee = &self.exec.callees[index as usize];
                Value::from(self.exec.callee_name(callee))
            }
            Operand::Vm => Value::None,
        })
    }

    /// The value for the hook, which may keep it: none but kernels may see tensors of an arena, so where there are arenas the hook
    /// gets copies.
    fn shown(&self, value: &Value) -> Result<Value, VmError> {
        match value {
            Value::Tensor(tensor) if self.code.arenas.any() => {
                let copy = Tensor::from_bytes(tensor.dtype(), tensor.shape(), tensor.bytes());
                Ok(Value::Tensor(copy.map_err(|source| VmError::Tensor {
                    func: self.code.name.to_string(),
                    source,
                })?))
            }
            #[cfg(feature = "gpu")]
            Value::DeviceTensor(tensor) if self.code.arenas.any() => {
                Ok(Value::DeviceTensor(tensor.duplicate()?))
            }
            other => Ok(other.clone()),
        }
    }

    fn dst(&self, pc: Pc) -> Option<Reg> {
        match &self.exec.code[pc.index()] {
            Instr::Call { dst, .. } => *dst,
            Instr::Ret { .. } | Instr::Goto { .. } | Instr::If { .. } => None,
        }
    }

    fn callee_name(&self, pc: Pc) -> String {
        match &self.exec.code[pc.index()] {
            Instr::Call { callee, .. } => {
                let callee = &self.exec.callees[*callee as usize];
                self.exec.callee_name(callee).to_owned()
            }
            other => self.exec.instr_text(other),
        }
    }

    /// One step, timed.
    fn profiled(&mut self, op: &Op, pc: Pc, frame: &mut Frame) -> Result<(), VmError> {
        let copy = self.copy_of(op, pc, frame);
        let start = Instant::now();
        self.step(op, pc, frame)?;
        let entry = ProfileEntry {
            func: self.code.name.to_string(),
            pc,
            name: self.callee_name(pc),
            kind: ProfileKind::Builtin,
            seconds: start.elapsed().as_secs_f64(),
            clock: Clock::Host,
            launches: 0,
            bytes: 0,
            flops: 0,
            code: None,
            why: None,
        };
        let mut entries = vec![];
        let duplicated = self.state.backend.take_duplicated();
        if duplicated > 0 {
            let why = format!("`{}` changes it in place, and others hold it", entry.name);
            entries.push(ProfileEntry {
                name: "copy".to_owned(),
                kind: ProfileKind::Copy,
                // Its time is in that of the launch.
                seconds: 0.0,
                bytes: duplicated,
                why: Some(why),
                ..entry.clone()
            });
        }
        match (op, copy) {
            (Op::Launch { .. }, _) => {
                let backend = &mut self.state.backend;
                entries.extend(backend.kernel_entries(self.exec, op, &frame.sites, entry)?);
            }
            (Op::CallPacked(..), _) => entries.push(ProfileEntry {
                kind: ProfileKind::Packed,
                ..entry
            }),
            (_, Some((bytes, why))) => entries.push(ProfileEntry {
                kind: ProfileKind::Copy,
                bytes,
                why: Some(why),
                ..entry
            }),
            (_, None) => entries.push(entry),
        }
        if let Some(profile) = &mut self.state.profile {
            profile.entries.extend(entries);
        }
        Ok(())
    }

    /// How many bytes the step copies between host and device, and why; `None` if it copies nothing.
    fn copy_of(&self, op: &Op, pc: Pc, frame: &Frame) -> Option<(u64, String)> {
        let backend = &self.state.backend;
        let value = |src| peek(&frame.regs, &self.state.consts, src);
        let (bytes, why) = match op {
            Op::ToHost(dst, src) => (backend.bytes_to_host(value(*src)), self.reader(*dst, pc)),
            Op::ToDevice(_, src) => (backend.bytes_to_device(value(*src)), self.writer(*src, pc)),
            _ => return None,
        };
        (bytes > 0).then_some((bytes, why))
    }

    /// Who reads on the host what an instruction puts into the register.
    fn reader(&self, reg: Reg, pc: Pc) -> String {
        let code = &self.exec.code[pc.index() + 1..];
        let reads = |instr: &&Instr| matches!(instr, Instr::Call { args, .. } if args.contains(&Operand::Reg(reg)));
        let Some(Instr::Call { callee, .. }) = code.iter().find(reads) else {
            return "it is given to the host".to_owned();
        };
        let callee = &self.exec.callees[*callee as usize];
        match (callee, self.on_host(callee)) {
            (_, Some(who)) => format!("{who} runs on the host"),
            (Callee::Builtin(Builtin::ReadIfCond), None) => {
                "a branch reads its condition on the host".to_owned()
            }
            (other, None) => format!("`{}` reads it on the host", self.exec.callee_name(other)),
        }
    }

    /// Who left on the host what an instruction copies from the register.
    fn writer(&self, src: Src, pc: Pc) -> String {
        let start = self.code.start.index();
        let writes = |instr: &Instr| match (instr, src) {
            (Instr::Call { dst, callee, args }, Src::Reg(reg)) => {
                let who = self.on_host(&self.exec.callees[*callee as usize])?;
                (*dst == Some(reg) || args.contains(&Operand::Reg(reg))).then_some(who)
            }
            _ => None,
        };
        let mut before = self.exec.code[start..pc.index()].iter().rev();
        let who = before.find_map(writes);
        who.map_or_else(
            || "it is in host memory".to_owned(),
            |who| format!("{who} ran on the host"),
        )
    }

    /// What runs on the host although the program is for a GPU, by kind and name.
    fn on_host(&self, callee: &Callee) -> Option<String> {
        match callee {
            Callee::Packed(name) => Some(format!("packed function `{name}`")),
            Callee::Kernel(index) => {
                let kernel = &self.exec.kernels[*index as usize];
                (kernel.is_native()).then(|| format!("`{}`", kernel.func.name))
            }
            Callee::Function(_) | Callee::ShapeFunc(_) | Callee::Builtin(_) => None,
        }
    }
}
