//! Graphs of a model as bindings of a graph function, node by node. [`operators`] has what a single node becomes.
//!
//! [`operators`]: super::operators

use std::collections::{HashMap, HashSet};

use super::attributes::Attributes;
use super::call::Call;
use super::error::{Fault, Problem};
use super::fit::with_operands;
use super::model::{Open, Port};
use super::operators;
use super::order::ordered;
use super::packed;
use super::proto::{AttributeProto, FunctionProto, GraphProto, ModelProto, NodeProto};
use super::scope::Scope;
use super::tensor::Tensors;
use super::value::Value;
use crate::arith::Analyzer;
use crate::ir::{Expr as Size, Origin, Var as Symbol};
use crate::relax::{BlockBuilder, Var};
use crate::tensor::DType;

/// Deepest nesting of graphs and functions.
const MAX_DEPTH: usize = 64;

/// Most nodes that are imported, those of functions and loops counted each time.
const MAX_NODES: usize = 50_000;

/// What is known while a model is imported.
pub(super) struct Importer<'m> {
    /// Versions of the operators by domain.
    opsets: HashMap<&'m str, i64>,
    /// Operators that the model defines.
    functions: HashMap<(&'m str, &'m str, &'m str), &'m FunctionProto>,
    pub(super) tensors: Tensors,
    /// Symbolic extents by their names in the model.
    symbols: HashMap<String, Symbol>,
    /// The names of all symbolic extents.
    names: HashSet<String>,
    /// By a name that is taken: how often it got a number.
    repeated: HashMap<String, usize>,
    pub(super) arith: Analyzer,
    /// By the key of a vector that the graph computes: the vector, and those of its elements that are known.
    partly: HashMap<usize, (Var, Vec<Option<Size>>)>,
    pub(super) problems: Vec<Problem>,
    depth: usize,
    /// How many more nodes are imported.
    left: usize,
}

/// What is imported with a node.
enum Continuation<'a, 'm> {
    /// Nothing.
    None,
    /// The nodes after an `If`, in each of its branches, and the outputs of the graph.
    Nodes(&'a [&'m NodeProto], &'a [&'m str]),
}

impl<'m> Importer<'m> {
    pub(super) fn new(model: &'m ModelProto, tensors: Tensors) -> Self {
        let functions = model.functions.iter().map(|f| {
            let domain = plain_domain(f.domain.as_deref());
            let overload = f.overload.as_deref().unwrap_or_default();
            ((domain, f.name.as_deref().unwrap_or_default(), overload), f)
        });
        Self {
            opsets: opsets(&model.opset_import),
            functions: functions.collect(),
            tensors,
            symbols: HashMap::new(),
            names: HashSet::new(),
            repeated: HashMap::new(),
            arith: Analyzer::new(),
            partly: HashMap::new(),
            problems: vec![],
            depth: 0,
            left: MAX_NODES,
        }
    }

    /// The version of the default operators.
    pub(super) fn opset(&self) -> i64 {
        self.opsets.get("").copied().unwrap_or(1)
    }

    /// Adds the operator sets that are newer than those that are known, of the model and of its functions.
    pub(super) fn check_operator_sets(&mut self, model: &ModelProto) {
        let own = ("the model".to_owned(), &model.opset_import);
        let functions = model.functions.iter().map(|function| {
            let name = function.name.as_deref().unwrap_or_default();
            (format!("function `{name}`"), &function.opset_import)
        });
        for (place, sets) in std::iter::once(own).chain(functions) {
            let mut sets: Vec<(&str, i64)> = opsets(sets).into_iter().collect();
            sets.sort_unstable();
            for (domain, given) in sets {
                let known = operators::NEWEST.iter().find(|(known, _)| *known == domain);
                if let Some(&(_, known)) = known.filter(|(_, known)| given > *known) {
                    let domain = if domain.is_empty() { "ai.onnx" } else { domain }.to_owned();
                    let fault = Fault::OperatorSet {
                        domain,
                        known,
                        given,
                    };
                    self.problem(place.clone(), None, fault);
                }
            }
        }
    }

    /// Whether the nodes of a graph may be imported so often.
    pub(super) fn has_room(&self, times: i64, graph: &GraphProto) -> bool {
        let times = usize::try_from(times).unwrap_or(usize::MAX);
        times.saturating_mul(graph.node.len()) <= self.left
    }

    /// Keeps that some elements of a vector are known.
    pub(super) fn know_partly(&mut self, vector: &Var, elements: Vec<Option<Size>>) {
        self.partly.insert(vector.key(), (vector.clone(), elements));
    }

    /// The elements of a vector that are known, if some are.
    pub(super) fn partly_known(&self, vector: &Var) -> Option<&[Option<Size>]> {
        let (_, elements) = self.partly.get(&vector.key())?;
        Some(elements)
    }

    /// A new symbolic extent, named after this.
    pub(super) fn fresh(&mut self, stem: &str) -> Symbol {
        let stem = identifier(stem);
        let mut name = stem.clone();
        while !self.names.insert(name.clone()) {
            let count = self.repeated.entry(stem.clone()).or_default();
            *count += 1;
            name = format!("{stem}_{count}");
        }
        let symbol = Symbol::new(name, DType::I64);
        self.arith.bind_shape_var(&symbol);
        symbol
    }

    /// Keeps that symbols which became extents while the graph was built are no less than 0.
    pub(super) fn know_extents(&mut self, dims: &[Size]) {
        let symbols = dims.iter().filter_map(Size::as_var);
        for symbol in symbols {
            if self.arith.bound(&symbol.expr()).min < 0 {
                self.names.insert(symbol.name().to_owned());
                self.arith.bind_shape_var(symbol);
            }
        }
    }

    /// The symbolic extent of this name.
    pub(super) fn symbol(&mut self, name: &str) -> Symbol {
        if let Some(symbol) = self.symbols.get(name) {
            return symbol.clone();
        }
        let symbol = self.fresh(name);
        self.symbols.insert(name.to_owned(), symbol.clone());
        symbol
    }

    /// The extents of inputs that are no numbers, each once.
    pub(super) fn open(&self, inputs: &[Port]) -> Vec<Open> {
        let mut all = vec![];
        for port in inputs {
            for var in port.sinfo.defined_vars() {
                let named = self.symbols.iter().find(|(_, symbol)| **symbol == var);
                let open = match named {
                    Some((name, _)) => Open::Symbol(name.clone()),
                    None => Open::Input(port.name.clone()),
                };
                if !all.contains(&open) {
                    all.push(open);
                }
            }
        }
        all
    }

    /// Adds what stands in the way.
    pub(super) fn problem(&mut self, place: String, operator: Option<String>, fault: Fault) {
        self.problems.push(Problem {
            place,
            operator,
            fault,
        });
    }

    /// The values of the initializers.
    pub(super) fn initializers(&mut self, graph: &'m GraphProto, scope: &mut Scope<'_, 'm>) {
        for proto in &graph.initializer {
            let name = proto.name.as_deref().unwrap_or_default();
            let read = match packed::sign_of(proto) {
                Some(signed) => self.tensors.read_packed(proto, signed).map(Value::Packed),
                None => self.tensors.read(proto).map(Value::Const),
            };
            let value = read.unwrap_or_else(|fault| self.damaged(name, fault, scope));
            scope.define(name, value);
        }
        for proto in &graph.sparse_initializer {
            let name = proto.values.as_ref().and_then(|v| v.name.as_deref());
            let name = name.unwrap_or_default();
            let value = match self.tensors.read_sparse(proto) {
                Ok(tensor) => Value::Const(tensor),
                Err(fault) => self.damaged(name, fault, scope),
            };
            scope.define(name, value);
        }
    }

    fn damaged(
        &mut self,
        name: &str,
        fault: super::error::TensorFault,
        scope: &Scope<'_, 'm>,
    ) -> Value {
        let fault = Fault::Tensor {
            name: name.to_owned(),
            fault,
        };
        let place = match scope.place.as_str() {
            "" => "the weights".to_owned(),
            outer => format!("{outer} / the weights"),
        };
        self.problem(place, None, fault);
        Value::Missing
    }

    /// The outputs of a graph whose inputs are in the scope.
    pub(super) fn graph(
        &mut self,
        graph: &'m GraphProto,
        scope: &mut Scope<'_, 'm>,
        bb: &mut BlockBuilder,
    ) -> Vec<Value> {
        self.initializers(graph, scope);
        let outputs = graph.output.iter();
        let outputs: Vec<&'m str> = outputs
            .map(|output| output.name.as_deref().unwrap_or_default())
            .collect();
        self.nodes(&graph.node, &outputs, scope, bb)
    }

    /// The values of these names after the nodes, which may be in any order.
    fn nodes(
        &mut self,
        nodes: &'m [NodeProto],
        outputs: &[&'m str],
        scope: &mut Scope<'_, 'm>,
        bb: &mut BlockBuilder,
    ) -> Vec<Value> {
        let (order, problems) = ordered(nodes, scope);
        self.problems.extend(problems);
        self.in_order(&order, outputs, scope, bb)
    }

    /// The values of these names after the nodes, each of which is after those whose results it needs.
    pub(super) fn in_order(
        &mut self,
        nodes: &[&'m NodeProto],
        outputs: &[&'m str],
        scope: &mut Scope<'_, 'm>,
        bb: &mut BlockBuilder,
    ) -> Vec<Value> {
        for (at, node) in nodes.iter().enumerate() {
            let place = scope.place_of(node);
            let before = bb.set_origin(Origin::Node(place.as_str().into()));
            // What is written of an `If` whose branches no one type has is given up.
            let saved = (node.op_type.as_deref() == Some("If")).then(|| bb.clone());
            let mut made = self.node(node, Continuation::None, scope, &place, bb);
            if let (Err(Fault::BranchTypes), Some(saved)) = (&made, saved) {
                *bb = saved;
                let rest = Continuation::Nodes(&nodes[at + 1..], outputs);
                made = self.node(node, rest, scope, &place, bb);
                if let Ok(values) = made {
                    bb.set_origin(before);
                    return values;
                }
            }
            let values = match made {
                Ok(values) => values,
                Err(fault) => {
                    self.problem(place, node.op_type.clone(), fault);
                    vec![]
                }
            };
            bb.set_origin(before);
            let mut values = values.into_iter();
            for name in &node.output {
                let value = values.next().unwrap_or(Value::Missing);
                if !name.is_empty() {
                    scope.define(name, value);
                }
            }
        }
        let value = |name: &&str| scope.find(name).cloned();
        let values: Vec<Option<Value>> = outputs.iter().map(value).collect();
        let named = values.into_iter().zip(outputs).enumerate();
        named
            .map(|(index, (value, name))| {
                value.unwrap_or_else(|| {
                    let place = match scope.place.as_str() {
                        "" => "the outputs of the model".to_owned(),
                        place => place.to_owned(),
                    };
                    let what = "output";
                    let fault = match name.is_empty() {
                        true => Fault::Unnamed { what, index },
                        false => Fault::Undefined((*name).to_owned()),
                    };
                    self.problem(place, None, fault);
                    Value::Missing
                })
            })
            .collect()
    }

    fn node(
        &mut self,
        node: &'m NodeProto,
        rest: Continuation<'_, 'm>,
        scope: &Scope<'_, 'm>,
        place: &str,
        bb: &mut BlockBuilder,
    ) -> Result<Vec<Value>, Fault> {
        self.left = self.left.checked_sub(1).ok_or_else(|| {
            Fault::Unsupported(format!(
                "the model has more than {MAX_NODES} nodes, with those of its loops and functions"
            ))
        })?;
        let domain = plain_domain(node.domain.as_deref());
        let name = node.op_type.as_deref().unwrap_or_default();
        let attributes = Attributes::of(bound(&node.attribute, scope.bindings));
        let overload = node.overload.as_deref().unwrap_or_default();
        if let Some(&function) = self.functions.get(&(domain, name, overload)) {
            return self.function(function, node, &attributes, scope, place, bb);
        }
        let opsets = scope.opsets.unwrap_or(&self.opsets);
        let opset = match opsets.get(domain) {
            Some(&version) => version,
            // Domains of one vendor have one version.
            None if !domain.is_empty() => 1,
            None => return Err(Fault::Domain("ai.onnx".to_owned())),
        };
        let operator = operators::find(domain, name).ok_or_else(|| {
            Fault::Operator(match domain {
                "" => format!("`{name}`"),
                domain => format!("`{name}` of {domain}"),
            })
        })?;
        let version = operator.version(opset)?;
        let inputs = operands(node, scope)?;
        if inputs.iter().any(|value| matches!(value, Value::Missing)) {
            return Ok(vec![]);
        }
        let mut call = Call {
            importer: self,
            bb,
            node,
            inputs,
            attributes,
            version,
            scope,
            place,
        };
        if let Continuation::Nodes(rest, outputs) = rest {
            let mut values = operators::continued(&mut call, rest, outputs)?;
            values.resize(outputs.len(), Value::Missing);
            return Ok(values);
        }
        let folded = match operator.fold {
            Some(fold) => fold(&mut call)?,
            None => None,
        };
        let values = match folded {
            Some(value) => vec![value],
            None => match (operator.import)(&mut call) {
                Ok(values) => values,
                Err(fault) => return Err(with_operands(fault, node, &operands(node, scope)?)),
            },
        };
        if let Some(name) = call.attributes.unread().into_iter().next() {
            return Err(Fault::UnknownAttribute(name));
        }
        // Nothing at all where something stands in the way: that has been reported.
        let made = values.len();
        let unmade = node.output.iter().skip(made).find(|name| !name.is_empty());
        match unmade {
            Some(name) if made > 0 || self.problems.is_empty() => Err(Fault::Unsupported(format!(
                "output `{name}` is not made here"
            ))),
            _ => Ok(values),
        }
    }

    /// What a function of the model makes of a node.
    fn function(
        &mut self,
        function: &'m FunctionProto,
        node: &'m NodeProto,
        attributes: &Attributes<'m>,
        scope: &Scope<'_, 'm>,
        place: &str,
        bb: &mut BlockBuilder,
    ) -> Result<Vec<Value>, Fault> {
        let mut given = operands(node, scope)?.into_iter();
        self.deeper()?;
        let known = function.attribute.iter().map(String::as_str);
        let defaults = function.attribute_proto.iter();
        let defaults = defaults.map(|a| (a.name.as_deref().unwrap_or_default(), a));
        let mut all: Vec<(&'m str, &'m AttributeProto)> = vec![];
        for name in known {
            if let Some(given) = attributes.find(name) {
                all.push((name, given));
            }
        }
        for (name, default) in defaults {
            all.push((name, attributes.find(name).unwrap_or(default)));
        }
        let bindings = Attributes::of(all);
        let own = opsets(&function.opset_import);
        let mut inner = Scope::of_function(&bindings, &own, place);
        for name in &function.input {
            inner.define(name, given.next().unwrap_or(Value::Absent));
        }
        let outputs: Vec<&'m str> = function.output.iter().map(String::as_str).collect();
        let values = self.nodes(&function.node, &outputs, &mut inner, bb);
        self.depth -= 1;
        Ok(values)
    }

    /// Out of the last graph or function.
    pub(super) fn shallower(&mut self) {
        self.depth -= 1;
    }

    /// One graph or function deeper.
    pub(super) fn deeper(&mut self) -> Result<(), Fault> {
        if self.depth == MAX_DEPTH {
            let text = format!("graphs and functions nest more than {MAX_DEPTH} deep");
            return Err(Fault::Unsupported(text));
        }
        self.depth += 1;
        Ok(())
    }

    /// The outputs of a graph in a node, whose inputs have these values.
    pub(super) fn subgraph(
        &mut self,
        graph: &'m GraphProto,
        inputs: Vec<Value>,
        scope: &Scope<'_, 'm>,
        place: String,
        bb: &mut BlockBuilder,
    ) -> Result<Vec<Value>, Fault> {
        self.deeper()?;
        let mut inner = scope.inside(place);
        let names = graph.input.iter();
        for (name, value) in names.zip(inputs) {
            inner.define(name.name.as_deref().unwrap_or_default(), value);
        }
        let values = self.graph(graph, &mut inner, bb);
        self.depth -= 1;
        Ok(values)
    }
}

fn operands(node: &NodeProto, scope: &Scope<'_, '_>) -> Result<Vec<Value>, Fault> {
    let value = |name: &String| match name.as_str() {
        "" => Ok(Value::Absent),
        name => {
            let found = scope.find(name).cloned();
            found.ok_or_else(|| Fault::Undefined(name.to_owned()))
        }
    };
    node.input.iter().map(value).collect()
}

/// Attributes with those of the function around put in where they are meant.
fn bound<'m>(
    all: &'m [AttributeProto],
    bindings: Option<&Attributes<'m>>,
) -> Vec<(&'m str, &'m AttributeProto)> {
    let attributes = all.iter().filter_map(|attribute| {
        let name = attribute.name.as_deref().unwrap_or_default();
        match attribute.ref_attr_name.as_deref() {
            None | Some("") => Some((name, attribute)),
            Some(of) => Some((name, bindings?.find(of)?)),
        }
    });
    attributes.collect()
}

/// `ai.onnx` is the default domain, whose name is empty.
pub(super) fn plain_domain(domain: Option<&str>) -> &str {
    match domain.unwrap_or_default() {
        "ai.onnx" => "",
        other => other,
    }
}

fn opsets(imports: &[super::proto::OperatorSetIdProto]) -> HashMap<&str, i64> {
    let domains = imports.iter();
    domains
        .map(|set| {
            (
                plain_domain(set.domain.as_deref()),
                set.version.unwrap_or(1),
            )
        })
        .collect()
}

/// A name as an identifier of program text.
pub(super) fn identifier(name: &str) -> String {
    let mut text: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
        .collect();
    if !text.starts_with(|c: char| c.is_ascii_alphabetic()) {
        text.insert_str(0, "v_");
    }
    text
}
