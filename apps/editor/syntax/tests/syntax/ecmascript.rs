//! Extractions in JavaScript and TypeScript.

use crate::support::*;

const JAVASCRIPT: &[(&str, &str)] = &[
    (
        "parameters and a result",
        "function f(a, b) {\n  const x = a;\n  «const y = x + b;\n  console.log(y);\n»  return y;\n}\n",
    ),
    (
        "several results",
        "function f(a) {\n  «const x = a + 1;\n  const y = a + 2;\n»  return x + y;\n}\n",
    ),
    ("an assigned variable", "function f(a) {\n  let x = a;\n  «x += 1;\n»  return x;\n}\n"),
    (
        "assigned and declared",
        "function f(a) {\n  let x = a;\n  «x += 1;\n  const y = x;\n»  return x + y;\n}\n",
    ),
    (
        "two assigned, without semicolons",
        "function f(a) {\n  let x = a\n  let y = a\n  «x += 1\n  y += 1\n»  return x + y\n}\n",
    ),
    ("let that is assigned later", "function f(a) {\n  «let x = a;\n»  x = 2;\n  return x;\n}\n"),
    (
        "an arrow function in a const",
        "export const f = async (a) => {\n  «const b = await g(a);\n»  return b;\n};\n",
    ),
    (
        "a method uses this",
        "class A {\n  #n = 0;\n  f(a) {\n    «this.#n += a;\n    const m = this.#n;\n»    return m;\n  }\n}\n",
    ),
    (
        "a static method",
        "class A {\n  static f(a) {\n    «const m = this.k + a;\n»    return m;\n  }\n}\n",
    ),
    (
        "a method without this",
        "export class A {\n  f(a) {\n    «const m = a + 1;\n»    return m;\n  }\n}\n",
    ),
    (
        "an arrow function as a field",
        "class A {\n  f = (a) => {\n    «this.x = a;\n»    return a;\n  };\n}\n",
    ),
    ("this of a function", "function f(a) {\n  «this.x = a;\n»}\n"),
    ("this of an object", "const o = {\n  f(a) {\n    «this.x = a;\n»  },\n};\n"),
    ("arguments", "function f() {\n  «g(arguments);\n»}\n"),
    ("super", "class A extends B {\n  f() {\n    «super.f();\n»  }\n}\n"),
    ("yield", "function* f() {\n  «yield 1;\n»}\n"),
    (
        "return at the end",
        "function f(a) {\n  const b = a;\n  «if (b) {\n    return 1;\n  }\n  return 2;\n»}\n",
    ),
    ("return in the middle", "function f(a) {\n  «if (a) {\n    return 1;\n  }\n»  return 2;\n}\n"),
    ("break", "function f(a) {\n  for (const i of a) {\n    «if (i) break;\n»  }\n}\n"),
    (
        "break in a switch",
        "function f(a) {\n  «switch (a) {\n    case 1:\n      break;\n    default:\n      g();\n  }\n»  return a;\n}\n",
    ),
    (
        "in a switch",
        "function f(a) {\n  switch (a) {\n    case 1:\n      «const b = a;\n      g(b);\n»      break;\n  }\n}\n",
    ),
    (
        "a nested callback",
        "describe('x', () => {\n  const a = 1;\n  it('y', async () => {\n    «const b = await g(a);\n    expect(b).toBe(a);\n»  });\n});\n",
    ),
    (
        "a closure that changes",
        "function f() {\n  let n = 0;\n  const inc = () => { n += 1; };\n  «inc();\n  console.log(n);\n»  return n;\n}\n",
    ),
    (
        "a closure that doesn't",
        "function f(a) {\n  «const n = a;\n  const show = () => n;\n»  return show();\n}\n",
    ),
    (
        "destructuring",
        "function f({ a, b: [c, ...d] }, ...e) {\n  «const { g, h: i = a } = c;\n  console.log(d, e, i);\n»  return g;\n}\n",
    ),
    (
        "var in a loop",
        "function f(a) {\n  «for (var i = 0; i < a.length; i++) {\n    g(i);\n  }\n»  for (var i = 0; i < 2; i++) {\n    g(i);\n  }\n}\n",
    ),
    (
        "a counter of a loop",
        "function f(a) {\n  let total = 0;\n  for (const i of a) {\n    «total += i;\n»  }\n  return total;\n}\n",
    ),
    (
        "a function declared afterwards",
        "function f(a) {\n  «g(a);\n»  function g(b) { return b; }\n}\n",
    ),
    (
        "a function declared in it",
        "function f(a) {\n  «function g(b) { return b; }\n  g(a);\n»  return g;\n}\n",
    ),
    (
        "labels",
        "function f(a) {\n  out: for (const i of a) {\n    «for (const j of i) {\n      if (j) continue out;\n    }\n»  }\n}\n",
    ),
    (
        "template strings stay as they are",
        "function f(a) {\n  if (a) {\n    «const t = `x\n  ${a}\n      y`;\n    g(t,\n      a);\n»  }\n}\n",
    ),
    ("a statement without braces", "function f(a) {\n  if (a)\n    «g(a);\n»}\n"),
    (
        "within a try",
        "function f(a) {\n  let n = 0;\n  try {\n    «n += 1;\n    a();\n»  } catch (e) {\n    return n;\n  }\n}\n",
    ),
    ("CJK", "function 関数(甲) {\n  «const 乙 = `${甲}深い`;\n  console.log(乙);\n»}"),
    (
        "module exports",
        "module.exports = {\n  f: function (a) {\n    «console.log(a);\n»  },\n};\n",
    ),
    ("JSX", "function F({ a }) {\n  «const b = <Foo x={a}>\n    {a}\n  </Foo>;\n»  return b;\n}\n"),
    ("a reserved word", "function f() {\n  «g();\n»}\n"),
];

const TYPESCRIPT: &[(&str, &str)] = &[
    (
        "types that the tree tells",
        "function f(a: number, b?: string, ...c: Foo[]): void {\n  const d: Map<string, number> = new Map();\n  const e = 'x';\n  «g(a, b, c, d, e);\n»}\n",
    ),
    ("an untyped variable", "function f(a: number) {\n  const b = g(a);\n  «h(b, a);\n»}\n"),
    ("type parameters", "function f<T>(a: T[]): T {\n  «const b: T = a[0];\n»  return b;\n}\n"),
    (
        "type parameters of a class",
        "class A<T> {\n  f(a: T) {\n    «const b: T[] = [a];\n»    return b;\n  }\n}\n",
    ),
    (
        "a local type",
        "function f(a: number) {\n  type Q = number;\n  «const b: Q = a;\n»  return b;\n}\n",
    ),
    (
        "a namespace",
        "namespace N {\n  export function f(a: number) {\n    «const b = a as unknown as string;\n»    return b;\n  }\n}\n",
    ),
    (
        "a private member",
        "class A {\n  private n = 0;\n  async f(a: number): Promise<number> {\n    «this.n += a;\n    await g();\n»    return this.n;\n  }\n}\n",
    ),
];

#[test]
fn extractions() {
    insta::assert_snapshot!("javascript", table(Language::JavaScript, JAVASCRIPT));
    insta::assert_snapshot!("typescript", table(Language::TypeScript, TYPESCRIPT));
    let given = extract(
        Language::TypeScript,
        "function f(a: number) {\n  const b = g(a);\n  «h(b, a);\n»}\n",
        "helper",
        &[("b", "Foo | null")],
    );
    assert!(given.contains("function helper(b: Foo | null, a: number) {"), "{given}");
}
