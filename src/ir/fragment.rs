//! Fragments: tiles of matrices that the threads of a subgroup hold together in their registers, and the calls on whole tiles (CUDA:
//! `wmma`).
//!
//! A fragment is a part of 16 by 16 elements of a buffer in one of the scopes `wmma.matrix_a`, `wmma.matrix_b` and
//! `wmma.accumulator`. The calls have TVM's names. TVM gives a fragment as an address and the number of the tile, memory as an address
//! and a stride; here both are the address of the first element of the tile, the rest says the layout of its buffer:
//!
//! ```text
//! T.tvm_fill_fragment(T.address_of(C[0, 0]), 16, 16, 16, T.float32(0))                                 C = 0
//! T.tvm_load_matrix_sync(T.address_of(A[0, 0]), 16, 16, 16, T.address_of(M[0, 0]), "row_major")        A = M
//! T.tvm_mma_sync(T.address_of(D[0, 0]), T.address_of(A[0, 0]), T.address_of(B[0, 0]), T.address_of(C[0, 0]))   D = A * B + C
//! T.tvm_store_matrix_sync(T.address_of(C[0, 0]), 16, 16, 16, T.address_of(M[0, 0]), "row_major")       M = C
//! ```
//!
//! All threads of a subgroup make such a call together: no loop around it is bound to `threadIdx.x`, which counts the threads of a
//! subgroup.

use super::{Buffer, Expr, ExprKind, External, Scope};

/// Rows and columns of a fragment, as indices count them.
pub const FRAGMENT_EXTENT: i64 = crate::tensor::FRAGMENT_EXTENT as i64;

/// Which matrix of `D = A * B + C` a fragment is a tile of.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FragmentRole {
    /// The left factor.
    MatrixA,
    /// The right factor.
    MatrixB,
    /// The sums.
    Accumulator,
}

impl Scope {
    /// The matrix whose tiles a buffer of this scope holds, if it holds fragments.
    pub fn fragment(&self) -> Option<FragmentRole> {
        let Self::Other(name) = self else {
            return None;
        };
        match name.as_str() {
            "wmma.matrix_a" => Some(FragmentRole::MatrixA),
            "wmma.matrix_b" => Some(FragmentRole::MatrixB),
            "wmma.accumulator" => Some(FragmentRole::Accumulator),
            _ => None,
        }
    }
}

/// A tile of a buffer: the buffer and the indices of the first element. Its rows and columns are the last two dimensions.
#[derive(Clone, Copy, Debug)]
pub struct FragmentTile<'e> {
    /// The buffer.
    pub buffer: &'e Buffer,
    /// Where the tile begins.
    pub first: &'e [Expr],
}

/// A call on whole fragments.
#[derive(Clone, Copy, Debug)]
pub enum FragmentCall<'e> {
    /// Every element becomes this value.
    Fill {
        /// What is written.
        fragment: FragmentTile<'e>,
        /// The value.
        value: &'e Expr,
    },
    /// A tile of memory becomes a fragment.
    Load {
        /// What is written.
        fragment: FragmentTile<'e>,
        /// What is read.
        memory: FragmentTile<'e>,
    },
    /// `result = a * b + addend`
    MultiplyAdd {
        /// What is written.
        result: FragmentTile<'e>,
        /// The left factor.
        a: FragmentTile<'e>,
        /// The right factor.
        b: FragmentTile<'e>,
        /// What is added.
        addend: FragmentTile<'e>,
    },
    /// A fragment becomes a tile of memory.
    Store {
        /// What is read.
        fragment: FragmentTile<'e>,
        /// What is written.
        memory: FragmentTile<'e>,
    },
}

impl Expr {
    /// The call on fragments that the expression is, if it has the form that this module gives.
    pub fn as_fragment_call(&self) -> Option<FragmentCall<'_>> {
        let ExprKind::External(external, args) = self.kind() else {
            return None;
        };
        let sizes = |sizes: &[Expr]| sizes.iter().all(|e| e.as_int() == Some(FRAGMENT_EXTENT));
        let by_rows =
            |order: &Expr| matches!(order.kind(), ExprKind::Str(s) if **s == *"row_major");
        match (external, args.as_slice()) {
            (External::FillFragment, [fragment, m, n, k, value])
                if sizes(&[m.clone(), n.clone(), k.clone()]) =>
            {
                let fragment = tile(fragment)?;
                Some(FragmentCall::Fill { fragment, value })
            }
            (External::LoadMatrixSync, [fragment, m, n, k, memory, order])
                if sizes(&[m.clone(), n.clone(), k.clone()]) && by_rows(order) =>
            {
                let (fragment, memory) = (tile(fragment)?, tile(memory)?);
                Some(FragmentCall::Load { fragment, memory })
            }
            (External::MmaSync, [result, a, b, addend]) => Some(FragmentCall::MultiplyAdd {
                result: tile(result)?,
                a: tile(a)?,
                b: tile(b)?,
                addend: tile(addend)?,
            }),
            (External::StoreMatrixSync, [fragment, m, n, k, memory, order])
                if sizes(&[m.clone(), n.clone(), k.clone()]) && by_rows(order) =>
            {
                let (fragment, memory) = (tile(fragment)?, tile(memory)?);
                Some(FragmentCall::Store { fragment, memory })
            }
            _ => None,
        }
    }
}

/// The tile at an address.
fn tile(address: &Expr) -> Option<FragmentTile<'_>> {
    let ExprKind::External(External::AddressOf, args) = address.kind() else {
        return None;
    };
    let [element] = args.as_slice() else {
        return None;
    };
    match element.kind() {
        ExprKind::Load(buffer, first) if first.len() >= 2 => Some(FragmentTile { buffer, first }),
        _ => None,
    }
}
