//! The occurrences of symbols of one name in the files of the project.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use docui::Fault;
use pipemux_syntax::{
    Files, FoundSymbol, Language, Mention, Occurrence, Project, Source, Unit, plan_rename,
};

use super::resolved::Unresolved;
use super::resolver::Resolver;

/// The occurrences of all renamed symbols.
#[derive(Default)]
pub(crate) struct Occurrences {
    pub proven: Vec<Occurrence>,
    pub possible: Vec<Occurrence>,
    pub others: Vec<Mention>,
    pub in_comments: Vec<Mention>,
    pub in_strings: Vec<Mention>,
    pub in_unparsed: Vec<Mention>,
    pub in_texts: Vec<Mention>,
    pub doubt: Option<String>,
}

impl Occurrences {
    /// Plans the renaming of each symbol. What one of them proves is proven, whatever the others
    /// say of it.
    fn of(
        project: &Project<'_>,
        units: &[Unit<'_>],
        symbols: &[(usize, &FoundSymbol)],
    ) -> Result<Self, Fault> {
        let mut all = Self::default();
        let mut others: Option<Vec<Mention>> = None;
        for (unit, found) in symbols {
            let one = plan_rename(project, units, (*unit, found)).map_err(Fault::refused)?;
            all.proven.extend(one.proven);
            all.possible.extend(one.possible);
            // Something else is what is something else for each of them.
            others = Some(match others {
                None => one.others,
                Some(known) => known.into_iter().filter(|at| one.others.contains(at)).collect(),
            });
            // Where the name is no code is the same for all symbols of one name.
            all.in_comments = one.in_comments;
            all.in_strings = one.in_strings;
            all.in_unparsed = one.in_unparsed;
            all.in_texts = one.in_texts;
            all.doubt = all.doubt.or(one.doubt);
        }
        all.others = others.unwrap_or_default();
        sort(&mut all.proven);
        sort(&mut all.possible);
        let known = &all.proven;
        all.possible.retain(|one| {
            !known.iter().any(|other| other.unit == one.unit && other.range == one.range)
        });
        Ok(all)
    }
}

/// Reads the files of the project for a plan.
struct ProjectFiles<'r, 'd> {
    resolver: &'r mut Resolver<'d>,
}

impl Files for ProjectFiles<'_, '_> {
    fn source(&mut self, path: &Path) -> Option<Rc<Source>> {
        let path = self.resolver.scope.root.join(path);
        self.resolver.source(&path).ok().filter(|source| !source.is_plain())
    }

    fn text(&mut self, path: &Path) -> Option<String> {
        let path = self.resolver.scope.root.join(path);
        match self.resolver.documents.open_file(&path) {
            Some(open) => Some(open.buffer.text()),
            None => std::fs::read_to_string(path).ok(),
        }
    }
}

/// Finds the occurrences of symbols of one name in the files that mention it.
pub(super) fn occurrences(
    resolver: &mut Resolver<'_>,
    sources: &Sources,
    units: &[Unit<'_>],
    symbols: &[(usize, &FoundSymbol)],
) -> Result<Occurrences, Fault> {
    let root = resolver.scope.root.clone();
    let project = resolver.project_files()?.into_iter();
    let project = project.map(|path| path.strip_prefix(&root).unwrap_or(&path).to_owned());
    let paths = project.chain(sources.iter().map(|(_, relative, _)| relative.clone()));
    let paths: Vec<PathBuf> = paths.collect();
    let mut reader = ProjectFiles { resolver };
    Occurrences::of(&Project::new(paths, &mut reader), units, symbols)
}

fn sort(all: &mut Vec<Occurrence>) {
    all.sort_by_key(|one| (one.unit, one.range.start));
    all.dedup();
}

/// The files in which a name is looked for: each with its path, the path as it is displayed, and
/// its text.
pub(crate) type Sources = [(PathBuf, PathBuf, Rc<Source>)];

/// Reads the files that have a name in them, and in any case `own` ones. The second list says of
/// files why they can't be read.
#[allow(clippy::type_complexity)]
pub(super) fn sources_with(
    resolver: &mut Resolver<'_>,
    files: Vec<PathBuf>,
    name: &str,
    own: Vec<PathBuf>,
) -> Result<(Vec<(PathBuf, PathBuf, Rc<Source>)>, Vec<String>), Unresolved> {
    let mut files: Vec<PathBuf> =
        files.into_iter().filter(|path| resolver.mentions(path, name)).collect();
    files.extend(own.iter().cloned());
    files.sort();
    files.dedup();
    let (mut sources, mut unread) = (Vec::new(), Vec::new());
    for path in files {
        let relative = path.strip_prefix(&resolver.scope.root).unwrap_or(&path).to_owned();
        match resolver.source(&path) {
            Ok(source) => sources.push((path, relative, source)),
            Err(fault) if own.contains(&path) => return Err(fault.into()),
            // A binary file mentions no names.
            Err(_) if Language::of_path(&path).is_none() && is_binary(&path) => {}
            Err(fault) => {
                let root = format!("{}/", resolver.scope.root.display());
                unread.push(fault.message.replace(&root, ""));
            }
        }
    }
    Ok((sources, unread))
}

fn is_binary(path: &Path) -> bool {
    std::fs::read(path).is_ok_and(|bytes| bytes.contains(&0))
}
