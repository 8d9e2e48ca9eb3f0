"""Files of traces taken apart and put together again, with the checksums that belong to them."""

import zlib

from plaq.trace.rank_file import BLOCK_HEAD, HEAD_BYTES, MAGIC


def blocks_of(data):
    """[(kind, thread, lost, body)] of a file."""
    found, at = [], HEAD_BYTES
    while at < len(data):
        _, kind, size, thread, lost, _, _ = BLOCK_HEAD.unpack_from(data, at)
        at += BLOCK_HEAD.size
        found.append((kind, thread, lost, data[at : at + size]))
        at += size + -size % 8
    return found


def file_of(blocks, state="closed"):
    """The file of such blocks."""
    body = b""
    for number, (kind, thread, lost, content) in enumerate(blocks):
        padded = content + bytes(-len(content) % 8)
        rest = BLOCK_HEAD.pack(0, kind, len(content), thread, lost, number, zlib.crc32(padded))[4:]
        body += zlib.crc32(rest).to_bytes(4, "little") + rest + padded
    size = 0 if state == "open" else HEAD_BYTES + len(body)
    said = MAGIC + f"{state}\n{size}\n".encode()
    return (said + b"%08x\n" % zlib.crc32(said)).ljust(HEAD_BYTES, b"\0") + body
