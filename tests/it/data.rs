//! Where the data are that the project does not contain.

use std::path::PathBuf;

/// The folder of external test data: `WEFTILE_DATA`, else `../shared/data` beside the checkout. Says so when it is absent.
pub(crate) fn data_dir(test: &str) -> Option<PathBuf> {
    let dir = std::env::var_os("WEFTILE_DATA").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/data"),
        PathBuf::from,
    );
    let found = dir.is_dir().then_some(dir);
    if found.is_none() {
        #[expect(clippy::print_stderr, reason = "a skipped test must say so")]
        {
            eprintln!("{test}: skipped: no data at ../shared/data, and WEFTILE_DATA is not set");
        }
    }
    found
}
