//! Values that are too long for a message come as files, which are read before the app sees the
//! arguments.

use std::path::Path;

use pipemux_proto::limits::VALUE_FILE_MAX;
use pipemux_proto::paths::VALUES;
use pipemux_proto::projection::{Arg, Copied};
use pipemux_proto::{Fault, Value};

use crate::regular_file;

/// Puts the values in the place of the files that arguments name.
///
/// # Errors
/// A file isn't one that the daemon wrote for this session, or it can't be read.
pub(super) fn take<'a>(
    args: impl IntoIterator<Item = &'a mut Arg>,
    state_dir: &Path,
) -> Result<(), Fault> {
    for arg in args {
        match arg {
            Arg::Copied(copied) => {
                if let Some(file) = copied.file.take() {
                    copied.value = read(copied, Path::new(&file), state_dir)?.to_blob();
                }
            }
            Arg::List(items) => take(items, state_dir)?,
            Arg::Record(fields) => take(fields.values_mut(), state_dir)?,
            Arg::Value(_) | Arg::Ref(_) => {}
        }
    }
    Ok(())
}

fn read(copied: &Copied, file: &Path, state_dir: &Path) -> Result<Value, Fault> {
    let what = format!("the value of {:?} from {}", copied.label, copied.from);
    let own = file.parent() == Some(&*state_dir.join(VALUES)) && file.file_name().is_some();
    let found = file.symlink_metadata().ok().filter(|_| own);
    match found {
        Some(found) if found.is_file() && found.len() <= VALUE_FILE_MAX => {}
        Some(_) => return Err(Fault::refused(format!("{what} is no file that is taken"))),
        None => {
            let fault = Fault::unavailable(format!("{what} is no longer there"));
            return Err(fault.hint("pass it again"));
        }
    }
    let bytes = regular_file::read(file)
        .map_err(|error| Fault::unavailable(format!("{what} can't be read: {error}")))?;
    Ok(String::from_utf8(bytes)
        .map_or_else(|error| Value::Bin(error.into_bytes().into()), Value::Str))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn copied(file: &Path) -> Arg {
        Arg::Copied(Copied {
            value: Value::Null.to_blob(),
            from: "editor/main".into(),
            label: "a file".into(),
            file: Some(file.to_str().unwrap().into()),
        })
    }

    fn value(arg: &Arg) -> Value {
        let Arg::Copied(copied) = arg else { panic!("{arg:?}") };
        assert_eq!(copied.file, None);
        copied.value.to_value().unwrap()
    }

    #[test]
    fn value_of_a_file_of_the_session_takes_its_place() {
        let state = tempfile::tempdir().unwrap();
        let values = state.path().join(VALUES);
        std::fs::create_dir(&values).unwrap();
        std::fs::write(values.join("1"), "text ü").unwrap();
        std::fs::write(values.join("2"), [0xff, 0]).unwrap();
        let mut args = [copied(&values.join("1")), Arg::List(vec![copied(&values.join("2"))])];
        take(&mut args, state.path()).unwrap();
        assert_eq!(value(&args[0]), Value::from("text ü"));
        let Arg::List(items) = &args[1] else { panic!("{args:?}") };
        assert_eq!(value(&items[0]), Value::Bin(vec![0xff, 0].into()));
    }

    #[test]
    fn other_files_are_refused() {
        let (state, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let values = state.path().join(VALUES);
        std::fs::create_dir(&values).unwrap();
        let secret = outside.path().join("secret");
        std::fs::write(&secret, "s").unwrap();
        std::fs::write(state.path().join("own"), "s").unwrap();
        std::os::unix::fs::symlink(&secret, values.join("link")).unwrap();
        let escapes = [
            secret,
            values.join("link"),
            values.join("../own"),
            values.join(".."),
            values.join("none"),
            state.path().join("own"),
        ];
        for file in escapes {
            assert!(take([&mut copied(&file)], state.path()).is_err(), "{}", file.display());
        }
    }
}
