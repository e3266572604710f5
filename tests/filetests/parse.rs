//! `# test: parse`

use libtest_mimic::Failed;
use weftile::script;

use crate::case::{Case, Expected, tidy};

/// The input parses, or fails as it should.
pub(crate) fn run(case: &Case) -> Result<(), Failed> {
    case.compare(&match script::parse(&case.name, &case.input) {
        Ok(_) => Expected::Nothing,
        Err(errors) => Expected::Error(tidy(&errors.to_string())),
    })
}
