"""A small stand-in for the source release that carries llama.cpp, and a pin for it."""

from __future__ import annotations

import hashlib
import io
import os
import subprocess
import sys
import tarfile
from dataclasses import dataclass
from pathlib import Path

FETCH = Path(__file__).parents[2] / "vendor" / "llama.cpp" / "fetch.py"

# A build backend inside the archive itself: pip asks it for metadata before it hands the file over.
_PYPROJECT = """\
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
"""
_BACKEND = """\
import os, time
def prepare_metadata_for_build_wheel(directory, config_settings=None):
    if waiting := os.environ.get("CARRIER_TEST_WAITS"):
        open(waiting, "w").close()
        time.sleep(60)
    folder = os.path.join(directory, "carrier-1.0.dist-info")
    os.mkdir(folder)
    with open(os.path.join(folder, "METADATA"), "w") as file:
        file.write("Metadata-Version: 2.1\\nName: carrier\\nVersion: 1.0\\n")
    return "carrier-1.0.dist-info"
"""


@dataclass
class FakeCarrier:
    """Folders of one test: the pin's, the cache's, and the index pip looks into."""

    pin: Path
    cache: Path
    index: Path
    archive: str = "carrier-1.0.tar.gz"

    @classmethod
    def create(cls, base: Path, files: dict[str, str] | None = None) -> FakeCarrier:
        """A carrier whose archive lies in the index; ``files`` go below its ``lib/``."""
        carrier = cls(pin=base / "pin", cache=base / "cache", index=base / "index")
        for folder in (carrier.pin, carrier.cache / "sources", carrier.index):
            folder.mkdir(parents=True)
        carrier.write_archive(files or {"include/lib.h": "int answer;\n", "docs/long.txt": "skipped\n"})
        return carrier

    def write_archive(self, files: dict[str, str]) -> None:
        """Put an archive into the index and pin it."""
        members = {"pyproject.toml": _PYPROJECT, "backend.py": _BACKEND, "PKG-INFO": "Name: carrier\nVersion: 1.0\n"}
        members |= {f"lib/{name}": text for name, text in files.items()}
        with tarfile.open(self.index / self.archive, "w:gz") as tar:
            for name, text in members.items():
                data = text.encode()
                entry = tarfile.TarInfo(f"carrier-1.0/{name}")
                entry.size = len(data)
                tar.addfile(entry, io.BytesIO(data))
        self.write_pin(hashlib.sha256((self.index / self.archive).read_bytes()).hexdigest())

    def write_pin(self, sha256: str) -> None:
        """Write SOURCE.toml."""
        (self.pin / "SOURCE.toml").write_text(
            f'name = "lib"\ncommit = "abc"\npackage = "carrier"\nversion = "1.0"\narchive = "{self.archive}"\n'
            f'sha256 = "{sha256}"\nroot = "carrier-1.0/lib/"\nskip = ["docs/"]\nprobe = "include/lib.h"\n'
            'override = "FAKE_LIB_DIR"\n'
        )

    def environment(self, **extra: str) -> dict[str, str]:
        """Environment for fetch.py: no network, this index, this cache."""
        own = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(self.index), "LLAMAINT_CACHE": str(self.cache)}
        return {**os.environ, **own, **extra}

    def fetch(self, **extra: str) -> subprocess.CompletedProcess[str]:
        """Run fetch.py to its end."""
        command = [sys.executable, str(FETCH), str(self.pin)]
        return subprocess.run(
            command, env=self.environment(**extra), capture_output=True, text=True, check=False, timeout=120
        )

    def leftovers(self) -> list[str]:
        """What lies in the pin's folder and in the cache beside what belongs there."""
        expected = {"SOURCE.toml", "src", "patches", "sources", self.archive}
        paths = [*self.pin.iterdir(), *self.cache.iterdir(), *(self.cache / "sources").iterdir()]
        return sorted(path.name for path in paths if path.name not in expected)
