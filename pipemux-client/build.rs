//! Links the program statically, if the machine has the libraries for it.

fn main() -> std::io::Result<()> {
    pipemux_build::link_statically_without_pie("pipemux")
}
