//! The Context of a window, from what was written of it (PROTOCOL.md).

use std::collections::BTreeMap;

use pipemux_proto::context::{
    AnchorInfo, AnchorType, Context, ContextHeader, ContextVersion, ViewState,
};
use pipemux_proto::projection::{Arg, Lod, Projection};
use pipemux_proto::refs::RefKind;

use crate::event::Now;
use crate::views::answer_buffer::window_markdown;
use crate::views::timestamp;
use crate::workspaces::anchors::{Anchor, AnchorTable, Target};
use crate::workspaces::{ContextVersionCounter, Rendered, Window};

/// Returns the Context of a window.
pub fn context(
    window: &Window,
    rendered: &Rendered,
    projection: &Projection,
    lod: Lod,
    table: &AnchorTable,
) -> Context {
    let mut anchors = BTreeMap::new();
    for id in rendered.ids.iter() {
        let object = table.get(RefKind::Obj, *id);
        if let Some(anchor) = object.or_else(|| table.get(RefKind::Link, *id)) {
            anchors.insert(anchor.written(*id).to_string(), anchor_info(table, anchor));
        }
    }
    // An id that the window doesn't show would be no ref to its reader: the key takes its place then.
    let focus_id = projection.focus.as_ref().map(|key| {
        let id = table.id_of(&window.session, key);
        let shown = id.filter(|id| rendered.ids.contains(id));
        shown.map_or(key.clone(), |id| table.written(RefKind::Obj, id).to_string())
    });
    let custom = projection.custom.clone();
    Context {
        header: header(window, window.context.at),
        state: ViewState {
            current_lod: lod.into(),
            focus_id,
            custom: (!custom.is_empty()).then_some(custom),
        },
        content: window_markdown(rendered),
        anchors,
        history: None,
    }
}

/// Returns the Context of a window that can't be shown, with a diagnosis as its content.
pub fn error_context(window: &Window, diagnosis: String, lod: Lod, now: Now) -> Context {
    Context {
        header: header(window, now),
        state: ViewState { current_lod: lod.into(), focus_id: None, custom: None },
        content: diagnosis,
        anchors: BTreeMap::new(),
        history: None,
    }
}

fn header(window: &Window, at: Now) -> ContextHeader {
    let addr = &window.session.addr;
    let ContextVersionCounter { major, minor, patch, .. } = window.context;
    ContextHeader {
        app_id: addr.provider.to_string(),
        session_id: addr.session.to_string(),
        version: ContextVersion { major, minor, patch },
        timestamp: timestamp(at),
    }
}

fn anchor_info(table: &AnchorTable, anchor: &Anchor) -> AnchorInfo {
    match &anchor.target {
        Target::Object { .. } => {
            AnchorInfo { ty: AnchorType::Reference, params: Vec::new(), target: None }
        }
        Target::Action(bound) => {
            let target = bound.args.values().find_map(|arg| match arg {
                Arg::Ref(object) => Some(match table.id_of(&anchor.session, &object.key) {
                    Some(id) => table.written(RefKind::Obj, id).to_string(),
                    None => object.key.clone(),
                }),
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
