//! The editor as a program: serves [`pipemux_editor::Editor`] on the connection it inherits.

fn main() -> std::process::ExitCode {
    pipemux_editor::run()
}
