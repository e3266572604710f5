//! Binds the arguments of a call to the parameters of a known function, as Python does.

use ruff_python_ast as ast;
use ruff_text_size::Ranged;

use super::context::{Context, Parse};
use crate::script::ScriptErrorKind;
use crate::script::error::counted;

impl Context<'_> {
    /// The argument of each parameter, or `None` where it was left out; the first `required` must be there.
    pub(super) fn bind<'n, const N: usize>(
        &mut self,
        call: &'n ast::ExprCall,
        function: &str,
        params: [&str; N],
        required: usize,
    ) -> Parse<[Option<&'n ast::Expr>; N]> {
        let mut bound = [None; N];
        let args = &call.arguments.args;
        if args.len() > N {
            let arguments = counted(N, "argument", "arguments");
            let expected = if required == N {
                arguments
            } else {
                format!("{required} to {arguments}")
            };
            let kind = ScriptErrorKind::Arity {
                function: function.to_owned(),
                expected,
                got: args.len(),
            };
            return Err(self.error(&args[N], kind));
        }
        for (slot, arg) in bound.iter_mut().zip(args) {
            if let ast::Expr::Starred(_) = arg {
                return Err(self.unsupported(arg, "`*` in arguments", ""));
            }
            *slot = Some(arg);
        }
        for keyword in &call.arguments.keywords {
            let Some(name) = &keyword.arg else {
                return Err(self.unsupported(keyword, "`**` in arguments", ""));
            };
            let (function, argument) = (function.to_owned(), name.to_string());
            let Some(at) = params.iter().position(|p| *p == argument) else {
                let kind = ScriptErrorKind::UnknownArgument { function, argument };
                return Err(self.error(name, kind));
            };
            if bound[at].is_some() {
                let kind = ScriptErrorKind::RepeatedArgument { function, argument };
                return Err(self.error(name, kind));
            }
            bound[at] = Some(&keyword.value);
        }
        match (0..required).find(|&at| bound[at].is_none()) {
            None => Ok(bound),
            Some(at) => {
                let kind = ScriptErrorKind::MissingArgument {
                    function: function.to_owned(),
                    argument: params[at].to_owned(),
                };
                Err(self.error(&call.range(), kind))
            }
        }
    }

    /// All arguments of a function whose parameters are all required.
    pub(super) fn bind_all<'n, const N: usize>(
        &mut self,
        call: &'n ast::ExprCall,
        function: &str,
        params: [&str; N],
    ) -> Parse<[&'n ast::Expr; N]> {
        let bound = self.bind(call, function, params, N)?;
        Ok(bound.map(|arg| arg.expect("all are required")))
    }

    /// The positional arguments of a function that takes any number of them and no keywords.
    pub(super) fn positional<'n>(
        &mut self,
        call: &'n ast::ExprCall,
        function: &str,
    ) -> Parse<&'n [ast::Expr]> {
        if let Some(keyword) = call.arguments.keywords.first() {
            let kind = ScriptErrorKind::UnknownArgument {
                function: function.to_owned(),
                argument: keyword.arg.as_ref().map_or("**", |a| a.as_str()).to_owned(),
            };
            return Err(self.error(keyword, kind));
        }
        let args = &call.arguments.args;
        if let Some(starred) = args.iter().find(|arg| arg.is_starred_expr()) {
            return Err(self.unsupported(starred, "`*` in arguments", ""));
        }
        Ok(args)
    }
}
