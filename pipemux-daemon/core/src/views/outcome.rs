//! What came of a run, as text, and the question that it asks.

use std::collections::BTreeMap;
use std::rc::Rc;

use pipemux_proto::Level;
use pipemux_proto::app::QuestionKind;
use pipemux_proto::report::{AnswerOption, Asked};

use crate::keys::SessionKey;
use crate::runs::question::Asker;
use crate::runs::{Argument, Run};
use crate::views::answer;
use crate::views::window_renderer::WindowRenderer;
use crate::workspaces::Workspace;

/// The text of a run's steps and its question; also whether links were minted for it.
pub fn outcome(
    workspace: &mut Workspace,
    sessions: &BTreeMap<SessionKey, crate::processes::session::Session>,
    run: &Run,
    epoch: u64,
) -> (String, Option<Asked>, bool) {
    let mut minted = false;
    let anchors = &mut workspace.anchors;
    let mut text = answer::steps(run, |ended, index| {
        let session = &run.steps[index].session;
        let none = Rc::new(Vec::new());
        let prototypes = sessions.get(session).map_or(&none, |session| &session.prototypes);
        let mut renderer = WindowRenderer::new(session, anchors, prototypes, epoch);
        let links = ended.links.iter().map(|link| renderer.link(link, true)).collect();
        minted |= renderer.changed;
        links
    });
    let Some(number) = run.question else { return (text, None, minted) };
    let Some(open) = workspace.questions.get(&number) else { return (text, None, minted) };
    let asks = &open.needs.question;
    let session = &open.step().session;
    let mut renderer = WindowRenderer::new(session, anchors, &[], epoch);
    let (title, ways) = (open.title(), open.ways());
    let later = match open.asker {
        Asker::App(_) => answer::later(run, run.next + 1),
        // Asked before anything runs: the step itself is still to come, and those around it.
        Asker::MissingArgument(_) | Asker::AmbiguousTarget(_) => Vec::new(),
    };
    let (asked_text, links) = answer::question(&mut renderer, number, &title, asks, &later, &ways);
    text += &asked_text;
    let asked = Asked {
        id: number,
        level: level(&open.run, !asks.options.is_empty()),
        text: title,
        options: match asks.kind {
            QuestionKind::Text => Vec::new(),
            _ => links
                .into_iter()
                .map(|(label, id)| AnswerOption { label, link: format!("link:{id}") })
                .collect(),
        },
        unlisted: asks.unlisted,
        hints: ways.iter().map(|way| format!("pipemux answer {way}")).collect(),
    };
    (text, Some(asked), true)
}

/// How much is needed to get on: more than one thing to settle is a wizard of several steps.
fn level(run: &Run, options: bool) -> Level {
    let rest = run.steps.iter().skip(run.next);
    let open: usize = rest
        .map(|step| {
            let gaps = step.args.iter().filter(|(_, arg)| matches!(arg, Argument::Missing(_)));
            gaps.count() + usize::from(!step.candidates.is_empty())
        })
        .sum();
    match (open, options) {
        (2.., _) => Level::Wizard,
        (_, true) => Level::Choice,
        (_, false) => Level::Hint,
    }
}
