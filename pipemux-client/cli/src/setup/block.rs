//! Edits of Markdown: one block between two marks.

const BEGIN: &str = "<!-- from here to the end mark: written by pipemux setup -->\n";
const END: &str = "<!-- end of pipemux setup -->";

/// Writes the block as a file that has nothing else.
pub fn write(block: &str) -> String {
    format!("{BEGIN}{block}{END}\n")
}

/// Sets the block, or takes it out with the empty line above it. Everything else stays byte for
/// byte.
///
/// # Errors
/// A mark stands without the other, or twice.
pub fn edit(text: &str, block: &str, remove: bool) -> Result<String, String> {
    let around = text.split_once(BEGIN).and_then(|(above, rest)| {
        let (_, below) = rest.split_once(END)?;
        Some((above, below.strip_prefix('\n').unwrap_or(below)))
    });
    match (around, text.matches(BEGIN).count() + text.matches(END).count(), remove) {
        (Some((above, below)), 2, false) => Ok(format!("{above}{}{below}", write(block))),
        (Some((above, below)), 2, true) => {
            let gap = usize::from(above.ends_with("\n\n"));
            Ok(format!("{}{below}", above.split_at(above.len() - gap).0))
        }
        (None, 0, true) => Ok(text.to_owned()),
        (None, 0, false) => {
            let gap = match text {
                "" => "",
                text if text.ends_with('\n') => "\n",
                _ => "\n\n",
            };
            Ok(format!("{text}{gap}{}", write(block)))
        }
        _ => Err("the marks around PipeMux's block don't match".to_owned()),
    }
}
