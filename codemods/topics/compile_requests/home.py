"""Where the file lives that a codemod writes into a project: one for the project, beside what asks the most."""

from __future__ import annotations

from collections import Counter

from fullgraph.codemods.project import Project
from fullgraph.codemods.topics.compile_requests.requests import requests_of


def home_of(project: Project, file: str, name: str) -> str:
    """The path of the file that defines a name: as it is there, or in the package that compiles the most."""
    return project.worked_out((home_of, file), lambda: existing(project, file, name) or best_folder(project) + file)


def existing(project: Project, file: str, name: str) -> str:
    files = [path for path in project.files if path.rpartition("/")[2] == file]
    return next((path for path in files if defines(project, path, name)), "")


def defines(project: Project, path: str, name: str) -> bool:
    """Whether a file of the project defines the function, be it as we write it or otherwise."""
    return path in project.files and f"def {name}(".encode() in project.read(path)


def best_folder(project: Project) -> str:
    """The top of a package before a folder of scripts; of equals the first by name."""
    asked = Counter(top_folder(project, request.module.path) for request in requests_of(project))
    return min(asked, key=lambda folder: (not is_package(project, folder[:-1]), -asked[folder], folder), default="")


def top_folder(project: Project, path: str) -> str:
    """`src/pkg/` for `src/pkg/nets/head.py`: as far up as there are packages."""
    folder = parent(path)
    while folder and is_package(project, folder) and is_package(project, parent(folder)):
        folder = parent(folder)
    return f"{folder}/" if folder else ""


def parent(path: str) -> str:
    return path.rpartition("/")[0]


def is_package(project: Project, folder: str) -> bool:
    return f"{folder}/__init__.py".lstrip("/") in project.files and bool(project.package_name(folder))
