#!/usr/bin/env python3
"""Draws the checked-in results as SVG: plot.py [RESULTS [OUT]] (this directory's `results`, and this directory).

Three kinds of files are recognised by their contents:
  comparison  {"lat/64/sync": {"m": [...], "ratio": 1.0}, ...}: a plot a test, a panel a size, a bar a target
  list        {"title": ..., "note": ..., "rows": [{"name": ..., "value": ...}, ...]}: a plot, a bar a row
  growth      {"sessions": {"columns": [...], "rows": [{"size": 1, "figures": [...]}]}, ...}: a plot each
Other files are skipped with a message. The script uses only the standard library.
"""
import json, math, pathlib, sys
from xml.sax.saxutils import escape

HERE = pathlib.Path(__file__).resolve().parent
OURS = "pipemux"  # names of PipeMux bars start with this
STYLE = """<style>
text { font: 12px system-ui, sans-serif; fill: #24292f } .title { font-weight: 600; font-size: 14px }
.dim { fill: #6e7781 } .bar { fill: #8c959f } .ours { fill: #0969da } .base { fill: #57606a }
.grid { stroke: #8c959f; stroke-opacity: .35 } .line { fill: none; stroke-width: 2 }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3 } .dim { fill: #8d96a0 } .ours { fill: #4493f8 } }
</style>"""
LINES = ["#0969da", "#bf3989", "#1a7f37", "#bc4c00", "#8250df", "#6e7781", "#9a6700", "#0a7ea4", "#cf222e", "#4d2d00"]
GROWS = {"saved": "saved sessions", "window": "a window's lines", "document": "a document's bytes", "history": "rounds of history"}
# The title, the unit of the bars, and the index of the figure; None stands for the median of the ratios.
TESTS = {
    "lat": ("Round trip, median", "times that of {}; less is better", None),
    "conn": ("Connect, call, close, median", "times that of {}; less is better", None),
    "mix": ("A small call beside a 1 MiB stream, 99th percentile", "times that of {}; less is better", 1),
    "thr": ("64 in flight on one connection", "times the requests a second of {}; more is better", None),
    "multi": ("8 clients × 8 apps", "times the requests a second of {}; more is better", None),
}


def text(x, y, what, kind="", anchor="start"):
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}" text-anchor="{anchor}">{escape(str(what))}</text>'


def svg(width, height, parts):
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">'
    return "\n".join([head, STYLE, *parts, "</svg>"]) + "\n"


def number(value):
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:.0f}"


def size(count):
    count = int(count)
    # The largest body that fits into 1 MiB with its header.
    if count >= 1024 and count % 1024 == 960:
        return f"{size(count + 64)} − 64 B"
    for unit in ("B", "KiB", "MiB"):
        if count < 1024:
            return f"{count} {unit}"
        count //= 1024
    return f"{count} GiB"


def bars(rows, x, y, width, names, figure=number):
    """Rows of (name, value, class) from the top; a wide spread is drawn on a logarithmic scale."""
    most, least = max(value for _, value, _ in rows), min(value for _, value, _ in rows)
    log = most / least > 30
    low = math.floor(math.log10(least)) if log else 0
    room = width - names - 60
    span = (math.log10(most) - low) if log else most
    parts = []
    for index, (name, value, kind) in enumerate(rows):
        top = y + index * 20
        long = max(1.0, room * ((math.log10(value) - low) if log else value) / span)
        parts.append(text(x + names - 6, top + 12, name, "", "end"))
        parts.append(f'<rect x="{x + names:.1f}" y="{top + 2:.1f}" width="{long:.1f}" height="13" rx="2" class="{kind}"/>')
        parts.append(text(x + names + long + 5, top + 12, figure(value), "dim"))
    return parts, log


def comparison(name, data):
    tests = {}
    for key, found in data.items():
        test, length, target = key.split("/")
        tests.setdefault(test, {}).setdefault(int(length), {})[target] = found
    for test, panels in tests.items():
        title, note, which = TESTS.get(test, (test, "times that of {}", None))
        ratios = {length: ratio(panel, which) for length, panel in panels.items()}
        bases = {base(panel) for length, panel in panels.items() if ratios[length]}
        parts = [text(12, 24, title, "title"), text(12, 42, note.format(" or ".join(sorted(bases))), "dim")]
        y = 70
        for length in sorted(panels):
            rows = sorted(ratios[length].items(), key=lambda row: row[1], reverse="more is better" in note)
            if not rows:
                continue
            kinds = [(t, r, "ours" if t.startswith(OURS) else "base" if abs(r - 1) < 1e-9 else "bar") for t, r in rows]
            drawn, log = bars(kinds, 12, y + 8, 616, 150)
            parts += [text(12, y, size(length) + (" (logarithmic)" if log else ""), "title"), *drawn]
            y += 34 + 20 * len(rows)
        yield f"{name}-{test}.svg", svg(640, y, parts)


def base(panel):
    return next((target for target, found in panel.items() if abs(found["ratio"] - 1) < 1e-9), None)


def ratio(panel, which):
    """What each bar of a panel says, by target; nothing where no target is the base."""
    of = base(panel)
    if of is None:
        return {}
    if which is None:
        return {target: found["ratio"] for target, found in panel.items() if found["ratio"] > 0}
    return {target: found["m"][which] / panel[of]["m"][which] for target, found in panel.items()}


def listed(name, data):
    rows = [(r["name"], r["value"], "ours" if r["name"].startswith(OURS) else "bar") for r in data["rows"]]
    drawn, log = bars(rows, 12, 56, 616, 230)
    note = data.get("note", "") + (" (logarithmic)" if log else "")
    parts = [text(12, 24, data["title"], "title"), text(12, 42, note, "dim"), *drawn]
    yield f"{name}.svg", svg(640, 70 + 20 * len(rows), parts)


def growth(name, data):
    for grows, table in data.items():
        rows = sorted(table["rows"], key=lambda row: row["size"])
        lines = []
        for index, column in enumerate(table["columns"]):
            if " / " in column:
                continue  # a ratio of two that are drawn
            points = [(row["size"], row["figures"][index]) for row in rows]
            points = [(at, value) for at, value in points if value and value > 0]
            if len(points) > 1:
                lines.append((column, [(at, value / points[0][1]) for at, value in points], points))
        if not lines:
            continue
        left, top, width, height = 60, 62, 360, 220
        sizes = [row["size"] for row in rows]
        # The scale has a minimum height, so that constant figures appear as flat lines in the middle.
        high = max(4.0, *(value for _, points, _ in lines for _, value in points))
        low = min(0.5, *(value for _, points, _ in lines for _, value in points))
        place = lambda at: left + width * math.log10(at / sizes[0]) / max(1e-9, math.log10(sizes[-1] / sizes[0]))
        level = lambda value: top + height - height * math.log(value / low) / math.log(high / low)
        parts = [text(12, 24, f"What grows with {GROWS.get(grows, grows)}", "title"), text(12, 42, f"each as times its figure at {sizes[0]}", "dim")]
        for at in sizes:
            parts += [f'<path class="grid" d="M{place(at):.1f} {top}v{height}"/>', text(place(at), top + height + 18, f"{at:,}", "dim", "middle")]
        step = math.ceil(math.log10(low))
        while 10**step <= high:
            value = 10**step
            parts += [f'<path class="grid" d="M{left} {level(value):.1f}h{width}"/>', text(left - 6, level(value) + 4, f"{value:g}×", "dim", "end")]
            step += 1
        for index, (column, points, figures) in enumerate(lines):
            colour = LINES[index % len(LINES)]
            way = " ".join(f"{place(at):.1f},{level(value):.1f}" for at, value in points)
            y = top + 14 + index * 20
            parts += [
                f'<polyline class="line" style="stroke:{colour}" points="{way}"/>',
                f'<rect x="{left + width + 20}" y="{y - 9}" width="10" height="10" rx="2" style="fill:{colour}"/>',
                text(left + width + 36, y, f"{column}: {number(figures[0][1])} → {number(figures[-1][1])}"),
            ]
        yield f"{name}-{grows}.svg", svg(700, top + height + 34, parts)


def plots(name, data):
    if isinstance(data, dict) and "rows" in data:
        return listed(name, data)
    if isinstance(data, dict) and data and all(isinstance(v, dict) for v in data.values()):
        if all(key.count("/") == 2 and "ratio" in value for key, value in data.items()):
            return comparison(name, data)
        if all("columns" in value for value in data.values()):
            return growth(name, data)
    return None


def main():
    results = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "results"
    out = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else HERE
    for path in sorted(results.glob("*.json")):
        if path.with_stem(f"{path.stem}-pinned").exists():
            continue  # the figures measured on one processor are drawn instead
        drawn = plots(path.stem, json.loads(path.read_text()))
        if drawn is None:
            print(f"{path.name}: nothing to draw")
            continue
        for name, content in drawn:
            (out / name).write_text(content)
            print(out / name)


if __name__ == "__main__":
    main()
