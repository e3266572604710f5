//! `# test: sched`: steps as lines `a, b = primitive(arguments)`.
//!
//! Arguments are Python literals, names of earlier results, `block("B")` for the block with this name, and `loop("B", 1)` for
//! the loop with this index around the block, outermost first. Functions beside `before` may be tensor intrinsics.

use std::collections::HashMap;

use libtest_mimic::Failed;
use ruff_python_ast as ast;
use weftile::ir::{Module, alpha_eq};
use weftile::sched::{Arg, Schedule, StepError, Steps, TensorIntrin, TensorIntrins, primitive};
use weftile::script;

use crate::case::{Case, Expected, tidy};

/// The steps give the function `after`, or are refused as they should be.
pub(crate) fn run(case: &Case) -> Result<(), Failed> {
    let module = script::parse(&case.name, &case.input).map_err(|e| e.to_string())?;
    let before = module
        .prim_func("before")
        .ok_or("the file has no function `before`")?;
    let mut schedule = Schedule::with_intrins(before.clone(), intrins(&module)?);
    if let Err(error) = apply(&mut schedule, &case.run)? {
        let message = match error {
            StepError::Refused(refusal) => refusal.render(schedule.func()),
            other => format!("error: {other}\n"),
        };
        return case.compare(&Expected::Error(tidy(&message)));
    }
    let mut after = schedule.into_func();
    weftile::ir::verify::prim_func(&after)
        .map_err(|errors| format!("the result is not well formed: {}", errors[0]))?;
    after.name = "after".to_owned();
    let printed = Expected::Text(script::print_prim_func(&after).text);
    let Expected::Text(expected) = &case.expected else {
        return case.mismatch(&printed);
    };
    let expected = script::parse(&case.name, expected).map_err(|e| e.to_string())?;
    let expected = expected
        .prim_func("after")
        .ok_or("no function `after` is expected")?;
    match alpha_eq::prim_func(expected, &after) {
        Ok(()) => Ok(()),
        Err(_) => case.mismatch(&printed),
    }
}

/// The tensor intrinsics of the file: functions `dot_description` and `dot_implementation` are `dot`.
fn intrins(module: &Module) -> Result<TensorIntrins, Failed> {
    let mut intrins = TensorIntrins::default();
    for (name, description) in module.prim_funcs() {
        let Some(name) = name.strip_suffix("_description") else {
            continue;
        };
        let implementation = module.prim_func(&format!("{name}_implementation"));
        let implementation = implementation.ok_or("a description has no implementation")?;
        let intrin = TensorIntrin::new(name, description.clone(), implementation.clone());
        intrins.register(intrin.map_err(|e| e.to_string())?);
    }
    Ok(intrins)
}

/// Applies the lines; the inner result is the first refusal.
fn apply(schedule: &mut Schedule, lines: &[String]) -> Result<Result<(), StepError>, Failed> {
    let mut names = HashMap::new();
    let mut steps = Steps::new(schedule);
    for (step, line) in lines.iter().enumerate() {
        let (targets, name, args) = read(line, &names)?;
        let count = match steps.apply(&name, &args) {
            Ok(results) => results.len(),
            Err(error) => return Ok(Err(error)),
        };
        if !targets.is_empty() && targets.len() != count {
            return Err(format!("`{line}`: {} names for {count} results", targets.len()).into());
        }
        for (index, target) in targets.into_iter().enumerate() {
            names.insert(target, Arg::Result { step, index });
        }
    }
    Ok(Ok(()))
}

type Line = (Vec<String>, String, Vec<Arg>);

fn read(line: &str, names: &HashMap<String, Arg>) -> Result<Line, Failed> {
    let wrong = |what: &str| Failed::from(format!("`# run: {line}`: {what}"));
    let parsed = ruff_python_parser::parse_module(line).map_err(|e| wrong(&e.to_string()))?;
    let (targets, value) = match parsed.suite().iter().as_slice() {
        [ast::Stmt::Assign(assign)] => match assign.targets.as_slice() {
            [ast::Expr::Tuple(tuple)] => (tuple.elts.to_vec(), &assign.value),
            [one] => (vec![one.clone()], &assign.value),
            _ => return Err(wrong("one assignment is expected")),
        },
        [ast::Stmt::Expr(e)] => (vec![], &e.value),
        _ => return Err(wrong("one step is expected")),
    };
    let targets = targets.iter().map(|t| match t {
        ast::Expr::Name(name) => Ok(name.id.to_string()),
        _ => Err(wrong("names are expected on the left")),
    });
    let ast::Expr::Call(call) = &**value else {
        return Err(wrong("a call is expected"));
    };
    let ast::Expr::Name(name) = &*call.func else {
        return Err(wrong("the name of a primitive is expected"));
    };
    let mut args = call
        .arguments
        .args
        .iter()
        .map(|a| arg(a, names))
        .collect::<Result<Vec<_>, _>>()?;
    for keyword in &call.arguments.keywords {
        let key = keyword.arg.as_ref().map_or("", |k| k.as_str());
        let params = primitive(&name.id).map_or(&[][..], |p| p.params);
        let at = params
            .iter()
            .position(|p| *p == key)
            .ok_or_else(|| wrong(&format!("no argument `{key}`")))?;
        if args.len() <= at {
            args.resize(at + 1, Arg::None);
        }
        args[at] = arg(&keyword.value, names)?;
    }
    Ok((
        targets.collect::<Result<_, _>>()?,
        name.id.to_string(),
        args,
    ))
}

fn arg(node: &ast::Expr, names: &HashMap<String, Arg>) -> Result<Arg, Failed> {
    let list = |elements: &[ast::Expr]| {
        let args = elements
            .iter()
            .map(|e| arg(e, names))
            .collect::<Result<_, _>>();
        args.map(Arg::List)
    };
    Ok(match node {
        ast::Expr::NoneLiteral(_) => Arg::None,
        ast::Expr::BooleanLiteral(b) => Arg::Bool(b.value),
        ast::Expr::StringLiteral(s) => Arg::Str(s.value.to_str().to_owned()),
        ast::Expr::NumberLiteral(n) => match &n.value {
            ast::Number::Int(int) => Arg::Int(int.as_i64().ok_or("an integer is too large")?),
            ast::Number::Float(v) => Arg::Float(*v),
            ast::Number::Complex { .. } => return Err("complex numbers are no arguments".into()),
        },
        ast::Expr::UnaryOp(op) if op.op == ast::UnaryOp::USub => match arg(&op.operand, names)? {
            Arg::Int(v) => Arg::Int(-v),
            Arg::Float(v) => Arg::Float(-v),
            other => return Err(format!("`-` of {other:?}").into()),
        },
        ast::Expr::List(l) => list(&l.elts)?,
        ast::Expr::Tuple(t) => list(&t.elts)?,
        ast::Expr::Name(name) => match names.get(name.id.as_str()) {
            Some(result) => result.clone(),
            None => return Err(format!("no earlier step gave `{}`", name.id).into()),
        },
        ast::Expr::Call(call) => match (&*call.func, &*call.arguments.args) {
            (ast::Expr::Name(f), [block]) if f.id == "block" => arg(block, names)?,
            (ast::Expr::Name(f), args @ [_, _]) if f.id == "loop" => list(args)?,
            _ => return Err("calls in arguments are `block(\"B\")` and `loop(\"B\", 0)`".into()),
        },
        _ => return Err("an argument is a literal, a name or a list".into()),
    })
}
