//! The person's patterns: rows of words, where `*` stands for any text.
//!
//! What allows is read narrowly, and what asks or refuses widely: a program is the same one behind a path, and options in
//! front of a subcommand don't make it another one.

use std::path::{Component, Path, PathBuf};

use crate::limits::PATTERN_WORDS;

/// Where a command runs, and the folder that paths in patterns are relative to.
#[derive(Debug, Clone, Copy)]
pub struct Folders<'p> {
    /// The directory in which the command runs.
    pub cwd: &'p Path,
    /// The workspace's directory.
    pub workspace: &'p Path,
}

/// Returns the file that a program's word names, if it names one: a path means another program in another directory.
pub fn file_of(word: &str, cwd: &Path) -> Option<PathBuf> {
    word.contains('/').then(|| without_parents(&cwd.join(word)))
}

/// Returns a path without `.` and `..`, as it is written: what a link means isn't looked up.
fn without_parents(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    plain
}

/// Returns true if a pattern allows a command: it begins with exactly these words.
pub fn allows(pattern: &str, words: &[String], folders: Folders<'_>) -> bool {
    let Some(parts) = parts(pattern) else { return false };
    let Some((program, rest)) = parts.split_first() else { return true };
    let Some((word, arguments)) = words.split_first() else { return false };
    let is_program = match program.contains('/') {
        true => is_file(program, folders.workspace, word, folders.cwd),
        false => glob(program, word),
    };
    is_program
        && rest.len() <= arguments.len()
        && rest.iter().zip(arguments).all(|(part, word)| glob(part, word))
}

/// Returns true if a pattern that asks or refuses means a command, however that is written: by a path, with options in front of
/// its subcommand, or with its options in another order.
pub fn names(pattern: &str, words: &[String], folders: Folders<'_>) -> bool {
    let Some(parts) = parts(pattern) else { return false };
    let Some((program, rest)) = parts.split_first() else { return true };
    let Some((word, arguments)) = words.split_first() else { return false };
    let base = word.rsplit('/').next().unwrap_or_default();
    let is_program = glob(program, word)
        || match program.contains('/') {
            true => [folders.workspace, folders.cwd]
                .iter()
                .any(|folder| is_file(program, folder, word, folders.cwd)),
            false => glob(program, base),
        };
    if !is_program {
        return false;
    }
    let (options, names): (Vec<&str>, Vec<&str>) = rest.iter().partition(|part| is_option(part));
    options.iter().all(|option| has_option(option, arguments)) && follow(&names, arguments)
}

/// Returns true if a pattern that asks or refuses means a command anywhere in a line that only a shell understands.
pub fn names_within(pattern: &str, line: &str, folders: Folders<'_>) -> bool {
    line.split(|c: char| ";&|()`\n".contains(c)).any(|part| {
        let words: Vec<String> = part
            .split(|c: char| c.is_whitespace() || "<>$\"'{}=".contains(c))
            .filter(|word| !word.is_empty())
            .map(str::to_owned)
            .collect();
        (0..words.len()).any(|from| {
            let to = words.len().min(from + PATTERN_WORDS);
            names(pattern, &words[from..to], folders)
        })
    })
}

/// Returns the words of a pattern without a last `*`, which stands for anything, also for nothing; `None` for an empty one.
fn parts(pattern: &str) -> Option<Vec<&str>> {
    let mut parts: Vec<&str> = pattern.split_whitespace().collect();
    match parts.last() {
        None => None,
        Some(&"*") => {
            parts.pop();
            Some(parts)
        }
        Some(_) => Some(parts),
    }
}

/// Returns true if names stand in a command in this order, with nothing but options, their values, assignments and the like in
/// front of each.
fn follow(names: &[&str], words: &[String]) -> bool {
    // Where the next name may stand.
    let mut at = vec![false; words.len() + 1];
    at[0] = true;
    for name in names {
        let mut next = vec![false; words.len() + 1];
        for (index, word) in words.iter().enumerate() {
            if !at[index] {
                continue;
            }
            next[index + 1] |= glob(name, word);
            if is_option(word) || word.starts_with('+') || word.contains('=') {
                at[index + 1] = true;
                // The next word may be its value.
                if !word.contains('=') && index + 2 < at.len() {
                    at[index + 2] = true;
                }
            }
        }
        at = next;
    }
    at.contains(&true)
}

fn is_option(word: &str) -> bool {
    word.len() > 1 && word.starts_with('-')
}

/// Returns true if a command has an option: `--force` also with a value or abbreviated, `-rf` also as `-fr` or `-r -f`.
fn has_option(option: &str, words: &[String]) -> bool {
    let is_same = |word: &String| {
        let name = word.split_once('=').map_or(word.as_str(), |(name, _)| name);
        glob(option, word)
            || glob(option, name)
            || (name.len() > 3 && name.starts_with("--") && option.starts_with(name))
    };
    if words.iter().any(is_same) {
        return true;
    }
    let letters =
        option.strip_prefix('-').filter(|letters| letters.chars().all(char::is_alphabetic));
    let Some(letters) = letters.filter(|letters| letters.len() <= 3) else { return false };
    let is_given = |letter| {
        let clusters = words.iter().filter(|word| is_option(word) && !word.starts_with("--"));
        clusters.into_iter().any(|word| word.contains(letter))
    };
    letters.chars().all(is_given)
}

/// Returns true if a word means the file that a pattern's path means.
fn is_file(pattern: &str, folder: &Path, word: &str, cwd: &Path) -> bool {
    let Some(file) = file_of(word, cwd) else { return false };
    let wanted: PathBuf = folder.join(pattern).components().collect();
    let text = |part: Component<'_>| part.as_os_str().to_string_lossy().into_owned();
    let (wanted, file): (Vec<_>, Vec<_>) =
        (wanted.components().map(text).collect(), file.components().map(text).collect());
    wanted.len() == file.len() && wanted.iter().zip(&file).all(|(part, name)| glob(part, name))
}

/// Returns true if a text is as a pattern says, where `*` stands for any text.
fn glob(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = text.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.len() >= last.len() && rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    fn folders() -> Folders<'static> {
        Folders { cwd: Path::new("/p"), workspace: Path::new("/p") }
    }

    #[test]
    fn rules_that_ask_or_refuse_mean_a_program_however_it_is_written() {
        for (pattern, line) in [
            ("touch", "touch x"),
            ("touch", "/usr/bin/touch x"),
            ("touch", "./touch"),
            ("git push", "git -C . push --force"),
            ("git push", "git --no-pager push"),
            ("git push", "/usr/bin/git -c a=b push"),
            ("git push --force", "git push origin --force"),
            ("git push --force", "git push --force=x"),
            ("git push --force", "git push --forc"),
            ("rm -rf", "rm -fr x"),
            ("rm -rf", "rm -r x -f"),
            ("rm -rf", "/bin/rm -vrf x"),
            ("cargo publish", "cargo +nightly publish"),
            ("make deploy", "make A=1 deploy"),
            ("./run.sh", "/p/run.sh"),
            ("*", "x"),
        ] {
            assert!(names(pattern, &words(line), folders()), "{pattern}: {line}");
        }
        for (pattern, line) in [
            ("git push", "git commit -m push"),
            ("git push", "git stash push"),
            ("git push --force", "git push"),
            ("rm -rf", "rm -r x"),
            ("touch", "mytouch"),
            ("", "x"),
            ("./run.sh", "sub/run.sh"),
        ] {
            assert!(!names(pattern, &words(line), folders()), "{pattern}: {line}");
        }
    }

    #[test]
    fn rules_that_allow_are_read_as_they_are_written() {
        assert!(allows("git log *", &words("git log -3"), folders()));
        assert!(!allows("git log", &words("git -C . log"), folders()));
        assert!(!allows("touch", &words("/evil/touch"), folders()));
        // A path is that of one file, wherever the command runs.
        assert!(allows("./run.sh", &words("./run.sh a"), folders()));
        let evil = Folders { cwd: Path::new("/p/evil"), ..folders() };
        assert!(!allows("./run.sh", &words("./run.sh"), evil));
        assert!(allows("./run.sh", &words("/p/run.sh"), evil));
        assert!(!allows("./*.sh", &words("evil/run.sh"), folders()));
    }

    #[test]
    fn long_lines_take_no_time() {
        let line = "rm -a ".repeat(10_000);
        assert!(!names_within("rm deploy", &line, folders()));
        assert!(!names("rm deploy", &words(&line), folders()));
        assert!(names_within("rm -rf", &(line + ";sh -c 'cd x; rm -r -f y'"), folders()));
    }
}
