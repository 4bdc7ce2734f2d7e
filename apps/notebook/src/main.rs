//! The notebook as a PipeMux app; `pipemux open notebook` starts it.

fn main() -> std::process::ExitCode {
    pipemux_notebook::run()
}
