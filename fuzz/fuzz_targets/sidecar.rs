//! A Markdown file and its sidecar, with a byte that no text has between them.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| psos_fuzz::read_with_sidecar(bytes));
