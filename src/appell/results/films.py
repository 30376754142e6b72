"""Encoding of animations: GIF by Pillow, MP4 by ffmpeg."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import numpy as np

from appell.errors import AppellError
from appell.extras import extra
from appell.results.style import COLOURS
from appell.spatial.scalar import Array


def gif(shown: Iterator[Array], fps: float) -> bytes:
    """Return images as a GIF file that loops."""
    Image = extra("PIL.Image", "films need")
    palette = _palette()
    nearest, flat = _nearest(palette), []
    for picture in shown:
        red, green, blue = (picture[..., k].astype(np.uint16) >> 3 for k in range(3))
        image = Image.fromarray(nearest[red << 10 | green << 5 | blue])
        image.putpalette(palette.ravel().tolist())
        flat.append(image)
    # GIF durations are whole hundredths of a second: rounding the ends keeps the total length
    ends = np.round(100.0 / fps * np.arange(len(flat) + 1))
    stream = BytesIO()
    flat[0].save(
        stream,
        "GIF",
        save_all=True,
        append_images=flat[1:],
        duration=(10.0 * np.maximum(np.diff(ends), 2.0)).astype(int).tolist(),
        loop=0,
    )
    return stream.getvalue()


def _palette() -> Array:
    """Return the palette of a GIF, one for all frames to avoid flicker: the colours drawn with, and their blends."""
    inks = [COLOURS[0], COLOURS[1], COLOURS[4], "#333333", "#777777"]
    rgb = np.array([[int(ink[k : k + 2], 16) for k in (1, 3, 5)] for ink in inks])
    blend = np.linspace(0.0, 1.0, 24)[:, None, None]
    light = (1.0 - blend) * rgb + blend * 255.0  # towards white
    dark = (1.0 - blend[::4]) * rgb[:3] + blend[::4] * 85.0  # and towards the grey lines
    return np.round(np.concatenate([light.reshape(-1, 3), dark.reshape(-1, 3), [[0.0, 0.0, 0.0]]])).astype(np.uint8)


def _nearest(palette: Array) -> Array:
    """Return the index of the nearest palette entry for every colour of five bits per channel, (32768,)."""
    steps = np.linspace(0.0, 255.0, 32)
    cube = np.stack(np.meshgrid(steps, steps, steps, indexing="ij"), axis=-1).reshape(-1, 1, 3)
    far = [np.sum((part - palette) ** 2, axis=-1) for part in np.array_split(cube, 16)]
    return np.concatenate([np.argmin(part, axis=-1) for part in far]).astype(np.uint8)


def mp4(shown: Iterator[Array], fps: float) -> bytes:
    """Return images as an MP4 file, encoded by ffmpeg."""
    program = shutil.which("ffmpeg")
    if program is None:
        raise AppellError("run.animate: .mp4 needs ffmpeg, which is not installed; install it or write a .gif")
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder, "film.mp4")
        first = next(shown)
        height, width = (side // 2 * 2 for side in first.shape[:2])  # the common pixel format needs even sizes
        form = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}", "-r", f"{fps:g}", "-i", "-"]
        made = ["-pix_fmt", "yuv420p", "-movflags", "+faststart", str(target)]
        command = [program, "-loglevel", "error", "-y", *form, *made]
        data = b"".join(picture[:height, :width].tobytes() for picture in (first, *shown))
        done = subprocess.run(command, input=data, capture_output=True, check=False)
        if done.returncode or not target.exists():
            reason = (done.stderr.decode(errors="replace").strip().splitlines() or ["no reason given"])[-1]
            raise AppellError(f"run.animate: ffmpeg failed: {reason}; write a .gif instead")
        return target.read_bytes()
