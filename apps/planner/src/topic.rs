//! Starts topics, and continues the topic that an earlier file belongs to.

use std::path::Path;

use docui::{Context, Done, Fault};
use pipemux_planner_course::answers::Intent;
use pipemux_planner_course::event::{Event, RULES};
use pipemux_planner_course::{By, Driver, Stage};
use serde_json::Value;

use crate::action::IntentName;
use crate::limits::{HISTORY_MAX, TOPIC_MAX};
use crate::model::Planner;
use crate::next_step::next_step;
use crate::outcome::outcome;
use crate::prior;
use crate::reader::{Reader, by, refuse_role_of};
use crate::store::{FOLDER, Store};

/// Begins a topic.
///
/// # Errors
/// The brief is empty or too long, or the file that comes with it can't be read.
pub fn plan(
    planner: &mut Planner,
    brief: &str,
    from: Option<String>,
    intent: Option<IntentName>,
    topic: &str,
    context: &Context,
) -> Result<Done, Fault> {
    if brief.trim().is_empty() {
        let call = planner.run("plan('what you want, and why')");
        return Err(Fault::usage("the brief is empty: say what you want, and why").hint(call));
    }
    let prior = match from {
        Some(named) => {
            let path = context.path(&named);
            let mut prior = prior::read(&path, &named)?;
            // It says itself of which topic it is: that decides on its mark, and on nothing that is
            // done.
            let copied = prior.topic.take();
            let copied = copied.filter(|topic| Store::topics(&planner.root).contains(topic));
            if let Some((topic, number)) = topic_of(&planner.root, &path) {
                let course = Store::open(&planner.root, &topic)?.1.course;
                if matches!(intent, Some(IntentName::ContinueDiscussion)) {
                    refuse_role_of(planner, &course, &context.reader)?;
                }
                let found = course.versions.all.iter();
                let mut found =
                    found.rev().filter(|one| number.is_none_or(|number| number == one.number));
                if let Some(version) = found.next() {
                    prior = prior::of_version(&course, version, prior);
                }
                prior.topic = Some(topic);
            } else if let Some(topic) = copied {
                prior = prior::of_copy(&Store::open(&planner.root, &topic)?.1.course, prior);
            }
            Some(prior)
        }
        None => None,
    };
    if intent.is_some() && prior.is_none() {
        let call = planner.run("plan('…', from='FILE', intent='refine')");
        return Err(Fault::usage("an intent needs the file that it is about").hint(call));
    }
    let before = planner.course.topic.clone();
    let is_open =
        !matches!(planner.course.stage, Stage::Empty | Stage::Accepted | Stage::Discarded);
    let named = if topic.trim().is_empty() { brief } else { topic };
    let topic = free_topic(planner, named);
    let history = history(planner);
    let (brief, rules, parallel) = (brief.to_owned(), RULES, planner.config.parallel);
    let prior = prior.map(Box::new);
    let event = Event::Start { topic: topic.clone(), brief, prior, history, rules, parallel };
    planner.begin(&topic, by(context), event)?;
    let mut gone_on = None;
    if let Some(intent) = intent {
        gone_on = match intent {
            IntentName::ContinueDiscussion => go_on(planner, "", &by(context))?,
            _ => None,
        };
        if gone_on.is_none() {
            let event = Event::Intent { intent: intent.into(), words: String::new() };
            planner.commit(by(context), event)?;
        }
    }
    let mut done = outcome(planner, context);
    let step = next_step(planner, &context.reader);
    done = done.also(&step.call).also(&format!("files: {FOLDER}/{}/", planner.course.topic));
    if let Some(gone_on) = gone_on {
        return Ok(done.also(&gone_on));
    }
    if is_open {
        done = done
            .also(&format!("{before} stays open: {}", planner.run(&format!("switch('{before}')"))));
    }
    Ok(done)
}

/// Returns true if an answer says that an earlier discussion goes on.
pub fn continues(answer: &Value) -> bool {
    answer["intent"] == "continue_discussion"
}

/// Goes on with the discussion that the earlier file is of, from where it stopped; the brief is
/// added to it. Returns what was done, or none if the file is of no discussion of this project that
/// can go on.
///
/// # Errors
/// A journal can't be read or written.
pub fn go_on(planner: &mut Planner, words: &str, by: &By) -> Result<Option<String>, Fault> {
    let topic = planner.course.brief.prior.as_ref().and_then(|prior| prior.topic.clone());
    let Some(topic) = topic.filter(|topic| Store::topics(&planner.root).contains(topic)) else {
        return Ok(None);
    };
    let earlier = Store::open(&planner.root, &topic)?.1.course;
    if !matches!(planner.course.stage, Stage::Intent | Stage::AskIntent)
        || matches!(earlier.stage, Stage::Empty | Stage::Discarded)
    {
        return Ok(None);
    }
    // Whoever gave the brief goes on in it, also if the coach says so, or somebody who plays no
    // part in the new topic.
    refuse_role_of(planner, &earlier, &planner.course.user)?;
    if by.driver == Driver::Agent && Reader::of(&planner.course, &by.reader).holds.is_empty() {
        refuse_role_of(planner, &earlier, &by.reader)?;
    }
    let (brief, began) = (planner.course.brief.text.clone(), planner.course.topic.clone());
    let text = if words.trim().is_empty() { brief } else { format!("{brief}\n{}", words.trim()) };
    // Paused first, so that nobody is asked about the topic that is left.
    if !planner.course.paused {
        planner.commit(by.clone(), Event::Pause)?;
    }
    let intent = Intent::ContinueDiscussion;
    planner.commit(by.clone(), Event::Intent { intent, words: words.to_owned() })?;
    planner.load(&topic)?;
    if planner.course.paused {
        planner.commit(by.clone(), Event::Resume)?;
    }
    planner.commit(by.clone(), Event::Adjust { text })?;
    Ok(Some(format!("goes on with {topic}; {began} is paused")))
}

/// Returns the topic of a project whose plan or draft this is, and its version if it is an earlier
/// one's.
fn topic_of(root: &Path, path: &Path) -> Option<(String, Option<u32>)> {
    let path = path.canonicalize().ok()?;
    let inside = path.strip_prefix(root.join(FOLDER)).ok()?;
    let parts: Vec<&str> = inside.iter().filter_map(std::ffi::OsStr::to_str).collect();
    match parts.as_slice() {
        [topic, "planning.ai.json" | "planning.draft.md"] => Some(((*topic).to_owned(), None)),
        [topic, "versions", version, _] => {
            let number = version.strip_prefix('v')?.parse().ok()?;
            Some(((*topic).to_owned(), Some(number)))
        }
        _ => None,
    }
}

/// Returns what the user did before, in short: the topics of the project.
fn history(planner: &Planner) -> Vec<String> {
    let topics = Store::topics(&planner.root).into_iter().take(HISTORY_MAX);
    topics.map(|topic| format!("planned: {topic}")).collect()
}

/// Returns a name for a topic that no other one has.
fn free_topic(planner: &Planner, text: &str) -> String {
    let mut name = String::new();
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        let word = word.to_lowercase();
        if !name.is_empty() && name.chars().count() + word.chars().count() >= TOPIC_MAX {
            break;
        }
        if !name.is_empty() {
            name.push('-');
        }
        name.extend(word.chars().take(TOPIC_MAX));
    }
    if name.is_empty() {
        name.push_str("topic");
    }
    let folder = planner.root.join(FOLDER);
    let is_free = |name: &str| !folder.join(name).exists();
    let numbered = (2..10_000).map(|number| format!("{name}-{number}"));
    std::iter::once(name.clone()).chain(numbered).find(|name| is_free(name)).unwrap_or(name)
}
