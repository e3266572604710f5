//! Checks of values against their `StructInfo`, which fill the shape heap.

use super::{Contexts, Lower, MatchDim, PassError, Proof, ShapeBuiltin, codes, is_base_of};
use crate::ir::graph::{Arg, Def};
use crate::ir::{AttrValue, Expr, Origin, ShapeInfo, StructInfo, TensorInfo};

/// What is checked of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Check {
    /// Everything: nothing is known of an argument, whatever the function says of its parameter.
    All,
    /// Tensors of symbolic shape, of arguments that the loop programs check.
    Symbolic,
    /// What does not follow from what is known.
    Unknown,
}

/// Where a value that is checked comes from, for the reader of the error.
struct Site<'a> {
    location: String,
    /// Name of the parameter or value.
    name: &'a str,
}

impl<'a> Site<'a> {
    fn new(location: impl Into<String>, name: &'a str) -> Self {
        Self {
            location: location.into(),
            name,
        }
    }

    fn item(&self, index: usize) -> Self {
        Self::new(format!("{}[{index}]", self.location), self.name)
    }
}

/// A value whose dimensions are to be matched.
struct Matching {
    value: Arg,
    dims: Vec<Expr>,
    context: Arg,
    /// [`ShapeBuiltin::MatchShape`] or [`ShapeBuiltin::MatchPrim`].
    builtin: ShapeBuiltin,
}

impl Lower<'_> {
    /// Checks the parameters.
    pub(super) fn check_params(&mut self) -> Result<(), PassError> {
        let inputs = self.function.attrs.get("num_input");
        let inputs = inputs.and_then(AttrValue::as_int);
        let params = self.function.params.clone();
        let mut matchings = vec![];
        let mut last = String::new();
        for (index, param) in params.into_iter().enumerate() {
            let value = self.function.values[param].clone();
            let is_weight = inputs.is_some_and(|inputs| index as i64 >= inputs);
            let check = if is_weight {
                Check::Symbolic
            } else {
                Check::All
            };
            let site = Site::new(format!("param[{index}]"), &value.name);
            let info = &value.sinfo;
            self.check(Arg::Value(param), info, info, check, &site, &mut matchings);
            last = value.name;
        }
        self.match_all(matchings, &last)
    }

    /// Checks a value against what a `match_cast` says of it.
    pub(super) fn check_cast(
        &mut self,
        name: &str,
        arg: &Arg,
        given: &StructInfo,
        info: &StructInfo,
    ) -> Result<(), PassError> {
        let mut matchings = vec![];
        let site = Site::new("match_cast", name);
        self.check(
            arg.clone(),
            given,
            info,
            Check::Unknown,
            &site,
            &mut matchings,
        );
        self.match_all(matchings, name)
    }

    /// Checks the result against what the function declares.
    pub(super) fn check_result(
        &mut self,
        result: &Arg,
        info: &StructInfo,
        given: &StructInfo,
    ) -> Result<(), PassError> {
        let name = match result {
            Arg::Value(id) => self.function.values[*id].name.clone(),
            _ => "result".to_owned(),
        };
        self.origin = Origin::Unknown;
        let mut matchings = vec![];
        let site = Site::new("return", &name);
        self.check(
            result.clone(),
            given,
            info,
            Check::Unknown,
            &site,
            &mut matchings,
        );
        self.match_all(matchings, &name)
    }

    /// Binds checks of kind, rank and element type; what is to be done about dimensions goes to `out`. Of the value `given` is known.
    fn check(
        &mut self,
        value: Arg,
        given: &StructInfo,
        info: &StructInfo,
        check: Check,
        site: &Site<'_>,
        out: &mut Vec<Matching>,
    ) {
        if !is_checked(given, info, check) {
            return;
        }
        let follows =
            |info: &StructInfo| check == Check::Unknown && is_base_of(info, given) == Proof::Yes;
        let context = self.context(&site.location, site.name, info);
        match info {
            StructInfo::Object => {}
            StructInfo::Tensor(tensor) => {
                let kind = StructInfo::Tensor(TensorInfo {
                    shape: rank(&tensor.shape),
                    dtype: tensor.dtype,
                    vdevice: None,
                });
                if !follows(&kind) {
                    let dtype = match tensor.dtype {
                        Some(dtype) => Arg::DType(dtype),
                        None => self.null("gv"),
                    };
                    let args = vec![value.clone(), ndim(&tensor.shape), dtype, context.clone()];
                    self.run(ShapeBuiltin::CheckTensor, args);
                }
                self.shape(value, &tensor.shape, context, out);
            }
            StructInfo::Shape(shape) => {
                if !follows(&StructInfo::Shape(rank(shape))) {
                    let args = vec![value.clone(), ndim(shape), context.clone()];
                    self.run(ShapeBuiltin::CheckShape, args);
                }
                self.shape(value, shape, context, out);
            }
            StructInfo::Prim {
                dtype,
                value: known,
            } => {
                let kind = StructInfo::Prim {
                    dtype: *dtype,
                    value: None,
                };
                if !follows(&kind) {
                    let args = vec![value.clone(), Arg::DType(*dtype), context.clone()];
                    self.run(ShapeBuiltin::CheckPrim, args);
                }
                out.extend(known.iter().map(|known| Matching {
                    value: value.clone(),
                    dims: vec![known.clone()],
                    context: context.clone(),
                    builtin: ShapeBuiltin::MatchPrim,
                }));
            }
            StructInfo::Tuple(items) => {
                if check != Check::Unknown || !matches!(given, StructInfo::Tuple(_)) {
                    let len = Arg::Prim(Expr::i64(items.len() as i64));
                    self.run(ShapeBuiltin::CheckTuple, vec![value.clone(), len, context]);
                }
                self.items(&value, given, items, check, site, out);
            }
            StructInfo::Callable {
                params: _,
                ret: _,
                pure: _,
            } => self.run(ShapeBuiltin::CheckFunc, vec![value, context]),
        }
    }

    /// Checks the elements of a tuple.
    fn items(
        &mut self,
        tuple: &Arg,
        given: &StructInfo,
        items: &[StructInfo],
        check: Check,
        site: &Site<'_>,
        out: &mut Vec<Matching>,
    ) {
        for (index, info) in items.iter().enumerate() {
            let known = match given {
                StructInfo::Tuple(known) => known.get(index).cloned(),
                _ => None,
            };
            let given = known.clone().unwrap_or(StructInfo::Object);
            if !is_checked(&given, info, check) {
                continue;
            }
            let item = match (tuple, known) {
                (Arg::Tuple(items), _) if index < items.len() => items[index].clone(),
                (_, Some(known)) => self.bind("gv", Def::TupleItem(tuple.clone(), index), known),
                (_, None) => {
                    let args = vec![tuple.clone(), Arg::Prim(Expr::i64(index as i64))];
                    let unknown = StructInfo::Object;
                    let item = Self::packed(ShapeBuiltin::TupleItem, args, unknown.clone());
                    self.bind("gv", item, unknown)
                }
            };
            self.check(item, &given, info, check, &site.item(index), out);
        }
    }

    fn shape(&self, value: Arg, shape: &ShapeInfo, context: Arg, out: &mut Vec<Matching>) {
        out.extend(shape.dims().map(|dims| Matching {
            value,
            dims: dims.to_vec(),
            context,
            builtin: ShapeBuiltin::MatchShape,
        }));
    }

    /// Binds the matching of all dimensions: first of those that are variables, which get their values, and of those that have
    /// one; then, when all others are computed, of the values that have such. `at` is what is checked, for errors.
    fn match_all(&mut self, matchings: Vec<Matching>, at: &str) -> Result<(), PassError> {
        let mut open = vec![];
        for matching in matchings {
            if self.match_one(&matching) {
                open.push(matching);
            }
        }
        self.compute();
        for matching in open {
            let computed = |dim: &&Expr| self.slots.make_dim(dim).is_none();
            if let Some(dim) = matching.dims.iter().find(computed) {
                return Err(self.unbound(dim, at));
            }
            self.match_one(&matching);
        }
        Ok(())
    }

    /// Binds the matching of one value, and says whether it leaves a dimension out.
    fn match_one(&mut self, matching: &Matching) -> bool {
        let mut args = vec![matching.value.clone(), self.heap.clone()];
        if matching.builtin == ShapeBuiltin::MatchShape {
            args.push(Arg::Prim(Expr::i64(matching.dims.len() as i64)));
        }
        let dims = matching.dims.iter();
        let rules: Vec<MatchDim> = dims.map(|dim| self.slots.match_dim(dim)).collect();
        let skipped = rules.iter().filter(|rule| **rule == MatchDim::Skip).count();
        if skipped < rules.len() {
            args.extend(rules.into_iter().flat_map(|rule| codes(rule.code())));
            args.push(matching.context.clone());
            self.run(matching.builtin, args);
        }
        skipped > 0
    }

    /// Where a value that is checked comes from.
    pub(super) fn context(&self, location: &str, name: &str, info: &StructInfo) -> Arg {
        let func = &self.function.name;
        Arg::Str(match self.contexts {
            Contexts::Written => {
                format!("ErrorContext(fn={func}, loc={location}, param={name}, annotation={info}) ")
            }
            Contexts::Empty => String::new(),
        })
    }
}

/// Whether a value of which `given` is known is checked at all.
fn is_checked(given: &StructInfo, info: &StructInfo, check: Check) -> bool {
    if check == Check::Unknown && is_base_of(info, given) == Proof::Yes {
        return false;
    }
    match info {
        StructInfo::Object => false,
        StructInfo::Tensor(tensor) if check == Check::Symbolic => {
            let dims = tensor.shape.dims();
            !dims.is_some_and(|dims| dims.iter().all(|dim| dim.as_int().is_some()))
        }
        StructInfo::Callable {
            params: _,
            ret: _,
            pure: _,
        } if check == Check::Unknown => !matches!(given, StructInfo::Callable { .. }),
        StructInfo::Tensor(_)
        | StructInfo::Shape(_)
        | StructInfo::Prim { dtype: _, value: _ }
        | StructInfo::Tuple(_)
        | StructInfo::Callable {
            params: _,
            ret: _,
            pure: _,
        } => true,
    }
}

/// The number of dimensions alone.
fn rank(shape: &ShapeInfo) -> ShapeInfo {
    shape.ndim().map_or(ShapeInfo::Unknown, ShapeInfo::Ndim)
}

/// The number of dimensions as an argument; -1 for any.
fn ndim(shape: &ShapeInfo) -> Arg {
    Arg::Prim(Expr::i64(shape.ndim().map_or(-1, |ndim| ndim as i64)))
}
