use pipemux_proto::prototype::{Prominence, Prototype, Risk};
use proptest::prelude::*;

use super::*;

/// A change of a session's window, by the session's number.
#[derive(Debug, Clone)]
enum Step {
    Open(usize),
    Close(usize),
    /// The session has the actions with these names; `None` if the session is gone.
    Learn(usize, Option<Vec<&'static str>>),
}

const ACTIONS: [&str; 3] = ["add", "edit", "save"];

fn step() -> impl Strategy<Value = Step> {
    let actions = proptest::sample::subsequence(ACTIONS.to_vec(), 0..=2);
    prop_oneof![
        (0..8_usize).prop_map(Step::Open),
        (0..8_usize).prop_map(Step::Close),
        (0..8_usize, proptest::option::weighted(0.8, actions)).prop_map(|(n, a)| Step::Learn(n, a)),
    ]
}

/// Returns one of eight sessions: of two apps, with two addresses each, owned and shared.
fn session(number: usize) -> SessionKey {
    let app = ["notes", "todo"][number & 1];
    let addr = format!("{app}/{}", ["main", "b"][number >> 1 & 1]);
    let workspace = (number & 4 == 0).then(|| "w".into());
    SessionKey { workspace, addr: addr.parse().unwrap() }
}

fn prototypes(names: &[&str]) -> Prototypes {
    let prototype = |name: &&str| Prototype {
        name: (*name).into(),
        doc: String::new(),
        params: Vec::new(),
        returns: None,
        risk: Risk::Safe,
        idempotent: false,
        prominence: Prominence::Featured,
        ..Prototype::default()
    };
    Rc::new(names.iter().map(prototype).collect())
}

proptest! {
    #[test]
    fn indexes_find_the_same_windows_as_a_scan_in_opening_order(steps in prop::collection::vec(step(), 0..60)) {
        let (mut windows, mut listed) = (Windows::default(), Vec::new());
        for step in steps {
            match step {
                Step::Open(number) if windows.get(&session(number)).is_none() => {
                    windows.push(Window::new(number as u64, session(number), 0));
                    listed.push((session(number), None::<Vec<&str>>));
                }
                Step::Open(_) => {}
                Step::Close(number) => {
                    windows.remove(&session(number));
                    listed.retain(|(key, _)| *key != session(number));
                }
                Step::Learn(number, names) => {
                    windows.set_actions(&session(number), names.as_deref().map(prototypes));
                    let known = listed.iter_mut().find(|(key, _)| *key == session(number));
                    if let Some((_, actions)) = known {
                        *actions = names;
                    }
                }
            }
        }
        let keys = |found: Vec<&Window>| -> Vec<SessionKey> {
            found.into_iter().map(|window| window.session.clone()).collect()
        };
        type Listed<'a> = &'a (SessionKey, Option<Vec<&'static str>>);
        let expected = |wanted: &dyn Fn(Listed<'_>) -> bool| -> Vec<SessionKey> {
            listed.iter().filter(|one| wanted(one)).map(|(key, _)| key.clone()).collect()
        };
        prop_assert_eq!(keys(windows.iter().collect()), expected(&|_| true));
        prop_assert_eq!((windows.len(), windows.is_empty()), (listed.len(), listed.is_empty()));
        for (key, _) in (0..8).map(|number| (session(number), ())) {
            let found = windows.get(&key).map(|window| window.session.clone());
            prop_assert_eq!(found, listed.iter().find(|(own, _)| *own == key).map(|_| key.clone()));
            let named = keys(windows.named(&key.addr).collect());
            prop_assert_eq!(named, expected(&|(own, _)| own.addr == key.addr));
            let app = &key.addr.provider;
            let of_app = expected(&|(own, can)| own.addr.provider == *app && can.is_some());
            prop_assert_eq!(windows.count_of_app(app), of_app.len());
            prop_assert_eq!(keys(windows.of_app(app)), of_app);
            let unknown = keys(windows.with_unknown_actions(|other| other == app));
            prop_assert_eq!(unknown, expected(&|(own, can)| {
                own.addr.provider == *app && can.as_ref().is_some_and(Vec::is_empty)
            }));
        }
        for name in ACTIONS {
            let can = |(_, can): Listed<'_>| can.as_ref().is_some_and(|can| can.contains(&name));
            prop_assert_eq!(keys(windows.with_action(name)), expected(&can));
        }
        let shared = windows.shared().filter_map(|rank| windows.at(rank));
        prop_assert_eq!(keys(shared.collect()), expected(&|(key, _)| key.workspace.is_none()));
        prop_assert_eq!(windows.by_addr.values().map(Vec::len).sum::<usize>(), listed.len());
    }
}
