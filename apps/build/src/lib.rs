//! Links a program statically where the machine can: called from the build scripts of the programs that start
//! often, which is every app and `pipemux` itself. A static program starts in half the time, for nothing is
//! mapped, relocated or looked up, and no page is changed in each process by that.
//!
//! Only for Linux with glibc, and only when its static library is installed (it comes with a C compiler
//! nearly everywhere); else, and with `PIPEMUX_STATIC=0` in the environment, the program is linked as any
//! other. `-C target-feature=+crt-static` can't be used: it holds for procedural macros too, which it breaks
//! unless the target is named on cargo's command line.
#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

/// What std asks the linker for by `-l`, and the static libraries that take its place.
const INSTEAD: &[(&str, &[&str])] = &[
    ("gcc_s", &["libgcc_eh.a"]),
    ("c", &["libc.a", "libgcc.a", "libgcc_eh.a"]),
    ("m", &["libm.a"]),
    ("util", &["libutil.a"]),
    ("rt", &["librt.a"]),
    ("pthread", &["libpthread.a"]),
    ("dl", &["libdl.a"]),
];

/// Has cargo link the calling package's program of that name statically, if that can be done. For build scripts.
///
/// # Errors
/// The output directory can't be written to.
#[expect(clippy::print_stdout, reason = "what a build script prints is how it speaks with cargo")]
pub fn link_statically(program: &str) -> io::Result<()> {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=PIPEMUX_STATIC");
    let get = |name: &str| env::var(name).unwrap_or_default();
    let native = get("TARGET") == get("HOST");
    let glibc = get("CARGO_CFG_TARGET_OS") == "linux" && get("CARGO_CFG_TARGET_ENV") == "gnu";
    if !native || !glibc || get("PIPEMUX_STATIC") == "0" {
        return Ok(());
    }
    let linker = env::var("RUSTC_LINKER").unwrap_or_else(|_| "cc".to_owned());
    let archives = INSTEAD.iter().flat_map(|(_, archives)| *archives);
    if !archives.into_iter().all(|archive| is_installed(&linker, archive)) {
        return Ok(());
    }
    let directory = PathBuf::from(get("OUT_DIR")).join("static");
    write_scripts(&directory)?;
    for argument in [&format!("-L{}", directory.display()), "-static", "-no-pie"] {
        println!("cargo:rustc-link-arg-bin={program}={argument}");
    }
    Ok(())
}

/// Linker scripts under the shared libraries' names: rustc asks for these even when all is to be static.
fn write_scripts(directory: &Path) -> io::Result<()> {
    fs::create_dir_all(directory)?;
    for (library, archives) in INSTEAD {
        let script = format!("GROUP ( {} )\n", archives.join(" "));
        fs::write(directory.join(format!("lib{library}.so")), script)?;
    }
    Ok(())
}

/// A compiler prints the path of a file that it finds, and the bare name of one that it doesn't.
fn is_installed(linker: &str, archive: &str) -> bool {
    let found = Command::new(linker).arg(format!("-print-file-name={archive}")).output();
    found.is_ok_and(|found| String::from_utf8_lossy(&found.stdout).trim().contains('/'))
}
