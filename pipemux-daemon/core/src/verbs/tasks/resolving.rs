//! A text whose refs and tokens are being looked up.

use std::collections::BTreeMap;

use crate::keys::SessionKey;
use crate::views::resolved::ResolvedRef;

/// A text whose refs and tokens are being looked up.
#[derive(Debug)]
pub(crate) struct Resolving {
    /// The refs and tokens of the text, each once, in order.
    pub refs: Vec<ResolvedRef>,
    /// The number of further refs and tokens in the text.
    pub more: usize,
    /// True when the one call that it names is carried out.
    pub run: bool,
    /// The apps that were asked, with the indices in `refs` of the refs in question.
    pub asked: BTreeMap<SessionKey, Vec<usize>>,
}
