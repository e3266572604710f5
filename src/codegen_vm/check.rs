//! Checks of values against their `StructInfo`, and the dimensions they define.

use super::error::{GraphError, GraphProblem};
use super::func::Compiler;
use super::shapes::Dim;
use crate::artifact::{Builtin, Constant, ErrorContext, Operand, Slot, match_code};
use crate::ir::graph::dims::{Proof, is_base_of};
use crate::ir::graph::{Arg, Globals, Scope, ValueId};
use crate::ir::{Expr, Origin, ShapeInfo, StructInfo, Var};

/// A value whose dimensions are to be matched.
pub(super) struct Matching {
    value: Operand,
    dims: Vec<Expr>,
    context: Operand,
    /// A scalar, not a shape.
    prim: bool,
}

impl Compiler<'_, '_> {
    /// Emits checks of the result against what the function declares, where that says more than is known.
    pub(super) fn check_result(&mut self, result: Operand) -> Result<(), GraphError> {
        let function = self.function;
        let globals = Globals::default();
        let scope = Scope {
            globals: &globals,
            frames: vec![&function.values],
        };
        let result_arg = &function.body.result;
        if is_base_of(&function.ret, &scope.arg(result_arg)) == Proof::Yes {
            return Ok(());
        }
        let value = match result_arg {
            Arg::Value(id) => Some(*id),
            _ => None,
        };
        let name = value.map_or("result", |id| &function.values[id].name);
        self.asm.origin(&Origin::Unknown);
        let mut later = Vec::new();
        self.check(result, &function.ret, name, "result", &mut later);
        self.match_all(later, value)
    }

    /// Emits checks of kind, rank and element type; what is to be done about dimensions goes to `later`.
    pub(super) fn check(
        &mut self,
        operand: Operand,
        sinfo: &StructInfo,
        name: &str,
        location: &str,
        later: &mut Vec<Matching>,
    ) {
        let dims = match sinfo {
            StructInfo::Tensor(info) => known(&info.shape),
            StructInfo::Shape(shape) => known(shape),
            StructInfo::Prim { dtype: _, value } => value.clone().into_iter().collect(),
            StructInfo::Object | StructInfo::Tuple(_) | StructInfo::Callable { .. } => vec![],
        };
        let context = self.pool.constant(Constant::Context(ErrorContext {
            func: self.function.name.clone(),
            location: location.to_owned(),
            value: name.to_owned(),
            annotation: sinfo.to_string(),
            dims: dims.iter().map(|dim| format!("{dim:#}")).collect(),
        }));
        let ndim = |shape: &ShapeInfo| Operand::Imm(shape.ndim().map_or(-1, |n| n as i64));
        match sinfo {
            StructInfo::Object | StructInfo::Callable { .. } => return,
            StructInfo::Tensor(info) => {
                let dtype = match info.dtype {
                    Some(dtype) => self.pool.dtype(dtype),
                    None => Operand::Imm(-1),
                };
                let args = vec![operand, ndim(&info.shape), dtype, context];
                self.void(Builtin::CheckTensorInfo, args);
            }
            StructInfo::Shape(shape) => {
                self.void(Builtin::CheckShapeInfo, vec![operand, ndim(shape), context]);
            }
            StructInfo::Prim { dtype, value: _ } => {
                let dtype = self.pool.dtype(*dtype);
                self.void(Builtin::CheckPrimValueInfo, vec![operand, dtype, context]);
            }
            StructInfo::Tuple(items) => {
                let len = Operand::Imm(items.len() as i64);
                self.void(Builtin::CheckTupleInfo, vec![operand, len, context]);
                for (index, item) in items.iter().enumerate() {
                    let args = vec![operand, Operand::Imm(index as i64)];
                    let item_reg = self.builtin(Builtin::TupleGetItem, args);
                    let location = format!("{location}[{index}]");
                    self.check(Operand::Reg(item_reg), item, name, &location, later);
                }
                return;
            }
        }
        if !dims.is_empty() {
            later.push(Matching {
                value: operand,
                dims,
                context,
                prim: matches!(sinfo, StructInfo::Prim { .. }),
            });
        }
    }

    /// Emits the matching of all dimensions: single variables first, which they define; then a new shape function; then
    /// the dimensions that are computed from variables.
    pub(super) fn match_all(
        &mut self,
        matchings: Vec<Matching>,
        at: Option<ValueId>,
    ) -> Result<(), GraphError> {
        let mut computed = Vec::new();
        for matching in matchings {
            let mut rest = vec![];
            let mut args = vec![];
            for (index, dim) in matching.dims.iter().enumerate() {
                let rule = self.match_now(dim);
                if rule.is_none() {
                    rest.push(index);
                }
                args.extend(rule.unwrap_or([Operand::Imm(match_code::NO_OP), Operand::Imm(0)]));
            }
            self.match_one(&matching, args);
            if !rest.is_empty() {
                computed.push((matching, rest));
            }
        }
        self.shape_func = self.slots.open();
        self.asm.shape_func(self.shape_func);
        for (matching, rest) in computed {
            let mut args = vec![];
            for (index, dim) in matching.dims.iter().enumerate() {
                let mut rule = [Operand::Imm(match_code::NO_OP), Operand::Imm(0)];
                if rest.contains(&index) {
                    rule = match self.slots.dim(dim, self.shape_func) {
                        Ok(Dim::Imm(value)) => [
                            Operand::Imm(match_code::ASSERT_EQUAL_TO_IMM),
                            Operand::Imm(value),
                        ],
                        Ok(Dim::Slot(slot)) => load(slot),
                        Err(problem) => return Err(self.blame(at, problem)),
                    };
                }
                args.extend(rule);
            }
            self.match_one(&matching, args);
        }
        Ok(())
    }

    fn blame(&self, at: Option<ValueId>, problem: GraphProblem) -> GraphError {
        match at {
            Some(value) => self.error(value, problem),
            None => GraphError {
                func: self.function.name.clone(),
                binding: String::new(),
                problem,
                origin: Origin::Unknown,
            },
        }
    }

    /// What to do with a dimension that is a constant or a variable.
    fn match_now(&mut self, dim: &Expr) -> Option<[Operand; 2]> {
        if let Some(value) = dim.as_int() {
            return Some([
                Operand::Imm(match_code::ASSERT_EQUAL_TO_IMM),
                Operand::Imm(value),
            ]);
        }
        let var = dim.as_var()?;
        Some(match self.slots.known(var) {
            Some(slot) => load(slot),
            None => {
                let slot = self.slots.define(var);
                [Operand::Imm(match_code::STORE_TO_HEAP), slot.into()]
            }
        })
    }

    /// Gives a dimension the value of an operand, an integer.
    pub(super) fn store_dim(&mut self, operand: Operand, dim: &Var) {
        let slot = self.slots.define(dim);
        let context = self.pool.constant(Constant::Context(ErrorContext {
            func: self.unit.name.clone(),
            location: "closure".to_owned(),
            value: dim.name().to_owned(),
            annotation: "R.Prim(\"int64\")".to_owned(),
            dims: vec![dim.name().to_owned()],
        }));
        let args = vec![
            operand,
            Operand::Reg(self.heap),
            Operand::Imm(match_code::STORE_TO_HEAP),
            slot.into(),
            context,
        ];
        self.void(Builtin::MatchPrimValue, args);
    }

    fn match_one(&mut self, matching: &Matching, rules: Vec<Operand>) {
        let heap = Operand::Reg(self.heap);
        let mut args = vec![matching.value, heap];
        let builtin = if matching.prim {
            Builtin::MatchPrimValue
        } else {
            args.push(Operand::Imm(matching.dims.len() as i64));
            Builtin::MatchShape
        };
        args.extend(rules);
        args.push(matching.context);
        self.void(builtin, args);
    }

    fn void(&mut self, builtin: Builtin, args: Vec<Operand>) {
        let callee = self.pool.builtin(builtin);
        self.asm.call(None, callee, args);
    }
}

fn load(slot: Slot) -> [Operand; 2] {
    [Operand::Imm(match_code::ASSERT_EQUAL_TO_LOAD), slot.into()]
}

fn known(shape: &ShapeInfo) -> Vec<Expr> {
    match shape {
        ShapeInfo::Known(dims) => dims.clone(),
        ShapeInfo::Ndim(_) | ShapeInfo::Unknown => vec![],
    }
}
