//! The values of every release: a changed line here means files that are no longer found.

use pipemux_stable_hash::{StableHasher, hash, hash_with_length};

/// An input, its `hash` and its `hash_with_length`.
const GOLDEN: [(&str, u64, u64); 8] = [
    ("", 0xcbf2_9ce4_8422_2325, 0xaf63_bd4c_8601_b7df),
    ("a", 0xaf63_dc4c_8601_ec8c, 0x089b_e307_b544_f397),
    ("/a/b", 0x363e_289c_b38e_e0cc, 0xba7f_ca45_1bc7_f3d8),
    ("demo", 0xa5e4_1b67_4276_d396, 0x596e_2275_efe9_8116),
    ("/home/ann/projekt ä", 0xb97e_014f_d19f_5aa6, 0xd076_eca1_31c7_1c76),
    ("/home/ann/src/main.rs", 0xea4e_701d_9a36_47a1, 0x5990_364d_0a3b_d6dc),
    ("\0", 0xaf63_bd4c_8601_b7df, 0x0832_8707_b4eb_6e3a),
    ("\0\0", 0x0832_8807_b4eb_6fed, 0xd94d_1418_6c0f_331d),
];

#[test]
fn values_of_texts_never_change() {
    for (text, plain, with_length) in GOLDEN {
        assert_eq!(hash(text.as_bytes()), plain, "{text:?}");
        assert_eq!(hash_with_length(text.as_bytes()), with_length, "{text:?}");
    }
}

#[test]
fn values_of_a_thousand_bytes_never_change() {
    let bytes: Vec<u8> = (0..=255).cycle().take(1000).collect();
    assert_eq!(hash(&bytes), 0x9ebd_4ca7_a79e_5ddd);
    assert_eq!(hash_with_length(&bytes), 0x5a07_75e1_d21a_140f);
}

/// The mark of a process is made from a directory's device, inode and birth, as little-endian
/// bytes.
#[test]
fn values_of_numbers_never_change() {
    let golden = [
        ([0, 0, 0], 0x81d2_3fd7_003c_2305),
        ([2049, 131_073, 1_769_860_800_123_456_789], 0x1faf_b024_facb_346a),
        ([u64::MAX, 1, 0], 0x936c_14a1_1b37_373c),
    ];
    for (numbers, expected) in golden {
        let mut hasher = StableHasher::new();
        for number in numbers {
            hasher.write(&number.to_le_bytes());
        }
        assert_eq!(hasher.finish(), expected, "{numbers:?}");
    }
}

#[test]
fn cuts_between_pieces_make_no_difference() {
    for (text, plain, with_length) in GOLDEN {
        for cut in 0..=text.len() {
            let (front, back) = text.as_bytes().split_at(cut);
            let mut hasher = StableHasher::default();
            hasher.write(front);
            hasher.write(back);
            assert_eq!(hasher.finish(), plain, "{text:?} cut at {cut}");
            assert_eq!(hasher.finish_with_length(), with_length, "{text:?} cut at {cut}");
        }
    }
}
