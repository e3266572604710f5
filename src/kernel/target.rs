//! `Target`: what schedules and lowering must know of a device. Plain data: the compiler runs without the device.

use serde::{Deserialize, Serialize};

use super::{Fragment, FragmentProduct, GpuModel, Role};
use crate::tensor::{DType, ScalarType};

/// Family of GPUs that like the same loop structures.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum GpuClass {
    /// NVIDIA.
    Nvidia,
    /// AMD.
    Amd,
    /// Intel.
    Intel,
    /// Apple.
    Apple,
    /// Phones and small boards.
    Mobile,
    /// A software adapter, which runs on the CPU: lavapipe, WARP.
    Software,
    /// Any other: only what WebGPU guarantees.
    Unknown,
}

/// Storage buffers of a kernel that are asked of a device. Desktop GPUs have as many.
pub const MOST_STORAGE_BUFFERS: u32 = 16;

/// What is known of a GPU.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct GpuTarget {
    /// Its family.
    pub class: GpuClass,
    /// Most threads of a workgroup.
    pub max_threads: u32,
    /// Bytes of workgroup memory.
    pub shared_bytes: u32,
    /// Most workgroups in one dimension of a dispatch.
    pub max_grid: u32,
    /// Most storage buffers of one kernel.
    pub max_storage_buffers: u32,
    /// Bytes of immediates (push constants); 0: scalars go in a uniform buffer.
    pub immediate_bytes: u32,
    /// Whether `f16` is there.
    pub f16: bool,
    /// How many threads a subgroup has at least, if subgroup operations are there.
    pub subgroup: Option<u32>,
    /// The products of fragments that its subgroups make, where those have 32 threads (WGSL: cooperative matrices).
    pub fragments: Vec<FragmentProduct>,
    /// Passes through loops that a thread may make, those of all its loops together; lavapipe ends every loop after so many,
    /// without an error. `None`: any number.
    pub max_loop_passes: Option<u32>,
    /// If it is lavapipe: the major version of Mesa, whose compiler it is.
    pub lavapipe: Option<u32>,
    /// Units that run workgroups, where the device is known; see [`GpuTarget::cores`].
    pub known_cores: Option<u32>,
}

impl Default for GpuTarget {
    /// What every WebGPU device has.
    fn default() -> Self {
        Self {
            class: GpuClass::Unknown,
            max_threads: 256,
            shared_bytes: 16 << 10,
            max_grid: 65_535,
            max_storage_buffers: 8,
            immediate_bytes: 0,
            f16: false,
            subgroup: None,
            fragments: vec![],
            max_loop_passes: None,
            lavapipe: None,
            known_cores: None,
        }
    }
}

impl GpuTarget {
    /// Units that run workgroups: those of the device, or of a common one of its class.
    pub fn cores(&self) -> i64 {
        GpuModel::of_target(self).cores.into()
    }

    /// The product of fragments of these types that it makes, the one of most rows if there are several.
    pub fn fragment_product(&self, factors: DType, sums: DType) -> Option<FragmentProduct> {
        let of_types = |of: &&FragmentProduct| {
            DType::from(of.factors) == factors && DType::from(of.sums) == sums
        };
        let all = self.fragments.iter().filter(of_types);
        all.max_by_key(|of| of.extent).copied()
    }

    /// Whether it makes a product of which such a fragment is a part.
    pub fn has_fragment(&self, fragment: &Fragment) -> bool {
        let is_part = |of: &FragmentProduct| {
            let dtype = match fragment.role {
                Role::A | Role::B => of.factors,
                Role::C => of.sums,
            };
            of.extent == fragment.extent && dtype == fragment.dtype
        };
        self.fragments.iter().any(is_part)
    }

    /// Whether tiles of memory lie in arrays of scalars: `simdgroup_load` of Metal takes a pointer to an element and counts in elements,
    /// and naga hands it the pointer as it is.
    pub fn loads_tiles_of_scalars(&self) -> bool {
        self.class == GpuClass::Apple
    }

    /// What desktop GPUs have, whoever made them. Kernels for it run on each of them as they are.
    pub fn desktop() -> Self {
        Self {
            max_threads: 1024,
            shared_bytes: 32 << 10,
            max_storage_buffers: MOST_STORAGE_BUFFERS,
            immediate_bytes: 128,
            f16: true,
            subgroup: Some(4),
            ..Self::default()
        }
    }

    /// What desktop devices of the class have. A device at hand says itself what it has.
    pub fn usual(class: GpuClass) -> Self {
        let most = |bytes: u32, subgroup| Self {
            class,
            subgroup,
            shared_bytes: bytes,
            max_storage_buffers: MOST_STORAGE_BUFFERS,
            immediate_bytes: 128,
            f16: true,
            ..Self::default()
        };
        match class {
            // Since Turing.
            GpuClass::Nvidia => Self {
                max_threads: 1024,
                fragments: vec![FragmentProduct {
                    extent: 16,
                    factors: ScalarType::F16,
                    sums: ScalarType::F32,
                }],
                ..most(48 << 10, Some(32))
            },
            GpuClass::Amd => Self {
                max_threads: 1024,
                ..most(32 << 10, Some(32))
            },
            GpuClass::Intel => Self {
                max_threads: 1024,
                ..most(32 << 10, Some(8))
            },
            // Metal does not tell the size of a pipeline before it is made. Fragments since M1 (`MTLGPUFamilyApple7`).
            GpuClass::Apple => Self {
                max_threads: 1024,
                fragments: vec![
                    FragmentProduct {
                        extent: 8,
                        factors: ScalarType::F32,
                        sums: ScalarType::F32,
                    },
                    FragmentProduct {
                        extent: 8,
                        factors: ScalarType::F16,
                        sums: ScalarType::F32,
                    },
                ],
                ..most(32 << 10, Some(4))
            },
            GpuClass::Software => Self {
                max_threads: 1024,
                max_loop_passes: Some(65_535),
                lavapipe: Some(25),
                ..most(32 << 10, Some(4))
            },
            GpuClass::Mobile => most(16 << 10, None),
            GpuClass::Unknown => Self::default(),
        }
    }
}

/// What is known of a CPU.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct CpuTarget {
    /// Threads that parallel loops may use.
    pub threads: usize,
    /// Lanes of `f32` in a vector register that generated code uses.
    pub f32_lanes: u16,
    /// How many vector registers there are.
    pub vector_registers: u16,
    /// Whether fused multiply-add is there.
    pub fma: bool,
    /// Whether one instruction adds up the products of the bytes of words.
    pub dot_bytes: bool,
}

impl CpuTarget {
    /// Lanes of a vector register of these elements; narrow ones are computed in 32 bits.
    pub fn lanes(&self, dtype: DType) -> i64 {
        let bytes = dtype.scalar.bytes().max(4) as i64;
        (4 * i64::from(self.f32_lanes) / bytes).max(1)
    }
}

/// A device to compile for.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Target {
    /// A GPU.
    Gpu(GpuTarget),
    /// The CPU.
    Cpu(CpuTarget),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn desktop_gpus_have_what_each_class_has() {
        let all = GpuTarget::desktop();
        let classes = [
            GpuClass::Nvidia,
            GpuClass::Amd,
            GpuClass::Intel,
            GpuClass::Apple,
        ];
        for class in classes {
            let one = GpuTarget::usual(class);
            assert!(one.max_threads >= all.max_threads, "{class:?}");
            assert!(one.shared_bytes >= all.shared_bytes, "{class:?}");
            assert!(one.max_grid >= all.max_grid, "{class:?}");
            assert!(
                one.max_storage_buffers >= all.max_storage_buffers,
                "{class:?}"
            );
            assert!(one.immediate_bytes >= all.immediate_bytes, "{class:?}");
            assert!(one.subgroup >= all.subgroup && one.f16, "{class:?}");
            assert_eq!(one.max_loop_passes, None, "{class:?}");
        }
        assert!(all.fragments.is_empty());
    }
}
