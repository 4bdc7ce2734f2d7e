//! The stories: one module a theme, one world a story.

mod smoke;
