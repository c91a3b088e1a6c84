"""Files: what an experiment writes: data as Parquet, a drawing as PNG, its table as Markdown."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING, Final

from heliograph.event.errors import UsageError
from heliograph.experiments.findings import markdown

if TYPE_CHECKING:
    from pathlib import Path

    from heliograph.experiments.findings import Experiment, Findings

_NEEDED: Final = {"pyarrow": "planet", "matplotlib": "plot"}


def check(folder: Path) -> None:
    """Refuse before a long run what would fail after it.

    Raises:
        UsageError: The folder cannot be made, or a library is missing.
    """
    for library, extra in _NEEDED.items():
        if importlib.util.find_spec(library) is None:
            raise UsageError(f"experiments need {library}: pip install 'heliograph[{extra}]'")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot make the folder {folder}: {error.strerror}") from None


def write(experiment: Experiment, findings: Findings, folder: Path, *, real: bool) -> list[Path]:
    """Write all of it; return the files."""
    import pyarrow as pa  # noqa: PLC0415 - optional, and slow to import
    import pyarrow.parquet as pq  # noqa: PLC0415 - as above
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415 - as above
    from matplotlib.figure import Figure  # noqa: PLC0415 - as above

    kind = "real" if real else "simulated"
    drawn = Figure(figsize=(9, 9), layout="constrained")
    FigureCanvasAgg(drawn)
    findings.draw(drawn)
    drawn.suptitle(f"{experiment.name}, {kind}: {experiment.figure}")
    text = f"# {experiment.name}, {kind}\n\n{experiment.what} ({experiment.figure})\n\n"
    files = [folder / f"{kind}-{name}.parquet" for name in findings.data]
    try:
        for path, columns in zip(files, findings.data.values(), strict=True):
            pq.write_table(pa.table(dict(columns)), path)
        files += [folder / f"{kind}.png", folder / f"{kind}.md"]
        drawn.savefig(files[-2], dpi=110, format="png")
        files[-1].write_text(text + markdown(findings), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write to {folder}: {error.strerror}") from None
    return files
