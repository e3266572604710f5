//! Kernels of an artifact: everything that they name exists, and only what may be written is. That their accesses stay inside
//! the arrays is another matter (`Kernel::stays_in_bounds`).

use crate::kernel::{
    Access, ArrayId, BufferRef, Expr, HostExpr, Kernel, LoweredFunc, Space, Stmt, VarId,
};

/// Every dim that an expression names is among `len`.
pub(super) fn verify_dims(expr: &HostExpr, len: usize) -> Result<(), String> {
    match expr {
        HostExpr::Const(_) => Ok(()),
        HostExpr::Dim(i) if *i < len => Ok(()),
        HostExpr::Dim(i) => Err(format!("dim {i} of {len}")),
        HostExpr::Binary(_, a, b) => {
            verify_dims(a, len)?;
            verify_dims(b, len)
        }
        HostExpr::Select(a, b, c) => {
            verify_dims(a, len)?;
            verify_dims(b, len)?;
            verify_dims(c, len)
        }
    }
}

/// Every dim, buffer and scalar that a lowered function names exists.
pub(super) fn verify_lowered(func: &LoweredFunc) -> Result<(), String> {
    let len = func.dims.len();
    let check = |expr: &HostExpr| verify_dims(expr, len);
    func.params
        .iter()
        .flat_map(|p| &p.shape)
        .try_for_each(check)?;
    func.temps.iter().map(|t| &t.len).try_for_each(check)?;
    func.requires.iter().map(|r| &r.value).try_for_each(check)?;
    func.asserts.iter().map(|a| &a.holds).try_for_each(check)?;
    if let Some(param) = func.scalar_params.iter().find(|param| param.dim >= len) {
        return Err(format!("dim {} of {len}", param.dim));
    }
    for kernel in &func.kernels {
        // Scalars of a shader may count its runs.
        let known = len + usize::from(kernel.launch.is_some());
        let mut scalars = kernel.scalars.iter().map(|(_, e)| e);
        scalars.try_for_each(|e| verify_dims(e, known))?;
        kernel
            .arrays
            .iter()
            .map(|(_, a)| &a.len)
            .try_for_each(check)?;
        kernel
            .launch
            .iter()
            .flat_map(|l| l.grid.iter().chain([&l.times]))
            .try_for_each(check)?;
        check(&kernel.flops)?;
        check(&kernel.bytes)?;
        for (_, array, buffer, access) in kernel.bindings() {
            let writes = access != Access::Read;
            match buffer {
                BufferRef::Param(i) if i < func.params.len() => {
                    if writes && !func.params[i].written {
                        return Err(format!("`{}` writes a parameter that is read", array.name));
                    }
                }
                BufferRef::Temp(i) if i < func.temps.len() => {}
                BufferRef::Param(_) | BufferRef::Temp(_) => {
                    return Err(format!("{buffer} does not exist"));
                }
            }
        }
        if let Some((var, _)) = kernel
            .scalars
            .iter()
            .find(|(v, _)| kernel.vars.get(*v).is_none())
        {
            return Err(format!("{var} does not exist"));
        }
        verify_body(kernel, &kernel.body)?;
    }
    Ok(())
}

fn verify_body(kernel: &Kernel, body: &[Stmt]) -> Result<(), String> {
    for stmt in body {
        match stmt {
            Stmt::Let(var, value) => {
                verify_var(kernel, *var)?;
                verify_expr(kernel, value)?;
            }
            Stmt::Store {
                array,
                index,
                value,
                active,
            } => {
                verify_array(kernel, *array)?;
                let array = &kernel.arrays[*array];
                if let Space::Global {
                    buffer: _,
                    access: Access::Read,
                } = array.space
                {
                    return Err(format!("`{}` is written and only read", array.name));
                }
                verify_expr(kernel, index)?;
                verify_expr(kernel, value)?;
                verify_active(kernel, index, active.as_ref())?;
            }
            Stmt::For {
                var,
                min,
                extent,
                kind: _,
                body,
            } => {
                verify_var(kernel, *var)?;
                verify_expr(kernel, min)?;
                verify_expr(kernel, extent)?;
                verify_body(kernel, body)?;
            }
            Stmt::If {
                cond,
                then,
                otherwise,
            } => {
                verify_expr(kernel, cond)?;
                verify_body(kernel, then)?;
                verify_body(kernel, otherwise)?;
            }
            Stmt::While { cond, body } => {
                verify_expr(kernel, cond)?;
                verify_body(kernel, body)?;
            }
            Stmt::Barrier => {}
        }
    }
    Ok(())
}

fn verify_expr(kernel: &Kernel, e: &Expr) -> Result<(), String> {
    let verify = |e: &Expr| verify_expr(kernel, e);
    match e {
        Expr::Int(..) | Expr::Float(..) => Ok(()),
        Expr::Var(var) => verify_var(kernel, *var),
        Expr::BlockIdx(axis) | Expr::ThreadIdx(axis) if *axis < 3 => Ok(()),
        Expr::BlockIdx(axis) | Expr::ThreadIdx(axis) => Err(format!("axis {axis} of a launch")),
        Expr::Cast(_, a)
        | Expr::Bits(_, a)
        | Expr::Not(a)
        | Expr::Splat(a, _)
        | Expr::Lane(a, _) => verify(a),
        Expr::Binary(_, a, b) | Expr::Ramp(a, b, _) => {
            verify(a)?;
            verify(b)
        }
        Expr::Select(c, a, b) => {
            verify(c)?;
            verify(a)?;
            verify(b)
        }
        Expr::Call(_, args) | Expr::Pack(args) => args.iter().try_for_each(verify),
        Expr::Load {
            array,
            index,
            lanes: _,
            active,
        } => {
            verify_array(kernel, *array)?;
            verify(index)?;
            verify_active(kernel, index, active.as_deref())
        }
    }
}

/// The number of active lanes of an access is an integer of the type of its index.
fn verify_active(kernel: &Kernel, index: &Expr, active: Option<&Expr>) -> Result<(), String> {
    let Some(active) = active else {
        return Ok(());
    };
    verify_expr(kernel, active)?;
    let (ty, index) = (kernel.ty(active), kernel.ty(index));
    match ty == index && ty.lanes == 1 {
        true => Ok(()),
        false => Err(format!(
            "{ty} counts active lanes from an index of {index} on"
        )),
    }
}

fn verify_var(kernel: &Kernel, var: VarId) -> Result<(), String> {
    match kernel.vars.get(var) {
        Some(_) => Ok(()),
        None => Err(format!("{var} does not exist")),
    }
}

fn verify_array(kernel: &Kernel, array: ArrayId) -> Result<(), String> {
    match kernel.arrays.get(array) {
        Some(_) => Ok(()),
        None => Err(format!("{array} does not exist")),
    }
}
