//! What a window's Context says besides its text: the numbers of its links, and its actions.

use pipemux_client::proto::context::Context;

/// Most lines of a window that stand above its actions: its heading, and its links.
const LINES_ABOVE_ACTIONS: usize = 3;

/// The action that receives typed text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    /// The beginning of the action's call: `planner.reply`.
    pub call: String,
    /// The action's first parameter.
    pub param: String,
}

/// Returns the number of a link: 12 of `link:12`.
pub fn link_number(anchor: &str) -> Option<u64> {
    anchor.strip_prefix("link:")?.parse().ok()
}

/// Returns the action that takes what is typed, if the window offers it.
pub fn input(window: &Context) -> Option<Input> {
    let (call, action) = window.anchors.iter().find(|(_, action)| action.input)?;
    Some(Input { call: call.clone(), param: action.params.first()?.clone() })
}

/// Takes the declarations of the actions out of a window: the help has them, and a person needs the
/// room. They are the first fence, and name an action of the window; a fence of the app's own
/// needn't be taken for them.
pub fn without_actions(window: &Context) -> (String, Option<String>) {
    let whole = || (window.content.clone(), None);
    let Some((before, rest)) = window.content.split_once("```ts\n") else { return whole() };
    let Some((fence, after)) = rest.split_once("\n```\n") else { return whole() };
    let names = window.anchors.keys().filter_map(|anchor| anchor.rsplit_once('.'));
    let declares = |name: &str| fence.contains(&format!("{name}("));
    let more = format!(" more: pipemux help {}", window.header.app_id);
    let is_first = before.lines().count() <= LINES_ABOVE_ACTIONS && !before.contains("```");
    match is_first && (fence.ends_with(&more) || names.into_iter().any(|(_, name)| declares(name)))
    {
        true => (format!("{before}{after}"), Some(fence.to_owned())),
        false => whole(),
    }
}
