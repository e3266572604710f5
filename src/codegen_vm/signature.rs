//! The signature of a graph function.

use indexmap::IndexSet;

use super::shape_func::host;
use crate::artifact::{Port, PortKind, Signature};
use crate::ir::graph::{Function, INPUT_NAMES, OUTPUT_NAMES};
use crate::ir::{AttrValue, Expr, StructInfo, Var};
use crate::kernel::HostExpr;

/// What a function takes and gives, in the names of its author if it has them ([`INPUT_NAMES`], [`OUTPUT_NAMES`]). Results that
/// have no name are called by that of the function: `main`, or `main.0`, `main.1` …
pub fn signature(function: &Function) -> Signature {
    let mut symbols = IndexSet::new();
    let mut kind = |sinfo: &StructInfo| port_kind(sinfo, &mut symbols);
    let inputs: Vec<(String, PortKind)> = function
        .params
        .iter()
        .map(|&param| &function.values[param])
        .map(|param| (param.name.clone(), kind(&param.sinfo)))
        .collect();
    let outputs: Vec<(String, PortKind)> = match &function.ret {
        StructInfo::Tuple(items) => items
            .iter()
            .enumerate()
            .map(|(at, item)| (format!("{}.{at}", function.name), kind(item)))
            .collect(),
        single => vec![(function.name.clone(), kind(single))],
    };
    Signature {
        symbols: symbols.iter().map(|var| var.name().to_owned()).collect(),
        inputs: named(inputs, function.attrs.get(INPUT_NAMES)),
        outputs: named(outputs, function.attrs.get(OUTPUT_NAMES)),
    }
}

/// The ports under the names that an attribute lists, as far as it does.
fn named(ports: Vec<(String, PortKind)>, names: Option<&AttrValue>) -> Vec<Port> {
    let names = match names {
        Some(AttrValue::List(names)) => names.as_slice(),
        _ => &[],
    };
    let ports = ports.into_iter().enumerate().map(|(at, (own, kind))| {
        let name = names.get(at).and_then(AttrValue::as_str);
        let name = name.map_or(own, str::to_owned);
        Port { name, kind }
    });
    ports.collect()
}

fn port_kind(sinfo: &StructInfo, symbols: &mut IndexSet<Var>) -> PortKind {
    match sinfo {
        StructInfo::Tensor(tensor) => {
            let dims = tensor.shape.dims();
            let dims = dims.map(|dims| dims.iter().map(|dim| extent(dim, symbols)).collect());
            PortKind::Tensor {
                dtype: tensor.dtype,
                shape: dims.flatten(),
            }
        }
        StructInfo::Tuple(_) => PortKind::Other("tuple".to_owned()),
        StructInfo::Shape(_) => PortKind::Other("shape".to_owned()),
        StructInfo::Prim { .. } => PortKind::Other("scalar".to_owned()),
        StructInfo::Callable { .. } => PortKind::Other("function".to_owned()),
        StructInfo::Object => PortKind::Other("object".to_owned()),
    }
}

/// An extent, if the host can compute it of symbols.
fn extent(dim: &Expr, symbols: &mut IndexSet<Var>) -> Option<HostExpr> {
    let mut symbol = |e: &Expr| {
        let (index, _) = symbols.insert_full(e.as_var()?.clone());
        Some(HostExpr::Dim(index))
    };
    host(dim, &mut symbol).ok()
}
