//! Links the program statically, if the machine has the libraries for it, and then has it begin
//! before its C library.

/// The functions that the compiler calls to move memory, each of which `pipemux_quick::entry`
/// replaces.
const WRAPPED: &[&str] = &["memcpy", "memmove", "memset", "memcmp", "bcmp", "strlen"];

fn main() -> std::io::Result<()> {
    println!("cargo:rustc-check-cfg=cfg(quick_entry)");
    let is_static = pipemux_build::link_statically_without_pie("pipemux")?;
    let is_x86 = std::env::var("CARGO_CFG_TARGET_ARCH").is_ok_and(|name| name == "x86_64");
    if is_static && is_x86 {
        println!("cargo:rustc-cfg=quick_entry");
        println!("cargo:rustc-link-arg-bin=pipemux=-Wl,-e,pipemux_entry");
        for name in WRAPPED {
            println!("cargo:rustc-link-arg-bin=pipemux=-Wl,--wrap={name}");
        }
    }
    Ok(())
}
