//! The stories: one module a theme, one world a story.

mod by_reference;
mod clients;
mod economy;
mod editor;
mod errors;
mod injection;
mod json;
mod lifecycle;
mod monitor;
mod notebook;
mod rogue;
mod seed_scenarios;
mod soft_landing;
mod stopped;
mod wizard;
