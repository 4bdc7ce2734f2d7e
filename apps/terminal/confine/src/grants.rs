//! The places that a workspace's commands may write to, with nothing protected inside.

mod children;
mod repository;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use crate::policy::Policy;
use crate::real_path::{RealPath, follow};
use crate::writable::{Cache, WRITABLE, expanded};

pub use repository::workspace_of;

/// The inputs from which the grants are determined.
#[derive(Debug, Clone)]
pub struct Surroundings<'a> {
    /// The folder in which the session was opened.
    pub folder: &'a Path,
    /// The environment of the session's opener.
    pub env: &'a BTreeMap<String, String>,
    /// PipeMux's own directories.
    pub own: &'a [PathBuf],
    /// A folder of the session's own, for temporary files where those of the system can't be
    /// granted.
    pub spare: &'a Path,
}

/// The places that commands may write to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grants {
    /// Folders with all that is in them, and files, without links.
    pub places: BTreeSet<PathBuf>,
    pub workspace: PathBuf,
    /// The protected places inside of the workspace.
    pub left_out: Vec<PathBuf>,
    /// The folder for temporary files, if it isn't the system's.
    pub temporary: Option<PathBuf>,
    /// The places that are granted only if they are named.
    protected: BTreeSet<PathBuf>,
}

impl Grants {
    /// Finds the places, and creates missing caches of programs that are installed.
    pub fn find(policy: &Policy, around: &Surroundings<'_>) -> Self {
        let first = Finder::new(around, BTreeSet::new(), false).find(policy);
        // Who may write where a link stands has it lead where they want: no place is reached by
        // such a link.
        let untrusted: BTreeSet<PathBuf> =
            first.links.iter().filter(|link| first.grants.allows_real(link)).cloned().collect();
        match untrusted.is_empty() && !first.misses {
            true => first.grants,
            false => Finder::new(around, untrusted, true).find(policy).grants,
        }
    }

    /// Returns true if a path may be written to.
    pub fn allows(&self, path: &Path) -> bool {
        self.allows_real(&follow(path).path)
    }

    fn allows_real(&self, path: &Path) -> bool {
        path.ancestors().any(|above| self.places.contains(above))
    }

    /// Returns what a person would name so that a path without links can be written to: the nearest
    /// folder with nothing protected in it, or what is protected itself. Also says whether that is
    /// there.
    pub fn to_widen(&self, path: &Path) -> (PathBuf, bool) {
        if let Some(protected) = path.ancestors().find(|above| self.protected.contains(*above)) {
            return (protected.to_owned(), protected.exists());
        }
        let folder = path.ancestors().find(|above| above.is_dir()).unwrap_or(path);
        match children::contains_any(folder, &self.protected) {
            false => (folder.to_owned(), true),
            true => {
                let below = path.ancestors().take_while(|above| *above != folder).last();
                let below = below.unwrap_or(path);
                (below.to_owned(), below.exists())
            }
        }
    }
}

/// Finds places, once.
struct Finder<'a> {
    around: &'a Surroundings<'a>,
    home: Option<PathBuf>,
    protected: Protected,
    /// Links by which no place is reached.
    untrusted: BTreeSet<PathBuf>,
    /// True to create what is missing.
    creates: bool,
    grants: Grants,
    /// The links through which places are reached.
    links: BTreeSet<PathBuf>,
    /// True if something is missing that could be created.
    misses: bool,
}

impl<'a> Finder<'a> {
    fn new(around: &'a Surroundings<'a>, untrusted: BTreeSet<PathBuf>, creates: bool) -> Self {
        let home = around.home().map(|home| follow(&home).path);
        let protected = Protected::of(around, home.as_deref());
        let grants = Grants {
            places: BTreeSet::new(),
            workspace: workspace_of(around.folder, home.as_deref()),
            left_out: Vec::new(),
            temporary: None,
            protected: protected.places.clone(),
        };
        let links = BTreeSet::new();
        Self { around, home, protected, untrusted, creates, grants, links, misses: false }
    }

    fn find(mut self, policy: &Policy) -> Self {
        self.add_workspace();
        for place in &WRITABLE.devices {
            self.add(Path::new(place));
        }
        // A root user would change the system by files of `/proc`, which are nobody else's.
        if !rustix::process::geteuid().is_root() {
            self.grants.places.insert("/proc".into());
        }
        for place in &WRITABLE.temporary {
            if let Some(place) = self.around.expanded(place) {
                self.add(&place);
            }
        }
        self.add_temporary();
        for cache in &WRITABLE.cache {
            self.add_cache(cache);
        }
        for place in &policy.write {
            if let Some(place) = self.around.expanded(place) {
                self.add_named(&place);
            }
        }
        self
    }

    fn add_workspace(&mut self) {
        let workspace = self.grants.workspace.clone();
        // What has everything in it is nobody's workspace.
        let is_above = |home: &Path| home != workspace && home.starts_with(&workspace);
        let is_whole = workspace == Path::new("/") || self.home.as_deref().is_some_and(is_above);
        let is_reached = self.reach(self.around.folder).is_some();
        self.grants.left_out = match is_whole || !is_reached {
            true => vec![workspace],
            false => {
                for common in repository::folders_elsewhere(&workspace) {
                    self.add(&common);
                }
                self.add(&workspace)
            }
        };
    }

    /// Returns where a place is, if it may be reached like this.
    fn reach(&mut self, place: &Path) -> Option<RealPath> {
        let real = follow(place);
        self.links.extend(real.links.iter().cloned());
        let is_trusted = !real.links.iter().any(|link| self.untrusted.contains(link));
        is_trusted.then_some(real)
    }

    /// Adds a place and what it contains, without what is protected. Returns what of it is left
    /// out.
    fn add(&mut self, place: &Path) -> Vec<PathBuf> {
        match self.reach(place).filter(|real| real.exists) {
            Some(real) => {
                children::add(&real.path, &self.protected.places, &mut self.grants.places)
            }
            None => Vec::new(),
        }
    }

    /// Adds a place that was named by itself: that it lies in something protected doesn't count.
    fn add_named(&mut self, place: &Path) {
        let Some(RealPath { path, exists: true, .. }) = self.reach(place) else { return };
        let (protected, places) = (&self.protected, &mut self.grants.places);
        if path.ancestors().any(|above| protected.own.contains(above)) {
            return;
        }
        let around: Vec<&PathBuf> =
            path.ancestors().filter_map(|above| protected.places.get(above)).collect();
        if around.is_empty() {
            children::add(&path, &protected.places, places);
            return;
        }
        // A link may not lead out of what was named into something else that is protected.
        let named: BTreeSet<PathBuf> =
            place.ancestors().map(|ancestor| follow(ancestor).path).collect();
        let is_direct =
            follow(place.parent().unwrap_or(place)).path == path.parent().unwrap_or(&path);
        if is_direct && around.iter().all(|above| named.contains(*above)) {
            let mut rest = protected.places.clone();
            rest.retain(|place| !around.contains(&place));
            children::add(&path, &rest, places);
        }
    }

    /// Takes a folder of the session's own for temporary files if new files can't be made where the
    /// environment has them.
    fn add_temporary(&mut self) {
        let usual = self.around.env.get("TMPDIR").map_or(Path::new("/tmp"), Path::new);
        if self.grants.allows(usual) {
            return;
        }
        let spare = self.around.spare;
        let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(spare);
        let real = follow(spare);
        if made.is_ok() && real.exists {
            self.grants.places.insert(real.path.clone());
            self.grants.temporary = Some(real.path);
        }
    }

    fn add_cache(&mut self, cache: &Cache) {
        let around = self.around;
        let is_installed = || cache.programs.iter().any(|program| around.has_program(program));
        let places = cache.places.iter().map(|place| (place, false));
        for (place, is_file) in places.chain(cache.files.iter().map(|file| (file, true))) {
            let Some(place) = around.expanded(place) else { continue };
            let Some(real) = self.reach(&place) else { continue };
            let is_own = real.path.ancestors().any(|above| self.protected.own.contains(above));
            if !real.exists && !is_own && is_installed() {
                self.misses = true;
                if self.creates {
                    // A place that can't be made isn't granted; the program says so when it needs
                    // it.
                    let _ = create(&real.path, is_file);
                }
            }
            self.add_named(&place);
        }
    }
}

/// The places that are never granted, with links resolved.
#[derive(Debug, Default)]
struct Protected {
    places: BTreeSet<PathBuf>,
    /// PipeMux's own directories, which nobody can name either.
    own: BTreeSet<PathBuf>,
}

impl Protected {
    fn of(around: &Surroundings<'_>, home: Option<&Path>) -> Self {
        let mut all = Self::default();
        for own in around.own {
            all.own.extend(places_of(own));
        }
        all.places.extend(all.own.iter().cloned());
        if let Some(home) = home {
            for name in &WRITABLE.protected.home {
                all.places.extend(places_of(&home.join(name)));
            }
        }
        for named in &WRITABLE.protected.named {
            let place = around.expanded(named);
            all.places.extend(place.iter().flat_map(|place| places_of(place)));
        }
        all
    }
}

/// Returns where a path leads, and the links by which it gets there.
fn places_of(path: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let real = follow(path);
    real.links.into_iter().chain([real.path])
}

impl Surroundings<'_> {
    fn variable(&self, name: &str) -> Option<String> {
        self.env.get(name).filter(|value| !value.is_empty()).cloned()
    }

    fn home(&self) -> Option<PathBuf> {
        self.variable("HOME")
            .map(PathBuf::from)
            .or_else(std::env::home_dir)
            .filter(|home| home.is_absolute())
    }

    fn expanded(&self, text: &str) -> Option<PathBuf> {
        expanded(text, self.home().as_deref(), |name| self.variable(name))
    }

    fn has_program(&self, program: &str) -> bool {
        let path = self.variable("PATH").unwrap_or_default();
        path.split(':').any(|folder| {
            let file = Path::new(folder).join(program);
            file.is_absolute() && file.is_file()
        })
    }
}

/// Creates a folder or an empty file, with the folders above it, if the user owns the one in which
/// they are made.
fn create(place: &Path, is_file: bool) -> std::io::Result<()> {
    let owner = rustix::process::geteuid().as_raw();
    let above = place.ancestors().skip(1).find(|above| above.exists());
    let is_own =
        above.and_then(|above| above.metadata().ok()).is_some_and(|found| found.uid() == owner);
    let folder = if is_file { place.parent().unwrap_or(place) } else { place };
    match is_own {
        true => {
            fs::create_dir_all(folder)?;
            match is_file {
                true => fs::OpenOptions::new().create(true).append(true).open(place).map(drop),
                false => Ok(()),
            }
        }
        false => Err(std::io::ErrorKind::PermissionDenied.into()),
    }
}

#[cfg(test)]
mod tests;
