"""Separate hosts on one machine: network namespaces whose links have a set delay and bandwidth.

    sudo python benchmarks/comm/hosts.py --hosts 8 --ranks-per-host 2 --delay-us 2000 --mbit 1000 PROGRAM ...

Each host is a network and a UTS namespace with one TUN device. A process is the switch: it reads every packet,
keeps it for the time that the sender's and the receiver's link need for its bits and for the delay, and passes it
on. (`tc netem` would do the same, but not every kernel has it.) Open MPI starts its daemons in the namespaces
through an agent in place of ssh, and talks by TCP. Nothing leaves the machine; all is taken down at the end.

What is to be seen is the link, not TCP or this machine. So the windows are as large as the buffers from the first
byte on: else a connection carries one small window per round trip, and who talks over many connections at once, as a
flat root does, looks fast. Ranks that poll share the cores with the switch, so the switch goes before them.
"""

from __future__ import annotations

import argparse
import fcntl
import heapq
import multiprocessing
import os
import select
import signal
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 0x0001, 0x1000
MTU = 32000  # few packets, so that this switch keeps up
WINDOW = 16 << 20  # bytes
SETTINGS = {
    "net.ipv4.tcp_congestion_control": "reno",
    "net.ipv4.tcp_slow_start_after_idle": "0",
    "net.ipv4.tcp_rmem": f"{WINDOW} {WINDOW} {WINDOW}",
    "net.ipv4.tcp_wmem": f"{WINDOW} {WINDOW} {WINDOW}",
}


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True)


def name(host: int) -> str:
    return f"plaqhost{host}"


def address(host: int) -> str:
    return f"10.77.0.{host + 1}"


def set_up(host: int) -> int:
    """Make one host; the file through which its packets pass."""
    ip("netns", "add", name(host))
    tun = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    device = f"plaqtun{host}"
    fcntl.ioctl(tun, TUNSETIFF, struct.pack("16sH22x", device.encode(), IFF_TUN | IFF_NO_PI))
    ip("link", "set", device, "netns", name(host))
    inside = ("-n", name(host))
    settings = [f"{key}={value}" for key, value in SETTINGS.items()]
    subprocess.run(["ip", "netns", "exec", name(host), "sysctl", "-qw", *settings], check=True)
    ip(*inside, "address", "add", f"{address(host)}/24", "dev", device)
    ip(*inside, "link", "set", device, "mtu", str(MTU), "txqueuelen", "10000", "up")
    packets = str(WINDOW // MTU)
    route = ("10.77.0.0/24", "dev", device, "src", address(host), "initcwnd", packets, "initrwnd", packets)
    ip(*inside, "route", "replace", *route)
    ip(*inside, "link", "set", "lo", "up")
    return tun


def tear_down(host: int) -> None:
    """End what still runs in a host, such as daemons of a job that was stopped, and the host."""
    pids = subprocess.run(["ip", "netns", "pids", name(host)], capture_output=True, text=True, check=False).stdout
    for pid in pids.split():
        try:
            os.kill(int(pid), signal.SIGKILL)
        except ProcessLookupError:
            pass
    subprocess.run(["ip", "netns", "delete", name(host)], check=False)


def switch(tuns: list[int], delay: float, bytes_per_second: float) -> None:
    """Pass packets on until the end. Each link carries `bytes_per_second` either way; each packet waits `delay`."""
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends this process
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    free = [[0.0, 0.0] for _ in tuns]  # when the link is free: outwards, inwards
    under_way: list[tuple[float, int, int, bytes]] = []
    host_of = {tun: host for host, tun in enumerate(tuns)}
    number = 0
    while True:
        wait = max(0.0, under_way[0][0] - time.monotonic()) if under_way else None
        for tun in select.select(tuns, [], [], wait)[0]:
            for _ in range(16):
                try:
                    packet = os.read(tun, MTU + 64)
                except BlockingIOError:
                    break
                source, target = host_of[tun], packet[19] - 1
                if packet[0] >> 4 != 4 or not 0 <= target < len(tuns):
                    continue
                takes = len(packet) / bytes_per_second
                leaves = max(time.monotonic(), free[source][0])
                free[source][0] = leaves + takes
                arrives = max(leaves + delay, free[target][1])
                free[target][1] = arrives + takes
                number += 1
                heapq.heappush(under_way, (arrives + takes, number, target, packet))
        while under_way and under_way[0][0] <= time.monotonic():
            _, _, target, packet = heapq.heappop(under_way)
            try:
                os.write(tuns[target], packet)
            except BlockingIOError:
                pass  # a full queue drops; TCP sends again


def launch(hosts: int, per_host: int, program: list[str], folder: Path) -> int:
    """Open MPI over the hosts, from within the first one."""
    agent = folder / "agent"
    # The last number of the address is the host; the rest of the line is what ssh would run there.
    agent.write_text(
        "#!/bin/sh\nhost=plaqhost$((${1##*.} - 1)); shift\n"
        'exec ip netns exec $host unshare --uts sh -c "hostname $host; $*"\n'
    )
    agent.chmod(0o755)
    options = {
        "plm_rsh_agent": str(agent),
        "btl": "tcp,vader,self",
        "pml": "ob1",
        "btl_tcp_if_include": "10.77.0.0/24",
        "oob_tcp_if_include": "10.77.0.0/24",
        "mpi_yield_when_idle": "1",
    }
    command = [
        "ip",
        "netns",
        "exec",
        name(0),
        "unshare",
        "--uts",
        "sh",
        "-c",
        f'hostname {name(0)}; exec "$@"',
        "sh",
    ]
    command += ["mpirun", "--allow-run-as-root", "--bind-to", "none", "-q", "-n", str(hosts * per_host)]
    command += ["--host", ",".join(f"{address(host)}:{per_host}" for host in range(hosts)), "--map-by", "slot"]
    for option, value in options.items():
        command += ["--mca", option, value]
    with subprocess.Popen(command + program, start_new_session=True) as job:
        try:
            return job.wait()
        except BaseException:
            job.terminate()  # mpirun ends its daemons, tear_down() whoever is left
            try:
                job.wait(10)
            except subprocess.TimeoutExpired:
                job.kill()
            raise


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hosts", type=int, default=4)
    parser.add_argument("--ranks-per-host", type=int, default=1)
    parser.add_argument("--delay-us", type=float, default=1000, help="of each packet, one way")
    parser.add_argument("--mbit", type=float, default=1000, help="bandwidth of each host's link, per second")
    parser.add_argument("program", nargs=argparse.REMAINDER)
    told = parser.parse_args()
    if not 2 <= told.hosts <= 200 or not told.program:
        parser.error("2 to 200 hosts and a program are needed")
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))  # `finally` below cleans up
    tuns, made, passing = [], 0, None
    try:
        for host in range(told.hosts):
            made += 1
            tuns.append(set_up(host))
        passing = multiprocessing.Process(target=switch, args=(tuns, told.delay_us * 1e-6, told.mbit * 1e6 / 8))
        passing.start()
        with tempfile.TemporaryDirectory() as folder:
            return launch(told.hosts, told.ranks_per_host, told.program, Path(folder))
    finally:
        if passing:
            passing.terminate()
            passing.join()
        for host in range(made):
            tear_down(host)
        for tun in tuns:
            os.close(tun)


if __name__ == "__main__":
    sys.exit(main())
