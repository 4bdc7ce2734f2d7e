//! What came of a run, as text, and the question that it asks.

use std::collections::BTreeMap;
use std::rc::Rc;

use pipemux_proto::Level;
use pipemux_proto::app::QuestionKind;
use pipemux_proto::report::{AnswerOption, Asked};

use crate::act::question::From;
use crate::act::{Acting, Argument};
use crate::keys::SessionKey;
use crate::render::answer;
use crate::render::window::Painter;
use crate::workspace::Workspace;

/// The text of a run's steps and its question; also whether links were minted for it.
pub fn outcome(
    workspace: &mut Workspace,
    sessions: &BTreeMap<SessionKey, crate::session::Session>,
    acting: &Acting,
    epoch: u64,
) -> (String, Option<Asked>, bool) {
    let mut minted = false;
    let anchors = &mut workspace.anchors;
    let mut text = answer::steps(acting, |ended, index| {
        let session = &acting.steps[index].session;
        let none = Rc::new(Vec::new());
        let prototypes = sessions.get(session).map_or(&none, |session| &session.prototypes);
        let mut painter = Painter::new(session, anchors, prototypes, epoch);
        let links = ended.links.iter().map(|link| painter.link(link, true)).collect();
        minted |= painter.changed;
        links
    });
    let Some(number) = acting.question else { return (text, None, minted) };
    let Some(open) = workspace.questions.get(&number) else { return (text, None, minted) };
    let asks = &open.needs.question;
    let session = &open.step().session;
    let mut painter = Painter::new(session, anchors, &[], epoch);
    let (title, ways) = (open.title(), open.ways());
    let later = match open.from {
        From::App(_) => answer::later(acting, acting.next + 1),
        // Asked before anything runs: the step itself is still to come, and those around it.
        From::Gap(_) | From::Owner(_) => Vec::new(),
    };
    let (asked_text, links) = answer::question(&mut painter, number, &title, asks, &later, &ways);
    text += &asked_text;
    let asked = Asked {
        id: number,
        level: level(&open.acting, !asks.options.is_empty()),
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
fn level(acting: &Acting, options: bool) -> Level {
    let rest = acting.steps.iter().skip(acting.next);
    let open: usize = rest
        .map(|step| {
            let gaps = step.args.iter().filter(|(_, arg)| matches!(arg, Argument::Gap(_)));
            gaps.count() + usize::from(!step.owners.is_empty())
        })
        .sum();
    match (open, options) {
        (2.., _) => Level::Wizard,
        (_, true) => Level::Choice,
        (_, false) => Level::Hint,
    }
}
