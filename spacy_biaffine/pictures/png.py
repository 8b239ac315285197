"""Pictures as PNG files."""


def to_png(svg: str) -> bytes:
    """The picture as a PNG file on white ground, twice as large.

    Raises ImportError without resvg_py: pip install -e ".[png]" in a clone.
    """
    import resvg_py

    return bytes(resvg_py.svg_to_bytes(svg_string=svg, background="white", zoom=2))
