"""Devices for learning (CPU or GPU), matmul precision, and weights as arrays."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import torch
from torch import nn

from risk_env.arrays import Array
from risk_training.config import AUTO, BFLOAT16, FLOAT32

CPU = "cpu"
DEVICES = "auto, cpu, cuda, cuda:N or mps"


def find_device(name: str) -> torch.device:
    """Return the device that a setting names.

    `auto` selects a GPU if PyTorch finds one, and otherwise the CPU. Raises ValueError for a malformed name,
    or for a GPU that PyTorch does not find.
    """
    if name == AUTO:
        return torch.device(
            "cuda" if torch.cuda.is_available() else "mps" if torch.mps.is_available() else CPU
        )
    kind, colon, number = name.partition(":")
    if kind not in (CPU, "cuda", "mps") or (colon and (kind != "cuda" or not number.isdecimal())):
        raise ValueError(f"device={name!r}: must be {DEVICES}")
    count = {CPU: 1, "cuda": torch.cuda.device_count(), "mps": int(torch.mps.is_available())}[kind]
    if int(number or 0) >= count:
        raise ValueError(
            f"device={name!r}: torch {torch.__version__} finds {count} "
            f"{'GPU' if count == 1 else 'GPUs'} of this kind; auto selects an available device"
        )
    return torch.device(name)


def find_precision(name: str, device: torch.device) -> str:
    """Return the matmul precision that a setting names: FLOAT32 or BFLOAT16.

    `auto` selects bfloat16 if the device has instructions for products of bfloat16 matrices.
    """
    if name != AUTO:
        return name
    has_products = {"cuda": _cuda_has_bfloat16, CPU: processor_has_bfloat16}.get(device.type, lambda: False)
    return BFLOAT16 if has_products() else FLOAT32


def _cuda_has_bfloat16() -> bool:
    return torch.cuda.is_bf16_supported(including_emulation=False)


def processor_has_bfloat16() -> bool:
    """Return True if Linux reports that this CPU has instructions for products of bfloat16 matrices."""
    flags = Path("/proc/cpuinfo")
    return flags.is_file() and any(name in flags.read_text() for name in ("avx512_bf16", "amx_bf16"))


def mixed(precision: str, device: torch.device) -> AbstractContextManager[Any]:
    """Return a context manager in which matrix products are computed with this precision."""
    return torch.autocast(device.type, torch.bfloat16) if precision == BFLOAT16 else nullcontext()


def moved(tensor: torch.Tensor, device: torch.device) -> torch.Tensor:
    """Return the tensor on the device.

    A copy to a CUDA GPU runs in the background.
    """
    if device.type == "cuda" and not tensor.is_cuda:
        return tensor.pin_memory().to(device, non_blocking=True)
    return tensor.to(device)


class NamedWeights(nn.Module):
    """A network whose weights have the same names as in the trained file."""

    def __init__(self) -> None:
        super().__init__()
        self.weights = nn.ParameterDict()

    def arrays(self) -> dict[str, Array]:
        """Return copies of the weights as NumPy arrays."""
        return {name: value.detach().cpu().numpy().copy() for name, value in self.weights.items()}
