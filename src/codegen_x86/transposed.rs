//! Tiles that are turned: rows of an array that are read along their columns.
//!
//! Statements next to each other that each pack an element of the same rows, `A[0, c], A[1, c], …` for neighbouring `c`, read a tile.
//! [`read_rows`] loads its rows as vectors and makes the packs lanes of these; what picks a lane of each is a tree of shuffles whose
//! inner nodes the columns share, so that a tile of 16 by 16 takes 64 shuffles and 16 loads in place of 256 of each.
//!
//! No row is read beyond the elements that the packs read.

use std::collections::HashSet;

use super::emit::Emitter;
use super::forms::Op;
use super::inst::{Arg, Lane, Width};
use super::value::{Part, Val, shape};
use super::{Isa, Refusal};
use crate::codegen_common::index::{Poly, Scope};
use crate::kernel::{ArrayId, Expr, Kernel, Stmt, Ty, VarId, VarInfo};
use crate::tensor::ScalarType;

/// Columns of a tile, the most first.
const WIDTHS: [usize; 3] = [16, 8, 4];

/// Lanes of 128 bits, which shuffles turn in two steps.
const QUAD: usize = 4;

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
        let is_f32 = self.kernel.arrays.get(array)?.dtype == ScalarType::F32;
        if !is_f32 || lanes.len() % QUAD != 0 {
            return None;
        }
        let distance = |lane: &Expr| {
            let (other, place) = element(lane)?;
            let distance = place.wrapping_plus(&start, -1).as_constant()?;
            (other == array).then_some(distance)
        };
        let distances = lanes.iter().map(distance).collect::<Option<Vec<_>>>()?;
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
                    scalar: ScalarType::F32,
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

impl Emitter<'_> {
    /// A vector of the same lane of several vectors; `None` if the lanes are something else.
    pub(super) fn column(&mut self, lanes: &[Expr]) -> Result<Option<Val>, Refusal> {
        let lane = |lane: &Expr| match lane {
            Expr::Lane(row, at) => match **row {
                Expr::Var(row) => Some((row, usize::from(*at))),
                _ => None,
            },
            _ => None,
        };
        let Some(found) = lanes.iter().map(lane).collect::<Option<Vec<_>>>() else {
            return Ok(None);
        };
        let at = found[0].1;
        let rows = found.iter().map(|(row, _)| self.var(*row));
        let rows = rows.collect::<Result<Vec<_>, _>>()?;
        let ty = rows[0].ty;
        let fits = ty.scalar == ScalarType::F32 && WIDTHS.contains(&ty.lanes.into());
        let same = found.iter().all(|(_, other)| *other == at) && rows.iter().all(|r| r.ty == ty);
        if !fits || !same || !lanes.len().is_multiple_of(QUAD) {
            return Ok(None);
        }
        let widths = self.widths(&rows[0]);
        let ty = Ty {
            lanes: lanes.len() as u16,
            ..ty
        };
        let (mut left, mut parts) = (rows.as_slice(), vec![]);
        for width in shape(self.isa, ty.lanes, Lane::F32) {
            let count = width.bytes() / Lane::F32.bytes();
            let (own, others) = left.split_at(count);
            left = others;
            parts.push(match widths.get(at / count) {
                Some(of_rows) if *of_rows == width => {
                    let rows: Vec<Part> = own.iter().map(|row| row.parts[at / count]).collect();
                    self.turned(&rows, at % count, width)?
                }
                _ => self.turned_in_pieces(own, at, width)?,
            });
        }
        Ok(Some(Val {
            ty,
            lane: Lane::F32,
            parts,
        }))
    }

    /// A lane of as many registers as each has lanes.
    fn turned(&mut self, rows: &[Part], at: usize, width: Width) -> Result<Part, Refusal> {
        let quads = rows
            .chunks(QUAD)
            .map(|quad| self.turned_quad(quad, at % QUAD, width));
        let quads = quads.collect::<Result<Vec<_>, _>>()?;
        self.quads_of(&quads, at / QUAD, width)
    }

    /// Of each 128 bits of four registers one lane.
    fn turned_quad(&mut self, quad: &[Part], at: usize, width: Width) -> Result<Part, Refusal> {
        let pairs = [Op::UnpackLow, Op::UnpackHigh];
        let (of_pairs, of_lanes) = (pairs[at / 2], pairs[at % 2]);
        let low = self.vec2(of_pairs, Lane::F32, width, quad[0], quad[1])?;
        let high = self.vec2(of_pairs, Lane::F32, width, quad[2], quad[3])?;
        self.vec2(of_lanes, Lane::F64, width, low, high)
    }

    /// The same 128 bits of as many registers as each has of them.
    fn quads_of(&mut self, quads: &[Part], at: usize, width: Width) -> Result<Part, Refusal> {
        let (low, high) = match (self.isa, width) {
            (_, Width::X) => return Ok(quads[0]),
            (Isa::Avx2, _) => (0x20, 0x31),
            (_, Width::Y) => (0b00, 0b11),
            (_, Width::Z) => (0b1000_1000, 0b1101_1101),
        };
        let mut quads = quads.to_vec();
        let mut at = at;
        while quads.len() > 1 {
            let halves = if at.is_multiple_of(2) { low } else { high };
            at /= 2;
            let pairs = quads.chunks(2).map(|pair| {
                let args = [pair[0], pair[1]].map(|q| Arg::Reg(self.vector(q, Lane::F32, width)));
                self.vec(
                    Op::Quads,
                    Lane::F32,
                    width,
                    [&args[..], &[Arg::Imm(halves)]].concat(),
                )
            });
            quads = pairs.collect::<Result<_, _>>()?;
        }
        Ok(quads[0])
    }

    /// The same where registers of rows and of the column differ in width.
    fn turned_in_pieces(&mut self, rows: &[Val], at: usize, width: Width) -> Result<Part, Refusal> {
        let mut quads = vec![];
        for quad in rows.chunks(QUAD) {
            let pieces: Vec<Part> = quad.iter().map(|row| self.pieces(row)[at / QUAD]).collect();
            quads.push(self.turned_quad(&pieces, at % QUAD, Width::X)?);
        }
        let ty = Ty {
            scalar: ScalarType::F32,
            lanes: (width.bytes() / Lane::F32.bytes()) as u16,
        };
        Ok(self.join(&quads, ty, Lane::F32).parts[0])
    }
}
