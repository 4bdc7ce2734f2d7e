//! Commands, builds and tests as a PipeMux app; a call of `terminal.run` starts it.

fn main() -> std::process::ExitCode {
    docui::run::<pipemux_terminal::Terminal>()
}
