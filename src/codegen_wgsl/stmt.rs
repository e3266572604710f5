//! Statements.

use super::WgslError;
use super::emit::Emitter;
use super::text::Text;
use crate::kernel::{Expr, Stmt};
use crate::tensor::scalar::BinOp;

impl Emitter<'_> {
    pub(super) fn body(&mut self, stmts: &[Stmt]) -> Result<(), WgslError> {
        stmts.iter().try_for_each(|stmt| self.stmt(stmt))
    }

    fn stmt(&mut self, stmt: &Stmt) -> Result<(), WgslError> {
        self.begin();
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
                active: _,
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
            Stmt::Fragment(op) => self.fragment(op)?,
        }
        Ok(())
    }

    /// `min + extent`, evaluated once before the loop: its parts may read what the loop writes.
    fn loop_end(&mut self, min: &Expr, extent: &Expr) -> Result<Text, WgslError> {
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
            let (min, extent) = (self.expr(min)?, self.expr(extent)?);
            Text::infix(BinOp::Add, "+", &min, &extent)
        };
        if end.is_fixed() {
            return Ok(end);
        }
        let name = self.namer.name("end");
        self.line(&format!("let {name} = {end};"));
        Ok(Text::fixed(name))
    }
}
