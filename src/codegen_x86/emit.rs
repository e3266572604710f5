//! From a kernel to machine instructions: the frame of the function, and its statements.

use std::collections::HashMap;

use iced_x86::Code;
use regalloc2::VReg;

use super::ahead::Ahead;
use super::build::Builder;
use super::flow::Trips;
use super::inst::{Arg, Base, Condition, Func, GENERAL, Inst, Kind, Mem, Term};
use super::locals::Locals;
use super::memory::Place;
use super::value::{Part, Val};
use super::{Isa, Refusal, refuse};
use crate::codegen_common::KernelArgs;
use crate::codegen_common::contract;
use crate::codegen_common::host::parallel_loop;
use crate::kernel::poly::Scope;
use crate::kernel::{ArrayId, Expr, ForKind, Kernel, Stmt, Ty, VarId};
use crate::support::SideTable;
use crate::tensor::ScalarType;

/// State while the function of one kernel is made.
pub(super) struct Emitter<'a> {
    pub(super) b: Builder,
    pub(super) kernel: &'a Kernel,
    pub(super) isa: Isa,
    pub(super) locals: Locals,
    /// Where each array is; absent for arrays that live in registers.
    pub(super) places: SideTable<ArrayId, Option<Place>>,
    /// Value of each variable in scope.
    vars: SideTable<VarId, Option<Val>>,
    /// The variables in scope in the order of their definitions, with the value that each had before.
    defined: Vec<(VarId, Option<Val>)>,
    pub(super) scope: Scope,
    /// The mask registers that lanes of ones were made of, and the width of a lane in bytes.
    pub(super) masks: HashMap<VReg, (VReg, usize)>,
    /// What was compared for each truth value in a general register.
    pub(super) compared: HashMap<VReg, (Condition, VReg, Arg)>,
    pub(super) ahead: Ahead,
}

/// The machine instructions of a kernel.
pub(super) fn emit(kernel: &Kernel, isa: Isa) -> Result<Func, Refusal> {
    if kernel.launch.is_some() {
        return refuse("a launch of workgroups");
    }
    if kernel.small_type().is_some() {
        return refuse("types of less than eight bits");
    }
    if !kernel.in_bounds {
        return refuse("accesses that are checked");
    }
    let mut emitter = Emitter {
        b: Builder::new(isa.registers()),
        kernel,
        isa,
        locals: Locals::default(),
        places: SideTable::with_default(None),
        vars: SideTable::with_default(None),
        defined: vec![],
        scope: Scope::default(),
        masks: HashMap::new(),
        compared: HashMap::new(),
        ahead: Ahead::default(),
    };
    emitter.function()?;
    Ok(emitter.b.func)
}

impl Emitter<'_> {
    fn function(&mut self) -> Result<(), Refusal> {
        let kernel = self.kernel;
        self.enter_function();
        let params = [(); 3].map(|()| self.b.reg(GENERAL));
        self.b.push(Inst {
            kind: Kind::Entry,
            args: vec![],
            defs: params.to_vec(),
        });
        let [args, begin, end] = params;
        self.bind_scalars(args)?;
        self.place_arrays(args)?;
        match parallel_loop(kernel) {
            Some((
                Stmt::For {
                    var,
                    min,
                    extent: _,
                    kind: _,
                    body,
                },
                _,
            )) => {
                let lets = &kernel.body[..kernel.body.len() - 1];
                self.stmts(lets)?;
                let min = self.integer(min)?;
                let first = self.add(min, Part::Reg(begin));
                let last = self.add(min, Part::Reg(end));
                self.ahead = Ahead::of(kernel, *var, body);
                self.counted_loop(*var, first, last, Trips::Unknown, body)?;
            }
            _ => self.stmts(&kernel.body)?,
        }
        self.b.end(Term::Return);
        Ok(())
    }

    /// A word of memory that nothing writes.
    pub(super) fn word(&mut self, base: VReg, offset: usize) -> VReg {
        let mem = Mem {
            base: Base::Reg(base),
            index: None,
            disp: offset as i32,
        };
        let code = Kind::Code(Code::Mov_r64_rm64);
        self.b.pure(code, GENERAL, vec![Arg::Mem(mem)])
    }

    fn bind_scalars(&mut self, args: VReg) -> Result<(), Refusal> {
        if self.kernel.scalars.is_empty() {
            return Ok(());
        }
        let scalars = self.word(args, std::mem::offset_of!(KernelArgs, scalars));
        for (i, (var, _)) in self.kernel.scalars.iter().enumerate() {
            let wide = Part::Reg(self.word(scalars, 8 * i));
            let wide = Val::scalar(ScalarType::I64, wide);
            let value = self.cast(&wide, self.var_type(*var)?)?;
            self.bind(*var, value);
        }
        Ok(())
    }

    fn var_type(&self, var: VarId) -> Result<Ty, Refusal> {
        match self.kernel.vars.get(var) {
            Some(info) => Ok(info.ty),
            None => refuse("a variable that is not declared"),
        }
    }

    fn bind(&mut self, var: VarId, value: Val) {
        let before = self.vars.entry(var).replace(value);
        self.defined.push((var, before));
        self.scope.define(var);
    }

    pub(super) fn var(&self, var: VarId) -> Result<Val, Refusal> {
        match &self.vars[var] {
            Some(value) => Ok(value.clone()),
            None => refuse("a variable without a value"),
        }
    }

    /// A scalar integer, extended to 64 bits.
    pub(super) fn integer(&mut self, e: &Expr) -> Result<Part, Refusal> {
        let value = self.expr(e)?;
        if !value.is_general() || value.is_bool() {
            return refuse("an index that is no integer");
        }
        Ok(value.parts[0])
    }

    fn stmts(&mut self, stmts: &[Stmt]) -> Result<(), Refusal> {
        stmts.iter().try_for_each(|s| self.stmt(s))
    }

    /// A body of its own: what is defined in it is not seen after it.
    pub(super) fn nested(
        &mut self,
        counter: Option<(VarId, Part)>,
        stmts: &[Stmt],
    ) -> Result<(), Refusal> {
        let outside = self.defined.len();
        if let Some((var, counter)) = counter {
            let ty = self.var_type(var)?;
            if ty.lanes != 1 || !ty.scalar.is_int() {
                return refuse("a loop variable that is no integer");
            }
            let wide = Val::scalar(ScalarType::I64, counter);
            let value = self.cast(&wide, ty)?;
            self.bind(var, value);
        }
        self.stmts(stmts)?;
        while self.defined.len() > outside
            && let Some((var, before)) = self.defined.pop()
        {
            *self.vars.entry(var) = before;
            self.scope.undefine(var);
        }
        Ok(())
    }

    fn stmt(&mut self, stmt: &Stmt) -> Result<(), Refusal> {
        match stmt {
            Stmt::Let(var, value) => {
                let val = self.expr(value)?;
                if val.ty != self.var_type(*var)? {
                    return refuse("a variable of another type than its value");
                }
                self.bind(*var, val);
                self.scope.define_as(self.kernel, *var, value);
                Ok(())
            }
            Stmt::Store {
                array,
                index,
                value,
                active,
            } => {
                let fused = contract(*array, index, value);
                let value = self.expr(fused.as_ref().unwrap_or(value))?;
                match active {
                    Some(active) => self.store_active(*array, index, &value, active),
                    None => self.store(*array, index, &value),
                }
            }
            Stmt::For {
                var,
                min,
                extent,
                kind: ForKind::Serial | ForKind::Parallel | ForKind::SimdReduction,
                body,
            } => {
                let trips = match extent {
                    Expr::Int(n, _) if *n <= 0 => return Ok(()),
                    Expr::Int(_, _) => Trips::Some,
                    _ => Trips::Unknown,
                };
                let first = self.integer(min)?;
                let extent = self.integer(extent)?;
                let last = self.add(first, extent);
                let before = self.ahead.enter(*var);
                self.counted_loop(*var, first, last, trips, body)?;
                self.ahead.leave(before);
                Ok(())
            }
            Stmt::If {
                cond,
                then,
                otherwise,
            } => self.branch(cond, then, otherwise),
            Stmt::While { cond, body } => self.while_loop(cond, body),
            Stmt::Barrier => refuse("a barrier"),
            Stmt::Fragment(_) => refuse("an operation on fragments"),
        }
    }

    /// A scalar `bool` as a comparison of general registers.
    pub(super) fn condition(&mut self, cond: &Expr) -> Result<(Condition, VReg, Arg), Refusal> {
        if let Expr::Binary(op, a, b) = cond
            && op.is_comparison()
        {
            let (a, b) = (self.expr(a)?, self.expr(b)?);
            if a.is_general() && a.ty == b.ty {
                let b = self.immediate(b.parts[0]);
                let cond = super::int::condition(*op, a.ty.scalar);
                return Ok((cond, self.general(a.parts[0]), b));
            }
        }
        let value = self.expr(cond)?;
        if !value.is_general() || !value.is_bool() {
            return refuse("a condition that is no bool");
        }
        Ok(self.comparison(value.parts[0]))
    }
}
