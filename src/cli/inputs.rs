//! What a function is given: tensors from files, and made-up numbers where only a shape is said.

use indexmap::IndexMap;

use super::args::InputArgs;
use super::error::CliError;
use crate::arith::Analyzer;
use crate::frontend::load_tensor;
use crate::ir::graph::{Function, dims};
use crate::ir::{Expr, ShapeInfo, StructInfo, TensorInfo, Var};
use crate::tensor::scalar::{Scalar, encode};
use crate::tensor::{DType, ScalarType, Tensor, TensorError};

/// The arguments of a function, in the order of its parameters. A shape may also be said for a symbolic dimension
/// (`--shape n=128`); parameters whose extents are all known by then need nothing.
pub(crate) fn gather(function: &Function, args: &InputArgs) -> Result<Vec<Tensor>, CliError> {
    let params: Vec<(&str, &TensorInfo)> = function
        .params
        .iter()
        .map(|id| {
            let value = &function.values[*id];
            let info = value
                .sinfo
                .as_tensor()
                .ok_or_else(|| CliError::NotATensor {
                    param: value.name.clone(),
                })?;
            Ok((value.name.as_str(), info))
        })
        .collect::<Result<_, CliError>>()?;
    let mut given: IndexMap<&str, Tensor> = IndexMap::new();
    for (name, path) in &args.inputs {
        known(&params, name)?;
        given.insert(name, load_tensor(path)?);
    }
    let mut bound = IndexMap::new();
    let mut shapes: IndexMap<&str, Vec<usize>> = IndexMap::new();
    for (name, shape) in &args.shapes {
        if params.iter().any(|(param, _)| param == name) {
            shapes.insert(name, shape.clone());
        } else {
            bind_dim(&params, name, shape, &mut bound)?;
        }
    }
    for (name, info) in &params {
        let shape = given
            .get(name)
            .map(Tensor::shape)
            .or_else(|| shapes.get(name).map(Vec::as_slice));
        if let Some(shape) = shape {
            let dims = shape.iter().map(|&dim| extent(dim)).collect();
            let dtype = info.dtype.unwrap_or(DType::F32);
            let param = StructInfo::Tensor((*info).clone());
            dims::bind_vars(&param, &StructInfo::tensor(dims, dtype), &mut bound);
        }
    }
    let mut tensors = Vec::with_capacity(params.len());
    for (seed, (name, info)) in params.iter().enumerate() {
        let tensor = match (given.swap_remove(name), shapes.get(name)) {
            (Some(tensor), _) => tensor,
            (None, Some(shape)) => made_up(info.dtype.unwrap_or(DType::F32), shape, seed)?,
            (None, None) => {
                let shape = known_shape(name, info, &bound)?;
                made_up(info.dtype.unwrap_or(DType::F32), &shape, seed)?
            }
        };
        tensors.push(tensor);
    }
    Ok(tensors)
}

fn known(params: &[(&str, &TensorInfo)], name: &str) -> Result<(), CliError> {
    if params.iter().any(|(param, _)| *param == name) {
        return Ok(());
    }
    Err(CliError::NoSuchParam {
        name: name.to_owned(),
        params: params
            .iter()
            .map(|(param, _)| (*param).to_owned())
            .collect(),
    })
}

/// Gives a symbolic dimension its value.
fn bind_dim(
    params: &[(&str, &TensorInfo)],
    name: &str,
    shape: &[usize],
    bound: &mut IndexMap<Var, Expr>,
) -> Result<(), CliError> {
    let vars = params
        .iter()
        .filter_map(|(_, info)| info.shape.dims())
        .flatten()
        .flat_map(Expr::free_vars);
    let var = vars.into_iter().find(|var| var.name() == name);
    match (var, shape) {
        (Some(var), [value]) => {
            bound.insert(var, extent(*value));
            Ok(())
        }
        _ => known(params, name),
    }
}

fn extent(dim: usize) -> Expr {
    Expr::i64(i64::try_from(dim).unwrap_or(i64::MAX))
}

/// The extents of a parameter that nothing was said about, as far as others fix them.
fn known_shape(
    name: &str,
    info: &TensorInfo,
    bound: &IndexMap<Var, Expr>,
) -> Result<Vec<usize>, CliError> {
    let missing = |dims: String| CliError::NoInput {
        param: name.to_owned(),
        dims,
    };
    let ShapeInfo::Known(dims) = &info.shape else {
        return Err(missing("its shape".to_owned()));
    };
    let analyzer = Analyzer::new();
    let mut shape = Vec::with_capacity(dims.len());
    let mut unknown = Vec::new();
    for dim in dims {
        let value = analyzer.simplify(&dim.substitute(&|var| bound.get(var).cloned()));
        match value.as_int().map(usize::try_from) {
            Some(Ok(extent)) => shape.push(extent),
            _ => unknown.extend(value.free_vars().iter().map(|var| var.name().to_owned())),
        }
    }
    if shape.len() == dims.len() {
        Ok(shape)
    } else {
        unknown.dedup();
        Err(missing(format!("dimension {}", unknown.join(", "))))
    }
}

/// Numbers that look random and are the same every time: floats in [-1, 1), integers from 0 to 9.
fn made_up(dtype: DType, shape: &[usize], seed: usize) -> Result<Tensor, TensorError> {
    let mut tensor = Tensor::zeros(dtype, shape)?;
    let mut state = (seed as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    for element in tensor.bytes_mut()?.chunks_exact_mut(dtype.bytes()) {
        // splitmix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators").
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^= z >> 31;
        let float = (z >> 40) as f32 / (1 << 23) as f32 - 1.0;
        let small = (z % 10) as u8;
        match dtype.scalar {
            ScalarType::Bool => element.fill(small & 1),
            ScalarType::I8 | ScalarType::U8 => element.fill(small),
            ScalarType::I16 | ScalarType::U16 => write(element, u16::from(small).to_ne_bytes()),
            ScalarType::I32 | ScalarType::U32 => write(element, u32::from(small).to_ne_bytes()),
            ScalarType::I64 | ScalarType::U64 => write(element, u64::from(small).to_ne_bytes()),
            ScalarType::F16 => write(element, half::f16::from_f32(float).to_ne_bytes()),
            ScalarType::BF16 => write(element, half::bf16::from_f32(float).to_ne_bytes()),
            ScalarType::F32 => write(element, float.to_ne_bytes()),
            ScalarType::F64 => write(element, f64::from(float).to_ne_bytes()),
            ty @ ScalarType::Small(_) if ty.is_float() => {
                encode(Scalar::Float(float.into()), ty, element);
            }
            ty @ ScalarType::Small(_) => encode(Scalar::Int(small.into()), ty, element),
        }
    }
    Ok(tensor)
}

/// The scalar in every lane of an element.
fn write<const BYTES: usize>(element: &mut [u8], scalar: [u8; BYTES]) {
    for lane in element.chunks_exact_mut(BYTES) {
        lane.copy_from_slice(&scalar);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script;

    /// `main` of the lecture's module, whose sizes are all symbolic.
    fn function() -> Function {
        let module = script::parse("mlp.py", crate::cli::fashion::MODULE).expect("well formed");
        module.function("main").expect("there").clone()
    }

    fn shapes(given: &[(&str, &[usize])]) -> Result<Vec<Vec<usize>>, CliError> {
        let args = InputArgs {
            inputs: vec![],
            shapes: given
                .iter()
                .map(|(n, s)| ((*n).to_owned(), s.to_vec()))
                .collect(),
        };
        let tensors = gather(&function(), &args)?;
        Ok(tensors.iter().map(|t| t.shape().to_vec()).collect())
    }

    #[test]
    fn shapes_follow_from_each_other() {
        let expected = [vec![2, 6], vec![4, 6], vec![4], vec![3, 4], vec![3]];
        let found = shapes(&[("x", &[2, 6]), ("w0", &[4, 6]), ("k", &[3])]).expect("all known");
        assert_eq!(found, expected);
    }

    #[test]
    fn what_is_missing_is_named() {
        let error = shapes(&[("x", &[2, 6])]).expect_err("n is open");
        assert_eq!(
            error.to_string(),
            "parameter `w0` needs --input w0=FILE.npy or --shape w0=DIMS: dimension n is not known"
        );
        let error = shapes(&[("y", &[2])]).expect_err("no such parameter");
        assert_eq!(
            error.to_string(),
            "there is no parameter `y`; there are: x, w0, b0, w1, b1"
        );
    }

    #[test]
    fn made_up_numbers_are_the_same_every_time() {
        for scalar in ScalarType::ALL {
            let make = || made_up(scalar.into(), &[3, 5], 1).expect("small");
            assert_eq!(make(), make());
        }
        let floats = made_up(DType::F32, &[1000], 0).expect("small");
        let floats = floats.as_slice::<f32>().expect("f32");
        assert!(floats.iter().all(|v| (-1.0..1.0).contains(v)));
        let mean = floats.iter().sum::<f32>() / 1000.0;
        assert!(mean.abs() < 0.1, "{mean}");
    }
}
