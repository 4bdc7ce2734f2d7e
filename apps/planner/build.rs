//! Links the program statically where that can be done.

fn main() -> std::io::Result<()> {
    pipemux_build::link_statically("pipemux-planner")
}
