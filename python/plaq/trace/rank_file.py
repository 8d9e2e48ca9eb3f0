"""The file of one rank as it lies on disk; src/plaq/trace/file.hpp and buffer.hpp say what is in it."""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from plaq.errors import InputError

HEAD_BYTES, MAGIC = 512, b"plaq trace 1\n"
MARK = 0x4B4C4250
BLOCK_HEAD = struct.Struct("<IIQQQ")  # mark, kind, bytes, thread, events lost so far
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
    """Everything in one file: `records` [n] of all threads, those of one thread together and in their order."""

    path: Path
    state: str
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
    torn: bool = False  # the last block is not whole


def read_rank_file(path: Path) -> RankFile:
    """InputError where it is not a trace. A last block that is not whole is read as far as it goes."""
    try:
        data = np.memmap(path, np.uint8, "r") if path.stat().st_size else np.zeros(0, np.uint8)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    head = data[:HEAD_BYTES].tobytes()
    if len(head) < HEAD_BYTES or not head.startswith(MAGIC):
        raise InputError(f"{path}: is not a trace of plaq, version 1")
    out = RankFile(path, head[len(MAGIC) :].partition(b"\n")[0].decode(errors="replace"))
    events: dict[int, list[np.ndarray]] = {}
    clocks, offsets, gpu, gpu_calls, lost = [], [], [], [], {}
    at = HEAD_BYTES
    while at < len(data):
        if at + BLOCK_HEAD.size > len(data):
            out.torn = True
            break
        mark, kind, size, thread, lost_so_far = BLOCK_HEAD.unpack(data[at : at + BLOCK_HEAD.size])
        if mark != MARK:
            raise InputError(f"{path}: is damaged at byte {at}: no block begins there")
        at += BLOCK_HEAD.size
        body = data[at : at + size]
        at += size + -size % 8
        if len(body) < size:
            out.torn = True
            if kind != EVENTS:
                break
        if kind == EVENTS:
            events.setdefault(thread, []).append(body[: len(body) // 16 * 16].view(RECORD))
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
    for nobody in (NO_THREAD, GPU_THREAD):
        events.pop(nobody, None)
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
    return out
