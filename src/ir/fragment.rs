//! Fragments: tiles of matrices that the threads of a subgroup hold together in their registers, and the calls on whole tiles (CUDA:
//! `wmma`).
//!
//! A fragment is a part of as many rows as columns of a buffer in one of the scopes `wmma.matrix_a`, `wmma.matrix_b` and
//! `wmma.accumulator`. Its *extent* is 8 or 16 ([`FragmentExtents`]). The calls have TVM's names. TVM gives a fragment as an address
//! and the number of the tile, memory as an address and a stride; here both are the address of the first element of the tile, the
//! rest says the layout of its buffer:
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

use std::collections::HashMap;

use super::{Buffer, Expr, ExprKind, External, Place, PrimFunc, Scope, Stmt};
use crate::tensor::FRAGMENT_EXTENTS;

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
        /// Rows and columns.
        extent: i64,
    },
    /// A tile of memory becomes a fragment.
    Load {
        /// What is written.
        fragment: FragmentTile<'e>,
        /// What is read.
        memory: FragmentTile<'e>,
        /// Rows and columns.
        extent: i64,
    },
    /// `result = a * b + addend`. The call says no sizes: they are those of the fragments ([`FragmentExtents`]).
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
        /// Rows and columns.
        extent: i64,
    },
}

impl Expr {
    /// The call on fragments that the expression is, if it has the form that this module gives.
    pub fn as_fragment_call(&self) -> Option<FragmentCall<'_>> {
        let ExprKind::External(external, args) = self.kind() else {
            return None;
        };
        let by_rows =
            |order: &Expr| matches!(order.kind(), ExprKind::Str(s) if **s == *"row_major");
        match (external, args.as_slice()) {
            (External::FillFragment, [fragment, m, n, k, value]) => Some(FragmentCall::Fill {
                fragment: tile(fragment)?,
                value,
                extent: extent([m, n, k])?,
            }),
            (External::LoadMatrixSync, [fragment, m, n, k, memory, order]) if by_rows(order) => {
                Some(FragmentCall::Load {
                    fragment: tile(fragment)?,
                    memory: tile(memory)?,
                    extent: extent([m, n, k])?,
                })
            }
            (External::MmaSync, [result, a, b, addend]) => Some(FragmentCall::MultiplyAdd {
                result: tile(result)?,
                a: tile(a)?,
                b: tile(b)?,
                addend: tile(addend)?,
            }),
            (External::StoreMatrixSync, [fragment, m, n, k, memory, order]) if by_rows(order) => {
                Some(FragmentCall::Store {
                    fragment: tile(fragment)?,
                    memory: tile(memory)?,
                    extent: extent([m, n, k])?,
                })
            }
            _ => None,
        }
    }
}

/// The extent that the sizes of a call say: one of those that fragments have, three times.
fn extent([m, n, k]: [&Expr; 3]) -> Option<i64> {
    let mut all = FRAGMENT_EXTENTS.into_iter().map(i64::from);
    all.find(|of| [m, n, k].iter().all(|size| size.as_int() == Some(*of)))
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

/// The extents of the fragments of a loop program (TVM: `FragmentGetter`).
///
/// All fragments of a buffer have one extent, which the calls say that fill, load or store them. What only the call of a product names,
/// as an intrinsic for products alone does, is one fragment, with the extents of its buffer.
#[derive(Clone, Debug, Default)]
pub struct FragmentExtents {
    /// What calls say of the buffers that own the elements.
    said: HashMap<Buffer, i64>,
    /// The buffers that views are views of.
    sources: HashMap<Buffer, Buffer>,
    /// Buffers of which calls say something else than calls before: with the first extent, and the other one.
    conflicts: Vec<(Place, Buffer, [i64; 2])>,
}

impl FragmentExtents {
    /// Those of a loop program.
    pub fn of_func(func: &PrimFunc) -> Self {
        let mut found = Self::default();
        let mut calls = vec![];
        found.collect_below(func, func.root.into(), &mut calls);
        for (place, buffer, extent) in calls {
            let owner = found.owner(&buffer);
            let said = *found.said.entry(owner).or_insert(extent);
            if said != extent {
                found.conflicts.push((place, buffer, [said, extent]));
            }
        }
        found
    }

    /// The extent of the fragments of a buffer, if it is known.
    pub fn of(&self, buffer: &Buffer) -> Option<i64> {
        let said = self.said.get(&self.owner(buffer)).copied();
        said.or_else(|| match buffer.shape() {
            [.., rows, columns] => extent([rows, columns, rows]),
            _ => None,
        })
    }

    /// The extent of all fragments of a product, if they have one.
    pub fn of_product(&self, fragments: [FragmentTile<'_>; 4]) -> Option<i64> {
        let [first, others @ ..] = fragments.map(|fragment| self.of(fragment.buffer));
        first.filter(|_| others.iter().all(|other| *other == first))
    }

    /// Where calls say several extents of one buffer: the first one, and another one.
    pub fn conflicts(&self) -> &[(Place, Buffer, [i64; 2])] {
        &self.conflicts
    }

    fn owner(&self, buffer: &Buffer) -> Buffer {
        let mut owner = buffer;
        // A program that is not well-formed may have a view of itself.
        for _ in 0..self.sources.len() {
            owner = self.sources.get(owner).unwrap_or(owner);
        }
        owner.clone()
    }

    /// Notes what calls at a place and below it say, and the views there.
    fn collect_below(
        &mut self,
        func: &PrimFunc,
        place: Place,
        calls: &mut Vec<(Place, Buffer, i64)>,
    ) {
        let mut init = &[][..];
        if let Place::Block(id) = place {
            let block = &func.blocks[id];
            for view in &block.match_buffers {
                let source = view.source.buffer.clone();
                self.sources.insert(view.buffer.clone(), source);
            }
            init = block.init.as_deref().unwrap_or_default();
        }
        for stmt in init.iter().chain(func.tree.body(place)) {
            self.collect(stmt, place, calls);
            for below in stmt.places() {
                self.collect_below(func, below, calls);
            }
        }
    }

    /// Notes what calls of a statement say, and its views.
    fn collect(&mut self, stmt: &Stmt, place: Place, calls: &mut Vec<(Place, Buffer, i64)>) {
        match stmt {
            Stmt::Evaluate(e) => {
                if let Some(
                    FragmentCall::Fill {
                        fragment, extent, ..
                    }
                    | FragmentCall::Load {
                        fragment, extent, ..
                    }
                    | FragmentCall::Store {
                        fragment, extent, ..
                    },
                ) = e.as_fragment_call()
                {
                    calls.push((place, fragment.buffer.clone(), extent));
                }
            }
            Stmt::View { buffer, memory, .. } => {
                if let ExprKind::Data(source) = memory.kind() {
                    self.sources.insert(buffer.clone(), source.clone());
                }
            }
            _ => {}
        }
        let nested = stmt.nested().into_iter().flatten();
        nested.for_each(|stmt| self.collect(stmt, place, calls));
    }
}
