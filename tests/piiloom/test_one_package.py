"""What is installed is one package, ``piiloom``, whatever stands beside it; and no module of it is ever there twice."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.longer import explored, mostly_long
from tests.one_at_a_time import made_once

ROOT = Path(__file__).parents[2]
ROOMS = sorted(link.name for link in (ROOT / "piiloom").iterdir() if (ROOT / link.name / "__init__.py").exists())
# What a user's own project may hold: folders and files of the same names as our rooms, and as what lies beside them in the checkout.
NAMES = [*ROOMS, "cli", "api", "tests", "benchmarks", "outputs"]

USERS_SCRIPT = """
import evaluation, prompts
import piiloom

assert (evaluation.MINE, prompts.MINE) == (True, True)
done = piiloom.generate(samples=3, pairs="health+occupation", store="mine.duckdb")
assert done.accepted == 3
piiloom.release("first", store="mine.duckdb", test_size=1)
piiloom.export("first", "first", store="mine.duckdb")
print(len(piiloom.load("first")), "records from", piiloom.__file__)
"""


def run(*command: object, where: Path, **environment: str) -> str:
    """Run *command* in the folder *where* as a user would, without our paths; gives what it printed."""
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | environment
    done = subprocess.run([str(word) for word in command], cwd=where, env=clean, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr or done.stdout
    return done.stdout


@pytest.fixture(scope="module")
def builds(tmp_path_factory):
    """The wheel of the checkout, and the wheel of its sdist."""
    made = made_once(tmp_path_factory, "wheels", _build)
    return next((made / "dist").glob("*.whl")), next((made / "sdist").glob("*.whl"))


def _build(folder: Path) -> None:
    here, unpacked = folder / "dist", folder / "sdist"
    here.mkdir()
    unpacked.mkdir()
    run(sys.executable, "-m", "hatchling", "build", "-d", here, where=ROOT)
    (sdist,) = here.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        archive.extractall(unpacked, filter="data")
    (source,) = unpacked.iterdir()
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", unpacked, where=source)


def _files(wheel: Path) -> list[str]:
    with zipfile.ZipFile(wheel) as archive:
        return sorted(name for name in archive.namelist() if ".dist-info/" not in name)


@pytest.mark.long
def test_the_wheel_holds_one_package_with_every_file_of_the_rooms(builds):
    direct, by_sdist = map(_files, builds)
    assert {name.split("/")[0] for name in direct} == {"piiloom"}
    assert len(ROOMS) == 15
    kept = [path.relative_to(ROOT / "piiloom") for path in (ROOT / "piiloom").rglob("*") if path.is_file()]
    kept += [path.relative_to(ROOT) for room in ROOMS for path in (ROOT / room).rglob("*") if path.is_file()]
    assert direct == sorted({str("piiloom" / path) for path in kept if path.suffix != ".pyc"})
    assert by_sdist == direct


def _beside_a_users_project(environment: Path, tmp_path: Path) -> None:
    """Run piiloom as installed in *environment* from a folder where every one of our names is taken."""
    python = environment / "bin" / "python"
    project = tmp_path / "project"
    for name in NAMES:
        (project / name).mkdir(parents=True)
        (project / name / "__init__.py").write_text("MINE = True\n")
    for name in ("prompts", "corpus"):
        shutil.rmtree(project / name)
        (project / f"{name}.py").write_text("MINE = True\n")
    (project / "mine.py").write_text(USERS_SCRIPT)
    assert run(python, "mine.py", where=project).startswith(f"3 records from {environment}")
    store = ("--store", "shell.duckdb")
    assert "0 rejected" in run(python, "-m", "piiloom.generation.topics", "--pairs", "age+health", "--samples", 2, *store, where=project)
    script = environment / "bin" / "piiloom"
    assert "topics" in run(script, "stages", "list", *store, where=project)
    listed = "import importlib.metadata as m, json; print(sorted({f.parts[0] for f in m.files('piiloom') if '..' not in f.parts}))"
    top = run(python, "-c", listed, where=tmp_path)
    assert top.strip() == f"['piiloom', 'piiloom-{_version()}.dist-info']"


def _version() -> str:
    import piiloom

    return piiloom.__version__


@explored
@pytest.mark.long
def test_an_installed_piiloom_runs_beside_folders_of_all_its_names(builds, tmp_path):
    # As below without a package index: a new environment with nothing of ours on its path; the libraries are lent by a .pth file, whose
    # own .pth files are not read.
    environment = tmp_path / "environment"
    run(sys.executable, "-m", "venv", "--without-pip", environment, where=tmp_path)
    pip = (sys.executable, "-m", "pip", "--python", environment / "bin" / "python", "install", "--quiet", "--no-deps", "--no-index")
    run(*pip, builds[1], where=tmp_path)
    (site,) = environment.glob("lib/python*/site-packages")
    (site / "lent.pth").write_text(sysconfig.get_paths()["purelib"] + "\n")
    _beside_a_users_project(environment, tmp_path)


@pytest.mark.long
def test_the_same_in_an_environment_with_nothing_but_what_the_wheel_asks_for(builds, tmp_path):
    environment = tmp_path / "environment"
    run(sys.executable, "-m", "venv", "--without-pip", environment, where=tmp_path)
    pip = (sys.executable, "-m", "pip", "--python", environment / "bin" / "python", "install", "--quiet", "--no-compile")
    run(*pip, "-c", ROOT / "constraints.txt", builds[0], where=tmp_path)
    _beside_a_users_project(environment, tmp_path)


@pytest.fixture(scope="module")
def without_links(tmp_path_factory):
    """A checkout in which a link is a small file that names its target, as git makes it on Windows."""
    copy = tmp_path_factory.mktemp("windows") / "piiloom"
    shutil.copytree(ROOT / "piiloom", copy / "piiloom", ignore=lambda _, names: set(names) & {*ROOMS, "__pycache__"})
    for room in ROOMS:
        shutil.copytree(ROOT / room, copy / room, ignore=shutil.ignore_patterns("__pycache__"))
        (copy / "piiloom" / room).write_text(f"../{room}")
    return copy


def test_a_checkout_without_links_works(without_links):
    imported = "import piiloom, piiloom.corpus.record as record; print(piiloom.__file__, record.__name__, record.__file__)"
    printed = run(sys.executable, "-c", imported, where=without_links)
    assert printed.split() == [
        str(without_links / "piiloom" / "__init__.py"),
        "piiloom.corpus.record",
        str(without_links / "corpus" / "record.py"),
    ]


@pytest.mark.long
def test_commands_and_stages_run_there_too(without_links, tmp_path):
    settings = ("--samples", 2, "--pairs", "age+health", "--store", tmp_path / "s.duckdb")
    assert "0 rejected" in run(sys.executable, "-m", "generation.topics", *settings, where=without_links)
    assert "2 of 2 records" in run(sys.executable, "-m", "piiloom", "generate", *settings, "--seed", 8, where=without_links)


COPIES = """
import runpy, sys
from collections import defaultdict
from pathlib import Path
sys.argv = sys.argv[1:]
try:
    {start}
except SystemExit as ended:
    assert not ended.code, ended.code
known = defaultdict(set)
for name, module in list(sys.modules.items()):
    if getattr(module, "__file__", None) and name != "__main__":
        known[Path(module.__file__).resolve()].add(module.__name__)
ours = {{path: names for path, names in known.items() if any(path.is_relative_to(room) for room in {rooms!r})}}
assert len(ours) > 50, len(ours)
print({{str(path): sorted(names) for path, names in ours.items() if len(names) > 1 or not min(names).startswith("piiloom")}})
"""


STARTS = [
    ("runpy.run_module('generation.topics', run_name='__main__', alter_sys=True)", ("--samples", "1", "--store", "{store}")),
    ("runpy.run_module('piiloom', run_name='__main__', alter_sys=True)", ("generate", "--samples", "1", "--store", "{store}")),
    ("import piiloom; piiloom.generate(samples=1, store=sys.argv[1])", ("{store}",)),
]


@pytest.mark.long
@pytest.mark.parametrize(("start", "words"), mostly_long(STARTS, quick=STARTS[:1]), ids=["stage", "command", "python"])
def test_no_module_is_there_under_two_names(start, words, tmp_path):
    # The first argument tells ``generation`` that a stage was started, as ``python -m generation.topics`` does.
    words = [word.format(store=tmp_path / "s.duckdb") for word in words]
    script = COPIES.format(start=start, rooms=[str(ROOT / room) for room in ("piiloom", *ROOMS)])
    printed = run(sys.executable, "-c", script, "generation.topics" if "topics" in start else "piiloom", *words, where=ROOT)
    assert printed.splitlines()[-1] == "{}"


def test_no_room_is_imported_under_its_short_name():
    asked = "from importlib import import_module\n"
    asked += f"for room in {ROOMS!r}:\n    try:\n        import_module(room)\n    except ImportError as error:\n        print(error)"
    assert run(sys.executable, "-c", asked, where=ROOT).splitlines() == [f"import it as piiloom.{room}" for room in ROOMS]
