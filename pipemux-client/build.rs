//! Links the program statically where that can be done, and what is asked for most side by side.

fn main() -> std::io::Result<()> {
    pipemux_build::link_statically("pipemux")?;
    pipemux_build::place_first("pipemux", "first.txt")
}
