//! `pipemux app add` and `pipemux app remove`.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use nix::fcntl::OFlag;
use pipemux_client::ClientError;
use pipemux_client::proto::client::{NewProvider, ProvidersArgs, Verb};

use super::args::AppVerb;
use super::command_env::CommandEnv;

/// Longest manifest that is read, in bytes; the daemon accepts less.
const MANIFEST_MAX: u64 = 256 * 1024;

/// Makes the request to the daemon.
///
/// # Errors
/// The manifest can't be read.
pub fn to_request(verb: AppVerb, env: &dyn CommandEnv) -> Result<Verb, ClientError> {
    let (manifest, replace) = match verb {
        AppVerb::Add { manifest, replace } => (manifest, replace),
        AppVerb::Remove { provider } => {
            let remove = Some(provider);
            return Ok(Verb::Providers(ProvidersArgs { remove, ..ProvidersArgs::default() }));
        }
    };
    let path = env.absolute_path(&manifest)?;
    let shown = path.display().to_string();
    let unreadable = |why: String| {
        ClientError::invalid(format!("{shown}: {why}"))
            .hint("expected a manifest: id = \"todo\" and command = \"/path/to/todo\", in TOML")
    };
    let text = read_manifest(&path).map_err(unreadable)?;
    let file = path.into_os_string().into_string().map_err(|path| {
        ClientError::invalid(format!("{}: the path is not UTF-8", path.display()))
            .hint("copy the manifest to a path that is")
    })?;
    let path = env.variables().into_iter().find(|(name, _)| name == "PATH");
    let path = path.and_then(|(_, value)| value.into_string().ok()).unwrap_or_default();
    let add = Some(NewProvider { file, text, replace, path });
    Ok(Verb::Providers(ProvidersArgs { add, ..ProvidersArgs::default() }))
}

/// Reads a manifest. Only regular files are read: a pipe could block, and a device might have no end.
fn read_manifest(path: &Path) -> Result<String, String> {
    let flags = (OFlag::O_NONBLOCK | OFlag::O_NOCTTY).bits();
    let opened = File::options().read(true).custom_flags(flags).open(path);
    let read = |file: File| {
        // Asks the open file, because the path may lead to another file by now.
        let regular = file.metadata()?.is_file();
        let mut bytes = Vec::new();
        let most = if regular { MANIFEST_MAX + 1 } else { 0 };
        file.take(most).read_to_end(&mut bytes)?;
        Ok((regular, bytes))
    };
    let (regular, bytes) = opened.and_then(read).map_err(|error| error.to_string())?;
    if !regular {
        return Err("it is not a manifest, because it is not a regular file".into());
    }
    if bytes.len() as u64 > MANIFEST_MAX {
        return Err(format!(
            "it is not a manifest, because it is longer than {MANIFEST_MAX} bytes"
        ));
    }
    String::from_utf8(bytes).map_err(|_| "it is not a manifest, because it is not UTF-8".into())
}
