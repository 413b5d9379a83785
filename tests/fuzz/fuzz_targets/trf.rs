#![no_main]

#[path = "../../fuzzed/checks/mod.rs"]
mod checks;

libfuzzer_sys::fuzz_target!(|data: &[u8]| checks::trf(data));
