"""MessagePack, as much of it as the protocol uses, and the frames around it."""

import struct
from typing import Any, BinaryIO

_PLAIN = {None: b"\xc0", False: b"\xc2", True: b"\xc3"}
FRAME_MAX = 1_048_576
_NUMBERS = dict(zip(range(0xCA, 0xD4), "fdBHIQbhiq"))
_SIZED: dict[int, tuple[type, str]] = dict(
    zip(
        (0xC4, 0xC5, 0xC6, 0xD9, 0xDA, 0xDB, 0xDC, 0xDD, 0xDE, 0xDF),
        zip([bytes] * 3 + [str] * 3 + [list] * 2 + [dict] * 2, "BHIBHIHIHI"),
    )
)


def pack(value: Any) -> bytes:
    """Encodes a value. Raises TypeError for one that no message may hold."""
    if value is None or isinstance(value, bool):
        return _PLAIN[value]
    if isinstance(value, int):
        if 0 <= value < 128:
            return bytes([value])
        return struct.pack(*((">BQ", 0xCF) if value >= 0 else (">Bq", 0xD3)), value)
    if isinstance(value, float):
        return struct.pack(">Bd", 0xCB, value)
    if isinstance(value, str):
        # A lone surrogate, as in the name of a file that isn't UTF-8, can't be sent.
        data = value.encode("utf-8", "replace")
        return struct.pack(">BI", 0xDB, len(data)) + data
    if isinstance(value, bytes):
        return struct.pack(">BI", 0xC6, len(value)) + value
    if isinstance(value, dict):
        items = (pack(str(key)) + pack(item) for key, item in value.items())
        return struct.pack(">BI", 0xDF, len(value)) + b"".join(items)
    if isinstance(value, (list, tuple)):
        return struct.pack(">BI", 0xDD, len(value)) + b"".join(map(pack, value))
    raise TypeError(f"a {type(value).__name__} can't be sent")


def unpack(data: bytes, at: int = 0) -> tuple[Any, int]:
    """Decodes the value at an offset. Returns it with the offset behind it."""

    def number(code: str) -> Any:
        nonlocal at
        at += struct.calcsize(code)
        return struct.unpack_from(">" + code, data, at - struct.calcsize(code))[0]

    tag, at = data[at], at + 1
    if tag < 0x80 or tag >= 0xE0:
        return (tag if tag < 0x80 else tag - 256), at
    if tag in (0xC0, 0xC2, 0xC3):
        return (None if tag == 0xC0 else tag == 0xC3), at
    if tag in _NUMBERS:
        return number(_NUMBERS[tag]), at
    if tag in _SIZED:
        kind, size = _SIZED[tag][0], number(_SIZED[tag][1])
    else:
        kind = dict if tag < 0x90 else list if tag < 0xA0 else str
        size = tag & (31 if kind is str else 15)
    if kind in (str, bytes):
        piece, at = data[at : at + size], at + size
        return (piece.decode() if kind is str else piece), at
    items = []
    for _ in range(2 * size if kind is dict else size):
        item, at = unpack(data, at)
        items.append(item)
    return (dict(zip(items[::2], items[1::2])) if kind is dict else items), at


def encode_frame(envelope: list[int], body: Any) -> bytes:
    """Makes a frame of an envelope of five numbers and a body."""
    frame = b"\x95" + b"".join(map(pack, envelope)) + pack(body)
    return struct.pack(">I", len(frame)) + frame


def read_frame(stream: BinaryIO) -> tuple[list[int], bytes] | None:
    """Reads a frame: its envelope and its encoded body. None when no whole one comes."""
    size = int.from_bytes(stream.read(4), "big")
    frame = stream.read(size) if size <= FRAME_MAX else b""
    if len(frame) < size or not frame:
        return None
    envelope, at = unpack(frame)
    return envelope, frame[at:]
