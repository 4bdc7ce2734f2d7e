use super::*;
use std::os::unix::fs::PermissionsExt;

fn paths(directory: &Path) -> Paths {
    let text = directory.join("run").to_str().unwrap().to_owned();
    let state = directory.join("state").to_str().unwrap().to_owned();
    let get = |name: &str| match name {
        "PIPEMUX_RUNTIME_DIR" => Some(text.clone()),
        "PIPEMUX_STATE_DIR" => Some(state.clone()),
        _ => None,
    };
    Paths::from_env(get, nix::unistd::getuid().as_raw()).unwrap()
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

#[test]
fn socket_is_private_replaces_a_stale_one_and_is_removed_on_drop() {
    let directory = tempfile::tempdir().unwrap();
    let (paths, uid) = (paths(directory.path()), nix::unistd::getuid().as_raw());
    let runtime = runtime();
    let _in = runtime.enter();
    fs::create_dir(&paths.runtime_dir).unwrap();
    fs::set_permissions(&paths.runtime_dir, fs::Permissions::from_mode(0o700)).unwrap();
    drop(UnixListener::bind(&paths.socket).unwrap());
    assert!(paths.socket.exists());

    let listener = ClientListener::bind(&paths, uid).unwrap();
    assert_eq!(fs::metadata(&paths.socket).unwrap().mode() & 0o777, 0o600);
    UnixStream::connect(&paths.socket).unwrap();
    drop(listener);
    assert!(!paths.socket.exists());
}

#[test]
fn removed_socket_is_restored() {
    let directory = tempfile::tempdir().unwrap();
    let (paths, uid) = (paths(directory.path()), nix::unistd::getuid().as_raw());
    let runtime = runtime();
    let _in = runtime.enter();
    let mut listener = ClientListener::bind(&paths, uid).unwrap();
    assert_eq!(listener.restore(), Ok(false));
    fs::remove_dir_all(&paths.runtime_dir).unwrap();
    assert_eq!(listener.restore(), Ok(true));
    UnixStream::connect(&paths.socket).unwrap();
    // A socket that another program put in its place is replaced: the lock says who listens.
    fs::remove_file(&paths.socket).unwrap();
    drop(UnixListener::bind(&paths.socket).unwrap());
    assert_eq!(listener.restore(), Ok(true));
    UnixStream::connect(&paths.socket).unwrap();
    drop(listener);
    assert!(!paths.socket.exists());
}

#[test]
fn directory_open_to_other_users_is_refused_with_a_remedy() {
    let directory = tempfile::tempdir().unwrap();
    let (paths, uid) = (paths(directory.path()), nix::unistd::getuid().as_raw());
    let runtime = runtime();
    let _in = runtime.enter();
    fs::create_dir(&paths.runtime_dir).unwrap();
    fs::set_permissions(&paths.runtime_dir, fs::Permissions::from_mode(0o755)).unwrap();
    let error = ClientListener::bind(&paths, uid).unwrap_err();
    assert!(error.contains("mode 755") && error.contains("chmod 700"), "{error}");

    fs::set_permissions(&paths.runtime_dir, fs::Permissions::from_mode(0o700)).unwrap();
    let error = ClientListener::bind(&paths, uid + 1).unwrap_err();
    assert!(error.contains("not a directory of this user's own"), "{error}");

    fs::write(&paths.socket, "precious").unwrap();
    let error = ClientListener::bind(&paths, uid).unwrap_err();
    assert!(error.contains("not a socket"), "{error}");
    assert_eq!(fs::read(&paths.socket).unwrap(), b"precious");
}
