//! Calls of operators.

use ruff_python_ast as ast;

use super::super::context::{Context, Parse, float_literal};
use super::super::scope::most_similar;
use super::Reader;
use super::call::{FORMS, TYPES};
use crate::ir::graph::{Arg, AttrKind, AttrSpec, Callee, Def, InferError, Op, OperandKind};
use crate::ir::{AttrValue, Attrs, Expr, StructInfo};
use crate::ops;
use crate::script::ScriptErrorKind;
use crate::script::error::counted;

/// Its shape may leave an extent open.
const RESHAPE: Op = ops::op("reshape");

/// What a call gives an operator.
#[derive(Default)]
struct Given<'n> {
    /// The operands; `None` is one that is left out.
    operands: Vec<Option<Arg>>,
    attrs: Vec<(&'static AttrSpec, &'n ast::Expr)>,
    sinfo_args: Vec<StructInfo>,
}

impl Reader<'_, '_> {
    /// The operator with this name.
    pub(super) fn operator(&mut self, call: &ast::ExprCall, name: &str) -> Parse<Op> {
        if let Some(def) = ops::find(name) {
            return Ok(def.op());
        }
        if TYPES.contains(&name) {
            return Err(self.cx.expected(call, "a value, not a type"));
        }
        let names = || ops::all().map(|def| def.schema.name);
        let last = |name: &'static str| name.rsplit('.').next().unwrap_or(name);
        let similar = most_similar(name, names().chain(FORMS).chain(TYPES)).or_else(|| {
            let similar = most_similar(name.rsplit('.').next()?, names().map(last))?;
            names()
                .find(|name| last(name) == similar)
                .map(str::to_owned)
        });
        let kind = ScriptErrorKind::UnknownFunction {
            name: format!("R.{name}"),
            similar: similar.map(|similar| format!("R.{similar}")),
        };
        Err(self.cx.error(&*call.func, kind))
    }

    /// A call of an operator: operands by position or by name, then attributes the same way.
    pub(super) fn operator_call(&mut self, call: &ast::ExprCall, op: Op) -> Parse<Def> {
        let op = extended(call, op);
        let mut given = Given::default();
        self.by_position(call, op, &mut given)?;
        self.by_name(call, op, &mut given)?;
        let args = self.all_operands(call, op, given.operands)?;
        let attrs = self.operator_attrs(call, op, &given.attrs)?;
        let mut call = Def::Call {
            callee: Callee::Op(op),
            args,
            attrs,
            sinfo_args: given.sinfo_args,
        };
        if op == RESHAPE {
            self.find_extents(&mut call);
        }
        Ok(call)
    }

    /// Writes the shape that a reshape means, where extents of -1 and 0 only point to it. An extent that is arithmetic is found by
    /// the operator, which checks that it is whole.
    fn find_extents(&mut self, reshape: &mut Def) {
        let points = |dim: &Expr| dim.as_int().is_some_and(|dim| dim <= 0);
        let is_plain = |dim: &Expr| dim.as_int().is_some() || dim.as_var().is_some();
        let inferred = self.builder.infer(reshape);
        if let Def::Call { args, .. } = reshape
            && let [_, Arg::Shape(written)] = args.as_mut_slice()
            && written.iter().any(points)
            && let Ok(StructInfo::Tensor(info)) = inferred
            && let Some(dims) = info.shape.dims()
            && dims.iter().all(is_plain)
        {
            *written = dims.to_vec();
        }
    }

    fn by_position<'n>(
        &mut self,
        call: &'n ast::ExprCall,
        op: Op,
        given: &mut Given<'n>,
    ) -> Parse<()> {
        let schema = op.schema();
        // What the text says of the operand that is not there: `None`.
        let absent = usize::from(schema.extended.is_some());
        let count = if schema.variadic {
            usize::MAX
        } else {
            schema.operands.len()
        };
        for (at, node) in call.arguments.args.iter().enumerate() {
            if at < count {
                let operand = self.operand_at(node, op, at)?;
                given.operands.push(operand);
            } else if at >= count + absent {
                let Some(spec) = schema.attrs.get(at - count - absent) else {
                    let most = count + absent + schema.attrs.len();
                    let kind = ScriptErrorKind::Arity {
                        function: op.to_string(),
                        expected: counted(most, "argument", "arguments"),
                        got: call.arguments.args.len(),
                    };
                    return Err(self.cx.error(node, kind));
                };
                given.attrs.push((spec, node));
            }
        }
        Ok(())
    }

    fn by_name<'n>(&mut self, call: &'n ast::ExprCall, op: Op, given: &mut Given<'n>) -> Parse<()> {
        let schema = op.schema();
        for keyword in &call.arguments.keywords {
            let Some(name) = keyword.arg.as_deref() else {
                return Err(self.cx.unsupported(keyword, "`**` in arguments", ""));
            };
            let (function, argument) = (op.to_string(), name.to_owned());
            if matches!(name, "sinfo_args" | "ty_args" | "out_sinfo" | "out_ty") {
                for node in Context::elements(&keyword.value) {
                    given.sinfo_args.push(self.cx.struct_info(node)?);
                }
            } else if let Some(at) = schema.operands.iter().position(|o| o.name == name) {
                let count = given.operands.len().max(at + 1);
                given.operands.resize(count, None);
                if given.operands[at].is_some() {
                    let kind = ScriptErrorKind::RepeatedArgument { function, argument };
                    return Err(self.cx.error(keyword, kind));
                }
                given.operands[at] = self.operand_at(&keyword.value, op, at)?;
            } else if let Some(spec) = schema.attrs.iter().find(|spec| spec.name == name) {
                given.attrs.push((spec, &keyword.value));
            } else if schema.extended.is_none_or(|(operand, _)| operand != name) {
                let kind = ScriptErrorKind::UnknownArgument { function, argument };
                return Err(self.cx.error(keyword, kind));
            }
        }
        Ok(())
    }

    /// The operands without gaps: what is left out in front of others is what the operator then takes.
    fn all_operands(
        &mut self,
        call: &ast::ExprCall,
        op: Op,
        mut operands: Vec<Option<Arg>>,
    ) -> Parse<Vec<Arg>> {
        let given = operands.iter().rposition(Option::is_some);
        operands.truncate(given.map_or(0, |last| last + 1));
        (op.schema().left_out)(&mut operands);
        if let Some(at) = operands.iter().position(Option::is_none) {
            let kind = ScriptErrorKind::MissingArgument {
                function: op.to_string(),
                argument: op.schema().operands[at].name.to_owned(),
            };
            return Err(self.cx.error(call, kind));
        }
        Ok(operands.into_iter().flatten().collect())
    }

    /// What is written for operand `at`; `None` leaves an optional one out.
    fn operand_at(&mut self, node: &ast::Expr, op: Op, at: usize) -> Parse<Option<Arg>> {
        let operand = op.schema().operands.get(at);
        if node.is_none_literal_expr() && operand.is_some_and(|operand| operand.optional) {
            return Ok(None);
        }
        self.operand_of(node, operand.map(|operand| operand.kind))
            .map(Some)
    }

    /// The attributes of an operator with defaults filled in.
    fn operator_attrs(
        &mut self,
        call: &ast::ExprCall,
        op: Op,
        given: &[(&AttrSpec, &ast::Expr)],
    ) -> Parse<Attrs> {
        let mut attrs = Attrs::new();
        for (spec, node) in given {
            let value = match spec.kind {
                AttrKind::VDevice => AttrValue::Str(self.cx.vdevice(node)?.to_string()),
                _ => self.attr(node)?,
            };
            if attrs.insert(spec.name.to_owned(), value).is_some() {
                let kind = ScriptErrorKind::RepeatedArgument {
                    function: op.to_string(),
                    argument: spec.name.to_owned(),
                };
                return Err(self.cx.error(*node, kind));
            }
        }
        op.complete(attrs).map_err(|error| {
            let culprit = match &error {
                InferError::AttributeValue { name, .. } => {
                    let mut given = given.iter();
                    given.find_map(|(spec, node)| (spec.name == *name).then_some(*node))
                }
                _ => None,
            };
            let kind = ScriptErrorKind::Operator(error);
            match culprit {
                Some(node) => self.cx.error(node, kind),
                None => self.cx.error(call, kind),
            }
        })
    }

    /// An operand of this kind. A number stands for a scalar, where a tensor or a scalar is wanted.
    fn operand_of(&mut self, node: &ast::Expr, kind: Option<OperandKind>) -> Parse<Arg> {
        match kind {
            Some(OperandKind::Shape) => self.operand(node, true),
            Some(OperandKind::Packed) => match node {
                ast::Expr::StringLiteral(name) => Ok(Arg::Extern(name.value.to_str().to_owned())),
                _ => self.operand(node, false),
            },
            Some(OperandKind::Tensors | OperandKind::Tuple) => self.arg(node, "lv"),
            Some(OperandKind::Scalar) if float_literal(node).is_some() => {
                Ok(Arg::Prim(self.number(node)?))
            }
            Some(OperandKind::Scalar | OperandKind::Tensor | OperandKind::Any) | None => {
                self.operand(node, false)
            }
        }
    }
}

/// The operator that a call means: another one if the operand is there that makes it another one.
fn extended(call: &ast::ExprCall, op: Op) -> Op {
    let schema = op.schema();
    let Some((operand, name)) = schema.extended else {
        return op;
    };
    let keyword = call.arguments.find_keyword(operand);
    let positional = call.arguments.args.get(schema.operands.len());
    match positional.or(keyword.map(|keyword| &keyword.value)) {
        Some(node) if !node.is_none_literal_expr() => ops::op(name),
        _ => op,
    }
}
