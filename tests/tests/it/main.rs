//! The stories: one module a theme, one world a story.

mod attack;
mod by_reference;
mod clients;
mod confusions;
mod context;
mod economy;
mod editor;
mod errors;
mod history;
mod injection;
mod json;
mod lifecycle;
mod listen;
mod monitor;
mod notebook;
mod one_shot;
mod options;
mod peers;
mod questions;
mod readers;
mod rogue;
mod seed_scenarios;
mod soft_landing;
mod stopped;
mod undo;
mod wizard;
