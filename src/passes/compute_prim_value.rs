//! `compute_prim_value`: scalars that take arithmetic are computed by programs of the host (Relax: `ComputePrimValue`).

use std::collections::HashMap;

use super::bodies::for_each_function;
use crate::ir::graph::{Arg, Body, Callee, Def, Function, Value, ValueId};
use crate::ir::{AttrValue, Attrs, Expr, Func, Module, Param, PrimFunc, Stmt, StructInfo};
use crate::support::Id;

/// The module in which operands and conditions that are expressions of symbolic sizes are results of programs that compute them.
/// Constants and the sizes themselves stay, and so do shapes.
///
/// ```text
///                            def compute_symbolic_expr(n: T.int64) -> T.bool: return n % 16 == 0
/// if n % 16 == 0: …     →    gv = cls.compute_symbolic_expr(n)
///                            if gv: …
/// ```
pub(super) fn compute_prim_value(module: &Module) -> Module {
    let mut out = module.clone();
    let names: Vec<String> = module
        .functions()
        .map(|(name, _)| name.to_owned())
        .collect();
    for name in names {
        let Some(Func::Graph(mut function)) = out.funcs.get(&name).cloned() else {
            continue;
        };
        let Ok(()) = for_each_function::<std::convert::Infallible>(&mut function, &mut |f| {
            let mut computed: HashMap<ValueId, Vec<ValueId>> = HashMap::new();
            for index in 0..f.values.bound() {
                let id = ValueId::from_index(index);
                compute_operands(&mut out, f, id, &mut computed);
            }
            super::bodies::for_each_own_body(f, &mut |body| insert_before(body, &computed));
            Ok(())
        });
        out.funcs.insert(name, Func::Graph(function));
    }
    out
}

/// Puts the values before the bindings that use them.
fn insert_before(body: &mut Body, computed: &HashMap<ValueId, Vec<ValueId>>) {
    for block in &mut body.blocks {
        let bindings = std::mem::take(&mut block.bindings);
        for binding in bindings {
            block
                .bindings
                .extend(computed.get(&binding).into_iter().flatten());
            block.bindings.push(binding);
        }
    }
}

/// Computes the scalars that a binding takes.
fn compute_operands(
    module: &mut Module,
    function: &mut Function,
    id: ValueId,
    computed: &mut HashMap<ValueId, Vec<ValueId>>,
) {
    let Some(value) = function.values.get(id) else {
        return;
    };
    let origin = value.origin.clone();
    let mut def = value.def.clone();
    let operands: Vec<&mut Arg> = match &mut def {
        Def::Call { args, .. } => args.iter_mut().collect(),
        Def::If { cond, .. } | Def::Arg(cond) => vec![cond],
        _ => return,
    };
    for operand in operands {
        let Arg::Prim(e) = operand else {
            continue;
        };
        if e.as_var().is_some() || e.as_int().is_some() || e.as_float().is_some() {
            continue;
        }
        let vars = e.free_vars();
        let program = module.add_prim_func("compute_symbolic_expr", program(e));
        let call = Def::Call {
            callee: Callee::Global(program),
            args: vars.iter().map(|var| Arg::Prim(var.expr())).collect(),
            attrs: Attrs::new(),
            sinfo_args: vec![],
        };
        let result = function.values.push(Value {
            name: "gv".to_owned(),
            sinfo: StructInfo::Prim {
                dtype: e.dtype(),
                value: None,
            },
            def: call,
            origin: origin.clone(),
        });
        computed.entry(id).or_default().push(result);
        *operand = Arg::Value(result);
    }
    function.values.get_mut(id).expect("it is there").def = def;
}

/// A program that returns the expression, with parameters of its own.
fn program(e: &Expr) -> PrimFunc {
    let vars = e.free_vars();
    let params: Vec<_> = vars
        .iter()
        .map(|var| crate::ir::Var::new(var.name(), var.dtype()))
        .collect();
    let own = |var: &crate::ir::Var| {
        let at = vars.iter().position(|other| other == var)?;
        Some(params[at].expr())
    };
    let returned = e.substitute(&own);
    let params = params.iter().cloned().map(Param::Scalar).collect();
    let mut func = PrimFunc::new("compute_symbolic_expr", params);
    func.ret = Some(e.dtype());
    func.attrs
        .insert("tirx.is_host_func".to_owned(), AttrValue::Bool(true));
    func.tree
        .set_body(func.root, vec![Stmt::Return(Some(returned))]);
    func
}
