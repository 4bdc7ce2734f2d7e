//! What an undo or a redo says of line numbers holds for the next call.

use crate::support::*;

#[test]
fn lines_that_come_back_at_the_end_have_the_numbers_that_were_told() {
    let mut session = TestSession::with(&[("f.txt", "a\nb\nc\n")]);
    let made = session.done(&insert(4, "dup\ndup\ndup"));
    let back = done(session.click(&made.links[0]));
    let again = done(session.click(&back.links[0]));
    assert_eq!(again.brief, "insert in f.txt: lines 4-6 again");
    let shown =
        again.numbers.iter().any(|of| (of.first, of.last) == (4, 6) && of.version.is_some());
    assert!(shown, "{again:?}");
}
