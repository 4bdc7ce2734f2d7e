//! The registered apps: those that come with the daemon, and the user's.
//!
//! | module | contents |
//! |---|---|
//! | `manifests::built_in` | the manifests of the apps that come with the daemon |
//! | `manifests::dirs` | the directories of manifests |
//! | `manifests::load` | loads all of them |
//! | `manifests::parse` | parses one, and says where a mistake is |
//! | `manifests::edit` | adds and removes the user's manifests |
//! | `manifests::text` | reads a file without waiting |

mod built_in;
mod dirs;
mod edit;
mod load;
mod parse;
mod text;

pub use dirs::ManifestDirs;
pub use edit::{Applied, is_program};
pub use load::LoadedManifests;
pub use parse::read;
pub use text::read as read_text;

#[cfg(test)]
mod tests;
