//! Statements that are neither loops nor blocks.

use ruff_python_ast as ast;
use ruff_text_size::Ranged;

use super::FuncParser;
use crate::ir::{Buffer, Expr, Stmt, Var};
use crate::script::ScriptErrorKind;
use crate::script::parse::context::{Parse, dotted};
use crate::script::parse::scope::Binding;
use crate::tensor::DType;

/// Statements, `let`s included, that may nest.
const DEPTH_LIMIT: usize = 200;

/// A variable and its value, with the rest of the body still to be read.
struct LetHeader {
    var: Var,
    value: Expr,
}

/// What a statement gave.
enum Parsed {
    Stmts(Vec<Stmt>),
    Let(LetHeader),
}

impl FuncParser<'_, '_> {
    /// A sequence of statements. Wrong ones are reported and left out.
    pub(super) fn body(&mut self, stmts: &[ast::Stmt]) -> Vec<Stmt> {
        let mut out = Vec::new();
        let around = self.depth;
        for (at, stmt) in stmts.iter().enumerate() {
            if self.deeper(stmt, 1).is_err() {
                self.depth = around;
                return out;
            }
            let parsed = self.stmt(stmt);
            match parsed {
                Ok(Parsed::Stmts(stmts)) => out.extend(stmts),
                Ok(Parsed::Let(LetHeader { var, value })) => {
                    let body = self.body(&stmts[at + 1..]);
                    out.push(Stmt::Let { var, value, body });
                    self.depth = around;
                    return out;
                }
                Err(_) => self.define_targets_failed(stmt),
            }
            self.depth = around;
        }
        out
    }

    /// Counts statements that nest around what is read next, until the caller resets the depth.
    pub(super) fn deeper(&mut self, node: &impl Ranged, levels: usize) -> Parse<()> {
        self.depth += levels;
        if self.depth <= DEPTH_LIMIT {
            return Ok(());
        }
        let limit = DEPTH_LIMIT;
        Err(self.cx.error(node, ScriptErrorKind::TooDeep { limit }))
    }

    /// The body of a loop or branch: names defined in it end with it.
    pub(super) fn nested_body(&mut self, stmts: &[ast::Stmt]) -> Vec<Stmt> {
        self.frame().nested += 1;
        self.cx.scopes.push();
        let body = self.body(stmts);
        self.cx.scopes.pop();
        self.frame().nested -= 1;
        body
    }

    fn define_targets_failed(&mut self, stmt: &ast::Stmt) {
        match stmt {
            ast::Stmt::Assign(assign) => {
                assign.targets.iter().for_each(|t| self.cx.define_failed(t))
            }
            ast::Stmt::AnnAssign(assign) => self.cx.define_failed(&assign.target),
            _ => {}
        }
    }

    fn stmt(&mut self, stmt: &ast::Stmt) -> Parse<Parsed> {
        let stmts = match stmt {
            ast::Stmt::For(node) => self.for_loop(node)?,
            ast::Stmt::With(node) => self.with(node)?,
            ast::Stmt::If(node) => self.branch(node)?,
            ast::Stmt::While(node) => {
                if let Some(first) = node.orelse.first() {
                    return Err(self.cx.unsupported(first, "`else` of a loop", ""));
                }
                let cond = self.cx.condition(&node.test)?;
                let body = self.nested_body(&node.body);
                vec![Stmt::While { cond, body }]
            }
            ast::Stmt::Assert(node) => {
                let cond = self.cx.condition(&node.test)?;
                let message = match &node.msg {
                    Some(message) => self.cx.string(message)?,
                    None => String::new(),
                };
                vec![Stmt::Assert { cond, message }]
            }
            ast::Stmt::Assign(node) => return self.assign(node),
            ast::Stmt::AnnAssign(node) => return self.annotated(node),
            ast::Stmt::AugAssign(node) => vec![self.augmented(node)?],
            ast::Stmt::Expr(node) => self.expr_stmt(node)?,
            ast::Stmt::Pass(_) => vec![],
            ast::Stmt::Return(_) => {
                let instead = "outputs of a loop program are its last parameters";
                return Err(self.cx.unsupported(stmt, "`return`", instead));
            }
            ast::Stmt::Break(_) | ast::Stmt::Continue(_) => {
                return Err(self.cx.unsupported(
                    stmt,
                    "`break` or `continue`",
                    "write the condition with `while` or `if`",
                ));
            }
            ast::Stmt::FunctionDef(node) => {
                return Err(self.cx.unsupported(
                    &node.name,
                    "a function inside of a loop program",
                    "",
                ));
            }
            _ => {
                return Err(self.cx.unsupported(
                    stmt,
                    "this statement",
                    "a loop program has loops, blocks, branches, stores and variables",
                ));
            }
        };
        Ok(Parsed::Stmts(stmts))
    }

    fn branch(&mut self, node: &ast::StmtIf) -> Parse<Vec<Stmt>> {
        let cond = self.cx.condition(&node.test)?;
        let then = self.nested_body(&node.body);
        let mut arms = vec![(cond, then)];
        let mut otherwise = vec![];
        for clause in &node.elif_else_clauses {
            match &clause.test {
                Some(test) => {
                    // Each arm is nested in the one before; the statement that they belong to resets the depth.
                    self.deeper(test, 1)?;
                    let cond = self.cx.condition(test)?;
                    let then = self.nested_body(&clause.body);
                    arms.push((cond, then));
                }
                None => otherwise = self.nested_body(&clause.body),
            }
        }
        Ok(arms
            .into_iter()
            .rev()
            .fold(otherwise, |otherwise, (cond, then)| {
                vec![Stmt::If {
                    cond,
                    then,
                    otherwise,
                }]
            }))
    }

    fn assign(&mut self, node: &ast::StmtAssign) -> Parse<Parsed> {
        let [target] = node.targets.as_slice() else {
            return Err(self
                .cx
                .unsupported(node, "an assignment with several targets", ""));
        };
        if self.cx.declare(node)? {
            return Ok(Parsed::Stmts(vec![]));
        }
        if let ast::Expr::Call(call) = &*node.value
            && let Some(path) = dotted(&call.func)
        {
            if path.starts_with("T.axis.") {
                self.axis(target, call, &path)?;
                return Ok(Parsed::Stmts(vec![]));
            }
            if let ast::Expr::Name(name) = target {
                match path.as_str() {
                    "T.alloc_buffer" | "T.sblock_alloc_buffer" => {
                        self.alloc_buffer(name, call)?;
                        return Ok(Parsed::Stmts(vec![]));
                    }
                    "T.match_buffer" => {
                        self.match_buffer(name, call)?;
                        return Ok(Parsed::Stmts(vec![]));
                    }
                    _ => {}
                }
            }
        }
        match target {
            ast::Expr::Subscript(target) => {
                let store = self.store(target, &node.value)?;
                Ok(Parsed::Stmts(vec![store]))
            }
            ast::Expr::Name(name) => {
                let value = self.cx.expr(&node.value)?;
                Ok(Parsed::Let(self.define_let(name, value)))
            }
            _ => Err(self
                .cx
                .expected(target, "one name, or an element of a buffer")),
        }
    }

    /// `v: T.int32 = value`, or `v: T.let = value`
    fn annotated(&mut self, node: &ast::StmtAnnAssign) -> Parse<Parsed> {
        let ast::Expr::Name(name) = &*node.target else {
            return Err(self.cx.expected(&*node.target, "a name"));
        };
        let Some(value_node) = &node.value else {
            return Err(self.cx.expected(node, "a value for the variable"));
        };
        let annotation = match &*node.annotation {
            ast::Expr::Subscript(s) if dotted(&s.value).as_deref() == Some("T.let") => {
                Some(&*s.slice)
            }
            other if dotted(other).as_deref() == Some("T.let") => None,
            other => Some(other),
        };
        let value = match annotation {
            None => self.cx.expr(value_node)?,
            Some(annotation) => {
                let dtype = self.cx.dtype(annotation)?;
                let value = self.cx.expr_as(value_node, dtype)?;
                if value.dtype() != dtype {
                    let expected = dtype.to_string();
                    let found = value.dtype();
                    return Err(self
                        .cx
                        .error(&**value_node, ScriptErrorKind::Type { expected, found }));
                }
                value
            }
        };
        Ok(Parsed::Let(self.define_let(name, value)))
    }

    fn define_let(&mut self, name: &ast::ExprName, value: Expr) -> LetHeader {
        let var = Var::new(name.id.as_str(), value.dtype());
        self.cx
            .scopes
            .define(name.id.as_str(), Binding::Var(var.clone()));
        LetHeader { var, value }
    }

    /// `A[i] += value`
    fn augmented(&mut self, node: &ast::StmtAugAssign) -> Parse<Stmt> {
        let ast::Expr::Subscript(target) = &*node.target else {
            return Err(self.cx.expected(&*node.target, "an element of a buffer"));
        };
        // The same as `A[i] = A[i] + value`.
        let sum = ast::Expr::BinOp(ast::ExprBinOp {
            node_index: ast::AtomicNodeIndex::NONE,
            range: node.range,
            left: node.target.clone(),
            op: node.op,
            right: node.value.clone(),
        });
        self.store(target, &sum)
    }

    fn store(&mut self, target: &ast::ExprSubscript, value_node: &ast::Expr) -> Parse<Stmt> {
        let place = self
            .cx
            .buffer(&target.value)
            .and_then(|buffer| Ok((self.cx.indices(&buffer, target)?, buffer)));
        let dtype = match &place {
            Ok((_, buffer)) => DType::of(buffer.dtype().scalar),
            Err(_) => DType::F32,
        };
        // The value is read also if the place is wrong, to report what is wrong in it.
        let value = self.cx.expr_as(value_node, dtype);
        let (indices, buffer) = place?;
        let value = self.stored(value_node, &buffer, &indices, value?)?;
        Ok(Stmt::Store {
            buffer,
            indices,
            value,
        })
    }

    /// The value as it is stored: converted to the type of the elements, unless that would drop a fraction.
    fn stored(
        &mut self,
        node: &impl Ranged,
        buffer: &Buffer,
        indices: &[Expr],
        value: Expr,
    ) -> Parse<Expr> {
        let wanted = Expr::load(buffer, indices.to_vec()).dtype();
        let found = value.dtype();
        if found == wanted {
            return Ok(value);
        }
        let lossy = found.is_float() && !wanted.is_float();
        if lossy || (found.lanes != wanted.lanes && found.lanes != 1) {
            let expected = wanted.to_string();
            return Err(self
                .cx
                .error(node, ScriptErrorKind::Type { expected, found }));
        }
        let value = value.cast(DType::of(wanted.scalar).with_lanes(found.lanes));
        Ok(if found.lanes == wanted.lanes {
            value
        } else {
            Expr::broadcast(value, wanted.lanes)
        })
    }

    fn expr_stmt(&mut self, node: &ast::StmtExpr) -> Parse<Vec<Stmt>> {
        let ast::Expr::Call(call) = &*node.value else {
            if node.value.is_string_literal_expr() {
                return Ok(vec![]);
            }
            return Err(self.cx.unsupported(
                node,
                "a value that nothing uses",
                "assign it to an element of a buffer",
            ));
        };
        let path = dotted(&call.func).unwrap_or_default();
        if self.block_statement(call, &path)? {
            return Ok(vec![]);
        }
        match path.as_str() {
            "T.func_attr" => {
                let [attrs] = self.cx.bind_all(call, "T.func_attr", ["attrs"])?;
                let attrs = self.cx.attrs(attrs)?;
                self.func.attrs.extend(attrs);
                Ok(vec![])
            }
            // What is assumed needs no check: it is a hint, kept as an expression.
            "T.evaluate" | "T.assume" => {
                let [value] = self.cx.bind_all(call, &path, ["value"])?;
                Ok(vec![Stmt::Evaluate(self.cx.expr(value)?)])
            }
            _ => {
                let known = [
                    "T.evaluate",
                    "T.where",
                    "T.reads",
                    "T.writes",
                    "T.block_attr",
                    "T.func_attr",
                    "T.assume",
                ];
                let similar = crate::script::parse::scope::most_similar(&path, known.into_iter());
                Err(self.cx.error(
                    &*call.func,
                    ScriptErrorKind::UnknownFunction {
                        name: path,
                        similar,
                    },
                ))
            }
        }
    }
}
