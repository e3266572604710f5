"""A pytest plugin that writes down every program that TVM's tests parse, and what its passes make of them.

`STRANGERS_OUT=DIR python -m pytest -p recorder tests/python/relax` writes `DIR/<pid>.jsonl`: a line for each text that TVM prints and
reads back as the same program, as `cargo xtask corpus` takes them.
"""

import hashlib
import json
import os
import pathlib
import sys

import tvm
import tvm.relax.script.parser
import tvm.script.parser
import tvm.tirx.script.parser
from tvm.ir import transform

OUT = pathlib.Path(os.environ["STRANGERS_OUT"])
SEEN = set()
TEST = "?"


def is_program(value):
    return isinstance(value, (tvm.IRModule, tvm.tirx.PrimFunc, tvm.relax.Function))


def write(value, origin):
    """Records a program, unless it was met before or TVM does not read its own print."""
    if not is_program(value):
        return
    module = value if isinstance(value, tvm.IRModule) else tvm.IRModule({"main": value.with_attr("global_symbol", "main")})
    try:
        text = module.script(show_meta=True)
    except Exception:  # noqa: BLE001  some programs of tests do not print
        return
    digest = hashlib.sha256(text.encode()).digest()
    if digest in SEEN or len(text) > 400_000:
        return
    SEEN.add(digest)
    try:
        reads_back = PARSE(text, check_well_formed=False).script(show_meta=True) == text
    except BaseException:  # noqa: BLE001  of what the passes of drivers make, not all reads back
        return
    if not reads_back:
        return
    line = {"test": TEST, "origin": origin, "text": text}
    with (OUT / f"{os.getpid()}.jsonl").open("a") as f:
        f.write(json.dumps(line) + "\n")


PARSE = None


def hook_parsers():
    """Puts the recorder behind each name under which TVM imported its parser."""
    global PARSE
    from tvm.script.parser.core import entry

    PARSE = entry.parse

    def parse(*args, **kwargs):
        result = PARSE(*args, **kwargs)
        write(result, "parsed")
        return result

    for module in list(sys.modules.values()):
        if getattr(module, "__name__", "").startswith("tvm") and getattr(module, "parse", None) is PARSE:
            module.parse = parse


def hook_passes():
    run = transform.Pass.__call__

    def call(self, module):
        result = run(self, module)
        write(module, "before a pass")
        write(result, "after a pass")
        return result

    transform.Pass.__call__ = call


hook_parsers()
hook_passes()


def pytest_runtest_setup(item):
    global TEST
    TEST = item.nodeid
