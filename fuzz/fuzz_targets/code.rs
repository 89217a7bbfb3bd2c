//! Any bytes as source code; the first byte chooses the language.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| psos_fuzz::read_code(bytes));
