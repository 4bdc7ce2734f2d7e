//! The language that a file's code fence is marked with.

use std::path::Path;

/// Returns the language of a file by its extension; empty if it has none that a fence can name.
pub(crate) fn language(path: &Path) -> String {
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    let known = match extension {
        "rs" => "rust",
        "py" | "pyi" => "python",
        "js" | "mjs" | "cjs" => "javascript",
        "ts" | "mts" => "typescript",
        "md" | "markdown" => "markdown",
        "yml" | "yaml" => "yaml",
        "sh" | "bash" => "bash",
        "h" => "c",
        "cc" | "cxx" | "hpp" => "cpp",
        "rb" => "ruby",
        "kt" => "kotlin",
        "cs" => "csharp",
        "htm" => "html",
        "txt" | "log" => "",
        other => other,
    };
    let plain = known.len() <= 12 && known.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if plain { known.to_ascii_lowercase() } else { String::new() }
}
