//! The system monitor as a PipeMux app; `pipemux open monitor` starts it.

fn main() -> std::process::ExitCode {
    docui::run::<pipemux_monitor::Monitor>()
}
