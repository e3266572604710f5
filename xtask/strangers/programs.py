"""Every loop program that TVM's tests wrote or made, called on small inputs: by TVM, by weftile's interpreter, and on a device.

`python programs.py record RECORDED.jsonl.gz FOLDER` writes a folder for each program: its module, a tensor for each parameter, and,
where TVM's LLVM code runs it, what each parameter holds afterwards.
`python programs.py judge WEFTILE FOLDER DEVICE…` calls them. A device is compared with the interpreter, which is compared with TVM.
"""

import collections
import concurrent.futures
import gzip
import hashlib
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

import numpy as np

from judge import difference

SIZES = [5, 7, 3, 9, 6, 4, 8, 2]
LARGEST = 1 << 20
SECONDS = 30
TYPES = "float16 float32 float64 bool int8 int16 int32 int64 uint8 uint16 uint32".split()


def numbers(func):
    """A tensor for each buffer parameter and a number for each scalar, or None where a shape cannot be computed."""
    import tvm

    rng = np.random.default_rng(7)
    buffers = [p for p in func.params if tvm.tirx.is_buffer_var(p)]
    sizes, arrays, total = {}, {}, 0
    analyzer = tvm.sym.Analyzer()
    for dim in (d for b in buffers for d in b.shape):
        if isinstance(dim, tvm.ir.Var) and dim not in sizes:
            sizes[dim] = SIZES[len(sizes) % len(SIZES)]
            analyzer.bind(dim, tvm.tirx.IntImm(str(dim.dtype), sizes[dim]))
    for buffer in buffers:
        shape = [analyzer.simplify(dim) for dim in buffer.shape]
        if not all(isinstance(dim, tvm.tirx.IntImm) for dim in shape) or str(buffer.dtype) not in TYPES:
            return None
        shape = [int(dim) for dim in shape]
        total += int(np.prod(shape))
        if total > LARGEST:
            return None
        dtype = np.dtype(str(buffer.dtype))
        arrays[buffer.name] = rng.uniform(-1, 1, shape).astype(dtype) if dtype.kind == "f" else rng.integers(0, 2, shape).astype(dtype)
    drawn = {"bool": True, "float16": 0.5, "float32": 0.5, "float64": 0.5}
    scalars = [p for p in func.params if p not in buffers]
    return arrays, {p.name: sizes.get(p, drawn.get(str(p.ty), 3)) for p in scalars}


def isolated(work, seconds):
    """Whether `work` came to its end in a process of its own."""
    child = os.fork()
    if child == 0:
        signal.alarm(seconds)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        try:
            work()
            os._exit(0)
        except BaseException:  # noqa: BLE001
            os._exit(1)
    return os.waitpid(child, 0)[1] == 0


def run_by_tvm(func, arrays, scalars, folder):
    import tvm

    args = [tvm.runtime.tensor(arrays[p.name]) if p.name in arrays else scalars[p.name] for p in func.params]
    module = tvm.IRModule({"main": func.with_attr("global_symbol", "main")})
    built = tvm.compile(module, target="llvm")
    built["main"](*args)
    for p, arg in zip(func.params, args):
        if p.name in arrays:
            np.save(folder / f"y_{p.name}.npy", arg.numpy())


def record(recorded, folder):
    import tvm
    from tvm.relax.script import parser as _r  # noqa: F401
    from tvm.script.parser.core.entry import parse
    from tvm.tirx.script import parser as _t  # noqa: F401

    folder.mkdir(parents=True, exist_ok=True)
    seen, kept, by_tvm, left = set(), 0, 0, collections.Counter()
    for line in gzip.open(recorded, "rt"):
        program = json.loads(line)
        try:
            module = parse(program["text"], check_well_formed=False)
        except BaseException:  # noqa: BLE001
            continue
        for name, func in module.functions.items():
            if not isinstance(func, tvm.tirx.PrimFunc):
                continue
            text = tvm.IRModule({"main": func.with_attr("global_symbol", "main")}).script(show_meta=True)
            digest = hashlib.sha256(text.encode()).hexdigest()[:12]
            if digest in seen:
                continue
            seen.add(digest)
            try:
                drawn = numbers(func)
            except BaseException as error:  # noqa: BLE001
                left[type(error).__name__] += 1
                continue
            if not drawn or not drawn[0]:
                left["no tensors, or of unknown shape, a rare type, or large"] += 1
                continue
            at = folder / digest
            at.mkdir(exist_ok=True)
            (at / "module.py").write_text(text)
            (at / "origin.txt").write_text(program["test"])
            for buffer, array in drawn[0].items():
                np.save(at / f"x_{buffer}.npy", array)
            (at / "scalars.json").write_text(json.dumps(drawn[1]))
            kept += 1
            if isolated(lambda: run_by_tvm(func, *drawn, at), SECONDS):
                by_tvm += 1
            else:
                for half in at.glob("y_*.npy"):
                    half.unlink()
    print(f"{kept} programs, {by_tvm} of them run by TVM; left out: {dict(left)}")


def call(weftile, case, device, out):
    """The results of a call by name, or the words that it was refused with."""
    line = [weftile, "run", case / "module.py", "--func", "main", "--device", device, "--json", "--output", out]
    if device == "gpu":
        line.append("--allow-software")
    for path in sorted(case.glob("x_*.npy")):
        line += ["--input", f"{path.stem[2:]}={path}"]
    for name, value in json.loads((case / "scalars.json").read_text()).items():
        line += ["--input", f"{name}={json.dumps(value)}"]
    try:
        done = subprocess.run(line, capture_output=True, text=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return f"no result in {SECONDS} s"
    if done.returncode:
        said = (done.stderr + done.stdout).strip()
        return said if done.returncode == 1 else f"exit code {done.returncode}: {said}"
    found = json.loads(done.stdout)["outputs"]
    return {o["name"]: np.load(pathlib.Path(out) / pathlib.Path(o["file"]).name) for o in found if o.get("file")}


def judge(weftile, case, devices):
    """By device: the verdict on a program, and why."""
    with tempfile.TemporaryDirectory() as a, tempfile.TemporaryDirectory() as b:
        reference = call(weftile, case, "interp", a)
        if isinstance(reference, str):
            return {device: ("not by the interpreter", reference) for device in ["interp", *devices]}
        theirs = {p.stem[2:]: np.load(p) for p in case.glob("y_*.npy")}
        verdicts = {"interp": compared(reference, theirs, "right" if theirs else "ran")}
        for device in devices:
            ours = call(weftile, case, device, b)
            if isinstance(ours, str):
                verdicts[device] = ("crash" if ours.startswith("exit code") else "refused"), ours
            elif ours.keys() != reference.keys():
                missing = sorted(reference.keys() ^ ours.keys())
                verdicts[device] = "wrong", f"results of one side only: {missing}"
            else:
                verdicts[device] = compared(ours, reference, "right")
        return verdicts


def compared(ours, reference, same):
    """The verdict on results beside those of a reference."""
    for name, array in ours.items():
        if name in reference and (d := difference(array, reference[name])):
            return "wrong", f"{name}: {d}"
    return same, ""


def judge_all(weftile, folder, devices):
    cases = sorted(p for p in folder.iterdir() if (p / "module.py").exists())
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        verdicts = list(pool.map(lambda case: judge(weftile, case, devices), cases))
    for device in ["interp", *devices]:
        counts = collections.Counter(by_device[device][0] for by_device in verdicts)
        print(f"{device}: {dict(counts)} of {len(cases)}")
        classes = collections.defaultdict(list)
        for case, by_device in zip(cases, verdicts):
            verdict, why = by_device[device]
            unheard = verdict == "not by the interpreter" and device != "interp"
            if verdict not in ("right", "ran") and not unheard:
                first = why.splitlines()[0] if why else ""
                classes[verdict, re.sub(r"`[^`]*`|\d+", "_", first)[:160]].append((case.name, first))
        for (verdict, _), met in sorted(classes.items(), key=lambda c: (c[0][0], -len(c[1]))):
            print(f"  {len(met):4} {verdict}: {met[0][1][:260]}  [{', '.join(n for n, _ in met[:4])}]")


if __name__ == "__main__":
    if sys.argv[1] == "record":
        record(sys.argv[2], pathlib.Path(sys.argv[3]))
    else:
        judge_all(sys.argv[2], pathlib.Path(sys.argv[3]), sys.argv[4:])
