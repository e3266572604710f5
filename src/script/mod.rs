//! Layer 2: TVMScript, the one text form: parse and print, both dialects.
