//! `PROTOCOL.md` and the crate say the same. Types and fields are compared in `tests/proto/schema`.

use crate::page::{PAGE, section};
use pipemux_proto::{Frame, Incarnation, Method, envelope, hello, limits};

#[test]
fn page_lists_every_method_with_its_number() {
    for method in Method::ALL {
        let row = format!("| `{method:?}` | {} |", *method as u8);
        assert!(PAGE.contains(&row), "PROTOCOL.md lacks the row {row} …");
    }
    let rows = PAGE.lines().filter(|line| line.starts_with("| `") && line.contains("→ ")).count();
    // Hello and Ping go both ways.
    assert_eq!(rows + 2, Method::ALL.len(), "PROTOCOL.md has a method that isn't there");
}

#[test]
fn page_names_one_protocol_version() {
    let hello::ProtocolVersion { major, minor } = hello::PROTOCOL;
    assert!(PAGE.starts_with(&format!("# The protocol, version {major}.{minor}\n")));
    let as_field = format!("`{{major: {major}, minor: {minor}}}`");
    assert!(section("hello::ProtocolVersion").contains(&as_field), "{as_field}");
    let in_example = format!(r#""protocol": {{"major": {major}, "minor": {minor}}}"#);
    assert!(PAGE.contains(&in_example), "{in_example}");
}

#[test]
fn page_lists_every_kind() {
    use envelope::Kind::{Cancel, Event, Fault, Reply, Request};
    for kind in [Request, Reply, Fault, Event, Cancel] {
        let row = format!("| {} | {} |", format!("{kind:?}").to_lowercase(), kind as u8);
        assert!(PAGE.contains(&row), "PROTOCOL.md lacks the row {row} …");
    }
}

#[test]
fn links_within_the_page_resolve() {
    let anchors: Vec<String> = PAGE.lines().filter(|l| l.starts_with('#')).map(anchor).collect();
    for (at, _) in PAGE.match_indices("](#") {
        let target = PAGE[at + 3..].split(')').next().unwrap_or_default();
        assert!(anchors.iter().any(|known| known == target), "#{target} leads nowhere");
    }
}

#[test]
fn page_states_the_bounds_of_the_crate() {
    for bound in [
        limits::FRAME_MAX,
        limits::PROVIDER_MAX,
        limits::SESSION_MAX,
        limits::KEY_MAX,
        limits::TYPE_MAX,
        limits::VALUE_DEPTH_MAX,
        limits::CODE_MAX,
        limits::STEPS_MAX,
        limits::STDIN_MAX,
        limits::COPY_MAX,
        limits::READ_CHUNK as usize,
        limits::CHOICES_MAX,
        limits::EXCHANGE_MAX,
    ] {
        let digits = bound.to_string();
        let grouped = if digits.len() > 4 {
            let (head, tail) = digits.split_at(digits.len() - 3);
            match head.len() {
                4.. => format!("{},{},{tail}", &head[..head.len() - 3], &head[head.len() - 3..]),
                _ => format!("{head},{tail}"),
            }
        } else {
            digits
        };
        assert!(section_of_limits().contains(&grouped), "the limits lack {grouped}");
    }
}

#[test]
fn example_bytes_are_the_encoded_frame() {
    let start = PAGE.find("```hex\n").expect("an example in hex") + 7;
    let block = &PAGE[start..start + PAGE[start..].find("```").expect("its end")];
    let mut bytes = Vec::new();
    for line in block.lines() {
        let hex: Vec<&str> = line.split_whitespace().collect();
        let hex = hex.iter().take_while(|w| w.len() == 2 && u8::from_str_radix(w, 16).is_ok());
        bytes.extend(hex.map(|word| u8::from_str_radix(word, 16).expect("hex")));
    }
    let mut envelope = envelope::Envelope::request(Method::Locate, 5, Incarnation(7));
    envelope.deadline_ms = 500;
    let locate = pipemux_proto::app::Locate { keys: vec!["k1".into()], ..Default::default() };
    assert_eq!(Frame::encode(&envelope, &locate).expect("a frame"), bytes);
}

/// As Markdown renderers make it of a heading.
fn anchor(heading: &str) -> String {
    let text = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = text.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

fn section_of_limits() -> &'static str {
    let start = PAGE.find("\n## Limits").expect("the limits");
    let rest = &PAGE[start + 4..];
    &rest[..rest.find("\n## ").unwrap_or(rest.len())]
}
