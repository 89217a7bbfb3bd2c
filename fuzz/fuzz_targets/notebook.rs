//! Any bytes as a Jupyter notebook.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| psos_fuzz::read("a.ipynb", bytes));
