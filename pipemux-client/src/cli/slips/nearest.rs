//! The verb that a word comes nearest to.

use clap::CommandFactory;

use crate::cli::args::Cli;

/// Words of other tools for the same thing.
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
    ("quit", "down"),
    ("show", "view"),
    ("start", "open"),
    ("stop", "down"),
    ("version", "--version"),
];

/// The verb, with what else it needs, that stands for the word or comes near it; none when none does.
pub fn nearest_verb(word: &str) -> Option<String> {
    if let Some((_, verb)) = SYNONYMS.iter().find(|(synonym, _)| *synonym == word) {
        return Some((*verb).to_owned());
    }
    let command = Cli::command();
    let verbs = command.get_subcommands().map(|verb| verb.get_name().to_owned());
    let near = verbs.map(|verb| (distance(word, &verb), verb)).min()?;
    // A third of the letters may be wrong, but a word of three letters only by one.
    let (wrong, verb) = near;
    let bound = (word.chars().count() / 3).clamp(1, 2);
    (wrong <= bound).then_some(verb)
}

/// Letters to insert, remove, change or swap to make one word the other (optimal string alignment).
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows: Vec<Vec<usize>> = vec![(0..=b.len()).collect()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let changed = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = changed.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(rows[i - 2][j - 2] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_distance_counts_swaps_as_one() {
        assert_eq!(distance("veiw", "view"), 1);
        assert_eq!(distance("", "end"), 3);
        assert_eq!(distance("logs", "logs"), 0);
        assert_eq!(distance("editor", "end"), 5);
    }
}
