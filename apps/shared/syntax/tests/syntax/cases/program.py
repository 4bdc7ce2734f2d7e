"""Uses of everything that an extraction has to get right."""
import asyncio
import contextlib
import functools

LIMIT = 7
log = []


def note(*what):
    log.append(" ".join(str(one) for one in what))


def loops(numbers):
    total = 0
    last = None
    for index, number in enumerate(numbers):
        if last is not None and number < last:
            note("down", last, number)
        if number > LIMIT:
            note("skip", number)
            continue
        total += number
        half = number // 2
        while half > 0:
            half -= 2
            if half == 1:
                break
            total += half
        last = number
        note(index, total, half)
    else:
        note("all", total)
    best = [n for n in numbers if n % 2]
    pairs = {n: m for n, m in zip(numbers, best)}
    return total, last, best, pairs


def branches(a, b=2, *rest, key="k", **more):
    if a > b:
        kind = "more"
        gap = a - b
    elif a == b:
        kind = "same"
        gap = 0
    else:
        kind = "less"
        gap = b - a
    if (size := len(rest)) > 1:
        note("many", size)
        kind += "s"
    for one in rest:
        if one == "stop":
            found = one
            break
    else:
        found = None
    note(kind, gap, found, size, key, sorted(more))
    if found:
        result = kind + found
        return result
    text = '''two
    lines'''
    note(text,
         kind)
    return kind


def guarded(values):
    seen = 0
    problem = None
    for value in values:
        try:
            seen += 1
            inverse = 12 / value
            note("inverse", inverse)
        except ZeroDivisionError as error:
            problem = str(error)
            inverse = 0
        finally:
            note("seen", seen)
        with contextlib.suppress(ValueError):
            inverse += 1
            if value == 3:
                raise ValueError(value)
            seen += 10
        note(inverse, problem)
    return seen, problem


def closures(n):
    count = 0
    base = n * 2

    def step(by):
        nonlocal count
        count += by
        return count + base

    first = step(1)
    second = step(n)
    shown = functools.reduce(lambda x, y: x + y + base, [first, second])
    makers = []
    for i in range(3):
        factor = i + base
        makers.append(lambda x, factor=factor: x * factor)
    made = [make(2) for make in makers]
    lazy = (base + one for one in made)
    base_now = base
    note(shown, made, list(lazy), count)
    return first, second, base_now, count


class Shape:
    kind = "shape"

    def __init__(self, sides, name="none"):
        self.sides = sides
        label = name.upper()
        self.label = f"{label}-{sides!r}"
        self.__secret = sides * 3

    def grow(self, by):
        before = self.sides
        self.sides += by
        after = self.sides
        note(self.label, before, after)
        hidden = self.__secret
        return after - before + hidden

    @classmethod
    def make(cls, sides):
        made = cls(sides, cls.kind)
        note(made.label)
        return made

    @staticmethod
    def twice(n):
        double = n * 2
        note(double)
        return double

    def describe(self):
        match self.sides:
            case 0:
                word = "none"
            case 3 | 4 as few:
                word = f"few {few}"
            case _:
                word = "many"
        parts = [self.label, word]
        return " ".join(parts)


async def later(n):
    await asyncio.sleep(0)
    return n + 1


async def waits(n):
    first = await later(n)
    second = first
    async for one in counts(3):
        second += one
        note("one", one)
    both = await asyncio.gather(later(first), later(second))
    note(both)
    return both, second


async def counts(n):
    for i in range(n):
        doubled = i * 2
        note("yields", doubled)
        yield doubled


def generate(n):
    before = n
    for i in range(n):
        before += i
        note("before", before)
        yield before
    note("end", before)


def main():
    note(loops([3, 9, 4, 1, 7, 6]))
    note(branches(1), branches(2, 2, "a", "stop", x=1), branches(5, 1, "b"))
    note(guarded([1, 0, 3, 4]))
    note(closures(3))
    shape = Shape.make(4)
    grown = shape.grow(2)
    note(grown, shape.describe(), Shape.twice(4), Shape(0).describe())
    note(asyncio.run(waits(2)))
    note(list(generate(3)))
    print("\n".join(log))


main()
