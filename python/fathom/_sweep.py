"""Sweeps and reports, by the program `fathom`, which is beside the library."""
from __future__ import annotations

import os
import subprocess
import tempfile

from ._data import Data
from ._library import Error, UsageError, _ERRORS, command


def _run(arguments, progress=False):
    """Runs the program; its message becomes the exception of its exit code."""
    done = subprocess.run([command(), *arguments], stdout=subprocess.PIPE, stderr=None if progress else subprocess.PIPE,
                          text=True)
    if done.returncode:
        lines = (done.stderr or "").strip().splitlines()
        message = next((line for line in lines if line.startswith("fathom: ")), lines[-1] if lines else "")
        raise _ERRORS.get(done.returncode, Error)(message.replace("fathom: ", "", 1) or
                                                  f"`fathom {arguments[0]}` failed with exit code {done.returncode}")
    return done.stdout


def _quote(value):
    value = str(value)
    return f'"{value}"' if any(c in value for c in " ,#") else value


def _recipe(given, folder):
    """A recipe file of a dict: keys of docs/recipes.md, `_` for `-`."""
    lines = []
    for key, values in given.items():
        values = list(values) if isinstance(values, (list, tuple, range)) else [values]
        for i, value in enumerate(values):
            if isinstance(value, Data):
                values[i] = os.path.join(folder, f"data-{i}.npz")
                value.save(values[i])
        plain = key in ("title", "show", "picture")
        lines.append(f"{key.replace('_', '-')} {' '.join(str(v) if plain else _quote(v) for v in values)}")
    path = os.path.join(folder, "python.recipe")
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    return path


def sweep(recipe: str | dict, out: str | os.PathLike, *, resume: bool = False, device: str | None = None,
          jobs: int | None = None, threads: int | None = None, progress: bool = False):
    """Trains every combination of a recipe and returns the results, a row per run, as a pandas DataFrame.

    recipe: its name ("table1"), a file, or a dict of its keys: {"data": "cora", "models": ["gcn"], "layers": [2, 15],
        "seeds": 2, "epochs": 50}.
    out: the folder of the sweep, which `fathom.report` reads; resume: continue the sweep there.
    progress: show the program's progress.
    """
    import pandas
    out = os.fspath(out)
    with tempfile.TemporaryDirectory() as folder:
        if isinstance(recipe, dict):
            if any(isinstance(v, Data) for values in recipe.values() for v in
                   (values if isinstance(values, (list, tuple)) else [values])):
                os.makedirs(out, exist_ok=True)
            recipe = _recipe(recipe, folder)
        arguments = ["sweep", "--recipe", os.fspath(recipe), "--out", out]
        for name, value in (("--device", device), ("--jobs", jobs), ("--threads", threads)):
            if value is not None:
                arguments += [name, str(value)]
        _run(arguments + (["--resume"] if resume else []) + ([] if progress else ["--quiet"]), progress)
    return pandas.read_csv(os.path.join(out, "results.csv"))


class Report:
    """A page of HTML, which a notebook shows."""

    def __init__(self, html):
        self.html = html

    def save(self, path: str | os.PathLike) -> None:
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.html)

    def _repr_html_(self):
        import html
        return (f'<iframe srcdoc="{html.escape(self.html)}" width="100%" height="800" '
                'style="border: 1px solid #ccc"></iframe>')

    def __repr__(self):
        return f"fathom.Report({len(self.html)} characters)"


def report(folder: str | os.PathLike) -> Report:
    """The report of a sweep or a run: charts and tables, shown in a notebook; `.save(path)` writes the page."""
    folder = os.fspath(folder)
    if not os.path.isdir(folder):
        raise UsageError(f"folder {folder!r} is not there; give the `out` of a sweep or a training")
    with tempfile.TemporaryDirectory() as where:
        path = os.path.join(where, "report.html")
        _run(["report", folder, "-o", path, "--quiet"])
        with open(path, encoding="utf-8") as file:
            return Report(file.read())
