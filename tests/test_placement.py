"""Share of a rank in its machine, and its binding by the input."""

import os
import shutil
import subprocess
import sys

import pytest

from plaq import _core, comm, machine
from plaq.dca.inputs.table import SCHEMA
from plaq.errors import InputError
from plaq.inputs.kinds import cpu_list

CPUS = sorted(os.sched_getaffinity(0))
# A container's affinity mask with a hardware thread that cannot be had.
FAKE = """
#define _GNU_SOURCE
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>
int sched_getaffinity(pid_t pid, size_t bytes, cpu_set_t* mask) {
  CPU_ZERO_S(bytes, mask);
  long done = syscall(SYS_sched_getaffinity, pid, bytes, mask);
  if (done < 0) return -1;
  CPU_SET_S(1000, bytes, mask);
  return 0;
}
"""


def test_lists_of_hardware_threads():
    assert cpu_list("0,2,4-7") == [0, 2, 4, 5, 6, 7]
    for bad in ("", "a", "1,", "3-1", "1,1", "-1", "1-", "0-99999999"):
        with pytest.raises(ValueError):
            cpu_list(bad)


def test_alone_a_rank_has_what_the_process_may_use():
    options = machine.pool_options()
    assert sorted(options.cpus) == CPUS and options.workers == _core.task.physical_cores()
    assert machine.pool_options(3, "none").workers == 3
    listed = machine.pool_options("auto", str(CPUS[-1]))
    assert listed.cpus == [CPUS[-1]] and listed.workers == 1 and listed.bind == _core.task.Binding.threads


def test_a_list_is_cut_for_the_ranks(monkeypatch):
    monkeypatch.setattr(comm, "node", lambda: comm.Node(1, [[4, 5, 6, 7]] * 2))
    assert machine.pool_options("auto", "7,4-6").cpus == [5, 6]
    with pytest.raises(InputError, match="thread 3, which this process may not use; it may use 4, 5, 6, 7"):
        machine.pool_options("auto", "3,4")
    with pytest.raises(InputError, match="1 hardware thread.* for 2 ranks"):
        machine.pool_options("auto", "5")


@pytest.mark.parametrize("value", ["core", "1-", 1.5, True])
def test_bad_bindings_are_refused(value):
    with pytest.raises(InputError, match='run.bind = .* it must be "auto", "cores", "threads", "none" or'):
        SCHEMA.read({"model": {"U": 4}, "dca": {"temperatures": [1.0]}, "run": {"bind": value}}, "test")


@pytest.mark.skipif(not shutil.which("cc") or not sys.platform.startswith("linux"), reason="needs a C compiler, Linux")
def test_workers_that_cannot_be_bound_run_unbound_unless_that_was_asked_for(tmp_path):
    (tmp_path / "fake.c").write_text(FAKE)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", tmp_path / "fake.so", tmp_path / "fake.c"], check=True)
    (tmp_path / "input.toml").write_text("[lattice]\nextents = [2, 2, 2, 2]\n[action]\nbeta = 5.7\n[updates]\n"
                                         "thermalisation = 1\nconfigurations = 2\n")

    def run(*arguments):
        return subprocess.run([sys.executable, "-m", "plaq", "lqcd", "run", "input.toml", *arguments], cwd=tmp_path,
                              capture_output=True, text=True, timeout=60,
                              env={**os.environ, "LD_PRELOAD": str(tmp_path / "fake.so")})

    workers = str(len({tuple(core) for core in [*siblings(CPUS), (1000,)]}))
    for threads in _core.task.backends():
        done = run("--workers", workers, "--threads", threads, "--out", threads)
        assert done.returncode == 0, done.stderr
        assert done.stdout.count("not bound to cores: the system refuses it") == 1
    done = run("--bind", "cores", "--out", "bound")
    assert done.returncode == 1 and "a worker cannot be bound to 1000: Invalid argument" in done.stderr


def siblings(cpus):
    """The hardware threads of each core."""
    for cpu in cpus:
        path = f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list"
        yield tuple(cpu_list(open(path).read().strip())) if os.path.exists(path) else (cpu,)
