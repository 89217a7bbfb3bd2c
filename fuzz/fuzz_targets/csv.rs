//! Any bytes as rows of cells.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| psos_fuzz::read("a.csv", bytes));
