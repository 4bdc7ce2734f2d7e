//! Links programs statically, so that they start quickly. It is called from the build scripts of
//! the programs that start often: the apps and `pipemux`.
//!
//! A static program starts in half the time: no libraries are mapped and no symbols are looked up.
//! This is done for Linux with glibc, and only if glibc's static library is installed, as it is
//! with nearly every C compiler. Otherwise, and with `PIPEMUX_STATIC=0` in the environment, the
//! program is linked as usual. `-C target-feature=+crt-static` is not an option: it also applies to
//! procedural macros, which it breaks unless the target is named on cargo's command line.
//!
//! # Address randomisation
//!
//! Apps parse data that may be hostile, so they are position-independent ([`link_statically`],
//! static-pie), and the system loads them at a random address. Each process relocates itself, which
//! costs 40 KiB of memory of its own. `pipemuxd` is linked as usual, which is position-independent
//! too.
//!
//! `pipemux` has a fixed address ([`link_statically_without_pie`]). Over 1,500 paired runs of
//! `pipemux click` with a running daemon, static-pie took 5 % more wall time (median of the
//! pairs), 6.5 % more processor time and 13 more page faults. The program runs for about a
//! millisecond, contains no unsafe code of its own, and talks only to its caller and to the user's
//! own daemon.
#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

/// The shared libraries that std passes to the linker by `-l`, and the static libraries that
/// replace them.
const STATIC_REPLACEMENTS: &[(&str, &[&str])] = &[
    ("gcc_s", &["libgcc_eh.a"]),
    ("c", &["libc.a", "libgcc.a", "libgcc_eh.a"]),
    ("m", &["libm.a"]),
    ("util", &["libutil.a"]),
    ("rt", &["librt.a"]),
    ("pthread", &["libpthread.a"]),
    ("dl", &["libdl.a"]),
];

/// The startup code of static-pie programs, which applies their relocations.
const STATIC_PIE_STARTUP: &str = "rcrt1.o";

/// Makes cargo link this package's program statically and position-independent, if that is
/// possible. This is for build scripts.
///
/// # Errors
/// The output directory can't be written to.
pub fn link_statically(program: &str) -> io::Result<()> {
    watch();
    link(program, &["-static-pie"], &[STATIC_PIE_STARTUP]).map(drop)
}

/// Makes cargo link this package's program statically at a fixed address, if that is possible. This
/// is for build scripts of programs that start very often and don't parse hostile data. Returns
/// whether it was possible.
///
/// A build with `crt-static` links each program statically by itself; then this only fixes the
/// address.
///
/// # Errors
/// The output directory can't be written to.
pub fn link_statically_without_pie(program: &str) -> io::Result<bool> {
    const ARGUMENTS: &[&str] = &["-static", "-no-pie"];
    watch();
    if is_for_glibc() && get("CARGO_CFG_TARGET_FEATURE").split(',').any(|name| name == "crt-static")
    {
        pass(program, ARGUMENTS);
        return Ok(true);
    }
    link(program, ARGUMENTS, &[])
}

fn get(name: &str) -> String {
    env::var(name).unwrap_or_default()
}

fn is_for_glibc() -> bool {
    get("CARGO_CFG_TARGET_OS") == "linux" && get("CARGO_CFG_TARGET_ENV") == "gnu"
}

/// Passes arguments to the linker of a program.
#[expect(clippy::print_stdout, reason = "a build script instructs cargo by what it prints")]
fn pass(program: &str, arguments: &[&str]) {
    for argument in arguments {
        println!("cargo:rustc-link-arg-bin={program}={argument}");
    }
}

/// Names what the way of linking depends on, besides the target.
#[expect(clippy::print_stdout, reason = "a build script instructs cargo by what it prints")]
fn watch() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=PIPEMUX_STATIC");
}

#[expect(clippy::print_stdout, reason = "a build script instructs cargo by what it prints")]
fn link(program: &str, arguments: &[&str], startup: &[&str]) -> io::Result<bool> {
    let native = get("TARGET") == get("HOST");
    if !native || !is_for_glibc() || get("PIPEMUX_STATIC") == "0" {
        return Ok(false);
    }
    let linker = chosen_linker().unwrap_or_else(|| "cc".to_owned());
    let archives = STATIC_REPLACEMENTS.iter().flat_map(|(_, archives)| *archives);
    if !archives.chain(startup).all(|file| is_installed(&linker, file)) {
        return Ok(false);
    }
    let directory = PathBuf::from(get("OUT_DIR")).join("static");
    write_linker_scripts(&directory)?;
    println!("cargo:rustc-link-arg-bin={program}=-L{}", directory.display());
    pass(program, arguments);
    Ok(true)
}

/// Returns the linker that the user chose for the target, if any.
fn chosen_linker() -> Option<String> {
    env::var("RUSTC_LINKER").ok().filter(|linker| !linker.is_empty())
}

/// Writes linker scripts named like the shared libraries, because rustc requests these even for a
/// static program.
fn write_linker_scripts(directory: &Path) -> io::Result<()> {
    fs::create_dir_all(directory)?;
    for (library, archives) in STATIC_REPLACEMENTS {
        let script = format!("GROUP ( {} )\n", archives.join(" "));
        fs::write(directory.join(format!("lib{library}.so")), script)?;
    }
    Ok(())
}

/// Asks the compiler for a file of its libraries: it prints the path of one that it finds, else the
/// bare name.
fn is_installed(linker: &str, file: &str) -> bool {
    let found = Command::new(linker).arg(format!("-print-file-name={file}")).output();
    found.is_ok_and(|found| String::from_utf8_lossy(&found.stdout).trim().contains('/'))
}
