//! What rendering a window needs of its session and of the other windows.

use pipemux_proto::prototype::Prototype;

use crate::keys::SessionKey;
use crate::processes::session::Session;
use crate::views::inert::RefTokens;
use crate::views::link_title::SharedWords;
use crate::views::minter::RenderInput;
use crate::workspaces::{Embed, Workspace};

/// Returns the parts of a session that rendering needs.
pub(super) fn render_input<'a>(
    session: Option<&'a Session>,
    epoch: u64,
    show_calls: bool,
    shared: &'a SharedWords,
    embeds: &'a [Embed],
) -> RenderInput<'a> {
    let token_prefix = session.and_then(|session| session.profile.token_prefix.as_deref());
    RenderInput {
        prototypes: session.map_or(&[], |session| &session.prototypes),
        tokens: RefTokens::of_app(token_prefix),
        epoch,
        show_calls,
        shared,
        embeds,
    }
}

/// Returns the words of a session that other windows of the workspace use, too.
pub(super) fn shared_words(
    workspace: &Workspace,
    session: Option<&Session>,
    key: &SessionKey,
) -> SharedWords {
    let prototypes = session.into_iter().flat_map(|session| session.prototypes.iter());
    let is_shared = |action: &&Prototype| workspace.windows.share_action(&action.name);
    let actions = prototypes.filter(is_shared).map(|action| action.name.clone()).collect();
    let held = workspace.windows.iter().filter_map(|w| Some((w, w.projection.as_ref()?)));
    // Most apps bind no names, and looking for them among many windows should cost little.
    let naming = held.filter(|(_, held)| !held.projection.names.is_empty());
    let others = naming.filter(|(window, _)| window.session != *key);
    let names = others.flat_map(|(_, held)| held.projection.names.keys().cloned()).collect();
    SharedWords { actions, names, all: false }
}
