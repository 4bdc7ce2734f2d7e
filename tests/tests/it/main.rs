//! The stories: one module a theme, one world a story.

mod clients;
mod economy;
mod editor;
mod errors;
mod json;
mod lifecycle;
mod monitor;
mod notebook;
mod rogue;
mod soft_landing;
mod stopped;
mod wizard;
