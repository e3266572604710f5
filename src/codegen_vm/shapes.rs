//! Symbolic dimensions: slots of the shape heap, checks of values against what is declared, shapes made from slots.

use std::collections::HashMap;

use super::CodegenVmError;
use super::function::FunctionCompiler;
use crate::artifact::{
    Builtin, Callee, Constant, ErrorContext, Instr, Operand, match_code, shape_code,
};
use crate::ir::graph::dims::dim_text;
use crate::ir::{Expr, ExprKind, ShapeInfo, StructInfo, Var};
use crate::kernel::HostExpr;
use crate::tensor::scalar::BinOp;

/// Where dimensions are.
#[derive(Default)]
pub(super) struct Slots {
    pub(super) vars: HashMap<Var, u32>,
    /// Slots of compound extents.
    pub(super) derived: HashMap<Expr, u32>,
    /// Variables that parameters give their values.
    pub(super) entry_vars: Vec<Var>,
    /// What is computed once at entry.
    pub(super) entry: Vec<(u32, HostExpr)>,
    pub(super) count: u32,
}

impl Slots {
    fn fresh(&mut self) -> u32 {
        self.count += 1;
        self.count - 1
    }

    /// The expression over slots, if every variable has one.
    fn host(&self, e: &Expr) -> Result<HostExpr, String> {
        match e.kind() {
            ExprKind::Int(v) => Ok(HostExpr::Const(*v)),
            ExprKind::Var(var) => match self.vars.get(var) {
                Some(slot) => Ok(HostExpr::Dim(*slot as usize)),
                None => Err(var.name().to_owned()),
            },
            ExprKind::Cast(a) if e.dtype().is_int() && a.dtype().is_int() => self.host(a),
            ExprKind::Binary(op, a, b) => Ok(HostExpr::binary(*op, self.host(a)?, self.host(b)?)),
            ExprKind::Not(a) => Ok(HostExpr::binary(
                BinOp::Eq,
                self.host(a)?,
                HostExpr::Const(0),
            )),
            ExprKind::Select(c, a, b) | ExprKind::IfThenElse(c, a, b) => Ok(HostExpr::Select(
                Box::new(self.host(c)?),
                Box::new(self.host(a)?),
                Box::new(self.host(b)?),
            )),
            ExprKind::Float(_)
            | ExprKind::Cast(_)
            | ExprKind::Load(_, _)
            | ExprKind::Ramp {
                base: _,
                stride: _,
                lanes: _,
            }
            | ExprKind::Broadcast(_, _)
            | ExprKind::Call(_, _)
            | ExprKind::Let {
                var: _,
                value: _,
                body: _,
            } => Err(dim_text(e)),
        }
    }
}

/// A dimension in an instruction.
pub(super) enum Dim {
    Imm(i64),
    Slot(u32),
}

impl FunctionCompiler<'_, '_> {
    /// Where the value of an extent is; computes it if nothing has yet.
    pub(super) fn dim(&mut self, value: &str, e: &Expr) -> Result<Dim, CodegenVmError> {
        if let Some(v) = e.as_int() {
            return Ok(Dim::Imm(v));
        }
        if let Some(slot) = e.as_var().and_then(|var| self.slots.vars.get(var)) {
            return Ok(Dim::Slot(*slot));
        }
        if let Some(slot) = self.slots.derived.get(e) {
            return Ok(Dim::Slot(*slot));
        }
        let host = self
            .slots
            .host(e)
            .map_err(|dim| CodegenVmError::UnboundDim {
                func: self.name.clone(),
                value: value.to_owned(),
                dim,
            })?;
        let slot = self.slots.fresh();
        self.slots.derived.insert(e.clone(), slot);
        if e.free_vars()
            .iter()
            .all(|var| self.slots.entry_vars.contains(var))
        {
            self.slots.entry.push((slot, host));
        } else {
            let callee = self.builder.shape_func(vec![(slot, host)]);
            let args = vec![Operand::Reg(self.heap)];
            self.emit(Instr::Call {
                dst: None,
                callee,
                args,
            });
        }
        Ok(Dim::Slot(slot))
    }

    /// A shape: a constant, or a register that holds one.
    pub(super) fn shape(&mut self, value: &str, dims: &[Expr]) -> Result<Operand, CodegenVmError> {
        if let Some(consts) = dims.iter().map(Expr::as_int).collect::<Option<Vec<_>>>() {
            return Ok(Operand::Const(
                self.builder.constant(Constant::Shape(consts)),
            ));
        }
        if let Some(reg) = self.shapes.get(dims) {
            return Ok(Operand::Reg(*reg));
        }
        let mut args = vec![Operand::Reg(self.heap), Operand::Imm(dims.len() as i64)];
        for e in dims {
            args.extend(match self.dim(value, e)? {
                Dim::Imm(v) => [Operand::Imm(shape_code::USE_IMM), Operand::Imm(v)],
                Dim::Slot(slot) => [
                    Operand::Imm(shape_code::LOAD_SHAPE),
                    Operand::Imm(slot.into()),
                ],
            });
        }
        let reg = self.builtin(Builtin::MakeShape, args);
        self.shapes.insert(dims.to_vec(), reg);
        Ok(Operand::Reg(reg))
    }

    /// Checks a value against what is declared of it; new dimensions get slots.
    pub(super) fn check(
        &mut self,
        source: Operand,
        info: &StructInfo,
        location: &str,
        value: &str,
    ) -> Result<(), CodegenVmError> {
        let dims = |shape: &ShapeInfo| {
            shape
                .dims()
                .unwrap_or_default()
                .iter()
                .map(dim_text)
                .collect()
        };
        let mut context = ErrorContext {
            func: self.name.clone(),
            location: location.to_owned(),
            value: value.to_owned(),
            annotation: info.to_string(),
            dims: vec![],
        };
        let ndim = |shape: &ShapeInfo| Operand::Imm(shape.ndim().map_or(-1, |n| n as i64));
        match info {
            StructInfo::Object
            | StructInfo::Callable {
                params: _,
                ret: _,
                pure: _,
            } => Ok(()),
            StructInfo::Tensor(tensor) => {
                context.dims = dims(&tensor.shape);
                let context = Operand::Const(self.builder.constant(Constant::Context(context)));
                let dtype = match tensor.dtype {
                    Some(dtype) => Operand::Const(self.builder.constant(Constant::DType(dtype))),
                    None => Operand::Imm(-1),
                };
                self.check_with(
                    Builtin::CheckTensorInfo,
                    vec![source, ndim(&tensor.shape), dtype, context],
                );
                self.match_shape(source, &tensor.shape, context)
            }
            StructInfo::Shape(shape) => {
                context.dims = dims(shape);
                let context = Operand::Const(self.builder.constant(Constant::Context(context)));
                self.check_with(Builtin::CheckShapeInfo, vec![source, ndim(shape), context]);
                self.match_shape(source, shape, context)
            }
            StructInfo::Prim {
                dtype,
                value: known,
            } => {
                let context = Operand::Const(self.builder.constant(Constant::Context(context)));
                let dtype = Operand::Const(self.builder.constant(Constant::DType(*dtype)));
                self.check_with(Builtin::CheckPrimValueInfo, vec![source, dtype, context]);
                if let Some(e) = known {
                    let [code, operand] = self.match_code(e);
                    let args = vec![source, Operand::Reg(self.heap), code, operand, context];
                    self.check_with(Builtin::MatchPrimValue, args);
                }
                Ok(())
            }
            StructInfo::Tuple(items) => {
                let context = Operand::Const(self.builder.constant(Constant::Context(context)));
                let len = Operand::Imm(items.len() as i64);
                self.check_with(Builtin::CheckTupleInfo, vec![source, len, context]);
                for (at, item) in items.iter().enumerate() {
                    let reg =
                        self.builtin(Builtin::TupleGetItem, vec![source, Operand::Imm(at as i64)]);
                    self.check(Operand::Reg(reg), item, location, &format!("{value}[{at}]"))?;
                }
                Ok(())
            }
        }
    }

    fn match_shape(
        &mut self,
        source: Operand,
        shape: &ShapeInfo,
        context: Operand,
    ) -> Result<(), CodegenVmError> {
        let Some(dims) = shape.dims() else {
            return Ok(());
        };
        let mut args = vec![
            source,
            Operand::Reg(self.heap),
            Operand::Imm(dims.len() as i64),
        ];
        for e in dims {
            args.extend(self.match_code(e));
        }
        args.push(context);
        self.check_with(Builtin::MatchShape, args);
        if dims
            .iter()
            .any(|e| e.as_int().is_none() && e.as_var().is_none())
        {
            self.compound.push((source, dims.to_vec(), context));
        }
        Ok(())
    }

    /// How a dimension is matched where it is met: a new variable is stored, a compound extent waits until all variables are
    /// known.
    fn match_code(&mut self, e: &Expr) -> [Operand; 2] {
        let (code, operand) = match (e.as_int(), e.as_var()) {
            (Some(v), _) => (match_code::ASSERT_EQUAL_TO_IMM, v),
            (None, Some(var)) => match self.slots.vars.get(var) {
                Some(slot) => (match_code::ASSERT_EQUAL_TO_LOAD, i64::from(*slot)),
                None => {
                    let slot = self.slots.fresh();
                    self.slots.vars.insert(var.clone(), slot);
                    (match_code::STORE_TO_HEAP, i64::from(slot))
                }
            },
            (None, None) => (match_code::NO_OP, 0),
        };
        [Operand::Imm(code), Operand::Imm(operand)]
    }

    /// Checks the compound extents that were passed over.
    pub(super) fn check_compound(&mut self, value: &str) -> Result<(), CodegenVmError> {
        for (source, dims, context) in std::mem::take(&mut self.compound) {
            let mut args = vec![
                source,
                Operand::Reg(self.heap),
                Operand::Imm(dims.len() as i64),
            ];
            for e in &dims {
                let simple = e.as_int().is_some() || e.as_var().is_some();
                args.extend(
                    match if simple {
                        Dim::Imm(0)
                    } else {
                        self.dim(value, e)?
                    } {
                        Dim::Slot(slot) => [
                            Operand::Imm(match_code::ASSERT_EQUAL_TO_LOAD),
                            Operand::Imm(slot.into()),
                        ],
                        Dim::Imm(_) => [Operand::Imm(match_code::NO_OP), Operand::Imm(0)],
                    },
                );
            }
            args.push(context);
            self.check_with(Builtin::MatchShape, args);
        }
        Ok(())
    }

    fn check_with(&mut self, builtin: Builtin, args: Vec<Operand>) {
        let callee = self.builder.callee(Callee::Builtin(builtin));
        self.emit(Instr::Call {
            dst: None,
            callee,
            args,
        });
    }
}
