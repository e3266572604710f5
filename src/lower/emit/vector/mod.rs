//! Vectorized loops: contiguous accesses become vector loads and stores, conditions that all lanes share stay branches.
//! On the CPU a condition `base + lane < n` says which lanes are active. What does not vectorize is written out lane by lane,
//! which means the same.

mod lanes;
mod values;

use self::lanes::{Active, Lanes};
use super::{Emit, flat, push_branch};
use crate::ir::{Buffer, Expr, ExprKind, LoopKind, Var};
use crate::kernel::{self, Stmt, Ty};
use crate::lower::LowerError;
use crate::lower::node::{Node, walk_nodes};
use crate::lower::partition::Tails;
use crate::lower::widen::{is_index, is_narrow_cast};
use crate::lower::write_out::WriteOut;

impl Emit<'_> {
    /// A vectorized loop of constant extent.
    pub(super) fn vectorized(
        &mut self,
        var: &Var,
        min: &Expr,
        extent: i64,
        body: &[Node],
        out: &mut Vec<Stmt>,
    ) -> Result<(), LowerError> {
        let mut done = 0;
        while done < extent {
            let width = self.width(extent, extent - done, body);
            let start = self
                .facts
                .analyzer
                .simplify(&(min + Expr::int(done, min.dtype())));
            done += width;
            if width == 1 {
                self.lane_alone(body, var, &start, out)?;
                continue;
            }
            let lane = var.renamed(var.name());
            let nodes = self.copies.with(body, var, &(start + &lane))?;
            let lanes = Lanes {
                var: &lane,
                count: width as u16,
                active: None,
                named: vec![],
            };
            if let Some(stmts) = self.try_vector(&nodes, &lanes)? {
                for stmt in stmts {
                    match stmt {
                        Stmt::If {
                            cond,
                            then,
                            otherwise,
                        } => push_branch(out, cond, then, otherwise),
                        other => out.push(other),
                    }
                }
                continue;
            }
            if !self.gpu && asks_for_lane(&nodes, &lane) {
                self.lanes_in_turn(nodes, &lane, width, out)?;
                continue;
            }
            for i in 0..width {
                let value = Expr::int(i, lane.dtype());
                self.lane_alone(&nodes, &lane, &value, out)?;
            }
        }
        Ok(())
    }

    /// The statements in a serial loop over the lanes, which ends with the last one that they run in.
    fn lanes_in_turn(
        &mut self,
        body: Vec<Node>,
        lane: &Var,
        width: i64,
        out: &mut Vec<Stmt>,
    ) -> Result<(), LowerError> {
        let in_turn = Node::For {
            var: lane.clone(),
            min: Expr::int(0, lane.dtype()),
            extent: Expr::int(width, lane.dtype()),
            kind: LoopKind::Serial,
            body,
        };
        self.written_out(|write_out| write_out.nodes(vec![in_turn]), out)
    }

    /// Lanes of the next vector of a loop, of which so many iterations are left. On a GPU all vectors have one width, which aligns them; on
    /// the CPU the last ones are narrower.
    fn width(&self, extent: i64, left: i64, body: &[Node]) -> i64 {
        let fitting = |widths: &[i64], fits: &dyn Fn(i64) -> bool| {
            let mut widths = widths.iter().copied();
            widths.find(|&width| fits(width)).unwrap_or(1)
        };
        match self.gpu {
            true if has_wide(body) => 1,
            true => fitting(&[4, 2], &|width| extent % width == 0),
            false => fitting(&[16, 8, 4, 2], &|width| width <= left),
        }
    }

    /// The statements in one lane, as scalars.
    fn lane_alone(
        &mut self,
        body: &[Node],
        lane: &Var,
        value: &Expr,
        out: &mut Vec<Stmt>,
    ) -> Result<(), LowerError> {
        self.written_out(|write_out| write_out.copy(body, lane, value), out)
    }

    /// What is made of statements as their loops are split and written out.
    fn written_out(
        &mut self,
        nodes: impl FnOnce(&mut WriteOut<'_>) -> Result<Vec<Node>, LowerError>,
        out: &mut Vec<Stmt>,
    ) -> Result<(), LowerError> {
        let tails = Tails::of(self.gpu);
        let (facts, stored, copies) = (&mut self.facts, &self.stored, &mut self.copies);
        let mut write_out = WriteOut::new(facts, self.dims, tails, stored, copies);
        let nodes = nodes(&mut write_out)?;
        write_out.annotate_parts(&mut self.annotated);
        self.nodes(&nodes, out)
    }

    /// The statements as vectors, or nothing if some would have to run lane by lane.
    fn try_vector(
        &mut self,
        nodes: &[Node],
        lanes: &Lanes<'_>,
    ) -> Result<Option<Vec<Stmt>>, LowerError> {
        self.facts.enter();
        let zero = Expr::int(0, lanes.var.dtype());
        let count = Expr::int(lanes.count.into(), lanes.var.dtype());
        self.facts.bind(lanes.var, &zero, &count);
        let before = (self.in_bounds, self.widths.clone());
        let result = self.vector_nodes(nodes, lanes);
        self.facts.leave();
        if !matches!(result, Ok(Some(_))) {
            (self.in_bounds, self.widths) = before;
        }
        result
    }

    fn vector_nodes(
        &mut self,
        nodes: &[Node],
        lanes: &Lanes<'_>,
    ) -> Result<Option<Vec<Stmt>>, LowerError> {
        let mut out = Vec::new();
        for node in nodes {
            match node {
                Node::Store {
                    buffer,
                    indices,
                    value,
                    shuffle: _,
                    axes: _,
                } => {
                    let indices: Vec<Expr> =
                        indices.iter().map(|i| self.aligned_min(i, lanes)).collect();
                    if indices.iter().any(|index| lanes.names(index)) {
                        return Ok(None);
                    }
                    let Some((stride, base)) = flat(buffer, &indices).split(lanes.var) else {
                        return Ok(None);
                    };
                    if stride.as_const() != Some(1) {
                        if lanes.active.is_some() {
                            return Ok(None);
                        }
                        let Some(stmts) = self.scattered(buffer, &indices, value, lanes)? else {
                            return Ok(None);
                        };
                        out.extend(stmts);
                        continue;
                    }
                    let value = self.vector(value, lanes)?;
                    self.check_range(buffer, &indices);
                    let array = self.array_id(buffer);
                    self.note_width(array, &base, lanes.count);
                    let index = self.index_poly(&base)?;
                    out.push(Stmt::Store {
                        array,
                        index,
                        value,
                        active: lanes.active().cloned(),
                    });
                }
                Node::If {
                    cond,
                    then,
                    otherwise,
                } if otherwise.is_empty() => {
                    if self.facts.analyzer.can_prove(cond) {
                        let Some(inner) = self.vector_nodes(then, lanes)? else {
                            return Ok(None);
                        };
                        out.extend(inner);
                        continue;
                    }
                    let shared = self
                        .shared_condition(cond, lanes)
                        .or_else(|| self.padded_condition(cond, then, lanes));
                    let Some(shared) = shared else {
                        let Some(active) = self.under_mask(cond, then, lanes)? else {
                            return Ok(None);
                        };
                        out.extend(active);
                        continue;
                    };
                    let test = self.value(&shared)?;
                    self.facts.enter();
                    self.facts.learn(cond, &self.stored);
                    self.facts.learn(&shared, &self.stored);
                    let inner = self.vector_nodes(then, lanes)?;
                    self.facts.leave();
                    let Some(inner) = inner else {
                        return Ok(None);
                    };
                    push_branch(&mut out, test, inner, vec![]);
                }
                Node::Let { var, value, body } if !self.gpu => {
                    let Some(inner) = self.named(var, value, body, lanes)? else {
                        return Ok(None);
                    };
                    out.extend(inner);
                }
                Node::Let { .. }
                | Node::If { .. }
                | Node::For { .. }
                | Node::While { .. }
                | Node::Fragment(_)
                | Node::Barrier(_) => return Ok(None),
            }
        }
        Ok(Some(out))
    }

    /// A name for a value, and the statements that use it.
    fn named(
        &mut self,
        var: &Var,
        value: &Expr,
        body: &[Node],
        lanes: &Lanes<'_>,
    ) -> Result<Option<Vec<Stmt>>, LowerError> {
        let varies = lanes.vary(value);
        let (ty, value) = match varies {
            true => {
                let ty = Ty {
                    scalar: self.value_type(value)?,
                    lanes: lanes.count,
                };
                (ty, self.vector(value, lanes)?)
            }
            false => self.let_value(value)?,
        };
        let id = self.new_var(var.name(), ty);
        self.var_of.insert(var.clone(), kernel::Expr::Var(id));
        let active = lanes.active.as_ref();
        let mut lanes = Lanes {
            active: active.map(|active| Active {
                count: active.count.clone(),
                failed: active.failed.clone(),
            }),
            named: lanes.named.clone(),
            ..*lanes
        };
        lanes.named.extend(varies.then(|| var.clone()));
        let inner = self.vector_nodes(body, &lanes)?;
        let inner = inner.filter(|_| lanes.is_done());
        Ok(inner.map(|inner| [vec![Stmt::Let(id, value)], inner].concat()))
    }

    /// A store of neighbours in memory to places apart, as a copy that transposes makes: one load of a vector, and a store for
    /// each lane. Only for GPUs, whose threads would else load each lane with gaps between them.
    fn scattered(
        &mut self,
        buffer: &Buffer,
        indices: &[Expr],
        value: &Expr,
        lanes: &Lanes<'_>,
    ) -> Result<Option<Vec<Stmt>>, LowerError> {
        let loaded = match value.kind() {
            ExprKind::IfThenElse(_, then, otherwise) if !lanes.vary(otherwise) => then,
            _ => value,
        };
        let ExprKind::Load(source, at) = loaded.kind() else {
            return Ok(None);
        };
        let stride = flat(source, at).split(lanes.var).map(|(stride, _)| stride);
        if !self.gpu || stride.and_then(|stride| stride.as_const()) != Some(1) {
            return Ok(None);
        }
        let value = self.vector(value, lanes)?;
        let loaded = match &value {
            kernel::Expr::Select(_, then, _) => then,
            value => value,
        };
        if !matches!(loaded, kernel::Expr::Load { .. }) {
            return Ok(None);
        }
        let ty = Ty {
            scalar: buffer.dtype().scalar,
            lanes: lanes.count,
        };
        let vector = self.new_var("lanes", ty);
        let mut stmts = vec![Stmt::Let(vector, value)];
        self.check_range(buffer, indices);
        let array = self.array_id(buffer);
        self.widths.entry(array).or_default().push(1);
        for lane in 0..lanes.count {
            let at: Vec<Expr> = indices.iter().map(|index| lanes.at(index, lane)).collect();
            let index = self.index_poly(&flat(buffer, &at))?;
            let value = kernel::Expr::Lane(Box::new(kernel::Expr::Var(vector)), lane);
            stmts.push(Stmt::Store {
                array,
                index,
                value,
                active: None,
            });
        }
        Ok(Some(stmts))
    }
}

/// Whether statements access neighbours in memory alone where the variable counts lanes, so that any number of first lanes may be
/// active.
pub(in crate::lower) fn is_contiguous(nodes: &[Node], lane: &Var) -> bool {
    let contiguous = |buffer: &Buffer, indices: &[Expr]| {
        let stride = flat(buffer, indices).split(lane).map(|(stride, _)| stride);
        stride.and_then(|stride| stride.as_const()) == Some(1)
    };
    let (mut all, mut named) = (true, Vec::new());
    walk_nodes(nodes, &mut |node| {
        all &= match node {
            Node::Store {
                buffer, indices, ..
            } => contiguous(buffer, indices),
            Node::If { otherwise, .. } => otherwise.is_empty(),
            Node::Let { var, .. } => {
                named.push(var.clone());
                true
            }
            Node::For { .. } | Node::While { .. } | Node::Fragment(_) | Node::Barrier(_) => false,
        };
        let by_name = |e: &Expr| named.iter().any(|var| e.uses(var));
        for e in node.exprs() {
            e.walk(&mut |e| {
                if let ExprKind::Load(buffer, indices) = e.kind() {
                    all &= !e.uses(lane) || contiguous(buffer, indices);
                    all &= !indices.iter().any(by_name);
                }
                all
            });
        }
        if let Node::Store { indices, .. } = node {
            all &= !indices.iter().any(by_name);
        }
    });
    all
}

/// Whether the statements are those of a tail: each lane asks whether it counts.
fn asks_for_lane(nodes: &[Node], lane: &Var) -> bool {
    matches!(nodes, [Node::If { cond, otherwise, .. }] if otherwise.is_empty() && cond.uses(lane))
}

/// Whether statements compute with integers of 64 bits that are no indices: a GPU holds each in two words, and has no vectors
/// of such.
fn has_wide(nodes: &[Node]) -> bool {
    let is_wide = |e: &Expr| {
        let mut wide = false;
        e.walk(&mut |e| {
            let data = !is_index(e) || is_narrow_cast(e);
            wide |= e.dtype().is_int() && e.dtype().scalar.bytes() == 8 && data;
            // Indices are scalars, whatever is loaded.
            !wide && !matches!(e.kind(), ExprKind::Load(..))
        });
        wide
    };
    let mut found = false;
    walk_nodes(nodes, &mut |node| {
        found |= match node {
            Node::Store {
                buffer,
                indices: _,
                value,
                shuffle: _,
                axes: _,
            } => buffer.dtype().scalar.bytes() == 8 || is_wide(value),
            Node::For { .. }
            | Node::Let { .. }
            | Node::If { .. }
            | Node::While { .. }
            | Node::Fragment(_)
            | Node::Barrier(_) => node.exprs().into_iter().any(is_wide),
        };
    });
    found
}
