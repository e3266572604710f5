//! Makes sure that GPU tests have an adapter: on Linux a Vulkan driver, if need be the software one (lavapipe).
//!
//! macOS has Metal and Windows has DX12 with WARP, both part of the system.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A package manager and how it installs a software Vulkan driver.
struct Manager {
    program: &'static str,
    /// Command lines, run in order.
    commands: &'static [&'static [&'static str]],
    /// Whether it must run as root.
    as_root: bool,
}

const MANAGERS: &[Manager] = &[
    Manager {
        program: "apt-get",
        commands: &[
            &["update", "-q"],
            &[
                "install",
                "-q",
                "-y",
                "--no-install-recommends",
                "mesa-vulkan-drivers",
                "libvulkan1",
            ],
        ],
        as_root: true,
    },
    Manager {
        program: "dnf",
        commands: &[&[
            "install",
            "-q",
            "-y",
            "mesa-vulkan-drivers",
            "vulkan-loader",
        ]],
        as_root: true,
    },
    Manager {
        program: "brew",
        commands: &[&["install", "--quiet", "mesa", "vulkan-loader"]],
        as_root: false,
    },
];

/// Why there is no adapter.
#[derive(Debug)]
pub(crate) enum SetUpError {
    /// None of the package managers known here is installed.
    NoManager,
    /// A command of the package manager failed.
    Install { command: String },
    /// It went through, yet there is still no driver.
    StillNone { manager: &'static str },
}

impl std::fmt::Display for SetUpError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NoManager => write!(
                f,
                "no Vulkan adapter, and none of apt-get, dnf and brew to install lavapipe with; \
                 install a Vulkan driver (Mesa's software driver will do)"
            ),
            Self::Install { command } => write!(f, "no Vulkan adapter, and `{command}` failed"),
            Self::StillNone { manager } => {
                write!(
                    f,
                    "{manager} installed Mesa's Vulkan drivers, but none is found"
                )
            }
        }
    }
}

/// Finds an adapter or installs the software driver.
pub(crate) fn ensure() -> Result<(), SetUpError> {
    if !cfg!(target_os = "linux") || has_adapter() {
        return Ok(());
    }
    let manager = MANAGERS
        .iter()
        .find(|manager| on_path(manager.program))
        .ok_or(SetUpError::NoManager)?;
    println!(
        "no Vulkan adapter found: installing Mesa's software driver with {}",
        manager.program
    );
    for arguments in manager.commands {
        install(manager, arguments)?;
    }
    if has_adapter() {
        Ok(())
    } else {
        Err(SetUpError::StillNone {
            manager: manager.program,
        })
    }
}

fn install(manager: &Manager, arguments: &[&str]) -> Result<(), SetUpError> {
    let mut line = vec![manager.program];
    line.extend_from_slice(arguments);
    if manager.as_root && !is_root() {
        line.insert(0, "sudo");
    }
    println!("$ {}", line.join(" "));
    let status = Command::new(line[0])
        .args(&line[1..])
        .env("DEBIAN_FRONTEND", "noninteractive")
        .status();
    if status.is_ok_and(|status| status.success()) {
        Ok(())
    } else {
        Err(SetUpError::Install {
            command: line.join(" "),
        })
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

fn on_path(program: &str) -> bool {
    std::env::var_os("PATH").is_some_and(|path| {
        std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
    })
}

fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output();
    id.is_ok_and(|out| out.stdout.trim_ascii() == b"0")
}
