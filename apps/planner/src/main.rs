//! The planner as a PipeMux app; `pipemux open planner` starts it.

fn main() -> std::process::ExitCode {
    docui::run::<pipemux_planner::Planner>()
}
