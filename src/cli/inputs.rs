//! What a function is given: tensors from files, and made-up numbers where only a shape is said.

use std::path::Path;

use super::args::InputArgs;
use super::error::CliError;
use super::image;
use crate::artifact::{Port, PortKind, Signature};
use crate::frontend::{LoadError, load_params, load_tensor};
use crate::kernel::HostExpr;
use crate::tensor::scalar::{Scalar, encode};
use crate::tensor::{DType, ScalarType, Tensor, TensorError};

/// What stands in place of a file for made-up numbers.
pub(crate) const RANDOM: &str = "random";

/// Endings of the files that an input may be in.
const FORMATS: &str = "npy, npz, pb, png, safetensors, idx, gz";

/// The arguments of a function, in the order of its parameters. A shape may also be said for a symbolic extent
/// (`--shape n=128`); parameters whose extents are all known by then need nothing.
pub(crate) fn gather(signature: &Signature, args: &InputArgs) -> Result<Vec<Tensor>, CliError> {
    if let Some(port) = signature
        .inputs
        .iter()
        .find(|port| as_tensor(port).is_none())
    {
        return Err(CliError::NotATensor {
            param: port.name.clone(),
        });
    }
    let mut sizes = Sizes {
        signature,
        values: vec![None; signature.symbols.len()],
        said: vec![],
        bound: vec![],
    };
    let mut given: Vec<Option<Tensor>> = vec![None; signature.inputs.len()];
    let mut shapes: Vec<Option<&[usize]>> = vec![None; signature.inputs.len()];
    for (name, shape) in &args.shapes {
        match sizes.port(name) {
            Ok(at) => {
                sizes.bind(&signature.inputs[at], shape);
                shapes[at] = Some(shape);
            }
            Err(error) => sizes.set(name, shape, error)?,
        }
    }
    for (name, path) in &args.inputs {
        let at = sizes.port(name)?;
        let port = &signature.inputs[at];
        if path.as_os_str() == RANDOM {
            continue;
        }
        let tensor = read(port, path)?;
        sizes.bind(port, tensor.shape());
        given[at] = Some(tensor);
    }
    sizes.check()?;
    let ports = signature.inputs.iter().zip(given).zip(shapes).enumerate();
    let tensors = ports.map(|(seed, ((port, given), shape))| {
        if let Some(tensor) = given {
            return Ok(tensor);
        }
        let shape = match shape {
            Some(shape) => shape.to_vec(),
            None => sizes.shape(port)?,
        };
        let (dtype, _) = as_tensor(port).unwrap_or_default();
        Ok(made_up(dtype.unwrap_or(DType::F32), &shape, seed)?)
    });
    tensors.collect()
}

/// The parameters that get made-up numbers although no `--input` or `--shape` names them.
pub(crate) fn unnamed(signature: &Signature, args: &InputArgs) -> Vec<String> {
    let named = |name: &str| {
        let inputs = args.inputs.iter().any(|(own, _)| own == name);
        inputs || args.shapes.iter().any(|(own, _)| own == name)
    };
    let names = signature.inputs.iter().map(|port| &port.name);
    names.filter(|name| !named(name)).cloned().collect()
}

/// The element type and the extents of a tensor, as far as they are known.
fn as_tensor(port: &Port) -> Option<(Option<DType>, Option<&[HostExpr]>)> {
    match &port.kind {
        PortKind::Tensor { dtype, shape } => Some((*dtype, shape.as_deref())),
        PortKind::Other(_) => None,
    }
}

/// A tensor for a parameter from a file: of several in it, that of the same name.
fn read(port: &Port, path: &Path) -> Result<Tensor, CliError> {
    let ending = path.extension().unwrap_or_default().to_ascii_lowercase();
    match ending.to_str() {
        Some("png") => {
            let bytes = std::fs::read(path).map_err(|source| LoadError::Read {
                path: path.to_owned(),
                source,
            })?;
            let (dtype, shape) = as_tensor(port).unwrap_or_default();
            image::tensor(&bytes, dtype.unwrap_or(DType::F32), shape).map_err(|fault| {
                CliError::Image {
                    path: path.to_owned(),
                    param: port.name.clone(),
                    fault,
                }
            })
        }
        Some("npz" | "safetensors") => {
            let mut tensors = load_params(path)?;
            let found = match tensors.swap_remove(&port.name) {
                None if tensors.len() == 1 => tensors.pop().map(|(_, only)| only),
                found => found,
            };
            found.ok_or_else(|| CliError::NotInFile {
                path: path.to_owned(),
                param: port.name.clone(),
                names: tensors.keys().cloned().collect(),
            })
        }
        _ => load_tensor(path).map_err(|error| CliError::Input {
            param: port.name.clone(),
            source: Box::new(match error {
                LoadError::UnknownFormat { path, known: _ } => LoadError::UnknownFormat {
                    path,
                    known: FORMATS,
                },
                other => other,
            }),
        }),
    }
}

/// The values of symbolic extents, as far as they are known.
struct Sizes<'a> {
    signature: &'a Signature,
    values: Vec<Option<usize>>,
    /// Extents that were given values of their own.
    said: Vec<(usize, usize)>,
    /// Extents that shapes of parameters have, with the name of the parameter.
    bound: Vec<(usize, usize, &'a str)>,
}

impl<'a> Sizes<'a> {
    /// The parameter with this name.
    fn port(&self, name: &str) -> Result<usize, CliError> {
        let ports = &self.signature.inputs;
        let found = ports.iter().position(|port| port.name == name);
        found.ok_or_else(|| CliError::NoSuchParam {
            name: name.to_owned(),
            params: ports.iter().map(|port| port.name.clone()).collect(),
        })
    }

    /// Gives a symbolic extent the value that is said for it; `otherwise`, if there is none of this name.
    fn set(&mut self, name: &str, value: &[usize], otherwise: CliError) -> Result<(), CliError> {
        let symbol = self.signature.symbols.iter().position(|own| own == name);
        match (symbol, value) {
            (Some(symbol), [value]) => {
                self.values[symbol] = Some(*value);
                self.said.push((symbol, *value));
                Ok(())
            }
            _ => Err(otherwise),
        }
    }

    /// Takes what the shape of a parameter says.
    fn bind(&mut self, port: &'a Port, shape: &[usize]) {
        let dims = as_tensor(port).and_then(|(_, dims)| dims);
        for (dim, &extent) in dims.into_iter().flatten().zip(shape) {
            if let HostExpr::Dim(symbol) = dim {
                self.values[*symbol].get_or_insert(extent);
                self.bound.push((*symbol, extent, &port.name));
            }
        }
    }

    /// Refuses an extent that has one value by its name and another by the shape of a parameter. Shapes of parameters that contradict
    /// each other are refused by who runs the function.
    fn check(&self) -> Result<(), CliError> {
        let mut pairs = self.said.iter().flat_map(|said| {
            let of_it = self.bound.iter().filter(|bound| bound.0 == said.0);
            of_it.map(move |bound| (said, bound))
        });
        let contradiction = pairs.find(|(said, bound)| said.1 != bound.1);
        contradiction.map_or(Ok(()), |(&(symbol, said), &(_, extent, param))| {
            Err(CliError::Contradiction {
                dim: self.signature.symbols[symbol].clone(),
                said,
                param: param.to_owned(),
                extent,
            })
        })
    }

    /// The extents of a parameter that nothing was said about, as far as others fix them.
    fn shape(&self, port: &Port) -> Result<Vec<usize>, CliError> {
        let missing = |dims: String| CliError::NoInput {
            param: port.name.clone(),
            dims,
        };
        let Some(dims) = as_tensor(port).and_then(|(_, dims)| dims) else {
            return Err(missing("its shape".to_owned()));
        };
        let mut open: Vec<&str> = vec![];
        for dim in dims {
            dim.for_each_dim(&mut |symbol| {
                if self.values[symbol].is_none() {
                    open.push(&self.signature.symbols[symbol]);
                }
            });
        }
        if !open.is_empty() {
            open.dedup();
            return Err(missing(format!("dimension {}", open.join(", "))));
        }
        let values: Vec<i64> = self.values.iter().map(|value| extent(*value)).collect();
        let dims = dims.iter().map(|dim| dim.eval_exact(&values));
        let dims = dims.map(|dim| dim.ok().and_then(|dim| usize::try_from(dim).ok()));
        let dims: Option<Vec<usize>> = dims.collect();
        dims.ok_or_else(|| missing("its shape".to_owned()))
    }
}

/// An extent as an `int64`; nothing asks for one that is not known.
fn extent(value: Option<usize>) -> i64 {
    i64::try_from(value.unwrap_or(0)).unwrap_or(i64::MAX)
}

/// Numbers that look random and are the same every time: floats in [-1, 1), integers from 0 to 9.
fn made_up(dtype: DType, shape: &[usize], seed: usize) -> Result<Tensor, TensorError> {
    let mut tensor = Tensor::zeros(dtype, shape)?;
    let mut state = (seed as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    // A file that lies about its inputs may name a type of less than a byte.
    for element in tensor.bytes_mut()?.chunks_exact_mut(dtype.bytes().max(1)) {
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
    use crate::{pipeline, script};

    /// That of `main` of the lecture's module, whose sizes are all symbolic.
    fn signature() -> Signature {
        let module = script::parse("mlp.py", crate::cli::fashion::MODULE).expect("well formed");
        pipeline::signature(module.function("main").expect("there"))
    }

    fn shapes(given: &[(&str, &[usize])]) -> Result<Vec<Vec<usize>>, CliError> {
        let args = InputArgs {
            inputs: vec![],
            shapes: given
                .iter()
                .map(|(n, s)| ((*n).to_owned(), s.to_vec()))
                .collect(),
        };
        let tensors = gather(&signature(), &args)?;
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
    fn an_extent_has_one_value() {
        let said = |given: &[(&str, &[usize])]| shapes(given).map_err(|error| error.to_string());
        let contradiction = "`k` is 3 by --shape k=3, and 5 by the shape of `w1`".to_owned();
        let others: [(&str, &[usize]); 2] = [("x", &[2, 6]), ("w0", &[4, 6])];
        for order in [
            [("k", &[3][..]), ("w1", &[5, 4])],
            [("w1", &[5, 4]), ("k", &[3])],
        ] {
            let given = [&others[..], &order].concat();
            assert_eq!(said(&given), Err(contradiction.clone()));
        }
        let agree = [&others[..], &[("w1", &[3, 4][..]), ("k", &[3])]].concat();
        assert!(said(&agree).is_ok());
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
