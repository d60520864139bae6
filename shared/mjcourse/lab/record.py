"""The last seconds of a lab as a video, with what is installed: mediapy and ffmpeg, or Pillow."""

from __future__ import annotations

import io
from collections import deque

import numpy as np

SECONDS = 10.0
_LONGEST_PAUSE = 0.5  # a still picture between two moves lasts no longer than this in the video
_RATE = 24


class Recorder:
    """Keeps the frames shown in the last seconds of motion, as JPEG."""

    def __init__(self) -> None:
        self._frames: deque[tuple[float, bytes]] = deque()
        self._shown_at: float | None = None
        self._clock = 0.0

    def add(self, now: float, jpeg: bytes) -> None:
        """Remember a frame shown at wall time `now` (seconds)."""
        if self._shown_at is not None:
            self._clock += min(now - self._shown_at, _LONGEST_PAUSE)
        self._shown_at = now
        self._frames.append((self._clock, jpeg))
        while self._frames[0][0] < self._clock - SECONDS:
            self._frames.popleft()

    def clear(self) -> None:
        """Forget every frame."""
        self._frames.clear()

    def frames(self) -> list[bytes]:
        """The frames at an even rate of 24 a second, oldest first."""
        if not self._frames:
            return []
        times = np.array([time for time, _ in self._frames])
        ticks = np.arange(times[0], times[-1] + 1e-9, 1 / _RATE)
        picks = np.clip(np.searchsorted(times, ticks + 1e-9) - 1, 0, None)
        return [self._frames[int(pick)][1] for pick in picks]


def encode(frames: list[bytes]) -> tuple[bytes, str]:
    """A video of JPEG frames: `(content, mime type)`.

    H.264 by mediapy, with the system's ffmpeg or the one that imageio-ffmpeg brings; an animated
    WebP by Pillow where there is none.

    Raises:
      ValueError: there are no frames.
    """
    if not frames:
        raise ValueError("nothing to show yet: press Play or move a slider first")
    pictures = [_decode(frame) for frame in frames]
    try:
        return _h264(pictures), "video/mp4"
    except (ImportError, RuntimeError, OSError):
        return _webp(pictures), "image/webp"


def _decode(jpeg: bytes) -> np.ndarray:
    from PIL import Image

    return np.asarray(Image.open(io.BytesIO(jpeg)).convert("RGB"))


def _h264(pictures: list[np.ndarray]) -> bytes:
    import mediapy

    if not mediapy.video_is_available():
        import imageio_ffmpeg

        mediapy.set_ffmpeg(imageio_ffmpeg.get_ffmpeg_exe())
    even = [p[: p.shape[0] // 2 * 2, : p.shape[1] // 2 * 2] for p in pictures]
    return mediapy.compress_video(even, codec="h264", fps=_RATE, crf=20)


def _webp(pictures: list[np.ndarray]) -> bytes:
    from PIL import Image

    images = [Image.fromarray(p) for p in pictures]
    buffer = io.BytesIO()
    images[0].save(
        buffer,
        "WEBP",
        save_all=True,
        append_images=images[1:],
        duration=round(1000 / _RATE),
        loop=0,
        quality=70,
        method=0,
    )
    return buffer.getvalue()
