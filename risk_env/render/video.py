"""Videos of a game, written by imageio.

The frames come from `draw_rgb`, as with `render_mode="rgb_array"`.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

FRAMES_A_SECOND = 10  # `render_fps` of the environments
KINDS = (".gif", ".mp4")


def import_imageio() -> Any:
    """Return the module imageio. An ImportError names the extra to install."""
    try:
        import imageio_ffmpeg  # noqa: F401  # which imageio needs for .mp4
        from imageio import v2
    except ImportError as error:
        raise ImportError("moving pictures need imageio: pip install 'risk-env[video]'") from error
    return v2


def write_video(path: str | Path, frames: Iterable[NDArray[np.uint8]], fps: float = FRAMES_A_SECOND) -> int:
    """Write frames, uint8 (H, W, 3), as .gif or .mp4, and return the number of frames.

    Raises ValueError for another file extension.
    """
    ending = Path(path).suffix
    if ending not in KINDS:
        raise ValueError(f"path={str(path)!r}: the name must end in {' or '.join(KINDS)}")
    speed = {"duration": 1000 / fps, "loop": 0} if ending == ".gif" else {"fps": fps, "macro_block_size": 2}
    written = 0
    with import_imageio().get_writer(path, mode="I", **speed) as writer:
        for frame in frames:
            odd = ((0, frame.shape[0] % 2), (0, frame.shape[1] % 2), (0, 0))
            writer.append_data(np.pad(frame, odd, "edge"))  # videos have an even width and height
            written += 1
    return written
