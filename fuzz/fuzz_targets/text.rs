//! Any bytes as plain text, and so in any encoding.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| psos_fuzz::read("a.txt", bytes));
