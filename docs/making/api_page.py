"""docs/api.md: what ``import piiloom`` gives, from signatures and docstrings.

Docstrings are Markdown as they stand. The page is text rather than a directive for the site's builder, so that it reads the same on a
code host, in an editor and in the site.
"""

from __future__ import annotations

import inspect
import re
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

import piiloom
from docs.making.markdown import page, table
from piiloom.cli.main import code_of
from piiloom.corpus.importing import ImportReport
from piiloom.corpus.record import Record, RecordPlan, Span
from piiloom.corpus.releases.exporting import ExportReport
from piiloom.corpus.store.releases import ReleaseRow
from piiloom.detection.detector import ScoredSpan
from piiloom.detection.running.request import DetectionReport
from piiloom.evaluation.comparison import Comparison, RankedSystem
from piiloom.evaluation.evaluating import Evaluation, SchemeFigures
from piiloom.foundation.errors import PiiloomError
from piiloom.generation.running.progress import RunProgress
from piiloom.surrogates.running import RunReport
from piiloom.tagging.model_folder import About

# In the order in which people use them.
FUNCTIONS = (
    "generate",
    "import_file",
    "release",
    "export",
    "load",
    "records",
    "report",
    "probe",
    "evaluate",
    "compare",
    "surrogate",
    "detect",
    "detect_files",
    "train_encoder",
)
OTHERS = ("PiiloomError", "__version__")
GIVEN = (
    Record,
    Span,
    RecordPlan,
    RunProgress,
    ImportReport,
    ReleaseRow,
    ExportReport,
    Evaluation,
    SchemeFigures,
    Comparison,
    RankedSystem,
    RunReport,
    ScoredSpan,
    DetectionReport,
    About,
)
_INTRO = """
All names of `import piiloom`, from their docstrings. [python.md](python.md) is the guide, with an example that runs. Functions print
nothing, and raise `piiloom.PiiloomError`. `StorePath` is a path or None (`outputs/piiloom.duckdb`); `Watch` is a function that takes a
`RunProgress` (for `detect_files` a `DetectionProgress`, for `train_encoder` a `TrainingProgress`); `OnConflict` is
`"fail"`, `"skip"`, `"update"` or `"new"`; `FileOrRecords` is a
path or a list of records; `Undefined` is `"zero"`, `"skip"` or `"one"`; `GroupWeight` is `"documents"`, `"entities"` or `"equal"`;
`Match` is `"multiset"` or `"membership"`. `Rows` is a list and `Figures` a dictionary. These and all other results have `to_pandas()`,
with the rows that `frame_rows()` names.
"""
_OPTIONS = """
Keywords of `generate` are the settings of a run, keywords of `surrogate` the options of `piiloom surrogate run`; a type checker finds a
misspelt one. [settings.md](settings.md) lists both, with defaults and meanings. Those of `release` are
the options of `piiloom release` ([releases.md](releases.md)). Those of `detect_files` are
the options of `piiloom detect` ([detection.md](detection.md)); `detect` takes those of them that concern the detector. Those of
`train_encoder` are the options of `piiloom train encoder`
([training.md](training.md)).
"""
_ERRORS = """
`piiloom.PiiloomError` is the base of all errors that piiloom raises on purpose. It has `message` (what went wrong), `where` (file, line,
key or id; may be None), `remedy` (what to do; may be None) and `exit_code`; `str(error)` is all of it in one line. The code is what
`--json` prints ([runs.md](runs.md#errors-and-ctrl-c-for-scripts)). Errors of one kind stand below the kind.
"""


_NOT_RUN = "<!-- not run: the signature of a function -->"


def api_page() -> str:
    """The text of the page. Raises ``ValueError`` for a public name that it leaves out."""
    missing = set(piiloom.__all__) - {*FUNCTIONS, *OTHERS}
    if missing:
        raise ValueError(f"the page says nothing of {sorted(missing)}")
    functions = [_function(name) for name in FUNCTIONS]
    errors = f"## Errors\n\n{_ERRORS.strip()}\n\n{table(('class', 'code', 'exit code', 'meaning'), _errors(PiiloomError, 0))}"
    return page(
        "Python: all names",
        _INTRO,
        "## Functions",
        *functions,
        f"## Options\n\n{_OPTIONS.strip()}",
        "## What they give",
        *(_class(kind) for kind in GIVEN),
        errors,
    )


def _function(name: str) -> str:
    function = getattr(piiloom, name)
    signature = inspect.signature(function)
    taken = [_parameter(one) for one in signature.parameters.values()]
    first_keyword = next((n for n, one in enumerate(signature.parameters.values()) if one.kind is one.KEYWORD_ONLY), None)
    if first_keyword is not None and not any(one.kind is one.VAR_POSITIONAL for one in signature.parameters.values()):
        taken.insert(first_keyword, "*")
    lines = "".join(f"    {one},\n" for one in taken)
    shown = f"```python\npiiloom.{name}(\n{lines}) -> {_hint(signature.return_annotation)}\n```"
    return f"### {name}\n\n{_NOT_RUN}\n{shown}\n\n{inspect.getdoc(function)}"


def _hint(annotation: Any) -> str:
    """Return an annotation as it is written in the source, without the names of modules."""
    if isinstance(annotation, str):
        return annotation
    text = re.sub(r"\b(?:\w+\.)+(?=[A-Z])", "", inspect.formatannotation(annotation))
    # Settings take a str for each Path.
    return re.sub(r"\bPath\b", "str | Path", re.sub(r"Optional\[(Literal\[[^]]*\])\]", r"\1 | None", text))


def _parameter(parameter: inspect.Parameter) -> str:
    hint = re.sub(r"Unpack\[(\w+)\]", r"\1", _hint(parameter.annotation))
    stars = "*" if parameter.kind is parameter.VAR_POSITIONAL else "**" if parameter.kind is parameter.VAR_KEYWORD else ""
    value = str(parameter.default) if isinstance(parameter.default, Path) else parameter.default
    default = "" if value is parameter.empty else f" = {value!r}"
    return f"{stars}{parameter.name}: {hint}{default}"


def _class(kind: type[Any]) -> str:
    rows = [(f"`{one.name}`", f"`{one.type}`", "" if one.default is MISSING else f"`{one.default!r}`") for one in fields(kind)]
    made = [f"- `{_call(name, value)}`: {_first_line(value)}" for name, value in vars(kind).items() if _is_told_of(name, value)]
    methods = "\n" + "\n".join(made) if made else ""
    return f"### {kind.__name__}\n\n{inspect.getdoc(kind)}\n\n{table(('field', 'type', 'default'), rows)}{methods}"


def _is_told_of(name: str, value: object) -> bool:
    """Whether *value* is a public property, or a public method that gives something."""
    if name.startswith("_"):
        return False
    return isinstance(value, property) or (inspect.isfunction(value) and inspect.signature(value).return_annotation != "None")


def _call(name: str, value: Any) -> str:
    if isinstance(value, property):
        return name
    return f"{name}({', '.join(one for one in inspect.signature(value).parameters if one != 'self')})"


def _first_line(value: Any) -> str:
    return (inspect.getdoc(value) or "").split("\n")[0]


def _errors(kind: type[PiiloomError], depth: int) -> list[tuple[str, str, str, str]]:
    """A class and those below it that the front door and the providers raise, each with its code and the first line of its docstring."""
    known = sorted((one for one in kind.__subclasses__() if _is_public(one)), key=lambda one: one.__name__)
    row = (f"{'&nbsp;' * 4 * depth}`{kind.__name__}`", f"`{code_of(kind)}`", str(kind.exit_code), _first_line(kind))
    return [row, *(line for one in known for line in _errors(one, depth + 1))]


def _is_public(kind: type[PiiloomError]) -> bool:
    """Whether the class is of the two modules that define errors; others add detail to one of these for callers inside piiloom."""
    return kind.__module__ in {PiiloomError.__module__, "piiloom.providers.errors"}
