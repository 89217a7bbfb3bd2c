//! Any bytes as an Agent Skill.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| psos_fuzz::read("a/SKILL.md", bytes));
