//! `memotree.toml`: how a tree is shown.
//!
//! ```toml
//! tokens = "short"            # or "long": the seed's form, with title and id in brackets
//! budget = 2000               # tokens of the whole context
//!
//! [[sources]]                 # what else is shown, and how much of the budget that gets
//! id = "monitor/main"
//! priority = 0
//! weight = 1
//! lod = "summary"             # gist, summary or full
//! ```

use pipemux_proto::projection::Lod;
use serde::{Deserialize, Serialize};

use crate::store::Store;

/// How a tree is shown. What isn't set is as usual.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Config {
    /// How a node's title line ends.
    pub tokens: TokenForm,
    /// Tokens of the whole context.
    pub budget: Option<u64>,
    /// What else is shown.
    pub sources: Vec<SourceConfig>,
}

/// How the title line of an expanded node ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TokenForm {
    /// `… [<Title>] [<NodeId>] [[MT:Node:<NodeId>]]`, as the seed writes it.
    #[default]
    Long,
    /// `… <Title> [[MT:Node:<NodeId>]]`.
    Short,
}

/// A source of a context.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceConfig {
    /// A session, or a built-in source.
    pub id: String,
    /// A higher one comes earlier.
    #[serde(default)]
    pub priority: i32,
    /// Its part of the budget.
    #[serde(default = "one")]
    pub weight: u32,
    /// Its level of detail.
    #[serde(default)]
    pub lod: Lod,
}

fn one() -> u32 {
    1
}

impl Store {
    /// Reads how the tree is shown. A file that isn't readable counts as none; the second value says why.
    pub fn config(&self) -> (Config, Option<String>) {
        match self.folder.read_config() {
            Err(error) => (Config::default(), Some(error.to_string())),
            Ok(text) => match toml::from_str(&text) {
                Ok(config) => (config, None),
                Err(error) => {
                    let why = error.message().lines().next().unwrap_or("it isn't TOML");
                    (Config::default(), Some(format!("memotree.toml: {why}")))
                }
            },
        }
    }
}
