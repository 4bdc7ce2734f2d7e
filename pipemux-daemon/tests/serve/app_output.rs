//! What apps print: limited, shown when they die, and followed while they run.

use std::fs;
use std::time::Duration;

use pipemux_proto::client::{Body, Verb};
use pipemux_proto::watch::LogPart;

use crate::harness::{Client, TestHome, wait_for, without_dates};

const LINE: &str = "a line of a flood that nobody asked for";

#[test]
fn flood_of_output_is_limited_and_delays_no_client() {
    let home = TestHome::new();
    // 100 MB, followed by the reason for the exit.
    let script =
        format!("yes \"{LINE}\" | head -c 100000000; echo; echo \"the reason 原因\" >&2; exit 3");
    home.app("flood", &script);
    home.app("sleepy", "sleep 1000; true");
    let _daemon = home.serve();
    let (mut flood, mut quiet) = (Client::connect(&home), Client::connect(&home));
    flood.send_open("flood", "main", "/", &[]);
    wait_for(|| (!home.session_log("flood", "main").is_empty()).then_some(()));
    // Meanwhile other clients are answered.
    for _ in 0..20 {
        quiet.ask(Verb::Status).unwrap();
    }
    let why = flood.answer().unwrap_err();
    assert!(why.contains("ended with status 3"), "{why}");
    assert!(why.ends_with("the reason 原因"), "{why}");
    // Of a session that never was open, the end of the log is left.
    let all = home.session_log("flood", "main");
    assert!(all.len() <= 16 * 1024, "{}", all.len());
    // `head` cut the flood's last line; all others are complete.
    let odd: Vec<&str> =
        all.lines().filter(|line| *line != LINE && !line.starts_with("… ")).collect();
    assert!(odd.len() <= 3, "{odd:?}");
}

#[test]
fn log_of_a_flood_accounts_for_every_byte() {
    let home = TestHome::new();
    // The session stays, so that all of its log does.
    let script = format!("yes \"{LINE}\" | head -n 500000; echo \"the end\"; exec sleep 1000");
    home.app_with("flood", &script, "limits.log = 67108864\n");
    let _daemon = home.serve();
    Client::connect(&home).send_open("flood", "main", "/", &[]);
    let log = wait_for(|| {
        Some(home.session_log("flood", "main")).filter(|log| log.ends_with("the end\n"))
    });
    let gaps: Vec<&str> = log.lines().filter(|line| line.starts_with("… ")).collect();
    let told = gaps.iter().copied().map(number).sum::<u64>();
    let notes = gaps.iter().map(|line| line.len() as u64 + 1).sum::<u64>();
    let printed = 500_000 * (LINE.len() as u64 + 1) + "the end\n".len() as u64;
    assert!(told > 0, "nothing of {printed} bytes was left out");
    // A gap behind a part of a line begins with an end of line of its own.
    let accounted = log.len() as u64 - notes + told;
    assert!(accounted.abs_diff(printed) <= gaps.len() as u64, "{accounted} of {printed}: {gaps:?}");
}

#[test]
fn log_length_follows_the_manifest() {
    let home = TestHome::new();
    home.app_with("many", "seq 1 3000; exec sleep 1000", "limits.log = 8192\n");
    let _daemon = home.serve();
    let mut client = Client::connect(&home);
    client.send_open("many", "main", "/", &[]);
    let log =
        wait_for(|| Some(home.session_log("many", "main")).filter(|log| log.ends_with("3000\n")));
    let path = home.session_log_path("many", "main");
    let older = fs::read_to_string(path.with_extension("log.1")).unwrap();
    let older = without_dates(&older);
    assert!(log.len() <= 8192 && older.len() <= 8192 && older.len() > 8100);
    let numbers: Vec<u32> = (older + &log).lines().map(|line| line.parse().unwrap()).collect();
    assert!(numbers.windows(2).all(|pair| pair[0] + 1 == pair[1]));
    // The last lines reach back into the previous file.
    let session = "many/main".parse().unwrap();
    let verb = Verb::Logs { session, lines: 1500, after: None, wait_ms: 0 };
    let Body::Text(text) = client.ask(verb).unwrap() else { panic!("no text") };
    assert_eq!(text.lines().count(), 1500);
    assert!(text.starts_with("1501\n") && text.ends_with("3000\n"));
}

#[test]
fn last_output_is_shown_although_a_descendant_holds_the_pipe() {
    let home = TestHome::new();
    home.app("dying", "(setsid sleep 1000 &); printf \"half a line\"; kill -9 $$");
    let _daemon = home.serve();
    let why = Client::connect(&home).open("dying").unwrap_err();
    assert!(why.contains("killed by signal 9") && why.ends_with("half a line"), "{why}");
}

#[test]
fn last_output_is_of_the_process_that_died() {
    let home = TestHome::new();
    let (once, twice) = (home.directory.path().join("once"), home.directory.path().join("twice"));
    let (once, twice) = (once.display(), twice.display());
    let script = format!(
        "[ -e {twice} ] && {{ echo \"new words\"; exit 5; }}; \
         [ -e {once} ] && {{ : > {twice}; exit 4; }}; \
         : > {once}; printf \"old words\"; exit 3"
    );
    home.app("dying", &script);
    let _daemon = home.serve();
    let mut client = Client::connect(&home);
    let why = client.open("dying").unwrap_err();
    assert!(why.contains("status 3") && why.contains("old words"), "{why}");
    let why = client.open("dying").unwrap_err();
    assert!(why.contains("status 4") && !why.contains("words"), "{why}");
    assert!(!why.contains("its last lines"), "{why}");
    // The first process's unfinished line doesn't hide the third one's.
    let why = client.open("dying").unwrap_err();
    assert!(why.contains("status 5") && why.contains("new words"), "{why}");
    assert!(!why.contains("old words"), "{why}");
    // The log contains both.
    assert_eq!(home.session_log("dying", "main"), "old wordsnew words\n");
}

#[test]
fn binary_output_is_logged_unchanged() {
    let home = TestHome::new();
    home.app("raw", "printf \"\\\\377\\\\376 ok\\\\n\"; exit 1");
    let _daemon = home.serve();
    let why = Client::connect(&home).open("raw").unwrap_err();
    assert!(why.ends_with("\u{fffd}\u{fffd} ok"), "{why}");
    let log = fs::read(home.session_log_path("raw", "main")).unwrap();
    let printed = log.iter().position(|byte| *byte == b'\n').map(|end| &log[end + 1..]);
    assert!(log.starts_with(b"[pipemux 20") && printed == Some(b"\xff\xfe ok\n"), "{log:?}");
}

#[test]
fn log_is_followed_across_rotation() {
    let home = TestHome::new();
    let go = home.directory.path().join("go");
    let script = format!(
        "echo first; while [ ! -e {go} ]; do sleep 0.01; done; seq 1 2000; exec sleep 1000",
        go = go.display()
    );
    home.app_with("slow", &script, "limits.log = 8192\n");
    let _daemon = home.serve();
    let mut client = Client::connect(&home);
    client.send_open("slow", "main", "/", &[]);
    wait_for(|| (home.session_log("slow", "main") == "first\n").then_some(()));
    let mut follower = Client::connect(&home);
    let mut ask = |after, wait: Duration| {
        let session = "slow/main".parse().unwrap();
        let wait_ms = wait.as_millis() as u32;
        match follower.ask(Verb::Logs { session, lines: 500, after, wait_ms }).unwrap() {
            Body::Log(part) => part,
            other => panic!("{other:?}"),
        }
    };
    let LogPart { text, next, missed } = ask(Some(0), Duration::from_secs(20));
    assert_eq!((&*without_dates(&text), next, missed), ("first\n", text.len() as u64, 0));
    // The log doesn't grow in this time.
    let nothing = ask(Some(next), Duration::from_millis(20));
    assert_eq!((nothing.text.as_str(), nothing.next), ("", next));
    fs::write(go, "").unwrap();
    let (mut position, mut text) = (next, String::new());
    while !text.ends_with("2000\n") {
        let part = ask(Some(position), Duration::from_secs(20));
        assert!(part.next > position);
        assert_eq!(part.missed, 0, "a follower that keeps up misses nothing");
        (position, text) = (part.next, text + &part.text);
    }
    let expected: String = (1..=2000).map(|number| format!("{number}\n")).collect();
    assert_eq!(text, expected);
}

fn number(gap: &str) -> u64 {
    let digits: String = gap.chars().filter(char::is_ascii_digit).collect();
    digits.parse().unwrap()
}
