//! The Context of a window (Proposal-0001) from what was written of it.

use std::collections::BTreeMap;

use pipemux_proto::context::{AnchorInfo, AnchorType, Context, ContextVersion, Header, State};
use pipemux_proto::ids::Incarnation;
use pipemux_proto::projection::{Arg, Lod, Projection};

use crate::event::Now;
use crate::views::timestamp;
use crate::views::window_renderer::Rendered;
use crate::workspaces::anchors::{Anchor, Target};
use crate::workspaces::{ContextVersionCounter, Window, Workspace};

impl ContextVersionCounter {
    /// Counts a rendering: `major` rises with the data, `minor` with the level of detail, `patch` when
    /// the same data at the same level is written differently. The time changes with them only.
    pub fn count(&mut self, of: (Incarnation, u64, Lod), differs: bool, now: Now) {
        let before = (self.major, self.minor, self.patch);
        match self.of {
            Some((life, data, _)) if (life, data) != (of.0, of.1) => {
                (self.major, self.minor, self.patch) = (self.major + 1, 0, 0);
            }
            Some((_, _, level)) if level != of.2 => {
                (self.minor, self.patch) = (self.minor + 1, 0);
            }
            Some(_) => self.patch += u64::from(differs),
            None => self.major += 1,
        }
        if before != (self.major, self.minor, self.patch) {
            self.at = now;
        }
        self.of = Some(of);
    }
}

/// The Context of one window.
pub fn context(
    workspace: &Workspace,
    window: &Window,
    rendered: &Rendered,
    projection: &Projection,
    lod: Lod,
) -> Context {
    let addr = &window.session.addr;
    let ContextVersionCounter { major, minor, patch, .. } = window.context;
    let mut anchors = BTreeMap::new();
    for id in rendered.ids.iter() {
        use pipemux_proto::refs::RefKind::{Link, Obj};
        if let Some(anchor) = workspace.anchors.get(Obj, *id) {
            anchors.insert(format!("obj:{id}"), info(workspace, anchor));
        } else if let Some(anchor) = workspace.anchors.get(Link, *id) {
            anchors.insert(format!("link:{id}"), info(workspace, anchor));
        }
    }
    // A number that nothing shows would be no ref to anybody: the key stands for it then.
    let shown = |key: &String| {
        let id = workspace.anchors.id_of(&window.session, key);
        id.filter(|id| rendered.ids.contains(id))
    };
    let focus = projection.focus.as_ref();
    let focus = focus.map(|key| shown(key).map_or(key.clone(), |id| format!("obj:{id}")));
    let custom = projection.custom.clone();
    Context {
        header: Header {
            app_id: addr.provider.to_string(),
            session_id: addr.session.to_string(),
            version: ContextVersion { major, minor, patch },
            timestamp: timestamp(window.context.at),
        },
        state: State {
            current_lod: lod.into(),
            focus_id: focus,
            custom: (!custom.is_empty()).then_some(custom),
        },
        content: rendered.body(),
        anchors,
        history: None,
    }
}

/// The Context of a window that there is none of: the diagnosis stands in its place.
pub fn error_context(window: &Window, diagnosis: String, lod: Lod, now: Now) -> Context {
    let addr = &window.session.addr;
    let ContextVersionCounter { major, minor, patch, .. } = window.context;
    Context {
        header: Header {
            app_id: addr.provider.to_string(),
            session_id: addr.session.to_string(),
            version: ContextVersion { major, minor, patch },
            timestamp: timestamp(now),
        },
        state: State { current_lod: lod.into(), focus_id: None, custom: None },
        content: diagnosis,
        anchors: BTreeMap::new(),
        history: None,
    }
}

fn info(workspace: &Workspace, anchor: &Anchor) -> AnchorInfo {
    match &anchor.target {
        Target::Object { .. } => {
            AnchorInfo { ty: AnchorType::Reference, params: Vec::new(), target: None }
        }
        Target::Action(bound) => {
            let target = bound.args.values().find_map(|arg| match arg {
                Arg::Ref(found) => {
                    Some(match workspace.anchors.id_of(&anchor.session, &found.key) {
                        Some(id) => format!("obj:{id}"),
                        None => found.key.clone(),
                    })
                }
                _ => None,
            });
            let ty = if anchor.open.is_empty() { AnchorType::Button } else { AnchorType::Form };
            AnchorInfo { ty, params: anchor.open.to_vec(), target }
        }
        Target::Answer { .. } => {
            AnchorInfo { ty: AnchorType::Button, params: Vec::new(), target: None }
        }
    }
}
