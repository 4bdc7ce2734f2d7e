"""Images and other values that are no text."""

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .errors import Fault

IMAGE_BYTES_MAX = 16 << 20
#: Of an image, so many bytes are looked at for its size in pixels.
HEADER_BYTES_MAX = 1 << 16
UNKNOWN = "application/octet-stream"


@dataclass
class Image:
    """What a thing's value is: the absolute path of a file, or bytes. Return one from `media`.

    The type of common images is found from their first bytes, whatever is named; of others, name
    it: `audio/wav`.
    """

    source: Path | bytes
    type: str = ""

    def slot(self) -> dict[str, Any] | None:
        """What a window shows of it; None if its file can't be read."""
        try:
            if isinstance(self.source, bytes):
                head, size = self.source[:HEADER_BYTES_MAX], len(self.source)
            else:
                size = self.source.stat().st_size
                with open(self.source, "rb") as file:
                    head = file.read(HEADER_BYTES_MAX)
        except OSError:
            return None
        found, pixels = _look(head)
        shown = {
            "type": self.type if found == UNKNOWN and self.type else found,
            "bytes": size,
        }
        return {**shown, "width": pixels[0], "height": pixels[1]} if pixels else shown

    def read(self) -> bytes:
        """Its bytes. Raises Fault if there are more than 16 MiB, and OSError without its file."""
        size = (
            len(self.source)
            if isinstance(self.source, bytes)
            else self.source.stat().st_size
        )
        if size > IMAGE_BYTES_MAX:
            raise Fault(
                f"it has {size} bytes; at most {IMAGE_BYTES_MAX} can be read",
                code="refused",
            )
        return (
            self.source if isinstance(self.source, bytes) else self.source.read_bytes()
        )


def _look(head: bytes) -> tuple[str, tuple[int, int] | None]:
    """The type of an image, and its width and height, as far as its first bytes tell them."""
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png", _pair(">II", head, 16)
    if head.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif", _pair("<HH", head, 6)
    if head.startswith(b"\xff\xd8\xff"):
        return "image/jpeg", _jpeg_size(head)
    return "image/webp" if head[:4] + head[8:12] == b"RIFFWEBP" else UNKNOWN, None


def _pair(form: str, head: bytes, at: int) -> tuple[int, int] | None:
    return (
        struct.unpack_from(form, head, at)
        if len(head) >= at + struct.calcsize(form)
        else None
    )


def _jpeg_size(head: bytes) -> tuple[int, int] | None:
    at = 2
    while at + 9 <= len(head) and head[at] == 0xFF:
        if 0xC0 <= head[at + 1] <= 0xCF and head[at + 1] not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack_from(">HH", head, at + 5)
            return width, height
        at += 2 + int.from_bytes(head[at + 2 : at + 4], "big")
    return None
