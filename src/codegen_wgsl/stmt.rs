//! Statements.

use super::WgslError;
use super::emit::Emitter;
use super::locals::LocalForm;
use crate::kernel::{ArrayId, Expr, Space, Stmt};
use crate::tensor::scalar::BinOp;

impl Emitter<'_> {
    pub(super) fn body(&mut self, stmts: &[Stmt]) -> Result<(), WgslError> {
        stmts.iter().try_for_each(|stmt| self.stmt(stmt))
    }

    fn stmt(&mut self, stmt: &Stmt) -> Result<(), WgslError> {
        match stmt {
            Stmt::Let(var, value) => {
                let value = self.expr(value)?;
                let name = self.vars[*var].clone();
                self.line(&format!("let {name} = {value};"));
            }
            Stmt::Store {
                array,
                index,
                value,
            } => self.store(*array, index, value)?,
            // Parallel loops of the CPU do not reach a GPU kernel; run in order they mean the same.
            Stmt::For {
                var,
                min,
                extent,
                kind: _,
                body,
            } => {
                let (name, ty) = (self.vars[*var].clone(), self.ty(self.kernel.vars[*var].ty)?);
                let min_text = self.expr(min)?;
                let end = self.loop_end(min, extent)?;
                self.open(&format!(
                    "for (var {name}: {ty} = {min_text}; {name} < {end}; {name}++)"
                ));
                self.body(body)?;
                self.close("");
            }
            Stmt::If {
                cond,
                then,
                otherwise,
            } => {
                let cond = self.expr(cond)?;
                self.open(&format!("if ({cond})"));
                self.body(then)?;
                if otherwise.is_empty() {
                    self.close("");
                } else {
                    self.otherwise();
                    self.body(otherwise)?;
                    self.close("");
                }
            }
            Stmt::While { cond, body } => {
                self.open("loop");
                let cond = self.expr(cond)?;
                self.line(&format!("if (!({cond})) {{ break; }}"));
                self.body(body)?;
                self.close("");
            }
            Stmt::Barrier => self.line("workgroupBarrier();"),
        }
        Ok(())
    }

    /// `min + extent`, evaluated once before the loop unless it is short.
    fn loop_end(&mut self, min: &Expr, extent: &Expr) -> Result<String, WgslError> {
        if let (Expr::Int(a, ty), Expr::Int(b, _)) = (min, extent) {
            return self.expr(&Expr::Int(a + b, *ty));
        }
        let end = if matches!(min, Expr::Int(0, _)) {
            self.expr(extent)?
        } else if let Expr::Binary(BinOp::Sub, end, start) = extent
            && **start == *min
        {
            self.expr(end)?
        } else {
            let (min, extent) = (self.operand(min)?, self.operand(extent)?);
            format!("{min} + {extent}")
        };
        if end.contains(' ') {
            let name = self.namer.name("end");
            self.line(&format!("let {name} = {end};"));
            return Ok(name);
        }
        Ok(end)
    }

    fn store(&mut self, array: ArrayId, index: &Expr, value: &Expr) -> Result<(), WgslError> {
        let lanes = self.kernel.ty(value).lanes;
        let text = self.expr(value)?;
        let name = self.arrays[array].clone();
        let width = self.width(array);
        if self.is_packed(array) {
            let info = &self.kernel.arrays[array];
            let (kernel, array) = (self.kernel.name.clone(), info.name.clone());
            return Err(WgslError::NarrowStore {
                kernel,
                array,
                dtype: info.dtype,
            });
        }
        let constant = if let Expr::Int(v, _) = index {
            Some(*v as u64)
        } else {
            None
        };
        let is_vars = self.kernel.arrays[array].space == Space::Local
            && matches!(self.forms[array], LocalForm::Variables(_));
        if let (true, Some(at)) = (is_vars, constant) {
            let w = u64::from(width);
            if lanes == width {
                self.line(&format!("{name}_{} = {text};", at / w));
            } else if lanes == 1 {
                self.line(&format!(
                    "{name}_{}.{} = {text};",
                    at / w,
                    lane_name(at % w)
                ));
            } else {
                let value = self.bind(&text);
                for lane in 0..u64::from(lanes) {
                    self.line(&format!(
                        "{name}_{} = {value}.{};",
                        at + lane,
                        lane_name(lane)
                    ));
                }
            }
            return Ok(());
        }
        if lanes == width {
            let place = self.group_index(index, width)?;
            self.line(&format!("{name}[{place}] = {text};"));
        } else if lanes == 1 {
            let (place, lane) = self.element_index(index, width)?;
            self.line(&format!("{name}[{place}]{lane} = {text};"));
        } else {
            let value = self.bind(&text);
            for lane in 0..u64::from(lanes) {
                let (place, component) = self.element_index(&offset(index, lane as i64), width)?;
                self.line(&format!(
                    "{name}[{place}]{component} = {value}.{};",
                    lane_name(lane)
                ));
            }
        }
        Ok(())
    }

    /// Gives an expression a name unless it is one.
    pub(super) fn bind(&mut self, text: &str) -> String {
        if text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.')
        {
            return text.to_owned();
        }
        let name = self.namer.name("t");
        self.line(&format!("let {name} = {text};"));
        name
    }
}

/// The index `lane` elements further on.
pub(super) fn offset(index: &Expr, lane: i64) -> Expr {
    match index {
        _ if lane == 0 => index.clone(),
        Expr::Int(v, ty) => Expr::Int(v + lane, *ty),
        _ => {
            let ty = crate::tensor::ScalarType::I32;
            Expr::Binary(
                BinOp::Add,
                Box::new(index.clone()),
                Box::new(Expr::Int(lane, ty)),
            )
        }
    }
}

pub(super) fn lane_name(lane: u64) -> char {
    ['x', 'y', 'z', 'w'][(lane % 4) as usize]
}
