//! Calls in destination-passing style: `R.call_tir`, `R.call_tir_inplace`, `R.call_dps_packed`.

use ruff_python_ast as ast;

use super::super::context::{Context, Parse};
use super::super::expr::widened;
use super::super::scope::Binding;
use super::Reader;
use crate::ir::StructInfo;
use crate::ir::graph::{Arg, Def, DpsCallee, ValueId};
use crate::script::ScriptErrorKind;

/// Which of the calls it is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Tir,
    TirInplace,
    Packed,
}

impl Form {
    fn name(self) -> &'static str {
        match self {
            Self::Tir => "R.call_tir",
            Self::TirInplace => "R.call_tir_inplace",
            Self::Packed => "R.call_dps_packed",
        }
    }
}

/// Arguments of a call.
struct DpsArgs<'n> {
    callee: &'n ast::Expr,
    inputs: &'n ast::Expr,
    tir_vars: Option<&'n ast::Expr>,
    inplace: Option<&'n ast::Expr>,
}

impl Reader<'_, '_> {
    pub(super) fn call_dps(&mut self, call: &ast::ExprCall, form: Form) -> Parse<Def> {
        let (args, out) = self.with_output(call, form)?;
        let callee = self.dps_callee(args.callee, form)?;
        if let DpsCallee::Packed(_) = callee
            && let Some(node) = args.tir_vars.or(args.inplace)
        {
            let what = "`tir_vars` or `inplace_indices` of a packed function";
            return Err(self.cx.unsupported(node, what, ""));
        }
        let mut inputs = self.inputs(args.inputs)?;
        if let DpsCallee::Prim(name) = &callee {
            self.take_types(name, &mut inputs);
        }
        let inplace = args.inplace.map(|node| self.inplace_indices(node));
        let tir_vars = args.tir_vars.map(|node| self.extents(node));
        Ok(Def::CallDps {
            callee,
            inplace: inplace.transpose()?,
            tir_vars: tir_vars.transpose()?.unwrap_or_default(),
            args: inputs,
            out,
        })
    }

    /// Gives arithmetic on numbers the types of the parameters: TVM prints `T.Add(3, 1)` of `int32` and of `int64` alike.
    fn take_types(&self, callee: &str, inputs: &mut [Arg]) {
        let signature = self.cx.graph.globals.signature(callee);
        let Ok(StructInfo::Callable {
            params: Some(params),
            ret: _,
            pure: _,
        }) = signature
        else {
            return;
        };
        for (input, param) in inputs.iter_mut().zip(&params) {
            if let (Arg::Prim(scalar), StructInfo::Prim { dtype, value: _ }) = (&*input, param) {
                *input = Arg::Prim(widened(scalar, *dtype));
            }
        }
    }

    fn inplace_indices(&mut self, node: &ast::Expr) -> Parse<Vec<Option<usize>>> {
        let indices = Context::elements(node).iter().map(|node| {
            let index = self.cx.integer(node)?;
            match usize::try_from(index) {
                Ok(index) => Ok(Some(index)),
                Err(_) if index == -1 => Ok(None),
                Err(_) => Err(self.cx.expected(node, "the index of an input, or -1")),
            }
        });
        indices.collect()
    }

    /// The arguments of a call that declares its output, in any of the spellings: `R.Tensor(...)` as a positional argument,
    /// `out_sinfo=`, `out_ty=`, or a shape with `dtype=`.
    fn with_output<'n>(
        &mut self,
        call: &'n ast::ExprCall,
        form: Form,
    ) -> Parse<(DpsArgs<'n>, StructInfo)> {
        let function = form.name();
        let with_vars = form != Form::Packed;
        let with_inplace = form == Form::TirInplace;
        let mut positional = call.arguments.args.iter();
        let mut take = || positional.next();
        let (mut callee, mut inputs) = (take(), take());
        let mut inplace = if with_inplace { take() } else { None };
        let mut out = take();
        let mut vars = if with_vars { take() } else { None };
        if let Some(extra) = take() {
            return Err(self.cx.unsupported(extra, "one more argument", ""));
        }
        let mut dtype = None;
        for keyword in &call.arguments.keywords {
            let name = keyword.arg.as_ref().map_or("**", |arg| arg.as_str());
            let slot = match name {
                "gvar" | "func" => &mut callee,
                "args" => &mut inputs,
                "out_sinfo" | "out_ty" | "shape" | "output_shape" => &mut out,
                "dtype" => &mut dtype,
                "tir_vars" if with_vars => &mut vars,
                "inplace_indices" if with_inplace => &mut inplace,
                _ => {
                    let (function, argument) = (function.to_owned(), name.to_owned());
                    let kind = ScriptErrorKind::UnknownArgument { function, argument };
                    return Err(self.cx.error(keyword, kind));
                }
            };
            if slot.is_some() {
                let (function, argument) = (function.to_owned(), name.to_owned());
                let kind = ScriptErrorKind::RepeatedArgument { function, argument };
                return Err(self.cx.error(keyword, kind));
            }
            *slot = Some(&keyword.value);
        }
        let mut required = |node: Option<&'n ast::Expr>, argument: &str| {
            node.ok_or_else(|| {
                let (function, argument) = (function.to_owned(), argument.to_owned());
                let kind = ScriptErrorKind::MissingArgument { function, argument };
                self.cx.error(call, kind)
            })
        };
        let callee = required(callee, "func")?;
        let inputs = required(inputs, "args")?;
        let out = required(out, "out_sinfo")?;
        if with_inplace {
            required(inplace, "inplace_indices")?;
        }
        let out = self.output(out, dtype)?;
        let args = DpsArgs {
            callee,
            inputs,
            tir_vars: vars.filter(|node| !node.is_none_literal_expr()),
            inplace,
        };
        Ok((args, out))
    }

    /// A declared output.
    fn output(&mut self, node: &ast::Expr, dtype: Option<&ast::Expr>) -> Parse<StructInfo> {
        if Context::is_struct_info(node) {
            return self.cx.struct_info(node);
        }
        if let ast::Expr::List(_) | ast::Expr::Tuple(_) = node {
            let items = Context::elements(node);
            if !items.is_empty() && items.iter().all(Context::is_struct_info) {
                let items = items.iter().map(|item| self.cx.struct_info(item));
                let mut items = items.collect::<Parse<Vec<_>>>()?;
                // A list of one output is that output, as in TVM.
                return Ok(match items.len() {
                    1 => items.remove(0),
                    _ => StructInfo::Tuple(items),
                });
            }
        }
        let Some(dtype) = dtype else {
            return Err(self
                .cx
                .expected(node, "`R.Tensor(...)`, or a shape with `dtype=`"));
        };
        let dims = self.extents(node)?;
        Ok(StructInfo::tensor(dims, self.cx.dtype(dtype)?))
    }

    /// What a call in destination-passing style calls: a function of the module, or by a text what the environment calls so.
    fn dps_callee(&mut self, node: &ast::Expr, form: Form) -> Parse<DpsCallee> {
        let of_module = match form {
            Form::Tir | Form::TirInplace => DpsCallee::Prim,
            Form::Packed => DpsCallee::Packed,
        };
        if let Some(name) = self.global(node) {
            return Ok(match self.cx.graph.externs.get(&name) {
                Some(symbol) if form == Form::Packed => DpsCallee::Packed(symbol.clone()),
                _ => of_module(name),
            });
        }
        match node {
            ast::Expr::StringLiteral(s) => {
                let name = s.value.to_str().to_owned();
                Ok(if self.cx.functions.contains(&name) {
                    of_module(name)
                } else {
                    DpsCallee::Packed(name)
                })
            }
            ast::Expr::Name(name) => match self.cx.lookup(name, &name.id) {
                Ok(Binding::Value { level, id })
                    if level == self.level
                        && let Some(symbol) = self.extern_symbol(id) =>
                {
                    Ok(DpsCallee::Packed(symbol))
                }
                Ok(_) => Err(self
                    .cx
                    .expected(node, "a function of the module, or a text")),
                Err(reported) => Err(reported),
            },
            _ => Err(self
                .cx
                .expected(node, "a function of the module, or a text")),
        }
    }

    /// What the environment calls the function that a value is, if it is one of the environment.
    fn extern_symbol(&self, id: ValueId) -> Option<String> {
        match &self.builder.values().get(id)?.def {
            Def::Arg(Arg::Extern(symbol)) => Some(symbol.clone()),
            _ => None,
        }
    }

    /// Inputs of a call: a tuple of them, or one that is no tuple.
    fn inputs(&mut self, node: &ast::Expr) -> Parse<Vec<Arg>> {
        let whole = match node {
            ast::Expr::Tuple(tuple) => return self.input_list(&tuple.elts),
            ast::Expr::List(list) => return self.input_list(&list.elts),
            other => self.arg(other, "lv")?,
        };
        let StructInfo::Tuple(items) = self.builder.scope().arg(&whole) else {
            return Ok(vec![whole]);
        };
        if let Arg::Tuple(items) = whole {
            return Ok(items);
        }
        let items = (0..items.len()).map(|index| {
            let item = Def::TupleItem(whole.clone(), index);
            Ok(Arg::Value(self.bind("lv", item, None, node)?))
        });
        items.collect()
    }
}
