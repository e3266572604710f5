//! Layer 3: the interpreter of modules and loop programs: slow and obvious, the oracle of all tests.
