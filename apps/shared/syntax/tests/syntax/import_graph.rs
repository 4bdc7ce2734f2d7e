//! Moves in small generated projects: every call still means the function that it meant.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::moves::{Files, moved};
use crate::workspace::Numbers;

/// How many projects are generated for each language.
const PROJECTS: u64 = 150;
/// How many moves are made in each.
const MOVES: usize = 4;

/// What the checker reads in a module.
#[derive(Debug, Default)]
struct Module {
    /// The functions, each with what it calls.
    functions: BTreeMap<String, Vec<String>>,
    /// What a name of the file is: the module's path as it is written, and the name there.
    imports: BTreeMap<String, (String, String)>,
    exports: BTreeMap<String, (String, String)>,
    all_of: Vec<String>,
}

fn names(list: &str) -> Vec<(String, String)> {
    let all = list.split(',').map(str::trim).filter(|one| !one.is_empty());
    let pair = |one: &str| match one.split_once(" as ") {
        Some((original, local)) => (local.trim().to_owned(), original.trim().to_owned()),
        None => (one.to_owned(), one.to_owned()),
    };
    all.map(pair).collect()
}

fn add(
    into: &mut BTreeMap<String, (String, String)>,
    all: Vec<(String, String)>,
    module: &str,
    text: &str,
) {
    for (local, original) in all {
        let before = into.insert(local.clone(), (module.to_owned(), original));
        assert!(before.is_none(), "{local} is imported twice:\n{text}");
    }
}

/// Reads a module with nothing but string functions.
fn read(path: &str, text: &str) -> Module {
    let mut module = Module::default();
    let comment = if path.ends_with(".py") { "#" } else { "//" };
    let plain: Vec<&str> =
        text.lines().map(|line| line.split(comment).next().unwrap_or_default()).collect();
    let plain = plain.join("\n");
    let mut rest = plain.as_str();
    let (mut function, python) = (None, path.ends_with(".py"));
    while !rest.trim_start().is_empty() {
        rest = rest.trim_start();
        let line = rest.lines().next().unwrap_or_default();
        let end;
        if python && line.starts_with("from ") {
            let (from, list) = rest[5..].split_once(" import ").unwrap();
            let (list, length) = match list.strip_prefix('(') {
                Some(inside) => (inside.split(')').next().unwrap(), inside.find(')').unwrap() + 2),
                None => (list.lines().next().unwrap(), list.lines().next().unwrap().len()),
            };
            add(&mut module.imports, names(list), from, text);
            end = 5 + from.len() + 8 + length;
        } else if line.starts_with("import ")
            || line.starts_with("export {")
            || line.starts_with("export *")
        {
            let quote = rest.find(['\'', '"']).unwrap();
            let close = quote + 1 + rest[quote + 1..].find(['\'', '"']).unwrap();
            let from = &rest[quote + 1..close];
            match rest[..quote].find('{') {
                Some(open) => {
                    let list = rest[open + 1..quote].split('}').next().unwrap();
                    let is_import = line.starts_with("import");
                    let into = if is_import { &mut module.imports } else { &mut module.exports };
                    add(into, names(list), from, text);
                }
                None => module.all_of.push(from.to_owned()),
            }
            end = close + 1 + usize::from(rest[close + 1..].starts_with(';'));
        } else {
            end = line.len();
            let header = line.split_once("function ").or(line.split_once("def "));
            if let Some(name) = header.map(|(_, name)| name.split('(').next().unwrap()) {
                let name = name.to_owned();
                assert!(module.functions.insert(name.clone(), Vec::new()).is_none(), "{text}");
                function = Some(name);
            } else if let Some(all) = line.strip_prefix("return ") {
                let calls = all.split('+').filter_map(|one| one.trim().strip_suffix("()"));
                let calls = calls.map(|call| call.trim_end_matches("()").to_owned()).collect();
                module.functions.insert(function.clone().unwrap(), calls);
            } else {
                assert!(matches!(line.trim(), "}" | "" | ";"), "{line:?} in\n{text}");
            }
        }
        rest = &rest[end..];
    }
    module
}

struct Project {
    modules: BTreeMap<String, Module>,
}

impl Project {
    fn read(files: &Files) -> Self {
        let modules = files.iter().map(|(path, text)| (path.clone(), read(path, text)));
        Self { modules: modules.collect() }
    }

    fn file(&self, from: &str, module: &str) -> String {
        let folder = Path::new(from).parent().unwrap();
        let candidates: Vec<String> = if from.ends_with(".py") {
            let dots = module.len() - module.trim_start_matches('.').len();
            let base = match dots {
                0 => Path::new(""),
                dots => Path::new(from).ancestors().nth(dots).unwrap(),
            };
            let path = base.join(module.trim_start_matches('.').replace('.', "/"));
            let path = path.display().to_string();
            vec![format!("{path}.py"), format!("{}/__init__.py", path.trim_end_matches('/'))]
        } else {
            let mut path = PathBuf::new();
            for part in folder.join(module).iter() {
                match part.to_str().unwrap() {
                    "." => {}
                    ".." => assert!(path.pop()),
                    part => path.push(part),
                }
            }
            let path = path.display().to_string();
            vec![path.clone(), format!("{path}.js"), format!("{path}/index.js")]
        };
        let found = candidates.iter().find(|path| self.modules.contains_key(*path));
        found.unwrap_or_else(|| panic!("{from} imports {module}, which is no file")).clone()
    }

    /// The function that a module exports under a name.
    fn exported(&self, file: &str, name: &str) -> Option<String> {
        let module = &self.modules[file];
        if module.functions.contains_key(name) {
            return Some(name.to_owned());
        }
        let exports = if file.ends_with(".py") { &module.imports } else { &module.exports };
        if let Some((from, original)) = exports.get(name) {
            return self.exported(&self.file(file, from), original);
        }
        module.all_of.iter().find_map(|from| self.exported(&self.file(file, from), name))
    }

    /// What each function calls, and what each file exports; panics if an import leads nowhere.
    fn meaning(&self) -> BTreeMap<String, Vec<String>> {
        let mut all = BTreeMap::new();
        for (path, module) in &self.modules {
            let meant = |name: &str| match module.imports.get(name) {
                _ if module.functions.contains_key(name) => name.to_owned(),
                Some((from, original)) => self
                    .exported(&self.file(path, from), original)
                    .unwrap_or_else(|| panic!("{path}: {from} doesn't export {original}")),
                None => panic!("{path} doesn't import {name}"),
            };
            for local in module.imports.keys() {
                assert!(!module.functions.contains_key(local), "{path}: {local}");
                meant(local);
            }
            for name in module.exports.keys() {
                self.exported(path, name).unwrap_or_else(|| panic!("{path} exports no {name}"));
            }
            for (name, calls) in &module.functions {
                all.insert(name.clone(), calls.iter().map(|call| meant(call)).collect());
            }
        }
        all
    }
}

/// Writes an import in one of the manners of its language.
fn import(
    numbers: &mut Numbers,
    python: bool,
    word: &str,
    list: &[String],
    from: &str,
    end: &str,
) -> String {
    let lines = format!(
        "{end}    {},{end}",
        list.join(&format!(", {}{end}    ", if python { "# why" } else { "// why" }))
    );
    if python {
        return match numbers.below(2) {
            0 => format!("from {from} import {}{end}", list.join(", ")),
            _ => format!("from {from} import ({lines}){end}"),
        };
    }
    let quote = if numbers.below(2) == 0 { '\'' } else { '"' };
    let semicolon = if numbers.below(2) == 0 { ";" } else { "" };
    let list = match numbers.below(3) {
        0 => format!("{{{}}}", list.join(", ")),
        1 => format!("{{{lines}}}"),
        _ => format!("{{ {} }}", list.join(", ")),
    };
    format!("{word} {list} from {quote}{from}{quote}{semicolon}{end}")
}

fn specifier(numbers: &mut Numbers, python: bool, from: &str, to: &str) -> String {
    let (folder, to_folder) = (Path::new(from).parent().unwrap(), Path::new(to).parent().unwrap());
    let name = Path::new(to).file_stem().unwrap().to_str().unwrap();
    if python {
        if numbers.below(2) == 0 {
            return to.trim_end_matches(".py").replace('/', ".");
        }
        let (dots, rest) = match to_folder.strip_prefix(folder) {
            Ok(rest) => (".", rest.to_owned()),
            Err(_) => ("..", to_folder.strip_prefix("p").unwrap().to_owned()),
        };
        let rest = rest.join(name).display().to_string().replace('/', ".");
        return format!("{dots}{rest}");
    }
    let rest = match to_folder.strip_prefix(folder) {
        Ok(rest) => Path::new(".").join(rest),
        Err(_) => Path::new("..").join(to_folder.strip_prefix("p").unwrap()),
    };
    let whole =
        format!("./{}", rest.join(name).display()).replace("././", "./").replace("./../", "../");
    match (numbers.below(2), whole.strip_suffix("/index")) {
        (0, _) => format!("{whole}.js"),
        (_, Some(folder)) if folder != "." => folder.to_owned(),
        _ => whole,
    }
}

fn generate(numbers: &mut Numbers, python: bool) -> Files {
    let paths: &[&str] = match python {
        false => &["p/a.js", "p/b.js", "p/c.js", "p/q/a.js", "p/q/index.js", "p/r/d.js"],
        true => &["p/a.py", "p/b.py", "p/c.py", "p/q/a.py", "p/q/e.py", "p/r/d.py"],
    };
    let homes: Vec<usize> = (0..10).map(|_| numbers.below(paths.len() - 1)).collect();
    let mut files = Files::new();
    for (index, path) in paths.iter().enumerate() {
        let end = if numbers.below(3) == 0 { "\r\n" } else { "\n" };
        let (mut imports, mut functions, mut known) = (String::new(), String::new(), Vec::new());
        for (own, home) in homes.iter().enumerate() {
            if home == &index {
                known.push(format!("f{own}"));
            } else if numbers.below(3) == 0 && !known.iter().any(|name| *name == format!("f{own}"))
            {
                let alias = numbers.below(4) == 0;
                let mut list = vec![(own, alias)];
                let more = (own + 1..homes.len()).filter(|other| homes[*other] == *home);
                list.extend(
                    more.filter(|_| numbers.below(2) == 0)
                        .map(|other| (other, false))
                        .collect::<Vec<_>>(),
                );
                list.retain(|(one, _)| {
                    !known.contains(&format!("f{one}"))
                        && !known.contains(&format!("g{index}{one}"))
                });
                let written: Vec<String> = list
                    .iter()
                    .map(|(one, alias)| match alias {
                        true => format!("f{one} as g{index}{one}"),
                        false => format!("f{one}"),
                    })
                    .collect();
                known.extend(list.iter().map(|(one, alias)| {
                    if *alias { format!("g{index}{one}") } else { format!("f{one}") }
                }));
                let from = specifier(numbers, python, path, paths[*home]);
                if !written.is_empty() {
                    imports += &import(numbers, python, "import", &written, &from, end);
                }
            }
        }
        if !python && numbers.below(3) == 0 {
            // A barrel has one function of another module, under a name of its own, and perhaps all
            // of one.
            let own = numbers.below(homes.len());
            let from = specifier(numbers, python, path, paths[homes[own]]);
            if homes[own] != index {
                imports += &import(
                    numbers,
                    python,
                    "export",
                    &[format!("f{own} as h{index}")],
                    &from,
                    end,
                );
            }
        }
        for (own, _) in homes.iter().enumerate().filter(|(_, home)| **home == index) {
            let calls: Vec<String> = (0..numbers.below(4))
                .map(|_| format!("{}()", known[numbers.below(known.len())]))
                .collect();
            let calls = calls.into_iter().chain(["0".to_owned()]).collect::<Vec<_>>().join(" + ");
            functions += &match python {
                true => format!("{end}{end}def f{own}():{end}    return {calls}{end}"),
                false => {
                    format!("{end}export function f{own}() {{{end}  return {calls};{end}}}{end}")
                }
            };
        }
        let text = (imports + &functions).trim_start().to_owned();
        files.push(((*path).to_owned(), text));
    }
    if python {
        for folder in ["p", "p/q", "p/r"] {
            files.push((format!("{folder}/__init__.py"), String::new()));
        }
    }
    files
}

fn moves_keep_meaning(python: bool) {
    let mut made = 0;
    for seed in 0..PROJECTS {
        let mut numbers = Numbers(seed);
        let mut files = generate(&mut numbers, python);
        let meaning = Project::read(&files).meaning();
        let modules = files.iter().filter(|(path, _)| !path.ends_with("__init__.py")).count();
        for _ in 0..MOVES {
            let name = format!("f{}", numbers.below(10));
            let project = Project::read(&files);
            let home =
                files.iter().find(|(path, _)| project.modules[path].functions.contains_key(&name));
            let (home, to) = (home.unwrap().0.clone(), files[numbers.below(modules)].0.clone());
            if home == to {
                continue;
            }
            let before = files.clone();
            let left = match moved(&mut files, &home, &name, &to) {
                Ok(left) => left,
                Err(why) => panic!("seed {seed}: {name} from {home} to {to}: {why}\n{before:#?}"),
            };
            let is_circle = |left: &String| left.contains("import each other");
            let is_alias = |left: &String| left.contains(" here)") || left.contains("file's own");
            assert!(left.iter().all(|one| is_circle(one) || is_alias(one)), "{left:?}");
            if left.iter().any(is_alias) {
                files = before;
                continue;
            }
            made += 1;
            let check = || Project::read(&files).meaning();
            let after = std::panic::catch_unwind(check);
            let same = after.as_ref().is_ok_and(|after| *after == meaning);
            assert!(same, "seed {seed}: {name} from {home} to {to}\n{before:#?}\n{files:#?}");
        }
    }
    assert!(made > PROJECTS as usize * 2, "{made} moves");
}

#[test]
fn every_call_of_es_modules_means_what_it_meant_after_moves() {
    moves_keep_meaning(false);
}

#[test]
fn every_call_of_python_modules_means_what_it_meant_after_moves() {
    moves_keep_meaning(true);
}
