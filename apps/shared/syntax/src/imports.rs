//! What is imported from where after an item moved to another file: ES modules and Python.
//!
//! | module | holds |
//! |---|---|
//! | `statements` | import statements as they are written |
//! | `bindings` | what a module declares and exports, and where its names are used |
//! | `specifiers`, `modules` | which file a path means, in ES modules and in Python |
//! | `lists` | names and statements that come and go |
//! | `changes` | all that changes in one file |
//! | `import_style` | how a file writes its imports |
//! | `users` | files that import what moved |
//! | `needs` | what the moved code and the file that it came from need now |
//! | `compose` | edits that are made one after the other, as one |
//!
//! **Invariant: nothing is guessed.** An import is changed only where the statement itself tells
//! what it imports; all else that has to be looked at is named.

mod bindings;
mod changes;
mod compose;
mod import_style;
mod lists;
mod modules;
mod needs;
mod specifiers;
mod statements;
mod users;

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::Edit;
use crate::language::Language;
use crate::rename::Unit;
use crate::source::Source;

use bindings::{Declared, Export, declared};
use changes::ImportChanges;

pub(crate) use bindings::listed_in_all;
pub use compose::{compose, shifted};
pub use specifiers::module_name;

/// The new position of an item that moved to another file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MovedItem {
    /// The index of the item's former file, whose text no longer includes the item.
    pub from: usize,
    /// The index of the item's present file, whose text includes the item.
    pub to: usize,
    /// The bytes of the item in its present file.
    pub placed: Range<usize>,
}

/// Something that wasn't mended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportsLeft {
    /// The index of the file.
    pub unit: usize,
    /// The line in the text after all edits, from 0.
    pub line: usize,
    /// The reason in a few words.
    pub why: String,
}

/// The edits that repair imports after a move.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MendedImports {
    /// The edits of each changed file, in ascending order.
    pub edits: Vec<(usize, Vec<Edit>)>,
    /// The imports that couldn't be repaired.
    pub left: Vec<ImportsLeft>,
}

/// Plans how imports are mended after an item moved. `units` are the files as they are then;
/// `exists` tells which paths, relative to the project, are files. `None` if nothing is known of
/// the imports of these files, or if what moved isn't declared in the outermost scope of its new
/// file.
///
/// # Errors
/// The new file has something else of that name. The message says what.
pub fn mend_imports(
    units: &[Unit<'_>],
    moved: &MovedItem,
    exists: &dyn Fn(&Path) -> bool,
) -> Result<Option<MendedImports>, String> {
    let (home, new) = (units[moved.from], units[moved.to]);
    let language = home.source.language();
    let same = |other: Language| language.has_modules_like(other);
    if home.source.is_plain() || new.source.is_plain() || !same(new.source.language()) {
        return Ok(None);
    }
    let (inside, outside): (Vec<_>, Vec<_>) = declared(new.source)
        .into_iter()
        .partition(|one| moved.placed.contains(&one.name_range.start));
    if inside.is_empty()
        || (language.is_ecmascript() && !is_module(home.source) && !is_module(new.source))
    {
        return Ok(None);
    }
    let files = units.iter().enumerate().filter(|(_, unit)| same(unit.source.language()));
    let mut files: Vec<_> = files.map(|(index, unit)| ImportChanges::new(index, unit)).collect();
    let of = |unit: usize| files.iter().position(|file| file.unit == unit).unwrap_or_default();
    let (from, to) = (of(moved.from), of(moved.to));
    files[to].set_placed(moved.placed.start);
    let mut mending = Mending {
        home: home.path.to_owned(),
        new: new.path.to_owned(),
        placed: moved.placed.clone(),
        declared: inside,
        beside: outside,
        exists,
        files,
        from,
        to,
        left: BTreeSet::new(),
    };
    mending.refuse_rivals()?;
    for file in 0..mending.files.len() {
        if file != mending.from {
            mending.redirect_user(file);
        }
    }
    mending.import_what_moved_code_needs();
    mending.import_what_moved_away();
    Ok(Some(mending.finish()))
}

/// True if a file imports or exports something.
fn is_module(source: &Source) -> bool {
    let text = source.text();
    let words = ["import ", "import{", "export ", "export{", "export*", "import*"];
    text.lines().any(|line| words.iter().any(|word| line.starts_with(word)))
        || ["require(", "module.exports", "exports."].iter().any(|word| text.contains(word))
}

/// The data of a move and the changes of imports that it requires.
struct Mending<'s> {
    /// The item's former file.
    home: PathBuf,
    /// The item's present file.
    new: PathBuf,
    placed: Range<usize>,
    /// The names that the moved item declares.
    declared: Vec<Declared>,
    /// The other names that the new file declares.
    beside: Vec<Declared>,
    exists: &'s dyn Fn(&Path) -> bool,
    files: Vec<ImportChanges<'s>>,
    /// The indexes of the two files in `files`.
    from: usize,
    to: usize,
    /// Unrepaired imports: the index of the file, a byte in it, and the reason.
    left: BTreeSet<(usize, usize, String)>,
}

impl Mending<'_> {
    fn leave(&mut self, file: usize, at: usize, why: impl Into<String>) {
        self.left.insert((file, at, why.into()));
    }

    /// Returns true if other files can import the moved item by this name.
    fn is_importable(&self, name: &str) -> bool {
        self.declared.iter().any(|one| one.export == Export::As(name.to_owned()))
    }

    fn is_default(&self) -> bool {
        self.declared.iter().any(|one| one.export == Export::Default)
    }

    fn refuse_rivals(&self) -> Result<(), String> {
        let file = &self.files[self.to];
        for one in &self.declared {
            let imported = file.statements.iter().any(|statement| {
                let here = self.resolved(self.to, &statement.specifier);
                statement.is_outermost
                    && statement.bound().iter().any(|own| own.local == one.name)
                    && here.as_deref() != Some(&self.home)
            });
            if imported || self.beside.iter().any(|other| other.name == one.name) {
                return Err(format!("{} already has {}", self.new.display(), one.name));
            }
        }
        Ok(())
    }

    /// Returns the file that a module's name means in a file.
    fn resolved(&self, file: usize, specifier: &str) -> Option<PathBuf> {
        let file = &self.files[file];
        match file.source.language() {
            Language::Python => {
                modules::resolve(file.path, specifier, self.exists).map(|(path, _)| path)
            }
            _ => specifiers::resolve(file.path, specifier, self.exists),
        }
    }

    fn finish(self) -> MendedImports {
        let mut mended = MendedImports::default();
        let edits: Vec<_> = self.files.iter().map(ImportChanges::edits).collect();
        for (file, at, why) in self.left {
            let text = crate::edit::apply(&edits[file], self.files[file].source.text());
            let at = shifted(&edits[file], at).min(text.len());
            let line = text.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count();
            mended.left.push(ImportsLeft { unit: self.files[file].unit, line, why });
        }
        let all = self.files.iter().zip(edits).filter(|(_, edits)| !edits.is_empty());
        mended.edits = all.map(|(file, edits)| (file.unit, edits)).collect();
        mended
    }
}
