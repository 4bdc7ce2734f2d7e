//! The system monitor as a PipeMux app; `pipemux open monitor` starts it.

fn main() -> std::process::ExitCode {
    pipemux_monitor::run()
}
