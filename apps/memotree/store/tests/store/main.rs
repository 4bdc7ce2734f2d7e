//! The store on real files.

mod common;

mod actions;
mod git;
mod growth;
mod hostile;
mod outside;
mod rendering;
mod take_back;
mod tree_law;
