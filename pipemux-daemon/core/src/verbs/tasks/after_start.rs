//! The step that follows once sessions were started.

use pipemux_proto::refs::Ref;

use crate::pipeline::parsed_script::ParsedScript;

/// The step that follows once sessions were started.
#[derive(Debug)]
pub(crate) enum AfterStart {
    /// Plan a script and run it.
    Script(Box<ParsedScript>),
    /// Undo a round of history; the newest one if none is named.
    Undo(Option<u64>),
    /// Look up the refs and tokens of a text.
    Resolve(RefLookup),
}

/// The refs and tokens of a text that are to be looked up.
#[derive(Debug)]
pub(crate) struct RefLookup {
    /// The refs, each once, in the order of the text.
    pub refs: Vec<Ref>,
    /// The number of further refs in the text, beyond the limit.
    pub more: usize,
    /// True when the one call that the text names is to be carried out.
    pub run: bool,
}

impl RefLookup {
    pub fn click(token: Ref) -> Self {
        Self { refs: vec![token], more: 0, run: true }
    }
}
