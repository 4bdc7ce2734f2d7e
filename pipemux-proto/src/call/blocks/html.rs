//! HTML blocks, in which nothing is Markdown.

/// The condition that ends an HTML block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Html {
    /// The closing tag of an element with raw content, such as `</pre>`.
    ClosingTag,
    /// This text.
    Text(&'static str),
    /// An empty line.
    Blank,
}

/// Elements whose content is raw.
const RAW: [&str; 4] = ["pre", "script", "style", "textarea"];

/// Elements that begin a block also within a paragraph.
const BLOCK: [&str; 62] = [
    "address",
    "article",
    "aside",
    "base",
    "basefont",
    "blockquote",
    "body",
    "caption",
    "center",
    "col",
    "colgroup",
    "dd",
    "details",
    "dialog",
    "dir",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "frame",
    "frameset",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "head",
    "header",
    "hr",
    "html",
    "iframe",
    "legend",
    "li",
    "link",
    "main",
    "menu",
    "menuitem",
    "nav",
    "noframes",
    "ol",
    "optgroup",
    "option",
    "p",
    "param",
    "search",
    "section",
    "summary",
    "table",
    "tbody",
    "td",
    "tfoot",
    "th",
    "thead",
    "title",
    "tr",
    "track",
    "ul",
];

impl Html {
    /// Returns the block that the text begins. Most tags don't interrupt a paragraph.
    pub fn opened_by(text: &str, in_paragraph: bool) -> Option<Html> {
        let inside = text.strip_prefix('<')?;
        let texts = [("!--", "-->"), ("?", "?>"), ("![CDATA[", "]]>")];
        if let Some((_, end)) = texts.iter().find(|(start, _)| inside.starts_with(start)) {
            return Some(Html::Text(end));
        }
        if let Some(declared) = inside.strip_prefix('!') {
            return declared
                .starts_with(|c: char| c.is_ascii_alphabetic())
                .then_some(Html::Text(">"));
        }
        let (name, behind) = tag_name(inside.strip_prefix('/').unwrap_or(inside))?;
        let is = |names: &[&str]| names.iter().any(|known| known.eq_ignore_ascii_case(name));
        let ends = behind.is_empty() || behind.starts_with([' ', '\t', '>']);
        if ends && !inside.starts_with('/') && is(&RAW) {
            return Some(Html::ClosingTag);
        }
        if (ends || behind.starts_with("/>")) && is(&BLOCK) {
            return Some(Html::Blank);
        }
        let complete = if inside.starts_with('/') { space(behind) } else { attributes(behind) };
        let behind = complete.strip_prefix('>')?;
        (!in_paragraph && space(behind).is_empty()).then_some(Html::Blank)
    }

    /// Returns true if this line of the block is its last one.
    pub fn ends_with(self, text: &str) -> bool {
        match self {
            Html::Blank => text.is_empty(),
            Html::Text(end) => text.contains(end),
            Html::ClosingTag => {
                let text = text.to_ascii_lowercase();
                RAW.iter().any(|name| text.contains(&format!("</{name}>")))
            }
        }
    }
}

fn tag_name(text: &str) -> Option<(&str, &str)> {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '-').unwrap_or(text.len());
    text.starts_with(|c: char| c.is_ascii_alphabetic()).then(|| text.split_at(end))
}

fn space(text: &str) -> &str {
    text.trim_start_matches([' ', '\t'])
}

/// Returns what follows the attributes and the `/` of an opening tag.
fn attributes(mut text: &str) -> &str {
    while let Some(behind) = attribute(text) {
        text = behind;
    }
    let behind = space(text);
    behind.strip_prefix('/').unwrap_or(behind)
}

/// Returns what follows one attribute, if there is one.
fn attribute(text: &str) -> Option<&str> {
    let name = space(text);
    let begins = |c: char| c.is_ascii_alphabetic() || c == '_' || c == ':';
    if name.len() == text.len() || !name.starts_with(begins) {
        return None;
    }
    let continues = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | ':' | '-');
    let behind = name.trim_start_matches(continues);
    let Some(value) = space(behind).strip_prefix('=') else { return Some(behind) };
    let value = space(value);
    match value.chars().next() {
        Some(quote @ ('"' | '\'')) => value[1..].split_once(quote).map(|(_, behind)| behind),
        _ => {
            let ends = |c: char| c.is_ascii_whitespace() || "\"'=<>`".contains(c);
            let end = value.find(ends).unwrap_or(value.len());
            (end > 0).then(|| &value[end..])
        }
    }
}
