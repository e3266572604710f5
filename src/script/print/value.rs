//! Prints attribute values and strings.

use super::expr;
use super::namer::Namer;
pub(super) use crate::ir::text::string;
use crate::ir::{AttrValue, Attrs, BufferRegion, Lambda};
use crate::tensor::ScalarType;

/// An attribute value as a Python literal.
pub(super) fn value(namer: &mut Namer, v: &AttrValue) -> String {
    match v {
        AttrValue::None => "None".to_owned(),
        AttrValue::Bool(true) => "True".to_owned(),
        AttrValue::Bool(false) => "False".to_owned(),
        AttrValue::Int(v) => v.to_string(),
        AttrValue::Float(v) => attr_float(*v),
        AttrValue::Str(text) => string(text),
        AttrValue::DType(dtype) => string(&dtype.to_string()),
        AttrValue::Expr(e) => expr::expr(namer, e),
        AttrValue::Buffer(buffer) => namer.buffer(buffer),
        AttrValue::Region(r) => region(namer, r),
        AttrValue::Function(f) => lambda(namer, f),
        AttrValue::IndexMap(map) => format!("T.index_map({})", lambda(namer, map)),
        AttrValue::Reducer(reducer) => {
            let identity = expr::list(namer, &reducer.identity);
            let combine = lambda(namer, &reducer.combine);
            format!("T.comm_reducer({combine}, [{identity}])")
        }
        AttrValue::List(values) => {
            let values: Vec<String> = values.iter().map(|v| value(namer, v)).collect();
            format!("[{}]", values.join(", "))
        }
        AttrValue::Dict(attrs) => dict(namer, attrs),
    }
}

/// A Python function: one result alone, several as a tuple.
fn lambda(namer: &mut Namer, f: &Lambda) -> String {
    namer.push();
    let params: Vec<String> = f.params.iter().map(|p| namer.define_var(p)).collect();
    let params = if params.is_empty() {
        String::new()
    } else {
        format!(" {}", params.join(", "))
    };
    let body = match &f.results[..] {
        [one] => expr::expr(namer, one),
        many => format!("({})", expr::list(namer, many)),
    };
    namer.pop();
    format!("lambda{params}: {body}")
}

/// `A[i, j:j + 4]`
pub(super) fn region(namer: &mut Namer, region: &BufferRegion) -> String {
    let name = namer.buffer(&region.buffer);
    if region.region.is_empty() {
        return format!("{name}[()]");
    }
    let ranges = region.region.iter().map(|r| expr::range(namer, r));
    format!("{name}[{}]", ranges.collect::<Vec<_>>().join(", "))
}

/// Positional and keyword arguments of a call.
pub(super) fn arguments<'v>(
    namer: &mut Namer,
    args: impl IntoIterator<Item = &'v AttrValue>,
    attrs: &Attrs,
) -> String {
    let mut all: Vec<String> = args.into_iter().map(|arg| value(namer, arg)).collect();
    for (name, attr) in attrs {
        all.push(format!("{name}={}", value(namer, attr)));
    }
    all.join(", ")
}

/// Attributes as a dictionary.
pub(super) fn dict(namer: &mut Namer, attrs: &Attrs) -> String {
    let items: Vec<String> = attrs
        .iter()
        .map(|(key, v)| format!("{}: {}", string(key), value(namer, v)))
        .collect();
    format!("{{{}}}", items.join(", "))
}

/// A float that stays one: a whole number keeps its fraction.
fn attr_float(v: f64) -> String {
    if v.is_finite() {
        format!("{v:?}")
    } else {
        expr::float(v, ScalarType::F64.into())
    }
}
