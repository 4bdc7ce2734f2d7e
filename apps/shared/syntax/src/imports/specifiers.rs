//! Resolves paths in ES modules to files, and writes the path of a file as an import specifier.

use std::path::{Path, PathBuf};

/// The extensions that a path may omit, in the order of trying.
const EXTENSIONS: [&str; 9] = ["ts", "tsx", "d.ts", "js", "jsx", "mjs", "cjs", "mts", "cts"];
/// The extensions that a path may always omit.
const LEFT_OUT: [&str; 5] = [".d.ts", ".tsx", ".ts", ".jsx", ".js"];
/// The extensions that TypeScript paths use for the source files compiled to them.
const COMPILED: [(&str, &[&str]); 4] =
    [("js", &["ts", "tsx", "d.ts"]), ("jsx", &["tsx"]), ("mjs", &["mts"]), ("cjs", &["cts"])];

/// True for a path that begins at the file itself.
pub(super) fn is_relative(specifier: &str) -> bool {
    matches!(specifier, "." | "..") || specifier.starts_with("./") || specifier.starts_with("../")
}

/// Returns the file that a relative path means.
pub(super) fn resolve(
    file: &Path,
    specifier: &str,
    exists: &dyn Fn(&Path) -> bool,
) -> Option<PathBuf> {
    if !is_relative(specifier) {
        return None;
    }
    let base = normal(&file.parent()?.join(specifier))?;
    let text = base.to_str()?;
    let with = |extension: &str| PathBuf::from(format!("{text}.{extension}"));
    let mut candidates = vec![base.clone()];
    for (written, compiled) in COMPILED {
        if let Some(stem) = text.strip_suffix(written).and_then(|text| text.strip_suffix('.')) {
            candidates.extend(compiled.iter().map(|one| PathBuf::from(format!("{stem}.{one}"))));
        }
    }
    if !text.is_empty() && !specifier.ends_with('/') {
        candidates.extend(EXTENSIONS.map(with));
    }
    candidates.extend(EXTENSIONS.map(|one| base.join(format!("index.{one}"))));
    candidates.into_iter().find(|path| exists(path))
}

/// Returns how the path of `target` is written in `file`, in the manner of another path.
pub(super) fn write(
    file: &Path,
    target: &Path,
    with_extension: Option<&str>,
    exists: &dyn Fn(&Path) -> bool,
) -> Option<String> {
    let whole = relative(file.parent()?, target)?;
    let written = match with_extension {
        None => LEFT_OUT.iter().find_map(|end| whole.strip_suffix(end)).map(|stem| {
            let folder = stem.strip_suffix("/index").filter(|folder| *folder != ".");
            folder.unwrap_or(stem).to_owned()
        }),
        Some(like) if matches!(like, "js" | "jsx" | "mjs" | "cjs") => {
            let compiled = [
                (".d.ts", ".js"),
                (".tsx", if like == "jsx" { ".jsx" } else { ".js" }),
                (".ts", ".js"),
                (".mts", ".mjs"),
                (".cts", ".cjs"),
            ];
            let stem = |(end, new): &(&str, &str)| Some(whole.strip_suffix(end)?.to_owned() + new);
            compiled.iter().find_map(stem)
        }
        Some(_) => None,
    };
    let right = |written: &String| resolve(file, written, exists).as_deref() == Some(target);
    Some(written.filter(right).unwrap_or(whole))
}

/// Returns the extension that a path is written with.
pub(super) fn extension(specifier: &str) -> Option<&str> {
    let name = specifier.rsplit('/').next()?;
    let (stem, extension) = name.rsplit_once('.')?;
    (!stem.is_empty() && EXTENSIONS.contains(&extension)).then_some(extension)
}

/// Returns a relative path of one file as it is written in a file of another folder.
pub(super) fn rebased(from: &Path, specifier: &str, to: &Path) -> Option<String> {
    let (old, new) = (from.parent()?, to.parent()?);
    if old == new || !is_relative(specifier) {
        return Some(specifier.to_owned());
    }
    relative(new, &normal(&old.join(specifier))?)
}

/// True if a path that isn't relative may mean a file, as aliases of build tools do: `@/lib/text`.
pub(super) fn may_mean(specifier: &str, file: &Path) -> bool {
    let stem = |name: &str| name.split('.').next().unwrap_or_default().to_owned();
    let last = specifier.rsplit('/').next().map(stem).unwrap_or_default();
    !is_relative(specifier)
        && specifier.contains('/')
        && module_name(file).is_some_and(|name| name == last)
}

/// Returns the name by which imports know a file: its own, or that of the folder whose index it is.
pub fn module_name(file: &Path) -> Option<String> {
    let name = file.file_name()?.to_str()?.split('.').next()?.to_owned();
    if matches!(name.as_str(), "index" | "__init__") {
        let folder = file.parent().and_then(Path::file_name).and_then(|name| name.to_str());
        return folder.map(str::to_owned);
    }
    Some(name)
}

/// Returns a path without `.` and `..`; `None` if it leads out of the project.
pub(super) fn normal(path: &Path) -> Option<PathBuf> {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.to_str()?.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(PathBuf::from(parts.join("/")))
}

fn relative(folder: &Path, target: &Path) -> Option<String> {
    let (from, to) = (parts(folder)?, parts(target)?);
    let common = from.iter().zip(&to).take_while(|(one, other)| one == other).count();
    let up = from.len() - common;
    let mut all = vec![if up == 0 { "." } else { ".." }];
    all.extend(std::iter::repeat_n("..", up.saturating_sub(1)));
    all.extend(&to[common..]);
    Some(all.join("/"))
}

pub(super) fn parts(path: &Path) -> Option<Vec<&str>> {
    Some(path.to_str()?.split('/').filter(|part| !part.is_empty()).collect())
}
