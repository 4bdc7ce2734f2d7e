//! The way of a script to its run: it is parsed once, then the apps that it needs are opened and
//! started, its calls are planned, and the folders that they name are granted.
//!
//! | module | purpose |
//! |---|---|
//! | [`parsed_script`] | a script with its origin, parsed once and kept while its request waits |
//! | [`closed_apps`] | finds the built-in app that a script or a view needs and that has no window |
//! | [`grants`] | grants folders to sessions whose sandbox doesn't reach them |
//!
//! **Invariant: a script is parsed once.** What is parsed belongs to the request's task until the
//! run begins; no stage goes back to the text.

pub(crate) mod closed_apps;
pub(crate) mod grants;
pub(crate) mod parsed_script;
