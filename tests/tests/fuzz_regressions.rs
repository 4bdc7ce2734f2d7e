//! Replays the inputs that fuzzing found, and one input of each kind, with the targets of `fuzz/`.

#[path = "../fuzz/src/lib.rs"]
mod targets;

use std::fs;
use std::path::Path;

#[test]
fn every_fuzz_regression_passes() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/regressions");
    for (name, check) in targets::TARGETS {
        let inputs = fs::read_dir(folder.join(name)).map(Iterator::flatten);
        let inputs: Vec<_> = inputs.map(Iterator::collect).unwrap_or_default();
        assert!(inputs.len() >= 4, "{name} has {} inputs", inputs.len());
        for input in inputs {
            let path = input.path();
            let bytes = fs::read(&path).expect("an input");
            let checked = std::panic::catch_unwind(|| check(&bytes));
            assert!(checked.is_ok(), "{} breaks a property, see above", path.display());
        }
    }
}
