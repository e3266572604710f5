//! `pack_bytes`: products of 8-bit integers, four bytes a word.
//!
//! Quantized models multiply `(x - zx) (w - zw)`, in `int32`, of elements `x` and `w` of 8 bits. Machines have instructions that
//! multiply four bytes of one word by four of another and add everything up (`T.dp4a_u8s8s32`; x86: `vpdpbusd`), of unsigned bytes by signed
//! ones. So both operands become words, of which the sum is
//!
//! ```text
//! Σ (x - zx) (w - zw) = Σ x w - zx Σ (w - zw) - zw Σ x
//! ```
//!
//! exactly, modulo 2³². The second sum is one of weights, which `fold_constant` or `lift_transform_params` takes out of inference with
//! their words; the third is only there where `zw` is not 0. Signed `x` and unsigned `w` are moved by 128, and their zero points too.
//!
//! Products in `float32` of such differences times scales, as between `DequantizeLinear` and `QuantizeLinear`, are sums in `int32` times
//! both scales, where the machine has the instruction and the sums fit. They are exact; their conversion and the two products are rounded.
//!
//! Byte `j` of word `i` is element `j * words + i` of the sum, so that what is packed is read in the order of memory; elements past the end
//! are 0 in both operands.

mod programs;

use super::op_pattern::{OP_PATTERN, number};
use super::{Cx, PassError};
use crate::ir::graph::{
    Arg, Become, Def, DpsCallee, Globals, GraphBuilder, InferError, Op, Rewriter, rewrite,
};
use crate::ir::{AttrValue, Attrs, Expr, Func, Module, PrimFunc, StructInfo, Var};
use crate::kernel::Target;
use crate::ops::{self, Pattern};
use crate::tensor::scalar::{Scalar, encode};
use crate::tensor::{DType, ScalarType, Tensor};
use programs::{Bytes, Window};

const MATMUL: Op = ops::op("matmul");
const CONVOLUTIONS: [Op; 3] = [
    ops::op("nn.conv1d"),
    ops::op("nn.conv2d"),
    ops::op("nn.conv3d"),
];
const ASTYPE: Op = ops::op("astype");
const SUBTRACT: Op = ops::op("subtract");
const RESHAPE: Op = ops::op("reshape");
const MULTIPLY: Op = ops::op("multiply");
const NARROW: [DType; 2] = [DType::I8, DType::U8];

/// The module where products of `int8` and `uint8` rows by a matrix, and convolutions of one group, are dot products of words. On the CPU alone.
///
/// ```text
/// a = R.astype(x, "int32")            p = R.call_tir(cls.packed, (x,), …)
/// b = R.astype(w, "int32")       →    q = R.call_tir(cls.packed1, (w,), …)
/// y = R.matmul(a, b)                  y = R.call_tir(cls.matmul_of_words, (p, q), …)
/// ```
///
/// # Errors
/// [`PassError::Type`] if the types of a call do not fit.
pub(super) fn pack_bytes(module: &Module, cx: &Cx) -> Result<Module, PassError> {
    let Target::Cpu(cpu) = &cx.target else {
        return Ok(module.clone());
    };
    // Narrower vectors are those of Cranelift's code, which multiplies bytes one by one.
    if cpu.f32_lanes < FEWEST_LANES {
        return Ok(module.clone());
    }
    let globals = Globals::of(module);
    let mut out = module.clone();
    for (name, function) in module.functions() {
        let mut changed = false;
        let new = rewrite(function, &globals, &mut |rewriter, old| {
            let product = Product::of(old.def, &old.value.sinfo, rewriter.builder());
            // Without VNNI, float32 is as fast, and minimal filtering needs fewer multiplications.
            let pays = |product: &Product| cpu.dot_bytes || product.scales.is_none();
            let Some(product) = product.filter(pays) else {
                return Ok(Become::Kept);
            };
            changed = true;
            let mut steps = Steps {
                out: &mut out,
                rewriter,
            };
            let made = steps.product(&product);
            made.map(Become::Arg).map_err(|error| PassError::Type {
                func: name.to_owned(),
                value: old.value.name.clone(),
                error: Box::new(error),
            })
        })?;
        if changed {
            out.funcs.insert(name.to_owned(), Func::Graph(new));
        }
    }
    Ok(out)
}

/// Fewest lanes of a vector that words pay for.
const FEWEST_LANES: u16 = 8;

/// An operand in `int32`: elements of 8 bits without their zero point.
struct Centred {
    elements: Arg,
    shape: Vec<Expr>,
    dtype: DType,
    /// Of `int32`. `None` if it is 0.
    zero: Option<Arg>,
    /// The operand as a whole, in `int32`, where it is a value.
    whole: Option<Arg>,
}

impl Centred {
    fn of(whole: &Arg, builder: &GraphBuilder) -> Option<Self> {
        let (cast, zero) = match op_call(whole, builder) {
            Some((op, [x, zero], _)) if op == SUBTRACT => (x, Some(zero)),
            _ => (whole, None),
        };
        let (op, [elements], _) = op_call(cast, builder)? else {
            return None;
        };
        let info = builder.scope().arg(elements);
        let info = info.as_tensor()?;
        let dtype = info.dtype?;
        let wide = builder.scope().arg(cast);
        let is_wide = wide.as_tensor().and_then(|wide| wide.dtype) == Some(DType::I32);
        let narrow = op == ASTYPE && NARROW.contains(&dtype);
        let zero = zero.filter(|zero| !is_zero(zero, builder));
        // Other zero points may be beyond the type, and others make the operand larger than its elements.
        if !zero.is_none_or(|zero| is_cast_from(zero, dtype, builder)) {
            return None;
        }
        let shape = info.shape.dims()?.to_vec();
        let all = builder.scope().arg(whole);
        let is_whole = all.as_tensor()?.shape.dims()? == shape.as_slice();
        (is_wide && narrow && is_whole).then(|| {
            Some(Self {
                elements: elements.clone(),
                shape,
                dtype,
                zero: zero.cloned(),
                whole: Some(whole.clone()),
            })
        })?
    }

    /// Of an operand in `float32`, the integers that its scale multiplies, and the scale.
    fn scaled(operand: &Arg, builder: &GraphBuilder) -> Option<(Self, Arg)> {
        let (op, [converted, scale], _) = op_call(operand, builder)? else {
            return None;
        };
        let (cast, [integers], _) = op_call(converted, builder)? else {
            return None;
        };
        if op != MULTIPLY || cast != ASTYPE {
            return None;
        }
        if let Some(centred) = Self::of(integers, builder) {
            return Some((centred, scale.clone()));
        }
        let info = builder.scope().arg(integers);
        let info = info.as_tensor()?;
        let dtype = info.dtype.filter(|dtype| NARROW.contains(dtype))?;
        let centred = Self {
            elements: integers.clone(),
            shape: info.shape.dims()?.to_vec(),
            dtype,
            zero: None,
            whole: None,
        };
        Some((centred, scale.clone()))
    }

    /// Whether there is no zero point, or one of a shape that fits.
    fn zero_is(&self, builder: &GraphBuilder, fits: impl FnOnce(&[Expr]) -> bool) -> bool {
        let Some(zero) = &self.zero else {
            return true;
        };
        let info = builder.scope().arg(zero);
        let dims = info.as_tensor().and_then(|info| info.shape.dims());
        dims.is_some_and(fits)
    }
}

fn op_call<'b>(arg: &Arg, builder: &'b GraphBuilder) -> Option<(Op, &'b [Arg], &'b Attrs)> {
    match arg {
        Arg::Value(id) => builder.values().get(*id)?.def.op_call(),
        _ => None,
    }
}

/// Whether a value is converted from elements of this type.
fn is_cast_from(arg: &Arg, dtype: DType, builder: &GraphBuilder) -> bool {
    match op_call(arg, builder) {
        Some((op, [from, ..], _)) if op == RESHAPE => is_cast_from(from, dtype, builder),
        Some((op, [from], _)) if op == ASTYPE => {
            let info = builder.scope().arg(from);
            info.as_tensor().and_then(|info| info.dtype) == Some(dtype)
        }
        _ => false,
    }
}

/// Whether a zero point is a constant of zeros, perhaps converted.
fn is_zero(arg: &Arg, builder: &GraphBuilder) -> bool {
    match (arg, op_call(arg, builder)) {
        (Arg::Const(tensor), _) => {
            tensor.dtype().scalar.is_int() && tensor.bytes().iter().all(|byte| *byte == 0)
        }
        (_, Some((op, [from, ..], _))) if op == ASTYPE || op == RESHAPE => is_zero(from, builder),
        _ => false,
    }
}

/// A product of two such operands.
struct Product {
    x: Centred,
    w: Centred,
    /// Those of `x` and of `w` where the product is one of `float32`.
    scales: Option<[Arg; 2]>,
    /// The windows of a convolution; `None` for a matrix product.
    windows: Option<Vec<Window>>,
    /// The shape of the result.
    shape: Vec<Expr>,
}

impl Product {
    fn of(def: &Def, result: &StructInfo, builder: &GraphBuilder) -> Option<Self> {
        let (op, [x, w], attrs) = def.op_call()? else {
            return None;
        };
        let is_conv = CONVOLUTIONS.contains(&op);
        if op != MATMUL && !is_conv {
            return None;
        }
        let info = result.as_tensor()?;
        let (x, w, scales) = match info.dtype? {
            DType::I32 => (Centred::of(x, builder)?, Centred::of(w, builder)?, None),
            DType::F32 => {
                let (x, of_x) = Centred::scaled(x, builder)?;
                let (w, of_w) = Centred::scaled(w, builder)?;
                (x, w, Some([of_x, of_w]))
            }
            _ => return None,
        };
        let windows = match is_conv {
            true => Some(windows(attrs, &w.shape)?),
            false => None,
        };
        let depth = w.shape.get(usize::from(is_conv))?.as_int()?;
        let product = Self {
            x,
            w,
            scales,
            windows,
            shape: info.shape.dims()?.to_vec(),
        };
        let fits = match product.windows {
            Some(_) => product.is_convolution(builder),
            None => product.is_matmul(builder),
        };
        (fits && depth >= FEWEST && product.has_scales(builder)).then_some(product)
    }

    /// Whether rows are multiplied by a matrix, and zero points are the same along the sum. The number of steps is known: nothing is left
    /// to be checked before a call.
    fn is_matmul(&self, builder: &GraphBuilder) -> bool {
        let ([_, .., steps], [depth, columns]) = (self.x.shape.as_slice(), self.w.shape.as_slice())
        else {
            return false;
        };
        let rank = self.x.shape.len();
        let of_rows = |zero: &[Expr]| zero.len() <= rank && zero.last().is_none_or(Expr::is_one);
        let of_columns = |zero: &[Expr]| match zero {
            [] => true,
            [n] => n.is_one() || n == columns,
            [one, n] => one.is_one() && (n.is_one() || n == columns),
            _ => false,
        };
        steps.as_int().is_some()
            && steps.as_int() == depth.as_int()
            && self.x.zero_is(builder, of_rows)
            && self.w.zero_is(builder, of_columns)
    }

    /// Whether extents but the number of images are known, so that nothing is left to be checked before a call, and zero points are as a
    /// convolution takes them: one of the image, and one of the weight or one for each channel of the result.
    fn is_convolution(&self, builder: &GraphBuilder) -> bool {
        let (x, w) = (&self.x.shape, &self.w.shape);
        let known = |extents: &[Expr]| extents.iter().all(|extent| extent.as_int().is_some());
        x.len() == w.len()
            && known(&x[1..])
            && known(w)
            && x[1].as_int() == w[1].as_int()
            && self.x.zero_is(builder, <[Expr]>::is_empty)
            && (self.w).zero_is(builder, |of_w| of_w.is_empty() || self.is_each_filter(of_w))
    }

    fn is_each_filter(&self, shape: &[Expr]) -> bool {
        let weight = &self.w.shape;
        let ones = |extents: &[Expr]| extents.iter().all(Expr::is_one);
        shape.len() == weight.len() && shape[0] == weight[0] && ones(&shape[1..])
    }

    /// Whether scales, if there are any, can be taken out of the sums, which then fit `int32`.
    fn has_scales(&self, builder: &GraphBuilder) -> bool {
        let Some([of_x, of_w]) = &self.scales else {
            return true;
        };
        let shape = |scale: &Arg| {
            let info = builder.scope().arg(scale);
            let info = info
                .as_tensor()
                .filter(|info| info.dtype == Some(DType::F32))?;
            Some(info.shape.dims()?.to_vec())
        };
        let (Some(of_x), Some(of_w)) = (shape(of_x), shape(of_w)) else {
            return false;
        };
        let (each, of_sum) = match self.windows {
            Some(_) => (self.is_each_filter(&of_w), &self.w.shape[1..]),
            None => {
                let columns = &self.w.shape[1];
                let is_row = matches!(of_w.as_slice(), [one, n] if one.is_one() && n == columns);
                (is_row, &self.w.shape[..1])
            }
        };
        let steps = of_sum
            .iter()
            .try_fold(1_i64, |all, extent| all.checked_mul(extent.as_int()?));
        of_x.is_empty() && (of_w.is_empty() || each) && steps.is_some_and(|n| n <= MOST_STEPS)
    }
}

/// Most products of two differences of bytes whose sum fits `int32`.
const MOST_STEPS: i64 = i32::MAX as i64 / (255 * 255);

/// Fewest elements that words pay for: three bytes of a word.
const FEWEST: i64 = 3;

/// The windows of a convolution in the layouts that channels are second in, of one group.
fn windows(attrs: &Attrs, weight: &[Expr]) -> Option<Vec<Window>> {
    let spatial = weight.len().checked_sub(2)?;
    let text = |name: &str| match attrs.get(name) {
        Some(AttrValue::Str(text)) => Some(text.as_str()),
        _ => None,
    };
    let letters = &"DHW"[3usize.checked_sub(spatial)?..];
    let is = |name: &str, first: &str| text(name).is_none_or(|t| t == format!("{first}{letters}"));
    let groups = attrs.get("groups").and_then(AttrValue::as_int);
    if groups != Some(1)
        || !is("data_layout", "NC")
        || !is("kernel_layout", "OI")
        || !text("out_layout").is_none_or(|t| t.is_empty() || t == format!("NC{letters}"))
    {
        return None;
    }
    let strides = ints(attrs, "strides", spatial)?;
    let dilations = ints(attrs, "dilation", spatial)?;
    let padding = match ints(attrs, "padding", 2 * spatial) {
        Some(padding) => padding,
        None => ints(attrs, "padding", spatial)?.repeat(2),
    };
    let window = |d: usize| Window {
        stride: strides[d],
        dilation: dilations[d],
        padding: (padding[d], padding[spatial + d]),
    };
    let all: Vec<Window> = (0..spatial).map(window).collect();
    let usual = |number: i64, least: i64| (least..=i64::from(i32::MAX)).contains(&number);
    let known = |w: &Window| {
        usual(w.padding.0, 0) && usual(w.padding.1, 0) && usual(w.stride, 1) && usual(w.dilation, 1)
    };
    all.iter().all(known).then_some(all)
}

/// So many integers; one may stand for all.
fn ints(attrs: &Attrs, name: &str, count: usize) -> Option<Vec<i64>> {
    let values: Vec<i64> = match attrs.get(name)? {
        AttrValue::List(list) => list.iter().map(AttrValue::as_int).collect::<Option<_>>()?,
        one => vec![one.as_int()?],
    };
    match values.as_slice() {
        [one] => Some(vec![*one; count]),
        _ => (values.len() == count).then_some(values),
    }
}

struct Steps<'a, 'f> {
    out: &'a mut Module,
    rewriter: &'a mut Rewriter<'f>,
}

impl Steps<'_, '_> {
    fn product(&mut self, product: &Product) -> Result<Arg, InferError> {
        let Product { x, w, windows, .. } = product;
        // `x` as unsigned bytes, `w` as signed ones.
        let [moved_x, moved_w] = [x.dtype == DType::I8, w.dtype == DType::U8];
        let zx = self.moved(x.zero.as_ref(), if moved_x { 128 } else { 0 })?;
        let zw = self.moved(w.zero.as_ref(), if moved_w { -128 } else { 0 })?;
        let bytes = |centred: &Centred, moved: bool| Bytes {
            dtype: centred.dtype,
            moved,
        };
        let (of_x, of_w) = (bytes(x, moved_x), bytes(w, moved_w));

        let (axis_x, axis_w) = match windows {
            Some(_) => (1, 1),
            None => (x.shape.len() - 1, 0),
        };
        let image = fresh(&x.shape);
        let padded = windows.as_deref().map(|windows| {
            let is_padded = windows.iter().any(|window| window.padding != (0, 0));
            (windows, zx.is_some() && is_padded)
        });
        let words = programs::packed(&image, of_x, axis_x, padded);
        let mut args = vec![x.elements.clone()];
        if let (Some((_, true)), Some(zx)) = (padded, &zx) {
            args.push(zx.clone());
        }
        let shape = programs::packed_shape(&x.shape, axis_x, padded.map(|(windows, _)| windows));
        let of_image = self.bind(words, args, int32(shape));
        let words = programs::packed(&fresh(&w.shape), of_w, axis_w, None);
        let shape = programs::packed_shape(&w.shape, axis_w, None);
        let of_weight = self.bind(words, vec![w.elements.clone()], int32(shape));

        let func = match windows {
            Some(windows) => programs::convolution(&image, &w.shape, windows),
            None => programs::matmul(&image, &fresh(&w.shape)),
        };
        let args = vec![of_image.clone(), of_weight];
        let mut sum = self.bind(func.map(fusible), args, int32(product.shape.clone()));

        if let Some(zx) = zx {
            let axes: Vec<usize> = match windows {
                Some(_) => (1..w.shape.len()).collect(),
                None => vec![0],
            };
            let whole = match &w.whole {
                Some(whole) => whole.clone(),
                None => self.cast(w.elements.clone(), DType::I32)?,
            };
            let mut of_weights = self.sum(&whole, &axes, false)?;
            if let Some(windows) = windows {
                // A number for each channel, which is the second dimension of the result.
                of_weights = self.broadcast(of_weights, &w.shape[0], windows.len())?;
            }
            let part = self.op("multiply", [zx, of_weights])?;
            sum = self.op("subtract", [sum, part])?;
        }
        if let Some(zw) = zw {
            let part = match windows {
                Some(windows) => self.zeros_of_filters(product, zw, of_image, &image, windows)?,
                None => {
                    let wide = self.cast(x.elements.clone(), DType::I32)?;
                    let mut of_rows = self.sum(&wide, &[axis_x], true)?;
                    if moved_x {
                        let depth = w.shape[0].as_int().unwrap_or_default();
                        of_rows = self.op("add", [of_rows, number_of(128 * depth)])?;
                    }
                    self.op("multiply", [zw, of_rows])?
                }
            };
            sum = self.op("subtract", [sum, part])?;
        }
        let Some([of_x, of_w]) = &product.scales else {
            return Ok(sum);
        };
        let of_w = match windows {
            Some(windows) => self.of_filters(of_w.clone(), &w.shape[0], windows.len())?,
            None => of_w.clone(),
        };
        // One after the other: their product may be no number of float32.
        let sum = self.cast(sum, DType::F32)?;
        let sum = self.op("multiply", [sum, of_x.clone()])?;
        self.op("multiply", [sum, of_w])
    }

    /// One number, or one for each filter, in a shape that broadcasts to the result of a convolution.
    fn of_filters(&mut self, x: Arg, filters: &Expr, spatial: usize) -> Result<Arg, InferError> {
        let info = self.rewriter.scope().arg(&x);
        let dims = info.as_tensor().and_then(|info| info.shape.dims());
        match dims.is_some_and(<[Expr]>::is_empty) {
            true => Ok(x),
            false => self.broadcast(x, filters, spatial),
        }
    }

    /// The zero points of the weight of a convolution times the sums of what the windows see.
    fn zeros_of_filters(
        &mut self,
        product: &Product,
        zw: Arg,
        of_image: Arg,
        image: &[Expr],
        windows: &[Window],
    ) -> Result<Arg, InferError> {
        let mut shape = product.shape.clone();
        shape[1] = Expr::i64(1);
        let sums = programs::window_sums(image, &product.w.shape, windows);
        let sums = self.bind(sums, vec![of_image], int32(shape));
        let zw = self.of_filters(zw, &product.w.shape[0], windows.len())?;
        self.op("multiply", [zw, sums])
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

/// The same extents, those that are not numbers as variables of a loop program.
fn fresh(shape: &[Expr]) -> Vec<Expr> {
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

fn int32(shape: Vec<Expr>) -> StructInfo {
    StructInfo::tensor(shape, DType::I32)
}

fn number_of(value: i64) -> Arg {
    let mut bytes = [0; 4];
    encode(Scalar::Int(value), ScalarType::I32, &mut bytes);
    let tensor = Tensor::from_bytes(DType::I32, &[], &bytes);
    Arg::Const(tensor.expect("four bytes are an int32"))
}
