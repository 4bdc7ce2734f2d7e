//! Confines commands, and all that they start, to the files that they may write. What they read and
//! run isn't confined.
//!
//! | module | purpose |
//! |---|---|
//! | [`policy`] | what a person decided: the `[terminal]` table of `config.toml` |
//! | [`mode`] | whether commands are confined here, and if not, why |
//! | [`writable`] | which places are granted and which are protected, from `writable.toml` |
//! | [`real_path`] | where a path leads, and the links on the way |
//! | [`grants`] | the places that a workspace's commands may write to, with nothing protected inside |
//! | [`domain`] | what commands are held to, and Landlock's domain that holds them |
//! | [`launch`] | a program that confines itself and becomes the command |
//!
//! **Invariant: nothing protected lies inside of what is granted.** Landlock's rules only allow. So
//! a place that contains something protected is granted child by child, and what is protected is
//! left out.
#![forbid(unsafe_code)]

pub mod domain;
pub mod grants;
pub mod launch;
pub mod mode;
pub mod policy;
pub mod real_path;
pub mod writable;

pub use domain::Domain;
pub use grants::{Grants, Surroundings};
pub use launch::Launch;
pub use mode::{Mode, WhyOff};
pub use policy::{Confine, Policy};
