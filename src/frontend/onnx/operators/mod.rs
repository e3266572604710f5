//! The operators of ONNX and what they become: one table, which the importer, the checker and `docs/onnx.md` read, one file a family.

mod activation;
mod attention;
mod contrib;
mod contrib_attention;
mod contrib_quantized;
mod control;
mod deform;
mod detection;
mod dot_product;
mod elementwise;
mod features;
mod flex;
mod fold;
mod group_query;
mod image;
mod indexing;
mod linalg;
mod loops;
mod loss;
mod nn;
mod norm;
mod pad;
mod pieces;
mod q_linear;
mod quantize;
mod random;
mod recurrent;
mod reduce;
mod sequence;
mod shape;
mod slices;
mod spectral;
mod stateful;
mod text;
mod training;
mod unpool;

use super::call::{Call, Outputs};
use super::error::Fault;
use super::import::plain_domain;
use super::proto::NodeProto;
pub(super) use control::continued;
use fold::Fold;

/// What a node becomes.
pub(super) type Import = fn(&mut Call<'_, '_>) -> Outputs;

/// An operator.
#[derive(Clone, Copy)]
pub(super) struct Operator {
    /// The domain; empty for the default one.
    pub(super) domain: &'static str,
    /// `op_type`.
    pub(super) name: &'static str,
    /// The versions of the operator set in which it came and changed, ascending.
    pub(super) versions: &'static [i64],
    /// What it becomes.
    pub(super) import: Import,
    /// What it is of known elements.
    pub(super) fold: Option<Fold>,
    /// What is not supported, and what is special.
    pub(super) notes: &'static str,
    /// Whether two calls of the node may give different results.
    pub(super) impure: fn(&NodeProto) -> bool,
}

impl Operator {
    /// An operator of the default domain.
    const fn new(name: &'static str, versions: &'static [i64], import: Import) -> Self {
        Self {
            domain: "",
            name,
            versions,
            import,
            fold: None,
            notes: "",
            impure: |_| false,
        }
    }

    /// The same in another domain.
    const fn of(mut self, domain: &'static str) -> Self {
        self.domain = domain;
        self
    }

    /// The same, computed while the model is imported where all elements are known.
    const fn folds(mut self, fold: Fold) -> Self {
        self.fold = Some(fold);
        self
    }

    /// The same with a note for the documentation.
    const fn note(mut self, notes: &'static str) -> Self {
        self.notes = notes;
        self
    }

    /// The same with results that may differ from call to call, for these nodes.
    const fn impure(mut self, impure: fn(&NodeProto) -> bool) -> Self {
        self.impure = impure;
        self
    }

    /// The version that counts for a model of this operator set.
    pub(super) fn version(&self, opset: i64) -> Result<i64, Fault> {
        let known = self.versions.iter().rev();
        let found = known.copied().find(|&version| version <= opset);
        found.ok_or_else(|| Fault::Version {
            first: self.versions[0],
            given: opset,
        })
    }
}

/// The newest operator set of each domain that the table was checked against. What newer ones change is not known.
pub(super) const NEWEST: &[(&str, i64)] = &[
    ("", 28),
    ("ai.onnx.ml", 5),
    ("ai.onnx.preview", 1),
    ("ai.onnx.preview.training", 1),
];

const FAMILIES: &[&[Operator]] = &[
    activation::OPERATORS,
    attention::OPERATORS,
    contrib::OPERATORS,
    contrib_attention::OPERATORS,
    contrib_quantized::OPERATORS,
    control::OPERATORS,
    deform::OPERATORS,
    detection::OPERATORS,
    elementwise::OPERATORS,
    features::OPERATORS,
    flex::OPERATORS,
    group_query::OPERATORS,
    image::OPERATORS,
    indexing::OPERATORS,
    linalg::OPERATORS,
    loops::OPERATORS,
    loss::OPERATORS,
    nn::OPERATORS,
    norm::OPERATORS,
    pad::OPERATORS,
    q_linear::OPERATORS,
    quantize::OPERATORS,
    random::OPERATORS,
    recurrent::OPERATORS,
    reduce::OPERATORS,
    sequence::OPERATORS,
    shape::OPERATORS,
    slices::OPERATORS,
    spectral::OPERATORS,
    stateful::OPERATORS,
    text::OPERATORS,
    training::OPERATORS,
    unpool::OPERATORS,
];

/// All operators, by family.
pub(super) fn all() -> impl Iterator<Item = &'static Operator> {
    FAMILIES.iter().copied().flatten()
}

/// The operator of a node, unless the model defines it.
pub(super) fn of_node(node: &NodeProto) -> Option<&'static Operator> {
    let domain = plain_domain(node.domain.as_deref());
    find(domain, node.op_type.as_deref().unwrap_or_default())
}

/// The operator of this name.
pub(super) fn find(domain: &str, name: &str) -> Option<&'static Operator> {
    all().find(|operator| operator.domain == domain && operator.name == name)
}
