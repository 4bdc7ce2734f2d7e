//! The whole schema: the messages, the types that they need, and how to read it.

use pipemux_proto::Method;
use pipemux_proto::hello::PROTOCOL;

use crate::schema::json::{Json, object, reference};
use crate::schema::source::Source;

/// What the frames of a method hold, by the names of types. The direction is as on the page.
pub struct Message {
    pub direction: &'static str,
    pub body: Content,
    pub reply: Option<Content>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Content {
    Of(&'static str),
    Empty,
    /// Bytes that nobody on the way decodes.
    AnyBytes,
}

pub const FAULT: &str = "fault::Fault";
const EMPTY: &str = "app::Empty";

impl Content {
    pub fn type_name(self) -> Option<&'static str> {
        match self {
            Content::Of(name) => Some(name),
            Content::Empty => Some(EMPTY),
            Content::AnyBytes => None,
        }
    }

    fn schema(self) -> Json {
        match self.type_name() {
            Some(name) => reference(name),
            None => object([]).described("Any bytes, which need not be MessagePack."),
        }
    }
}

pub fn message(method: Method) -> Message {
    use Content::{AnyBytes, Empty, Of};
    let (direction, body, reply) = match method {
        Method::Hello => ("each way, event", Of("hello::Hello"), None),
        Method::AppOpen => ("daemon → app", Of("app::OpenRequest"), Some(Of("app::Opened"))),
        Method::Project => ("daemon → app", Of("app::Project"), Some(Of("projection::Projection"))),
        Method::Invoke => ("daemon → app", Of("app::Invoke"), Some(Of("app::Outcome"))),
        Method::AppRead => ("daemon → app", Of("app::ReadRequest"), Some(Of("app::Chunk"))),
        Method::Locate => ("daemon → app", Of("app::Locate"), Some(Of("app::Located"))),
        Method::Ping => ("to an app, to the daemon", Empty, Some(Empty)),
        Method::Save => ("daemon → app", Empty, Some(Of("app::Saved"))),
        Method::AppClose => ("daemon → app", Empty, Some(Empty)),
        Method::CancelJob => ("daemon → app", Of("job::CancelJob"), Some(Empty)),
        Method::Progress => ("app → daemon → client, event", Of("app::Progress"), None),
        Method::Changed => ("app → daemon, event", Of("app::Changed"), None),
        Method::Notify => ("app → daemon, event", Of("app::Notify"), None),
        Method::Busy => ("app → daemon, event", Of("app::Busy"), None),
        Method::JobReport => ("app → daemon, event", Of("job::JobReport"), None),
        Method::Verb => ("client → daemon", Of("client::VerbRequest"), Some(Of("client::Answer"))),
        Method::Seen => {
            ("client → daemon, request or event", Of("client::DeliveryAck"), Some(Empty))
        }
        Method::Attach => ("client → daemon", Of("client::Attach"), Some(Of("client::Attached"))),
        Method::Exchange => ("client → daemon → app", AnyBytes, Some(AnyBytes)),
    };
    Message { direction, body, reply }
}

/// The text of `schema.json`.
pub fn schema() -> String {
    let source = Source::read();
    let kinds = source.variants("Kind").into_iter().enumerate().map(|(number, (name, text))| {
        let kind = object([("number", Json::Number(number as i128))]).described(&text);
        let kind = match name.as_str() {
            "Fault" => kind.with("body", reference(FAULT)),
            "Cancel" => kind.with("body", reference(EMPTY)),
            _ => kind,
        };
        (name.to_lowercase(), kind)
    });
    let kinds = Json::Object(kinds.collect());
    let mut roots = vec![FAULT, EMPTY];
    let messages = Method::ALL.iter().map(|method| {
        let Message { direction, body, reply } = message(*method);
        roots.extend(body.type_name());
        roots.extend(reply.and_then(Content::type_name));
        let entry = object([
            ("number", Json::Number(*method as i128)),
            ("direction", direction.into()),
            ("body", body.schema()),
        ]);
        let entry = match reply {
            Some(reply) => entry.with("reply", reply.schema()),
            None => entry,
        };
        (format!("{method:?}"), entry)
    });
    let messages = Json::Object(messages.collect());
    let definitions = Json::Object(source.definitions(&roots).into_iter().collect());
    object([
        ("$schema", "https://json-schema.org/draft/2020-12/schema".into()),
        ("title", format!("PipeMux protocol {}.{}", PROTOCOL.major, PROTOCOL.minor).into()),
        ("$comment", "Made from the types in src/ by tests/proto/schema; PROTOCOL.md says what the messages mean.".into()),
        (
            "description",
            "The bodies of PipeMux's messages. `messages` names the body and the reply of each method, `kinds` those of \
             frames that hold something else; `$defs` has their types, under the names of PROTOCOL.md. On the wire they \
             are MessagePack. In JSON, MessagePack's bytes (bin) are base64 texts with padding, and nil is null; in a \
             value of any type (value::Value) such a text can't be told from another one. Receivers ignore members \
             that they don't know, so no type forbids them, except that a variant with content is an object with \
             exactly one member. An absent member has its `default`; null is the same as absent where null is allowed."
                .into(),
        ),
        ("kinds", kinds),
        ("messages", messages),
        ("$defs", definitions),
    ])
    .to_text()
}
