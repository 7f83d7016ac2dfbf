"""A model of a Hugging Face repository: ``hf:owner/repo[:file-or-quant][@revision]``.

Downloads, resuming, hashes, the cache and its offline mode are huggingface_hub's.
"""

from __future__ import annotations

import errno
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

from typing_extensions import override

from llamaint.errors import CapacityError, ModelNotFoundError, UnsupportedError
from llamaint.hub.splits import carries_tag, group_parts, is_model, missing_parts

if TYPE_CHECKING:
    from collections.abc import Iterable

    from llamaint.hub.progress import Progress

PREFIX = "hf:"


@dataclass(frozen=True, slots=True, kw_only=True)
class RepoReference:
    """A parsed ``hf:`` name. ``selector`` is a file name, a pattern, a quantisation tag, or None."""

    repo: str
    selector: str | None = None
    revision: str | None = None

    @classmethod
    def parse(cls, name: str) -> RepoReference:
        """Parses ``hf:owner/repo[:file-or-quant][@revision]``.

        Raises:
            ModelNotFoundError: the name is malformed.
        """
        rest, at, revision = name.removeprefix(PREFIX).partition("@")
        repo, colon, selector = rest.partition(":")
        well_formed = repo.count("/") == 1 and all(repo.split("/"))
        if not well_formed or (colon and not selector) or (at and not revision):
            raise ModelNotFoundError(
                f"{name!r} is not of the form hf:owner/repo[:file-or-quant][@revision], such as hf:owner/repo:Q4_K_M"
            )
        return cls(repo=repo, selector=selector or None, revision=revision or None)


def resolve_repo(name: str, *, progress: Progress, offline: bool) -> Path:
    """The local file (first part of a split model) of an ``hf:`` name.

    Raises:
        UnsupportedError: huggingface_hub is not installed.
        ModelNotFoundError: no such repository, revision or file; several files fit; or offline and
            not in huggingface_hub's cache.
        CapacityError: the disk is full.
    """
    try:
        import huggingface_hub  # noqa: F401
    except ImportError as error:
        raise UnsupportedError(
            f"{name!r} needs huggingface_hub; install it with `pip install 'llamaint[hub]'`"
        ) from error
    reference = RepoReference.parse(name)
    if offline:
        return _from_cache(reference, "the network is off limits")
    return _from_hub(reference, progress)


def choose(reference: RepoReference, names: Iterable[str]) -> list[str]:
    """The parts, in order, of the one model that ``reference`` means among a repository's files.

    Raises:
        ModelNotFoundError: none fits, several fit, or parts of a split model are missing.
    """
    ggufs = [name for name in names if name.lower().endswith(".gguf")]
    groups = group_parts(ggufs)
    fitting = [first for first, parts in groups.items() if _fits(reference.selector, first, parts)]
    if len(fitting) != 1:
        raise _not_one(reference, fitting, list(groups))
    parts = groups[fitting[0]]
    missing = missing_parts(parts, ggufs)
    if missing:
        raise ModelNotFoundError(
            f"{reference.repo} has only {len(parts) - len(missing)} of {len(parts)} parts of "
            f"{fitting[0]}; missing: {', '.join(missing)}",
            n_parts=len(parts),
            n_missing=len(missing),
        )
    return parts


def _fits(selector: str | None, first: str, parts: list[str]) -> bool:
    """Whether the model with these parts is meant by a file name, a pattern, a quantisation tag, or None."""
    if selector is None:
        return is_model(first)
    names = {*parts, *(part.rpartition("/")[2] for part in parts)}
    if selector in names:
        return True  # asked for by its name, even a projector
    if not is_model(first):
        return False
    if any(fnmatchcase(name, selector) for name in names):
        return True
    return not selector.lower().endswith(".gguf") and carries_tag(first, selector)


def _not_one(reference: RepoReference, fitting: list[str], available: list[str]) -> ModelNotFoundError:
    wanted = f" that fits {reference.selector!r}" if reference.selector else ""
    if fitting:
        text = (
            f"{reference.repo} has {len(fitting)} models{wanted}: {', '.join(fitting)}; "
            f"name one, such as hf:{reference.repo}:{fitting[0]}"
        )
    elif available:
        text = f"{reference.repo} has no model{wanted}; it has {', '.join(available)}"
    else:
        text = f"{reference.repo} has no GGUF file"
    return ModelNotFoundError(text, n_fitting=len(fitting))


def _from_cache(reference: RepoReference, why: str) -> Path:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    try:
        snapshot = Path(
            snapshot_download(
                reference.repo,
                revision=reference.revision,
                allow_patterns=[],
                local_files_only=True,
            )
        )
    except (LocalEntryNotFoundError, HFValidationError) as error:
        raise ModelNotFoundError(f"{reference.repo} is not in huggingface_hub's cache and {why}") from error
    names = [file.relative_to(snapshot).as_posix() for file in snapshot.rglob("*.gguf")]
    try:
        parts = choose(reference, names)
    except ModelNotFoundError as error:
        raise ModelNotFoundError(f"{error} (in huggingface_hub's cache; {why})") from error
    return snapshot / parts[0]


def _from_hub(reference: RepoReference, progress: Progress) -> Path:
    from huggingface_hub import HfApi, hf_hub_download
    from huggingface_hub.errors import (
        GatedRepoError,
        HfHubHTTPError,
        HFValidationError,
        LocalEntryNotFoundError,
        OfflineModeIsEnabled,
        RepositoryNotFoundError,
        RevisionNotFoundError,
    )

    # Base of what its HTTP library raises when there is no answer; which library depends on the release.
    from huggingface_hub.errors import HTTPError as NoAnswerError  # type: ignore[attr-defined]

    repo = reference.repo
    try:
        info = HfApi(library_name="llamaint").model_info(repo, revision=reference.revision, files_metadata=True)
        sizes = {file.rfilename: file.size or 0 for file in info.siblings or []}
        parts = choose(reference, sizes)
        total = sum(sizes[part] for part in parts)
        done, paths = 0, []
        for number, part in enumerate(parts, 1):
            what = f"download {part}" + (f" ({number} of {len(parts)})" if len(parts) > 1 else "")
            bar = _bar_class(what, done, total, progress)
            # By the branch, not the commit: only then does the hub's cache know the branch when offline.
            file = hf_hub_download(repo, part, revision=reference.revision, library_name="llamaint", tqdm_class=bar)
            paths.append(Path(file))
            done += sizes[part]
        if len({path.parent for path in paths}) > 1:
            raise ModelNotFoundError(f"{repo} changed while its {len(parts)} parts were fetched; try again")
        return paths[0]
    except GatedRepoError as error:
        raise ModelNotFoundError(
            f"{repo} is gated: accept its terms on its page, then log in with `hf auth login`"
        ) from error
    except RevisionNotFoundError as error:
        raise ModelNotFoundError(f"{repo} has no revision {reference.revision!r}") from error
    except RepositoryNotFoundError as error:
        raise ModelNotFoundError(
            f"there is no repository {repo!r}, or it is private and needs `hf auth login`"
        ) from error
    except HFValidationError as error:
        raise ModelNotFoundError(f"{repo!r} is not the name of a repository: {error}") from error
    except HfHubHTTPError as error:
        return _from_cache(reference, f"the hub answered: {error}")
    except (LocalEntryNotFoundError, OfflineModeIsEnabled, ConnectionError, NoAnswerError) as error:
        return _from_cache(reference, f"the hub cannot be reached: {error}")
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise CapacityError(f"the disk is full; {reference.repo} did not fit") from error
        raise


def _bar_class(what: str, done: int, total_bytes: int, progress: Progress) -> Any:  # noqa: ANN401 - tqdm has no types
    """A tqdm class that draws nothing and hands its count on."""
    from tqdm import tqdm  # type: ignore[import-untyped]

    class Forwarding(tqdm):  # type: ignore[misc]
        def __init__(self, *, total: int | None, initial: int = 0, **look: object) -> None:
            super().__init__(total=total, initial=initial, disable=True)  # the look is for a bar that is drawn
            self._arrived = initial

        @override
        def update(self, n: float = 1) -> None:
            self._arrived += int(n)
            if total_bytes > 0:
                progress(what, min((done + self._arrived) / total_bytes, 1.0))

    return Forwarding
