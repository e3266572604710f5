//! Parses TVMScript: Python text to a syntax tree (by `ruff_python_parser`), and that to a [`Module`].
//!
//! Errors are collected: a statement that is wrong is reported and left out, the names it would have defined are known as
//! failed, and the rest is read on. Nothing is run; any bytes give a module or errors, never a panic.

mod args;
mod call;
mod context;
mod expr;
mod external;
mod module;
mod nesting;
mod number;
mod relax;
mod scope;
mod tir;
mod written_out;

use super::error::{ScriptError, ScriptErrorKind, ScriptErrors};
use crate::ir::{Lambda, Module};
use crate::tensor::DType;
use context::Context;

/// Errors that are collected before the rest is not shown.
const ERROR_LIMIT: usize = 50;

/// Reads a module. A text with functions outside of a class is a module with these functions.
///
/// `name` is the name of the file that messages show.
///
/// # Errors
/// All that is wrong with the text.
pub fn parse(name: &str, text: &str) -> Result<Module, ScriptErrors> {
    parse_text(text).map_err(|mut errors| {
        errors.sort_by_key(|error| error.span);
        errors.truncate(ERROR_LIMIT);
        ScriptErrors {
            name: name.to_owned(),
            text: text.to_owned(),
            errors,
        }
    })
}

/// Reads a map of indices, `lambda i, j: (i // 4, j, i % 4)`, of `int64` parameters.
///
/// # Errors
/// All that is wrong with the text.
pub fn parse_lambda(text: &str) -> Result<Lambda, ScriptErrors> {
    let errors = |errors: Vec<ScriptError>| ScriptErrors {
        name: "map".to_owned(),
        text: text.to_owned(),
        errors,
    };
    nesting::check(text).map_err(|error| errors(vec![*error]))?;
    let parsed = ruff_python_parser::parse_expression(text)
        .map_err(|error| errors(vec![syntax_error(&error)]))?;
    let mut cx = Context::new(text);
    let lambda = cx.lambda(parsed.expr(), &|_| DType::I64);
    let reported = cx.finish(()).err().unwrap_or_default();
    lambda.map_err(|_| errors(reported))
}

fn parse_text(text: &str) -> Result<Module, Vec<ScriptError>> {
    nesting::check(text).map_err(|error| vec![*error])?;
    let parsed = ruff_python_parser::parse_unchecked(
        text,
        ruff_python_parser::ParseOptions::from(ruff_python_parser::Mode::Module),
    );
    if !parsed.has_valid_syntax() {
        // The parser recovers as it can; what it says after the first error is about its guess.
        return Err(parsed.errors().iter().take(1).map(syntax_error).collect());
    }
    let Some(parsed) = parsed.try_into_module() else {
        return Err(vec![ScriptError {
            span: (0..0).into(),
            kind: ScriptErrorKind::NoFunction,
        }]);
    };
    let mut cx = Context::new(text);
    let module = module::parse_module(&mut cx, parsed.suite());
    cx.finish(module)
}

/// An error of the Python parser, in this project's words: lower case, no final stop.
fn syntax_error(error: &ruff_python_parser::ParseError) -> ScriptError {
    let text = error.error.to_string();
    let mut chars = text.trim_end_matches('.').chars();
    let message = match chars.next() {
        Some(first) => first.to_lowercase().chain(chars).collect(),
        None => text,
    };
    ScriptError {
        span: context::span(error.location),
        kind: ScriptErrorKind::Syntax { message },
    }
}
