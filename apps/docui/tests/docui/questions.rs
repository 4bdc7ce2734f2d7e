//! Which answers to questions reach the app.

use docui::testing::Host;
use docui::{App, Ask, Choice, Context, Done, Fault, Found, Opening, Reply, View, ViewRequest};
use pipemux_proto::app::Outcome;

docui::actions! {
    /// The app's actions.
    pub enum Action {
        /// Asks a yes-or-no question of its own.
        changes featured Rename = rename();
        /// Is confirmed through the SDK.
        destructive featured Remove = remove();
        /// Is confirmed, then asks a yes-or-no question of its own.
        destructive featured Wipe = wipe();
    }
}

/// Reports which answer its update was called with.
struct Asker;

impl App for Asker {
    type Action = Action;

    fn open(_: &Opening) -> Result<Self, Fault> {
        Ok(Self)
    }

    fn update(&mut self, action: Action, context: &Context) -> Result<Reply, Fault> {
        match (action, &context.answer) {
            (Action::Rename {}, None) => Ok(Ask::confirm("really?").token("t").into()),
            (Action::Wipe {}, None) => Ok(Ask::confirm("the backups, too?").into()),
            (_, answer) => Ok(Done::new(format!("{answer:?}")).into()),
        }
    }

    fn view(&self, _: &ViewRequest) -> View {
        View::new("")
    }

    fn find(&self, _: &str) -> Found {
        Found::Gone(None)
    }
}

fn host() -> Host<Asker> {
    let dir = tempfile::tempdir().unwrap();
    Host::open(&[], dir.path(), dir.path()).unwrap()
}

fn brief(outcome: Outcome) -> String {
    match outcome {
        Outcome::Done(done) => done.brief,
        other => panic!("should be done: {other:?}"),
    }
}

#[test]
fn yes_to_a_question_of_the_app_reaches_its_update() {
    let mut host = host();
    assert!(matches!(host.invoke(&Action::Rename {}), Outcome::Needs(_)));
    assert_eq!(brief(host.answer(Choice::Yes)), format!("{:?}", Some((b"t", Choice::Yes))));
}

#[test]
fn confirmed_action_may_ask_a_question_of_its_own_once() {
    let mut host = host();
    let Outcome::Needs(asked) = host.invoke(&Action::Wipe {}) else { panic!("should ask") };
    assert_eq!(asked.question.text, "wipe: cannot be undone");
    let Outcome::Needs(asked) = host.answer(Choice::Yes) else { panic!("should ask") };
    assert_eq!(asked.question.text, "the backups, too?");
    assert_eq!(brief(host.answer(Choice::Yes)), format!("{:?}", Some((b"", Choice::Yes))));
}

#[test]
fn confirmation_of_a_destructive_action_is_not_passed_on() {
    let mut host = host();
    let Outcome::Needs(asked) = host.invoke(&Action::Remove {}) else { panic!("should ask") };
    assert_eq!(asked.question.text, "remove: cannot be undone");
    assert_eq!(brief(host.answer(Choice::Yes)), "None");
}
