"""The processes of a job's ranks, found in /proc."""

from pathlib import Path


def descendants(pid):
    for line in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        yield int(line)
        yield from descendants(int(line))


def rank_process(rank, job):
    """The process of that rank of the job, None as long as it is not there."""
    names = [f"{name}={rank}".encode() for name in ("OMPI_COMM_WORLD_RANK", "PMI_RANK")]
    try:
        for pid in descendants(job.pid):
            environment = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
            if any(name in environment for name in names):
                return pid
    except OSError:  # it has ended while we looked
        pass
    return None
