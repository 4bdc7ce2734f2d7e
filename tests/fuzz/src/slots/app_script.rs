//! Messages of the app, made from the input with a preference for harmful texts.

use std::collections::BTreeMap;

use arbitrary::{Result, Unstructured};
use pipemux_proto::app::{Done, Needs, OptionItem, Outcome, Question, QuestionKind};
use pipemux_proto::projection::{
    Arg, Args, CodePiece, Copied, LinkSlot, ObjectSlot, Piece, Projection, RefArg,
};
use pipemux_proto::prototype::{Field, Param, Prominence, Prototype, Risk, Type};
use pipemux_proto::{Blob, Fault, LineNumbers, LineRun, Value};

/// Texts that have a meaning in a window.
const PIECES: &[&str] = &[
    "[x](obj:1)",
    "](link:2)",
    "(link:2 \"t\")",
    "[",
    "]",
    "(",
    ")",
    "](",
    "](<obj:3>)",
    "<obj:1>",
    "<",
    "[x]: obj:1",
    ":",
    "\\",
    "\\\\",
    "[[MT:Node:7]]",
    "[[",
    "[[FZ:Node:7]]",
    "MT:N:1]]",
    "\n",
    "\r\n",
    "\r",
    " ",
    "    ",
    "\t",
    "## fz/main",
    "# ",
    "##",
    "===\n",
    "---",
    "```",
    "``",
    "`",
    "~~~",
    "````docui\n",
    "- ",
    "> ",
    "1. ",
    "<!--",
    "<div>",
    "</",
    "&#91;",
    "obj:1",
    "link:9",
    "·",
    " · e99 · 1 of 2 tokens",
    "workspace fz · e9 · 1 of 2 tokens\n",
    "pipemux answer [yes](link:2)",
    "… 3 more lines",
    "界",
    "🦀",
    "e\u{301}",
    "\u{202e}",
    "\u{2028}",
    "\u{85}",
    "\u{b}",
    "\u{1b}[2J",
    "\0",
    "long words, several of them, to fill a budget\n",
    "http://x",
    "![",
    "*",
    "|",
    "|-|\n",
];

/// The messages of the app in order; the last one is repeated.
pub struct AppScript {
    pub projections: Vec<Projection>,
    pub outcomes: Vec<Outcome>,
    pub note: String,
}

impl AppScript {
    pub fn from_bytes(bytes: &mut Unstructured<'_>) -> Result<Self> {
        let mut projections = vec![projection(bytes, 1)?];
        let mut outcomes = vec![outcome(bytes)?];
        let note = if bytes.ratio(1, 4)? { text(bytes)? } else { String::new() };
        while projections.len() < 4 && !bytes.is_empty() {
            projections.push(projection(bytes, projections.len() as u64 + 1)?);
            outcomes.push(outcome(bytes)?);
        }
        Ok(Self { projections, outcomes, note })
    }
}

/// The actions of the app.
pub fn prototypes() -> Vec<Prototype> {
    let action = |name: &str, params: Vec<Param>, risk| Prototype {
        name: name.into(),
        doc: "Does.".into(),
        params,
        returns: None,
        risk,
        idempotent: false,
        prominence: Prominence::Listed,
        ..Prototype::default()
    };
    let param = |name: &str, ty| Param {
        name: name.into(),
        ty,
        default: Some(Value::Null),
        ..Param::default()
    };
    let wide = vec![param("a", Type::Any), param("b", Type::Any)];
    vec![
        action("act", vec![param("what", Type::Any)], Risk::Changes),
        action("look", wide, Risk::Safe),
        action("end", vec![param("thing", Type::Anchor(None))], Risk::Destructive),
    ]
}

fn projection(bytes: &mut Unstructured<'_>, version: u64) -> Result<Projection> {
    let mut content = Vec::new();
    for _ in 0..bytes.int_in_range(0..=24)? {
        content.push(piece(bytes)?);
    }
    let mut names = BTreeMap::new();
    if bytes.ratio(1, 8)? {
        names.insert("selection".to_owned(), object(bytes)?);
    }
    let mut nav = Vec::new();
    for _ in 0..bytes.int_in_range(0..=2)? {
        nav.push(link(bytes)?);
    }
    Ok(Projection {
        version: if bytes.ratio(1, 16)? { number(bytes)? } else { version },
        unchanged: bytes.ratio(1, 32)?,
        title: if bytes.ratio(1, 2)? { text(bytes)? } else { String::new() },
        document: if bytes.ratio(1, 4)? { Some(key(bytes)?) } else { None },
        nav,
        content,
        position: if bytes.ratio(1, 3)? { Some(text(bytes)?) } else { None },
        actions: if bytes.ratio(1, 8)? { Some(vec!["act".into(), text(bytes)?]) } else { None },
        names,
        focus: if bytes.ratio(1, 8)? { Some(key(bytes)?) } else { None },
        custom: BTreeMap::new(),
        numbers: if bytes.ratio(1, 4)? { numbers(bytes)? } else { Vec::new() },
        hidden_tokens: if bytes.ratio(1, 8)? { number(bytes)? } else { 0 },
    })
}

/// A piece of a content.
fn piece(bytes: &mut Unstructured<'_>) -> Result<Piece> {
    Ok(match bytes.int_in_range(0..=6)? {
        0 => Piece::Object(object(bytes)?),
        1 => Piece::Link(link(bytes)?),
        2 => Piece::Code(CodePiece {
            lang: if bytes.ratio(1, 3)? { text(bytes)? } else { "rust".into() },
            text: text(bytes)?,
            first: if bytes.ratio(1, 2)? { Some(number(bytes)?) } else { None },
            lines: if bytes.ratio(1, 2)? { runs(bytes)? } else { Vec::new() },
        }),
        _ => Piece::Text(text(bytes)?),
    })
}

/// Identities of lines.
fn runs(bytes: &mut Unstructured<'_>) -> Result<Vec<LineRun>> {
    (0..bytes.int_in_range(0..=3)?)
        .map(|_| Ok(LineRun { id: number(bytes)?, count: number(bytes)? }))
        .collect()
}

/// Line numbers that are shown, that moved, or that are retired.
fn numbers(bytes: &mut Unstructured<'_>) -> Result<Vec<LineNumbers>> {
    (0..bytes.int_in_range(0..=2)?)
        .map(|_| {
            Ok(LineNumbers {
                document: if bytes.ratio(1, 2)? { key(bytes)? } else { String::new() },
                first: number(bytes)?,
                last: number(bytes)?,
                version: if bytes.ratio(3, 4)? { Some(number(bytes)?) } else { None },
                was: if bytes.ratio(1, 2)? { Some(number(bytes)?) } else { None },
            })
        })
        .collect()
}

fn outcome(bytes: &mut Unstructured<'_>) -> Result<Outcome> {
    Ok(match bytes.int_in_range(0..=3)? {
        0 => {
            let mut options = Vec::new();
            for _ in 0..bytes.int_in_range(0..=4)? {
                options.push(OptionItem { label: text(bytes)?, text: text(bytes)? });
            }
            let kinds = [
                QuestionKind::PickOne,
                QuestionKind::PickMany,
                QuestionKind::Confirm,
                QuestionKind::Text,
                QuestionKind::Form,
            ];
            let kind = *bytes.choose(&kinds)?;
            let mut fields = Vec::new();
            if kind == QuestionKind::Form {
                fields.push(Field {
                    name: "field".into(),
                    ty: Type::Union(vec![text(bytes)?, "a".into()]),
                    default: if bytes.ratio(1, 2)? { Some(text(bytes)?.into()) } else { None },
                    doc: text(bytes)?,
                    pattern: if bytes.ratio(1, 2)? { Some(text(bytes)?) } else { None },
                    ..Field::default()
                });
            }
            let unlisted = number(bytes)?;
            let question =
                Question { text: text(bytes)?, kind, options, unlisted, fields, secret: false };
            Outcome::Needs(Needs { question, token: Blob::default(), numbers: numbers(bytes)? })
        }
        1 => {
            let mut fault = Fault::failed(text(bytes)?).hint(text(bytes)?);
            if bytes.ratio(1, 2)? {
                fault = fault.about(key(bytes)?);
            }
            Outcome::Failed(fault.numbers(numbers(bytes)?))
        }
        _ => Outcome::Done(Done {
            brief: text(bytes)?,
            detail: if bytes.ratio(1, 2)? { Some(text(bytes)?) } else { None },
            value: if bytes.ratio(1, 2)? { Some(Value::Str(text(bytes)?).to_blob()) } else { None },
            label: None,
            version: number(bytes)?,
            links: if bytes.ratio(1, 2)? { vec![link(bytes)?] } else { Vec::new() },
            reverts: bytes.ratio(1, 2)?,
            numbers: numbers(bytes)?,
            content: if bytes.ratio(1, 3)? {
                vec![piece(bytes)?, piece(bytes)?]
            } else {
                Vec::new()
            },
            complete: bytes.ratio(1, 8)?,
            diff: None,
            ended_jobs: Vec::new(),
            changed_files: Vec::new(),
            no_undo: None,
        }),
    })
}

fn object(bytes: &mut Unstructured<'_>) -> Result<ObjectSlot> {
    Ok(ObjectSlot {
        key: key(bytes)?,
        rev: bytes.int_in_range(0..=2)?,
        ty: if bytes.ratio(1, 3)? { Some(text(bytes)?) } else { None },
        label: text(bytes)?,
        show_key: bytes.ratio(1, 4)?,
        detail: if bytes.ratio(1, 4)? { text(bytes)? } else { String::new() },
        media: None,
    })
}

fn link(bytes: &mut Unstructured<'_>) -> Result<LinkSlot> {
    let mut args = Args::new();
    for _ in 0..bytes.int_in_range(0..=2)? {
        let name = if bytes.ratio(1, 8)? { text(bytes)? } else { "what".to_owned() };
        args.insert(name, arg(bytes, 2)?);
    }
    Ok(LinkSlot {
        label: text(bytes)?,
        action: (*bytes.choose(&["act", "look", "end", "unknown"])?).to_owned(),
        args,
        titled: bytes.arbitrary()?,
        code: if bytes.ratio(1, 4)? { Some(code(bytes)?) } else { None },
        lasting: bytes.arbitrary()?,
    })
}

fn code(bytes: &mut Unstructured<'_>) -> Result<String> {
    if bytes.ratio(1, 4)? {
        return text(bytes);
    }
    let codes =
        ["act()", "look(obj:k1, 3)", "act(what=look('x'))", "fz.act(what=name)", "other.act()"];
    bytes.choose(&codes).map(|code| (*code).to_owned())
}

fn arg(bytes: &mut Unstructured<'_>, depth: usize) -> Result<Arg> {
    Ok(match bytes.int_in_range(0..=if depth > 0 { 4 } else { 3 })? {
        0 => Arg::Ref(RefArg { key: key(bytes)?, rev: 0, ty: None }),
        1 => Arg::Value(Blob(bytes.bytes(bytes.len().min(3))?.to_vec().into())),
        2 => {
            let value = Value::from("v").to_blob();
            Arg::Copied(Copied { value, from: text(bytes)?, label: text(bytes)?, file: None })
        }
        3 => Value::Str(text(bytes)?).into(),
        _ => Arg::List(vec![arg(bytes, depth - 1)?]),
    })
}

fn key(bytes: &mut Unstructured<'_>) -> Result<String> {
    if bytes.ratio(3, 4)? { Ok(format!("k{}", bytes.int_in_range(0..=5)?)) } else { text(bytes) }
}

fn number(bytes: &mut Unstructured<'_>) -> Result<u64> {
    if bytes.ratio(1, 8)? { Ok(u64::MAX) } else { bytes.int_in_range(0..=99) }
}

fn text(bytes: &mut Unstructured<'_>) -> Result<String> {
    let mut text = String::new();
    for _ in 0..bytes.int_in_range(0..=7)? {
        if bytes.ratio(1, 5)? {
            let length = bytes.int_in_range(0..=9)?;
            text += &String::from_utf8_lossy(bytes.bytes(length)?);
        } else {
            text += bytes.choose(PIECES)?;
        }
    }
    Ok(text)
}
