#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| pipemux_fuzz::manifest::check(data));
