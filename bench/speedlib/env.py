"""Run each measurement in its own process, and build an environment for the other runtimes.

    python bench/speedlib/env.py [.venv-bench]

This command builds the environment.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from paraqd.telemetry import OFF

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
RIVALS = ROOT / ".venv-bench"
FASTEMBED = "fastembed==0.9.1"
THREADS = 2
_POOLS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS")
_VERSIONS = ("onnxruntime", "tokenizers", "numpy", "torch", "transformers", "sentence-transformers")


class JobError(Exception):
    """Raised when a measurement fails. The message is the last line that the measurement wrote."""


def run_job(job: dict[str, Any], *, python: str | Path = sys.executable) -> dict[str, Any]:
    """Run a job with ``worker.py`` in a new process, and return the result."""
    with tempfile.TemporaryDirectory() as folder:
        given, result = Path(folder) / "job.json", Path(folder) / "result.json"
        given.write_text(json.dumps({"threads": THREADS, **job}), "utf-8")
        program = [str(python), "-P", str(HERE / "worker.py"), str(given), str(result)]
        done = subprocess.run(program, capture_output=True, text=True, check=False, env=_environment(python))
        if done.returncode:
            raise JobError((done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1])
        found: dict[str, Any] = json.loads(result.read_text("utf-8"))
        return found


def _environment(python: str | Path) -> dict[str, str]:
    offline = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}
    held = {**os.environ, **OFF, **dict.fromkeys(_POOLS, str(THREADS)), **offline}
    if str(python) != sys.executable:
        held.pop("PYTHONPATH", None)
    return held


# --- the environment for the other runtimes -------------------------------------------------------


def build_rivals(folder: Path = RIVALS) -> dict[str, str]:
    """Build the environment if necessary.

    Return, for each runtime, the reason why the runtime is not available, or an empty string if it is available.
    """
    python = rivals_python(folder)
    if not python.is_file():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    found = {}
    wanted = {"sentence-transformers": ["-r", str(HERE / "rivals.txt")], "fastembed": [FASTEMBED]}
    for name, needs in wanted.items():
        if (folder / f".{name}").is_file():
            found[name] = ""
            continue
        program = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *needs]
        done = subprocess.run(program, capture_output=True, text=True, check=False)
        found[name] = resolver_line(done.stderr) if done.returncode else ""
        if not done.returncode:
            (folder / f".{name}").touch()
    return found


def resolver_line(stderr: str) -> str:
    """Return the line in which pip states the reason for an error. After a conflict, pip's last line is only a link."""
    errors = [line.removeprefix("ERROR: ") for line in stderr.splitlines() if line.startswith("ERROR: ")]
    reasons = [line for line in errors if not line.startswith("ResolutionImpossible")]
    return (reasons or ["pip failed"])[-1]


def rivals_python(folder: Path = RIVALS) -> Path:
    """Return the path of the environment's interpreter."""
    return folder / "bin" / "python"


# --- weights --------------------------------------------------------------------------------------


def export_ours(weights: Path, work: Path) -> str:
    """Export the pretrained encoder with ``paraqd lab export``, and return the output folder."""
    source, out = work / "all-MiniLM-L6-v2", work / "ours"
    shutil.copytree(weights, source)
    facts = {"format": 1, "name": "all-MiniLM-L6-v2", "kind": "bi-encoder"}
    (source / "paraqd.json").write_text(json.dumps(facts), "utf-8")
    done = subprocess.run(
        [*paraqd(), "lab", "export", str(source), "-o", str(out)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise JobError((done.stderr.strip().splitlines() or ["paraqd lab export failed"])[-1])
    return str(out)


def paraqd() -> list[str]:
    """Return the command line that starts the ``paraqd`` of this environment."""
    script = Path(sys.executable).parent / "paraqd"
    return [str(script)] if script.is_file() else [sys.executable, "-m", "paraqd.cli.main"]


def processor() -> str:
    """Return the name that sentence-transformers uses for quantisation on this kind of processor."""
    if platform.machine() in ("arm64", "aarch64"):
        return "arm64"
    flags = _cpuinfo().get("flags", "").split()
    return next((name for name, flag in _PROCESSORS.items() if flag in flags), "avx2")


_PROCESSORS = {"avx512_vnni": "avx512_vnni", "avx512": "avx512f"}


# --- the machine ----------------------------------------------------------------------------------


def describe() -> dict[str, Any]:
    """Describe the machine, without its host name."""
    facts = _cpuinfo()
    flags = facts.get("flags", "").split()
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 0
    return {
        "processor": facts.get("model name") or platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "instructions": [
            flag for flag in ("avx2", "avx512f", "avx512_vnni", "avx512_bf16", "amx_int8") if flag in flags
        ],
        "memory_gb": round(pages / 1e9),
        "system": platform.system(),
        "python": platform.python_version(),
        "threads": THREADS,
        "load_before": round(os.getloadavg()[0], 2),
    }


def versions() -> dict[str, str]:
    """Return the versions of the libraries that paraqd and sentence-transformers with torch use."""
    found = {}
    for name in ("paraqd", *_VERSIONS):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def code_digest() -> str:
    """Return a hash of the package's modules and models."""
    import paraqd

    folder = Path(paraqd.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.suffix in (".py", ".onnx", ".json")):
        digest.update(str(path.relative_to(folder)).encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def rivals_versions(folder: Path = RIVALS) -> dict[str, str]:
    """Return the versions of the libraries in the environment for the other runtimes."""
    program = [str(rivals_python(folder)), "-m", "pip", "list", "--format", "json", "--disable-pip-version-check"]
    done = subprocess.run(program, capture_output=True, text=True, check=False)
    held = {each["name"].lower(): each["version"] for each in json.loads(done.stdout or "[]")}
    return {name: held[name] for name in (*_VERSIONS, "optimum-onnx", "fastembed") if name in held}


def _cpuinfo() -> dict[str, str]:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        return {}
    pairs = (line.partition(":") for line in lines if ":" in line)
    return {name.strip(): value.strip() for name, _, value in pairs}


def main() -> None:
    """Build the environment, and print which runtimes are installed."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else RIVALS
    for name, reason in build_rivals(folder).items():
        print(f"{name}: {reason or 'installed'}")


if __name__ == "__main__":
    main()
