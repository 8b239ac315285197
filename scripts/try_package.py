"""Install a pipeline's wheel, and the plugin's, where nothing else is, and let it read there.

The scratch environment sees the packages of this one through a .pth file, so torch and spaCy are
not downloaded again. The scratch environment's own packages come first: the plugin is the wheel's.
"""

import argparse
import subprocess
import sys
import sysconfig
import tempfile
import venv
from pathlib import Path

from wasabi import msg

ROOT = Path(__file__).resolve().parent.parent
PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check")


def make_environment(folder: Path) -> Path:
    """A virtual environment without pip that sees this one's packages. Returns its python."""
    venv.create(folder, with_pip=False, symlinks=sys.platform != "win32")
    python = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    find = "import sysconfig; print(sysconfig.get_path('purelib'))"
    site = subprocess.run(
        [python, "-X", "utf8", "-c", find], check=True, capture_output=True, encoding="utf-8"
    )
    seen = dict.fromkeys(sysconfig.get_path(kind) for kind in ("purelib", "platlib"))
    # addsitedir, not the bare path: other packages may be editable installs, with .pth files too.
    lines = [f"import site; site.addsitedir({folder!r})" for folder in seen]
    Path(site.stdout.strip(), "parent.pth").write_text("\n".join(lines), encoding="utf-8")
    return python


def build_plugin(folder: Path) -> Path:
    """The plugin's wheel, by way of its sdist."""
    command = [sys.executable, "-m", "build", "--outdir", str(folder), str(ROOT)]
    built = subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace")
    if built.returncode:
        print(built.stdout, built.stderr, sep="\n")
        msg.fail("The plugin's wheel could not be built", exits=1)
    return next(folder.glob("*.whl"))


def main() -> None:
    """Build, install, load, read."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("wheel", type=Path)
    parser.add_argument("name", help="what spacy.load is given")
    args, source = parser.parse_known_args()  # source: what scripts/show_doc.py reads
    # Kept out of the repository, whose own files must not be what is imported.
    with tempfile.TemporaryDirectory() as scratch:
        msg.text("Building the plugin's wheel ...")
        plugin = build_plugin(Path(scratch, "dist"))
        msg.good(f"Built {plugin.name}")
        python = make_environment(Path(scratch, "env"))
        install = ("--python", python, "install", "--quiet", "--no-deps", "--no-index")
        wheels = [plugin, args.wheel.resolve()]
        subprocess.run([*PIP, *install, "--ignore-installed", *wheels], check=True)
        msg.good("Installed both wheels in a scratch environment")
        show = ROOT / "scripts" / "show_doc.py"
        command = [str(python), "-X", "utf8", "-I", str(show), args.name, *source]
        sys.exit(subprocess.run(command, cwd=scratch).returncode)


if __name__ == "__main__":
    main()
