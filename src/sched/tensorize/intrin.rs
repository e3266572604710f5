//! Tensor intrinsics: what an instruction computes, and how it is written.

use std::sync::Arc;

use indexmap::IndexMap;

use super::wmma;
use crate::ir::{Buffer, PrimFunc};

/// An instruction on tiles as two loop programs with the same parameters: the description says in loops what it computes, the
/// implementation how that is done. That both compute the same is for who makes it to see to; `interp::same_results` helps.
#[derive(Clone, Debug)]
pub struct TensorIntrin {
    name: String,
    pub(super) description: PrimFunc,
    pub(super) implementation: PrimFunc,
}

/// Two loop programs are no tensor intrinsic.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TensorIntrinError {
    /// A parameter is a scalar.
    #[error("tensor intrinsic `{name}`: a parameter of `{func}` is no buffer")]
    ScalarParameter {
        /// The intrinsic.
        name: String,
        /// The loop program.
        func: String,
    },
    /// They have different parameters.
    #[error("tensor intrinsic `{name}`: description and implementation have different parameters")]
    DifferentParameters {
        /// The intrinsic.
        name: String,
    },
}

impl TensorIntrin {
    /// An intrinsic of this name.
    ///
    /// # Errors
    /// If a parameter is no buffer, or the buffers of both do not have the same shapes and element types.
    pub fn new(
        name: impl Into<String>,
        description: PrimFunc,
        implementation: PrimFunc,
    ) -> Result<Self, TensorIntrinError> {
        let name = name.into();
        for func in [&description, &implementation] {
            if func.buffer_params().count() != func.params.len() {
                let func = func.name.clone();
                return Err(TensorIntrinError::ScalarParameter { name, func });
            }
        }
        let same = |(a, b): (&Buffer, &Buffer)| a.dtype() == b.dtype() && a.shape() == b.shape();
        let pairs = (description.buffer_params()).zip(implementation.buffer_params());
        let all_same = pairs.into_iter().all(same);
        if description.params.len() != implementation.params.len() || !all_same {
            return Err(TensorIntrinError::DifferentParameters { name });
        }
        Ok(Self {
            name,
            description,
            implementation,
        })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// Tensor intrinsics by name.
#[derive(Clone, Debug, Default)]
pub struct TensorIntrins(IndexMap<String, Arc<TensorIntrin>>);

impl TensorIntrins {
    /// Adds an intrinsic; it takes the place of one with the same name.
    pub fn register(&mut self, intrin: TensorIntrin) {
        self.0.insert(intrin.name.clone(), Arc::new(intrin));
    }

    /// The intrinsic with this name, which may be one that every schedule knows (`wmma.rs`).
    pub fn get(&self, name: &str) -> Option<&Arc<TensorIntrin>> {
        self.0.get(name).or_else(|| wmma::intrins().0.get(name))
    }
}
