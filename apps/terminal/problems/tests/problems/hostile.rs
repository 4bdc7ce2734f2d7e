//! Outputs that would do harm when they are shown, or are as long as outputs can be.

use pipemux_problems::limits::{FAILURES_MAX, HEAD_LINES, PROBLEMS_MAX, TAIL_LINES, TEXT_MAX};
use pipemux_problems::{Entry, OutputReader};

use crate::support::{lines_of, problems, read, transcript};

#[test]
fn escapes_and_bidi_are_inert() {
    let shown = transcript(&read(
        "\x1b[31mred\x1b[0m \x1b]0;title\x07text \x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\\n\
         a\u{202e}b\u{2066}c\u{200b}d\u{e0041}e\n\x1b[2J\x1b[Hhome\x1bcreset\nback\x08k\n",
    ));
    assert_eq!(shown, "red text link\na⟨U+202E⟩b⟨U+2066⟩c⟨U+200B⟩d⟨U+E0041⟩e\nhomereset\nback\n");
    assert!(!shown.contains('\x1b'));
}

#[test]
fn text_that_nobody_sees_is_shown() {
    let visible = |text: &str| pipemux_problems::visible(text.as_bytes());
    // A letter for each selector, after one emoji.
    assert_eq!(visible("👍\u{e0148}\u{e0155}"), "👍⟨U+E0148⟩⟨U+E0155⟩");
    assert_eq!(visible("⚠\u{fe0f}\u{fe0e}\u{fe0f}"), "⚠\u{fe0f}⟨U+FE0E⟩⟨U+FE0F⟩");
    assert_eq!(visible("a\u{fe0f}b\u{fe00}日\u{fe01}"), "a⟨U+FE0F⟩b⟨U+FE00⟩日⟨U+FE01⟩");
    for c in ['\u{ad}', '\u{3164}', '\u{feff}', '\u{200c}', '\u{200d}', '\u{34f}', '\u{ffa0}'] {
        let shown = format!("a⟨U+{:04X}⟩b", u32::from(c));
        assert_eq!(visible(&format!("a{c}b")), shown);
        assert_eq!(visible(&format!("{c}")), shown.trim_matches(['a', 'b']));
    }
    assert_eq!(visible("नी\u{200d}\u{200d}\u{200c}"), "नी⟨U+200D⟩⟨U+200D⟩⟨U+200C⟩");
    // What belongs to its neighbours stays.
    for text in [
        "✔\u{fe0f} done",
        "1\u{fe0f}\u{20e3}",
        "👩\u{200d}💻",
        "❤\u{fe0f}\u{200d}🔥",
        "می\u{200c}خواهم",
        "क्\u{200d}ष",
        "日本 한글 é",
    ] {
        assert_eq!(visible(text), text);
    }
}

#[test]
fn character_sets_leave_no_letter() {
    assert_eq!(pipemux_problems::visible(b"a\x1b(Bb\x1b[m\x1b)0c\r\n"), "abc");
    assert_eq!(pipemux_problems::visible(b"10 %\r20 %\r"), "20 %");
}

#[test]
fn an_escape_without_end_hides_no_error() {
    assert_eq!(problems(&read("\x1b]0;never ends\na.c:1:2: error: bad\n")), ["error a.c:1:2 bad"]);
    assert_eq!(problems(&read("\x1b[\na.c:1:2: error: bad\n")), ["error a.c:1:2 bad"]);
}

#[test]
fn an_overwritten_error_is_told() {
    let report = read("building 1/2\ra.c:1:2: error: bad\rbuilding 2/2\r\ndone\r\n");
    assert_eq!(problems(&report), ["error a.c:1:2 bad"]);
    assert_eq!(transcript(&report), "a.c:1:2: error: bad\nbuilding 2/2\ndone\n");
    assert_eq!(report.lines, 2);
}

#[test]
fn a_line_without_end_is_bounded() {
    let mut reader = OutputReader::new();
    for _ in 0..256 {
        reader.feed(&[b'x'; 64 * 1024]);
    }
    reader.feed(b"\na.c:1:2: error: bad\n");
    let report = reader.finish();
    assert_eq!(report.lines, 2);
    assert_eq!(report.bytes, 256 * 64 * 1024 + 21);
    let Entry::Line { text, .. } = &report.transcript[0] else { panic!("no line") };
    assert!(text.len() <= TEXT_MAX + '…'.len_utf8());
    assert_eq!(report.problems.len(), 1);
}

#[test]
fn long_outputs_keep_their_ends_and_their_problems() {
    let mut reader = OutputReader::new();
    for number in 0..20_000 {
        // Lines that are not similar, so that nothing but the bound leaves them out.
        reader.feed(format!("{} line\n", WORDS[number % WORDS.len()]).as_bytes());
        if number == 10_000 {
            reader.feed(b"a.c:1:2: error: bad\n");
        }
    }
    let report = reader.finish();
    assert!(report.transcript.len() <= HEAD_LINES + TAIL_LINES + 3);
    assert_eq!(lines_of(&report.transcript), 20_001);
    assert!(transcript(&report).contains("\na.c:1:2: error: bad\n"));
}

const WORDS: [&str; 5] = ["alpha", "beta", "gamma", "delta", "epsilon"];

#[test]
fn problems_and_failures_are_bounded_and_counted() {
    let mut reader = OutputReader::new();
    let extra = 50;
    for number in 0..PROBLEMS_MAX + extra {
        reader.feed(format!("a.c:{}:2: error: bad\n", number + 1).as_bytes());
    }
    for number in 0..FAILURES_MAX + extra {
        reader.feed(format!("test t{number} ... FAILED\n").as_bytes());
    }
    let report = reader.finish();
    assert_eq!(report.problems.len(), PROBLEMS_MAX);
    assert_eq!(report.counts.errors, (PROBLEMS_MAX + extra) as u64);
    assert_eq!(report.failures.len(), FAILURES_MAX);
    assert_eq!(report.failures_left_out, extra as u64);
}

#[test]
fn binary_output_is_inert() {
    let bytes: Vec<u8> = (0..=255).cycle().take(100_000).collect();
    let mut reader = OutputReader::new();
    reader.feed(&bytes);
    let shown = transcript(&reader.finish());
    assert!(shown.chars().all(|c| !c.is_control() || c == '\n' || c == '\t'));
}
