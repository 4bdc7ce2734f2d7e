//! The properties that an app declared in its greeting.

use pipemux_proto::Hello;
use pipemux_proto::hello::{PER_READER, UNREPORTED_CHANGES, VALUE_FILES};

/// The properties of a session's app, known since its first greeting; without actions.
#[derive(Debug, Clone, Default)]
pub struct AppProfile {
    /// The prefix of the app's own tokens (`MT`), if it has any.
    pub token_prefix: Option<String>,
    /// The minor version of the protocol that its last process spoke; 0 before the first greeting.
    pub minor: u16,
    /// True if its state may change without an event.
    pub changes_unreported: bool,
    /// True if it shows each reader something else.
    pub per_reader: bool,
    /// True if it takes long values as files.
    pub takes_value_files: bool,
}

impl AppProfile {
    pub fn of(hello: &Hello) -> Self {
        let has = |wanted| hello.features.iter().any(|feature| feature == wanted);
        Self {
            token_prefix: hello.token_prefix.clone(),
            minor: hello.protocol.minor,
            changes_unreported: has(UNREPORTED_CHANGES),
            per_reader: has(PER_READER),
            takes_value_files: has(VALUE_FILES),
        }
    }
}
