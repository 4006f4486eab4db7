"""Videos of a game, written by imageio.

Frames are arrays of pixels, as `draw_rgb` and environments with `render_mode="rgb_array"` return them.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

FRAMES_A_SECOND = 10  # `render_fps` of the PettingZoo environment
# Frames per second. A GIF counts time in steps of 10 ms, and viewers need at least two steps per frame.
SLOWEST, FASTEST = 0.1, 50.0
HOLD = 2.0  # seconds for which the last frame is shown
KINDS = (".gif", ".mp4")


def import_imageio() -> Any:
    """Return the module imageio. Raises ImportError, which names the extra to install."""
    try:
        import imageio_ffmpeg  # noqa: F401  # imageio needs this module for .mp4
        from imageio import v2
    except ImportError as error:
        raise ImportError("videos need imageio: pip install 'risk-env[video]'") from error
    return v2


def check_fps(name: str, fps: float) -> None:
    """Raise ValueError unless `fps` is in the allowed range. `name` is the name of the argument."""
    if not SLOWEST <= fps <= FASTEST:
        raise ValueError(
            f"{name}={fps}: must be a number of frames per second from {SLOWEST:g} to {FASTEST:g}"
        )


def write_video(path: str | Path, frames: Iterable[NDArray[np.uint8]], fps: float = FRAMES_A_SECOND) -> int:
    """Write frames, uint8 (H, W, 3), as .gif or .mp4, and return the number of frames.

    `fps` is the number of frames per second, from 0.1 to 50. The last frame is shown for about `HOLD`
    seconds, or longer if `fps` is below 0.5. Raises ValueError for another file extension and for `fps` out
    of range.
    """
    ending = Path(path).suffix
    if ending not in KINDS:
        raise ValueError(f"path={str(path)!r}: the name must end in {' or '.join(KINDS)}")
    check_fps("fps", fps)
    speed = {"duration": 1000 / fps, "loop": 0} if ending == ".gif" else {"fps": fps, "macro_block_size": 2}
    written = 0
    with import_imageio().get_writer(path, mode="I", **speed) as writer:
        for frame in frames:
            odd = ((0, frame.shape[0] % 2), (0, frame.shape[1] % 2), (0, 0))
            padded = np.pad(frame, odd, "edge")  # videos have an even width and height
            writer.append_data(padded)
            written += 1
        for _ in range(round(HOLD * fps) - 1 if written else 0):
            writer.append_data(padded)
    return written
