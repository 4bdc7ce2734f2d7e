//! The imports of all files after an item moved from one to another.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use docui::Fault;
use pipemux_syntax::{
    Arrangement, Edit, Language, MendedImports, MovedItem, Source, Unit, compose, mend_imports,
    module_name, shifted,
};

use crate::limits::{FILES_NAMED, PLACES_NAMED};
use crate::model::splice::Splice;

use super::arranged_lines::splices_of;
use super::resolved::{Resolved, Unresolved};
use super::resolver::Resolver;

/// A file, and the effect of the move itself on it.
type Arranged<'a> = (&'a Resolved, &'a Arrangement);

/// The repair of the imports after a move.
#[derive(Default)]
pub(crate) struct Mended {
    /// The edits of each file, based on its text after the move itself.
    edits: Vec<(PathBuf, Rc<Source>, Vec<Edit>)>,
    /// A note for the outcome: `; imports mended in src/a.js; left: src/b.js:3 (…)`.
    pub note: String,
}

impl Mended {
    fn of(&self, path: &Path) -> &[Edit] {
        let found = self.edits.iter().find(|(own, ..)| own == path);
        found.map_or(&[], |(_, _, edits)| edits)
    }

    /// Returns where a byte of a file is after all edits.
    pub(super) fn after(&self, path: &Path, at: usize) -> usize {
        shifted(self.of(path), at)
    }

    /// Returns the text of a file after all edits.
    pub(super) fn text(&self, path: &Path, moved: &str) -> String {
        let edits = self.of(path).to_vec();
        Arrangement { edits, ..Arrangement::default() }.apply(moved)
    }

    /// Returns the replacements in each file that make the move and mend the imports.
    pub(super) fn edits(
        self,
        here: Arranged<'_>,
        there: Arranged<'_>,
    ) -> Vec<(PathBuf, Vec<Splice>)> {
        let both = [there, here].map(|(file, arranged)| {
            let length = file.source.text().len();
            let all = compose(length, &arranged.edits, self.of(&file.path));
            (file.path.clone(), splices_of(&file.source, &all))
        });
        let others = self.edits.into_iter();
        let others = others.filter(|(path, ..)| *path != here.0.path && *path != there.0.path);
        let others = others.map(|(path, source, edits)| {
            let splices = splices_of(&source, &edits);
            (path, splices)
        });
        both.into_iter().chain(others).collect()
    }
}

/// Plans how the imports are mended after lines moved from one file to another; `None` if nothing
/// is known of the imports of these files.
pub(super) fn mended(
    resolver: &mut Resolver<'_>,
    (from, removed): Arranged<'_>,
    (to, inserted): Arranged<'_>,
) -> Result<Option<Mended>, Unresolved> {
    let (Some(language), Some(other)) =
        (Language::of_path(&from.path), Language::of_path(&to.path))
    else {
        return Ok(None);
    };
    let names: Vec<String> = from
        .source
        .outline()
        .into_iter()
        .filter(|one| from.bytes.contains(&one.name_range.start))
        .map(|one| one.name)
        .collect();
    if names.is_empty() || !language.has_modules_like(other) {
        return Ok(None);
    }
    let root = &resolver.scope.root;
    let within = from.path.starts_with(root) && to.path.starts_with(root);
    let root = if within { root.clone() } else { PathBuf::from("/") };
    let module = module_name(&from.path);
    let mut files = resolver.project_files()?;
    files.retain(|path| {
        let like = Language::of_path(path).is_some_and(|one| one.has_modules_like(language));
        let mentioned = names.iter().chain(&module).any(|name| resolver.mentions(path, name));
        like && mentioned && path.starts_with(&root)
    });
    files.extend([from.path.clone(), to.path.clone()]);
    files.sort();
    files.dedup();
    let (mut sources, mut unread) = (Vec::new(), Vec::new());
    for path in files {
        let source = match &path {
            path if *path == from.path => after(&from.source, removed)?,
            path if *path == to.path => after(&to.source, inserted)?,
            // A file that can't be read keeps nobody from moving an item of others.
            path => match resolver.source(path) {
                Ok(source) => source,
                Err(_) => {
                    unread.push(path.strip_prefix(&root).unwrap_or(path).display().to_string());
                    continue;
                }
            },
        };
        let relative = path.strip_prefix(&root).unwrap_or(&path).to_owned();
        sources.push((path, relative, source));
    }
    let units: Vec<Unit<'_>> =
        sources.iter().map(|(_, relative, source)| Unit { path: relative, source }).collect();
    let of = |path: &Path| sources.iter().position(|(own, ..)| own == path).unwrap_or_default();
    let placed = inserted.placed.clone();
    let moved = MovedItem { from: of(&from.path), to: of(&to.path), placed };
    let documents = &resolver.documents;
    let exists = |path: &Path| {
        let path = root.join(path);
        path == to.path || documents.open_file(&path).is_some() || path.is_file()
    };
    let mended = mend_imports(&units, &moved, &exists).map_err(|rival| {
        Fault::refused(rival).hint("nothing was changed: rename one of them first")
    })?;
    let Some(mended) = mended else { return Ok(None) };
    let shown: Vec<String> =
        sources.iter().map(|(_, relative, _)| relative.display().to_string()).collect();
    let mut note = note(&mended, &shown);
    if let Some(first) = unread.first() {
        let more = match unread.len() {
            1 => String::new(),
            all => format!(" and {} more", all - 1),
        };
        note += &format!("; not looked into, since it can't be read: {first}{more}");
    }
    let edits = mended.edits.into_iter().map(|(unit, edits)| {
        let (path, _, source) = &sources[unit];
        (path.clone(), source.clone(), edits)
    });
    Ok(Some(Mended { edits: edits.collect(), note }))
}

/// Returns a file as it is after the move itself.
fn after(source: &Source, arranged: &Arrangement) -> Result<Rc<Source>, Fault> {
    let parsed = Source::parse(source.language(), arranged.apply(source.text()));
    parsed.map(Rc::new).map_err(|error| Fault::refused(error.to_string()))
}

fn note(mended: &MendedImports, shown: &[String]) -> String {
    let listed = |mut all: Vec<String>, most: usize| {
        let more = all.len().saturating_sub(most);
        all.truncate(most);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        all.join(", ") + &more
    };
    let mut note = String::new();
    if !mended.edits.is_empty() {
        let files = mended.edits.iter().map(|(unit, _)| shown[*unit].clone()).collect();
        note += &format!("; imports mended in {}", listed(files, FILES_NAMED));
    }
    if !mended.left.is_empty() {
        let left = mended.left.iter();
        let left = left.map(|one| format!("{}:{} ({})", shown[one.unit], one.line + 1, one.why));
        note += &format!("; left: {}", listed(left.collect(), PLACES_NAMED));
    }
    note
}
