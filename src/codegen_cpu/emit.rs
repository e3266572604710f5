//! From a kernel to a Cranelift function: the frame of the function and its statements.
//!
//! The function is a [`NativeFn`](super::NativeFn). If the body of the kernel is one parallel
//! loop (after `let`s), the function runs the iterations `begin .. end` of it; else it runs the whole body and ignores them.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{
    AbiParam, BlockArg, Function, InstBuilder, MemFlagsData, Signature, Value, types,
};
use cranelift_codegen::isa::TargetIsa;
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};

use super::CodegenError;
use super::helpers::HelperRefs;
use super::isa::call_conv;
use super::locals::Locals;
use super::memory::{ArrayAddress, Spare};
use super::value::{Val, lane_type};
use crate::codegen_common::host::parallel_loop;
use crate::codegen_common::{KernelArgs, contract};
use crate::kernel::poly::Scope;
use crate::kernel::{ArrayId, Expr, ForKind, Kernel, Stmt, Ty, VarId};
use crate::support::SideTable;
use crate::tensor::ScalarType;

/// State while the function of one kernel is made.
pub(super) struct Emitter<'a, 'f> {
    pub(super) b: FunctionBuilder<'f>,
    pub(super) kernel: &'a Kernel,
    pub(super) isa: &'a dyn TargetIsa,
    pub(super) helpers: HelperRefs,
    pub(super) locals: Locals,
    /// Where each array is; absent for arrays that live in registers.
    pub(super) places: SideTable<ArrayId, Option<ArrayAddress>>,
    /// Value of each variable in scope.
    vars: SideTable<VarId, Option<Val>>,
    /// The variables in scope in the order of their definitions, with the value that each had before.
    defined: Vec<(VarId, Option<Val>)>,
    pub(super) scope: Scope,
    /// Memory of checked accesses that are outside their arrays; absent if nothing is checked.
    pub(super) spare: Option<Spare>,
}

/// The signature of all native kernels.
pub(super) fn signature(isa: &dyn TargetIsa) -> Signature {
    let mut signature = Signature::new(call_conv(isa));
    let params = [isa.pointer_type(), types::I64, types::I64];
    signature.params.extend(params.map(AbiParam::new));
    signature
}

/// Writes the function of a kernel into `func`.
pub(super) fn emit(
    kernel: &Kernel,
    isa: &dyn TargetIsa,
    func: &mut Function,
    context: &mut FunctionBuilderContext,
) -> Result<(), CodegenError> {
    if kernel.launch.is_some() {
        return Err(CodegenError::NotForCpu {
            kernel: kernel.name.clone(),
            what: "a launch of workgroups",
        });
    }
    if let Some(ty) = kernel.small_type() {
        return Err(CodegenError::SmallType {
            kernel: kernel.name.clone(),
            ty,
        });
    }
    let kernel = &*kernel.without_active(&|_| true);
    func.signature = signature(isa);
    let mut emitter = Emitter {
        b: FunctionBuilder::new(func, context),
        kernel,
        isa,
        helpers: HelperRefs::default(),
        locals: Locals::default(),
        places: SideTable::with_default(None),
        vars: SideTable::with_default(None),
        defined: vec![],
        spare: None,
        scope: Scope::default(),
    };
    emitter.function()?;
    emitter.b.ins().return_(&[]);
    emitter.b.seal_all_blocks();
    let config = isa.frontend_config();
    emitter.b.finalize(config);
    Ok(())
}

impl Emitter<'_, '_> {
    fn function(&mut self) -> Result<(), CodegenError> {
        let kernel = self.kernel;
        let entry = self.b.create_block();
        self.b.append_block_params_for_function_params(entry);
        self.b.switch_to_block(entry);
        let &[args, begin, end] = self.b.block_params(entry) else {
            unreachable!("the signature has three parameters");
        };
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
                let first = self.widen(&min);
                let (first, last) = (
                    self.b.ins().iadd(first, begin),
                    self.b.ins().iadd(first, end),
                );
                self.counted_loop(*var, first, last, Trips::Unknown, body)
            }
            _ => self.stmts(&kernel.body),
        }
    }

    fn bind_scalars(&mut self, args: Value) -> Result<(), CodegenError> {
        if self.kernel.scalars.is_empty() {
            return Ok(());
        }
        let flags = MemFlagsData::trusted();
        let pointer = self.isa.pointer_type();
        let offset = std::mem::offset_of!(KernelArgs, scalars) as i32;
        let scalars = self.b.ins().load(pointer, flags, args, offset);
        for (i, (var, _)) in self.kernel.scalars.iter().enumerate() {
            let wide = self.b.ins().load(types::I64, flags, scalars, 8 * i as i32);
            let ty = self.var_type(*var)?;
            let wide = Val::scalar(ScalarType::I64, wide);
            let value = self.cast(&wide, ty)?;
            self.bind(*var, value);
        }
        Ok(())
    }

    /// Declared type of a variable.
    fn var_type(&self, var: VarId) -> Result<Ty, CodegenError> {
        match self.kernel.vars.get(var) {
            Some(info) => Ok(info.ty),
            None => Err(self.unbound(var)),
        }
    }

    fn unbound(&self, var: VarId) -> CodegenError {
        CodegenError::Unbound {
            kernel: self.kernel.name.clone(),
            var,
        }
    }

    fn bind(&mut self, var: VarId, value: Val) {
        let before = self.vars.entry(var).replace(value);
        self.defined.push((var, before));
        self.scope.define(var);
    }

    pub(super) fn var(&self, var: VarId) -> Result<Val, CodegenError> {
        // The table is only as long as the kernel's variables: an id from elsewhere reads as absent.
        self.vars[var].clone().ok_or_else(|| self.unbound(var))
    }

    pub(super) fn mismatch(&self, what: &'static str, expected: Ty, got: Ty) -> CodegenError {
        CodegenError::Type {
            kernel: self.kernel.name.clone(),
            what,
            expected,
            got,
        }
    }

    pub(super) fn count(&self, what: &'static str, expected: usize, got: usize) -> CodegenError {
        CodegenError::Count {
            kernel: self.kernel.name.clone(),
            what,
            expected,
            got,
        }
    }

    pub(super) fn expect_type(
        &self,
        what: &'static str,
        expected: Ty,
        got: Ty,
    ) -> Result<(), CodegenError> {
        if expected == got {
            Ok(())
        } else {
            Err(self.mismatch(what, expected, got))
        }
    }

    /// A scalar integer.
    pub(super) fn integer(&mut self, e: &Expr) -> Result<Val, CodegenError> {
        let value = self.expr(e)?;
        if value.is_vector() || value.ty.scalar.is_float() || value.ty.scalar == ScalarType::Bool {
            return Err(self.mismatch("an index or extent", Ty::scalar(ScalarType::I64), value.ty));
        }
        Ok(value)
    }

    /// A scalar integer as 64 bits.
    pub(super) fn widen(&mut self, value: &Val) -> Value {
        let bits = value.parts[0];
        if value.lane == types::I64 {
            bits
        } else if value.ty.scalar.is_signed_int() {
            self.b.ins().sextend(types::I64, bits)
        } else {
            self.b.ins().uextend(types::I64, bits)
        }
    }

    fn stmts(&mut self, stmts: &[Stmt]) -> Result<(), CodegenError> {
        stmts.iter().try_for_each(|s| self.stmt(s))
    }

    /// A body of its own, with a variable of its own if it is that of a loop: what is defined in it is not seen after it.
    fn nested(
        &mut self,
        counter: Option<(VarId, Val)>,
        stmts: &[Stmt],
    ) -> Result<(), CodegenError> {
        let outside = self.defined.len();
        if let Some((var, value)) = counter {
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

    fn stmt(&mut self, stmt: &Stmt) -> Result<(), CodegenError> {
        match stmt {
            Stmt::Let(var, value) => {
                let ty = self.var_type(*var)?;
                let val = self.expr(value)?;
                self.expect_type("a let", ty, val.ty)?;
                self.bind(*var, val);
                self.scope.define_as(self.kernel, *var, value);
                Ok(())
            }
            Stmt::Store {
                array,
                index,
                value,
                active: _,
            } => {
                let fused = self
                    .isa
                    .has_native_fma()
                    .then(|| contract(*array, index, value))
                    .flatten();
                let value = self.expr(fused.as_ref().unwrap_or(value))?;
                self.store(*array, index, &value)
            }
            Stmt::For {
                var,
                min,
                extent,
                kind: ForKind::Serial | ForKind::Parallel | ForKind::SimdReduction,
                body,
            } => self.serial_loop(*var, min, extent, body),
            Stmt::If {
                cond,
                then,
                otherwise,
            } => self.branch(cond, then, otherwise),
            Stmt::While { cond, body } => self.while_loop(cond, body),
            Stmt::Barrier => Err(CodegenError::NotForCpu {
                kernel: self.kernel.name.clone(),
                what: "a barrier",
            }),
            Stmt::Fragment(_) => Err(CodegenError::NotForCpu {
                kernel: self.kernel.name.clone(),
                what: "an operation on fragments",
            }),
        }
    }

    fn serial_loop(
        &mut self,
        var: VarId,
        min: &Expr,
        extent: &Expr,
        body: &[Stmt],
    ) -> Result<(), CodegenError> {
        let trips = match extent {
            Expr::Int(n, _) if *n <= 0 => return Ok(()),
            Expr::Int(_, _) => Trips::Some,
            _ => Trips::Unknown,
        };
        let min = self.integer(min)?;
        let first = self.widen(&min);
        let extent = self.integer(extent)?;
        let extent = self.widen(&extent);
        let last = self.b.ins().iadd(first, extent);
        self.counted_loop(var, first, last, trips, body)
    }

    /// `for var in first .. last`, tested at the bottom, with a test before it unless there is a first trip for sure.
    fn counted_loop(
        &mut self,
        var: VarId,
        first: Value,
        last: Value,
        trips: Trips,
        body: &[Stmt],
    ) -> Result<(), CodegenError> {
        let ty = self.var_type(var)?;
        if ty.lanes != 1 || !ty.scalar.is_int() {
            return Err(self.mismatch("a loop variable", Ty::scalar(ScalarType::I64), ty));
        }
        let (inside, exit) = (self.b.create_block(), self.b.create_block());
        let counter = self.b.append_block_param(inside, types::I64);
        let start = [BlockArg::Value(first)];
        match trips {
            Trips::Some => self.b.ins().jump(inside, &start),
            Trips::Unknown => {
                let any = self.b.ins().icmp(IntCC::SignedLessThan, first, last);
                self.b.ins().brif(any, inside, &start, exit, &[])
            }
        };
        self.b.switch_to_block(inside);
        self.scope.depth += 1;
        let value = if lane_type(ty.scalar) == types::I64 {
            counter
        } else {
            self.b.ins().ireduce(lane_type(ty.scalar), counter)
        };
        let value = Val::scalar(ty.scalar, value);
        self.nested(Some((var, value)), body)?;
        self.scope.depth -= 1;
        let next = self.b.ins().iadd_imm_s(counter, 1);
        let more = self.b.ins().icmp(IntCC::SignedLessThan, next, last);
        let again = [BlockArg::Value(next)];
        self.b.ins().brif(more, inside, &again, exit, &[]);
        self.b.seal_block(inside);
        self.b.switch_to_block(exit);
        self.b.seal_block(exit);
        Ok(())
    }

    fn branch(
        &mut self,
        cond: &Expr,
        then: &[Stmt],
        otherwise: &[Stmt],
    ) -> Result<(), CodegenError> {
        let cond = self.condition(cond)?;
        let blocks = [(); 3].map(|()| self.b.create_block());
        let [yes, no, exit] = blocks;
        self.b.ins().brif(cond, yes, &[], no, &[]);
        self.b.seal_block(yes);
        self.b.seal_block(no);
        for (block, body) in [(yes, then), (no, otherwise)] {
            self.b.switch_to_block(block);
            self.nested(None, body)?;
            self.b.ins().jump(exit, &[]);
        }
        self.b.switch_to_block(exit);
        self.b.seal_block(exit);
        Ok(())
    }

    fn while_loop(&mut self, cond: &Expr, body: &[Stmt]) -> Result<(), CodegenError> {
        let blocks = [(); 3].map(|()| self.b.create_block());
        let [header, inside, exit] = blocks;
        self.b.ins().jump(header, &[]);
        self.b.switch_to_block(header);
        self.scope.depth += 1;
        let cond = self.condition(cond)?;
        self.b.ins().brif(cond, inside, &[], exit, &[]);
        self.b.switch_to_block(inside);
        self.b.seal_block(inside);
        self.nested(None, body)?;
        self.b.ins().jump(header, &[]);
        self.scope.depth -= 1;
        self.b.seal_block(header);
        self.b.switch_to_block(exit);
        self.b.seal_block(exit);
        Ok(())
    }

    fn condition(&mut self, cond: &Expr) -> Result<Value, CodegenError> {
        let value = self.expr(cond)?;
        self.expect_type("a condition", Ty::scalar(ScalarType::Bool), value.ty)?;
        Ok(value.parts[0])
    }
}

/// What is known of the number of iterations.
#[derive(Clone, Copy)]
enum Trips {
    /// At least one.
    Some,
    /// There may be none.
    Unknown,
}
