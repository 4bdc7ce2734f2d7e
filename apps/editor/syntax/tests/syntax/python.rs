//! Extractions in Python.

use crate::support::*;

const CASES: &[(&str, &str)] = &[
    (
        "parameters and a result",
        "def f(a: int, b):\n    x = a\n    «y = x + b\n    z = y * 2\n»    return z\n",
    ),
    ("nothing in, nothing out", "def f():\n    «print('hi')\n»    print('ho')\n"),
    (
        "a comment above goes along",
        "def f(a):\n    «# twice\n    a = a * 2  # done\n»\n    return a\n",
    ),
    (
        "a method uses self",
        "class A:\n    def f(self, n):\n        «self.x = n\n        m = self.x + 1\n»        return m\n\n    def g(self):\n        pass\n",
    ),
    (
        "a method that doesn't use self",
        "class A:\n    def f(self, n):\n        «m = n + 1\n»        return m\n\n\nx = 1\n",
    ),
    (
        "a class method",
        "class A:\n    @classmethod\n    def f(cls, n):\n        «m = cls.k + n\n»        return m\n",
    ),
    (
        "a static method",
        "class A:\n    @staticmethod\n    def f(n):\n        «m = n + 1\n»        return m\n",
    ),
    (
        "the end of a function with returns",
        "def f(a):\n    b = a\n    «if b:\n        return 1\n    return b\n»",
    ),
    (
        "a return in the middle",
        "def f(a):\n    «if a:\n        return 1\n    b = 2\n»    return b\n",
    ),
    (
        "a branch that returns",
        "def f(a):\n    if a:\n        «b = a + 1\n        return b\n»    return 0\n",
    ),
    (
        "await",
        "async def f(a):\n    «b = await g(a)\n    async with a as c:\n        pass\n»    return b\n",
    ),
    ("yield", "def f(a):\n    «yield a\n»    yield 2\n"),
    (
        "break of a loop outside",
        "def f(a):\n    for i in a:\n        «if i:\n            break\n»        print(i)\n",
    ),
    (
        "break of a loop inside",
        "def f(a):\n    «for i in a:\n        if i:\n            break\n»    print(a)\n",
    ),
    (
        "a counter that is assigned in a loop",
        "def f(a):\n    total = 0\n    for i in a:\n        «total += i\n»    return total\n",
    ),
    (
        "a variable that the next turn reads",
        "def f(a):\n    last = None\n    for i in a:\n        «if last:\n            print(last)\n        last = i\n»    return a\n",
    ),
    (
        "maybe unassigned before",
        "def f(a):\n    if a:\n        x = 1\n    «if a:\n        print(x)\n»    return a\n",
    ),
    ("maybe unassigned after", "def f(a):\n    «if a:\n        x = 1\n»    return x\n"),
    (
        "assigned in both branches",
        "def f(a):\n    «if a:\n        x = 1\n    else:\n        x = 2\n»    return x\n",
    ),
    (
        "a loop variable that is used again by another loop",
        "def f(a):\n    «for i in a:\n        print(i)\n»    for i in a:\n        print(i)\n    return a\n",
    ),
    (
        "part of a statement",
        "def f(a):\n    x = [\n        «a,\n        1,\n»    ]\n    return x\n",
    ),
    ("parts of two statements", "def f(a):\n    if a:\n        «x = 1\n    y = 2\n»    return a\n"),
    ("outside of a function", "«x = 1\n»print(x)\n"),
    ("global", "n = 0\ndef f():\n    global n\n    «n += 1\n»    return n\n"),
    (
        "a closure that sees the change",
        "def f():\n    n = 0\n    def show():\n        print(n)\n    «n = 1\n    show()\n»    return n\n",
    ),
    ("a closure that doesn't", "def f(a):\n    n = a\n    «show = lambda: n\n»    return show()\n"),
    (
        "in an inner function",
        "def f(a):\n    def g(b):\n        «c = a + b\n        print(c)\n»    return g\n",
    ),
    (
        "a local import is passed on",
        "def f(p):\n    import os\n    «print(os.path.join(p, 'x'))\n»",
    ),
    (
        "a decorated function",
        "import q\n\n# runs at once\n@q.run\ndef f():\n    a = 1\n    «print(a)\n»",
    ),
    (
        "comprehensions keep their names",
        "def f(a):\n    «b = [i for i in a if i]\n    c = {i: j for i, j in zip(a, b)}\n»    return b, c\n",
    ),
    ("walrus", "def f(a):\n    «if (n := len(a)) > 3:\n        print(n)\n»    return n\n"),
    (
        "with, try and except",
        "def f(p):\n    «try:\n        with open(p) as h:\n            text = h.read()\n    except OSError as e:\n        text = str(e)\n»    return text\n",
    ),
    (
        "within a try whose handler reads",
        "def f(p):\n    n = 0\n    try:\n        «n += 1\n        p()\n»    except E:\n        print(n)\n",
    ),
    (
        "within a try, the last thing",
        "def f(p):\n    n = 0\n    try:\n        «p()\n        n += 1\n»    except E:\n        print(n)\n",
    ),
    (
        "match",
        "def f(a):\n    «match a:\n        case [x, *rest]:\n            print(x, rest)\n        case _:\n            print(a)\n»",
    ),
    ("locals()", "def f(a):\n    «print(locals())\n»"),
    ("tabs", "def f(a):\n\tif a:\n\t\t«b = a\n\t\tprint(b)\n»\treturn a\n"),
    (
        "a text over several lines stays as it is",
        "def f(a):\n    if a:\n        «b = '''x\n            y\n  z'''\n        print(b,\n              a)\n»    return a\n",
    ),
    (
        "a line outdented in parentheses",
        "def f(a):\n    if a:\n        «g(a,\n  1)\n»    return a\n",
    ),
    (
        "CJK",
        "def 函数(甲):\n    乙 = 甲 + '深い森'\n    «丙 = 乙 * 2\n    print(丙, '🦀')\n»    return 甲\n",
    ),
    ("no newline at the end", "def f(a):\n    «print(a)»"),
    ("CRLF", "def f(a):\r\n    «b = a\r\n    c = b\r\n»    return c\r\n"),
    ("semicolons", "def f(a):\n    «b = a; c = b»; print(c)\n"),
    ("a syntax error in it", "def f(a):\n    «b = = a\n»    return b\n"),
    ("the name exists", "def extracted():\n    pass\n\ndef f(a):\n    «print(a)\n»"),
    ("super", "class A(B):\n    def f(self, n):\n        «x = super().f(n)\n»        return x\n"),
    ("private names", "class A:\n    def f(self, o):\n        «n = o.__x\n»        return n\n"),
    ("only a comment", "def f(a):\n    «# nothing\n»    return a\n"),
    ("args and kwargs", "def f(*args: int, **kw):\n    «print(args, kw)\n»"),
    ("the whole body", "def f(a, b=1):\n    «c = a + b\n    return c\n»\ndef g():\n    pass\n"),
    ("an attribute of a parameter", "def f(a):\n    «a.n = 1\n    a[0] += 1\n»    return a\n"),
    (
        "a class in a function",
        "def f(a):\n    class B:\n        def g(self):\n            «print(a, self)\n»    return B\n",
    ),
];

#[test]
fn extractions() {
    insta::assert_snapshot!(table(Language::Python, CASES));
}
