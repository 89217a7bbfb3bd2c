//! Any bytes as a page of HTML.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| psos_fuzz::read("a.html", bytes));
