use super::*;
use pipemux_proto::projection::{CodePiece, Piece as Owned, Projection};
use proptest::prelude::*;

fn sent(texts: &[String]) -> RawProjection {
    let code =
        |text: &String| Owned::Code(CodePiece { text: text.clone(), ..CodePiece::default() });
    let content = texts.iter().map(code).collect();
    let whole = Projection { content, ..Projection::default() };
    RawProjection::read(&pipemux_proto::encode(&whole).unwrap().into()).unwrap()
}

proptest! {
    #[test]
    fn estimates_of_the_previous_projection_change_no_estimate(
        before in proptest::collection::vec(("[a中.\n ]{1,30}", 1_usize..900), 0..4),
        after in proptest::collection::vec(("[a中.\n ]{1,30}", 1_usize..900), 0..4),
        keep in 0_usize..4,
    ) {
        let texts = |all: Vec<(String, usize)>| -> Vec<String> {
            all.into_iter().map(|(text, times)| text.repeat(times)).collect()
        };
        let (before, mut after) = (texts(before), texts(after));
        for (old, new) in before.iter().zip(&mut after).take(keep) {
            *new = old.replacen("中", "b\n", 1);
        }
        let (old, new) = (sent(&before), sent(&after));
        old.tokens_beyond(0, None);
        prop_assert_eq!(new.tokens_beyond(0, Some(&old)), sent(&after).tokens_beyond(0, None));
        drop(new.slots());
        prop_assert_eq!(new.decode_slots().content.len(), after.len());
    }
}
