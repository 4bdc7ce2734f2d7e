"""Tells what a release is made of, from `cargo metadata` on standard input.

    programs   the version, and the programs of the workspace's default members
    notices    the licences of all dependencies, with their texts, in Markdown
    sbom       an inventory of the dependencies, as CycloneDX JSON
"""

import datetime
import hashlib
import json
import os
import re
import sys
import tomllib
import uuid
from pathlib import Path

# The files in which packages say what they are under.
LICENCE_FILE = re.compile(r"(licen[cs]e|copying|notice|copyright|unlicense)", re.IGNORECASE)
LICENCE_BYTES_MAX = 100_000

# What the linker adds, of which cargo knows nothing.
LINKED_BESIDES = """## Rust's standard library

MIT OR Apache-2.0, © The Rust Project contributors, with parts under other permissive licences:
<https://doc.rust-lang.org/stable/std/> names its source.

## glibc and libgcc

On Linux the programs are linked statically with the GNU C Library (LGPL-2.1-or-later) and with libgcc (GPL-3.0-or-later
WITH GCC-exception-3.1). PipeMux's source is public under its own licence: built from it, the programs can be linked with
any other version of these libraries, as section 6 of the LGPL asks.
"""


def programs(metadata: dict) -> str:
    shipped = [package for package in metadata["packages"] if package["id"] in metadata["workspace_default_members"]]
    versions = {package["version"] for package in shipped}
    assert len(versions) == 1, f"the packages have several versions: {versions}"
    names = [target["name"] for package in shipped for target in package["targets"] if "bin" in target["kind"]]
    return " ".join([*versions, *sorted(names)])


def dependencies(metadata: dict) -> dict[str, set[str]]:
    """Returns what the shipped packages need at run time: each package's id, and those of its own dependencies."""
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    found: dict[str, set[str]] = {}
    waiting = list(metadata["workspace_default_members"])
    while waiting:
        package = waiting.pop()
        if package in found:
            continue
        normal = (dep for dep in nodes[package]["deps"] if any(kind["kind"] is None for kind in dep["dep_kinds"]))
        found[package] = {dep["pkg"] for dep in normal}
        waiting.extend(found[package])
    return found


def third_parties(metadata: dict) -> list[dict]:
    needed = dependencies(metadata)
    packages = (one for one in metadata["packages"] if one["id"] in needed and one["source"])
    return sorted(packages, key=lambda one: (one["name"], one["version"]))


def expression(package: dict) -> str:
    """Returns the SPDX expression; old packages write a slash for OR."""
    return (package["license"] or "").replace("/", " OR ").replace("  ", " ")


def licence_texts(package: dict) -> list[str]:
    directory = Path(package["manifest_path"]).parent
    files = [file for file in sorted(directory.iterdir()) if file.is_file() and LICENCE_FILE.match(file.name)]
    if package["license_file"]:
        files.append(directory / package["license_file"])
    readable = (file for file in dict.fromkeys(files) if file.suffix != ".rs" and file.stat().st_size <= LICENCE_BYTES_MAX)
    return [file.read_text(errors="replace").replace("\r\n", "\n").strip() for file in readable]


def notices(metadata: dict) -> str:
    users: dict[str, tuple[str, list[str]]] = {}
    rows, without = [], []
    for package in third_parties(metadata):
        name = f"{package['name']} {package['version']}"
        rows.append(f"| {name} | {expression(package)} | {package['repository'] or ''} |")
        texts = licence_texts(package)
        for text in texts:
            # Copies that differ only in white space are one.
            users.setdefault(" ".join(text.split()), (text, []))[1].append(name)
        if not texts:
            without.append(name)
    page = ["# Licences of what PipeMux is made with\n", LINKED_BESIDES]
    page += ["## Packages\n", "| package | licence | source |\n|---|---|---|", *rows, ""]
    if without:
        page.append(f"These packages bring no text of their licence, which is one of the below: {', '.join(without)}.\n")
    for text, names in sorted(users.values(), key=lambda item: item[1]):
        fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
        page.append(f"## {', '.join(names)}\n\n{fence}text\n{text}\n{fence}\n")
    return "\n".join(page)


def sbom(metadata: dict) -> str:
    needed = dependencies(metadata)
    packages = {one["id"]: one for one in metadata["packages"] if one["id"] in needed}
    lock = tomllib.loads(Path(metadata["workspace_root"], "Cargo.lock").read_text())
    checksums = {(one["name"], one["version"]): one.get("checksum") for one in lock["package"]}
    version = programs(metadata).split()[0]

    def reference(package: dict) -> str:
        return f"pkg:cargo/{package['name']}@{package['version']}"

    def component(package: dict) -> dict:
        told = {
            "type": "library",
            "bom-ref": reference(package),
            "name": package["name"],
            "version": package["version"],
            "purl": reference(package),
            "licenses": [{"expression": expression(package)}],
        }
        if checksum := checksums.get((package["name"], package["version"])):
            told["hashes"] = [{"alg": "SHA-256", "content": checksum}]
        if package["description"]:
            told["description"] = " ".join(package["description"].split())
        if package["repository"]:
            told["externalReferences"] = [{"type": "vcs", "url": package["repository"]}]
        return told

    by_name = sorted(packages.values(), key=lambda one: (one["name"], one["version"]))
    roots = [packages[one] for one in metadata["workspace_default_members"]]
    graph = [{"ref": "pipemux", "dependsOn": sorted(map(reference, roots))}]
    for package in by_name:
        graph.append({"ref": reference(package), "dependsOn": sorted(reference(packages[one]) for one in needed[package["id"]])})
    epoch = int(os.environ.get("SOURCE_DATE_EPOCH", "0"))
    time = datetime.datetime.fromtimestamp(epoch, datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    bom = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "timestamp": time,
            "component": {
                "type": "application",
                "bom-ref": "pipemux",
                "name": "pipemux",
                "version": version,
                "licenses": [{"expression": expression(roots[0])}],
            },
        },
        "components": [component(package) for package in by_name],
        "dependencies": graph,
    }
    digest = hashlib.sha256(json.dumps(bom, sort_keys=True).encode()).digest()
    bom["serialNumber"] = f"urn:uuid:{uuid.UUID(bytes=digest[:16], version=4)}"
    return json.dumps(bom, indent=1, sort_keys=True)


print({"programs": programs, "notices": notices, "sbom": sbom}[sys.argv[1]](json.load(sys.stdin)))
