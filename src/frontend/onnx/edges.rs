//! Inputs and outputs of a model. A function takes and gives tensors alone: a sequence `x` of two tensors is the two inputs or outputs
//! `x[0]` and `x[1]`, an optional value is an input, or none.

use std::collections::HashSet;
use std::ops::Range;

use super::call::{materialized, shown};
use super::error::{Fault, MAX_RANK, OnnxError, Problem, Problems};
use super::import::Importer;
use super::model::{ImportOptions, Port};
use super::proto::{Dimension, DimensionProto, GraphProto, TypeProto, ValueInfoProto, type_proto};
use super::scope::Scope;
use super::tensor;
use super::value::Value;
use crate::ir::{Expr as Size, Origin, StructInfo};
use crate::relax::{self, BlockBuilder, BuildError, Expr, Var};
use crate::tensor::Tensor;

/// Most tensors of a sequence that is an input.
const MOST_TENSORS: usize = 1 << 12;

/// What an input of the model is.
enum Given {
    /// A constant of the import.
    Value(Tensor),
    /// The parameter at this place.
    Param(usize),
    /// A sequence of these parameters.
    Params(Range<usize>),
    /// An optional value that is not there.
    Absent,
}

/// The inputs of a model that are no weights.
pub(super) struct Inputs<'m> {
    /// The parameters of the function.
    pub(super) ports: Vec<Port>,
    /// What the inputs are, by their names in the model.
    given: Vec<(&'m str, Given)>,
}

/// What the type of an input says of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum EdgeKind {
    /// A tensor.
    Tensor,
    /// A sequence of tensors.
    Sequence,
    /// A value that may be left out.
    Optional(Box<Self>),
}

impl EdgeKind {
    /// The kind of a type; what has no type is a tensor.
    pub(super) fn of(kind: Option<&TypeProto>) -> Self {
        match kind.and_then(|kind| kind.value.as_ref()) {
            Some(type_proto::Value::Sequence(_)) => Self::Sequence,
            Some(type_proto::Value::Optional(element)) => {
                Self::Optional(Box::new(Self::of(element.elem_type.as_deref())))
            }
            _ => Self::Tensor,
        }
    }
}

/// The name of a tensor of a sequence.
pub(super) fn item_name(sequence: &str, at: usize) -> String {
    format!("{sequence}[{at}]")
}

/// The names of the initializers of a graph, sparse ones too.
pub(super) fn weight_names(graph: &GraphProto) -> impl Iterator<Item = &str> {
    let sparse = graph.sparse_initializer.iter();
    let sparse = sparse.filter_map(|sparse| sparse.values.as_ref());
    let all = graph.initializer.iter().chain(sparse);
    all.filter_map(|tensor| tensor.name.as_deref())
}

/// The inputs that are no weights: old models name their weights among the inputs.
pub(super) fn open_inputs(graph: &GraphProto) -> Vec<&ValueInfoProto> {
    let weights: HashSet<&str> = weight_names(graph).collect();
    let inputs = graph.input.iter();
    let open = inputs.filter(|input| !weights.contains(input.name.as_deref().unwrap_or_default()));
    open.collect()
}

impl<'m> Inputs<'m> {
    /// The inputs of the model's graph.
    pub(super) fn of(
        graph: &'m GraphProto,
        importer: &mut Importer<'_>,
        options: &ImportOptions,
    ) -> Result<Self, OnnxError> {
        let mut inputs = Self {
            ports: vec![],
            given: vec![],
        };
        let (mut names, mut params) = (vec![], vec![]);
        for (index, input) in open_inputs(graph).into_iter().enumerate() {
            let name = input.name.as_deref().unwrap_or_default();
            if name.is_empty() {
                let what = "input";
                let place = "the inputs of the model".to_owned();
                importer.problem(place, None, Fault::Unnamed { what, index });
                continue;
            }
            if names.iter().any(|known| known == name) {
                let fault = Fault::Twice(name.to_owned());
                importer.problem("the inputs of the model".to_owned(), None, fault);
            }
            names.push(name.to_owned());
            let first = inputs.ports.len();
            let mut reader = Reader {
                importer: &mut *importer,
                options,
                params: &mut params,
            };
            match reader.input(name, input.kind.as_ref(), &mut inputs.ports) {
                Ok(given) => inputs.given.push((name, given)),
                Err(fault) => importer.problem(format!("input `{name}`"), None, fault),
            }
            let items = inputs.ports[first..].iter().map(|port| port.name.clone());
            names.extend(items.filter(|item| item != name));
        }
        let mut said = options.shapes.keys().chain(options.values.keys());
        if let Some(name) = said.find(|name| !names.contains(name)) {
            return Err(OnnxError::NoSuch {
                what: "input",
                name: name.clone(),
                known: names.join(", "),
            });
        }
        if let Some(name) = options.dims.keys().find(|name| !params.contains(name)) {
            params.sort();
            params.dedup();
            return Err(OnnxError::NoSuch {
                what: "symbolic extent",
                name: name.clone(),
                known: match params.is_empty() {
                    true => "none".to_owned(),
                    false => params.join(", "),
                },
            });
        }
        match std::mem::take(&mut importer.problems) {
            none if none.is_empty() => Ok(inputs),
            problems => Err(Problems(problems).into()),
        }
    }

    /// Gives the names in the model their values; `params` are the variables of the ports.
    pub(super) fn define(&self, params: &[Var], scope: &mut Scope<'_, 'm>) {
        let param = |at: usize| Value::Var(params[at].clone());
        for (name, given) in &self.given {
            let value = match given {
                Given::Value(tensor) => Value::Const(tensor.clone()),
                Given::Param(at) => param(*at),
                Given::Params(range) => Value::List(range.clone().map(param).collect()),
                Given::Absent => Value::Absent,
            };
            scope.define(name, value);
        }
    }
}

/// Reads the types of inputs.
struct Reader<'a, 'b, 'm> {
    importer: &'a mut Importer<'m>,
    options: &'a ImportOptions,
    /// Gets the names of symbolic extents.
    params: &'b mut Vec<String>,
}

impl Reader<'_, '_, '_> {
    /// What an input is; its parameters are added to the ports.
    fn input(
        &mut self,
        name: &str,
        kind: Option<&TypeProto>,
        ports: &mut Vec<Port>,
    ) -> Result<Given, Fault> {
        if let Some(value) = self.options.values.get(name) {
            self.check_value(name, kind, value)?;
            return Ok(Given::Value(value.clone()));
        }
        match kind.and_then(|kind| kind.value.as_ref()) {
            Some(type_proto::Value::Optional(element)) => {
                match self.options.absent.contains(name) {
                    true => Ok(Given::Absent),
                    false => self.input(name, element.elem_type.as_deref(), ports),
                }
            }
            Some(type_proto::Value::Sequence(element)) => {
                let element = element.elem_type.as_deref();
                self.sequence(name, element, ports)
            }
            _ => {
                let shape = self.options.shapes.get(name).map(Vec::as_slice);
                let sinfo = self.tensor(name, kind, shape)?;
                let name = name.to_owned();
                ports.push(Port { name, sinfo });
                Ok(Given::Param(ports.len() - 1))
            }
        }
    }

    /// As many tensors as the user says: a number, or a shape for each. Each has extents of its own.
    fn sequence(
        &mut self,
        name: &str,
        element: Option<&TypeProto>,
        ports: &mut Vec<Port>,
    ) -> Result<Given, Fault> {
        let shaped = |at: &usize| self.options.shapes.contains_key(&item_name(name, *at));
        let count = match self.options.lengths.get(name) {
            Some(&count) => count,
            None => (0..MOST_TENSORS).take_while(shaped).count(),
        };
        let said = self.options.lengths.contains_key(name) || count > 0;
        if !said || count > MOST_TENSORS {
            return Err(Fault::Unsupported(format!(
                "it is a sequence, and how many tensors it has must be said: give the shapes of `{name}[0]`, `{name}[1]`, …, at most \
                 {MOST_TENSORS}"
            )));
        }
        let element = element.cloned().map(without_names);
        let first = ports.len();
        for at in 0..count {
            let name = item_name(name, at);
            let shape = self.options.shapes.get(&name).map(Vec::as_slice);
            let sinfo = self.tensor(&name, element.as_ref(), shape)?;
            ports.push(Port { name, sinfo });
        }
        Ok(Given::Params(first..ports.len()))
    }

    /// Checks that a tensor can be the value of an input; the type of an input that is a constant need not be said.
    fn check_value(
        &mut self,
        name: &str,
        kind: Option<&TypeProto>,
        value: &Tensor,
    ) -> Result<(), Fault> {
        let kind = match kind.and_then(|kind| kind.value.as_ref()) {
            None => return Ok(()),
            Some(type_proto::Value::Optional(element)) => element.elem_type.as_deref(),
            Some(_) => kind,
        };
        let shape: Vec<i64> = value.shape().iter().map(|&extent| extent as i64).collect();
        let sinfo = self.tensor(name, kind, Some(&shape))?;
        let dtype = sinfo.as_tensor().and_then(|info| info.dtype);
        match dtype.filter(|&dtype| dtype != value.dtype()) {
            None => Ok(()),
            Some(dtype) => Err(Fault::Unsupported(format!(
                "it cannot have a value of {}: it is {dtype}",
                value.dtype()
            ))),
        }
    }

    /// The type of an input that is a tensor.
    fn tensor(
        &mut self,
        name: &str,
        kind: Option<&TypeProto>,
        shape: Option<&[i64]>,
    ) -> Result<StructInfo, Fault> {
        let kind = match kind.and_then(|kind| kind.value.as_ref()) {
            Some(type_proto::Value::Tensor(tensor)) => tensor,
            Some(_) => return Err(Fault::Unsupported("only tensors can be inputs".to_owned())),
            None => return Err(Fault::Unsupported("its type is not said".to_owned())),
        };
        let dtype = tensor::dtype(kind.elem_type.unwrap_or(0)).map_err(Fault::ElementType)?;
        let said = kind.shape.as_ref().map(|shape| &shape.dim);
        let dims = said.map(|dims| {
            let dims = dims.iter().enumerate().map(|(axis, dim)| match &dim.value {
                Some(Dimension::Value(extent)) if *extent >= 0 => Size::i64(*extent),
                Some(Dimension::Param(param)) if !param.is_empty() => {
                    self.params.push(param.clone());
                    match self.options.dims.get(param) {
                        Some(&extent) => Size::i64(extent.max(0)),
                        None => self.importer.symbol(param).expr(),
                    }
                }
                _ => self.importer.fresh(&format!("{name}_{axis}")).expr(),
            });
            dims.collect::<Vec<Size>>()
        });
        let given = shape.map(<[i64]>::len);
        if let Some(rank) = dims
            .as_ref()
            .map(Vec::len)
            .max(given)
            .filter(|&n| n > MAX_RANK)
        {
            return Err(Fault::Rank(rank));
        }
        let dims = match (dims, shape) {
            (None, None) => {
                let text = "its number of dimensions is not said: give its shape".to_owned();
                return Err(Fault::Unsupported(text));
            }
            (Some(dims), None) => dims,
            (dims, Some(shape)) => {
                let fits = dims.as_ref().is_none_or(|dims| {
                    let mut pairs = dims.iter().zip(shape);
                    dims.len() == shape.len()
                        && pairs.all(|(dim, &given)| dim.as_int().is_none_or(|dim| dim == given))
                });
                if !fits || shape.iter().any(|&extent| extent < 0) {
                    let model = shown(&dims.unwrap_or_default());
                    let fixed = fixed_extents(said.map_or(&[], Vec::as_slice), self.options);
                    return Err(Fault::Unsupported(format!(
                        "it cannot have the shape {shape:?}: it is {model}{fixed}"
                    )));
                }
                shape.iter().map(|&extent| Size::i64(extent)).collect()
            }
        };
        Ok(StructInfo::tensor(dims, dtype))
    }
}

/// The symbolic extents among these that the user fixed, for the end of a message.
fn fixed_extents(dims: &[DimensionProto], options: &ImportOptions) -> String {
    let fixed = dims.iter().filter_map(|dim| match &dim.value {
        Some(Dimension::Param(name)) => Some((name, options.dims.get(name)?)),
        _ => None,
    });
    let fixed: Vec<String> = fixed.map(|(name, n)| format!("--dim {name}={n}")).collect();
    match fixed.as_slice() {
        [] => String::new(),
        fixed => format!(", by {}", fixed.join(", ")),
    }
}

/// The type with extents of which no name says that they are others, too.
fn without_names(mut kind: TypeProto) -> TypeProto {
    if let Some(type_proto::Value::Tensor(tensor)) = &mut kind.value {
        let dims = tensor.shape.iter_mut().flat_map(|shape| &mut shape.dim);
        for dim in dims.filter(|dim| matches!(dim.value, Some(Dimension::Param(_)))) {
            dim.value = None;
        }
    }
    kind
}

/// An output of the function.
pub(super) struct Made<'m, T> {
    pub(super) name: String,
    /// What the model says of it, if it is an output of the model by itself.
    said: Option<&'m ValueInfoProto>,
    pub(super) value: T,
}

impl<'m> Made<'m, Expr> {
    /// The output as a variable.
    pub(super) fn bound(
        self,
        emit: impl FnOnce(Expr) -> Result<Var, BuildError>,
    ) -> Result<Made<'m, Var>, OnnxError> {
        Ok(Made {
            name: self.name,
            said: self.said,
            value: emit(self.value)?,
        })
    }
}

/// The outputs as values of the graph, if nothing stands in the way.
pub(super) fn outputs<'m>(
    graph: &'m GraphProto,
    scope: &mut Scope<'_, 'm>,
    importer: &mut Importer<'m>,
    bb: &mut BlockBuilder,
) -> Result<Vec<Made<'m, Expr>>, OnnxError> {
    let values = importer.graph(graph, scope, bb);
    let mut outputs = vec![];
    for (value, said) in values.into_iter().zip(&graph.output) {
        let name = said.name.clone().unwrap_or_default();
        let items = match value {
            Value::List(items) => {
                let named = items.into_iter().enumerate();
                let named = named.map(|(at, item)| (item_name(&name, at), None, item));
                named.collect()
            }
            Value::Absent => vec![],
            single => vec![(name, Some(said), single)],
        };
        for (name, said, value) in items {
            let value = match value {
                Value::Var(var) => (&var).into(),
                Value::Const(tensor) => relax::constant(tensor),
                Value::Known(known) => {
                    materialized(&known).map_err(|fault| problem(&name, fault))?
                }
                Value::Packed(packed) => {
                    let fault = Fault::ElementType(packed.dtype_name().to_owned());
                    importer.problem(format!("output `{name}`"), None, fault);
                    continue;
                }
                Value::Rows(_) => {
                    let text = "a sequence whose length is computed cannot be an output".to_owned();
                    let place = format!("output `{name}`");
                    importer.problem(place, None, Fault::Unsupported(text));
                    continue;
                }
                Value::List(_) | Value::Absent => {
                    let text = "a sequence of sequences cannot be an output".to_owned();
                    let place = format!("output `{name}`");
                    importer.problem(place, None, Fault::Unsupported(text));
                    continue;
                }
                Value::Missing => continue,
            };
            outputs.push(Made { name, said, value });
        }
    }
    bb.set_origin(Origin::Unknown);
    match std::mem::take(&mut importer.problems) {
        none if none.is_empty() => Ok(outputs),
        problems => Err(Problems(problems).into()),
    }
}

fn problem(name: &str, fault: Fault) -> OnnxError {
    let problem = Problem {
        place: format!("output `{name}`"),
        operator: None,
        fault,
    };
    Problems(vec![problem]).into()
}

/// What the model says of its outputs, against what they are: another element type stands in the way, another shape is noted.
pub(super) fn contradicted(outputs: &[Made<'_, Var>]) -> Result<Vec<String>, OnnxError> {
    let (mut notes, mut problems) = (vec![], vec![]);
    for output in outputs {
        let kind = output.said.and_then(|said| said.kind.as_ref());
        let said = match kind.and_then(|kind| kind.value.as_ref()) {
            Some(type_proto::Value::Tensor(tensor)) => tensor,
            _ => continue,
        };
        let place = format!("output `{}`", output.name);
        let Some(info) = output.value.sinfo().as_tensor() else {
            continue;
        };
        if let Ok(dtype) = tensor::dtype(said.elem_type.unwrap_or(0))
            && let Some(made) = info.dtype.filter(|&made| made != dtype)
        {
            problems.push(Problem {
                place,
                operator: None,
                fault: Fault::Unsupported(format!(
                    "its elements are {made}, and the model says {dtype} of them"
                )),
            });
            continue;
        }
        let (Some(dims), Some(shape)) = (info.shape.dims(), &said.shape) else {
            continue;
        };
        let extent = |dim: &DimensionProto| match &dim.value {
            Some(Dimension::Value(extent)) => Some(*extent),
            _ => None,
        };
        let agrees = |(said, made): (&DimensionProto, &Size)| {
            extent(said)
                .zip(made.as_int())
                .is_none_or(|(said, made)| said == made)
        };
        if shape.dim.len() != dims.len() || !shape.dim.iter().zip(dims).all(agrees) {
            let said = shape.dim.iter().map(|dim| match (&dim.value, extent(dim)) {
                (_, Some(extent)) => extent.to_string(),
                (Some(Dimension::Param(name)), _) => name.clone(),
                _ => "?".to_owned(),
            });
            let said: Vec<String> = said.collect();
            let made = shown(dims);
            let said = said.join(", ");
            notes.push(format!(
                "{place}: the model says ({said}) of it, and it is {made}"
            ));
        }
    }
    match problems.is_empty() {
        true => Ok(notes),
        false => Err(Problems(problems).into()),
    }
}
