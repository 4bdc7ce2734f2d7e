//! git's status, diff and log as objects.

use pipemux_problems::model::{FileState, GitFile};

use crate::support::{read, report};

fn files(files: &[GitFile]) -> Vec<String> {
    let line = |file: &GitFile| {
        let from = file.from.as_ref().map(|from| format!(" from {from}")).unwrap_or_default();
        let staged = file.staged.map(|staged| if staged { " staged" } else { " unstaged" });
        format!(
            "{:?} {}{from}{} +{} -{}",
            file.state,
            file.path,
            staged.unwrap_or_default(),
            file.added,
            file.removed
        )
    };
    files.iter().map(line).collect()
}

#[test]
fn status_is_the_same_long_and_porcelain() {
    let long = report("git_status");
    assert_eq!(long.git.branch.as_deref(), Some("main"));
    let mut expected = vec![
        "Deleted c.txt staged +0 -0",
        "Added s.txt staged +0 -0",
        "Modified b.txt unstaged +0 -0",
        "Untracked n.txt unstaged +0 -0",
    ];
    assert_eq!(files(&long.git.files), expected);
    let porcelain = report("git_v2");
    assert_eq!(porcelain.git.branch.as_deref(), Some("main"));
    let mut found = files(&porcelain.git.files);
    found.sort();
    expected.sort_unstable();
    assert_eq!(found, expected);
}

#[test]
fn diff_has_files_and_hunks() {
    let report = report("git_diff");
    assert_eq!(
        files(&report.git.files),
        ["Modified b.txt +1 -0", "Deleted c.txt +0 -1", "Added s.txt +1 -0"]
    );
    let hunk = &report.git.files[0].hunks[0];
    assert_eq!((hunk.old_line, hunk.old_count, hunk.new_line, hunk.new_count), (28, 3, 28, 4));
    assert_eq!(hunk.at, 5);
}

#[test]
fn log_has_commits_and_their_diffs() {
    let report = report("git_logp");
    let commits: Vec<_> = report.git.commits.iter().map(|commit| &*commit.subject).collect();
    assert_eq!(commits, ["Rename a file and change two lines", "Add the first files"]);
    assert_eq!(report.git.commits[0].author.as_deref(), Some("Dev <dev@example.com>"));
    assert_eq!(
        files(&report.git.files),
        [
            "Modified b.txt +2 -2",
            "Renamed c.txt from a.txt +0 -0",
            "Added a.txt +1 -0",
            "Added b.txt +30 -0",
        ]
    );
    assert_eq!(crate::support::report("git_log").git.commits.len(), 2);
}

#[test]
fn errors_in_a_changed_file_are_no_problems() {
    let report = read(
        "diff --git a/log.txt b/log.txt\n--- a/log.txt\n+++ b/log.txt\n@@ -1,2 +1,2 @@\n \
         error: old\n-src/a.c:1:2: error: bad\n+src/a.c:1:2: error: worse\n",
    );
    assert!(report.problems.is_empty());
    assert_eq!(report.git.files[0].state, FileState::Modified);
}

#[test]
fn short_status_is_told_by_its_command_or_its_header() {
    let text = " M b.txt\nMM both.txt\nR  old.txt -> new.txt\nUU torn.txt\n?? \"\\345\\220\\215 n.txt\"\n!! target/\n";
    let expected = [
        "Modified b.txt unstaged +0 -0",
        "Modified both.txt staged +0 -0",
        "Modified both.txt unstaged +0 -0",
        "Renamed new.txt from old.txt staged +0 -0",
        "Unmerged torn.txt unstaged +0 -0",
        "Untracked 名 n.txt unstaged +0 -0",
    ];
    let of = |words: &str, text: &str| {
        let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
        let mut reader = pipemux_problems::OutputReader::of_command(&words);
        reader.feed(text.as_bytes());
        reader.finish()
    };
    for words in
        ["git status --short", "git status -s", "git -C x status --porcelain", "git status -sb"]
    {
        assert_eq!(files(&of(words, text).git.files), expected, "{words}");
    }
    let headed = of("make", &format!("## main...origin/main [ahead 1]\n{text}"));
    assert_eq!(files(&headed.git.files), expected);
    assert_eq!(headed.git.branch.as_deref(), Some("main"));
    // Nothing else is taken for one.
    for words in ["git status", "cat x", "git log -s", "git"] {
        assert!(of(words, text).git.files.is_empty(), "{words}");
    }
    for line in ["\"", "?? \"", "?? \"\\", "?? \"\\3\"", "R  -> ", " M ", "é  x", "M", ""] {
        of("git status -s", line);
    }
}

#[test]
fn log_in_lines_is_told_by_its_command() {
    let words: Vec<String> = ["git", "log", "--oneline"].map(str::to_owned).to_vec();
    let mut reader = pipemux_problems::OutputReader::of_command(&words);
    reader.feed(
        "9fceb02 (HEAD -> main) Mend the sum\n1a2b3c4d Add files: error: none\nno commit\n"
            .as_bytes(),
    );
    let report = reader.finish();
    let commits: Vec<_> = report
        .git
        .commits
        .iter()
        .map(|commit| format!("{} {}", commit.id, commit.subject))
        .collect();
    assert_eq!(commits, ["9fceb02 (HEAD -> main) Mend the sum", "1a2b3c4d Add files: error: none"]);
    assert!(report.problems.is_empty());
    assert!(read("9fceb02 Mend the sum\n").git.commits.is_empty());
}
