//! The loop programs of a convolution by minimal filtering. Tiles of results are counted by their row and column in the image; channels
//! are neighbours in all tensors between input and result, so that each step is made of vectors.

use super::algorithm::{Filtering, Nested, TAPS};
use super::convolution::{Convolution, Image};
use crate::ir::{Expr, PrimFunc};
use crate::te::{self, Tensor};
use crate::tensor::DType;

const F32: DType = DType::F32;

/// The tensors between the steps.
pub(super) struct Shapes {
    /// The image with its channels last.
    pub(super) image: Vec<Expr>,
    /// What is multiplied, for each pair of points: tiles by channels.
    pub(super) inputs: Vec<Expr>,
    /// The weights, for each pair of points a matrix.
    pub(super) weights: Vec<Expr>,
    /// The products.
    pub(super) products: Vec<Expr>,
    /// Whole tiles of results with their channels last.
    pub(super) results: Vec<Expr>,
}

impl Shapes {
    /// Of so many images.
    pub(super) fn of(conv: &Convolution, filtering: Nested, batch: &Expr) -> Self {
        let points = filtering.map(|f| Expr::i64(f.inputs() as i64));
        let tiles = conv.tiles(filtering);
        let [height_of_tile, width_of_tile] = filtering.map(|f| f.results() as i64);
        let [height, width] = conv.image.extents;
        let batch = || batch.clone();
        let of_tiles = |channels: i64| {
            let [rows, columns, channels] = [tiles[0], tiles[1], channels].map(Expr::i64);
            let [down, across] = points.clone();
            vec![down, across, batch(), rows, columns, channels]
        };
        let pixels = |height: i64, width: i64, channels: i64| {
            let [height, width, channels] = [height, width, channels].map(Expr::i64);
            vec![batch(), height, width, channels]
        };
        Self {
            image: pixels(height, width, conv.inputs),
            inputs: of_tiles(conv.inputs),
            weights: [&points[..], &[conv.inputs.into(), conv.outputs.into()]].concat(),
            products: of_tiles(conv.outputs),
            results: pixels(
                tiles[0] * height_of_tile,
                tiles[1] * width_of_tile,
                conv.outputs,
            ),
        }
    }
}

/// `U = G g Gᵀ` of each filter, in `float64`, rounded once.
pub(super) fn weights(conv: &Convolution, filtering: Nested) -> Option<PrimFunc> {
    let shapes = Shapes::of(conv, filtering, &conv.batch);
    let weight = te::placeholder("W", conv.weight_shape.clone(), F32);
    let coefficients = filtering.map(Filtering::of_weights);
    let u = te::compute("U", shapes.weights, |at| {
        let [row, column, inputs, outputs] = [&at[0], &at[1], &at[2], &at[3]];
        let coefficient = |of: &[[f64; TAPS]], point: &Expr, tap: usize| {
            let values = of.iter().map(|row| Expr::float(row[tap], DType::F64));
            case(point, values.collect())
        };
        let [of_rows, of_columns] = &coefficients;
        let mut sum: Option<Expr> = None;
        for tap in 0..TAPS * TAPS {
            let (down, across) = (tap / TAPS, tap % TAPS);
            let place = [down, across].map(|tap| Expr::i64(tap as i64));
            let indices = conv.weight_at(outputs, inputs, &place);
            let element = weight.at(&indices).cast(DType::F64);
            let element = coefficient(of_rows, row, down) * element;
            let product = element * coefficient(of_columns, column, across);
            sum = Some(match sum {
                Some(sum) => sum + product,
                None => product,
            });
        }
        sum.expect("a filter has taps").cast(F32)
    });
    te::create_prim_func("winograd_weights", &[weight, u]).ok()
}

/// The image with its channels last.
pub(super) fn channels_last(conv: &Convolution, filtering: Nested) -> Option<PrimFunc> {
    let shapes = Shapes::of(conv, filtering, &conv.batch);
    let x = te::placeholder("X", conv.image.shape.clone(), F32);
    let turned = te::compute("turned", shapes.image, |at| x.at(conv.image.place(at)));
    te::create_prim_func("channels_last", &[x, turned]).ok()
}

/// The tiles of an image whose channels are last, transformed.
pub(super) fn inputs(conv: &Convolution, filtering: Nested) -> Option<PrimFunc> {
    let shapes = Shapes::of(conv, filtering, &conv.batch);
    let x = te::placeholder("X", shapes.image, F32);
    let v = transformed(conv, filtering, &x);
    te::create_prim_func("winograd_inputs", &[x, v]).ok()
}

/// The products of transformed tiles and weights.
pub(super) fn products(conv: &Convolution, filtering: Nested) -> Option<PrimFunc> {
    let shapes = Shapes::of(conv, filtering, &conv.batch);
    let v = te::placeholder("V", shapes.inputs, F32);
    let u = te::placeholder("U", shapes.weights, F32);
    let m = multiplied(conv, filtering, &v, &u);
    te::create_prim_func("winograd_products", &[v, u, m]).ok()
}

/// The results of products, in whole tiles.
pub(super) fn results(conv: &Convolution, filtering: Nested) -> Option<PrimFunc> {
    let shapes = Shapes::of(conv, filtering, &conv.batch);
    let m = te::placeholder("M", shapes.products, F32);
    let z = transformed_back(conv, filtering, &m);
    te::create_prim_func("winograd_results", &[m, z]).ok()
}

/// All three steps as one program, with no tensors between them in memory.
pub(super) fn fused(conv: &Convolution, filtering: Nested) -> Option<PrimFunc> {
    let shapes = Shapes::of(conv, filtering, &conv.batch);
    let x = te::placeholder("X", shapes.image, F32);
    let u = te::placeholder("U", shapes.weights, F32);
    let v = transformed(conv, filtering, &x);
    let m = multiplied(conv, filtering, &v, &u);
    let z = transformed_back(conv, filtering, &m);
    te::create_prim_func("winograd_conv2d", &[x, u, z]).ok()
}

/// `V = Bᵀ d B` of each tile of the image, padded with zeros.
fn transformed(conv: &Convolution, filtering: Nested, x: &Tensor) -> Tensor {
    let shapes = Shapes::of(conv, filtering, &conv.batch);
    let [tile_rows, tile_columns] = conv.tiles(filtering);
    let [of_rows, of_columns] = filtering.map(Filtering::of_inputs);
    let [tile_height, tile_width] = filtering.map(|f| f.results() as i64);
    let Image { pad, extents, .. } = &conv.image;
    let height = Expr::i64(tile_rows * tile_height + 2);
    let width = Expr::i64(tile_columns * tile_width + 2);
    let channels = || Expr::i64(conv.inputs);
    let padded = [conv.batch.clone(), height, width.clone(), channels()];
    let padded = te::compute("padded", padded, |at| {
        let inside = [0, 1].map(|d| (&at[d + 1], pad[d], extents[d]));
        let inside = inside
            .into_iter()
            .flat_map(|(at, pad, extent)| [at.ge(pad), at.lt(pad + extent)]);
        let [row, column] = [&at[1] - pad[0], &at[2] - pad[1]];
        let element = x.at([&at[0], &row, &column, &at[3]]);
        te::if_then_else(te::all(inside), element, Expr::float(0.0, F32))
    });
    let rows = [
        conv.batch.clone(),
        tile_rows.into(),
        width,
        Expr::i64(filtering[0].inputs() as i64),
        channels(),
    ];
    let rows = te::compute("rows", rows, |at| {
        let element = |step: usize| {
            let row = &at[1] * tile_height + step as i64;
            padded.at([&at[0], &row, &at[2], &at[4]])
        };
        combined(&at[3], &of_rows, element)
    });
    te::compute("V", shapes.inputs, |at| {
        let element = |step: usize| {
            let column = &at[4] * tile_width + step as i64;
            rows.at([&at[2], &at[3], &column, &at[0], &at[5]])
        };
        combined(&at[1], &of_columns, element)
    })
}

/// `M = V U` for each pair of points.
fn multiplied(conv: &Convolution, filtering: Nested, v: &Tensor, u: &Tensor) -> Tensor {
    let shapes = Shapes::of(conv, filtering, &conv.batch);
    let k = te::reduce_axis("k", conv.inputs);
    te::compute("M", shapes.products, |at| {
        let [row, column] = [&at[0], &at[1]];
        let v = v.at([row, column, &at[2], &at[3], &at[4], &k.expr()]);
        te::sum(v * u.at([row, column, &k.expr(), &at[5]]), [&k])
    })
}

/// `Y = Aᵀ M A` of each tile.
fn transformed_back(conv: &Convolution, filtering: Nested, m: &Tensor) -> Tensor {
    let shapes = Shapes::of(conv, filtering, &conv.batch);
    let [tile_rows, tile_columns] = conv.tiles(filtering);
    let [of_rows, of_columns] = filtering.map(Filtering::of_results);
    let [tile_height, tile_width] = filtering.map(|f| f.results() as i64);
    let columns = [
        conv.batch.clone(),
        Expr::i64(tile_rows * tile_height),
        tile_columns.into(),
        Expr::i64(filtering[1].inputs() as i64),
        conv.outputs.into(),
    ];
    let columns = te::compute("columns", columns, |at| {
        let element = |point: usize| {
            let (point, row) = (Expr::i64(point as i64), at[1].floor_div(tile_height));
            m.at([&point, &at[3], &at[0], &row, &at[2], &at[4]])
        };
        combined(&at[1].floor_mod(tile_height), &of_rows, element)
    });
    te::compute("Z", shapes.results, |at| {
        let element = |point: usize| {
            let (point, column) = (Expr::i64(point as i64), at[2].floor_div(tile_width));
            columns.at([&at[0], &at[1], &column, &point, &at[3]])
        };
        combined(&at[2].floor_mod(tile_width), &of_columns, element)
    })
}

/// The results in their own layout.
pub(super) fn in_layout(conv: &Convolution, filtering: Nested) -> Option<PrimFunc> {
    let shapes = Shapes::of(conv, filtering, &conv.batch);
    let z: Tensor = te::placeholder("Z", shapes.results, F32);
    let y = te::compute("conv2d", conv.result_shape.clone(), |at| {
        z.at(conv.result_places(at))
    });
    te::create_prim_func("channels_placed", &[z, y]).ok()
}

/// The row of the matrix that the case says, times these elements.
fn combined(which: &Expr, coefficients: &[Vec<f64>], element: impl Fn(usize) -> Expr) -> Expr {
    let row = |row: &Vec<f64>| {
        let terms = row.iter().enumerate().filter(|(_, c)| **c != 0.0);
        let sum = terms.fold(None, |sum: Option<Expr>, (at, &c)| {
            let element = element(at);
            Some(match (sum, c) {
                (None, 1.0) => element,
                (None, _) => element * Expr::float(c, F32),
                (Some(sum), 1.0) => sum + element,
                (Some(sum), -1.0) => sum - element,
                (Some(sum), _) => sum + element * Expr::float(c, F32),
            })
        });
        sum.unwrap_or_else(|| Expr::float(0.0, F32))
    };
    case(which, coefficients.iter().map(row).collect())
}

/// The value with this number, from 0 on.
fn case(which: &Expr, values: Vec<Expr>) -> Expr {
    let mut values = values.into_iter().enumerate().rev();
    let (_, last) = values.next().expect("there are cases");
    values.fold(last, |others, (number, value)| {
        te::if_then_else(which.equals(number as i64), value, others)
    })
}
