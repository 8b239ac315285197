"""Several pictures as one."""

import re
from collections.abc import Iterable

_SIZE = re.compile(r'<svg\b[^>]*? width="([\d.]+)" height="([\d.]+)"')

GAP = 20
"""Pixels between two pictures."""


def stacked(pictures: Iterable[str]) -> str:
    """The pictures among them, <svg>, below each other in one <svg>; empty where there are none."""
    found: list[str] = []
    wide = high = 0.0
    for picture in pictures:
        if size := _SIZE.match(picture):
            found.append(picture.replace("<svg", f'<svg y="{high:g}"', 1))
            wide = max(wide, float(size[1]))
            high += float(size[2]) + GAP
    if not found:
        return ""
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide:g}" height="{high - GAP:g}">'
    return f"{head}\n{chr(10).join(found)}\n</svg>\n"
