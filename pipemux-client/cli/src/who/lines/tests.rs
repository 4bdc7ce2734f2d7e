//! The origins of lines, compared with those that `git blame` finds.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::*;

fn git(dir: &Path, args: &[&str]) -> String {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=n", "-c", "user.email=e@x", "-c", "core.autocrlf=false"]);
    let output = command.args(args).current_dir(dir).output().expect("git runs");
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// A generator of reproducible numbers.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound.max(1)
    }
}

#[test]
fn lines_come_from_the_rounds_that_git_blame_names() {
    let dir = tempfile::tempdir().expect("a folder");
    let dir = dir.path();
    git(dir, &["init", "-q"]);
    for seed in 0..8 {
        let mut numbers = Numbers(seed);
        // Each line is another one, so that only one answer is right.
        let mut fresh = 0;
        let mut line = || {
            fresh += 1;
            format!("行 {seed}.{fresh}")
        };
        let mut text: Vec<String> = (0..12).map(|_| line()).collect();
        let mut commits = Vec::new();
        for round in 0..10 {
            if round > 0 {
                for _ in 0..=numbers.below(3) {
                    let at = numbers.below(text.len());
                    match numbers.below(3) {
                        0 => drop(text.remove(at)),
                        1 => text.insert(at, line()),
                        _ => text[at] = line(),
                    }
                }
            }
            fs::write(dir.join("a.txt"), text.join("\n") + "\n").expect("a file");
            git(dir, &["add", "-A"]);
            git(dir, &["commit", "-q", "--allow-empty", "-m", "round"]);
            commits.push(git(dir, &["rev-parse", "HEAD"]).trim().to_owned());
        }
        let context = format!("-U{}", seed % 3);
        let newest_first: Vec<Option<Difference>> = commits
            .windows(2)
            .rev()
            .map(|two| {
                let args = ["diff", "--no-prefix", &context, &two[0], &two[1], "--", "a.txt"];
                Difference::of_file(&git(dir, &args), "/p/a.txt", &["/p/a.txt".to_owned()])
            })
            .collect();
        let found = origins(&fs::read_to_string(dir.join("a.txt")).expect("it"), &newest_first);
        let blamed: Vec<Option<usize>> = git(dir, &["blame", "-l", "-s", "--root", "a.txt"])
            .lines()
            .map(|line| {
                let commit = line.split(' ').next().expect("a commit");
                let at = commits.iter().position(|one| one == commit).expect("one of them");
                // The first commit is no round.
                (at > 0).then(|| commits.len() - 1 - at)
            })
            .collect();
        assert_eq!(found, blamed, "seed {seed}");
    }
}

#[test]
fn what_others_wrote_shifts_lines_and_is_no_rounds() {
    let unified = "--- a.txt\n+++ a.txt\n@@ -2 +2 @@\n-two\n+TWO\n@@ -3,0 +4 @@\n+four\n";
    let difference = Difference::of_file(unified, "/p/a.txt", &[]);
    let now = "mine\nmine too\none\nTWO\r\nthree\nfour, by another\n";
    let found = origins(now, std::slice::from_ref(&difference));
    assert_eq!(found, [None, None, None, Some(0), None, None]);
    // Behind a change of which nothing is known, nothing is.
    assert_eq!(origins(now, &[None, difference]), [None; 6]);
}

#[test]
fn file_is_told_from_another_that_ends_alike() {
    let unified = "--- b.txt\n+++ b.txt\n@@ -0,0 +1 @@\n+x\n--- /dev/null\n+++ sub/b.txt\n@@ -0,0 +1 @@\n+y\n";
    let files = ["/p/b.txt".to_owned(), "/p/sub/b.txt".to_owned()];
    let of = |path: &str| Difference::of_file(unified, path, &files).expect("a part").hunks;
    assert_eq!(of("/p/sub/b.txt")[0].lines, [(Kind::Added, "y".to_owned())]);
    assert_eq!(of("/p/b.txt")[0].lines, [(Kind::Added, "x".to_owned())]);
    assert_eq!(Difference::of_file(unified, "/p/c.txt", &files), None);
}

#[test]
fn difference_that_was_cut_off_ends_before_its_last_place() {
    let unified = "--- a\n+++ a\n@@ -1 +1 @@\n-x\n+y\n@@ -5,2 +5,2 @@\n-u\n…\n";
    let difference = Difference::of_file(unified, "/a", &[]).expect("a part");
    assert_eq!(difference.hunks.len(), 1);
}
