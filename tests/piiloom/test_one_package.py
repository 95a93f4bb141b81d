"""The installed piiloom is one package, beside any other folder; a checkout, a ZIP archive and an editable install find the same data."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from importlib.metadata import Distribution, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from piiloom.generation.stages.pipeline import RECIPES, all_stage_names, stage_names
from tests.annotation_app.served_app import served
from tests.longer import usually
from tests.one_at_a_time import made_once

ROOT = Path(__file__).parents[2]
DATA = ("annotation_app", "prompts", "taxonomy")
TOUR = "piiloom/data/annotation_app/tour.webm"
# A user's own project may contain folders and files with the names of our packages and top-level folders.
NAMES = [*sorted(path.parent.name for path in (ROOT / "piiloom").glob("*/__init__.py")), "api", "tests", "benchmarks", "outputs"]

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
def test_the_wheel_contains_one_package_with_all_code_and_data(builds):
    direct, by_sdist = map(_files, builds)
    assert {name.split("/")[0] for name in direct} == {"piiloom"}
    places = {folder: Path("piiloom/data", folder) for folder in DATA} | {"piiloom": Path("piiloom")}
    files = [
        (place, path.relative_to(ROOT / folder))
        for folder, place in places.items()
        for path in (ROOT / folder).rglob("*.*")
        if path.is_file()
    ]
    # The tour is among the pictures of the docs, which no wheel has, and goes along for the page Guidelines.
    assert direct == sorted({TOUR, *(str(place / path) for place, path in files if path.suffix != ".pyc")})
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
    assert "topics" in run(environment / "bin" / "piiloom", "stages", "list", "--store", "mine.duckdb", where=project)
    listed = "import importlib.metadata as m, json; print(sorted({f.parts[0] for f in m.files('piiloom') if '..' not in f.parts}))"
    top = run(python, "-c", listed, where=tmp_path)
    assert top.strip() == f"['piiloom', 'piiloom-{_version()}.dist-info']"


def _version() -> str:
    import piiloom

    return piiloom.__version__


def _lend(site: Path) -> None:
    """Link into the folder *site* what the wheel there asks for, and what that asks for, but nothing else of this environment."""
    (wheel,) = site.glob("piiloom-*.dist-info")
    asked, seen = [(Distribution.at(wheel), "")], set()
    for dist, extra in asked:
        if (dist.name, extra) in seen:
            continue
        seen.add((dist.name, extra))
        for needed in map(Requirement, dist.requires or ()):
            if needed.marker is None or needed.marker.evaluate({"extra": extra}):
                asked += [(distribution(needed.name), one) for one in ("", *needed.extras)]
        for top in {file.parts[0] for file in dist.files or ()} - {"..", "__pycache__"}:
            if not (site / top).exists():
                (site / top).symlink_to(dist.locate_file(top))


@pytest.mark.long
@pytest.mark.parametrize("lent", usually([True, False], {True}))
def test_an_environment_with_nothing_but_what_the_wheel_asks_for(builds, tmp_path, lent):
    environment = tmp_path / "environment"
    run(sys.executable, "-m", "venv", "--without-pip", environment, where=tmp_path)
    pip = (sys.executable, "-m", "pip", "--python", environment / "bin" / "python", "install", "--quiet", "--no-compile")
    how = ("--no-deps", "--no-index") if lent else ("-c", ROOT / "constraints.txt")
    run(*pip, *how, builds[0], where=tmp_path)
    if lent:
        _lend(next(environment.glob("lib/python*/site-packages")))
    _beside_a_users_project(environment, tmp_path)
    command = (environment / "bin" / "piiloom", "annotate", "--port", "0", "--store")
    with served(tmp_path / "project" / "mine.duckdb", by=lambda store: [*command, store], PYTHONPATH="") as server:
        with server.client() as client:
            assert client.get("/").status_code == 200
        assert server.stop()[0] == 0


@pytest.mark.long
def test_an_unpacked_archive_runs_stages_and_commands(tmp_path):
    copy = tmp_path / "piiloom-main"  # a ZIP archive as code hosts make it: no history, nothing installed from it
    for folder in ("generation", "piiloom", *DATA):
        shutil.copytree(ROOT / folder, copy / folder, ignore=shutil.ignore_patterns("__pycache__"))
    assert not [path for path in copy.rglob("*") if path.is_symlink()]
    settings = ("--samples", 2, "--pairs", "age+health", "--store", tmp_path / "s.duckdb")
    printed = run(sys.executable, "-c", "from piiloom.foundation.yaml_files import data_folder as d; print(d('taxonomy'))", where=copy)
    assert printed.strip() == str(copy / "taxonomy")
    assert "0 rejected" in run(sys.executable, "-m", "generation.topics", *settings, where=copy)
    assert "0 rejected" in run(sys.executable, copy / "generation" / "subtopics.py", *settings[-2:], where=copy, PYTHONPATH=str(copy))
    assert "2 of 2 records" in run(sys.executable, "-m", "piiloom", "generate", *settings, "--seed", 8, where=copy)


def test_each_stage_has_a_script_named_in_the_order_of_the_pipeline():
    scripts = {path.stem for path in (ROOT / "generation").glob("*.py")}
    assert scripts == set(all_stage_names())
    page = (ROOT / "generation" / "README.md").read_text("utf-8")
    for recipe in RECIPES:
        assert " → ".join(f"`{name}`" for name in stage_names(recipe, ())) in page, recipe
