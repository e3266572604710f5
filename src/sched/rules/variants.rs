//! The sizes for which a program of open sizes has variants: those of one row of its product, whose schedule differs most from that of
//! many rows, and ranges of rows that want tiles of their own.

use super::pattern::{Matmul, Pattern, classify};
use super::{cpu, gpu, is_scheduled};
use crate::arith::specialized;
use crate::ir::{BlockId, Expr, ExprKind, Param, Place, PrimFunc, Stmt, Var};
use crate::kernel::{GpuTarget, Target};
use crate::tensor::DType;

/// What launches of a program are told apart by.
#[derive(Clone, Default, Debug)]
pub struct Variants {
    /// The sizes that number the rows of a product. Each is an extent of a parameter.
    pub rows: Vec<Var>,
    /// Whether one row has a variant.
    pub one_row: bool,
    /// Numbers of rows up to which there are variants from two rows on, whose threads have a sum of each row.
    pub few: Vec<i64>,
    /// A number of which the rows of a variant are a multiple: it has no tile in part.
    pub aligned: Option<Aligned>,
    /// Ranges of rows with variants, from few to many.
    pub ranges: Vec<Rows>,
    /// How many rows usual launches have that no variant is for, where something is known of them.
    pub usual: Option<i64>,
    /// What a variant for large products is told by.
    pub large: Option<Large>,
}

/// Large products of which several of rows, columns and sums are open: else their tiles would be those of products of usual, few rows.
#[derive(Clone, Default, Debug)]
pub struct Large {
    /// That those which are open are many.
    pub conditions: Vec<Expr>,
    /// What the schedule is chosen for, by size.
    pub usual: Vec<(Var, i64)>,
}

/// A number that rows are a multiple of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Aligned {
    /// The number.
    pub multiple: i64,
    /// What the schedule is chosen for.
    pub usual: i64,
}

/// A range of rows, which begins behind the range before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rows {
    /// The last.
    pub most: i64,
    /// What the schedule is chosen for.
    pub usual: i64,
}

/// The variants that a program is to have, if it is to have any.
pub fn variants(func: &PrimFunc, target: &Target) -> Option<Variants> {
    if is_scheduled(func) {
        return None;
    }
    let blocks = func.child_blocks(Place::Block(func.root));
    blocks.into_iter().find_map(|block| {
        let Pattern::Matmul(matmul) = classify(func, block) else {
            return None;
        };
        let large = match target {
            Target::Gpu(gpu) => large(func, block, &matmul, gpu),
            Target::Cpu(_) => None,
        };
        let sides = [(&matmul.m, &matmul.n), (&matmul.n, &matmul.m)];
        let by_rows = sides.into_iter().find_map(|(rows, columns)| {
            let rows = open_rows(func, block, &matmul, rows, columns)?;
            let one: Vec<(Var, i64)> = rows.iter().map(|var| (var.clone(), 1)).collect();
            let of_one = specialized(func, &one);
            let (one_row, (ranges, usual)) = match target {
                Target::Gpu(gpu) => (
                    gpu::pays_for_one_row(&of_one, block, gpu),
                    gpu::ranges_of_rows(func, block, &rows, gpu),
                ),
                Target::Cpu(_) => (cpu::pays_for_one_row(&of_one, block), (vec![], None)),
            };
            let (few, aligned) = match (target, rows.as_slice()) {
                (Target::Gpu(gpu), [_]) => bounded(func, block, &rows, gpu),
                _ => (vec![], None),
            };
            let pays = one_row
                || !few.is_empty()
                || aligned.is_some()
                || !ranges.is_empty()
                || usual.is_some();
            pays.then_some(Variants {
                rows,
                one_row,
                few,
                aligned,
                ranges,
                usual,
                large: None,
            })
        });
        match (by_rows, large) {
            (None, None) => None,
            (by_rows, large) => Some(Variants {
                large,
                ..by_rows.unwrap_or_default()
            }),
        }
    })
}

/// Large products, if two of rows, columns and sums are open at least, each by sizes that are extents of parameters.
fn large(func: &PrimFunc, block: BlockId, matmul: &Matmul, target: &GpuTarget) -> Option<Large> {
    if !gpu::pays_for_large(func, block, target) {
        return None;
    }
    let (mut open, mut large) = (0, Large::default());
    for role in [&matmul.m, &matmul.n, &matmul.k] {
        let extents: Vec<&Expr> = role
            .iter()
            .map(|&at| &func.blocks[block].iters[at].dom.extent)
            .collect();
        let sizes = extents.iter().filter(|extent| extent.as_int().is_none());
        let sizes: Option<Vec<Var>> = sizes
            .map(|extent| {
                size(extent)
                    .filter(|var| is_extent_of_parameter(func, var))
                    .cloned()
            })
            .collect();
        let mut sizes = sizes?.into_iter();
        let Some(first) = sizes.next() else {
            continue;
        };
        open += 1;
        let all = extents.into_iter().map(|extent| extent.cast(DType::I64));
        let many = Expr::i64(LARGE).le(all.reduce(|a, b| a * b)?);
        if !large.conditions.contains(&many) {
            large.conditions.push(many);
        }
        large.usual.push((first, USUAL_OF_LARGE));
        large.usual.extend(sizes.map(|var| (var, 1)));
    }
    (open > 1).then_some(large)
}

/// Numbers of few rows, and what rows are a multiple of, for which rules make something of their own of a product of open rows.
fn bounded(
    func: &PrimFunc,
    block: BlockId,
    rows: &[Var],
    target: &GpuTarget,
) -> (Vec<i64>, Option<Aligned>) {
    let few = FEW_ROWS.into_iter().filter(|&most| {
        let program = asserting(func, &few_rows(rows, most), "");
        gpu::pays_for_few_rows(&program, block, target)
    });
    let aligned = asserting(func, &ALIGNED.rows(rows), "");
    let pays = gpu::pays_for_whole_tiles(&aligned, block, target);
    (few.collect(), pays.then_some(ALIGNED))
}

/// How many rows these sizes number.
pub fn number_of_rows(rows: &[Var]) -> Expr {
    let all = rows.iter().map(|var| var.expr().cast(DType::I64));
    all.reduce(|a, b| a * b).unwrap_or(Expr::i64(1))
}

/// That there are two rows at least, and so many at most.
pub fn few_rows(rows: &[Var], most: i64) -> [Expr; 2] {
    let all = number_of_rows(rows);
    [Expr::i64(2).le(&all), all.le(most)]
}

impl Aligned {
    /// That the rows are a multiple of the number.
    pub fn rows(self, rows: &[Var]) -> [Expr; 1] {
        let all = number_of_rows(rows);
        [all.floor_mod(self.multiple).equals(Expr::i64(0))]
    }
}

/// The program with assertions of its sizes.
pub fn asserting(func: &PrimFunc, conditions: &[Expr], message: &str) -> PrimFunc {
    let mut func = func.clone();
    let assertion = |cond: &Expr| Stmt::Assert {
        cond: cond.clone(),
        message: message.to_owned(),
    };
    let root: Place = func.root.into();
    let body = func.tree.take_body(root);
    let assertions = conditions.iter().map(assertion);
    func.tree.set_body(root, assertions.chain(body).collect());
    func
}

/// The open extents of the rows of a product. Its columns and sums have others.
fn open_rows(
    func: &PrimFunc,
    block: BlockId,
    matmul: &Matmul,
    rows: &[usize],
    columns: &[usize],
) -> Option<Vec<Var>> {
    let iters = &func.blocks[block].iters;
    let mut sizes: Vec<Var> = vec![];
    for &at in rows {
        let extent = &iters[at].dom.extent;
        match (extent.as_int(), size(extent)) {
            (Some(_), _) => {}
            (None, Some(var)) if is_extent_of_parameter(func, var) => {
                if !sizes.contains(var) {
                    sizes.push(var.clone());
                }
            }
            _ => return None,
        }
    }
    let others = columns.iter().chain(&matmul.k);
    let mut others = others.map(|&at| &iters[at].dom.extent);
    let apart = others.all(|extent| sizes.iter().all(|var| !extent.uses(var)));
    (apart && !sizes.is_empty()).then_some(sizes)
}

/// The variable that an extent is, whatever type it is converted to.
fn size(extent: &Expr) -> Option<&Var> {
    match extent.kind() {
        ExprKind::Cast(inner) => size(inner),
        _ => extent.as_var(),
    }
}

/// Whether the arguments of a call decide a size, and nothing else does.
fn is_extent_of_parameter(func: &PrimFunc, var: &Var) -> bool {
    let is_scalar = |param: &Param| matches!(param, Param::Scalar(scalar) if scalar == var);
    let mut extents = func.buffer_params().flat_map(|buffer| buffer.shape());
    !func.params.iter().any(is_scalar) && extents.any(|extent| extent.as_var() == Some(var))
}

/// Most rows of variants of few rows: a thread has a sum for each of so many, whether they are there or not.
const FEW_ROWS: [i64; 2] = [4, 8];

/// Of what the rows of a variant of whole tiles are a multiple, and the rows that its schedule is chosen for.
const ALIGNED: Aligned = Aligned {
    multiple: 64,
    usual: 512,
};

/// How many rows, columns and terms a large product has at least, and for how many its schedule is chosen. (With 256 that is predicted to be the
/// faster one for all classes of devices but Intel's, with 512 for all.)
const LARGE: i64 = 256;
const USUAL_OF_LARGE: i64 = 512;

/// Numbers of rows for which ways are compared, but not beyond so many rows and columns of a matrix.
const ROWS: [i64; 21] = [
    2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 2048, 4096,
];

/// What a way may take in terms of the best one for some number of rows, so that others need no variant; and how many ranges there are,
/// at most.
const NEAR: f64 = 1.15;
const MOST_RANGES: usize = 3;

/// The ranges of rows, of which each has one way that is near the best of all for each number of rows; the last one has no end. `time`
/// gives the seconds of each way for so many rows, in the same order always.
pub(super) fn ranges(time: impl Fn(i64) -> Vec<f64>) -> Vec<Rows> {
    let times: Vec<Vec<f64>> = ROWS.iter().map(|&rows| time(rows)).collect();
    let best_at = |at: usize| {
        let ways = times[at].iter().enumerate();
        ways.min_by(|a, b| a.1.total_cmp(b.1)).map(|(way, _)| way)
    };
    let best: Option<Vec<usize>> = (0..ROWS.len()).map(best_at).collect();
    let Some(best) = best.filter(|_| times[0].len() > 1) else {
        return vec![];
    };
    let mut near = NEAR;
    loop {
        // The one of these numbers of rows whose best way is near the best for each of them.
        let usual = |first: usize, last: usize| {
            let excess = |way: usize| {
                let all = (first..=last).map(|at| times[at][way] / times[at][best[at]]);
                all.fold(1.0, f64::max)
            };
            // Of several, the most rows.
            let all = (first..=last).rev().map(|at| (at, excess(best[at])));
            let least = all.min_by(|a, b| a.1.total_cmp(&b.1));
            least
                .filter(|(_, excess)| *excess <= near)
                .map(|(at, _)| at)
        };
        let mut found = vec![];
        let mut first = 0;
        while first < ROWS.len() {
            let mut range = (first, first);
            for last in first..ROWS.len() {
                match usual(first, last) {
                    Some(usual) => range = (last, usual),
                    None => break,
                }
            }
            let (last, usual) = range;
            found.push(Rows {
                most: if last + 1 < ROWS.len() {
                    ROWS[last + 1] - 1
                } else {
                    i64::MAX
                },
                usual: ROWS[usual],
            });
            first = last + 1;
        }
        if found.len() <= MOST_RANGES {
            return found;
        }
        near *= NEAR;
    }
}
