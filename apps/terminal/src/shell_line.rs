//! The commands of a line of a shell, as far as its words tell.

use tree_sitter::{Node, Parser};

/// A word of a command; nothing if the shell makes something of it that the line doesn't say.
pub type Word = Option<String>;

/// Returns the words of each command of a line, also of those within others. Nothing if the line
/// can't be read.
pub fn commands(line: &str) -> Option<Vec<Vec<Word>>> {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_bash::LANGUAGE.into()).ok()?;
    let tree = parser.parse(line, None)?;
    let root = tree.root_node();
    if root.has_error() {
        return None;
    }
    let mut commands = Vec::new();
    let mut waiting = vec![root];
    while let Some(node) = waiting.pop() {
        if node.kind() == "command" {
            commands.push(words(node, line));
        }
        // In the order of the line: the last one that waits comes first.
        waiting.extend(
            (0..node.named_child_count())
                .rev()
                .filter_map(|at| node.named_child(u32::try_from(at).ok()?)),
        );
    }
    Some(commands)
}

/// Returns the words of a line that is one command and says all of its words; else none.
pub fn plain_words(line: &str) -> Vec<String> {
    match commands(line).as_deref() {
        Some([one]) => one.iter().cloned().collect::<Option<_>>().unwrap_or_default(),
        _ => Vec::new(),
    }
}

fn words(command: Node<'_>, line: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let mut cursor = command.walk();
    for (at, child) in (0..).zip(command.children(&mut cursor)) {
        match (child.kind(), command.field_name_for_child(at)) {
            ("command_name", _) => {
                words.push(child.named_child(0).and_then(|name| word(name, line)))
            }
            (_, Some("argument")) => words.push(word(child, line)),
            _ => {}
        }
    }
    words
}

fn word(node: Node<'_>, line: &str) -> Word {
    let text = line.get(node.byte_range())?;
    let inside = |quote: char| text.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
    match node.kind() {
        "word" | "number" => text.chars().all(is_plain).then(|| text.to_owned()),
        "raw_string" => inside('\'').map(str::to_owned),
        "string" => inside('"').filter(|text| !text.contains(['$', '`', '\\'])).map(str::to_owned),
        "concatenation" => {
            let mut cursor = node.walk();
            node.named_children(&mut cursor).map(|part| word(part, line)).collect()
        }
        _ => None,
    }
}

/// Returns true for a character that stands for itself wherever it is in a word.
fn is_plain(c: char) -> bool {
    c.is_alphanumeric() || "_-./:,@%+=^".contains(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(line: &str) -> Option<Vec<String>> {
        let word = |word: &Word| word.clone().unwrap_or_else(|| "?".to_owned());
        let shown = |words: &Vec<Word>| words.iter().map(word).collect::<Vec<_>>().join(" ");
        commands(line).map(|all| all.iter().map(shown).collect())
    }

    #[test]
    fn commands_are_found_wherever_they_stand() {
        let of = |line: &str| shown(line).unwrap().join(" | ");
        assert_eq!(of("git push --force"), "git push --force");
        assert_eq!(of("A=1 git push > x 2>&1 # rm"), "git push");
        assert_eq!(of("cd a && ls | wc -l; 'rm' \"x y\""), "cd a | ls | wc -l | rm x y");
        assert_eq!(of("if a; then b; else c; fi"), "a | b | c");
        assert_eq!(of("for f in *; do rm \"$f\"; done"), "rm ?");
        assert_eq!(of("echo $(git push) `rm x`"), "echo ? ? | git push | rm x");
        assert_eq!(of("f() { git push; }; f"), "git push | f");
        assert_eq!(of("(a; { b; }) & diff <(c) d"), "a | b | diff ? d | c");
        assert_eq!(of("x=$(git push)"), "git push");
        assert_eq!(of("[[ -n $(git push) ]]"), "git push");
        assert_eq!(of("a <<E\n$(git push)\nE\n"), "a | git push");
        assert_eq!(of("! time_it\nb"), "time_it | b");
        assert_eq!(of("日本 'é'"), "日本 é");
    }

    #[test]
    fn words_that_a_shell_makes_something_of_are_unknown() {
        for line in [
            "$X",
            "g\\it",
            "gi*",
            "{a,b}",
            "~/x",
            "$'a'",
            "\"$X\"",
            "a$(b)",
            "\"a\\b\"",
            "${X:-git}",
        ] {
            assert!(shown(line).is_none_or(|words| words[0] == "?"), "{line}");
        }
        assert_eq!(plain_words("cargo test -p 'a b'"), ["cargo", "test", "-p", "a b"]);
        assert_eq!(plain_words("'gi't"), ["git"]);
        assert!(plain_words("cargo test; ls").is_empty());
        assert!(plain_words("cargo $X").is_empty());
    }

    #[test]
    fn lines_that_are_no_shell_are_unknown() {
        for line in ["if", "a 'b", "a )", "a && && b", "((", "for x"] {
            assert_eq!(shown(line), None, "{line}");
        }
        assert_eq!(shown(""), Some(Vec::new()));
    }
}
