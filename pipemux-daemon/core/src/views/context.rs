//! The Context of a window, from what was written of it (PROTOCOL.md).

use std::collections::BTreeMap;

use pipemux_proto::Fault;
use pipemux_proto::context::{
    AnchorInfo, AnchorMedia, AnchorType, Context, ContextHeader, ContextVersion, HistoryRound,
    ViewState,
};
use pipemux_proto::projection::{Arg, Lod, Media, RefArg};
use pipemux_proto::prototype::Prototype;
use pipemux_proto::refs::RefKind;

use crate::event::Now;
use crate::foreign::Projection;
use crate::keys::{SessionKey, WorkspaceKey, unique_session_name};
use crate::limits::CONTEXT_ROUNDS;
use crate::views::answer::refusal;
use crate::views::answer_buffer::AnswerBuffer;
use crate::views::link_title::callee;
use crate::views::prototypes::possible;
use crate::views::timestamp;
use crate::workspaces::anchors::{Anchor, AnchorTable, Target};
use crate::workspaces::context_errors::{CONFLICTS_TOLD, anchor_conflict, version_mismatch};
use crate::workspaces::raw_projection::RawProjection;
use crate::workspaces::{Rendered, Window, Workspace};

/// The parts that complete a Context and that the answer of an act omits.
#[derive(Debug, Clone, Copy)]
pub struct Completion<'a> {
    /// Everything that the app can do.
    pub prototypes: &'a [Prototype],
    /// The part of the prototypes that the window shows, as text.
    pub text: &'a str,
}

/// A window as a Context shows it.
#[derive(Debug, Clone, Copy)]
pub struct ContextView<'a> {
    pub workspace: &'a Workspace,
    pub window: &'a Window,
    pub lod: Lod,
    /// History, forms and prototypes, for all answers but those of acts.
    pub completion: Option<Completion<'a>>,
}

impl ContextView<'_> {
    /// Returns the Context of a window that was written from a projection; `suffix` ends its
    /// heading.
    pub fn of_window(
        &self,
        rendered: &Rendered,
        projection: &RawProjection,
        suffix: &str,
        too_large: Option<Fault>,
    ) -> Context {
        let Self { workspace, window, lod, completion } = *self;
        let (session, table) = (&window.session, &workspace.anchors);
        let mut anchors = BTreeMap::new();
        for id in rendered.ids.iter() {
            let object = table.get(RefKind::Obj, *id);
            if let Some(anchor) = object.or_else(|| table.get(RefKind::Link, *id)) {
                anchors.insert(anchor.written(*id).to_string(), anchor_info(table, anchor));
            }
        }
        for (key, media) in projection.media() {
            let id = table.id_of(session, &key).filter(|id| rendered.ids.contains(id));
            let anchor = id.and_then(|id| Some((id, table.get(RefKind::Obj, id)?)));
            let written = anchor.map(|(id, anchor)| anchor.written(id).to_string());
            if let Some(info) = written.and_then(|written| anchors.get_mut(&written)) {
                info.media = Some(anchor_media(media));
            }
        }
        let focus_id = focus(table, session, rendered, projection).and_then(|id| {
            let anchor = table.get(RefKind::Obj, id)?;
            let key = anchor.written(id).to_string();
            anchors.entry(key.clone()).or_insert_with(|| anchor_info(table, anchor));
            Some(key)
        });
        let prototypes = completion.map_or("", |completion| completion.text);
        // A gist shows no actions.
        if let Some(completion) = completion.filter(|_| lod != Lod::Gist) {
            for prototype in possible(completion.prototypes, projection.actions.as_deref()) {
                if !prototype.params.is_empty() {
                    let name = format!("{}.{}", callee(&session.addr), prototype.written_name());
                    anchors.insert(name, form(prototype));
                }
            }
        }
        let custom = projection.custom.clone();
        let conflicts = rendered.conflicts.iter().take(CONFLICTS_TOLD);
        let mut errors: Vec<Fault> = conflicts.map(|key| anchor_conflict(session, key)).collect();
        errors.extend(window.context.mismatch.map(|versions| version_mismatch(session, versions)));
        errors.extend(too_large);
        let mut content = AnswerBuffer::default();
        content.push_window(rendered, suffix, prototypes);
        Context {
            header: self.header(),
            state: ViewState {
                current_lod: lod.into(),
                focus_id,
                custom: (!custom.is_empty()).then_some(custom),
            },
            content: content.into_text(),
            anchors,
            history: self.history(),
            errors,
        }
    }

    /// Returns the Context of a window that can't be shown, with a diagnosis as its content.
    pub fn of_diagnosis(&self, diagnosis: String, error: Option<Fault>) -> Context {
        Context {
            header: self.header(),
            state: ViewState { current_lod: self.lod.into(), focus_id: None, custom: None },
            content: diagnosis,
            anchors: BTreeMap::new(),
            history: self.history(),
            errors: error.into_iter().collect(),
        }
    }

    fn header(&self) -> ContextHeader {
        let addr = &self.window.session.addr;
        let counter = &self.window.context;
        ContextHeader {
            app_id: addr.provider.to_string(),
            session_id: unique_session_name(&self.workspace.key, addr),
            version: counter.version(),
            timestamp: timestamp(counter.at),
        }
    }

    /// Returns the session's newest rounds, oldest first; none when there are none.
    fn history(&self) -> Option<Vec<HistoryRound>> {
        self.completion?;
        let rounds = self.workspace.history.of_session(&self.window.session, CONTEXT_ROUNDS);
        let round = |round: &crate::persist::records::SavedRound| HistoryRound {
            number: Some(round.number),
            action: round.action.clone(),
            result: round.result.clone(),
            timestamp: timestamp(Now { mono_ms: 0, unix_ms: round.unix_ms }),
        };
        (!rounds.is_empty()).then(|| rounds.into_iter().map(round).collect())
    }
}

/// Returns the Context of a session that can't be opened: no version of it was ever shown.
pub fn unopened((at, now): (&WorkspaceKey, Now), session: &SessionKey, error: &Fault) -> Context {
    Context {
        header: ContextHeader {
            app_id: session.addr.provider.to_string(),
            session_id: unique_session_name(at, &session.addr),
            version: ContextVersion::default(),
            timestamp: timestamp(now),
        },
        state: ViewState { current_lod: Lod::default().into(), focus_id: None, custom: None },
        content: refusal(error),
        anchors: BTreeMap::new(),
        history: None,
        errors: vec![error.clone()],
    }
}

/// Returns the id of the object in focus. It may be bound to a name without being shown; anything
/// else would be no ref to the reader.
pub fn focus(
    table: &AnchorTable,
    session: &SessionKey,
    rendered: &Rendered,
    projection: &Projection,
) -> Option<u64> {
    let key = projection.focus.as_ref()?;
    let id = table.id_of(session, key)?;
    let bound = || rendered.names.values().any(|(named, _)| named == key);
    (rendered.ids.contains(&id) || bound()).then_some(id)
}

fn anchor_media(media: Media) -> AnchorMedia {
    let Media { media_type, bytes, width, height, duration_ms } = media;
    AnchorMedia { media_type, bytes, width, height, duration_ms }
}

fn form(prototype: &Prototype) -> AnchorInfo {
    let params = prototype.params.iter().map(|param| param.name.clone()).collect();
    AnchorInfo {
        ty: AnchorType::Form,
        params,
        target: None,
        media: None,
        input: prototype.is_input(),
    }
}

fn anchor_info(table: &AnchorTable, anchor: &Anchor) -> AnchorInfo {
    match &anchor.target {
        Target::Object { .. } => plain(AnchorType::Reference),
        Target::Action(bound) => {
            let target = bound.args.values().find_map(single_object).map(|object| {
                match table.id_of(&anchor.session, &object.key) {
                    Some(id) => table.written(RefKind::Obj, id).to_string(),
                    None => object.key.clone(),
                }
            });
            let ty = if anchor.open.is_empty() { AnchorType::Button } else { AnchorType::Form };
            AnchorInfo { params: anchor.open.to_vec(), target, ..plain(ty) }
        }
        Target::Answer { .. } | Target::CancelJob { .. } => plain(AnchorType::Button),
    }
}

/// Returns the object that an argument is, alone or as a list of one.
fn single_object(arg: &Arg) -> Option<&RefArg> {
    match arg {
        Arg::Ref(object) => Some(object),
        Arg::List(items) => match items.as_slice() {
            [item] => single_object(item),
            _ => None,
        },
        _ => None,
    }
}

fn plain(ty: AnchorType) -> AnchorInfo {
    AnchorInfo { ty, params: Vec::new(), target: None, media: None, input: false }
}
