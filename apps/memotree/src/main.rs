//! The memory tree as a PipeMux app; `pipemux open memotree` starts it.

fn main() -> std::process::ExitCode {
    pipemux_memotree::run()
}
