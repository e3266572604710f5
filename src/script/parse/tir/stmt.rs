//! Statements that are neither loops nor blocks.

use ruff_python_ast as ast;
use ruff_python_ast::statement_visitor::{StatementVisitor, walk_stmt};
use ruff_text_size::Ranged;

use super::FuncParser;
use super::scope::Header;
use crate::ir::{Buffer, Expr, Scope, Stmt, TileOp, Var};
use crate::script::ScriptErrorKind;
use crate::script::parse::context::{Context, Parse, dotted};
use crate::script::parse::scope::Binding;
use crate::tensor::DType;

/// Statements, `let`s included, that may nest.
const DEPTH_LIMIT: usize = 200;

/// What a statement gave.
enum Parsed {
    Stmts(Vec<Stmt>),
    /// The rest of the body is inside of these, the first outermost.
    Scopes(Vec<Header>),
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
            let parsed = self.stmt(stmt, &stmts[at + 1..]);
            match parsed {
                Ok(Parsed::Stmts(stmts)) => out.extend(stmts),
                Ok(Parsed::Scopes(headers)) if headers.is_empty() => {}
                Ok(Parsed::Scopes(headers)) => {
                    let more = headers.len() - 1;
                    let body = match self.deeper(stmt, more) {
                        Ok(()) => self.body(&stmts[at + 1..]),
                        Err(_) => vec![],
                    };
                    out.extend(self.close_all(headers, body));
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

    /// The body of a loop.
    pub(super) fn loop_body(&mut self, stmts: &[ast::Stmt]) -> Vec<Stmt> {
        self.frame().loops += 1;
        let body = self.nested_body(stmts);
        self.frame().loops -= 1;
        body
    }

    /// The statement, which belongs into a loop of the block around.
    fn in_loop(&mut self, node: &impl Ranged, stmt: Stmt) -> Parse<Stmt> {
        if self.frame().loops > 0 {
            return Ok(stmt);
        }
        let instead = "it belongs into a loop, in the same block as the loop";
        Err(self.cx.unsupported(node, "`break` or `continue`", instead))
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

    /// One statement, before the `rest` of its body.
    fn stmt(&mut self, stmt: &ast::Stmt, rest: &[ast::Stmt]) -> Parse<Parsed> {
        let stmts = match stmt {
            ast::Stmt::For(node) => self.for_loop(node)?,
            ast::Stmt::With(node) => self.with(node)?,
            ast::Stmt::If(node) => self.branch(node)?,
            ast::Stmt::While(node) => {
                if let Some(first) = node.orelse.first() {
                    return Err(self.cx.unsupported(first, "`else` of a loop", ""));
                }
                let cond = self.cx.truth(&node.test)?;
                let body = self.loop_body(&node.body);
                vec![Stmt::While { cond, body }]
            }
            ast::Stmt::Assert(node) => {
                let cond = self.cx.condition(&node.test)?;
                let message = match &node.msg {
                    Some(message) => self.message(message)?,
                    None => String::new(),
                };
                vec![Stmt::Assert { cond, message }]
            }
            ast::Stmt::Assign(node) => return self.assign(node),
            ast::Stmt::AnnAssign(node) => return self.annotated(node, rest),
            ast::Stmt::AugAssign(node) => vec![self.augmented(node)?],
            ast::Stmt::Expr(node) => return self.expr_stmt(node),
            ast::Stmt::Pass(_) => vec![],
            ast::Stmt::Return(node) => vec![self.return_(node)?],
            ast::Stmt::Break(_) => vec![self.in_loop(stmt, Stmt::Break)?],
            ast::Stmt::Continue(_) => vec![self.in_loop(stmt, Stmt::Continue)?],
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

    /// What an assertion says: a text, or an exception with the parts of one, `("ValueError", ["a", "b"])`.
    fn message(&mut self, node: &ast::Expr) -> Parse<String> {
        match node {
            ast::Expr::Tuple(exception)
                if let [ast::Expr::StringLiteral(_), parts] = &exception.elts[..] =>
            {
                let parts = Context::elements(parts).iter();
                parts.map(|part| self.cx.string(part)).collect()
            }
            _ => self.cx.string(node),
        }
    }

    fn branch(&mut self, node: &ast::StmtIf) -> Parse<Vec<Stmt>> {
        let cond = self.cx.truth(&node.test)?;
        let then = self.nested_body(&node.body);
        let mut arms = vec![(cond, then)];
        let mut otherwise = vec![];
        for clause in &node.elif_else_clauses {
            match &clause.test {
                Some(test) => {
                    // Each arm is nested in the one before; the statement that they belong to resets the depth.
                    self.deeper(test, 1)?;
                    let cond = self.cx.truth(test)?;
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
            self.cx.refuse_vendor(call, &path)?;
            if let Some(headers) = self.scope_headers(call, &path, Some(target))? {
                return Ok(Parsed::Scopes(headers));
            }
            if let ast::Expr::Name(name) = target {
                match path.as_str() {
                    "T.alloc_buffer"
                    | "T.sblock_alloc_buffer"
                    | "T.alloc_local"
                    | "T.alloc_shared" => {
                        self.alloc_buffer(name, call, &path)?;
                        return Ok(Parsed::Stmts(vec![]));
                    }
                    "T.env_thread" => {
                        self.env_thread(name, call)?;
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
            ast::Expr::Name(name) if let Some(buffer) = self.cell_of(name) => {
                let store = self.store_cell(buffer, &node.value)?;
                Ok(Parsed::Stmts(vec![store]))
            }
            ast::Expr::Name(name) => {
                let value = self.cx.expr(&node.value)?;
                Ok(Parsed::Scopes(vec![self.define_let(name, value)]))
            }
            _ => Err(self
                .cx
                .expected(target, "one name, or an element of a buffer")),
        }
    }

    /// `v: T.int32 = value`, or `v: T.let = value`. The first is a `let` too, as TVM printed one before 0.25, unless a later
    /// statement assigns `v` again.
    fn annotated(&mut self, node: &ast::StmtAnnAssign, rest: &[ast::Stmt]) -> Parse<Parsed> {
        let ast::Expr::Name(name) = &*node.target else {
            return Err(self.cx.expected(&*node.target, "a name"));
        };
        let Some(value_node) = &node.value else {
            self.cell(name, &node.annotation)?;
            return Ok(Parsed::Stmts(vec![]));
        };
        let annotation = match &*node.annotation {
            ast::Expr::Subscript(s) if dotted(&s.value).as_deref() == Some("T.let") => {
                Some(&*s.slice)
            }
            other if dotted(other).as_deref() == Some("T.let") => None,
            other => {
                if is_assigned(&name.id, rest) {
                    let cell = self.cell(name, other)?;
                    let store = self.store_cell(cell, value_node)?;
                    return Ok(Parsed::Stmts(vec![store]));
                }
                Some(other)
            }
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
        Ok(Parsed::Scopes(vec![self.define_let(name, value)]))
    }

    /// `v: T.int32`: a scalar that statements may assign, which is a buffer without dimensions.
    fn cell(&mut self, name: &ast::ExprName, dtype: &ast::Expr) -> Parse<Buffer> {
        let dtype = self.cx.dtype(dtype)?;
        let buffer = Buffer::with_scope(name.id.as_str(), vec![], dtype, Scope::Local);
        self.frame().alloc_buffers.push(buffer.clone());
        self.cx
            .scopes
            .define(name.id.as_str(), Binding::Buffer(buffer.clone()));
        Ok(buffer)
    }

    /// The scalar that a name stands for, if statements may assign it.
    fn cell_of(&self, name: &ast::ExprName) -> Option<Buffer> {
        match self.cx.scopes.get(&name.id)? {
            Binding::Buffer(buffer) if buffer.ndim() == 0 => Some(buffer.clone()),
            _ => None,
        }
    }

    fn store_cell(&mut self, cell: Buffer, value_node: &ast::Expr) -> Parse<Stmt> {
        let dtype = DType::of(cell.dtype().scalar);
        let value = self.cx.expr_as(value_node, dtype)?;
        Ok(Stmt::Store {
            value: self.stored(value_node, &cell, &[], value)?,
            buffer: cell,
            indices: vec![],
        })
    }

    pub(super) fn define_let(&mut self, name: &ast::ExprName, value: Expr) -> Header {
        let var = Var::new(name.id.as_str(), value.dtype());
        self.cx
            .scopes
            .define(name.id.as_str(), Binding::Var(var.clone()));
        Header::Let { var, value }
    }

    /// `A[i] += value`
    fn augmented(&mut self, node: &ast::StmtAugAssign) -> Parse<Stmt> {
        // The same as `A[i] = A[i] + value`.
        let sum = ast::Expr::BinOp(ast::ExprBinOp {
            node_index: ast::AtomicNodeIndex::NONE,
            range: node.range,
            left: node.target.clone(),
            op: node.op,
            right: node.value.clone(),
        });
        match &*node.target {
            ast::Expr::Subscript(target) => self.store(target, &sum),
            ast::Expr::Name(name) if let Some(cell) = self.cell_of(name) => {
                self.store_cell(cell, &sum)
            }
            target => Err(self.cx.expected(target, "an element of a buffer")),
        }
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

    fn expr_stmt(&mut self, node: &ast::StmtExpr) -> Parse<Parsed> {
        let ast::Expr::Call(call) = &*node.value else {
            return self.effect(node).map(Parsed::Stmts);
        };
        let path = dotted(&call.func).unwrap_or_default();
        self.cx.refuse_vendor(call, &path)?;
        match self.scope_headers(call, &path, None)? {
            Some(headers) => Ok(Parsed::Scopes(headers)),
            None => self.effect(node).map(Parsed::Stmts),
        }
    }

    /// An expression as a statement.
    fn effect(&mut self, node: &ast::StmtExpr) -> Parse<Vec<Stmt>> {
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
            _ if let Some((scope, name)) = path.strip_prefix("T.").and_then(TileOp::parse) => {
                let (args, attrs) = self.cx.plain_arguments(call)?;
                Ok(vec![Stmt::Tile(Box::new(TileOp {
                    scope,
                    name,
                    args,
                    attrs,
                }))])
            }
            "T.assume" => {
                let [condition] = self.cx.bind_all(call, &path, ["condition"])?;
                let assumption = Expr::assume(self.cx.condition(condition)?);
                Ok(vec![Stmt::Evaluate(assumption)])
            }
            "T.evaluate" => {
                let [value] = self.cx.bind_all(call, &path, ["value"])?;
                if let ast::Expr::Call(inner) = value
                    && let Some(stmt) = self.jump(inner)?
                {
                    return Ok(vec![stmt]);
                }
                Ok(vec![Stmt::Evaluate(self.cx.expr(value)?)])
            }
            _ if let Some(stmt) = self.jump(call)? => Ok(vec![stmt]),
            _ if self.cx.is_function(&path) => Ok(vec![Stmt::Evaluate(self.cx.call(call)?)]),
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

    /// `T.break_loop()`, `T.continue_loop()` and `T.ret(value)`.
    fn jump(&mut self, call: &ast::ExprCall) -> Parse<Option<Stmt>> {
        let path = dotted(&call.func).unwrap_or_default();
        Ok(Some(match path.as_str() {
            "T.break_loop" => {
                let [] = self.cx.bind(call, &path, [], 0)?;
                self.in_loop(call, Stmt::Break)?
            }
            "T.continue_loop" => {
                let [] = self.cx.bind(call, &path, [], 0)?;
                self.in_loop(call, Stmt::Continue)?
            }
            "T.ret" => {
                let [value] = self.cx.bind_all(call, &path, ["val"])?;
                self.result(value)?
            }
            _ => return Ok(None),
        }))
    }
}

/// Whether statements give a variable another value.
fn is_assigned(name: &str, stmts: &[ast::Stmt]) -> bool {
    struct Search<'n> {
        name: &'n str,
        found: bool,
    }
    impl<'a> StatementVisitor<'a> for Search<'_> {
        fn visit_stmt(&mut self, stmt: &'a ast::Stmt) {
            let targets = match stmt {
                ast::Stmt::Assign(node) => &node.targets[..],
                ast::Stmt::AugAssign(node) => std::slice::from_ref(&*node.target),
                _ => &[],
            };
            let mut names = targets.iter().filter_map(ast::Expr::as_name_expr);
            self.found |= names.any(|target| target.id == self.name);
            walk_stmt(self, stmt);
        }
    }
    let mut search = Search { name, found: false };
    search.visit_body(stmts);
    search.found
}
