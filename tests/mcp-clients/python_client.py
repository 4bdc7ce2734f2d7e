"""The editor's task with the official Python SDK's client: argument 1 is `pipemux`, argument 2 the project."""

import asyncio
import sys
from pathlib import Path

from mcp import ClientSession, StdioServerParameters, types
from mcp.client.stdio import stdio_client

PIPEMUX, PROJECT = sys.argv[1:3]


async def roots(_context: object) -> types.ListRootsResult:
    return types.ListRootsResult(roots=[types.Root(uri=Path(PROJECT).as_uri())])


async def main() -> None:
    # Started elsewhere, as editors do; the project is its root.
    server = StdioServerParameters(command=PIPEMUX, args=["mcp"], cwd="/", env=None)
    async with (
        stdio_client(server) as (read, write),
        ClientSession(read, write, list_roots_callback=roots) as session,
    ):
        await session.initialize()
        tools = [tool.name for tool in (await session.list_tools()).tools]
        assert tools == ["ask", "run_code_snippet", "open", "close"], tools

        async def call(name: str, **arguments: object) -> str:
            result = await session.call_tool(name, arguments)
            text = result.content[0].text
            print(f"> {name} {arguments}\n{text}")
            return text

        assert "fn greet" in await call("ask", code="editor.find('greet')")
        renamed = await call("run_code_snippet", code="editor.rename('greet', 'welcome')")
        assert "1 done · rename" in renamed
        assert "welcome" in Path(PROJECT, "a.rs").read_text()
        refused = await session.call_tool("ask", {"code": "editor.undo()"})
        assert getattr(refused, "is_error", None) or getattr(refused, "isError", None)
        await call("run_code_snippet", code="undo")
        assert "fn greet" in Path(PROJECT, "a.rs").read_text()
        await call("open", app="editor", args=["a.rs"])
        listed = (await session.list_resources()).resources
        assert [str(one.uri) for one in listed] == ["pipemux://editor/main"], listed
        read_back = await session.read_resource(listed[0].uri)
        assert "fn greet" in read_back.contents[0].text


asyncio.run(main())
print("the Python SDK's client: done")
