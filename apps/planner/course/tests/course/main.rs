//! The decisions of a course, one by one and as laws over random courses.

mod decisions;
mod meeting;
mod signing;
mod simulation;
mod support;
mod words;
