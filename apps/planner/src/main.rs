//! The planner as a PipeMux app; `pipemux open planner` starts it.

fn main() -> std::process::ExitCode {
    pipemux_planner::run()
}
