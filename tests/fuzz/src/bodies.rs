//! Bodies: every message that can be decoded is encoded so that it decodes to the same message.

use std::fmt::Debug;

use pipemux_proto::prototype::Prototype;
use pipemux_proto::{Blob, Fault, Hello, Value, app, client, context, projection, report};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// All types of bodies, and the types within them that are also sent alone.
const READERS: &[fn(&[u8])] = &[
    round_trip::<Hello>,
    round_trip::<Fault>,
    round_trip::<app::Empty>,
    round_trip::<app::OpenRequest>,
    round_trip::<app::Opened>,
    round_trip::<app::Project>,
    round_trip::<projection::Projection>,
    round_trip::<app::Invoke>,
    round_trip::<app::Outcome>,
    round_trip::<app::ReadRequest>,
    round_trip::<app::Chunk>,
    round_trip::<app::Locate>,
    round_trip::<app::Located>,
    round_trip::<app::Progress>,
    round_trip::<app::Changed>,
    round_trip::<app::Notify>,
    round_trip::<app::Busy>,
    round_trip::<client::VerbRequest>,
    round_trip::<client::Answer>,
    round_trip::<client::DeliveryAck>,
    round_trip::<report::Report>,
    round_trip::<context::Context>,
    round_trip::<Vec<Prototype>>,
    round_trip::<projection::Args>,
    round_trip::<Value>,
    round_trip::<app::Saved>,
    round_trip::<client::Attach>,
];

/// The first byte selects the type, the others are the body.
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

fn round_trip<T: Serialize + DeserializeOwned + PartialEq + Debug>(bytes: &[u8]) {
    let Ok(first) = pipemux_proto::decode::<T>(bytes) else { return };
    let written = match pipemux_proto::encode(&first) {
        Ok(written) => written,
        Err(error) => panic!("{first:?} can be decoded but not encoded: {error}"),
    };
    let second = match pipemux_proto::decode::<T>(&written) {
        Ok(second) => second,
        Err(error) => panic!("{first:?} was encoded and can't be decoded: {error}"),
    };
    // NaN isn't equal to itself; then the bytes must be equal.
    #[allow(clippy::eq_op, reason = "a float may differ from itself")]
    let comparable = first == first;
    assert!(second == first || !comparable, "{first:?} was decoded as {second:?}");
    assert_eq!(pipemux_proto::encode(&second).ok(), Some(written), "{second:?}");
}
