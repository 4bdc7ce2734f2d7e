//! `memotree.toml`: how a tree is shown.
//!
//! ```toml
//! tokens = "long"             # or "short", which is usual: without title and id in brackets
//! budget = 2000               # tokens of the whole context
//! codebase = false            # without the symbols of the project
//! quotas.tree = 800           # tokens of one part: views, environment, tree, codebase, or a session in quotes
//!
//! [[sources]]                 # what else is shown, and how much of the budget that gets
//! id = "monitor/main"
//! priority = 0
//! weight = 1                  # as much as the codebase; the tree has 3
//! lod = "summary"             # gist, summary or full
//! ```
//!
//! A setting that is changed changes its own lines; comments, and what nobody knows, stay.

use std::collections::BTreeMap;

use pipemux_proto::call::nearest;
use pipemux_proto::projection::Lod;
use serde::{Deserialize, Serialize};

use crate::error::StoreError;
use crate::file_edit::{FileEdit, FileName, Part};
use crate::store::{Committed, Store};

/// The name of the configuration file.
pub const CONFIG_FILE: &str = "memotree.toml";

/// Sources that a tree shows besides its own: a window embeds no more.
pub const SOURCES_MAX: usize = 16;

/// The highest weight of a source.
pub const WEIGHT_MAX: u32 = 100;

/// The highest priority of a source; the lowest is its negative.
pub const PRIORITY_MAX: i32 = 1_000;

/// The smallest budget, in tokens, that shows anything.
pub const BUDGET_MIN: u64 = 100;

/// The smallest quota of a part, in tokens.
pub const QUOTA_MIN: u64 = 32;

/// The largest quota of a part, in tokens.
pub const QUOTA_MAX: u64 = 1_000_000;

/// The parts that each tree shows.
pub const PARTS: [&str; 4] = ["views", "environment", "tree", "codebase"];

/// The display settings of a tree. Unset fields have their default.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Config {
    /// The form of the end of a node's title line.
    pub tokens: TokenForm,
    /// Tokens of the whole context.
    pub budget: Option<u64>,
    /// Whether to show the symbols of the project; `None` means yes.
    pub codebase: Option<bool>,
    /// Tokens of single parts and sources, by their ids.
    pub quotas: BTreeMap<String, u64>,
    /// The further sources to show.
    pub sources: Vec<SourceConfig>,
}

/// The form of the end of an expanded node's title line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TokenForm {
    /// `… [<Title>] [<NodeId>] [[MT:Node:<NodeId>]]`, as the seed writes it.
    Long,
    /// `… <Title> [[MT:Node:<NodeId>]]`: the id stands once, and nothing that an agent can act with
    /// is missing.
    #[default]
    Short,
}

impl TokenForm {
    /// Returns the form as it is written.
    pub fn name(self) -> &'static str {
        match self {
            Self::Long => "long",
            Self::Short => "short",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceConfig {
    /// The address of the session: `monitor/main`.
    pub id: String,
    /// The priority; sources with a higher one come earlier.
    #[serde(default)]
    pub priority: i32,
    /// The weight that determines the source's share of the budget.
    #[serde(default = "one")]
    pub weight: u32,
    #[serde(default)]
    pub lod: Lod,
}

fn one() -> u32 {
    1
}

/// An update of the configuration; `None` leaves a setting unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Settings {
    /// The form of the end of a node's title line.
    pub tokens: Option<TokenForm>,
    /// Tokens of the whole context; 0 for what is usual.
    pub budget: Option<u64>,
    /// Whether to show the symbols of the project.
    pub codebase: Option<bool>,
}

/// Reads how the tree is shown. A file that isn't readable counts as none; the second value says
/// why.
pub fn read(store: &Store) -> (Config, Option<String>) {
    match store.files.folder.read_config() {
        Err(error) => (Config::default(), Some(error.to_string())),
        Ok(text) => match parse(&text) {
            Ok(config) => (config, None),
            Err(why) => (Config::default(), Some(format!("{CONFIG_FILE}: {why}"))),
        },
    }
}

/// Sets how the tree is shown.
///
/// # Errors
/// A value isn't allowed, or the file is broken or can't be written.
pub fn set(store: &mut Store, settings: &Settings) -> Result<Committed, StoreError> {
    if let Some(budget) = settings.budget.filter(|budget| (1..BUDGET_MIN).contains(budget)) {
        let message = format!("budget: expected {BUDGET_MIN} tokens or more, got {budget}");
        return Err(StoreError::Value(message));
    }
    edit(store, "configure", |text| {
        let mut text = text;
        if let Some(form) = settings.tokens {
            text = with_key(&text, "tokens", Some(&format!("\"{}\"", form.name())));
        }
        if let Some(budget) = settings.budget {
            let value = (budget > 0).then(|| budget.to_string());
            text = with_key(&text, "budget", value.as_deref());
        }
        if let Some(shown) = settings.codebase {
            text = with_key(&text, "codebase", (!shown).then_some("false"));
        }
        Ok(text)
    })
}

/// Sets how many tokens a part or an added source gets: at most these, and these before parts
/// without a quota. 0 removes it.
///
/// # Errors
/// There is no such source, the number isn't allowed, or the file is broken or can't be written.
pub fn set_quota(store: &mut Store, source: &str, tokens: u64) -> Result<Committed, StoreError> {
    let (config, _) = read(store);
    let added = config.sources.iter().map(|source| source.id.as_str());
    if !PARTS.into_iter().chain(added.clone()).any(|id| id == source) {
        let near = nearest(source, PARTS.into_iter().chain(added)).map(str::to_owned);
        let near = near.into_iter().collect();
        return Err(StoreError::NoSuch { what: "source", name: source.to_owned(), near });
    }
    if tokens > 0 && !(QUOTA_MIN..=QUOTA_MAX).contains(&tokens) {
        let message =
            format!("tokens: expected {QUOTA_MIN} to {QUOTA_MAX}, or 0 for none, got {tokens}");
        return Err(StoreError::Value(message));
    }
    let value = (tokens > 0).then(|| tokens.to_string());
    edit(store, &format!("quota of {source}"), |text| {
        Ok(with_key(&text, &quota_key(source), value.as_deref()))
    })
}

/// Adds a source, or changes the one of this id.
///
/// # Errors
/// There are too many, a value isn't allowed, or the file is broken or can't be written.
pub fn add_source(store: &mut Store, source: &SourceConfig) -> Result<Committed, StoreError> {
    let is_address = |id: &str| {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        id.split_once('/').is_some_and(|(provider, session)| {
            [provider, session].iter().all(|part| !part.is_empty() && part.chars().all(plain))
        })
    };
    if !is_address(&source.id) || source.id.len() > 128 {
        let message =
            format!("session: expected an address like \"monitor/main\", got {:?}", source.id);
        return Err(StoreError::Value(message));
    }
    if !(1..=WEIGHT_MAX).contains(&source.weight) {
        let message = format!("weight: expected 1 to {WEIGHT_MAX}, got {}", source.weight);
        return Err(StoreError::Value(message));
    }
    if source.priority.abs() > PRIORITY_MAX {
        let message = format!(
            "priority: expected -{PRIORITY_MAX} to {PRIORITY_MAX}, got {}",
            source.priority
        );
        return Err(StoreError::Value(message));
    }
    edit(store, &format!("add source {}", source.id), |text| {
        let text = without_source(&text, &source.id);
        if parse(&text).is_ok_and(|config| config.sources.len() >= SOURCES_MAX) {
            return Err(StoreError::Value(format!("a tree shows at most {SOURCES_MAX} sources")));
        }
        let gap = if text.is_empty() || text.ends_with("\n\n") { "" } else { "\n" };
        let SourceConfig { id, priority, weight, lod } = source;
        let lod = lod_name(*lod);
        Ok(format!(
            "{text}{gap}[[sources]]\nid = \"{id}\"\npriority = {priority}\nweight = {weight}\nlod = \"{lod}\"\n"
        ))
    })
}

/// Removes a source.
///
/// # Errors
/// There is none of this id, or the file is broken or can't be written.
pub fn remove_source(store: &mut Store, id: &str) -> Result<Committed, StoreError> {
    let (config, _) = read(store);
    if !config.sources.iter().any(|source| source.id == id) {
        let near = nearest(id, config.sources.iter().map(|source| source.id.as_str()));
        let near = near.map(str::to_owned).into_iter().collect();
        return Err(StoreError::NoSuch { what: "source", name: id.to_owned(), near });
    }
    edit(store, &format!("remove source {id}"), |text| {
        Ok(with_key(&without_source(&text, id), &quota_key(id), None))
    })
}

fn edit(
    store: &mut Store,
    label: &str,
    change: impl FnOnce(String) -> Result<String, StoreError>,
) -> Result<Committed, StoreError> {
    let file = FileName::new(Part::Root, CONFIG_FILE);
    let before = store.files.folder.read(&file)?.map(|(bytes, _)| bytes);
    let broken = |problem: String| StoreError::Broken { file: file.clone(), problem };
    let text = String::from_utf8(before.clone().unwrap_or_default())
        .map_err(|_| broken("it isn't UTF-8".to_owned()))?;
    parse(&text).map_err(broken)?;
    let text = match text.is_empty() || text.ends_with('\n') {
        true => text,
        false => text + "\n",
    };
    let after = change(text)?;
    // What a line can't tell, such as a setting within another form of table, is left to people.
    parse(&after).map_err(|why| broken(format!("with this setting: {why}")))?;
    let after = (!after.is_empty() || before.is_some()).then(|| after.into_bytes());
    store.commit(label, vec![FileEdit { file, before, after }])
}
/// Returns a level of detail as it is written.
pub fn lod_name(lod: Lod) -> &'static str {
    match lod {
        Lod::Gist => "gist",
        Lod::Summary => "summary",
        Lod::Full => "full",
    }
}

/// Returns the key of a quota; an address has a slash, so that it is quoted.
fn quota_key(source: &str) -> String {
    match source.contains('/') {
        true => format!("quotas.\"{source}\""),
        false => format!("quotas.{source}"),
    }
}

fn parse(text: &str) -> Result<Config, String> {
    toml::from_str(text)
        .map_err(|error| error.message().lines().next().unwrap_or("it isn't TOML").to_owned())
}

/// Sets a value before the first table; none removes it.
fn with_key(text: &str, key: &str, value: Option<&str>) -> String {
    let mut out = String::new();
    let mut written = false;
    let mut in_table = false;
    let put = |out: &mut String, written: &mut bool| {
        if let Some(value) = value.filter(|_| !*written) {
            *out += &format!("{key} = {value}\n");
        }
        *written = true;
    };
    for line in text.split_inclusive('\n') {
        let bare = line.trim_start();
        if bare.starts_with('[') && !in_table {
            in_table = true;
            put(&mut out, &mut written);
        }
        let rest = bare.strip_prefix(key).map(str::trim_start);
        if !in_table && rest.is_some_and(|rest| rest.starts_with('=')) {
            put(&mut out, &mut written);
            continue;
        }
        out += line;
    }
    put(&mut out, &mut written);
    out
}

/// Leaves out the table of a source, from its head to the next table.
fn without_source(text: &str, id: &str) -> String {
    let mut blocks: Vec<String> = vec![String::new()];
    for line in text.split_inclusive('\n') {
        if line.trim_start().starts_with('[') {
            blocks.push(String::new());
        }
        if let Some(block) = blocks.last_mut() {
            *block += line;
        }
    }
    let is_it = |block: &String| {
        parse(block).is_ok_and(|config| config.sources.iter().any(|source| source.id == id))
    };
    blocks.retain(|block| !is_it(block));
    blocks.concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn setting_changes_its_own_line_and_nothing_else() {
        let text = "# how it looks\ntokens = \"long\" # for people\nother = 1\n\n[[sources]]\nid = \"a/b\"\nbudget = 3\n";
        assert_eq!(
            with_key(text, "tokens", Some("\"short\"")),
            text.replace("tokens = \"long\" # for people", "tokens = \"short\"")
        );
        assert_eq!(
            with_key(text, "budget", Some("9")).matches("budget = 9\n[[sources]]").count(),
            1
        );
        assert_eq!(with_key(text, "budget", None), text);
        assert_eq!(with_key("", "budget", Some("9")), "budget = 9\n");
    }

    #[test]
    fn source_is_left_out_with_its_table() {
        let text = "budget = 9\n\n[[sources]]\nid = \"a/b\"\n\n[[sources]]\n# mine\nid = \"c/d\"\n";
        assert_eq!(
            without_source(text, "a/b"),
            "budget = 9\n\n[[sources]]\n# mine\nid = \"c/d\"\n"
        );
        assert_eq!(without_source(text, "x/y"), text);
    }
}
