//! The manifests of the apps that come with the daemon. Each lies in its app's folder in the form
//! that any author writes, and is read when the daemon is built: nothing here knows an app by its
//! name.

use std::path::Path;
use std::sync::LazyLock;

use pipemux_catalog::{APPS, App};
use pipemux_core::{BuiltIn, Manifest};

use super::parse::parse;

/// The apps in the catalog's order, which are parsed once because they never change.
static MANIFESTS: LazyLock<Vec<Manifest>> =
    LazyLock::new(|| APPS.iter().filter_map(|app| manifest(app).ok()).collect());

/// Returns the manifest of each built-in app, with its program in the directory `programs`.
pub fn manifests(programs: &Path) -> impl Iterator<Item = Manifest> {
    MANIFESTS.iter().cloned().map(|mut manifest| {
        manifest.command = programs.join(&manifest.command).to_string_lossy().into_owned();
        manifest
    })
}

/// Reads an app's manifest. It has no file, since it lies in the program of the daemon.
fn manifest(app: &App) -> Result<Manifest, String> {
    let manifest = parse(Path::new(""), app.manifest)?;
    let known = BuiltIn { prototypes: app.prototypes(), help: app.help() };
    Ok(Manifest { built_in: Some(Box::new(known)), ..manifest })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_app_has_a_valid_manifest() {
        for app in &APPS {
            let manifest = manifest(app).unwrap_or_else(|why| panic!("{}{why}", app.id));
            assert_eq!(manifest.id.as_str(), app.id);
            assert_eq!(manifest.command, format!("pipemux-{}", app.id));
            assert_eq!(manifest.description, app.description());
            assert!(!manifest.description.is_empty() && manifest.file.is_empty(), "{}", app.id);
        }
    }
}
