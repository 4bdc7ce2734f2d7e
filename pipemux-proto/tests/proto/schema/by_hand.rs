//! Types whose form on the wire isn't the one that they declare.

use crate::schema::json::{Json, object};

/// The schema of a type that needs no definition of its own.
pub fn plain(name: &str) -> Option<Json> {
    let int = |least: i128, most: i128| {
        let (least, most) = (Json::Number(least), Json::Number(most));
        object([("type", "integer".into()), ("minimum", least), ("maximum", most)])
    };
    Some(match name {
        "bool" => object([("type", "boolean".into())]),
        // `T` is the type of texts, see `src/app.rs`.
        "String" | "str" | "T" => object([("type", "string".into())]),
        "f64" => object([("type", "number".into())]),
        "u8" => int(0, u8::MAX.into()),
        "u16" => int(0, u16::MAX.into()),
        "u32" => int(0, u32::MAX.into()),
        "u64" => int(0, u64::MAX.into()),
        "i32" => int(i32::MIN.into(), i32::MAX.into()),
        "Bytes" => object([("type", "string".into()), ("contentEncoding", "base64".into())]),
        _ => return None,
    })
}

/// The module of a type that is defined here.
pub fn module(name: &str) -> Option<&'static str> {
    Some(match name {
        "Value" | "Blob" => "value",
        "ProviderId" | "SessionId" | "SessionAddr" => "ids",
        _ => return None,
    })
}

pub fn definition(name: &str) -> Option<Json> {
    let text = |pattern: &str| object([("type", "string".into()), ("pattern", pattern.into())]);
    Some(match name {
        "value::Value" => {
            let types = ["null", "boolean", "integer", "number", "string", "array", "object"];
            let types = types.map(Json::from).to_vec();
            object([("type", Json::List(types))]).described(
                "Any MessagePack value: nil, a boolean, an integer of 64 bits with a sign, a float, a text, bytes, an \
                 array, or a map with strings as keys. It nests at most 32 deep.",
            )
        }
        "value::Blob" => object([
            ("type", "string".into()),
            ("contentEncoding", "base64".into()),
            ("contentMediaType", "application/vnd.msgpack".into()),
        ])
        .described(
            "Bytes (MessagePack bin) that hold one encoded value. An app's own tokens may hold any bytes.",
        ),
        "ids::ProviderId" => {
            text("^[a-z][a-z0-9-]{0,31}$").described("The name of a registered app.")
        }
        "ids::SessionId" => text("^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")
            .described("The name of one instance of an app, which has its own state."),
        "ids::SessionAddr" => {
            text("^[a-z][a-z0-9-]{0,31}/[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")
                .described("The address of a session: `notebook/main`.")
        }
        _ => return None,
    })
}
