//! Links programs so that they start quickly: called from the build scripts of those that start often, which is
//! every app and `pipemux` itself.
//!
//! [`link_statically`]: a static program starts in half the time, for nothing is mapped, relocated or looked up,
//! and no page is changed in each process by that. Only for Linux with glibc, and only when its static library
//! is installed (it comes with a C compiler nearly everywhere); else, and with `PIPEMUX_STATIC=0` in the
//! environment, the program is linked as any other. `-C target-feature=+crt-static` can't be used: it holds for
//! procedural macros too, which it breaks unless the target is named on cargo's command line.
//!
//! [`place_first`]: what a short process executes lies side by side in its file, so that it touches few pages.
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
    let linker = chosen_linker().unwrap_or_else(|| "cc".to_owned());
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

/// Has cargo put the functions that `list` names, a file of the calling package, before all others of its program
/// of that name. For build scripts. A line of it is a pattern of mangled names, a static library's member
/// (`libc.a:getenv.o`), or a comment; what isn't there is passed over.
///
/// A process maps 64 KiB of its program at a time, at some microseconds each (Linux's `fault_around_bytes`); what a
/// short one executes is else scattered over all of them. Only for release builds, for Linux, and where the linker
/// is the one that rustc chooses: a linker script that adds to the default one is understood by LLD and GNU ld, but
/// not by every other. Where such a one is the system's own, `PIPEMUX_STATIC=0` turns this off, too.
///
/// # Errors
/// The list can't be read; the output directory can't be written to.
#[expect(clippy::print_stdout, reason = "what a build script prints is how it speaks with cargo")]
pub fn place_first(program: &str, list: &str) -> io::Result<()> {
    println!("cargo:rerun-if-changed={list}");
    println!("cargo:rerun-if-env-changed=PIPEMUX_STATIC");
    let get = |name: &str| env::var(name).unwrap_or_default();
    let flags = get("CARGO_ENCODED_RUSTFLAGS");
    let chosen = chosen_linker().is_some() || flags.contains("link") || flags.contains("-fuse-ld");
    let wanted = get("PROFILE") == "release" && get("PIPEMUX_STATIC") != "0";
    if get("CARGO_CFG_TARGET_OS") != "linux" || !wanted || chosen {
        return Ok(());
    }
    let script = PathBuf::from(get("OUT_DIR")).join("first.ld");
    fs::write(&script, first_script(&fs::read_to_string(list)?))?;
    println!("cargo:rustc-link-arg-bin={program}=-Wl,-T,{}", script.display());
    Ok(())
}

/// A linker script for a section of its own in front of the program's others.
fn first_script(list: &str) -> String {
    let lines =
        list.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let sections = lines.map(|line| match line.split_once(".a:") {
        Some((library, member)) => format!("    *{library}.a:{member}(.text .text.*)\n"),
        None => format!("    *(.text.{line} .text.unlikely.{line})\n"),
    });
    let sections: String = sections.collect();
    format!("SECTIONS {{\n  .text.first : {{\n{sections}  }}\n}} INSERT BEFORE .text;\n")
}

/// The linker that was chosen for the target; none when rustc chooses.
fn chosen_linker() -> Option<String> {
    env::var("RUSTC_LINKER").ok().filter(|linker| !linker.is_empty())
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
