//! Passes of recorded cases that take patterns, checks and loop programs: all of them are JSON in a case.
//!
//! A pattern is `{"p": kind, …}`, with an `"id"` where `{"ref": id}` means the same pattern again. A check is a list of
//! `[kind, annotated name, …]`, all of which must hold.

use indexmap::IndexMap;
use serde_json::Value as Json;

use weftile::ir::graph::pattern::{
    DfPattern, is_call_tir, is_const, is_op, is_op_with_first, is_tuple, is_tuple_get_item,
    is_unordered_tuple, is_var, wildcard,
};
use weftile::ir::graph::{Arg, Def};
use weftile::ir::{AttrValue, Expr, Func, Lambda, PrimFunc};
use weftile::passes::{
    Candidate, Codegen, Constants, FuseByPattern, FusionPattern, LegalizeOps, OpImpl, Pass,
    alter_op_impl,
};
use weftile::{ops, script};

/// The pass with these options, if it is one that takes such objects.
pub(crate) fn pass(name: &str, options: &Json) -> Option<Result<Pass, String>> {
    match name {
        "FuseOpsByPattern" => Some(fuse_ops_by_pattern(options)),
        "AlterOpImpl" => Some(alter(options)),
        "LegalizeOps" if options.get("customize").is_some() => Some(legalize(options)),
        _ => None,
    }
}

fn fuse_ops_by_pattern(options: &Json) -> Result<Pass, String> {
    let is = |name: &str, default| options[name].as_bool().unwrap_or(default);
    let patterns = list(&options["patterns"]).iter().map(fusion_pattern);
    let fuse = FuseByPattern {
        constants: match is("bind_constants", true) {
            true => Constants::Inside,
            false => Constants::Passed,
        },
        codegen: match is("annotate_codegen", false) {
            true => Codegen::Annotate,
            false => Codegen::Later,
        },
        functions: list(&options["entry_functions"]).iter().map(text).collect(),
    };
    Ok(fuse.pass(patterns.collect::<Result<_, _>>()?))
}

fn fusion_pattern(json: &Json) -> Result<FusionPattern, String> {
    let mut known = IndexMap::new();
    let pattern = pattern(&json["pattern"], &mut known)?;
    let mut out = FusionPattern::new(text(&json["name"]), &pattern);
    for (name, id) in json["annotate"].as_object().into_iter().flatten() {
        out = out.annotate(name, &known[&text(id)]);
    }
    if let Some(conditions) = json["check"].as_array().cloned() {
        out = out.check(move |candidate| conditions.iter().all(|c| holds(c, candidate)));
    }
    if let AttrValue::Dict(attrs) = AttrValue::from(&json["attrs"]) {
        out = out.attrs(move |_| attrs.clone());
    }
    Ok(out)
}

fn pattern(json: &Json, known: &mut IndexMap<String, DfPattern>) -> Result<DfPattern, String> {
    if let Some(id) = json["ref"].as_str() {
        return Ok(known[id].clone());
    }
    let mut all = |field: &str| -> Result<Vec<DfPattern>, String> {
        let parts = match &json[field] {
            Json::Array(parts) => parts.as_slice(),
            part => std::slice::from_ref(part),
        };
        parts.iter().map(|part| pattern(part, known)).collect()
    };
    let kind = text(&json["p"]);
    let made = match kind.as_str() {
        "wildcard" => wildcard(),
        "const" => is_const(),
        "var" => is_var(&text(&json["name"])),
        "op" => {
            let name = text(&json["op"]);
            let name = name.strip_prefix("relax.").unwrap_or(&name);
            let op = ops::find(name).ok_or_else(|| format!("no operator {name}"))?;
            match json["varg"].as_bool() {
                Some(true) => is_op_with_first(op.op(), &all("args")?),
                _ => is_op(op.op(), &all("args")?),
            }
        }
        "call_tir" => is_call_tir(&text(&json["name"]), &all("args")?),
        "tuple" => match json["unordered"].as_bool() {
            Some(true) => is_unordered_tuple(&all("items")?),
            _ => is_tuple(&all("items")?),
        },
        "item" => {
            let index = json["index"].as_u64().map(|index| index as usize);
            is_tuple_get_item(&all("of")?[0], index)
        }
        "or" | "and" => match all("of")?.as_slice() {
            [left, right] if kind == "or" => left | right,
            [left, right] => left & right,
            _ => return Err(format!("{kind} is of two patterns")),
        },
        "not" => !&all("of")?[0],
        "dtype" => {
            let dtype = text(&json["dtype"]).parse();
            all("of")?[0].has_dtype(dtype.map_err(|_| "no element type")?)
        }
        "shape" => {
            let dims = list(&json["shape"]).iter().filter_map(Json::as_i64);
            all("of")?[0].has_shape(dims.map(Expr::i64).collect())
        }
        "attrs" => match AttrValue::from(&json["attrs"]) {
            AttrValue::Dict(attrs) => all("of")?[0].has_attr(attrs),
            _ => return Err("attributes are no map".to_owned()),
        },
        _ => return Err(format!("no pattern {kind}")),
    };
    if let Some(id) = json["id"].as_str() {
        known.insert(id.to_owned(), made.clone());
    }
    Ok(made)
}

fn holds(condition: &Json, candidate: &Candidate<'_>) -> bool {
    let arg = candidate.annotated(&text(&condition[1]));
    let number = condition[2].as_u64().map(|number| number as usize);
    match (text(&condition[0]).as_str(), arg) {
        ("there", arg) => arg.is_some(),
        ("const", Some(arg)) => matches!(arg, Arg::Const(_)),
        ("ndim", Some(arg)) => {
            let sinfo = candidate.sinfo(arg);
            sinfo.as_tensor().and_then(|info| info.shape.ndim()) == number
        }
        ("users", Some(Arg::Value(value))) => Some(candidate.users(*value).len()) == number,
        _ => false,
    }
}

fn alter(options: &Json) -> Result<Pass, String> {
    let mut impls = IndexMap::new();
    for (name, json) in options["impls"].as_object().into_iter().flatten() {
        let layouts = list(&json["layouts"]).iter().map(layout);
        let with = OpImpl {
            program: program(&json["program"])?,
            layouts: layouts.collect::<Result<_, _>>()?,
        };
        impls.insert(name.clone(), with);
    }
    Ok(Pass::new("alter_op_impl", 0, move |module, _| {
        alter_op_impl(module, &impls)
    }))
}

fn legalize(options: &Json) -> Result<Pass, String> {
    let mut legalize = LegalizeOps::default();
    for name in list(&options["skip_ops"]) {
        legalize = legalize.skip(&text(name)).map_err(|e| e.to_string())?;
    }
    for (name, json) in options["customize"].as_object().into_iter().flatten() {
        let program = program(&json["program"])?;
        let own = move |_: &ops::ComputeCall<'_>| Ok(program.clone().into());
        legalize = legalize.customize(name, own).map_err(|e| e.to_string())?;
    }
    Ok(legalize.pass())
}

/// The loop program of this text.
fn program(json: &Json) -> Result<PrimFunc, String> {
    let module = script::parse("program.py", &text(json)).map_err(|e| e.to_string())?;
    let mut programs = module.funcs.values().filter_map(|func| match func {
        Func::Prim(program) => Some(program.clone()),
        Func::Graph(_) => None,
    });
    programs.next().ok_or_else(|| "no loop program".to_owned())
}

/// The index map of the text of a lambda; `None` for null.
fn layout(json: &Json) -> Result<Option<Lambda>, String> {
    let Some(lambda) = json.as_str() else {
        return Ok(None);
    };
    let params = lambda.split(':').next().unwrap_or_default();
    let ndim = params.matches(',').count() + 1;
    let extents = vec!["64"; ndim].join(", ");
    let text = format!(
        "@R.function\ndef main(x: R.Tensor(({extents},), \"float32\")):\n    \
         y = R.layout_transform(x, index_map=T.index_map({lambda}))\n    return y\n"
    );
    let module = script::parse("layout.py", &text).map_err(|e| e.to_string())?;
    let main = module.function("main").ok_or("no function")?;
    let map = main.values.iter().find_map(|(_, value)| match &value.def {
        Def::Call { attrs, .. } => match attrs.get("index_map") {
            Some(AttrValue::IndexMap(map)) => Some(map.clone()),
            _ => None,
        },
        _ => None,
    });
    map.map(Some).ok_or_else(|| "no index map".to_owned())
}

fn list(json: &Json) -> &[Json] {
    json.as_array().map_or(&[], Vec::as_slice)
}

fn text(json: &Json) -> String {
    json.as_str().unwrap_or_default().to_owned()
}
