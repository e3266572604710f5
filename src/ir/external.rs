//! Calls that leave the language: of functions outside of the program, of the runtime, and of instructions between threads.
//!
//! What such a call computes or changes, the program does not say, but for calls on fragments ([`FragmentCall`](super::FragmentCall)).
//! It is kept and printed; a back end that has no such function or instruction, and the interpreter, refuse it by its name. Texts among the arguments are [`ExprKind::Str`](super::ExprKind);
//! addresses are `uint64`.

use crate::tensor::DType;

/// How the type of a call's result is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ExternalType {
    /// The text writes it as the first argument.
    Written,
    /// The text writes it as the last argument.
    WrittenLast,
    /// Always this one.
    Fixed(DType),
    /// That of an operand.
    Operand(usize),
}

macro_rules! externals {
    ($($variant:ident $name:literal $ty:expr;)*) => {
        /// What an external call calls, under TVM's names.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
        #[expect(missing_docs, reason = "TVM's names in another case")]
        pub enum External { $($variant),* }

        impl External {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// TVM's name, as in `T.call_extern`.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),* }
            }

            /// How the type of the result is known.
            pub fn result(self) -> ExternalType {
                match self { $(Self::$variant => $ty),* }
            }
        }
    };
}

use ExternalType::{Fixed, Operand, Written, WrittenLast};

/// The type of an address.
const ADDRESS: DType = DType::U64;
/// The type of a call whose result nobody uses.
const STATUS: DType = DType::I32;

externals! {
    // Functions outside of the program.
    CallExtern "call_extern" Written;
    CallFunction "call_function" Written;
    CallPureExtern "call_pure_extern" Written;
    CallPacked "call_packed" Fixed(STATUS);
    CallCPacked "call_cpacked" Fixed(STATUS);
    CallPackedLowered "call_packed_lowered" Fixed(STATUS);
    CallCPackedLowered "call_cpacked_lowered" Fixed(STATUS);
    CallTracePacked "call_trace_packed" Fixed(STATUS);
    StaticHandle "tvm_static_handle" Fixed(ADDRESS);
    AnylistGetItem "anylist_getitem" Fixed(ADDRESS);
    AnylistSetCallPacked "anylist_setitem_call_packed" Fixed(STATUS);
    AnylistSetCallCPacked "anylist_setitem_call_cpacked" Fixed(STATUS);
    AnylistResetItem "anylist_resetitem" Fixed(STATUS);
    ContextId "tvm_context_id" Fixed(ADDRESS);
    ThrowLastError "tvm_throw_last_error" Fixed(ADDRESS);
    // Memory of the runtime.
    AddressOf "address_of" Fixed(ADDRESS);
    AccessPtr "tvm_access_ptr" Fixed(ADDRESS);
    TypeAnnotation "type_annotation" Written;
    StackAlloca "tvm_stack_alloca" Fixed(ADDRESS);
    StackMakeShape "tvm_stack_make_shape" Fixed(ADDRESS);
    StackMakeArray "tvm_stack_make_array" Fixed(ADDRESS);
    StructGet "tvm_struct_get" WrittenLast;
    StructSet "tvm_struct_set" Fixed(STATUS);
    Prefetch "prefetch" Fixed(STATUS);
    Undef "undef" Fixed(STATUS);
    // What holds where the statement stands, whatever the program reads there: a statement of its own.
    Assume "assume" Fixed(STATUS);
    // The next number that the type has.
    NextAfter "nextafter" Operand(0);
    // Marks the place of a kernel in the function that launches it.
    KernelReplacePoint "tvm_kernel_replace_point" Fixed(STATUS);
    // Of the hardware that runs the program.
    VScale "vscale" Fixed(DType::I32);
    // Places in the launch: the dimension that is meant, the number of extents, these, and those that are preferred.
    CtaId "cta_id" Fixed(DType::I32);
    CtaIdInCluster "cta_id_in_cluster" Fixed(DType::I32);
    CtaIdInPair "cta_id_in_pair" Fixed(DType::I32);
    ClusterId "cluster_id" Fixed(DType::I32);
    WarpgroupId "warpgroup_id" Fixed(DType::I32);
    WarpId "warp_id" Fixed(DType::I32);
    WarpIdInWarpgroup "warp_id_in_wg" Fixed(DType::I32);
    LaneId "lane_id" Fixed(DType::I32);
    ThreadId "thread_id" Fixed(DType::I32);
    ThreadIdInWarpgroup "thread_id_in_wg" Fixed(DType::I32);
    // Between the threads of a workgroup.
    StorageSync "tvm_storage_sync" Fixed(STATUS);
    ThreadAllreduce "tvm_thread_allreduce" Fixed(ADDRESS);
    ThreadInvariant "tvm_thread_invariant" Operand(0);
    WarpShuffle "tvm_warp_shuffle" Operand(1);
    WarpShuffleUp "tvm_warp_shuffle_up" Operand(1);
    WarpShuffleDown "tvm_warp_shuffle_down" Operand(1);
    WarpShuffleXor "tvm_warp_shuffle_xor" Operand(1);
    WarpActiveMask "tvm_warp_activemask" Fixed(DType::U32);
    // On fragments, by all threads of a subgroup together (`fragment.rs`).
    FillFragment "tvm_fill_fragment" Fixed(ADDRESS);
    LoadMatrixSync "tvm_load_matrix_sync" Fixed(ADDRESS);
    MmaSync "tvm_mma_sync" Fixed(ADDRESS);
    StoreMatrixSync "tvm_store_matrix_sync" Fixed(ADDRESS);
}

impl External {
    /// Whether it is a place in the launch: `bx, by = T.cta_id([2, 4])`.
    pub fn is_launch_place(self) -> bool {
        matches!(
            self,
            Self::CtaId
                | Self::CtaIdInCluster
                | Self::CtaIdInPair
                | Self::ClusterId
                | Self::WarpgroupId
                | Self::WarpId
                | Self::WarpIdInWarpgroup
                | Self::LaneId
                | Self::ThreadId
                | Self::ThreadIdInWarpgroup
        )
    }

    /// The call with this name.
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            // Older scripts and TVM's `s_tir` call it so.
            "storage_sync" => Some(Self::StorageSync),
            _ => Self::ALL.iter().copied().find(|e| e.name() == name),
        }
    }
}
