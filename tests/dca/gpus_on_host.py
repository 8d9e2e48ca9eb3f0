"""``plaq`` on a machine whose GPUs are the host in place of them, as many as GPUS says, without figures and report."""

import os

import no_figures

from plaq import _core
from plaq.dca.solver import devices

HOST = -1


def chosen(device, *_):
    return devices.Chosen([HOST] * int(os.environ["GPUS"]) if device != "none" else [])


def put(setattr):
    """With Python's setattr or a monkeypatch's."""
    setattr(devices, "chosen", chosen)
    setattr(devices, "memory", lambda p: {})
    setattr(_core, "has_gpu_kernels", True)  # in their place those of the host


if __name__ == "__main__":
    put(setattr)
    no_figures.leave_out()
    from plaq.main import main

    main()
