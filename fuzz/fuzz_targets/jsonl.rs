//! Any bytes as JSON lines.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| psos_fuzz::read("a.jsonl", bytes));
