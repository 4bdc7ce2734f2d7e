//! The core in dialogue with clients and apps: what an agent does, and what it is told.

#[path = "../world/mod.rs"]
mod world;

mod ahead;
mod budgets;
mod clients;
mod contexts;
mod elsewhere;
mod exchange;
mod health;
mod kept;
mod lives;
mod names;
mod opening;
mod options;
mod questions;
mod refs;
mod reopened;
mod sharing;
mod sleep;
mod speech;
mod watching;

use world::open as world_open;
