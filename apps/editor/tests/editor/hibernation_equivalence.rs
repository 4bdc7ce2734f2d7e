//! Random steps on two sessions, one of which hibernates now and then: readers see no difference.

use std::fs;

use docui::Choice;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use crate::scenario::{Caller, FILE_NAMES, Scenario, Step, TEXTS};
use crate::support::*;

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]
    #[test]
    fn hibernation_is_invisible_to_readers(
        steps in vec((step(), prop::bool::weighted(0.3)), 1..14),
    ) {
        let (mut awake, mut hibernating) = (Scenario::new(), Scenario::new());
        prop_assert_eq!(awake.views(), hibernating.views());
        for (step, hibernate) in &steps {
            prop_assert_eq!(awake.take(step, false), hibernating.take(step, *hibernate), "{:?}", step);
            prop_assert_eq!(awake.views(), hibernating.views(), "{:?}", step);
        }
        let texts = |scenario: &Scenario| {
            let read = |name: &&str| fs::read(scenario.files.path().join(name)).ok();
            FILE_NAMES.iter().map(read).collect::<Vec<_>>()
        };
        prop_assert_eq!(texts(&awake), texts(&hibernating));
    }
}

fn step() -> impl Strategy<Value = Step> {
    let caller = prop_oneof![
        3 => Just(Caller::Latest),
        3 => any::<usize>().prop_map(Caller::Earlier),
        1 => Just(Caller::SameRun),
    ];
    let choice = prop_oneof![
        vec(1..4u32, 0..3).prop_map(Choice::Picked),
        vec(1..3u32, 0..2).prop_map(Choice::AllBut),
    ];
    let (name, words) = (|| select(FILE_NAMES), || select(TEXTS));
    prop_oneof![
        12 => (action(), caller).prop_map(|(action, caller)| Step::Act(action, caller)),
        2 => any::<usize>().prop_map(Step::FollowLink),
        1 => (any::<usize>(), words()).prop_map(|(index, text)| Step::ReplaceAtObject(index, text)),
        2 => choice.prop_map(Step::Answer),
        2 => (name(), words()).prop_map(|(name, text)| Step::Write(name, text)),
        1 => name().prop_map(Step::Delete),
        1 => name().prop_map(Step::Attach),
    ]
}

fn action() -> impl Strategy<Value = Action> {
    let line = || prop_oneof![3 => 1..7i64, 1 => 40..58i64].prop_map(at);
    let (words, name) = (|| select(TEXTS), || select(FILE_NAMES).prop_map(str::to_owned));
    prop_oneof![
        2 => (words(), words(), any::<bool>()).prop_map(|(old, new, all)| {
            if all { replace_all(old, new) } else { replace(old, new) }
        }),
        3 => (line(), line(), words()).prop_map(|(first, last, new)| Action::ReplaceLines {
            first, last, text: text(new),
        }),
        2 => (line(), words()).prop_map(|(at, new)| Action::Insert { at, text: text(new) }),
        1 => (line(), line()).prop_map(|(first, last)| Action::DeleteLines { first, last }),
        2 => (line(), line(), line()).prop_map(|(first, last, before)| Action::MoveLines {
            first, last, before,
        }),
        2 => (1..3i64).prop_map(|steps| Action::Undo { steps, change: None }),
        2 => (1..3i64).prop_map(|steps| Action::Redo { steps, change: None }),
        2 => Just(save()),
        1 => any::<bool>().prop_map(|on| Action::Hold { on }),
        1 => (name(), words(), any::<bool>()).prop_map(|(path, new, overwrite)| Action::Create {
            path: path.as_str().into(), text: text(new).into(), overwrite,
        }),
        1 => name().prop_map(|path| Action::SaveAs { path: path.as_str().into() }),
        2 => name().prop_map(|path| Action::Open { path: vec![path.as_str().into()] }),
        1 => Just(close()),
        2 => words().prop_map(find),
        2 => (line(), line()).prop_map(|(first, last)| Action::Select { first, last }),
        1 => (line(), line()).prop_map(|(first, last)| Action::Lines { first, last }),
        1 => (name(), 1..5i64).prop_map(|(name, line)| Action::Goto {
            line: line_of(&format!("{name}:{line}")),
        }),
        1 => Just(Action::Diff { r#in: Vec::new() }),
    ]
}
