//! Commands, builds and tests as a PipeMux app; a call of `terminal.run` starts it.

fn main() -> std::process::ExitCode {
    pipemux_terminal::run()
}
