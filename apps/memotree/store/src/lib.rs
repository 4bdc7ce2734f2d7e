//! The store of the memory tree: a project's knowledge as a tree of files, which people read,
//! compare and merge with git.
//!
//! ```text
//! .memotree/
//!   nodes/<NodeId>.md    front matter (title, parent, order, …), then the content: the truth
//!   trash/<NodeId>.md    nodes that were removed; their ids are never used again
//!   views/<Name>.toml    name and description of a view
//!   queries/<Name>.toml  a saved search
//!   memotree.toml        how the tree is shown
//! <state directory>/
//!   index.db             what is needed of all nodes without reading their files; made again when it is missing
//!   state.db             what a session's views have expanded, and what undo needs
//! ```
//!
//! | module | purpose |
//! |---|---|
//! | [`name`], [`token`], [`order`] | ids and names; Action Tokens; where a node stands among its siblings |
//! | [`node_file`] | the grammar of a node's file |
//! | [`file_edit`] | files by their names, and changes of them |
//! | [`folder`], [`stamp`] | reads and writes the files, never over what another program wrote |
//! | [`index`] | the index and its full-text search, by the words of `pipemux-notes` |
//! | [`state`] | a session's own state; the records of undo |
//! | [`node_files`] | the files with the index that follows them: noticing changes |
//! | [`store`] | files and state together: making changes as one, undo and redo |
//! | [`actions`], [`views`], [`transfer`] | what one can do |
//! | [`config`], [`render`] | how a tree is shown, as sections for the merge |
//! | [`error`] | why something can't be done |
//!
//! **Invariant: the files are the truth.** The index and the state can be removed at any time; what
//! is lost is what was expanded and what could be undone.
//!
//! **Invariant: what another program wrote is never overwritten.** A file is replaced only while it
//! has the content that the change was made for.
//!
//! **Invariant: what is wrong with one file costs that node only**, and its title line says what is
//! wrong.
//!
//! **Invariant: a change is made wholly or not at all**, also when the process is killed while it
//! is made.
//!
//! **Invariant: costs depend on what is shown or changed**, not on the number of nodes; the
//! exceptions are making the index, noticing that files came or went, and `remove` and `export` of
//! large parts.
#![forbid(unsafe_code)]

pub mod actions;
pub mod config;
pub mod error;
pub mod file_edit;
pub mod folder;
pub mod index;
pub mod name;
pub mod node_file;
pub mod node_files;
pub mod order;
pub mod render;
pub mod stamp;
pub mod state;
pub mod store;
pub mod token;
pub mod transfer;
pub mod views;

pub use error::StoreError;
pub use name::{NameError, NodeId};
pub use node_files::OutsideChanges;
pub use state::Level;
pub use store::{Committed, Interrupted, Opened, Store};
pub use token::{Token, TokenKind};
