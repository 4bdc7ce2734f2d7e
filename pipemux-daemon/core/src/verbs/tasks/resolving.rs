//! A text whose refs and tokens are being looked up.

use std::collections::BTreeMap;

use crate::keys::SessionKey;
use crate::views::resolved::ResolvedRef;

/// A text whose refs and tokens are being looked up.
#[derive(Debug)]
pub(crate) struct Resolving {
    /// Its refs and tokens, each once, in order.
    pub refs: Vec<ResolvedRef>,
    /// How many more it has.
    pub more: usize,
    /// True when the one call that it names is carried out.
    pub run: bool,
    /// The apps that were asked, and the places in `refs` of what each was asked about.
    pub asked: BTreeMap<SessionKey, Vec<usize>>,
}
