//! Refs: every ref can be printed, and its text parses to the same ref.

use pipemux_proto::refs::{Ref, RefError, RefKind};

/// The input is any text.
pub fn check(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    check_one(text, text.parse());
    for kind in [RefKind::Obj, RefKind::Link] {
        check_one(text, Ref::parse_loose(text, kind));
    }
}

fn check_one(text: &str, parsed: Result<Ref, RefError>) {
    match parsed {
        Ok(found) => {
            let printed = found.to_string();
            assert_eq!(printed.parse().as_ref(), Ok(&found), "{text:?} printed as {printed:?}");
            assert!(!printed.contains(['\n', '\r']), "{printed:?}");
        }
        Err(error) => {
            assert!(text.is_char_boundary(error.at), "{error} of {text:?}");
            assert!(error.example.parse::<Ref>().is_ok(), "{}", error.example);
            assert!(!error.to_string().contains('\n'), "{error:?}");
        }
    }
}
