//! Sources, their merge, and what a reader sees of it.

mod laws;
mod transcript;
mod trees;
