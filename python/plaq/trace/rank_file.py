"""The file of one rank as it lies on disk; src/plaq/trace/file.hpp and buffer.hpp define its content."""

from __future__ import annotations

import json
import os
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from plaq.files.guard import DamagedFile, open_file, reading

HEAD_BYTES, MAGIC = 512, b"plaq trace 2\n"
FORMAT = "a trace of plaq, version 2"
NOT_ENDED = "cut: no end was written, because the process was killed or still runs"
# checksum, kind, bytes, thread, events lost so far, number, checksum of the bytes
BLOCK_HEAD = struct.Struct("<IIQQQII")
PROCESS, NAMES, THREAD, EVENTS, CLOCKS, SERIES, SAMPLES, OFFSET, GPU, GPU_CALLS = range(1, 11)
NO_THREAD, GPU_THREAD = 2**64 - 1, 2**64 - 2

RECORD = np.dtype([("head", "<u8"), ("subject", "<u8")])
CLOCK = np.dtype([("ticks", "<u8"), ("ns", "<u8"), ("between", "<u8")])
SAMPLE = np.dtype([("series", "<u8"), ("value", "<f8")])
GPU_INTERVAL = np.dtype(
    [("begin", "<u8"), ("end", "<u8"), ("bytes", "<u8"), ("name", "<u4"), ("gpu", "<u4"), ("context", "<u4")]
    + [("stream", "<u4"), ("correlation", "<u4"), ("unused", "<u4")]
)
GPU_CALL = np.dtype([("task", "<u8"), ("correlation", "<u4"), ("unused", "<u4")])
CLOCK_OFFSET = np.dtype([("seconds", "<f8"), ("error", "<f8"), ("at", "<f8")])


@dataclass
class RankFile:
    """Content of one file: `records` [n] of all threads, those of one thread together and in their order."""

    path: Path
    state: str  # "closed", or "cut: " and why it ends early: then all is known up to the last of `clocks`
    process: dict[str, Any] = field(default_factory=dict)
    names: list[str] = field(default_factory=list)
    threads: dict[int, dict[str, Any]] = field(default_factory=dict)  # number: {id, name}
    records: np.ndarray = field(default_factory=lambda: np.zeros(0, RECORD))
    thread: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))  # [n], its number
    clocks: np.ndarray = field(default_factory=lambda: np.zeros(0, CLOCK))
    series: list[dict[str, Any]] = field(default_factory=list)
    samples: list[tuple[int, np.ndarray]] = field(default_factory=list)  # ticks, SAMPLE[k]
    offsets: np.ndarray = field(default_factory=lambda: np.zeros(0, CLOCK_OFFSET))
    gpu: np.ndarray = field(default_factory=lambda: np.zeros(0, GPU_INTERVAL))
    gpu_calls: np.ndarray = field(default_factory=lambda: np.zeros(0, GPU_CALL))
    lost: int = 0

    def without_events(self) -> RankFile:
        """Return what a clock of other ranks refers to: process, clocks and offsets."""
        return RankFile(self.path, self.state, self.process, clocks=self.clocks, offsets=self.offsets)

    @property
    def counters(self) -> list[str]:
        """Counters of the processor that were read at the events of threads."""
        return self.process.get("counters", "").split(", ") if self.process.get("counters") else []

    @property
    def cut(self) -> bool:
        return self.state != "closed"


def read_rank_file(path: Path) -> RankFile:
    """Read the file of a rank; InputError if it is not a trace, or a damaged one.

    A file that ends early (the process was killed, the disk was full, the end of the file is lost) is read up to the
    last moment until which it has the events of all threads: records behind the last reading of the clocks do not
    count.
    """
    with reading(path, FORMAT):
        with os.fdopen(open_file(path), "rb") as file:
            return _parse(path, np.fromfile(file, np.uint8))  # no mapping: the file may become shorter meanwhile


def _parse(path: Path, data: np.ndarray) -> RankFile:
    state, written = _head(path, data[:HEAD_BYTES].tobytes())
    out = RankFile(path, _state(path, state, written, len(data)))
    events: dict[int, list[np.ndarray]] = {}
    clocks, offsets, gpu, gpu_calls, lost = [], [], [], [], {}
    for kind, thread, lost_so_far, body in _blocks(path, data[: written or None],
                                                   state == "open" or written > len(data)):
        if kind == EVENTS:
            events.setdefault(thread, []).append(body.view(RECORD))
            lost[thread] = lost_so_far
        elif kind == PROCESS:
            out.process = json.loads(body.tobytes())
        elif kind == NAMES:
            out.names += json.loads(body.tobytes())
        elif kind == THREAD:
            out.threads[thread] = json.loads(body.tobytes())
        elif kind == CLOCKS:
            clocks.append(body.view(CLOCK))
        elif kind == SERIES:
            out.series.append(json.loads(body.tobytes()))
        elif kind == SAMPLES:
            out.samples.append((int(body[:8].view("<u8")[0]), body[8:].view(SAMPLE)))
        elif kind == OFFSET:
            offsets.append(body.view(CLOCK_OFFSET))
        elif kind == GPU:
            gpu.append(body.view(GPU_INTERVAL))
        elif kind == GPU_CALLS:
            gpu_calls.append(body.view(GPU_CALL))
    out.lost = sum(lost.values())
    for number in (NO_THREAD, GPU_THREAD):
        events.pop(number, None)
    if events:
        parts = {thread: np.concatenate(blocks) for thread, blocks in sorted(events.items())}
        out.records = np.concatenate(list(parts.values()))
        out.thread = np.repeat(list(parts), [len(part) for part in parts.values()]).astype(np.int64)
    if clocks:
        out.clocks = np.concatenate(clocks)
    if offsets:
        out.offsets = np.concatenate(offsets)
    if gpu:
        out.gpu = np.concatenate(gpu)
    if gpu_calls:
        out.gpu_calls = np.concatenate(gpu_calls)
    if out.cut and clocks:
        ticks, ns, _ = out.clocks[-1]
        out.samples = [(when, values) for when, values in out.samples if when <= ticks]
        out.gpu = out.gpu[out.gpu["end"] <= ns]
    return out


def _head(path: Path, head: bytes) -> tuple[str, int]:
    """Return the state, and the length of the file when the state was written."""
    lines = head.split(b"\n")
    if lines[0] + b"\n" != MAGIC:
        older = lines[0].startswith(MAGIC.rpartition(b" ")[0])
        raise DamagedFile(f"{path}: " + (f"is '{lines[0].decode(errors='replace')}', where this plaq reads {FORMAT}"
                                         if older else f"is not {FORMAT}"))
    text = b"\n".join(lines[:3]) + b"\n"
    if head != (text + b"%08x\n" % zlib.crc32(text)).ljust(HEAD_BYTES, b"\0"):
        raise DamagedFile(f"{path}: is damaged or truncated in its first {HEAD_BYTES} bytes")
    return lines[1].decode(), int(lines[2])


def _state(path: Path, state: str, written: int, size: int) -> str:
    """Return "closed", or "cut: " and why the file ends early."""
    if state == "open":
        return NOT_ENDED
    if size < written:
        return f"cut: truncated, {size} of {written} bytes are there"
    if size > written and state == "closed":
        raise DamagedFile(f"{path}: is damaged: it was closed at byte {written}, and continues after that")
    return state


def _blocks(path: Path, data: np.ndarray, may_end_early: bool) -> Iterator[tuple[int, int, int, np.ndarray]]:
    """Yield kind, thread, events lost so far and bytes of each block."""
    at, number = HEAD_BYTES, 0
    while at < len(data):
        head = data[at : at + BLOCK_HEAD.size].tobytes()
        body = data[at + BLOCK_HEAD.size :]
        if whole := len(head) == BLOCK_HEAD.size:
            check, kind, size, thread, lost, place, check_body = BLOCK_HEAD.unpack(head)
            if check != zlib.crc32(head[4:]) or place != number:
                raise DamagedFile(f"{path}: is damaged at byte {at}: block {number} does not begin there")
            padded = size + -size % 8
            whole = padded <= len(body)
        if not whole:
            if may_end_early:
                return
            raise DamagedFile(f"{path}: is damaged at byte {at}: block {number} is incomplete")
        if check_body != zlib.crc32(body[:padded]):
            raise DamagedFile(f"{path}: is damaged between bytes {at} and {at + BLOCK_HEAD.size + padded}: "
                              f"block {number} does not match its checksum")
        yield kind, thread, lost, body[:size]
        at += BLOCK_HEAD.size + padded
        number += 1
