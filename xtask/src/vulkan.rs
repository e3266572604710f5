//! Makes sure that GPU tests have an adapter: on Linux a Vulkan driver, if need be the software one (lavapipe).
//!
//! macOS has Metal and Windows has DX12 with WARP, both part of the system.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::packages::{Package, SetUpError, on_path};

const DRIVER: Package = Package {
    what: "Mesa's software Vulkan driver (lavapipe)",
    apt: &["mesa-vulkan-drivers", "libvulkan1"],
    dnf: &["mesa-vulkan-drivers", "vulkan-loader"],
    brew: &["mesa", "vulkan-loader"],
};

/// Finds an adapter or installs the software driver.
pub(crate) fn ensure() -> Result<(), SetUpError> {
    if !cfg!(target_os = "linux") || has_adapter() {
        return Ok(());
    }
    println!("no Vulkan adapter found");
    DRIVER.install()?;
    match has_adapter() {
        true => Ok(()),
        false => Err(SetUpError::StillNone { what: DRIVER.what }),
    }
}

/// Whether a Vulkan driver answers. `vulkaninfo` knows; without it, a loader and a driver that needs no particular
/// hardware (or the device file of a GPU) must be there.
fn has_adapter() -> bool {
    if on_path("vulkaninfo") {
        let out = Command::new("vulkaninfo").arg("--summary").output();
        return out.is_ok_and(|out| {
            out.status.success() && String::from_utf8_lossy(&out.stdout).contains("deviceName")
        });
    }
    let drivers = drivers();
    let software = |name: &String| name.starts_with("lvp_") || name.contains("swiftshader");
    let hardware = Path::new("/dev/dri/renderD128").exists() || Path::new("/dev/nvidia0").exists();
    has_loader() && (drivers.iter().any(software) || (hardware && !drivers.is_empty()))
}

/// File names of the driver manifests that the Vulkan loader would read.
fn drivers() -> Vec<String> {
    for name in ["VK_DRIVER_FILES", "VK_ICD_FILENAMES"] {
        if let Some(list) = std::env::var_os(name) {
            return std::env::split_paths(&list)
                .filter(|file| file.exists())
                .filter_map(|file| Some(file.file_name()?.to_string_lossy().into_owned()))
                .collect();
        }
    }
    [
        "/usr/share",
        "/usr/local/share",
        "/etc",
        "/home/linuxbrew/.linuxbrew/share",
    ]
    .iter()
    .filter_map(|folder| Path::new(folder).join("vulkan/icd.d").read_dir().ok())
    .flatten()
    .filter_map(|entry| Some(entry.ok()?.file_name().to_string_lossy().into_owned()))
    .collect()
}

fn has_loader() -> bool {
    let folders = [
        "/usr/lib",
        "/usr/lib64",
        "/usr/local/lib",
        "/lib",
        "/home/linuxbrew/.linuxbrew/lib",
    ];
    let arch = format!("{}-linux-gnu", std::env::consts::ARCH);
    folders
        .iter()
        .flat_map(|folder| [PathBuf::from(folder), Path::new(folder).join(&arch)])
        .any(|folder| folder.join("libvulkan.so.1").exists())
}
