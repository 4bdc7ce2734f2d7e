//! Bodies: every message, read from any bytes, is written so that it reads as the same again.

use std::fmt::Debug;

use pipemux_proto::prototype::Prototype;
use pipemux_proto::{Blob, Fault, Hello, Value, app, client, context, projection, report};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Every type that is a body, and those within that stand alone somewhere.
const READERS: &[fn(&[u8])] = &[
    again::<Hello>,
    again::<Fault>,
    again::<app::Empty>,
    again::<app::Open>,
    again::<app::Opened>,
    again::<app::Project>,
    again::<projection::Projection>,
    again::<app::Invoke>,
    again::<app::Outcome>,
    again::<app::Read>,
    again::<app::Chunk>,
    again::<app::Locate>,
    again::<app::Located>,
    again::<app::Progress>,
    again::<app::Changed>,
    again::<app::Notify>,
    again::<app::Busy>,
    again::<client::Call>,
    again::<client::Answer>,
    again::<client::Seen>,
    again::<report::Report>,
    again::<context::Context>,
    again::<Vec<Prototype>>,
    again::<projection::Args>,
    again::<Value>,
    again::<app::Saved>,
    again::<client::Attach>,
];

/// The first byte says which message the others are.
pub fn check(data: &[u8]) {
    let Some((which, body)) = data.split_first() else { return };
    READERS[usize::from(*which) % READERS.len()](body);
    if let Ok(value) = Blob(body.to_vec().into()).to_value() {
        assert!(!value.to_string().contains('\n'), "a value is shown on one line");
    }
    if let Ok(prototypes) = pipemux_proto::decode::<Vec<Prototype>>(body) {
        for prototype in prototypes {
            assert!(prototype.compact().starts_with(&prototype.name));
            assert!(prototype.declaration().ends_with(';'));
        }
    }
}

fn again<T: Serialize + DeserializeOwned + PartialEq + Debug>(bytes: &[u8]) {
    let Ok(first) = pipemux_proto::decode::<T>(bytes) else { return };
    let written = match pipemux_proto::encode(&first) {
        Ok(written) => written,
        Err(error) => panic!("{first:?} was read and can't be written: {error}"),
    };
    let second = match pipemux_proto::decode::<T>(&written) {
        Ok(second) => second,
        Err(error) => panic!("{first:?} was written and can't be read: {error}"),
    };
    // What is no number isn't equal to itself: then the bytes must be.
    #[allow(clippy::eq_op, reason = "a float may differ from itself")]
    let comparable = first == first;
    assert!(second == first || !comparable, "{first:?} was read as {second:?}");
    assert_eq!(pipemux_proto::encode(&second).ok(), Some(written), "{second:?}");
}
