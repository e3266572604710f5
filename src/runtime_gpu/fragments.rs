//! The products of fragments (cooperative matrices) of an adapter, from its list.

use crate::kernel::{FRAGMENT_THREADS, FragmentProduct, GpuClass};
use crate::tensor::ScalarType;

/// What fragments are made of on an adapter.
pub(super) const FEATURE: wgpu::Features = wgpu::Features::EXPERIMENTAL_COOPERATIVE_MATRIX;

/// The products that the adapter lists and kernels use; none where a subgroup may have another number of threads than a fragment.
pub(super) fn listed(adapter: &wgpu::Adapter, class: GpuClass) -> Vec<FragmentProduct> {
    let (features, info) = (adapter.features(), adapter.get_info());
    if !features.contains(FEATURE | wgpu::Features::SUBGROUP) || !has_subgroups(&info, class) {
        return vec![];
    }
    let half = features.contains(wgpu::Features::SHADER_F16);
    let mut found = vec![];
    for of in adapter.cooperative_matrix_properties() {
        if let Some(product) = product(&of)
            && (half || product.factors != ScalarType::F16)
            && !found.contains(&product)
        {
            found.push(product);
        }
    }
    found
}

/// Whether subgroups have as many threads as hold a fragment. wgpu says 4 to 64 of every device of Metal, and no vendor: GPUs that Metal
/// calls Apple's have 32 (`threadExecutionWidth`), those of other vendors in older machines may have 64. Drivers other than Metal make fragments
/// on Apple's GPUs of other instructions, and slowly.
fn has_subgroups(info: &wgpu::AdapterInfo, class: GpuClass) -> bool {
    let sizes = [info.subgroup_min_size, info.subgroup_max_size];
    match (class, info.backend) {
        (_, wgpu::Backend::Metal) => info.name.starts_with("Apple "),
        (GpuClass::Apple, _) => false,
        _ => sizes == [FRAGMENT_THREADS; 2],
    }
}

/// The product of an entry of the list, if kernels use such.
fn product(of: &wgpu::CooperativeMatrixProperties) -> Option<FragmentProduct> {
    let scalar = |ty: wgpu::CooperativeScalarType| match ty {
        wgpu::CooperativeScalarType::F16 => Some(ScalarType::F16),
        wgpu::CooperativeScalarType::F32 => Some(ScalarType::F32),
        _ => None,
    };
    let product = FragmentProduct {
        extent: of.m_size,
        factors: scalar(of.ab_type)?,
        sums: scalar(of.cr_type)?,
    };
    let is_square = [of.m_size, of.n_size, of.k_size] == [product.extent; 3];
    (is_square && product.is_used()).then_some(product)
}

#[cfg(test)]
mod tests {
    use super::*;
    use wgpu::CooperativeScalarType::{F16, F32};

    fn entry(
        [m_size, n_size, k_size]: [u32; 3],
        ab_type: wgpu::CooperativeScalarType,
        cr_type: wgpu::CooperativeScalarType,
    ) -> wgpu::CooperativeMatrixProperties {
        wgpu::CooperativeMatrixProperties {
            m_size,
            n_size,
            k_size,
            ab_type,
            cr_type,
            saturating_accumulation: false,
        }
    }

    #[test]
    fn entries_that_kernels_use() {
        let shown = |of| product(&of).map(|product| product.to_string());
        let wide = "8 x 8 float32 with sums in float32";
        assert_eq!(shown(entry([8; 3], F32, F32)).as_deref(), Some(wide));
        let mixed = "16 x 16 float16 with sums in float32";
        assert_eq!(shown(entry([16; 3], F16, F32)).as_deref(), Some(mixed));
        assert_eq!(shown(entry([8; 3], F16, F16)), None);
        assert_eq!(shown(entry([8, 16, 16], F16, F32)), None);
    }

    #[test]
    fn subgroups_of_thirty_two_threads() {
        let mut info =
            wgpu::AdapterInfo::new(wgpu::DeviceType::IntegratedGpu, wgpu::Backend::Metal);
        (info.subgroup_min_size, info.subgroup_max_size) = (4, 64);
        info.name = "Apple M2 Pro".into();
        assert!(has_subgroups(&info, GpuClass::Apple));
        info.name = "AMD Radeon Pro 5500M".into();
        assert!(!has_subgroups(&info, GpuClass::Apple));
        info.backend = wgpu::Backend::Vulkan;
        assert!(!has_subgroups(&info, GpuClass::Apple));
        (info.subgroup_min_size, info.subgroup_max_size) = (32, 32);
        assert!(has_subgroups(&info, GpuClass::Nvidia));
    }
}
