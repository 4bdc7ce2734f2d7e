//! What holds for every patch.

use proptest::prelude::*;

use pipemux_patch::{Choice, HunkState, Obstacle, Patch, Tolerance};

use crate::generator::Diff;
use crate::support::{after, files, plan, tell};

fn line() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[ab]",
        2 => Just(String::new()),
        2 => " {0,4}[xy]\\(\\);",
        1 => Just("\tindented\t".to_owned()),
        1 => Just("变量 = 🦀".to_owned()),
        1 => prop::sample::select(vec!["--- a", "+++ b", "-- x", "@@ -1 +1 @@", "*** End Patch", "```", "\\ x", "diff --git a/f b/f"])
            .prop_map(str::to_owned),
        4 => "[a-z]{3,8} [a-z]{0,4}",
    ]
}

#[derive(Debug, Clone)]
struct Edit {
    old: Vec<String>,
    new: Vec<String>,
    crlf: bool,
    old_newline: bool,
    new_newline: bool,
}

impl Edit {
    fn texts(&self, newlines: bool) -> (String, String) {
        let ending = if self.crlf { "\r\n" } else { "\n" };
        let text = |lines: &[String], newline: bool| {
            let mut text = lines.join(ending);
            // A last line that is empty needs its newline to be a line.
            if !lines.is_empty() && (newline || newlines || lines.last().unwrap().is_empty()) {
                text.push_str(ending);
            }
            text
        };
        (text(&self.old, self.old_newline), text(&self.new, self.new_newline))
    }
}

fn edit() -> impl Strategy<Value = Edit> {
    let lines = prop::collection::vec(line(), 0..30);
    let changes = prop::collection::vec(
        (any::<prop::sample::Index>(), 0..3_usize, prop::collection::vec(line(), 0..3)),
        0..4,
    );
    (lines, changes, any::<bool>(), any::<bool>(), any::<bool>()).prop_map(
        |(old, changes, crlf, old_newline, new_newline)| {
            let mut new = old.clone();
            for (at, remove, add) in changes {
                let at = at.index(new.len() + 1);
                let end = (at + remove).min(new.len());
                new.splice(at..end, add);
            }
            Edit { old, new, crlf, old_newline, new_newline }
        },
    )
}

/// Applies a patch; where several places are told, the true one must be among them and is chosen.
fn check(patch: &str, old: &str, new: &str, diff: &Diff<'_>) {
    let before = files(&[("f", old)]);
    let truth = diff.first_changes();
    let mut choices: Vec<Choice> = Vec::new();
    for _ in 0..=diff.hunks.len() {
        match plan(patch, &before, &choices) {
            Ok(plan) => {
                assert_eq!(after(&plan, &before), files(&[("f", new)]), "{patch}");
                return;
            }
            Err(Obstacle::Refused(problems)) => {
                panic!("{}\n{patch}\n{old:?}", tell(&Obstacle::Refused(problems)))
            }
            Err(Obstacle::Ask(questions)) => {
                let question = &questions[0];
                let pick = question.candidates.iter().position(|one| truth.contains(&one.line));
                // Which of the hunks it is shows in its number within the patch.
                let heads: Vec<_> = (1..)
                    .zip(patch.lines())
                    .filter(|(_, line)| *line == "@@" || *line == "<<<<<<< SEARCH")
                    .map(|(number, _)| number)
                    .collect();
                let hunk = heads.iter().position(|&at| at == question.at).unwrap();
                let exact = question.candidates.iter().position(|one| one.line == truth[hunk]);
                assert!(
                    pick.is_some() && exact.is_some(),
                    "{truth:?}\n{question:?}\n{patch}\n{old}"
                );
                choices.push(Choice { at: question.at, picks: vec![exact.unwrap()] });
            }
        }
    }
    panic!("asked without end\n{patch}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn unified_diffs_lead_to_exactly_the_new_text(edit in edit(), context in 0..4_usize) {
        let (old, new) = edit.texts(false);
        if old == new {
            return Ok(());
        }
        let diff = Diff::new(&old, &new, context);
        let patch = diff.unified("f");
        let before = files(&[("f", &old)]);
        let plan = plan(&patch, &before, &[]).unwrap_or_else(|obstacle| panic!("{}\n{patch}", tell(&obstacle)));
        prop_assert_eq!(after(&plan, &before), files(&[("f", &new)]), "{}", patch);
        let hunks = &plan.files[0].hunks;
        prop_assert!(hunks.iter().all(|hunk| hunk.state == HunkState::Applied(Tolerance::Exact)));
    }

    #[test]
    fn envelopes_lead_to_the_new_text_or_ask(edit in edit(), context in 1..4_usize) {
        let (old, new) = edit.texts(true);
        if old == new || old.is_empty() {
            return Ok(());
        }
        // Lines that mean something to the format itself can't be told from it, whoever writes
        // them.
        let diff = Diff::new(&old, &new, context);
        check(&diff.envelope("f"), &old, &new, &diff);
    }

    #[test]
    fn blocks_lead_to_the_new_text_or_ask(edit in edit(), context in 1..4_usize) {
        let (old, new) = edit.texts(true);
        if old == new || old.is_empty() {
            return Ok(());
        }
        let diff = Diff::new(&old, &new, context);
        check(&diff.blocks("f"), &old, &new, &diff);
    }

    #[test]
    fn hunks_of_a_distinct_text_are_found_without_numbers_and_counts(
        words in prop::collection::vec("[a-z]{6,10}", 4..30),
        at in any::<prop::sample::Index>(),
    ) {
        let old: Vec<_> = words.iter().enumerate().map(|(number, word)| format!("{word}{number}")).collect();
        let mut new = old.clone();
        let at = at.index(old.len());
        new[at].push_str(" changed");
        let (old, new) = (old.join("\n") + "\n", new.join("\n") + "\n");
        let full = Diff::new(&old, &new, 3).unified("f");
        for head in ["@@ -7,99 +1,2 @@", "@@ ... @@", "@@", "@@ -900 +900 @@"] {
            let patch: Vec<_> = full.lines().map(|line| if line.starts_with("@@") { head } else { line }).collect();
            let before = files(&[("f", &old)]);
            let plan = plan(&(patch.join("\n") + "\n"), &before, &[]).unwrap();
            prop_assert_eq!(after(&plan, &before), files(&[("f", &new)]), "{}", head);
        }
    }

    #[test]
    fn applied_twice_changes_nothing_more(
        words in prop::collection::vec("[a-z]{6,10}", 4..20),
        at in any::<prop::sample::Index>(),
        remove in any::<bool>(),
    ) {
        let old: Vec<_> = words.iter().enumerate().map(|(number, word)| format!("{word}{number}")).collect();
        let mut new = old.clone();
        let at = at.index(old.len() + 1);
        if remove && at < new.len() { new[at] = "replaced line".into() } else { new.insert(at, "a new line".into()) }
        let (old, new) = (old.join("\n") + "\n", new.join("\n") + "\n");
        let diff = Diff::new(&old, &new, 3);
        for patch in [diff.unified("f"), diff.envelope("f"), diff.blocks("f")] {
            let done = files(&[("f", &new)]);
            let plan = plan(&patch, &done, &[]).unwrap_or_else(|obstacle| panic!("{}\n{patch}", tell(&obstacle)));
            prop_assert!(plan.is_empty(), "{:?}", plan);
            prop_assert_eq!(after(&plan, &done), done);
            prop_assert!(plan.files[0].hunks.iter().all(|hunk| hunk.state == HunkState::Already));
        }
    }

    #[test]
    fn indentation_is_shifted_as_a_whole(
        words in prop::collection::vec((0..3_usize, "[a-z]{6,10}"), 4..12),
        at in any::<prop::sample::Index>(),
        tabs in any::<bool>(),
    ) {
        let lines: Vec<_> = words.iter().enumerate().map(|(number, (depth, word))| (*depth, format!("{word}{number}"))).collect();
        let mut changed = lines.clone();
        changed.insert(at.index(lines.len() + 1), (1, "fresh".into()));
        let text = |lines: &[(usize, String)], more: usize, unit: &str| {
            lines.iter().map(|(depth, word)| unit.repeat(depth + more) + word + "\n").collect::<String>()
        };
        let (unit, more) = if tabs { ("\t", 0) } else { ("    ", 2) };
        let (patch_old, patch_new) = (text(&lines, 0, "    "), text(&changed, 0, "    "));
        let (file_old, file_new) = (text(&lines, more, unit), text(&changed, more, unit));
        prop_assume!(patch_old != file_old);
        let patch = Diff::new(&patch_old, &patch_new, 99).unified("f");
        let before = files(&[("f", &file_old)]);
        let plan = plan(&patch, &before, &[]).unwrap_or_else(|obstacle| panic!("{}\n{patch}", tell(&obstacle)));
        prop_assert_eq!(after(&plan, &before), files(&[("f", &file_new)]));
    }

    #[test]
    fn garbage_never_panics(text in "(?s).{0,400}") {
        let _ = Patch::parse(&text);
    }

    #[test]
    fn garbled_patches_never_panic(
        edit in edit(),
        cuts in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), "(?s).{0,5}"), 1..6),
        format in 0..3_usize,
    ) {
        let (old, new) = edit.texts(true);
        let diff = Diff::new(&old, &new, 2);
        let mut patch = vec![diff.unified("f"), diff.envelope("f"), diff.blocks("f")].swap_remove(format);
        for (from, to, text) in cuts {
            let mut ends: Vec<_> = patch.char_indices().map(|(at, _)| at).collect();
            ends.push(patch.len());
            let (from, to) = (ends[from.index(ends.len())], ends[to.index(ends.len())]);
            let range = from.min(to)..from.max(to).min(from.min(to) + 12).max(from.min(to));
            if patch.is_char_boundary(range.end) {
                patch.replace_range(range, &text);
            }
        }
        if Patch::parse(&patch).is_ok() {
            let before = files(&[("f", &old)]);
            if let Ok(plan) = plan(&patch, &before, &[]) {
                after(&plan, &before);
                let _ = plan.summary(&crate::support::name);
            }
        }
    }

    #[test]
    fn one_hunk_that_fits_nowhere_stops_all(edit in edit()) {
        let (old, new) = edit.texts(true);
        if old == new || old.is_empty() {
            return Ok(());
        }
        let diff = Diff::new(&old, &new, 3);
        let patch = format!("{}--- a/g\n+++ b/g\n@@ -1,2 +1,2 @@\n nothing like this\n-gone\n+here\n", diff.unified("f"));
        let before = files(&[("f", &old), ("g", "one\ntwo\n")]);
        prop_assert!(matches!(plan(&patch, &before, &[]), Err(Obstacle::Refused(_))));
    }
}
