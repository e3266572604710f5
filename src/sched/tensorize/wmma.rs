//! The tensor intrinsics that every schedule knows: products of fragments by the threads of a subgroup, under TVM's names (`tvm.tir.tensor_intrin.cuda`). Their calls are those of [`FragmentCall`](crate::ir::FragmentCall).

use std::sync::LazyLock;

use super::{TensorIntrin, TensorIntrins};
use crate::kernel::FragmentProduct;
use crate::script;
use crate::tensor::ScalarType;

/// Each intrinsic of a product as a description and an implementation.
const SCRIPT: &str = include_str!("wmma.py");

/// The extents of fragments and the element types of factors that there are intrinsics for; sums are of `float32`.
const PRODUCTS: [(u32, ScalarType); 3] = [
    (16, ScalarType::F16),
    (8, ScalarType::F16),
    (8, ScalarType::F32),
];

static INTRINS: LazyLock<TensorIntrins> = LazyLock::new(|| {
    let mut intrins = TensorIntrins::default();
    for (extent, factors) in PRODUCTS {
        register(&mut intrins, extent, factors);
    }
    intrins
});

/// Adds the intrinsics of a product. Products of the same extent have those on sums in common.
fn register(intrins: &mut TensorIntrins, extent: u32, factors: ScalarType) {
    let script = SCRIPT
        .replace("EXTENT", &extent.to_string())
        .replace("FACTORS", &factors.to_string())
        .replace("NARROW", short_name(factors));
    let module = script::parse("wmma.py", &script).expect("a program of the crate");
    for (name, description) in module.prim_funcs() {
        if let Some(name) = name.strip_suffix("_description") {
            let implementation = module.prim_func(&format!("{name}_implementation"));
            let implementation = implementation.expect("each has one").clone();
            let intrin = TensorIntrin::new(name, description.clone(), implementation);
            intrins.register(intrin.expect("both take the same tiles"));
        }
    }
}

/// What TVM calls an element type in names of intrinsics.
fn short_name(dtype: ScalarType) -> &'static str {
    match dtype {
        ScalarType::F16 => "f16",
        _ => "f32",
    }
}

/// The intrinsics that a product is made of.
pub(in crate::sched) struct ProductIntrins {
    /// Load a fragment of `A` and one of `B` from shared memory.
    pub(in crate::sched) load: [String; 2],
    /// Makes sums zeros.
    pub(in crate::sched) fill: String,
    /// Adds a product of fragments.
    pub(in crate::sched) sync: String,
    /// Stores sums to shared memory.
    pub(in crate::sched) store: String,
}

impl ProductIntrins {
    /// Those of a product, if there are such.
    pub(in crate::sched) fn of(product: FragmentProduct) -> Option<Self> {
        let FragmentProduct {
            extent,
            factors,
            sums,
        } = product;
        if !PRODUCTS.contains(&(extent, factors)) || sums != ScalarType::F32 {
            return None;
        }
        let (size, of) = (format!("{extent}x{extent}x{extent}"), short_name(factors));
        Some(Self {
            load: ["a", "b"].map(|matrix| format!("wmma_load_{size}_{of}_{matrix}_shared")),
            fill: format!("wmma_fill_{size}_f32"),
            sync: format!("wmma_sync_{size}_{of}{of}f32"),
            store: format!("wmma_store_{size}_f32_shared"),
        })
    }
}

/// All of them.
pub(super) fn intrins() -> &'static TensorIntrins {
    &INTRINS
}
