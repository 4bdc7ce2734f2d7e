//! The Context model's own test vectors (Proposal-0001, "Test Vectors").

use pipemux_proto::context::{AnchorType, Context, ContextVersion, LodLevel};

const MINIMAL: &str = r##"{
  "header": {
    "appId": "notebook",
    "sessionId": "sess-001",
    "version": { "major": 1, "minor": 0, "patch": 0 },
    "timestamp": "2025-12-10T10:00:00Z"
  },
  "state": {
    "currentLod": "Summary",
    "focusId": null,
    "custom": null
  },
  "content": "# Notebook\n\n[SUMMARY] Entry 1",
  "anchors": {},
  "history": null
}"##;

const ANCHORED: &str = r##"{
  "header": { "appId": "notebook", "sessionId": "sess-002", "version": { "major": 1, "minor": 1, "patch": 0 }, "timestamp": "2025-12-10T10:05:00Z" },
  "state": { "currentLod": "Summary", "focusId": "entry-1", "custom": null },
  "content": "# Notebook\n\n[SUMMARY] **[entry-1]** PipeMux 概览 [button:expand]",
  "anchors": {
    "expand-entry-1": { "type": "Button", "params": [], "target": "entry-1" },
    "entry-1": { "type": "Reference", "params": [], "target": null }
  },
  "history": null
}"##;

/// Parses, prints, and compares as JSON: the same fields, spelled the same, none missing, none
/// added.
fn round_trip(text: &str) -> Context {
    let context: Context = serde_json::from_str(text).unwrap();
    let before: serde_json::Value = serde_json::from_str(text).unwrap();
    assert_eq!(serde_json::to_value(&context).unwrap(), before);
    context
}

#[test]
fn minimal_test_vector_round_trips_unchanged() {
    let context = round_trip(MINIMAL);
    assert_eq!(context.header.app_id, "notebook");
    assert_eq!(context.state.current_lod, LodLevel::Summary);
    assert!(context.anchors.is_empty() && context.history.is_none());
    // Without the white space between its tokens, the vector is printed letter by letter.
    assert_eq!(serde_json::to_string(&context).unwrap(), compact(MINIMAL));
}

/// JSON without the white space outside of its strings.
fn compact(json: &str) -> String {
    let (mut inside, mut escaped) = (false, false);
    let keep = |c: &char| {
        let (kept, was_escaped) = (inside || !c.is_whitespace(), escaped);
        escaped = inside && *c == '\\' && !was_escaped;
        inside ^= *c == '"' && !was_escaped;
        kept
    };
    json.chars().filter(keep).collect()
}

#[test]
fn test_vector_with_anchors_round_trips_unchanged() {
    let context = round_trip(ANCHORED);
    let button = &context.anchors["expand-entry-1"];
    assert_eq!((button.ty, button.target.as_deref()), (AnchorType::Button, Some("entry-1")));
    assert_eq!(context.anchors["entry-1"].ty, AnchorType::Reference);
}

#[test]
fn equal_majors_are_compatible_and_equal_minors_render_the_same() {
    let version = |major, minor| ContextVersion { major, minor, patch: 0 };
    let (v1, v2, v3) = (version(1, 0), version(1, 1), version(2, 0));
    // The third vector.
    assert!(v1.is_compatible_with(v2));
    assert!(!v1.is_compatible_with(v3));
    // The proposal's code.
    assert!(!v1.renders_same_as(v2));
    assert!(v1.renders_same_as(ContextVersion { patch: 7, ..v1 }));
}

#[test]
fn fields_of_later_versions_are_ignored() {
    let mut value: serde_json::Value = serde_json::from_str(MINIMAL).unwrap();
    value["later"] = 1.into();
    value["header"]["later"] = 1.into();
    value["state"]["later"] = 1.into();
    let context: Context = serde_json::from_value(value).unwrap();
    assert_eq!(context, round_trip(MINIMAL));
}

#[test]
fn context_without_a_minimal_field_is_refused() {
    for field in ["header", "state", "content", "anchors"] {
        let mut value: serde_json::Value = serde_json::from_str(MINIMAL).unwrap();
        value.as_object_mut().unwrap().remove(field);
        assert!(serde_json::from_value::<Context>(value).is_err(), "without {field}");
    }
    let unknown = MINIMAL.replace("\"Summary\"", "\"Everything\"");
    assert!(serde_json::from_str::<Context>(&unknown).is_err());
}
