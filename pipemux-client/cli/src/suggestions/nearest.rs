//! Finds the verb that comes nearest to a word.

use clap::CommandFactory;
use strsim::osa_distance;

use crate::args::Cli;

/// Words that other tools use for the same thing.
const SYNONYMS: &[(&str, &str)] = &[
    ("act", "run"),
    ("call", "run"),
    ("config", "set"),
    ("do", "run"),
    ("edit", "open editor"),
    ("exec", "run"),
    ("kill", "end"),
    ("list", "sessions"),
    ("log", "logs"),
    ("ls", "sessions"),
    ("option", "set"),
    ("options", "set"),
    ("print", "view"),
    ("ps", "sessions"),
    ("show", "view"),
    ("start", "open"),
    ("version", "--version"),
];

/// Returns the verb that a word stands for or nearly spells, with its first argument if it needs
/// one; `None` when no verb is near.
pub fn nearest_verb(word: &str) -> Option<String> {
    if let Some((_, verb)) = SYNONYMS.iter().find(|(synonym, _)| *synonym == word) {
        return Some((*verb).to_owned());
    }
    let command = Cli::command();
    let verbs = command.get_subcommands().map(|verb| verb.get_name().to_owned());
    let (typos, verb) = verbs.map(|verb| (osa_distance(word, &verb), verb)).min()?;
    // One typo is allowed in every three letters: always one, at most two.
    let allowed = (word.chars().count() / 3).clamp(1, 2);
    (typos <= allowed).then_some(verb)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn swapped_letters_count_as_one_typo() {
        assert_eq!(osa_distance("veiw", "view"), 1);
        assert_eq!(osa_distance("", "end"), 3);
        assert_eq!(osa_distance("logs", "logs"), 0);
        assert_eq!(osa_distance("editor", "end"), 5);
    }

    #[test]
    fn longer_words_may_have_two_typos_and_short_ones_one() {
        assert_eq!(nearest_verb("hisotyr").as_deref(), Some("history"));
        assert_eq!(nearest_verb("vw"), None);
        assert_eq!(nearest_verb("en").as_deref(), Some("end"));
    }
}
