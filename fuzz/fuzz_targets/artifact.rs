#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../tests/it/properties/mod.rs"]
#[allow(dead_code, reason = "the other targets call the rest")]
mod properties;

fuzz_target!(|data: &[u8]| {
    properties::artifact(data);
});
