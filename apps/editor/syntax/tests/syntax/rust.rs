//! Extractions in Rust. Each case compiles before; what isn't refused compiles after.

use std::process::Command;

use crate::support::*;

const CASES: &[(&str, &str)] = &[
    (
        "parameters and a result",
        "pub fn f(a: usize, b: usize) -> usize {\n    let x = a as u32;\n    «let y = x as usize + b;\n    let z: usize = y * 2;\n»    z + a\n}\n",
    ),
    (
        "nothing in, nothing out",
        "pub fn f() {\n    «println!(\"hi\");\n»    println!(\"ho\");\n}\n",
    ),
    (
        "a type that the tree doesn't tell",
        "pub fn f(a: &[u8]) -> usize {\n    let x = a.first().copied();\n    «println!(\"{x:?}\");\n»    a.len()\n}\n",
    ),
    (
        "an assigned number",
        "pub fn f(all: &[usize]) -> usize {\n    let mut total: usize = 0;\n    for one in 0..all.len() {\n        «total += all[one];\n»    }\n    total\n}\n",
    ),
    (
        "assigned and declared",
        "pub fn f(a: u8) -> (u8, bool) {\n    let mut x: u8 = a;\n    «x += 1;\n    let odd = x % 2 == 1;\n»    (x, odd)\n}\n",
    ),
    (
        "a borrowed vector",
        "pub fn f() -> usize {\n    let v: Vec<u8> = vec![1];\n    «println!(\"{}\", v.len());\n    let n = v.len();\n»    n + v.len()\n}\n",
    ),
    (
        "a vector that changes",
        "pub fn f(n: u8) -> Vec<u8> {\n    let mut v: Vec<u8> = Vec::new();\n    «v.push(n);\n    v[0] = 3;\n    take(&mut v);\n»    v\n}\n\nfn take(_: &mut Vec<u8>) {}\n",
    ),
    (
        "a string that moves",
        "pub fn f(s: String) -> usize {\n    «let n = consume(s);\n»    n\n}\n\nfn consume(s: String) -> usize {\n    s.len()\n}\n",
    ),
    (
        "a string that is assigned",
        "pub fn f(a: &str) -> String {\n    let mut s = String::new();\n    «s += a;\n    s = s + \"!\";\n»    s\n}\n",
    ),
    (
        "comparisons look through the reference",
        "#[derive(PartialEq)]\npub struct P(u8);\n\npub fn f(p: P, q: P) -> (P, P) {\n    «if p == q {\n        println!(\"same\");\n    }\n»    (p, q)\n}\n",
    ),
    (
        "a reference",
        "pub fn f(a: &str, b: &mut Vec<u8>) -> usize {\n    «b.push(a.len() as u8);\n    println!(\"{a}\");\n»    b.len()\n}\n",
    ),
    (
        "a method that looks",
        "pub struct S { n: usize, v: Vec<usize> }\n\nimpl S {\n    pub fn f(&mut self, a: usize) -> usize {\n        «let m = self.n + a;\n        println!(\"{}\", self.v.len());\n»        self.n = m;\n        m\n    }\n}\n",
    ),
    (
        "a method that changes",
        "pub struct S { n: usize, v: Vec<usize> }\n\nimpl S {\n    pub fn f(&mut self, a: usize) -> usize {\n        «self.n += a;\n        self.v.push(a);\n»        self.n\n    }\n}\n",
    ),
    (
        "a method without self",
        "pub struct S<T> { n: T }\n\nimpl<T: Clone> S<T> {\n    pub fn f(&self, a: usize) -> T {\n        «println!(\"{}\", a + 1);\n»        self.n.clone()\n    }\n}\n",
    ),
    (
        "a trait's method",
        "pub struct S { n: usize }\n\nimpl std::fmt::Display for S {\n    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {\n        «let twice: usize = self.n * 2;\n        write!(f, \"{twice}\")\n»    }\n}\n",
    ),
    (
        "a trait's method without self",
        "pub struct S;\n\nimpl std::fmt::Display for S {\n    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {\n        «write!(f, \"x\")?;\n        write!(f, \"y\")\n»    }\n}\n",
    ),
    (
        "the end of a function with a value",
        "pub fn f(a: usize) -> Option<usize> {\n    let b: usize = a + 1;\n    «if b > 3 {\n        return None;\n    }\n    Some(b)\n»}\n",
    ),
    (
        "return in the middle",
        "pub fn f(a: usize) -> usize {\n    «if a > 3 {\n        return 0;\n    }\n»    a\n}\n",
    ),
    (
        "a branch that returns",
        "pub fn f(a: usize) -> usize {\n    if a > 3 {\n        «println!(\"{a}\");\n        return 0;\n»    }\n    a\n}\n",
    ),
    (
        "?",
        "pub fn f(a: &str) -> Result<usize, std::num::ParseIntError> {\n    «let n: usize = a.parse()?;\n    println!(\"{n}\");\n»    Ok(n + 1)\n}\n",
    ),
    (
        "? in an Option",
        "pub fn f(a: &[u8]) -> Option<u8> {\n    «println!(\"{}\", a.first()?);\n»    a.last().copied()\n}\n",
    ),
    (
        "? with an alias",
        "pub fn f(w: &mut String) -> std::fmt::Result {\n    use std::fmt::Write as _;\n    «w.write_str(\"x\")?;\n»    Ok(())\n}\n",
    ),
    (
        "await",
        "pub async fn g(a: usize) -> usize {\n    a\n}\n\npub async fn f(a: usize) -> usize {\n    «let n: usize = g(a).await;\n    println!(\"{n}\");\n»    n\n}\n",
    ),
    (
        "break of a loop outside",
        "pub fn f(a: usize) {\n    for i in 0..a {\n        «if i == 2 {\n            break;\n        }\n»        println!(\"{i}\");\n    }\n}\n",
    ),
    (
        "a labelled loop inside",
        "pub fn f(a: usize) {\n    «'l: for i in 0..a {\n        for j in 0..i {\n            if j == 2 {\n                continue 'l;\n            }\n        }\n    }\n»    println!(\"{a}\");\n}\n",
    ),
    (
        "unsafe",
        "pub fn f(a: *const u8) -> u8 {\n    unsafe {\n        «let b = *a;\n        b\n»    }\n}\n",
    ),
    (
        "shadowing",
        "pub fn f(a: usize) -> usize {\n    let x: usize = a;\n    «let x: usize = x + 1;\n    let x: usize = x * 2;\n»    x\n}\n",
    ),
    (
        "patterns and constants",
        "const N: usize = 3;\n\npub fn f(a: Option<usize>) -> usize {\n    «let r: usize = match a {\n        Some(N) => 1,\n        Some(n) if n > 4 => n,\n        Some(_) => 2,\n        None => 0,\n    };\n»    r\n}\n",
    ),
    (
        "if let with a chain",
        "pub fn f(a: Option<usize>, b: usize) -> usize {\n    «if let Some(n) = a\n        && n > b\n    {\n        println!(\"{n}\");\n    }\n»    b\n}\n",
    ),
    (
        "generics",
        "pub fn f<T: std::fmt::Debug, const N: usize>(a: [T; N]) -> usize\nwhere\n    T: Clone,\n{\n    «let b: Vec<T> = a.to_vec();\n    println!(\"{b:?}\");\n»    N\n}\n",
    ),
    (
        "generics that aren't needed",
        "pub fn f<T: std::fmt::Debug>(a: T, n: usize) {\n    «println!(\"{}\", n);\n»    println!(\"{a:?}\");\n}\n",
    ),
    (
        "a lifetime",
        "pub fn f<'a>(a: &'a str, n: usize) -> &'a str {\n    «println!(\"{a} {n}\");\n»    a\n}\n",
    ),
    (
        "a closure",
        "pub fn f(all: &[usize], b: usize) -> Vec<usize> {\n    all.iter()\n        .map(|one: &usize| {\n            let c: usize = *one;\n            «let d: usize = c + b;\n            println!(\"{d}\");\n»            d\n        })\n        .collect()\n}\n",
    ),
    (
        "a local function",
        "pub fn f(a: usize) -> usize {\n    fn g(a: usize) -> usize {\n        a\n    }\n    «println!(\"{}\", g(a));\n»    a\n}\n",
    ),
    (
        "in a nested function",
        "pub fn f(a: usize) -> usize {\n    fn g(b: usize) -> usize {\n        «println!(\"{b}\");\n»        b\n    }\n    g(a)\n}\n",
    ),
    (
        "a hidden return in a macro",
        "macro_rules! leave {\n    () => {\n        return 0\n    };\n}\n\npub fn f(a: usize) -> usize {\n    «if a > 0 {\n        leave!();\n    }\n»    a\n}\n",
    ),
    (
        "names in format strings",
        "pub fn f(width: usize, name: &str) {\n    «println!(\"{name:>width$} {{no}} {0}\", 1);\n»}\n",
    ),
    (
        "raw strings stay as they are",
        "pub fn f(a: bool) {\n    if a {\n        «let t = r\"x\n    y\";\n        println!(\"{t}\");\n»    }\n}\n",
    ),
    (
        "the value of a block",
        "pub fn f(a: usize) -> usize {\n    let b: usize = if a > 1 {\n        «let c: usize = a;\n        c + 1\n»    } else {\n        0\n    };\n    b\n}\n",
    ),
    (
        "the value of a match",
        "pub fn f(a: usize) -> usize {\n    match a {\n        0 => {\n            «println!(\"zero\");\n            1\n»        }\n        _ => 2,\n    }\n}\n",
    ),
    (
        "part of a statement",
        "pub fn f(a: usize) {\n    println!(\n        «\"{}\",\n        a,\n»    );\n}\n",
    ),
    ("an attribute", "pub fn f(a: usize) {\n    #[allow(unused)]\n    «let b: usize = a;\n»}\n"),
    (
        "a const function",
        "pub const fn f(a: usize) -> usize {\n    «let b: usize = a + 1;\n»    b\n}\n",
    ),
    (
        "a field that moves",
        "pub struct P { a: String, b: String }\n\npub fn f(p: P) -> String {\n    «let a: String = p.a;\n    println!(\"{a}\");\n»    a\n}\n",
    ),
    (
        "CJK",
        "pub fn 函数(甲: usize) -> usize {\n    «let 乙: usize = 甲 + 1; // 深い森\n    println!(\"{乙}\");\n»    乙\n}",
    ),
    (
        "let else",
        "pub fn f(a: Option<usize>) -> usize {\n    «let Some(n) = a else {\n        return 0;\n    };\n    n + 1\n»}\n",
    ),
    (
        "self that is used up",
        "pub struct S { v: Vec<u8> }\n\nimpl S {\n    pub fn f(self) -> Vec<u8> {\n        «let v: Vec<u8> = self.v;\n        println!(\"{}\", v.len());\n»        v\n    }\n}\n",
    ),
];

#[test]
fn extractions() {
    insta::assert_snapshot!(table(Language::Rust, CASES));
    let text = "pub fn f(a: &[u8]) -> usize {\n    let x = a.first().copied();\n    «println!(\"{x:?}\");\n»    a.len()\n}\n";
    let given = extract(Language::Rust, text, "helper", &[("x", "Option<u8>")]);
    assert!(given.contains("fn helper(x: &Option<u8>) {"), "{given}");
    assert!(given.contains("helper(&x);"), "{given}");
}

#[test]
fn extracted_rust_compiles() {
    let dir = tempfile::tempdir().unwrap();
    let mut failures = String::new();
    for (title, marked) in CASES {
        let before = marked.replace(['«', '»'], "");
        let after = extract(Language::Rust, marked, "extracted", &[]);
        let mut texts = vec![("before", before)];
        if !after.starts_with("refused") && !after.starts_with("needs the types") {
            texts.push(("after", after));
        }
        for (when, text) in texts {
            if let Err(error) = compile(dir.path(), &text) {
                failures += &format!("=== {title}, {when}\n{text}\n{error}\n");
            }
        }
    }
    assert!(failures.is_empty(), "{failures}");
}

fn compile(dir: &std::path::Path, text: &str) -> Result<(), String> {
    let file = dir.join("case.rs");
    std::fs::write(&file, text).unwrap();
    let output = Command::new("rustc")
        .args([
            "--edition",
            "2024",
            "--crate-type",
            "lib",
            "--emit",
            "metadata",
            "--cap-lints",
            "allow",
        ])
        .arg("--out-dir")
        .arg(dir)
        .arg(&file)
        .output()
        .unwrap();
    match output.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}
