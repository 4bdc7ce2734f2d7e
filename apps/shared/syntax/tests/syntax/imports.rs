//! Imports after an item moved to another file.

use crate::moves::{Files, files, moved, parse};
use crate::workspace::Numbers;

/// Moves an item, and returns the files that changed, and what is left.
fn after(all: &[(&str, &str)], from: &str, name: &str, to: &str) -> String {
    let mut files = files(all);
    let left = moved(&mut files, from, name, to).unwrap();
    let mut told = String::new();
    for ((path, text), (_, before)) in files.iter().zip(all) {
        if text != before {
            told += &format!("=== {path}\n{text}");
        }
    }
    left.iter().for_each(|one| told += &format!("left: {one}\n"));
    told
}

const TEXT: &str = "import fs from 'node:fs';\nimport { pad, trim } from './pad.js';\n\nexport function slug(text) {\n  return trim(text) + isoDay(0);\n}\n\n/** A day. */\nexport function isoDay(date) {\n  return pad(slug(date));\n}\n";

#[test]
fn everything_is_imported_from_the_new_file() {
    let all = [
        ("src/text.js", TEXT),
        ("src/pad.js", "export const pad = (x) => x;\nexport const trim = pad;\n"),
        ("src/lib/dates.js", "// Dates.\n"),
        ("src/a.js", "import { isoDay } from './text.js';\n\nisoDay();\n"),
        ("src/b.js", "import { slug, isoDay as day } from \"./text\"\nday('isoDay') // isoDay\n"),
        (
            "src/index.js",
            "export * from './text.js';\nexport { isoDay as today } from './text.js';\n",
        ),
        (
            "test/c.js",
            "import {\n  slug, // first\n  isoDay, // second\n} from '../src/text.js';\nimport { x } from '../src/lib/dates.js';\n",
        ),
        (
            "test/d.js",
            "import * as t from '../src/text.js';\nimport '../src/text.js';\nt.isoDay();\n",
        ),
        (
            "test/e.cjs",
            "const { isoDay } = require('../src/text.js');\nimport('../src/text.js').then((t) => t.isoDay());\n",
        ),
    ];
    insta::assert_snapshot!(after(&all, "src/text.js", "isoDay", "src/lib/dates.js"));
}

#[test]
fn types_aliases_and_lists_of_typescript_keep_their_manner() {
    let model = "import type { Id } from \"./id\";\nimport React, { useState, type FC } from \"react\";\nimport * as z from \"zod\";\n\nexport interface User {\n  id: Id;\n}\n\nexport const Card: FC<{ user: User }> = ({ user }) => {\n  const [open] = useState(z.boolean());\n  return <div>{user.id}</div>;\n};\n\nexport function same(id: Id): User {\n  return { id };\n}\n";
    let all = [
        ("src/model.tsx", model),
        ("src/id.ts", "export type Id = string;\n"),
        ("src/ui/card/index.tsx", ""),
        (
            "src/use.ts",
            "import type { User } from './model';\nimport { type User as U, Card, same } from './model';\nlet u: U;\n",
        ),
        ("src/only.tsx", "import { Card } from \"./model\";\n"),
        ("src/js.ts", "import { Card, same } from './model.js'\nlet Id = (Card: number) => Card\n"),
        (
            "src/spaced.ts",
            "import {\n  same,\n  Card\n} from './model'; // why\nimport {Card as C} from './model'\n",
        ),
        (
            "src/alias.ts",
            "import { Card } from '@/model';\nvi.mock('./model', () => ({ Card: 1 }));\ntype M = typeof import('./model');\n",
        ),
    ];
    let mut told = after(&all, "src/model.tsx", "Card", "src/ui/card/index.tsx");
    told += "\n######## User\n";
    told += &after(&all, "src/model.tsx", "User", "src/ui/card/index.tsx");
    insta::assert_snapshot!(told);
}

#[test]
fn guesses_are_left_out_and_named() {
    let all = [
        (
            "a.js",
            "import { x } from './x.js';\nimport './polyfill.js';\n\nlet count = 0;\nconst pad = 1;\n\nfunction hidden() {\n  return next();\n}\n\nexport function next() {\n  count += 1;\n  return pad + x + hidden() + require('./data.json');\n}\n\nexport default function main() {\n  return next() + hidden();\n}\nfunction listed() {}\nexport { listed as given };\nexport const y = listed();\n",
        ),
        ("lib/b.js", "const pad = 2;\n"),
        (
            "c.js",
            "import main, { next } from './a.js';\nimport run from './a.js';\nimport { given } from './a.js';\nexport * as all from './a.js';\n",
        ),
    ];
    let mut told = String::new();
    for name in ["next", "hidden", "main", "listed"] {
        told += &format!("######## {name}\n{}", after(&all, "a.js", name, "lib/b.js"));
    }
    insta::assert_snapshot!(told);
}

#[test]
fn two_functions_that_use_each_other_move_one_after_the_other() {
    let mut all = files(&[
        (
            "a.js",
            "'use strict';\n\nexport function even(n) {\n  return n === 0 || odd(n - 1);\n}\n\nexport function odd(n) {\n  return n !== 0 && even(n - 1);\n}\n\nexport const two = even(2);\n",
        ),
        ("b.js", ""),
        ("c.js", "import { even, odd } from './a';\n"),
    ]);
    assert_eq!(moved(&mut all, "a.js", "even", "b.js"), Ok(Vec::new()));
    assert_eq!(
        all[1].1,
        "import { odd } from './a';\n\nexport function even(n) {\n  return n === 0 || odd(n - 1);\n}\n"
    );
    assert_eq!(moved(&mut all, "a.js", "odd", "b.js"), Ok(Vec::new()));
    assert_eq!(
        all[0].1,
        "'use strict';\n\nimport { even } from './b';\n\nexport const two = even(2);\n"
    );
    assert_eq!(
        all[1].1,
        "export function even(n) {\n  return n === 0 || odd(n - 1);\n}\n\nexport function odd(n) {\n  return n !== 0 && even(n - 1);\n}\n"
    );
    assert_eq!(all[2].1, "import { even, odd } from './b';\n");
}

#[test]
fn line_endings_comments_and_shared_lines_stay() {
    let list =
        "import {\r\n  a, // the first\r\n  // above\r\n  f,\r\n} from './m.js';\r\n\r\nf();\r\n";
    let all = [
        ("m.js", "export const a = 1;\r\nexport function f() {\r\n  return a;\r\n}\r\n"),
        ("n.js", "// 深い\r\n\r\nexport const n = 1;\r\n"),
        ("list.js", list),
        ("same.js", "import { a, f } from './m.js'; import x from 'x'; f(\n1);\n"),
        (
            "twice.js",
            "import { f } from './m.js';\nimport { f as g, f as h, a } from './m.js';\nimport { n, } from './n.js';",
        ),
        ("last.js", "import { n } from './n.js'\n\nimport { f } from './m.js'"),
        (
            "mixed.js",
            "import d, { f } from './m.js';\nimport './m.js';\nimport {\n  n,\n  // nothing yet\n} from './n.js';\n",
        ),
        ("typeless.js", "import {} from './n.js';\nimport {f} from './m.js';\n"),
        ("text.md", "import { f } from './m.js'"),
    ];
    insta::assert_snapshot!(after(&all, "m.js", "f", "n.js").replace('\r', "␍"));
}

#[test]
fn python_modules_import_the_moved_function_from_its_new_module() {
    let store = "\"\"\"Stores.\"\"\"\nfrom __future__ import annotations\n\nimport os\nimport os.path as osp\nfrom typing import Any, Optional\n\nfrom . import util\nfrom .util import clean as cl, dirty\n\nLIMIT = 3\n\n\n@util.cached\ndef load(path: str) -> Optional[Any]:\n    return cl(osp.join(path, os.sep), LIMIT)\n\n\ndef save(x: Any):\n    return dirty(load(x))\n";
    let all = [
        ("pkg/__init__.py", "from .store import load as load, save\n\n__all__ = [\"load\"]\n"),
        ("pkg/store.py", store),
        ("pkg/util.py", "def clean(x): ...\ndef dirty(x): ...\ndef cached(x): ...\n"),
        ("pkg/sub/__init__.py", ""),
        ("pkg/sub/loading.py", ""),
        (
            "pkg/sub/other.py",
            "from ..store import (\n    save,\n    load,  # why\n)\nfrom .loading import x\n",
        ),
        (
            "tests/test_store.py",
            "import pytest\nfrom pkg.store import load\nfrom pkg import store\nimport pkg.store\n\n\ndef test():\n    from pkg.store import load, save\n    load(1); pkg.store.load(2); store.load(3)\n",
        ),
        ("tests/star.py", "from pkg.store import *\nload(1)\n"),
        ("tests/same.py", "from pkg.store import save, load; load(1)\n"),
    ];
    insta::assert_snapshot!(after(&all, "pkg/store.py", "load", "pkg/sub/loading.py"));
}

#[test]
fn constant_and_class_of_python_move_with_what_they_need() {
    let all = [
        (
            "app.py",
            "#!/usr/bin/env python\n# An app.\n\nimport re\nimport sys  # noqa\n\nPAT = re.compile('x')\n__all__ = ['Thing', 'PAT']\n\n\nclass Thing:\n    pat = PAT\n\n    def go(self, re):\n        global COUNT\n        COUNT = 1\n        return re\n\n\nCOUNT = 0\nthing = Thing()\n",
        ),
        ("things.py", "# Things.\n"),
        ("use.py", "try:\n    from app import Thing\nexcept ImportError:\n    Thing = None\n"),
    ];
    let mut told = after(&all, "app.py", "Thing", "things.py");
    told += &format!("######## PAT\n{}", after(&all, "app.py", "PAT", "things.py"));
    insta::assert_snapshot!(told);
}

#[test]
fn names_are_found_in_every_role_and_not_where_they_mean_something_else() {
    let used = [
        "called()",
        "new Made()",
        "x instanceof Kind",
        "{ short }",
        "`${inner}`",
        "<Tag a={attr} />",
        "tagged`x`",
        "obj.member",
        "(typed as Type)",
        "arr[index]",
        "ns.Deep",
        "...spread",
        "(y = fallback) => y",
    ];
    let not = [
        "o.property",
        "{ key: 1 }",
        "'text'",
        "/* comment */ 0",
        "(parameter) => parameter",
        "((local) => { let inside = local; return inside; })(1)",
        "`raw`",
        "{ method() {} }.x",
    ];
    let words = "called Made Kind short inner Tag attr tagged obj typed Type arr index ns spread fallback \
                 property key text comment parameter local inside raw method member Deep Arg";
    let list: Vec<&str> = words.split_whitespace().collect();
    let all = used.iter().chain(&not).map(|one| match one {
        one if one.starts_with("...") => format!("  [{one}],\n"),
        one => format!("  ({one}),\n"),
    });
    let item = format!(
        "export function f(a: ns.Type<Arg>, b: (property: string) => void) {{\n  return [\n{}];\n}}\n",
        all.collect::<String>()
    );
    let mut files = files(&[("b.tsx", ""), ("m.ts", "export const x = 1;\n")]);
    let text =
        format!("import {{ {} }} from './m';\n\n{item}export const z = 1;\n", list.join(", "));
    files.push(("a.tsx".to_owned(), text));
    assert_eq!(moved(&mut files, "a.tsx", "f", "b.tsx"), Ok(Vec::new()));
    let carried = "import { called, Made, Kind, short, inner, Tag, attr, tagged, obj, typed, Type, arr, index, ns, \
                   spread, fallback, Arg } from './m';\n";
    assert!(files[0].1.starts_with(carried), "{}", files[0].1);
    let stays = "import { property, key, text, comment, parameter, local, inside, raw, method, member, Deep } from './m';\n";
    assert!(files[2].1.starts_with(stays), "{}", files[2].1);
}

#[test]
fn no_text_makes_a_move_panic() {
    let pieces = [
        "import { f } from './m.js'",
        "import {",
        "f,",
        "}",
        "from './m.js'",
        ";",
        "\n",
        "\r\n",
        "export * from './m.js'",
        "export { f",
        "as g }",
        "import f, * as n from './m.js'",
        "require('./m.js')",
        "import(",
        "'",
        "\"",
        "深い😀",
        "\u{feff}",
        "/*",
        "*/",
        "//",
        "export function",
        "f",
        "() {}",
        "export default",
        "import type",
        "{f,",
        "type f}",
        "\\",
        "(",
        ")",
        "from m import f",
        "from . import",
        "from .m import (",
        "import m.f as",
        "__all__ = ['f']",
        "class f:",
        "    ",
        "#",
        "\"\"\"",
        "'use strict'\n",
        "import x = require('./m.js')",
        "with { type: 'x' }",
        "`${",
        "#!/x\n",
        "import {} from './m.js';\n",
    ];
    let mut numbers = Numbers(3);
    let mut planned = 0;
    for round in 0..600 {
        let (end, home) = match round % 3 {
            0 => (
                "js",
                "import { k } from './k.js';\nexport function f() { return k + g }\nexport let g = f();\n",
            ),
            1 => (
                "tsx",
                "import k, { l } from './k.js';\nexport const f = () => <k l={l} />;\n\nfunction g() { f() }\n",
            ),
            _ => (
                "py",
                "from .k import k\nimport os\n\ndef f():\n    return k + g + os\n\ng = f()\n",
            ),
        };
        let any = |numbers: &mut Numbers| {
            let all: Vec<&str> =
                (0..numbers.below(12)).map(|_| pieces[numbers.below(pieces.len())]).collect();
            all.join(if numbers.below(2) == 0 { " " } else { "" })
        };
        let texts = [home.to_owned() + &any(&mut numbers), any(&mut numbers), any(&mut numbers)];
        let paths = [format!("m.{end}"), format!("n.{end}"), format!("o.{end}")];
        let mut files: Files = paths.iter().cloned().zip(texts).collect();
        let has = parse(&paths[0], &files[0].1)
            .outline()
            .iter()
            .any(|one| one.name == "f" && one.is_whole_lines(&files[0].1));
        if has && moved(&mut files, &paths[0], "f", &paths[1]).is_ok() {
            planned += 1;
        }
    }
    assert!(planned > 150, "{planned}");
}

#[test]
fn import_stays_for_a_type_in_a_comment_and_moved_imports_are_named() {
    let home = "import { Kind, used } from './kinds.js';\nimport d, * as n from 'n';\n\nexport function f() {\n  return [Kind, used, d];\n}\n\n/** @type {Kind} */\nexport let k = n;\n";
    let all = [
        ("a.js", home),
        ("lib/b.js", ""),
        ("kinds.js", "export class Kind {}\nexport const used = 1;\n"),
    ];
    let mut files = files(&all);
    assert_eq!(moved(&mut files, "a.js", "f", "lib/b.js"), Ok(Vec::new()));
    let stays =
        "import { Kind } from './kinds.js';\nimport d, * as n from 'n';\n\n/** @type {Kind} */\n";
    assert!(files[0].1.starts_with(stays), "{}", files[0].1);
    let carried =
        "import { Kind, used } from '../kinds.js';\nimport d from 'n';\n\nexport function f() {";
    assert!(files[1].1.starts_with(carried), "{}", files[1].1);
}

#[test]
fn lists_and_shared_lines_of_python_stay_valid() {
    let new = "def a():\n    return 1\n\n\ndef b():\n    return 2\n\n\ndef c():\n    return 3\n";
    for (open, close) in
        [("(\n    a,\n    b, c\n)", "a, d\n)"), ("(\n    a,\n    b, c,\n)", "a, d,\n)")]
    {
        let home = format!(
            "from new import {open}\n\n\ndef d():\n    return b() + c()\n\n\ndef e():\n    return a() + d()\n"
        );
        let told = after(&[("home.py", &home), ("new.py", new)], "home.py", "d", "new.py");
        assert!(told.contains(&format!("from new import (\n    {close}\n")), "{told}");
    }
    for (line, left) in [
        ("import os; import sys", "import sys\n"),
        ("import sys; import os", "import sys\n"),
        ("import sys ; import os  # why", "import sys  # why\n"),
    ] {
        let home = format!("{line}\n\n\ndef f():\n    return os.name\n\n\nprint(sys.path)\n");
        let told = after(&[("home.py", &home), ("new.py", "")], "home.py", "f", "new.py");
        assert!(told.contains(&format!("=== home.py\n{left}")), "{told}");
    }
}

#[test]
fn file_whose_name_is_no_module_is_named_and_not_imported() {
    let home = "def helper():\n    return 1\n\n\ndef f():\n    return helper()\n";
    let all = [("make-data.py", home), ("lib.py", ""), ("use.py", "x = 1\n")];
    let told = after(&all, "make-data.py", "f", "lib.py");
    assert!(!told.contains("from make-data"), "{told}");
    assert!(told.contains("left: "), "{told}");
}
