//! The calls that compute a product of bytes.

use super::operand::tensor;
use super::product::Product;
use super::programs::{self, Bytes};
use crate::ir::graph::{Arg, Def, DpsCallee, InferError, Rewriter};
use crate::ir::{AttrValue, Attrs, Expr, Module, PrimFunc, StructInfo, Var};
use crate::ops::nn::Window;
use crate::ops::{self, Pattern};
use crate::passes::op_pattern::{OP_PATTERN, number};
use crate::tensor::scalar::{Scalar, encode};
use crate::tensor::{DType, ScalarType, Tensor};

/// Binds calls before the value that is rewritten.
pub(super) struct Calls<'a, 'f> {
    pub(super) out: &'a mut Module,
    pub(super) rewriter: &'a mut Rewriter<'f>,
}

/// The zero points of operands that are unsigned and signed bytes now; `None` if they are 0.
struct Zeros {
    x: Option<Arg>,
    w: Option<Arg>,
}

/// Which dimension is summed over.
struct Axes {
    x: usize,
    w: usize,
}

impl Calls<'_, '_> {
    /// The product, exact in `int32`, and its scales.
    pub(super) fn product(&mut self, product: &Product) -> Result<Arg, InferError> {
        let Product { x, w, windows, .. } = product;
        let zeros = Zeros {
            x: self.moved(x.zero.as_ref(), if is_signed(x.dtype) { 128 } else { 0 })?,
            w: self.moved(w.zero.as_ref(), if is_signed(w.dtype) { 0 } else { -128 })?,
        };
        let axes = match windows {
            Some(_) => Axes { x: 1, w: 1 },
            None => Axes {
                x: x.shape.len() - 1,
                w: 0,
            },
        };
        // The extents of the programs. Those that are not numbers are variables of theirs.
        let shape = fresh(&x.shape);
        let image = self.words_of_x(product, &shape, &axes, zeros.x.as_ref());
        let of_w = Bytes {
            dtype: w.dtype,
            moved: !is_signed(w.dtype),
        };
        let weight = self.bind(
            programs::packed(&fresh(&w.shape), of_w, axes.w, None),
            vec![w.elements.clone()],
            int32(programs::packed_shape(&w.shape, axes.w, None)),
        );
        let func = match windows {
            Some(windows) => programs::convolution(&shape, &w.shape, windows),
            None => programs::matmul(&shape, &fresh(&w.shape)),
        };
        let args = vec![image.clone(), weight];
        let mut sum = self.bind(func.map(fusible), args, int32(product.shape.clone()));
        if let Some(zero) = zeros.x {
            let part = self.of_zero_of_x(product, zero)?;
            sum = self.op("subtract", [sum, part])?;
        }
        if let Some(zero) = zeros.w {
            let part = match windows {
                Some(windows) => self.of_zeros_of_filters(product, zero, image, &shape, windows)?,
                None => self.of_zeros_of_columns(product, zero, &axes)?,
            };
            sum = self.op("subtract", [sum, part])?;
        }
        self.scaled(product, sum)
    }

    /// `x` in words, with the padding of a convolution.
    fn words_of_x(
        &mut self,
        product: &Product,
        shape: &[Expr],
        axes: &Axes,
        zero: Option<&Arg>,
    ) -> Arg {
        let Product { x, windows, .. } = product;
        let bytes = Bytes {
            dtype: x.dtype,
            moved: is_signed(x.dtype),
        };
        let windows = windows.as_deref();
        let is_padded =
            windows.is_some_and(|all| all.iter().any(|window| window.padding != (0, 0)));
        let zero = zero.filter(|_| is_padded);
        let padded = windows.map(|windows| (windows, zero.is_some()));
        let args = [&x.elements].into_iter().chain(zero).cloned();
        self.bind(
            programs::packed(shape, bytes, axes.x, padded),
            args.collect(),
            int32(programs::packed_shape(&x.shape, axes.x, windows)),
        )
    }

    /// The zero point of `x` times the sums of the weight.
    fn of_zero_of_x(&mut self, product: &Product, zero: Arg) -> Result<Arg, InferError> {
        let Product { w, windows, .. } = product;
        let whole = match &w.whole {
            Some(whole) => whole.clone(),
            None => self.cast(w.elements.clone(), DType::I32)?,
        };
        let sums = match windows {
            Some(windows) => {
                let axes: Vec<usize> = (1..w.shape.len()).collect();
                let sums = self.sum(&whole, &axes, false)?;
                self.broadcast(sums, &w.shape[0], windows.len())?
            }
            None => self.sum(&whole, &[0], false)?,
        };
        self.op("multiply", [zero, sums])
    }

    /// The zero points of the columns of a matrix times the sums of rows.
    fn of_zeros_of_columns(
        &mut self,
        product: &Product,
        zeros: Arg,
        axes: &Axes,
    ) -> Result<Arg, InferError> {
        let Product { x, w, .. } = product;
        let wide = self.cast(x.elements.clone(), DType::I32)?;
        let mut sums = self.sum(&wide, &[axes.x], true)?;
        if is_signed(x.dtype) {
            let steps = w.shape[0].as_int().unwrap_or_default();
            sums = self.op("add", [sums, number_of(128 * steps)])?;
        }
        self.op("multiply", [zeros, sums])
    }

    /// The product of floats whose integers are summed up.
    fn scaled(&mut self, product: &Product, sum: Arg) -> Result<Arg, InferError> {
        let Some([of_x, of_w]) = &product.scales else {
            return Ok(sum);
        };
        let of_w = match &product.windows {
            Some(windows) => self.of_filters(of_w.clone(), &product.w.shape[0], windows.len())?,
            None => of_w.clone(),
        };
        // One after the other: the product of both may overflow.
        let sum = self.cast(sum, DType::F32)?;
        let sum = self.op("multiply", [sum, of_x.clone()])?;
        self.op("multiply", [sum, of_w])
    }

    /// One number, or one for each filter, in a shape that broadcasts to the result of a convolution.
    fn of_filters(&mut self, x: Arg, filters: &Expr, spatial: usize) -> Result<Arg, InferError> {
        match tensor(&x, self.rewriter.builder()) {
            Some((_, shape)) if shape.is_empty() => Ok(x),
            _ => self.broadcast(x, filters, spatial),
        }
    }

    /// The zero points of filters times the sums of windows.
    fn of_zeros_of_filters(
        &mut self,
        product: &Product,
        zeros: Arg,
        image: Arg,
        extents: &[Expr],
        windows: &[Window],
    ) -> Result<Arg, InferError> {
        let mut shape = product.shape.clone();
        shape[1] = Expr::i64(1);
        let sums = programs::window_sums(extents, &product.w.shape, windows);
        let sums = self.bind(sums, vec![image], int32(shape));
        let zeros = self.of_filters(zeros, &product.w.shape[0], windows.len())?;
        self.op("multiply", [zeros, sums])
    }

    /// A zero point moved by a number, if that is not 0.
    fn moved(&mut self, zero: Option<&Arg>, by: i64) -> Result<Option<Arg>, InferError> {
        Ok(match (zero, by) {
            (None, 0) => None,
            (None, by) => Some(number_of(by)),
            (Some(zero), 0) => Some(zero.clone()),
            (Some(zero), by) => Some(self.op("add", [zero.clone(), number_of(by)])?),
        })
    }

    fn op<const N: usize>(&mut self, name: &str, args: [Arg; N]) -> Result<Arg, InferError> {
        self.op_with(name, args.to_vec(), Attrs::new())
    }

    fn op_with(&mut self, name: &str, args: Vec<Arg>, attrs: Attrs) -> Result<Arg, InferError> {
        let made = self
            .rewriter
            .builder()
            .op("lv", ops::op(name), args, attrs)?;
        Ok(Arg::Value(made))
    }

    fn cast(&mut self, x: Arg, dtype: DType) -> Result<Arg, InferError> {
        let to = [("dtype".to_owned(), AttrValue::DType(dtype))];
        self.op_with("astype", vec![x], Attrs::from_iter(to))
    }

    fn sum(&mut self, x: &Arg, axes: &[usize], keepdims: bool) -> Result<Arg, InferError> {
        let axes = axes.iter().map(|axis| AttrValue::Int(*axis as i64));
        let attrs = [
            ("axis".to_owned(), AttrValue::List(axes.collect())),
            ("keepdims".to_owned(), AttrValue::Bool(keepdims)),
        ];
        self.op_with("sum", vec![x.clone()], Attrs::from_iter(attrs))
    }

    /// Numbers of channels in a shape that broadcasts along so many dimensions behind them.
    fn broadcast(&mut self, x: Arg, channels: &Expr, behind: usize) -> Result<Arg, InferError> {
        let mut shape = vec![Expr::i64(1); behind + 1];
        shape[0] = channels.clone();
        self.op_with("reshape", vec![x, Arg::Shape(shape)], Attrs::new())
    }

    fn bind(&mut self, func: Option<PrimFunc>, args: Vec<Arg>, info: StructInfo) -> Arg {
        let func = func.expect("tensor expressions of these shapes are loop programs");
        let name = func.name.clone();
        let callee = DpsCallee::Prim(self.out.add_prim_func(&name, func));
        let call = Def::CallDps {
            callee,
            args,
            tir_vars: vec![],
            inplace: None,
            out: info.clone(),
        };
        Arg::Value(self.rewriter.builder().bind_as(name, call, info))
    }
}

/// The same extents, with variables of a loop program for those that are not numbers.
pub(super) fn fresh(shape: &[Expr]) -> Vec<Expr> {
    let extents = shape.iter().enumerate();
    extents
        .map(|(at, extent)| match extent.as_int() {
            Some(_) => extent.clone(),
            None => Var::new(format!("n{at}"), DType::I64).expr(),
        })
        .collect()
}

/// The program as one that what follows is fused with, as with other products.
fn fusible(mut func: PrimFunc) -> PrimFunc {
    let pattern = AttrValue::Int(number(Pattern::OutEWiseFusable));
    func.attrs.insert(OP_PATTERN.to_owned(), pattern);
    func
}

fn is_signed(dtype: DType) -> bool {
    dtype == DType::I8
}

fn int32(shape: Vec<Expr>) -> StructInfo {
    StructInfo::tensor(shape, DType::I32)
}

fn number_of(value: i64) -> Arg {
    let mut bytes = [0; 4];
    encode(Scalar::Int(value), ScalarType::I32, &mut bytes);
    let tensor = Tensor::from_bytes(DType::I32, &[], &bytes);
    Arg::Const(tensor.expect("four bytes are an int32"))
}
