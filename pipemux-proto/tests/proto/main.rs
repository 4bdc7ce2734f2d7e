//! The wire: what is read and written, the page and the schema that describe it, and messages that
//! stay readable for ever.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod call_block_laws;
mod call_blocks;
mod call_errors;
mod call_laws;
mod call_syntax;
mod context;
mod golden;
mod page;
mod protocol_page;
mod python_app;
mod refs;
mod samples;
mod schema;
mod wire_laws;
