//! A bridge to [`pipemux_write_queue`] until all users name that crate itself.

pub use pipemux_write_queue::{
    COPIED_FRAME_MAX as GATHERED_MAX, SLICES_PER_WRITE as GATHER, SpareBuffers as Spares,
    WriteQueue as Output,
};
