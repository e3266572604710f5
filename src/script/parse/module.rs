//! The outermost level: imports, `TypeVar` declarations, the module class, and dispatch of functions by their decorator.

use ruff_python_ast as ast;
use ruff_text_size::Ranged;

use super::context::{Context, Parse, dotted};
use super::{relax, tir};
use crate::ir::{Func, Module};
use crate::script::ScriptErrorKind;

/// What the text holds.
#[derive(Default)]
struct Found<'n> {
    module: Module,
    /// Names of the functions in the order of the text.
    order: Vec<String>,
    /// Graph functions, which are read last: they call the others.
    graph: Vec<(&'n ast::StmtFunctionDef, Option<&'n ast::ExprCall>)>,
}

/// Reads all statements of a text.
pub(super) fn parse_module(cx: &mut Context<'_>, body: &[ast::Stmt]) -> Module {
    let mut found = Found::default();
    let mut classes = body.iter().filter(|s| matches!(s, ast::Stmt::ClassDef(_)));
    if let Some(second) = classes.nth(1) {
        let instead = "write one module in a script";
        let _ = cx.unsupported(second, "a second module", instead);
        return found.module;
    }
    read_function_names(cx, body);
    for stmt in body {
        // The error is in the context; the other statements are still read.
        let _: Parse<()> = top_level(cx, stmt, &mut found);
    }
    let module = graph_functions(cx, found);
    if module.funcs.is_empty() && cx.functions.is_empty() && !body.iter().any(is_class) {
        let at = body.first().map_or(Default::default(), Ranged::range);
        let _ = cx.error(&at, ScriptErrorKind::NoFunction);
    }
    if cx.error_count() == 0 {
        relax::verify(cx, &module);
    }
    module
}

/// Reads the graph functions, which may call each other and all loop programs.
fn graph_functions(cx: &mut Context<'_>, found: Found<'_>) -> Module {
    let Found {
        mut module,
        order,
        graph,
    } = found;
    let functions: Vec<_> = graph.iter().map(|(func, _)| *func).collect();
    relax::declare(cx, &functions, &module);
    for (func, decorator) in graph {
        // The error is in the context; the other functions are still read.
        if let Ok(parsed) = relax::function(cx, func, decorator) {
            module
                .funcs
                .insert(func.name.to_string(), Func::Graph(parsed));
        }
    }
    let place = |name: &String| order.iter().position(|n| n == name);
    module.funcs.sort_by_key(|name, _| place(name));
    module
}

fn is_class(stmt: &ast::Stmt) -> bool {
    matches!(stmt, ast::Stmt::ClassDef(_))
}

fn read_function_names(cx: &mut Context<'_>, body: &[ast::Stmt]) {
    for stmt in body {
        match stmt {
            ast::Stmt::FunctionDef(func) => {
                cx.functions.insert(func.name.to_string());
                let ret = func.returns.as_deref().and_then(dotted);
                let ret = ret.as_deref().and_then(|path| path.strip_prefix("T."));
                if let Some(Ok(dtype)) = ret.map(str::parse) {
                    cx.results.insert(func.name.to_string(), dtype);
                }
            }
            ast::Stmt::ClassDef(class) => read_function_names(cx, &class.body),
            ast::Stmt::Assign(assign) if let Some((name, _)) = extern_func(assign) => {
                cx.functions.insert(name.id.to_string());
            }
            _ => {}
        }
    }
}

/// The name and the call of `name = R.ExternFunc(…)`.
fn extern_func(assign: &ast::StmtAssign) -> Option<(&ast::ExprName, &ast::ExprCall)> {
    let [ast::Expr::Name(name)] = assign.targets.as_slice() else {
        return None;
    };
    let call = assign.value.as_call_expr()?;
    (dotted(&call.func).as_deref() == Some(relax::EXTERN_FUNC)).then_some((name, call))
}

fn top_level<'n>(cx: &mut Context<'_>, stmt: &'n ast::Stmt, found: &mut Found<'n>) -> Parse<()> {
    match stmt {
        ast::Stmt::Import(_) | ast::Stmt::ImportFrom(_) | ast::Stmt::Pass(_) => Ok(()),
        ast::Stmt::FunctionDef(func) => function(cx, func, found),
        ast::Stmt::ClassDef(class) => module_class(cx, class, found),
        ast::Stmt::Assign(assign) => match (assign.targets.as_slice(), &*assign.value) {
            ([ast::Expr::Name(name)], ast::Expr::Call(call))
                if dotted(&call.func)
                    .is_some_and(|f| f == "TypeVar" || f.ends_with(".TypeVar")) =>
            {
                cx.type_vars.push(name.id.to_string());
                Ok(())
            }
            ([ast::Expr::Name(name)], value) if name.id == "metadata" => relax::metadata(cx, value),
            _ => Err(cx.unsupported(stmt, "an assignment outside of functions", "")),
        },
        ast::Stmt::Expr(e) if e.value.is_string_literal_expr() => Ok(()),
        _ => Err(cx.unsupported(
            stmt,
            "this statement",
            "outside of functions there are imports and `n = TypeVar(\"n\")`",
        )),
    }
}

fn module_class<'n>(
    cx: &mut Context<'_>,
    class: &'n ast::StmtClassDef,
    found: &mut Found<'n>,
) -> Parse<()> {
    let is_module = |d: &ast::Decorator| {
        matches!(
            dotted(&d.expression).as_deref(),
            Some("I.ir_module" | "tvm.script.ir_module" | "ir_module" | "ir.ir_module")
        )
    };
    if let Some(other) = class.decorator_list.iter().find(|d| !is_module(d)) {
        let name = cx.source(&other.expression).trim_matches('`').to_owned();
        return Err(cx.error(
            &other.expression,
            ScriptErrorKind::UnknownDecorator { name },
        ));
    }
    if class.decorator_list.is_empty() {
        let instead = "mark a module with `@I.ir_module`";
        return Err(cx.unsupported(&class.name, "a class without a decorator", instead));
    }
    cx.module_name = Some(class.name.to_string());
    for stmt in &class.body {
        // The error is in the context; the other members are still read.
        let _: Parse<()> = member(cx, stmt, found);
    }
    Ok(())
}

fn member<'n>(cx: &mut Context<'_>, stmt: &'n ast::Stmt, found: &mut Found<'n>) -> Parse<()> {
    match stmt {
        ast::Stmt::FunctionDef(func) => function(cx, func, found),
        ast::Stmt::Pass(_) => Ok(()),
        ast::Stmt::Assign(assign) if let Some((name, call)) = extern_func(assign) => {
            taken(cx, name, &name.id, found)?;
            relax::extern_func(cx, name, call, &mut found.module)
        }
        ast::Stmt::Expr(e) if e.value.is_string_literal_expr() => Ok(()),
        ast::Stmt::Expr(e) => match &*e.value {
            ast::Expr::Call(call) => module_call(cx, call, &mut found.module),
            other => Err(cx.expected(other, "a function or `I.module_attrs(...)`")),
        },
        _ => Err(cx.unsupported(
            stmt,
            "this statement",
            "a module has functions and `I.module_attrs(...)`",
        )),
    }
}

fn module_call(cx: &mut Context<'_>, call: &ast::ExprCall, module: &mut Module) -> Parse<()> {
    match dotted(&call.func).as_deref() {
        Some("I.module_attrs") => {
            let [attrs] = cx.bind_all(call, "I.module_attrs", ["attrs"])?;
            module.attrs.extend(cx.attrs(attrs)?);
            Ok(())
        }
        Some("I.module_global_infos") => relax::global_infos(cx, call, module),
        _ => Err(cx.expected(&*call.func, "`I.module_attrs` or `I.module_global_infos`")),
    }
}

/// A decorator of a function: which dialect, and its call if it has arguments.
fn dialect<'n>(
    cx: &mut Context<'_>,
    func: &'n ast::StmtFunctionDef,
) -> Parse<(String, Option<&'n ast::ExprCall>)> {
    let [decorator] = &func.decorator_list[..] else {
        let instead =
            "mark a loop program with `@T.prim_func` and a graph function with `@R.function`";
        return Err(match func.decorator_list.get(1) {
            Some(second) => cx.unsupported(second, "a second decorator", ""),
            None => cx.unsupported(&func.name, "a function without a decorator", instead),
        });
    };
    let (path, call) = match &decorator.expression {
        ast::Expr::Call(call) => (dotted(&call.func), Some(call)),
        other => (dotted(other), None),
    };
    let last = path.as_deref().and_then(|p| p.rsplit('.').next());
    match last {
        Some(name @ ("prim_func" | "function")) => Ok((name.to_owned(), call)),
        _ => {
            let name = cx
                .source(&decorator.expression)
                .trim_matches('`')
                .to_owned();
            Err(cx.error(
                &decorator.expression,
                ScriptErrorKind::UnknownDecorator { name },
            ))
        }
    }
}

/// Takes a name for a function, if no other one has it.
fn taken(cx: &mut Context<'_>, node: &impl Ranged, name: &str, found: &mut Found<'_>) -> Parse<()> {
    let name = name.to_owned();
    if found.order.contains(&name) {
        return Err(cx.error(node, ScriptErrorKind::Duplicate { name }));
    }
    found.order.push(name);
    Ok(())
}

fn function<'n>(
    cx: &mut Context<'_>,
    func: &'n ast::StmtFunctionDef,
    found: &mut Found<'n>,
) -> Parse<()> {
    let name = func.name.to_string();
    let (kind, decorator) = dialect(cx, func)?;
    taken(cx, &func.name, &name, found)?;
    if kind == "prim_func" {
        let parsed = Func::Prim(tir::prim_func(cx, func, decorator)?);
        found.module.funcs.insert(name, parsed);
    } else {
        found.graph.push((func, decorator));
    }
    Ok(())
}
