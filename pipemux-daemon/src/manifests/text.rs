//! Reads a manifest's text without waiting: anything may lie in the user's directory.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use nix::fcntl::OFlag;

/// Reads a regular file, or a link to one, of at most `max` bytes of UTF-8. It doesn't wait for a
/// pipe, and doesn't read an endless file to its end.
///
/// # Errors
/// Why it is no manifest, in one line without its path.
pub fn read(path: &Path, max: u64) -> Result<String, String> {
    let flags = (OFlag::O_NONBLOCK | OFlag::O_NOCTTY).bits();
    let file = File::options().read(true).custom_flags(flags).open(path);
    let file = file.map_err(|error| error.to_string())?;
    // Asked of the open file, because the path may lead to something else by now.
    if !file.metadata().map_err(|error| error.to_string())?.is_file() {
        return Err("it is not a regular file: expected a manifest in TOML".into());
    }
    let mut bytes = Vec::new();
    file.take(max + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if bytes.len() as u64 > max {
        return Err(format!("it is longer than {max} bytes"));
    }
    String::from_utf8(bytes).map_err(|_| "it is not UTF-8: expected a manifest in TOML".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn only_regular_files_of_limited_length_are_read() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        nix::unistd::mkfifo(&at("pipe"), nix::sys::stat::Mode::S_IRWXU).unwrap();
        symlink(at("pipe"), at("link to pipe")).unwrap();
        symlink("/dev/zero", at("zero")).unwrap();
        symlink(at("nowhere"), at("dangling")).unwrap();
        symlink(at("loop"), at("loop")).unwrap();
        fs::create_dir(at("directory")).unwrap();
        fs::write(at("long"), "一".repeat(4)).unwrap();
        fs::write(at("bytes"), b"\xff").unwrap();
        for (name, why) in [
            ("pipe", "not a regular file"),
            ("link to pipe", "not a regular file"),
            ("zero", "not a regular file"),
            ("directory", "not a regular file"),
            ("dangling", "No such file"),
            ("loop", "symbolic links"),
            ("long", "longer than 10 bytes"),
            ("bytes", "not UTF-8"),
        ] {
            let found = read(&at(name), 10).unwrap_err();
            assert!(found.contains(why), "{name}: {found}");
        }
        assert_eq!(read(&at("long"), 12).unwrap(), "一一一一");
        symlink(at("long"), at("link")).unwrap();
        assert_eq!(read(&at("link"), 12).unwrap(), "一一一一");
        // Its metadata claims a length of 0.
        if cfg!(target_os = "linux") {
            symlink("/proc/cpuinfo", at("endless")).unwrap();
            assert!(read(&at("endless"), 10).unwrap_err().contains("longer than 10 bytes"));
        }
    }
}
