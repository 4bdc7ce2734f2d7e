//! Search answers over the corpus that notebook and memory tree share.

use crate::common::Fixture;
use pipemux_notebook::Action;

const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/notes/tests/corpus/");

#[test]
fn search_answers_are_those_of_the_recorded_corpus() {
    let read = |name: &str| std::fs::read_to_string(format!("{CORPUS}{name}")).unwrap();
    let mut fixture = Fixture::new();
    fixture.done(Action::AddMany { rows: read("notes.jsonl").as_str().into() });
    let mut answers = String::new();
    for query in read("queries.txt").lines() {
        let answer = fixture.ask(Action::Search { words: query.into(), skip: None });
        answers += &format!("== {query}\n{}\n", answer.replace('\r', "␍"));
    }
    if std::env::var_os("PIPEMUX_RECORD_ANSWERS").is_some() {
        std::fs::write(format!("{CORPUS}notebook.answers.txt"), &answers).unwrap();
    }
    assert_eq!(answers, read("notebook.answers.txt"));
}
