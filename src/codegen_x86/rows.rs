//! Rows of an array that are read along their columns: packs become lanes of rows.
//!
//! Statements next to each other that each pack an element of the same rows, `A[0, c], A[1, c], …` for neighbouring `c`, read a tile.
//! [`read_rows`] loads the rows of the tile as vectors, and each pack takes its lane of them. `transposed` picks the lanes.
//!
//! No row is read beyond the elements that the packs read.

use std::collections::HashSet;

use super::Isa;
use super::strided::is_picked;
use super::transposed::{QUAD, WIDTHS};
use super::value::is_word;
use crate::kernel::poly::{Poly, Scope};
use crate::kernel::{ArrayId, Expr, Kernel, Stmt, Ty, VarId, VarInfo};
use crate::tensor::ScalarType;

/// The kernel where packs that read neighbouring columns are lanes of rows.
pub(super) fn read_rows(kernel: &Kernel, isa: Isa) -> Kernel {
    let mut rows = Rows {
        kernel: kernel.clone(),
        scope: Scope::default(),
        isa,
    };
    for (var, _) in &kernel.scalars {
        rows.scope.define(*var);
    }
    let body = std::mem::take(&mut rows.kernel.body);
    rows.kernel.body = rows.body(body);
    rows.kernel
}

struct Rows {
    /// Grows new variables; its body is elsewhere meanwhile.
    kernel: Kernel,
    scope: Scope,
    isa: Isa,
}

/// A pack of elements of one array, one of each row.
struct Column {
    /// Which statement it is in.
    stmt: usize,
    array: ArrayId,
    /// Where its first element is, but for the constant, and how far from it the others are.
    start: Poly,
    distances: Vec<i64>,
    /// The constant.
    at: i64,
    lanes: Vec<Expr>,
}

impl Column {
    fn is_beside(&self, other: &Self) -> bool {
        self.array == other.array && self.distances == other.distances && self.start == other.start
    }
}

impl Rows {
    fn body(&mut self, stmts: Vec<Stmt>) -> Vec<Stmt> {
        let mut out = vec![];
        let mut straight = vec![];
        for stmt in stmts {
            match stmt {
                Stmt::Let(..) | Stmt::Store { .. } => straight.push(stmt),
                other => {
                    out.extend(self.straight(std::mem::take(&mut straight)));
                    out.push(self.nested(other));
                }
            }
        }
        out.extend(self.straight(straight));
        out
    }

    fn nested(&mut self, stmt: Stmt) -> Stmt {
        match stmt {
            Stmt::For {
                var,
                min,
                extent,
                kind,
                body,
            } => {
                self.scope.depth += 1;
                self.scope.define(var);
                let body = self.body(body);
                self.scope.depth -= 1;
                Stmt::For {
                    var,
                    min,
                    extent,
                    kind,
                    body,
                }
            }
            Stmt::If {
                cond,
                then,
                otherwise,
            } => Stmt::If {
                cond,
                then: self.body(then),
                otherwise: self.body(otherwise),
            },
            Stmt::While { cond, body } => Stmt::While {
                cond,
                body: self.body(body),
            },
            other => other,
        }
    }

    /// Definitions and stores that run one after the other.
    fn straight(&mut self, mut stmts: Vec<Stmt>) -> Vec<Stmt> {
        let mut written = HashSet::new();
        let mut defined = HashSet::new();
        for stmt in &stmts {
            match stmt {
                Stmt::Store { array, .. } => _ = written.insert(*array),
                Stmt::Let(var, _) => _ = defined.insert(*var),
                _ => {}
            }
        }
        let mut columns = vec![];
        for (at, stmt) in stmts.iter().enumerate() {
            stmt.walk_exprs(&mut |e| columns.extend(self.column(at, e)));
            if let Stmt::Let(var, value) = stmt {
                self.scope.define_as(&self.kernel, *var, value);
            }
        }
        let stays = |column: &Column| {
            let changes = |e: &Expr| match e {
                Expr::Var(var) => defined.contains(var),
                Expr::Load { array, .. } => written.contains(array),
                _ => false,
            };
            !column.lanes.iter().any(|lane| lane.any(&changes))
        };
        columns.retain(stays);
        let mut loads: Vec<(usize, Stmt)> = vec![];
        while let Some(first) = columns.pop() {
            let (mut beside, others): (Vec<_>, Vec<_>) = columns
                .into_iter()
                .partition(|column| column.is_beside(&first));
            columns = others;
            beside.push(first);
            beside.sort_by_key(|column| (column.at, column.stmt));
            for tile in tiles(&beside, self.isa) {
                let before = tile.iter().map(|column| column.stmt).min().unwrap_or(0);
                let rows = self.rows_of(tile);
                for column in tile {
                    let lane = (column.at - tile[0].at) as u16;
                    let lanes = rows.iter().map(|(row, _)| Expr::Var(*row));
                    let lanes = lanes.map(|row| Expr::Lane(Box::new(row), lane));
                    let pack = Expr::Pack(lanes.collect());
                    let stmt = &mut stmts[column.stmt];
                    for e in stmt.exprs_mut() {
                        let is_it =
                            |e: &Expr| matches!(e, Expr::Pack(lanes) if *lanes == column.lanes);
                        *e = e.rewrite(&mut |e| is_it(e).then(|| pack.clone()));
                    }
                }
                let rows = rows.into_iter().map(|(row, load)| Stmt::Let(row, load));
                loads.extend(rows.map(|load| (before, load)));
            }
        }
        loads.sort_by_key(|(before, _)| *before);
        let mut loads = loads.into_iter().peekable();
        let mut out = vec![];
        for (at, stmt) in stmts.into_iter().enumerate() {
            while let Some((_, load)) = loads.next_if(|(before, _)| *before == at) {
                out.push(load);
            }
            out.push(stmt);
        }
        out
    }

    /// The expression as a column, if it is one.
    fn column(&self, stmt: usize, e: &Expr) -> Option<Column> {
        let Expr::Pack(lanes) = e else {
            return None;
        };
        let element = |lane: &Expr| match lane {
            Expr::Load {
                array,
                index,
                lanes: 1,
                active: None,
            } => Some((*array, self.scope.poly(&self.kernel, index))),
            _ => None,
        };
        let (array, mut start) = element(lanes.first()?)?;
        if !is_word(self.kernel.arrays.get(array)?.dtype) || lanes.len() % QUAD != 0 {
            return None;
        }
        let distance = |lane: &Expr| {
            let (other, place) = element(lane)?;
            let distance = place.wrapping_plus(&start, -1).as_constant()?;
            (other == array).then_some(distance)
        };
        let distances = lanes.iter().map(distance).collect::<Option<Vec<_>>>()?;
        if is_picked(self.isa, &distances) {
            return None;
        }
        let at = std::mem::take(&mut start.constant);
        // An array whose every position is constant lives in registers.
        (!start.terms.is_empty()).then(|| Column {
            stmt,
            array,
            start,
            distances,
            at,
            lanes: lanes.clone(),
        })
    }

    /// A variable for each row of a tile, and its value.
    fn rows_of(&mut self, tile: &[Column]) -> Vec<(VarId, Expr)> {
        let first = &tile[0];
        let count = (tile[tile.len() - 1].at - first.at + 1) as u16;
        let mut rows = vec![];
        for lane in &first.lanes {
            let Expr::Load { index, .. } = lane else {
                continue;
            };
            let var = self.kernel.vars.push(VarInfo {
                name: format!("row{}", rows.len()),
                ty: Ty {
                    scalar: self.kernel.arrays[first.array].dtype,
                    lanes: count,
                },
            });
            let load = Expr::Load {
                array: first.array,
                index: index.clone(),
                lanes: count,
                active: None,
            };
            rows.push((var, load));
        }
        rows
    }
}

/// Groups of columns that are neighbours, as many as a register has lanes, or half or a quarter as many.
fn tiles(columns: &[Column], isa: Isa) -> Vec<&[Column]> {
    let most = isa.vector_bytes() / ScalarType::F32.bytes();
    let runs = columns.chunk_by(|a, b| b.at - a.at <= 1);
    let mut tiles = vec![];
    for mut run in runs {
        let width = |run: &[Column]| {
            let (first, last) = (run.first()?.at, run.last()?.at);
            let fits = |width: &usize| *width <= most && *width as i64 <= last - first + 1;
            WIDTHS.into_iter().find(fits)
        };
        while let Some(width) = width(run) {
            let end = run[0].at + width as i64;
            let (tile, rest) = run.split_at(run.partition_point(|column| column.at < end));
            tiles.push(tile);
            run = rest;
        }
    }
    tiles
}
