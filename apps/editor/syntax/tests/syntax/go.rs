//! Extractions in Go.

use crate::support::*;

const CASES: &[(&str, &str)] = &[
    (
        "parameters and a result",
        "func f(a, b int) int {\n\tx := a\n\t«y := x + b\n\tg(y)\n»\treturn h(x)\n}\n",
    ),
    (
        "a result whose type the tree tells",
        "func f(a string) int {\n\t«n := len(a)\n\tok := n > 3\n»\tif ok {\n\t\treturn n\n\t}\n\treturn 0\n}\n",
    ),
    ("an unknown type", "func f(a string) int {\n\tx := g(a)\n\t«h(x)\n»\treturn 0\n}\n"),
    (
        "a call of the same file",
        "func g(a string) (int, error) { return 0, nil }\n\nfunc f(a string) error {\n\tn, err := g(a)\n\t«fmt.Println(n, err)\n»\treturn err\n}\n",
    ),
    (
        "err declared anew",
        "func f(a string) error {\n\terr := g()\n\t«b, err := os.ReadFile(a)\n\tfmt.Println(b, err)\n»\treturn err\n}\n",
    ),
    (
        "assigned and declared",
        "func f(a int) int {\n\tx := 1\n\t«x += a\n\ty := x * 2.0\n\tz := true\n»\tg(z)\n\treturn x\n}\n",
    ),
    ("a method", "func (s *Server) f(a int) {\n\t«s.n += a\n\ts.g()\n»\ts.h()\n}\n"),
    ("a method without the receiver", "func (s *Server) f(a int) {\n\t«g(a)\n»\ts.h()\n}\n"),
    (
        "a receiver that is a copy",
        "func (s Server) f(a int) int {\n\t«s.n += a\n»\treturn s.n\n}\n",
    ),
    (
        "a struct that changes in place",
        "func f() string {\n\tvar sb strings.Builder\n\t«sb.WriteString(\"x\")\n»\treturn sb.String()\n}\n",
    ),
    (
        "a pointer",
        "func f(sb *strings.Builder) string {\n\t«sb.WriteString(\"x\")\n»\treturn sb.String()\n}\n",
    ),
    (
        "an interface",
        "func f(w io.Writer, ctx context.Context) {\n\t«w.Write(nil)\n\tctx.Done()\n»}\n",
    ),
    (
        "loops",
        "func f(all []string, m map[string][]int) int {\n\ttotal := 0\n\tfor i, one := range all {\n\t\tfor _, v := range m[one] {\n\t\t\t«total += v + i\n»\t\t}\n\t}\n\treturn total\n}\n",
    ),
    (
        "return at the end",
        "func f(a int) (int, error) {\n\tb := a\n\t«if b > 1 {\n\t\treturn b, nil\n\t}\n\treturn 0, nil\n»}\n",
    ),
    ("return of nothing", "func f(a int) {\n\tif a > 0 {\n\t\t«g(a)\n\t\treturn\n»\t}\n\th()\n}\n"),
    ("named results", "func f(a int) (n int, err error) {\n\t«n = a\n»\treturn\n}\n"),
    ("defer", "func f() {\n\t«defer g()\n»}\n"),
    (
        "fallthrough",
        "func f(a int) {\n\tswitch a {\n\tcase 1:\n\t\t«g()\n\t\tfallthrough\n»\tcase 2:\n\t}\n}\n",
    ),
    ("goto", "func f() {\nL:\n\tg()\n\t«goto L\n»}\n"),
    (
        "break of a switch outside",
        "func f(a int) {\n\tswitch a {\n\tcase 1:\n\t\t«if a > 0 {\n\t\t\tbreak\n\t\t}\n»\t}\n}\n",
    ),
    (
        "a function literal",
        "func f(a int) func() int {\n\treturn func() int {\n\t\t«b := a + 1\n\t\treturn b\n»\t}\n}\n",
    ),
    (
        "type parameters",
        "func f[T any, K comparable](a T, m map[K]T) T {\n\t«var b T = a\n\tg(m)\n»\treturn b\n}\n",
    ),
    ("type parameters of a receiver", "func (s *Stack[T]) f(a T) {\n\t«var b T = a\n\tg(b)\n»}\n"),
    ("a local type", "func f() {\n\ttype q struct{}\n\t«g(q{})\n»}\n"),
    ("an address of a copy", "func f(n int) int {\n\t«scan(&n)\n»\treturn n\n}\n"),
    (
        "a closure that changes",
        "func f() int {\n\tn := 0\n\tinc := func() { n++ }\n\t«inc()\n\tg(n)\n»\treturn n\n}\n",
    ),
    (
        "keys of a struct are no variables",
        "type P struct{ a int }\n\nfunc f(a int) {\n\t«g(P{a: 1})\n»\tg(a)\n}\n",
    ),
    ("raw strings stay as they are", "func f(a int) {\n\tif a > 0 {\n\t\t«g(`x\n\ty`)\n»\t}\n}\n"),
    ("CJK", "func 函数(甲 int) {\n\t«乙 := 甲 + 1\n\tg(乙, \"深い\")\n»}"),
];

#[test]
fn extractions() {
    insta::assert_snapshot!(table(Language::Go, CASES));
    let text = "func f(a string) int {\n\tx := g(a)\n\t«h(x)\n»\treturn 0\n}\n";
    let given = extract(Language::Go, text, "helper", &[("x", "*Foo")]);
    assert!(given.contains("func helper(x *Foo) {\n\th(x)\n}"), "{given}");
}
