//! Properties of generated programs and values, held for the same seeds in every run.

use arbitrary::{Result, Unstructured};

/// Calls a property with the bytes of `count` fixed seeds, of growing lengths. If `WEFTILE_RANDOM` is set, it is called with those of
/// new random seeds instead, for so many milliseconds. The seed of a failure is printed; `ARBTEST_SEED` repeats it.
pub(crate) fn holds(count: u32, mut property: impl FnMut(&mut Unstructured<'_>) -> Result<()>) {
    if let Ok(budget) = std::env::var("WEFTILE_RANDOM") {
        let budget = budget.parse().expect("WEFTILE_RANDOM is a number of ms");
        arbtest::arbtest(property).budget_ms(budget);
        return;
    }
    for number in 0..u64::from(count) {
        // The low half of a seed is the number of bytes.
        let length = 32 + number * 97 % 4096;
        arbtest::arbtest(|u| {
            // Bytes that are too few for a program say nothing of the property.
            let _: Result<()> = property(u);
            Ok(())
        })
        .seed(number << u32::BITS | length);
    }
}
