//! The ref grammar: what reads, what it prints as, and what is refused where.

use pipemux_proto::SessionAddr;
use pipemux_proto::limits::KEY_MAX;
use pipemux_proto::refs::{Local, Ref, RefKind};
use proptest::prelude::*;

fn read(text: &str) -> Ref {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn key(text: &str) -> Local {
    Local::Key(text.to_owned())
}

fn owner(text: &str) -> Option<SessionAddr> {
    Some(text.parse().expect("an address"))
}

#[test]
fn every_form_of_ref_is_parsed() {
    assert_eq!(read("obj:23"), Ref::obj(23));
    assert_eq!(read("link:15"), Ref::link(15));
    assert_eq!(read("obj:23@e17"), Ref { epoch: Some(17), ..Ref::obj(23) });
    assert_eq!(read("obj:enemy:23@e4").ty.as_deref(), Some("enemy"));
    let full = read("obj:editor/main:file:src/main.ts@e2");
    assert_eq!(full.owner, owner("editor/main"));
    assert_eq!(full.ty.as_deref(), Some("file"));
    assert_eq!(full.local, key("src/main.ts"));
    assert_eq!(full.epoch, Some(2));
    let untyped = read("obj:notebook/v1.2:7");
    assert_eq!((untyped.owner, untyped.ty), (owner("notebook/v1.2"), None));
}

#[test]
fn slash_makes_an_owner_only_before_a_colon() {
    let plain = read("obj:src/main.ts");
    assert_eq!((plain.owner, plain.ty, plain.local), (None, None, key("src/main.ts")));
    let typed = read("obj:file:src/main.ts");
    assert_eq!((typed.owner, typed.ty.as_deref()), (None, Some("file")));
    assert_eq!(typed.local, key("src/main.ts"));
}

#[test]
fn decimal_keys_differ_from_ids() {
    assert_eq!(read("obj:7").local, Local::Id(7));
    assert_eq!(read("obj:=7").local, key("7"));
    assert_eq!(read("obj:=007").local, key("007"));
    assert_eq!(read("obj:%37").local, key("7"));
    assert_eq!(read("obj:%37").to_string(), "obj:=7");
    assert_eq!(read("obj:%3D7").local, key("=7"));
    assert_eq!(read("obj:%3D7").to_string(), "obj:%3D7");
    assert_eq!(read("obj:18446744073709551615").local, Local::Id(u64::MAX));
}

#[test]
fn printed_keys_are_percent_encoded() {
    let printed = |text: &str| Ref { local: key(text), ..Ref::obj(0) }.to_string();
    assert_eq!(printed("a b,c;d]e)f'g\"h\ni"), "obj:a%20b%2Cc%3Bd%5De%29f%27g%22h%0Ai");
    assert_eq!(printed("=a=b"), "obj:%3Da=b");
    assert_eq!(printed("a@e1:b%"), "obj:a%40e1%3Ab%25");
    assert_eq!(printed("笔记/émoji🙂.md"), "obj:笔记/émoji🙂.md");
    assert_eq!(printed("全\u{3000}角"), "obj:全%E3%80%80角");
}

#[test]
fn parsing_accepts_characters_without_meaning_in_refs() {
    assert_eq!(read("obj:file:a(1),[2].ts").local, key("a(1),[2].ts"));
    assert_eq!(read("obj:a%2fb").to_string(), "obj:a/b");
}

#[test]
fn refused_refs_name_the_position_and_an_example() {
    for (text, at, part) in [
        ("", 0, "`obj:` or `link:`"),
        ("23", 0, "`obj:` or `link:`"),
        ("Obj:23", 0, "`obj:` or `link:`"),
        ("obj:", 4, "a display id or a key"),
        ("obj:enemy:", 10, "a display id or a key"),
        ("obj::23", 4, "a type"),
        ("obj:Enemy:23", 4, "a type"),
        ("obj:007", 4, "leading zeros"),
        ("obj:18446744073709551616", 4, "at most 18446744073709551615"),
        ("obj:23@", 6, "`@e`"),
        ("obj:23@17", 6, "`@e`"),
        ("obj:23@e", 6, "`@e`"),
        ("obj:23@e1@e2", 6, "`@e`"),
        ("obj:23@e01", 8, "leading zeros"),
        ("obj:23@e99999999999999999999", 8, "at most"),
        ("obj:Editor/main:file:x", 4, "<provider>/<session>"),
        ("obj:a/b/c:x", 4, "<provider>/<session>"),
        ("obj:a:b:c", 4, "%3A"),
        ("obj:a/b:c:d:e", 4, "%3A"),
        ("obj:=x", 5, "digits after `=`"),
        ("obj:a%2", 5, "two hex digits"),
        ("obj:a%+1", 5, "two hex digits"),
        ("obj:é%zz", 6, "two hex digits"),
        ("obj:%ff", 4, "UTF-8"),
        ("obj:a b", 5, "no white space"),
        (" obj:1", 0, "`obj:` or `link:`"),
    ] {
        let error = text.parse::<Ref>().expect_err(text);
        assert!(error.expected.contains(part), "{text}: {error}");
        assert_eq!(error.at, at, "{text}: {error}");
        assert!(error.example.parse::<Ref>().is_ok(), "{text}: {error}");
    }
}

#[test]
fn action_tokens_are_parsed() {
    let node = read("[[MT:Node:7]]");
    assert_eq!((node.prefix.as_deref(), node.ty.as_deref()), (Some("MT"), Some("Node")));
    assert_eq!((node.kind, &node.local, node.epoch), (RefKind::Obj, &key("7"), None));
    assert_eq!(node.to_string(), "[[MT:Node:7]]");
    assert_eq!(read("[[MT:View:主 视图: a%20b@e3]]").local, key("主 视图: a%20b@e3"));
    assert_eq!(read("[[M2:sub-view_1:x]]@e17").epoch, Some(17));
    assert_eq!(Ref::parse_loose(" [[MT:Node:007]] ", RefKind::Link).unwrap().local, key("007"));
    assert_ne!(read("[[MT:Node:7]]"), read("obj:node:=7"));
}

#[test]
fn refused_tokens_name_the_position_and_an_example() {
    for (text, at, part) in [
        ("[[", 2, "an app's prefix"),
        ("[[MT", 2, "an app's prefix"),
        ("[[mt:Node:7]]", 2, "an app's prefix"),
        ("[[2M:Node:7]]", 2, "an app's prefix"),
        ("[[ABCDEFGHI:Node:7]]", 2, "at most 8"),
        ("[[MT:7]]", 5, "a type"),
        ("[[MT::7]]", 5, "a type"),
        ("[[MT:2:7]]", 5, "a type"),
        ("[[MT:Nœud:7]]", 5, "a type"),
        ("[[MT:Node:]]", 10, "a key"),
        ("[[MT:Node:7", 11, "`]]`"),
        ("[[MT:Node:7]", 11, "`]]`"),
        ("[[MT:Node:é]x]]", 12, "`]]`"),
        ("[[MT:Node:7\n]]", 11, "`]]`"),
        ("[[MT:Node:7]]x", 13, "nothing behind"),
        ("[[MT:Node:7]]@7", 13, "`@e`"),
        ("[[MT:Node:7]] ", 13, "nothing behind"),
        (" [[MT:Node:7]]", 0, "`obj:` or `link:`"),
    ] {
        let error = text.parse::<Ref>().expect_err(text);
        assert!(error.expected.contains(part), "{text}: {error}");
        assert_eq!(error.at, at, "{text}: {error}");
        assert!(error.example.parse::<Ref>().is_ok(), "{text}: {error}");
    }
    let longest = format!("[[MT:Node:{}]]", "k".repeat(KEY_MAX));
    assert_eq!(read(&longest).to_string(), longest);
    assert!(longest.replace("k]", "kk]").parse::<Ref>().is_err());
}

#[test]
fn keys_beyond_the_bound_are_refused() {
    let longest = format!("obj:{}", "k".repeat(KEY_MAX));
    assert_eq!(read(&longest).to_string(), longest);
    assert!(format!("{longest}k").parse::<Ref>().is_err());
    assert!(format!("obj:={}", "7".repeat(KEY_MAX + 1)).parse::<Ref>().is_err());
    // The bound counts the decoded key.
    assert_eq!(read(&format!("obj:{}", "%41".repeat(KEY_MAX))).local, key(&"A".repeat(KEY_MAX)));
}

#[test]
fn parse_loose_accepts_ids_without_a_kind() {
    let loose = |text| Ref::parse_loose(text, RefKind::Link);
    assert_eq!(loose("15"), Ok(Ref::link(15)));
    assert_eq!(loose(" 15@e3\n"), Ok(Ref { epoch: Some(3), ..Ref::link(15) }));
    assert_eq!(loose(" obj:7 "), Ok(Ref::obj(7)));
    assert_eq!(loose(" 1x").unwrap_err().at, 2);
    assert_eq!(loose("1,2").unwrap_err().at, 1);
    assert_eq!(loose("\t obj:").unwrap_err().at, 6);
    assert!(loose("").is_err());
    assert!(loose("99999999999999999999").is_err());
}

fn any_ref() -> impl Strategy<Value = Ref> {
    let local = prop_oneof![
        any::<u64>().prop_map(Local::Id),
        "[0-9]{1,24}".prop_map(Local::Key),
        "[=@:()%,;\\]'\" \n/a-z0-9]{1,12}".prop_map(Local::Key),
        any::<String>()
            .prop_filter("has a form", |key| !key.is_empty() && key.len() <= KEY_MAX)
            .prop_map(Local::Key),
    ];
    let owner = "[a-z][a-z0-9-]{0,8}/[A-Za-z0-9][A-Za-z0-9._-]{0,8}";
    (
        any::<bool>(),
        prop::option::of(owner.prop_map(|text| text.parse().expect("an address"))),
        prop::option::of("[a-z][a-z0-9_-]{0,8}"),
        local,
        prop::option::of(any::<u64>()),
    )
        .prop_map(|(link, owner, ty, local, epoch)| {
            let kind = if link { RefKind::Link } else { RefKind::Obj };
            Ref { prefix: None, kind, owner, ty, local, epoch }
        })
}

fn any_token() -> impl Strategy<Value = Ref> {
    let key = prop_oneof!["[0-9]{1,24}", "[^\\]\r\n]{1,24}"];
    let epoch = prop::option::of(any::<u64>());
    ("[A-Z][A-Z0-9]{0,7}", "[A-Za-z][A-Za-z0-9_-]{0,8}", key, epoch).prop_map(
        |(prefix, ty, key, epoch)| Ref {
            prefix: Some(prefix),
            ty: Some(ty),
            local: Local::Key(key),
            epoch,
            ..Ref::obj(0)
        },
    )
}

proptest! {
    #[test]
    fn printed_ref_parses_as_itself(reference in any_ref()) {
        let printed = reference.to_string();
        prop_assert_eq!(printed.parse::<Ref>(), Ok(reference));
        let ends = |c: char| c.is_whitespace() || c.is_control() || ",;)]'\"".contains(c);
        prop_assert!(!printed.contains(ends), "{:?} can't stand bare", printed);
    }

    #[test]
    fn printed_token_parses_as_itself(token in any_token()) {
        let printed = token.to_string();
        prop_assert_eq!(printed.parse::<Ref>(), Ok(token.clone()));
        prop_assert_eq!(Ref::parse_loose(&format!(" {printed}\n"), RefKind::Link), Ok(token));
    }

    #[test]
    fn ref_is_serialized_as_its_text(reference in prop_oneof![any_ref(), any_token()]) {
        let json = serde_json::to_value(&reference).unwrap();
        prop_assert_eq!(&json, &reference.to_string());
        prop_assert_eq!(serde_json::from_value::<Ref>(json).unwrap(), reference);
    }

    #[test]
    fn printing_is_canonical(text in "(obj|link):([a-z]{1,3}/[a-z0-9]{1,2}:)?([a-z]{1,2}:)?[=%0-9a-f/A@e:,]{1,8}") {
        if let Ok(reference) = text.parse::<Ref>() {
            let printed = reference.to_string();
            let again = printed.parse::<Ref>().unwrap();
            prop_assert_eq!(&again, &reference);
            prop_assert_eq!(again.to_string(), printed);
        }
    }

    #[test]
    fn any_text_is_parsed_or_refused_at_a_character_boundary(
        text in any::<String>(),
        prefix in "(obj:|link:|obj:a/b:|\\[\\[|\\[\\[MT:|\\[\\[MT:Node:|)",
        suffix in "(|\\]\\]|\\]\\]@e)",
    ) {
        let text = prefix + &text + &suffix;
        for result in [text.parse::<Ref>(), Ref::parse_loose(&text, RefKind::Obj)] {
            if let Err(error) = result {
                prop_assert!(text.is_char_boundary(error.at), "{:?}", error);
            }
        }
    }
}
