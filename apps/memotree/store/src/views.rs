//! Views and saved searches: small files with a name and a description or a query.

use pipemux_proto::call::nearest;

use crate::actions::one_line;
use crate::error::StoreError;
use crate::file_edit::{FileEdit, FileName, Part};
use crate::name::{check_existing, check_new, folded};
use crate::state::ViewUse;
use crate::store::{Committed, Store, day};

/// The name of the view of a tree without views.
pub const DEFAULT_VIEW: &str = "default";

/// Characters of a description or a query.
pub const DESCRIPTION_CHARS_MAX: usize = 500;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    pub name: String,
    /// The purpose of the view; empty if it isn't given or the file isn't readable.
    pub description: String,
    /// The problem with the view's file; `None` if there is none.
    pub problem: Option<String>,
    /// The day of the last write of the view's file; `None` if there is no file.
    pub changed_day: Option<String>,
    /// This session's data on the view.
    pub usage: ViewUse,
}

/// Returns all views, the last used first, then by name. There is always one: the default view
/// needs no file as long as it is the only one, or once this session has used it.
///
/// # Errors
/// The folder isn't readable.
pub fn all(store: &Store) -> Result<Vec<View>, StoreError> {
    let mut views = Vec::new();
    for name in VIEWS.names(store)? {
        let read = VIEWS.read(store, &name);
        let (description, problem) = match read {
            Ok(text) => (text, None),
            Err(error) => (String::new(), Some(error.to_string())),
        };
        let usage = store.state.view_use(&name)?;
        let stamp = store.files.folder.file_stamp(&VIEWS.file(&name)).ok().flatten();
        let changed_day = stamp.and_then(day);
        views.push(View { name, description, problem, changed_day, usage });
    }
    let usage = store.state.view_use(DEFAULT_VIEW)?;
    let is_shown = views.is_empty() || usage.used > 0;
    if is_shown && !views.iter().any(|view| view.name == DEFAULT_VIEW) {
        let (name, description) = (DEFAULT_VIEW.to_owned(), String::new());
        views.push(View { name, description, problem: None, changed_day: None, usage });
    }
    views.sort_by(|one, two| (two.usage.used, &one.name).cmp(&(one.usage.used, &two.name)));
    Ok(views)
}

/// Returns a view.
///
/// # Errors
/// There is none of this name; the error has the nearest one.
pub fn get(store: &Store, name: &str) -> Result<View, StoreError> {
    let views = all(store)?;
    match views.iter().find(|view| view.name == name) {
        Some(view) => Ok(view.clone()),
        None => {
            let near = nearest(name, views.iter().map(|view| view.name.as_str()));
            let near = near.map(str::to_owned).into_iter().collect();
            Err(StoreError::NoSuch { what: "view", name: name.to_owned(), near })
        }
    }
}

/// Makes a view.
///
/// # Errors
/// The name isn't allowed or taken, or the file can't be written.
pub fn create(store: &mut Store, name: &str, description: &str) -> Result<Committed, StoreError> {
    VIEWS.check_free(store, name)?;
    let edit = VIEWS.edit(store, name, description)?;
    let done = store.commit(&format!("create view {name}"), vec![edit])?;
    // What an earlier view of this name had expanded isn't its own.
    store.state.rename_view(name, None)?;
    Ok(done)
}

/// Says what a view is for.
///
/// # Errors
/// There is none of this name, or the file can't be written.
pub fn describe(store: &mut Store, name: &str, description: &str) -> Result<Committed, StoreError> {
    get(store, name)?;
    let edit = VIEWS.edit(store, name, description)?;
    store.commit(&format!("describe view {name}"), vec![edit])
}

/// Gives a view another name. What it has expanded stays.
///
/// # Errors
/// There is none of this name, the new one isn't allowed or taken, or the file can't be written.
pub fn rename(store: &mut Store, name: &str, to: &str) -> Result<Committed, StoreError> {
    get(store, name)?;
    if folded(name) != folded(to) {
        VIEWS.check_free(store, to)?;
    }
    check_new(to)?;
    let (old, new) = (VIEWS.file(name), VIEWS.file(to));
    let before = store.files.folder.read(&old)?.map(|(bytes, _)| bytes);
    let edits = vec![
        FileEdit { file: new, before: None, after: Some(before.clone().unwrap_or_default()) },
        FileEdit { file: old, before, after: None },
    ];
    let done = store.commit(&format!("rename view {name} to {to}"), edits)?;
    store.state.rename_view(name, Some(to))?;
    Ok(done)
}

/// Removes a view; nodes stay as they are.
///
/// # Errors
/// There is none of this name, or the file can't be removed.
pub fn delete(store: &mut Store, name: &str) -> Result<Committed, StoreError> {
    get(store, name)?;
    let file = VIEWS.file(name);
    let before = store.files.folder.read(&file)?.map(|(bytes, _)| bytes);
    if before.is_none() {
        // The default view without a file: nothing but what this session knows of it.
        store.state.rename_view(name, None)?;
    }
    store.commit(&format!("delete view {name}"), vec![FileEdit { file, before, after: None }])
}

/// Returns the saved searches by name: name and query.
///
/// # Errors
/// The folder isn't readable.
pub fn queries(store: &Store) -> Result<Vec<(String, String)>, StoreError> {
    let mut queries = Vec::new();
    for name in QUERIES.names(store)? {
        let text = QUERIES.read(store, &name).unwrap_or_default();
        queries.push((name, text));
    }
    Ok(queries)
}

/// Returns a saved search.
///
/// # Errors
/// There is none of this name, or its file isn't readable.
pub fn query(store: &Store, name: &str) -> Result<String, StoreError> {
    let names = QUERIES.names(store)?;
    if !names.iter().any(|other| other == name) {
        let near = nearest(name, names.iter().map(String::as_str));
        let near = near.map(str::to_owned).into_iter().collect();
        return Err(StoreError::NoSuch { what: "saved search", name: name.to_owned(), near });
    }
    QUERIES.read(store, name)
}

/// Saves a search under a name; one of this name is replaced.
///
/// # Errors
/// The name isn't allowed, or the file can't be written.
pub fn save_query(store: &mut Store, name: &str, text: &str) -> Result<Committed, StoreError> {
    let text = one_line(QUERIES.key, text, DESCRIPTION_CHARS_MAX)?;
    if query(store, name).is_err() {
        QUERIES.check_free(store, name)?;
    }
    let edit = QUERIES.edit(store, name, &text)?;
    store.commit(&format!("save search {name}"), vec![edit])
}

/// Removes a saved search.
///
/// # Errors
/// There is none of this name, or the file can't be removed.
pub fn delete_query(store: &mut Store, name: &str) -> Result<Committed, StoreError> {
    query(store, name)?;
    let file = QUERIES.file(name);
    let before = store.files.folder.read(&file)?.map(|(bytes, _)| bytes);
    let edits = vec![FileEdit { file, before, after: None }];
    store.commit(&format!("delete search {name}"), edits)
}

/// Small files that have one text each: `<name>.toml`.
struct TomlFiles {
    part: Part,
    /// The word for the kind of file, for messages.
    what: &'static str,
    /// The key under which the text is stored.
    key: &'static str,
}

const VIEWS: TomlFiles = TomlFiles { part: Part::Views, what: "view", key: "description" };

const QUERIES: TomlFiles = TomlFiles { part: Part::Queries, what: "saved search", key: "query" };

impl TomlFiles {
    fn file(&self, name: &str) -> FileName {
        FileName::new(self.part, format!("{name}.toml"))
    }

    fn names(&self, store: &Store) -> Result<Vec<String>, StoreError> {
        let mut names = Vec::new();
        store.files.folder.list(self.part, |name, _| {
            let name = name.strip_suffix(".toml").filter(|name| check_existing(name).is_ok());
            names.extend(name.map(str::to_owned));
        })?;
        names.sort();
        Ok(names)
    }

    fn check_free(&self, store: &Store, name: &str) -> Result<(), StoreError> {
        check_new(name)?;
        // Some file systems don't tell `Plan` from `plan`, and readers don't tell `ａ` from `a`.
        let like = folded(name);
        match self.names(store)?.into_iter().find(|other| folded(other) == like) {
            Some(name) => Err(StoreError::Exists { what: self.what, name }),
            None => Ok(()),
        }
    }

    fn read(&self, store: &Store, name: &str) -> Result<String, StoreError> {
        let file = self.file(name);
        let Some((bytes, _)) = store.files.folder.read(&file)? else { return Ok(String::new()) };
        let table = read_table(&file, &bytes)?;
        Ok(table.get(self.key).and_then(toml::Value::as_str).unwrap_or_default().to_owned())
    }

    /// Returns the change that sets the text of a file; what else it has stays.
    fn edit(&self, store: &Store, name: &str, text: &str) -> Result<FileEdit, StoreError> {
        let text = match text.trim() {
            "" => String::new(),
            text => one_line(self.key, text, DESCRIPTION_CHARS_MAX)?,
        };
        let file = self.file(name);
        let before = store.files.folder.read(&file)?.map(|(bytes, _)| bytes);
        let mut table = match &before {
            Some(bytes) => read_table(&file, bytes)?,
            None => toml::Table::new(),
        };
        table.insert(self.key.to_owned(), text.into());
        Ok(FileEdit { file, before, after: Some(table.to_string().into_bytes()) })
    }
}

fn read_table(file: &FileName, bytes: &[u8]) -> Result<toml::Table, StoreError> {
    let broken = |problem: String| StoreError::Broken { file: file.clone(), problem };
    let text = std::str::from_utf8(bytes).map_err(|_| broken("it isn't UTF-8".to_owned()))?;
    text.parse().map_err(|error: toml::de::Error| {
        broken(error.message().lines().next().unwrap_or("it isn't TOML").to_owned())
    })
}
