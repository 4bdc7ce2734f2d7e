use super::*;

/// Returns a frame of that many bytes, including its length prefix.
fn frame(length: usize, fill: u8) -> Vec<u8> {
    let mut bytes = vec![fill; length];
    bytes[..4].copy_from_slice(&(length as u32 - 4).to_be_bytes());
    bytes
}

fn whole(pool: &mut BufferPool, frame: &[u8]) -> Bytes {
    let mut partial = pool.start_frame(&frame[..10]);
    assert!(!partial.is_whole());
    let rest = [&frame[10..], b"next"].concat();
    assert_eq!(partial.take(&rest), b"next");
    assert!(partial.is_whole());
    partial.into_payload()
}

fn kept(pool: &BufferPool) -> Vec<usize> {
    lock(&pool.free).buffers.iter().map(Vec::len).collect()
}

#[test]
fn returned_buffer_is_reused_without_its_old_content() {
    let mut pool = BufferPool::default();
    let first = frame(100_000, 1);
    let held = whole(&mut pool, &first);
    let part = held.slice(50_000..);
    drop(held);
    assert_eq!((&part[..], kept(&pool)), (&first[PREFIX + 50_000..], vec![]));
    drop(part);
    assert_eq!(kept(&pool), [100_000]);
    let second = frame(60_000, 2);
    let held = whole(&mut pool, &second);
    assert_eq!((&held[..], kept(&pool)), (&second[PREFIX..], vec![]));
    // A small frame doesn't take a large buffer, and a frame that never arrives completely returns
    // its own.
    drop(held);
    drop(pool.start_frame(&frame(49_000, 3)[..20]));
    assert_eq!(kept(&pool), [100_000, 49_000]);
}

#[test]
fn pool_keeps_the_largest_buffers_and_frees_them_when_idle() {
    let mut pool = BufferPool::default();
    let all: Vec<PartialFrame> =
        (1..=POOL_BUFFERS_MAX + 3).map(|n| pool.start_frame(&frame(n * 10_000, 0)[..4])).collect();
    let late = pool.start_frame(&frame(500_000, 0)[..4]);
    drop(all);
    let mut sizes = kept(&pool);
    sizes.sort_unstable();
    let largest: Vec<usize> = (4..=POOL_BUFFERS_MAX + 3).map(|n| n * 10_000).collect();
    assert_eq!(sizes, largest);
    pool.tidy(7);
    assert_eq!(pool.next_timeout(), Some(7 + POOL_IDLE_MS));
    pool.tidy(6 + POOL_IDLE_MS);
    assert_eq!(kept(&pool).len(), POOL_BUFFERS_MAX);
    pool.tidy(7 + POOL_IDLE_MS);
    drop(late);
    assert_eq!((kept(&pool), pool.next_timeout()), (vec![], None));
}

#[test]
fn partial_frame_offers_no_more_room_than_the_turn_allows() {
    const READ_TURN: usize = 64 * 1024;
    let mut pool = BufferPool::default();
    let bytes = frame(READ_TURN + 50, 9);
    let mut partial = pool.start_frame(&bytes[..20]);
    let mut at = 20;
    for share in [READ_TURN, 30] {
        let room = partial.room(READ_TURN);
        assert_eq!(room.len(), share);
        room.copy_from_slice(&bytes[at..at + share]);
        partial.filled(share);
        at += share;
    }
    assert!(partial.is_whole() && partial.room(READ_TURN).is_empty());
    assert_eq!(partial.into_payload(), bytes[PREFIX..]);
}
