use pipemux_proto::report::StepStatus;

use super::anchors::{AnchorQuery, Appearance};
use super::*;

const FIRST: FirstNumbers = FirstNumbers { id: 1, epoch: 0 };

fn session(workspace: Option<&str>) -> SessionKey {
    SessionKey { workspace: workspace.map(Into::into), addr: "notes/main".parse().unwrap() }
}

fn at(mono_ms: u64) -> Now {
    Now { mono_ms, unix_ms: mono_ms }
}

/// Enters a workspace whose name is its key.
fn enter(workspaces: &mut Workspaces, key: &str, reader: &str, now: u64) -> Entered {
    workspaces.enter((key, key), reader, at(now), || FIRST).unwrap()
}

fn mint(workspace: &mut Workspace, key: &str) -> u64 {
    let index = workspace.anchors.session_index(&session(Some("w")));
    let appearance = Appearance { label: key.into(), listed: true, ..Appearance::default() };
    workspace.anchors.mint(index, AnchorQuery::Object(key), appearance, 1).id
}

fn delivery(number: u64, noticed: u64, ids: Vec<u64>) -> Delivery {
    let (seen, shown, window_set_revision) = (Vec::new(), Vec::new(), Some(1));
    let (questions, lines) = (Vec::new(), Vec::new());
    Delivery {
        number,
        seen,
        lines,
        noticed,
        questions,
        epoch: 3,
        ids,
        shown,
        window_set_revision,
        ..Delivery::default()
    }
}

#[test]
fn workspace_is_created_once_and_takes_the_given_numbers() {
    let mut workspaces = Workspaces::default();
    let first = FirstNumbers { id: 70, epoch: 9 };
    let entered = workspaces.enter(("w", "name"), "r", at(1), || first).unwrap();
    assert!(entered.created && entered.retired.is_none() && entered.evicted_reader.is_none());
    let workspace = workspaces.get("w").unwrap();
    assert_eq!((workspace.name.as_str(), workspace.epoch), ("name", 9));
    assert_eq!(workspace.anchors.next_id(), 70);
    assert!(!enter(&mut workspaces, "w", "r", 2).created);
    assert_eq!(workspaces.len(), 1);
}

#[test]
fn workspace_without_windows_makes_room_and_gets_its_numbers_back() {
    let mut workspaces = Workspaces::default();
    for number in 0..WORKSPACES_MAX {
        let key = number.to_string();
        enter(&mut workspaces, &key, "r", number as u64 + 1);
        if number > 0 {
            let window = Window::new(number as u64, session(Some(&key)), 0);
            workspaces.get_mut(&key).unwrap().open_window(window, None);
        }
    }
    workspaces.get_mut("0").unwrap().epoch = 5;
    mint(workspaces.get_mut("0").unwrap(), "a");

    let entered = enter(&mut workspaces, "new", "r", 10_000);
    assert_eq!(entered.retired.as_deref(), Some("0"));
    let retired: Vec<Record> = workspaces.snapshot_retired().collect();
    assert_eq!(retired, [FirstNumbers { id: 2, epoch: 5 }.to_record("0", "0")]);

    let back = enter(&mut workspaces, "0", "r", 10_001);
    assert_eq!(back.retired.as_deref(), Some("new"));
    let workspace = workspaces.get("0").unwrap();
    assert_eq!((workspace.anchors.next_id(), workspace.epoch), (2, 5));

    let window = Window::new(1, session(Some("0")), 0);
    workspaces.get_mut("0").unwrap().open_window(window, None);
    let refused = workspaces.enter(("more", "more"), "r", at(10_002), || FIRST).unwrap_err();
    assert!(refused.message.contains("too many"), "{refused}");
}

#[test]
fn quietest_reader_makes_room_and_is_named() {
    let mut workspaces = Workspaces::default();
    for number in 0..crate::limits::READERS_MAX {
        enter(&mut workspaces, "w", &format!("r{number}"), number as u64);
    }
    enter(&mut workspaces, "w", "r0", 1_000);
    let entered = enter(&mut workspaces, "w", "new", 1_001);
    assert_eq!(entered.evicted_reader.as_deref(), Some("r1"));
    assert_eq!(workspaces.get("w").unwrap().readers.len(), crate::limits::READERS_MAX);
}

#[test]
fn notices_are_unread_until_an_answer_with_them_is_confirmed() {
    let mut workspaces = Workspaces::default();
    let key = enter(&mut workspaces, "w", "r", 1).key;
    let window = Window::new(1, session(Some("w")), 0);
    workspaces.get_mut("w").unwrap().open_window(window, None);
    enter(&mut workspaces, "other", "r", 1);
    let text = NoticeText::Plain("notes/main: {ago}".into());
    workspaces.notify_windows(&session(Some("w")), None, &text, at(2));

    let unread = |workspaces: &Workspaces, key: &str, reader: &str| {
        workspaces.get(key).unwrap().unread_notices(reader, 0, at(9_000)).0
    };
    assert_eq!(unread(&workspaces, "w", "r"), ["notes/main: {ago}"]);
    assert!(unread(&workspaces, "other", "r").is_empty(), "it has no such window");
    enter(&mut workspaces, "w", "late", 3);
    assert!(unread(&workspaces, "w", "late").is_empty(), "it came after the notice");

    workspaces.deliver(&key, "r", delivery(7, 1, Vec::new()));
    assert_eq!(unread(&workspaces, "w", "r").len(), 1);
    workspaces.confirm(7);
    assert!(unread(&workspaces, "w", "r").is_empty());
}

#[test]
fn confirmed_answers_make_their_ids_known_to_their_reader_only() {
    let mut workspaces = Workspaces::default();
    let key = enter(&mut workspaces, "w", "r", 1).key;
    enter(&mut workspaces, "w", "other", 1);
    let id = mint(workspaces.get_mut("w").unwrap(), "a");
    workspaces.deliver(&key, "r", delivery(7, 0, vec![id]));
    let known =
        |workspaces: &Workspaces, reader| workspaces.get("w").unwrap().known_epoch(reader, id);
    assert_eq!(known(&workspaces, "r"), 0);
    workspaces.confirm(8);
    assert_eq!(known(&workspaces, "r"), 0);
    workspaces.confirm(7);
    assert_eq!((known(&workspaces, "r"), known(&workspaces, "other")), (3, 0));
}

#[test]
fn oldest_unconfirmed_answers_are_forgotten() {
    let mut workspaces = Workspaces::default();
    let key = enter(&mut workspaces, "w", "r", 1).key;
    let id = mint(workspaces.get_mut("w").unwrap(), "a");
    let last = CLIENTS_MAX as u64 + 1;
    for number in 1..=last {
        workspaces.deliver(&key, "r", delivery(number, 0, vec![id]));
    }
    workspaces.confirm(1);
    assert_eq!(workspaces.get("w").unwrap().known_epoch("r", id), 0);
    workspaces.confirm(last);
    assert_eq!(workspaces.get("w").unwrap().known_epoch("r", id), 3);
}

#[test]
fn numbers_are_reserved_in_blocks_after_the_anchors_that_use_them() {
    let mut workspaces = Workspaces::default();
    enter(&mut workspaces, "w", "r", 1);
    let reserve = |workspaces: &mut Workspaces| workspaces.reserve("w").collect::<Vec<_>>();
    assert!(matches!(reserve(&mut workspaces)[..], [Record::Workspace { .. }]));
    assert!(reserve(&mut workspaces).is_empty());
    mint(workspaces.get_mut("w").unwrap(), "a");
    match &reserve(&mut workspaces)[..] {
        [Record::Anchors { anchors, .. }, Record::Workspace { ids_below, .. }] => {
            assert_eq!((anchors[0].id, *ids_below), (1, 2 + crate::limits::BLOCK));
        }
        other => panic!("{other:?}"),
    }
    mint(workspaces.get_mut("w").unwrap(), "b");
    assert!(matches!(reserve(&mut workspaces)[..], [Record::Anchors { .. }]));
    assert!(workspaces.reserve("none").next().is_none());
}

#[test]
fn shared_sessions_concern_all_workspaces_and_owned_ones_their_owner() {
    let mut workspaces = Workspaces::default();
    for key in ["v", "w"] {
        enter(&mut workspaces, key, "r", 1);
    }
    let names = |workspaces: &mut Workspaces, owner| -> Vec<String> {
        let session = session(owner);
        let all = workspaces.of_session_mut(&session);
        all.map(|workspace| workspace.name.clone()).collect()
    };
    assert_eq!(names(&mut workspaces, None), ["v", "w"]);
    assert_eq!(names(&mut workspaces, Some("w")), ["w"]);
    assert!(names(&mut workspaces, Some("gone")).is_empty());
}

#[test]
fn lost_records_move_all_numbers_forward() {
    let mut workspaces = Workspaces::default();
    workspaces.restore("w".into(), "w".into(), FirstNumbers { id: 65, epoch: 64 });
    let window = Window::new(1, session(Some("w")), 64);
    workspaces.get_mut("w").unwrap().open_window(window, None);
    workspaces.skip_lost_numbers(1_000);
    let workspace = workspaces.get("w").unwrap();
    assert_eq!((workspace.anchors.next_id(), workspace.epoch), (1_065, 1_064));
    assert_eq!(workspace.window(&session(Some("w"))).unwrap().context.major, 1_064);
}

#[test]
fn workspace_restored_again_keeps_its_windows_and_history() {
    let mut workspaces = Workspaces::default();
    workspaces.restore("w".into(), "old".into(), FIRST);
    let workspace = workspaces.get_mut("w").unwrap();
    workspace.open_window(Window::new(1, session(Some("w")), 0), None);
    let round = crate::persist::records::SavedRound {
        number: 4,
        unix_ms: 0,
        reader: "r".into(),
        action: "notes.add()".into(),
        result: format!("add {:?}", StepStatus::Done),
        detail: None,
        exit: 0,
        sessions: Vec::new(),
        ..Default::default()
    };
    workspace.history.add(round, 9);
    workspaces.restore("w".into(), "new".into(), FirstNumbers { id: 129, epoch: 64 });
    let workspace = workspaces.get("w").unwrap();
    assert_eq!((workspace.name.as_str(), workspace.epoch), ("new", 64));
    assert_eq!((workspace.windows.len(), workspace.history.count), (1, 4));
    assert_eq!(workspace.window(&session(Some("w"))).unwrap().context.major, 64);
    assert_eq!(workspace.anchors.next_id(), 129);
}
