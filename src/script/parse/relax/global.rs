//! What a module says beside its functions: those of the environment that it names, and devices: `I.module_global_infos({"vdevice": [I.vdevice("llvm", 0), ...]})`.

use ruff_python_ast as ast;

use super::super::context::{Context, Parse, dotted};
use crate::ir::{AttrValue, ExternFunc, Module, StructInfo, VDevice};
use crate::script::ScriptErrorKind;

/// What names a function of the environment.
pub(in crate::script::parse) const EXTERN_FUNC: &str = "R.ExternFunc";

/// Reads the devices of the module.
pub(in crate::script::parse) fn global_infos(
    cx: &mut Context<'_>,
    call: &ast::ExprCall,
    module: &mut Module,
) -> Parse<()> {
    let [infos] = cx.bind_all(call, "I.module_global_infos", ["global_infos"])?;
    let ast::Expr::Dict(dict) = infos else {
        return Err(cx.expected(infos, "a dictionary"));
    };
    for item in &dict.items {
        let Some(key) = &item.key else {
            return Err(cx.unsupported(&item.value, "`**` in a dictionary", ""));
        };
        if cx.string(key)? != "vdevice" {
            let name = cx.string(key)?;
            if name == "mesh" {
                return Err(cx.error(key, ScriptErrorKind::Distributed { name }));
            }
            return Err(cx.expected(key, "`\"vdevice\"`"));
        }
        for node in Context::elements(&item.value) {
            let device = vdevice(cx, node)?;
            module.vdevices.push(device.clone());
            cx.graph.devices.push(device);
        }
    }
    Ok(())
}

/// `name = R.ExternFunc("symbol", R.Callable(…))`
pub(in crate::script::parse) fn extern_func(
    cx: &mut Context<'_>,
    name: &ast::ExprName,
    call: &ast::ExprCall,
    module: &mut Module,
) -> Parse<()> {
    let [symbol, sinfo] = cx.bind(call, EXTERN_FUNC, ["global_symbol", "ty"], 1)?;
    let symbol = cx.string(symbol.expect("it is required"))?;
    let sinfo = match sinfo {
        Some(sinfo) => cx.struct_info(sinfo)?,
        None => StructInfo::any_function(),
    };
    let name = name.id.to_string();
    cx.graph.externs.insert(name.clone(), symbol.clone());
    module.externs.insert(name, ExternFunc { symbol, sinfo });
    Ok(())
}

/// `I.vdevice(target, index, scope)`; of a target given as a dictionary the kind counts.
fn vdevice(cx: &mut Context<'_>, node: &ast::Expr) -> Parse<VDevice> {
    let ast::Expr::Call(call) = node else {
        return Err(cx.expected(node, "`I.vdevice(\"vulkan\", 0)`"));
    };
    if dotted(&call.func).as_deref() != Some("I.vdevice") {
        return Err(cx.expected(node, "`I.vdevice(\"vulkan\", 0)`"));
    }
    let names = ["target", "vdevice_id", "memory_scope"];
    let [target, index, scope] = cx.bind(call, "I.vdevice", names, 1)?;
    let target = target.expect("it is required");
    let kind = match cx.attr_value(target)? {
        AttrValue::Str(kind) => kind,
        AttrValue::Dict(attrs) => match attrs.get("kind").and_then(|v| v.as_str()) {
            Some(kind) => kind.to_owned(),
            None => return Err(cx.expected(target, "a target with a `kind`")),
        },
        _ => return Err(cx.expected(target, "a target")),
    };
    let index = match index {
        Some(node) => match usize::try_from(cx.integer(node)?) {
            Ok(index) => index,
            Err(_) => {
                let (number, expected) = (cx.source(node), "devices count from 0".to_owned());
                return Err(cx.error(node, ScriptErrorKind::OutOfRange { number, expected }));
            }
        },
        None => 0,
    };
    let scope = match scope {
        Some(node) => cx.string(node)?,
        None => "global".to_owned(),
    };
    Ok(VDevice {
        target: kind,
        index,
        scope,
    })
}
