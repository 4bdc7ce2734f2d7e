//! The memory tree as a PipeMux app; `pipemux open memotree` starts it.

fn main() -> std::process::ExitCode {
    docui::run::<pipemux_memotree::MemoTree>()
}
