//! Validation and SPIR-V, through naga.

use super::WgslError;
use crate::kernel::Shader;
use naga::valid::{Capabilities, ValidationFlags, Validator};

/// Parses and validates the text of a kernel.
///
/// # Errors
/// [`WgslError::Invalid`], with naga's diagnostic.
pub fn validate(kernel: &Shader) -> Result<(naga::Module, naga::valid::ModuleInfo), WgslError> {
    let invalid = |message| WgslError::Invalid {
        kernel: kernel.entry.clone(),
        message,
    };
    let module = naga::front::wgsl::parse_str(&kernel.text)
        .map_err(|e| invalid(e.emit_to_string(&kernel.text)))?;
    let capabilities = Capabilities::IMMEDIATES
        | Capabilities::SHADER_FLOAT16
        | Capabilities::SHADER_FLOAT16_IN_FLOAT32
        | Capabilities::SUBGROUP
        | Capabilities::COOPERATIVE_MATRIX;
    let info = Validator::new(ValidationFlags::all(), capabilities)
        .validate(&module)
        .map_err(|e| invalid(e.emit_to_string(&kernel.text)))?;
    Ok((module, info))
}

/// The SPIR-V words of a kernel.
///
/// # Errors
/// [`WgslError::Invalid`] if naga refuses the text or cannot translate it.
pub fn spirv(kernel: &Shader) -> Result<Vec<u32>, WgslError> {
    let (module, info) = validate(kernel)?;
    let options = naga::back::spv::Options {
        lang_version: (1, 3),
        ..Default::default()
    };
    naga::back::spv::write_vec(&module, &info, &options, None).map_err(|e| WgslError::Invalid {
        kernel: kernel.entry.clone(),
        message: e.to_string(),
    })
}
