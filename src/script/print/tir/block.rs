//! Prints blocks.

use super::Printer;
use crate::ir::{Block, BlockId, BufferRegion, Expr, IterKind, IterVar, Place};
use crate::script::print::{expr, value};

impl Printer<'_> {
    /// A block with its header and body.
    pub(super) fn block(&mut self, id: BlockId) {
        let Some(block) = self.func.blocks.get(id) else {
            return self.removed(id.into());
        };
        let start = self.out.next_line_start();
        let name = if block.name.is_empty() {
            String::new()
        } else {
            value::string(&block.name)
        };
        self.out.line(format!("with T.block({name}):"));
        self.out.indent();
        self.namer.push();
        let empty = self.out.next_line_start();
        self.axes(id, block);
        if block.predicate.as_bool() != Some(true) {
            let predicate = self.expr(&block.predicate);
            self.out.line(format!("T.where({predicate})"));
        }
        let (reads, writes) = (self.regions(&block.reads), self.regions(&block.writes));
        self.out.line(format!("T.reads({reads})"));
        self.out.line(format!("T.writes({writes})"));
        if !block.annotations.is_empty() {
            let attrs = value::dict(&mut self.namer, &block.annotations);
            self.out.line(format!("T.block_attr({attrs})"));
        }
        block
            .alloc_buffers
            .iter()
            .for_each(|buffer| self.alloc_buffer(buffer));
        block
            .match_buffers
            .iter()
            .for_each(|view| self.match_region(view));
        if let Some(init) = &block.init {
            self.out.line("with T.init():");
            self.nested(init);
        }
        self.stmts(self.func.tree.body(id));
        debug_assert_ne!(
            self.out.next_line_start(),
            empty,
            "a block prints its regions"
        );
        self.namer.pop();
        self.out.dedent();
        self.spans
            .insert(id.into(), start..self.out.last_line_end());
    }

    fn regions(&mut self, regions: &[BufferRegion]) -> String {
        let all: Vec<String> = regions
            .iter()
            .map(|r| value::region(&mut self.namer, r))
            .collect();
        all.join(", ")
    }

    /// The iter variables: neighbours that are bound to whole loops in one `T.axis.remap`.
    fn axes(&mut self, id: BlockId, block: &Block) {
        let axes: Vec<(&IterVar, &Expr)> = block.iters.iter().zip(&block.bindings).collect();
        let mut rest = &axes[..];
        while let Some((first, value)) = rest.first() {
            let whole = rest
                .iter()
                .take_while(|(iter, value)| self.is_whole_loop(id, iter, value))
                .count();
            if whole >= 2 {
                let (run, after) = rest.split_at(whole);
                self.remap(run);
                rest = after;
            } else {
                self.axis(first, value);
                rest = &rest[1..];
            }
        }
    }

    /// Whether the variable takes all values of one loop, which `T.axis.remap` says.
    fn is_whole_loop(&self, id: BlockId, iter: &IterVar, value: &Expr) -> bool {
        let (Some(var), Some(_)) = (value.as_var(), iter.kind.letter()) else {
            return false;
        };
        let mut at = self.func.tree.parent(id);
        while let Some(place) = at {
            if let Place::Loop(id) = place {
                let l = &self.func.loops[id];
                if l.var == *var {
                    let same = l.min == iter.dom.min && l.extent == iter.dom.extent;
                    return same && iter.var.dtype() == var.dtype();
                }
            }
            at = self.func.tree.parent(place);
        }
        false
    }

    fn remap(&mut self, run: &[(&IterVar, &Expr)]) {
        let kinds: String = run
            .iter()
            .filter_map(|(iter, _)| iter.kind.letter())
            .collect();
        let values = expr::list(&mut self.namer, run.iter().map(|(_, value)| *value));
        let names: Vec<String> = run
            .iter()
            .map(|(iter, _)| self.namer.define_var(&iter.var))
            .collect();
        self.out.line(format!(
            "{} = T.axis.remap(\"{kinds}\", [{values}])",
            names.join(", ")
        ));
    }

    fn axis(&mut self, iter: &IterVar, value: &Expr) {
        let kind = match iter.kind {
            IterKind::Spatial => "spatial",
            IterKind::Reduce => "reduce",
            IterKind::Scan => "scan",
            IterKind::Opaque => "opaque",
        };
        let dom = if iter.dom.min.is_zero() {
            self.expr(&iter.dom.extent)
        } else {
            let end = expr::end_of(&iter.dom.min, &iter.dom.extent);
            format!("({}, {})", self.expr(&iter.dom.min), self.expr(&end))
        };
        let value = self.expr(value);
        let name = self.namer.define_var(&iter.var);
        self.out
            .line(format!("{name} = T.axis.{kind}({dom}, {value})"));
    }
}
