//! Views and saved searches: small files with a name and a description or a query.

use pipemux_proto::call::nearest;

use crate::actions::one_line;
use crate::error::StoreError;
use crate::folder::{FileName, Part};
use crate::name::{check_existing, check_new, folded};
use crate::state::{FileEdit, ViewUse};
use crate::store::{Committed, Store, day};

/// The view that a tree without views has.
pub const DEFAULT_VIEW: &str = "default";

/// Characters of a description or a query.
pub const DESCRIPTION_CHARS_MAX: usize = 500;

/// A view.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    /// Its name.
    pub name: String,
    /// What it is for; empty if nobody said so, or if its file isn't readable.
    pub description: String,
    /// What is wrong with its file.
    pub problem: Option<String>,
    /// The day on which its file was written last; none without a file.
    pub changed_day: Option<String>,
    /// What this session knows of it.
    pub usage: ViewUse,
}

impl Store {
    /// Returns all views, the last used first, then by name. There is always one: the default view needs no file as long as it is
    /// the only one, or once this session has used it.
    ///
    /// # Errors
    /// The folder isn't readable.
    pub fn views(&self) -> Result<Vec<View>, StoreError> {
        let mut views = Vec::new();
        for name in self.toml_names(Part::Views)? {
            let read = self.read_text(Part::Views, &name, "description");
            let (description, problem) = match read {
                Ok(text) => (text, None),
                Err(error) => (String::new(), Some(error.to_string())),
            };
            let usage = self.state.view_use(&name)?;
            let stamp = self.folder.file_stamp(&toml_file(Part::Views, &name)).ok().flatten();
            let changed_day = stamp.and_then(day);
            views.push(View { name, description, problem, changed_day, usage });
        }
        let usage = self.state.view_use(DEFAULT_VIEW)?;
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
    pub fn view(&self, name: &str) -> Result<View, StoreError> {
        let views = self.views()?;
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
    pub fn create_view(&mut self, name: &str, description: &str) -> Result<Committed, StoreError> {
        self.check_free(Part::Views, "view", name)?;
        let edit = self.text_edit(Part::Views, name, "description", description)?;
        let done = self.commit(&format!("create view {name}"), vec![edit])?;
        // What an earlier view of this name had expanded isn't its own.
        self.state.rename_view(name, None)?;
        Ok(done)
    }

    /// Says what a view is for.
    ///
    /// # Errors
    /// There is none of this name, or the file can't be written.
    pub fn describe_view(
        &mut self,
        name: &str,
        description: &str,
    ) -> Result<Committed, StoreError> {
        self.view(name)?;
        let edit = self.text_edit(Part::Views, name, "description", description)?;
        self.commit(&format!("describe view {name}"), vec![edit])
    }

    /// Gives a view another name. What it has expanded stays.
    ///
    /// # Errors
    /// There is none of this name, the new one isn't allowed or taken, or the file can't be written.
    pub fn rename_view(&mut self, name: &str, to: &str) -> Result<Committed, StoreError> {
        self.view(name)?;
        if folded(name) != folded(to) {
            self.check_free(Part::Views, "view", to)?;
        }
        check_new(to)?;
        let (old, new) = (toml_file(Part::Views, name), toml_file(Part::Views, to));
        let before = self.folder.read(&old)?.map(|(bytes, _)| bytes);
        let edits = vec![
            FileEdit { file: new, before: None, after: Some(before.clone().unwrap_or_default()) },
            FileEdit { file: old, before, after: None },
        ];
        let done = self.commit(&format!("rename view {name} to {to}"), edits)?;
        self.state.rename_view(name, Some(to))?;
        Ok(done)
    }

    /// Removes a view; nodes stay as they are.
    ///
    /// # Errors
    /// There is none of this name, or the file can't be removed.
    pub fn delete_view(&mut self, name: &str) -> Result<Committed, StoreError> {
        self.view(name)?;
        let file = toml_file(Part::Views, name);
        let before = self.folder.read(&file)?.map(|(bytes, _)| bytes);
        if before.is_none() {
            // The default view without a file: nothing but what this session knows of it.
            self.state.rename_view(name, None)?;
        }
        self.commit(&format!("delete view {name}"), vec![FileEdit { file, before, after: None }])
    }

    /// Returns the saved searches by name: name and query.
    ///
    /// # Errors
    /// The folder isn't readable.
    pub fn queries(&self) -> Result<Vec<(String, String)>, StoreError> {
        let mut queries = Vec::new();
        for name in self.toml_names(Part::Queries)? {
            let query = self.read_text(Part::Queries, &name, "query").unwrap_or_default();
            queries.push((name, query));
        }
        Ok(queries)
    }

    /// Returns a saved search.
    ///
    /// # Errors
    /// There is none of this name, or its file isn't readable.
    pub fn query(&self, name: &str) -> Result<String, StoreError> {
        let names = self.toml_names(Part::Queries)?;
        if !names.iter().any(|other| other == name) {
            let near = nearest(name, names.iter().map(String::as_str));
            let near = near.map(str::to_owned).into_iter().collect();
            return Err(StoreError::NoSuch { what: "saved search", name: name.to_owned(), near });
        }
        self.read_text(Part::Queries, name, "query")
    }

    /// Saves a search under a name; one of this name is replaced.
    ///
    /// # Errors
    /// The name isn't allowed, or the file can't be written.
    pub fn save_query(&mut self, name: &str, query: &str) -> Result<Committed, StoreError> {
        let query = one_line("query", query, DESCRIPTION_CHARS_MAX)?;
        if self.query(name).is_err() {
            self.check_free(Part::Queries, "saved search", name)?;
        }
        let edit = self.text_edit(Part::Queries, name, "query", &query)?;
        self.commit(&format!("save search {name}"), vec![edit])
    }

    /// Removes a saved search.
    ///
    /// # Errors
    /// There is none of this name, or the file can't be removed.
    pub fn delete_query(&mut self, name: &str) -> Result<Committed, StoreError> {
        self.query(name)?;
        let file = toml_file(Part::Queries, name);
        let before = self.folder.read(&file)?.map(|(bytes, _)| bytes);
        let edits = vec![FileEdit { file, before, after: None }];
        self.commit(&format!("delete search {name}"), edits)
    }

    fn toml_names(&self, part: Part) -> Result<Vec<String>, StoreError> {
        let mut names = Vec::new();
        self.folder.list(part, |name, _| {
            names.extend(
                name.strip_suffix(".toml")
                    .filter(|name| check_existing(name).is_ok())
                    .map(str::to_owned),
            );
        })?;
        names.sort();
        Ok(names)
    }

    fn check_free(&self, part: Part, what: &'static str, name: &str) -> Result<(), StoreError> {
        check_new(name)?;
        // Some file systems don't tell `Plan` from `plan`, and readers don't tell `ａ` from `a`.
        let like = folded(name);
        match self.toml_names(part)?.into_iter().find(|other| folded(other) == like) {
            Some(name) => Err(StoreError::Exists { what, name }),
            None => Ok(()),
        }
    }

    fn read_text(&self, part: Part, name: &str, key: &str) -> Result<String, StoreError> {
        let file = toml_file(part, name);
        let Some((bytes, _)) = self.folder.read(&file)? else { return Ok(String::new()) };
        let table = read_table(&file, &bytes)?;
        Ok(table.get(key).and_then(toml::Value::as_str).unwrap_or_default().to_owned())
    }

    /// Returns the change that sets one text of a file; what else it has stays.
    fn text_edit(
        &self,
        part: Part,
        name: &str,
        key: &str,
        text: &str,
    ) -> Result<FileEdit, StoreError> {
        let text = match text.trim() {
            "" => String::new(),
            text => one_line(key, text, DESCRIPTION_CHARS_MAX)?,
        };
        let file = toml_file(part, name);
        let before = self.folder.read(&file)?.map(|(bytes, _)| bytes);
        let mut table = match &before {
            Some(bytes) => read_table(&file, bytes)?,
            None => toml::Table::new(),
        };
        table.insert(key.to_owned(), text.into());
        Ok(FileEdit { file, before, after: Some(table.to_string().into_bytes()) })
    }
}

fn toml_file(part: Part, name: &str) -> FileName {
    FileName::new(part, format!("{name}.toml"))
}

fn read_table(file: &FileName, bytes: &[u8]) -> Result<toml::Table, StoreError> {
    let broken = |problem: String| StoreError::Broken { file: file.clone(), problem };
    let text = std::str::from_utf8(bytes).map_err(|_| broken("it isn't UTF-8".to_owned()))?;
    text.parse().map_err(|error: toml::de::Error| {
        broken(error.message().lines().next().unwrap_or("it isn't TOML").to_owned())
    })
}
