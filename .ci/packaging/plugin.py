"""Makes a plugin for harnesses of what `pipemux setup claude-code --with both --dry-run --json` would write.

Argument 1 is the version, argument 2 the directory. One folder is a package of Agent Plugins 1.0.0
(https://agent-plugins.org, 6 August 2026: plugin.json, mcp.json, skills/) and a plugin of Claude Code 2.1
(.claude-plugin/plugin.json, .mcp.json, skills/, hooks/hooks.json); beside it stands the marketplace by which Claude Code
installs it. Both start `pipemux` from the PATH.
"""

import json
import sys
from pathlib import Path

SCHEMAS = "https://agent-plugins.org/schemas/1.0.0"
version, directory = sys.argv[1], Path(sys.argv[2])

texts: dict[str, str] = {}
for file in json.load(sys.stdin)["files"]:
    # Each file is new, so that its difference is the file.
    added = [line[1:] for line in file["difference"].splitlines(keepends=True) if line[0] == "+"]
    texts[Path(file["path"]).name] = "".join(added[1:])
servers, settings, skill = (texts[name] for name in (".mcp.json", "settings.json", "SKILL.md"))
description = next(line.removeprefix("description: ") for line in skill.splitlines() if line.startswith("description: "))
manifest = {"name": "pipemux", "version": version, "description": description, "license": "MIT OR Apache-2.0"}
author = {"name": "The PipeMux contributors"}
listed = {"name": "pipemux", "source": "./pipemux", "description": description}


def write(path: str, content: str | dict) -> None:
    file = directory / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content if isinstance(content, str) else json.dumps(content, indent=2) + "\n")


write("pipemux/skills/pipemux/SKILL.md", skill)
write("pipemux/plugin.json", {"$schema": f"{SCHEMAS}/plugin.schema.json", **manifest, "author": author})
write("pipemux/mcp.json", {"$schema": f"{SCHEMAS}/mcp.schema.json", **json.loads(servers)})
write("pipemux/.claude-plugin/plugin.json", {**manifest, "author": author})
write("pipemux/.mcp.json", servers)
write("pipemux/hooks/hooks.json", {"hooks": json.loads(settings)["hooks"]})
write(".claude-plugin/marketplace.json", {"name": "pipemux", "description": description, "owner": author, "plugins": [listed]})
