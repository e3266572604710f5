"""Times ONNX models with `weftile bench` beside other engines, one after the other for each case, and checks the results.

`python bench.py cases FOLDER MODEL.onnx NAME=DIMS...` adds a case to FOLDER: the model with inputs of these sizes, as
`input=8x3x224x224`. Inputs of integers become floats that a Cast makes integers of, since engines get floats alone.

`python bench.py run WEFTILE FOLDER` times the cases with weftile and onnxruntime. `--engine NAME=PROGRAM` adds an engine: the program
takes `--models FOLDER --out FILE --filter NAME/CASE` and appends a line to FILE. Lines are JSON objects, those of weftile and
onnxruntime too, which `--out` keeps: `{"peer", "case", "threads", "ms", "min_ms", "reps", "compile_ms", "max_err", "load"}`, or
`{"peer", "case", "error"}`. `ms` is the median, `max_err` the largest difference to onnxruntime divided by its largest number, at
least 1.

`--limits PROGRAM` first measures what the cores can do: the program takes a file and appends lines `{"peer": "limit", "case", "threads",
"gflops"}` or `"gbps"` to it. The share of a case is that of the operations a second of the fastest `fma_f32…` line, or, where the
case in `cases.json` has `bytes` alone, of the bytes a second of `mem_copy_nt`. `cases` writes neither: add them by hand.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np

THREADS = os.cpu_count()
SECONDS = 600


def fill(shape, ordinal):
    """Numbers between -1 and 1: a hash of their places and of the place of the input among the inputs."""
    h = np.arange(int(np.prod(shape)), dtype=np.uint32) + np.uint32(ordinal * 0x9E3779B9 & 0xFFFFFFFF)
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        h = (h ^ (h >> np.uint32(shift))) * np.uint32(factor)
    h ^= h >> np.uint32(16)
    numbers = (h >> np.uint32(8)).astype(np.float32) * np.float32(2.0**-23) - np.float32(1)
    return numbers.reshape(shape)


def floats_in(model):
    """The model with inputs of float32. Only its own nodes see them converted, not those of branches and loops."""
    from onnx import TensorProto, helper

    graph = model.graph
    weights = {tensor.name for tensor in graph.initializer}
    for value in graph.input:
        kind = value.type.tensor_type
        if value.name in weights or kind.elem_type == TensorProto.FLOAT:
            continue
        inner = f"{value.name}_as_given"
        for node in graph.node:
            node.input[:] = [inner if name == value.name else name for name in node.input]
        graph.node.insert(0, helper.make_node("Cast", [value.name], [inner], to=kind.elem_type))
        kind.elem_type = TensorProto.FLOAT
    return model


def add_case(args):
    import onnx

    folder, path = pathlib.Path(args.folder), pathlib.Path(args.model)
    sizes = dict(part.split("=") for part in args.inputs)
    sizes = {name: [int(dim) for dim in dims.split("x")] for name, dims in sizes.items()}
    folder.mkdir(parents=True, exist_ok=True)
    model = floats_in(onnx.load(path))
    onnx.save(model, folder / path.name)
    weights = {tensor.name for tensor in model.graph.initializer}
    names = [value.name for value in model.graph.input if value.name not in weights]
    inputs = [{"name": name, "shape": sizes[name]} for name in names]
    first = session(folder / path.name).run(None, feed(inputs))[0]
    case = f"{path.stem}_{'x'.join(map(str, sizes[names[0]]))}"
    first.astype("<f4").tofile(folder / f"{case}.ref.bin")
    listed = folder / "cases.json"
    cases = json.loads(listed.read_text()) if listed.exists() else []
    cases = [known for known in cases if known["case"] != case]
    output = {"output": model.graph.output[0].name, "output_shape": list(first.shape)}
    cases.append({"case": case, "file": path.name, "inputs": inputs, **output})
    listed.write_text(json.dumps(cases, indent=1))


def session(path):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = THREADS
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def feed(inputs):
    return {given["name"]: fill(given["shape"], at) for at, given in enumerate(inputs)}


def onnxruntime_line(folder, case, seconds):
    start = time.perf_counter()
    engine = session(folder / case["file"])
    compiled = time.perf_counter() - start
    given = feed(case["inputs"])
    # Its results keep their memory, as weftile's do.
    bound = engine.io_binding()
    for name, numbers in given.items():
        bound.bind_cpu_input(name, numbers)
    results = engine.run(None, given)
    for output, numbers in zip(engine.get_outputs(), results):
        if isinstance(numbers, np.ndarray) and numbers.dtype != object:
            bound.bind_output(output.name, "cpu", 0, numbers.dtype, numbers.shape, numbers.ctypes.data)
        else:
            bound.bind_output(output.name)
    times = []
    end = time.perf_counter() + seconds
    while len(times) < 3 or time.perf_counter() < end:
        start = time.perf_counter()
        engine.run_with_iobinding(bound)
        times.append((time.perf_counter() - start) * 1e3)
    return results[0], {
        "ms": float(np.median(times)),
        "min_ms": min(times),
        "reps": len(times),
        "compile_ms": compiled * 1e3,
        "max_err": 0.0,
    }


def weftile_line(weftile, device, folder, case, expected, seconds):
    file = str(folder / case["file"])
    on = ["--device", device, "--allow-software"]
    with tempfile.TemporaryDirectory() as place:
        given = []
        for name, numbers in feed(case["inputs"]).items():
            path = f"{place}/{len(given)}.npy"
            np.save(path, numbers)
            given += ["--input", f"{name}={path}"]
        out = f"{place}/out"
        subprocess.run([weftile, "run", file, *given, *on, "--output", out], check=True, capture_output=True, timeout=SECONDS)
        name = case.get("output")
        results = [f"{out}/{name}.npy"] if name else list(pathlib.Path(out).iterdir())
        if len(results) != 1:
            raise SystemExit(f"{case['case']} has several results: `output` must name one")
        result = np.load(results[0])
        bench = [weftile, "bench", file, *given, *on, "--json", "--time", str(seconds)]
        times = json.loads(subprocess.run(bench, check=True, capture_output=True, timeout=SECONDS).stdout)
    error = np.abs(result.astype("float64") - expected).max() / max(1.0, np.abs(expected).max())
    return {
        "ms": times["median_ms"],
        "min_ms": times["min_ms"],
        "reps": times["calls"],
        "compile_ms": times["compile_ms"] + times["load_ms"],
        "max_err": float(error),
    }


def other_lines(engine, folder, case, place):
    name, program = engine.split("=", 1)
    out = pathlib.Path(place) / "lines.jsonl"
    out.unlink(missing_ok=True)
    # The filter is a pattern that must match from somewhere on.
    call = [program, "--models", str(folder), "--out", str(out), "--filter", f"{name}/{case['case']}"]
    try:
        subprocess.run(call, capture_output=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return [{"peer": name, "case": case["case"], "error": f"over {SECONDS} s"}]
    lines = [json.loads(line) for line in out.read_text().splitlines()] if out.exists() else []
    lines = [line for line in lines if line["case"] == case["case"]]
    return lines or [{"peer": name, "case": case["case"], "error": "no line"}]


def limits_of(program, place):
    """Operations and bytes a second, in thousands of millions, of all threads."""
    out = pathlib.Path(place) / "limits.jsonl"
    subprocess.run([program, str(out)], check=True, capture_output=True, timeout=SECONDS)
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    lines = [line for line in lines if line["threads"] == THREADS]
    gflops = [line["gflops"] for line in lines if line["case"].startswith("fma_f32")]
    gbps = [line["gbps"] for line in lines if line["case"] == "mem_copy_nt"]
    if not gflops or not gbps:
        raise SystemExit(f"{program} has no limits of {THREADS} threads")
    return {"gflops": max(gflops), "gbps": max(gbps)}


def run(args):
    folder = pathlib.Path(args.folder).resolve()
    cases = json.loads((folder / "cases.json").read_text())
    table = []
    with tempfile.TemporaryDirectory() as place:
        limits = limits_of(args.limits, place) if args.limits else {}
        for case in cases:
            if args.only not in case["case"]:
                continue
            about = {"case": case["case"], "threads": THREADS}
            load = round(os.getloadavg()[0], 2)
            expected, line = onnxruntime_line(folder, case, args.time)
            lines = [{"peer": "onnxruntime", **about, **line, "load": load}]
            for engine in args.engine:
                lines += other_lines(engine, folder, case, place)
            try:
                line = weftile_line(args.weftile, args.device, folder, case, expected, args.time)
            except subprocess.SubprocessError as error:
                line = {"error": (error.stderr or str(error).encode()).decode()[-400:]}
            lines.append({"peer": f"weftile-{args.device}", **about, **line, "load": load})
            if args.out:
                with open(args.out, "a") as out:
                    out.writelines(json.dumps(line) + "\n" for line in lines)
            table.append(row(case, lines, limits))
            print(table[-1], file=sys.stderr, flush=True)
    names = ["onnxruntime", *(engine.split("=")[0] for engine in args.engine), f"weftile-{args.device}"]
    if limits:
        print(f"At most {limits['gflops']:.0f} GFLOP/s and {limits['gbps']:.1f} GB/s, {THREADS} threads.\n")
    last = ["of onnxruntime's speed", "of the best's", "share of the limit", "largest difference"]
    print(f"| case | {' | '.join(names + last)} |")
    print("|---|" + "---:|" * len(names + last))
    print("\n".join(table))


def row(case, lines, limits):
    shown = [f"{line['ms']:.3g} ms" if "ms" in line else line["error"].split("\n")[0][:40] for line in lines]
    ours, peers = lines[-1], lines[:-1]
    speed = best = share = ""
    if "ms" in ours:
        speed = f"{peers[0]['ms'] / ours['ms']:.2f}"
        best = f"{min(line['ms'] for line in peers if 'ms' in line) / ours['ms']:.2f}"
        share = share_of_limit(case, ours["ms"], limits)
    return f"| {case['case']} | {' | '.join(shown)} | {speed} | {best} | {share} | {ours.get('max_err', float('nan')):.1e} |"


def share_of_limit(case, ms, limits):
    if not limits:
        return ""
    if case.get("flops"):
        return f"{case['flops'] / ms / 1e6 / limits['gflops']:.0%} of the operations"
    if case.get("bytes"):
        return f"{case['bytes'] / ms / 1e6 / limits['gbps']:.0%} of the bytes"
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    adding = commands.add_parser("cases", help="adds a case to a folder")
    adding.add_argument("folder")
    adding.add_argument("model")
    adding.add_argument("inputs", nargs="+", metavar="NAME=DIMS")
    adding.set_defaults(do=add_case)
    timing = commands.add_parser("run", help="times the cases of a folder")
    timing.add_argument("weftile")
    timing.add_argument("folder")
    timing.add_argument("--device", default="cpu")
    timing.add_argument("--engine", action="append", default=[], metavar="NAME=PROGRAM")
    timing.add_argument("--limits", metavar="PROGRAM", help="measures what the cores can do")
    timing.add_argument("--only", default="", help="only cases with this in their names")
    timing.add_argument("--out", help="where the lines go")
    timing.add_argument("--time", type=float, default=1.0, help="seconds of calls for each")
    timing.set_defaults(do=run)
    args = parser.parse_args()
    args.do(args)


if __name__ == "__main__":
    main()
