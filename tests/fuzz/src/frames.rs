//! The frame decoder splits a stream the same way in whatever pieces it arrives, and every frame
//! can be encoded.

use pipemux_proto::envelope::EnvelopeError;
use pipemux_proto::limits::FRAME_MAX;
use pipemux_proto::{Envelope, Frame, FrameDecoder, FrameError};

/// The first byte is the size of the pieces in which the others arrive.
pub fn check(data: &[u8]) {
    let Some((pieces, stream)) = data.split_first() else { return };
    let whole = cut(stream, stream.len());
    assert_eq!(cut(stream, usize::from(*pieces) + 1), whole, "in pieces of {pieces} + 1");
    for frame in whole.0.iter().flatten() {
        assert!(frame.body.len() <= FRAME_MAX);
        let bytes = Frame::forward(&frame.envelope, &frame.body);
        let Ok(bytes) = bytes else {
            // Encoding in the shortest form only makes a frame smaller.
            panic!("a frame that was read can't be forwarded: {frame:?}");
        };
        let again = cut(&bytes, bytes.len());
        assert_eq!(again, (vec![Ok(frame.clone())], true));
    }
    if let Ok((envelope, length)) = Envelope::read(stream) {
        let mut written = Vec::new();
        envelope.write(&mut written);
        assert!(written.len() <= length && length <= Envelope::MAX);
        assert_eq!(Envelope::read(&written), Ok((envelope, written.len())));
    }
}

/// Returns the frames and errors of a stream, and whether all of it was consumed. Reading stops at
/// an error that ends a connection.
fn cut(stream: &[u8], pieces: usize) -> (Vec<Result<Frame, FrameError>>, bool) {
    let mut decoder = FrameDecoder::default();
    let mut all = Vec::new();
    for piece in stream.chunks(pieces.max(1)) {
        decoder.extend(piece);
        loop {
            match decoder.next_frame() {
                Ok(Some(frame)) => all.push(Ok(frame)),
                Ok(None) => break,
                Err(error) => {
                    all.push(Err(error));
                    let goes_on = FrameError::Envelope(match error {
                        FrameError::Envelope(inner @ EnvelopeError::Method { .. }) => inner,
                        _ => return (all, false),
                    });
                    assert_eq!(goes_on, error);
                }
            }
        }
    }
    (all, decoder.is_empty())
}
