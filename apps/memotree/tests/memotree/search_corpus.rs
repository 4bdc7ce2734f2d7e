//! Search answers over the corpus that notebook and memory tree share.

use crate::common::{Fixture, text};
use pipemux_proto::app::Outcome;

const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/notes/tests/corpus/");

#[test]
fn search_answers_are_those_of_the_recorded_corpus() {
    let read = |name: &str| std::fs::read_to_string(format!("{CORPUS}{name}")).unwrap();
    let mut tree = Fixture::new();
    tree.call("add_many", [("rows", text(&read("notes.jsonl")))]);
    let mut answers = String::new();
    for query in read("queries.txt").lines() {
        let answer = match tree.try_call("search", [("query", text(query))]) {
            Outcome::Done(_) => tree.ask("search", [("query", text(query))]),
            Outcome::Failed(fault) => format!("{}\n", fault.message),
            other => panic!("{query}: {other:?}"),
        };
        answers += &format!("== {query}\n{}\n", answer.replace('\r', "␍"));
    }
    if std::env::var_os("PIPEMUX_RECORD_ANSWERS").is_some() {
        std::fs::write(format!("{CORPUS}memotree.answers.txt"), &answers).unwrap();
    }
    assert_eq!(answers, read("memotree.answers.txt"));
}
