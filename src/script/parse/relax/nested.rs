//! Bodies inside a function: the two sides of an `if`, and functions defined in it.

use ruff_python_ast as ast;
use ruff_text_size::Ranged;

use super::{DEPTH_LIMIT, Reader, annotation_of, decorator_call, signature};
use crate::ir::graph::{Arg, Body, Def, ValueId};
use crate::script::ScriptErrorKind;
use crate::script::parse::context::{Parse, dotted};
use crate::script::parse::scope::Binding;

impl Reader<'_, '_> {
    /// `if cond:` with both branches ending in an assignment to the same name; gives the name and the value of the whole.
    pub(super) fn branch(&mut self, node: &ast::StmtIf) -> Parse<(String, ValueId)> {
        self.branches(node, &node.test, &node.body, &node.elif_else_clauses)
    }

    fn branches(
        &mut self,
        node: &impl Ranged,
        test: &ast::Expr,
        body: &[ast::Stmt],
        rest: &[ast::ElifElseClause],
    ) -> Parse<(String, ValueId)> {
        self.check_depth(test)?;
        let cond = self.arg(test, "cond")?;
        let Some((clause, rest)) = rest.split_first() else {
            return Err(self.cx.expected(node, "a branch for `else:`"));
        };
        let (name, then) = self.side(body, "then")?;
        let (other, otherwise) = match &clause.test {
            None => self.side(&clause.body, "else")?,
            Some(test) => self.nested(|reader| {
                let (name, id) = reader.branches(clause, test, &clause.body, rest)?;
                Ok((name, Arg::Value(id)))
            })?,
        };
        if name != other {
            let instead = "both branches end in an assignment to the same name";
            let what = "branches that end in different names";
            return Err(self.cx.unsupported(clause, what, instead));
        }
        let def = Def::If {
            cond,
            then,
            otherwise,
        };
        // What is declared of the last assignment holds for the whole.
        let annotation = body.last().and_then(annotation_of);
        let id = self.bind(&name, def, annotation, node)?;
        Ok((name, id))
    }

    fn check_depth(&mut self, node: &impl Ranged) -> Parse<()> {
        let limit = DEPTH_LIMIT;
        if self.depth < limit {
            Ok(())
        } else {
            Err(self.cx.error(node, ScriptErrorKind::TooDeep { limit }))
        }
    }

    /// Reads what ends in a name and an argument, as a body of its own.
    fn nested(
        &mut self,
        read: impl FnOnce(&mut Self) -> Parse<(String, Arg)>,
    ) -> Parse<(String, Body)> {
        self.builder.begin_branch();
        self.cx.scopes.push();
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        self.cx.scopes.pop();
        let (name, arg, reported) = match result {
            Ok((name, arg)) => (name, arg, None),
            Err(reported) => (String::new(), Arg::Tuple(vec![]), Some(reported)),
        };
        let body = self.builder.end_branch(arg);
        match reported {
            None => Ok((name, body)),
            Some(reported) => Err(reported),
        }
    }

    /// One branch. The value of its last assignment is its result, under a name of its own.
    fn side(&mut self, stmts: &[ast::Stmt], suffix: &str) -> Parse<(String, Body)> {
        let (last, before) = stmts
            .split_last()
            .expect("the parser gives at least one statement");
        self.nested(|reader| {
            for stmt in before {
                reader.stmt(stmt)?;
            }
            reader.at_line(last, |reader| reader.end_of_side(last, suffix))
        })
    }

    /// The assignment that a branch ends in: its name, and what it gives.
    fn end_of_side(&mut self, last: &ast::Stmt, suffix: &str) -> Parse<(String, Arg)> {
        let (target, value, annotation) = match last {
            ast::Stmt::Assign(assign) => match assign.targets.as_slice() {
                [target] => (target, &assign.value, None),
                _ => return Err(self.cx.expected(assign, "an assignment to one name")),
            },
            ast::Stmt::AnnAssign(assign) => match &assign.value {
                Some(value) => (&*assign.target, value, Some(&*assign.annotation)),
                None => return Err(self.cx.expected(assign, "a value after `=`")),
            },
            ast::Stmt::If(node) => {
                let (name, id) = self.branch(node)?;
                return Ok((name, Arg::Value(id)));
            }
            other => {
                return Err(self
                    .cx
                    .expected(other, "an assignment as the end of a branch"));
            }
        };
        let ast::Expr::Name(name) = target else {
            return Err(self.cx.expected(target, "a name"));
        };
        let result = match self.def(value)? {
            Def::Arg(arg) => arg,
            def => {
                let own = format!("{}_{suffix}", name.id);
                Arg::Value(self.bind(&own, def, annotation, &**value)?)
            }
        };
        Ok((name.id.to_string(), result))
    }

    /// `@R.function` inside a function: a closure, which may call itself.
    pub(super) fn nested_function(&mut self, func: &ast::StmtFunctionDef) -> Parse<()> {
        let is_function = |d: &ast::Decorator| {
            let call = d.expression.as_call_expr();
            let path = dotted(call.map_or(&d.expression, |call| &*call.func));
            matches!(path.as_deref(), Some("R.function" | "relax.function"))
        };
        if func.decorator_list.len() != 1 || !func.decorator_list.iter().all(is_function) {
            let instead = "mark it with `@R.function`";
            return Err(self
                .cx
                .unsupported(&func.name, "a function in a graph function", instead));
        }
        self.check_depth(&func.name)?;
        let errors = self.cx.error_count();
        self.cx.scopes.push();
        let signature = signature(self.cx, func);
        self.cx.scopes.pop();
        self.cx.forget_errors(errors);
        let id = self.builder.next_id();
        self.define(&func.name, id);
        let mut builder = self.builder.nested(func.name.as_str());
        if let Ok(signature) = signature {
            builder.announce(func.name.as_str(), signature);
        }
        let inner = Reader {
            builder,
            level: self.level + 1,
            path: format!("{}.{}", self.path, func.name),
            depth: self.depth + 1,
            cx: self.cx,
        }
        .function(func, decorator_call(func));
        match inner {
            Ok(inner) => {
                let def = Def::Function(Box::new(inner));
                self.bind(&func.name, def, None, &func.name).map(|_| ())
            }
            Err(reported) => {
                self.cx.scopes.define(func.name.as_str(), Binding::Failed);
                Err(reported)
            }
        }
    }
}
