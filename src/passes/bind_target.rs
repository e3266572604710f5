//! `bind_target`: loop programs are of the device that calls of them are on (TVM: `tir.BindTarget`, and the programs for each
//! device that `LegalizeOps` makes).

use std::collections::HashMap;
use std::convert::Infallible;

use crate::ir::graph::{Become, Def, DpsCallee, Globals, rewrite};
use crate::ir::{AttrValue, Func, Module, Place, PrimFunc, Stmt, StructInfo};
use crate::kernel::Target;

/// Marks loop programs that run on the host in a program for a GPU.
pub(super) const HOST: &str = "tirx.is_host_func";

/// Whether the program runs on the host, whatever the module is compiled for.
pub fn is_of_host(func: &PrimFunc) -> bool {
    func.attrs.get(HOST).and_then(AttrValue::as_int) == Some(1)
}

/// Makes a program one of the host.
pub fn run_on_host(func: &mut PrimFunc) {
    func.attrs.insert(HOST.to_owned(), AttrValue::Bool(true));
}

/// The module in which calls whose results are on the host call programs of the host. Where a program is called on both devices,
/// there are two of it. On the CPU there is only the host, and nothing changes. Where the device ends long loops without an error,
/// programs with a `while` are of the host: nothing bounds their passes.
///
/// ```text
/// y = R.call_tir(exp, x, R.Tensor((4,), …, "vulkan:0"))       y = R.call_tir(exp, x, …)
/// z = R.call_tir(exp, w, R.Tensor((4,), …, "llvm:0"))    →    z = R.call_tir(exp_host, w, …)    # T.func_attr: is_host_func
/// ```
pub(super) fn bind_target(module: &Module, target: &Target) -> Module {
    let Target::Gpu(gpu) = target else {
        return module.clone();
    };
    let mut out = module.clone();
    if gpu.max_loop_passes.is_some() {
        unbounded_to_host(&mut out);
    }
    match module.vdevices.is_empty() {
        true => out,
        false => calls_on_host(out),
    }
}

/// Marks the programs with a loop of which nobody knows how often it runs.
fn unbounded_to_host(module: &mut Module) {
    for func in module.funcs.values_mut() {
        if let Func::Prim(program) = func
            && has_while(program)
        {
            run_on_host(program);
        }
    }
}

fn has_while(func: &PrimFunc) -> bool {
    fn below(stmts: &[Stmt]) -> bool {
        stmts.iter().any(|stmt| {
            let is_while = matches!(stmt, Stmt::While { cond: _, body: _ });
            is_while || stmt.nested().into_iter().any(|body| below(body))
        })
    }
    let mut found = false;
    func.tree.walk(func.root.into(), &mut |place| {
        let init = match place {
            Place::Block(id) => func.blocks[id].init.as_deref().unwrap_or_default(),
            Place::Loop(_) => &[],
        };
        found |= below(func.tree.body(place)) || below(init);
    });
    found
}

/// The module in which calls whose results are on the host call programs of the host.
fn calls_on_host(module: Module) -> Module {
    let module = &module;
    let globals = Globals::of(module);
    let mut out = module.clone();
    let mut of_host: HashMap<String, String> = HashMap::new();
    let names: Vec<String> = module
        .functions()
        .map(|(name, _)| name.to_owned())
        .collect();
    for name in names {
        let Some(function) = module.function(&name) else {
            continue;
        };
        let Ok(new) = rewrite::<Infallible>(function, &globals, &mut |_, old| {
            let Def::CallDps {
                callee: DpsCallee::Prim(callee),
                out: info,
                ..
            } = old.def
            else {
                return Ok(Become::Kept);
            };
            let (true, Some(program)) = (is_on_host(info), module.prim_func(callee)) else {
                return Ok(Become::Kept);
            };
            let program = of_host.entry(callee.clone()).or_insert_with(|| {
                let mut program = program.clone();
                run_on_host(&mut program);
                out.add_prim_func(&format!("{callee}_host"), program)
            });
            let mut def = old.def.clone();
            if let Def::CallDps { callee, .. } = &mut def {
                *callee = DpsCallee::Prim(program.clone());
            }
            Ok(Become::Def(def))
        });
        out.funcs.insert(name, Func::Graph(new));
    }
    let called: Vec<String> = of_host.into_keys().collect();
    out.funcs
        .retain(|name, _| !called.contains(name) || is_called(module, name, false));
    out
}

/// Whether something calls the program elsewhere than on the host, or might: others than this module can.
fn is_called(module: &Module, program: &str, on_host: bool) -> bool {
    if module.prim_func(program).is_some_and(|func| !func.private) {
        return true;
    }
    let mut called = false;
    for (_, function) in module.functions() {
        function.for_each_value(&mut |value| {
            let elsewhere = match &value.def {
                Def::CallDps { out, .. } => is_on_host(out) == on_host,
                _ => true,
            };
            called |= elsewhere && value.def.callee() == Some(program);
        });
    }
    called
}

/// Whether all tensors of a result are on the host.
pub(super) fn is_on_host(info: &StructInfo) -> bool {
    match info {
        StructInfo::Tensor(info) => info.vdevice.as_ref().is_some_and(|device| device.is_host()),
        StructInfo::Tuple(items) => !items.is_empty() && items.iter().all(is_on_host),
        _ => false,
    }
}
