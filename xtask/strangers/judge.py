"""Runs recorded single-operator modules with the `weftile` program and compares what it gives with what TVM gave.

`python judge.py WEFTILE CASES DEVICE FORM`: FORM is `operators` or `legalized`, DEVICE what `--device` takes.
"""

import collections
import concurrent.futures
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

TOLERANCES = {"float16": 2e-2, "float32": 1e-4}
SECONDS = 120


def difference(ours, theirs):
    """What is wrong with a result, or None."""
    if ours.shape != theirs.shape:
        return f"shape {ours.shape}, TVM's {theirs.shape}"
    if ours.dtype != theirs.dtype:
        return f"dtype {ours.dtype}, TVM's {theirs.dtype}"
    exact = theirs.dtype.kind in "iub"
    tolerance = TOLERANCES.get(str(theirs.dtype), 1e-6)
    # Integers as they are: a float64 has not all of 64 bits.
    a, b = (ours, theirs) if exact else (ours.astype("float64"), theirs.astype("float64"))
    wrong = a != b if exact else ~np.isclose(a, b, rtol=tolerance, atol=tolerance, equal_nan=True)
    if wrong.any():
        at = tuple(int(i) for i in np.argwhere(wrong)[0])
        return f"{int(wrong.sum())} of {wrong.size} elements, first at {at}: {a[at]}, TVM's {b[at]}"
    return None


def judge(weftile, case, device, form):
    """`right`, `refused` or `wrong`, and why."""
    inputs = sorted(case.glob("x*.npy"), key=lambda p: int(p.stem[1:]))
    with tempfile.TemporaryDirectory() as out:
        line = [weftile, "run", case / f"{form}.py", "--device", device, "--json", "--output", out]
        if device == "gpu":
            line.append("--allow-software")
        for path in inputs:
            line += ["--input", f"{path.stem}={path}"]
        try:
            done = subprocess.run(line, capture_output=True, text=True, timeout=SECONDS, check=False)
        except subprocess.TimeoutExpired:
            return "wrong", f"no result in {SECONDS} s"
        if done.returncode:
            said = (done.stderr + done.stdout).strip()
            return ("refused" if done.returncode == 1 else "wrong"), said
        files = [v["file"] for v in json.loads(done.stdout)["outputs"] if v.get("file")]
        ours = [np.load(pathlib.Path(out) / pathlib.Path(f).name) for f in files]
    theirs = [np.load(p) for p in sorted(case.glob("y*.npy"), key=lambda p: int(p.stem[1:]))]
    if len(ours) != len(theirs):
        return "wrong", f"{len(ours)} results, TVM gave {len(theirs)}"
    found = [d for a, b in zip(ours, theirs) if (d := difference(a, b))]
    return ("wrong", "; ".join(found)) if found else ("right", "")


def main(weftile, folder, device, form):
    cases = sorted(p for p in pathlib.Path(folder).iterdir() if (p / f"{form}.py").exists())
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        verdicts = list(pool.map(lambda case: judge(weftile, case, device, form), cases))
    counts = collections.Counter(v for v, _ in verdicts)
    print(f"{form} on {device}: " + ", ".join(f"{counts[k]} {k}" for k in ("right", "refused", "wrong")) + f", of {len(cases)}")
    for case, (verdict, why) in zip(cases, verdicts):
        if verdict != "right":
            print(f"  {verdict} {case.name}: {why.splitlines()[0][:300] if why else ''}")
    return 1 if counts["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
