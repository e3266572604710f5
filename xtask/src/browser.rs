//! Makes sure that the test of pages has a browser: on Linux Chromium, which takes 160 MB and about 20 seconds to install.

use crate::packages::{Package, SetUpError, on_path};

/// Names of Chromium and its kin, as the tests look for them.
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "chrome"];

const BROWSER: Package = Package {
    what: "Chromium",
    apt: &["chromium"],
    dnf: &["chromium-headless"],
    brew: &["chromium"],
};

/// Finds a browser or installs one.
pub(crate) fn ensure() -> Result<(), SetUpError> {
    if found() {
        return Ok(());
    }
    if !cfg!(target_os = "linux") {
        return Err(SetUpError::StillNone { what: BROWSER.what });
    }
    println!("no browser found");
    BROWSER.install()?;
    match found() {
        true => Ok(()),
        false => Err(SetUpError::StillNone { what: BROWSER.what }),
    }
}

fn found() -> bool {
    NAMES.into_iter().any(on_path)
}
