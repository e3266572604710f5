//! What holds whatever the bytes are. The targets of `fuzz/` call these functions, and so do tests, for a while.

mod simplify;

use arbitrary::Unstructured;
use weftile::artifact::Executable;
use weftile::codegen_cpu::host_target;
use weftile::ir::{alpha_eq, verify};
use weftile::kernel::Target;
use weftile::onnx::{self, ImportOptions, OnnxError};
use weftile::pipeline::{CompileOptions, compile};
use weftile::sched::Trace;
use weftile::script;

/// The program whose schedules [`schedule_trace`] replays.
pub(crate) const SCHEDULED: &str = r#"
@T.prim_func
def matmul(a: T.Buffer((16, 24), "float32"), b: T.Buffer((24, 32), "float32"), c: T.Buffer((16, 32), "float32")):
    for i, j, k in T.grid(16, 32, 24):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                c[vi, vj] = T.float32(0)
            c[vi, vj] = c[vi, vj] + a[vi, vk] * b[vk, vj]
"#;

/// A model is compiled or refused. Gives whether the bytes were a model at all.
pub(crate) fn onnx_bytes(data: &[u8]) -> bool {
    match onnx::parse(data, &ImportOptions::default()) {
        Ok(model) => {
            // What comes of it is not the question.
            let _ = compile(
                &model.module,
                &CompileOptions::new(Target::Cpu(host_target(1))),
            );
            true
        }
        Err(OnnxError::Decode(_) | OnnxError::NoGraph) => false,
        Err(_) => true,
    }
}

/// A text is refused, or what it means is printed and read again as the same.
pub(crate) fn script(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let Ok(module) = script::parse("any.py", &text) else {
        return;
    };
    let printed = script::print(&module);
    // Text leaves the elements of large constants out.
    if let Ok(again) = script::parse("printed.py", &printed) {
        let same = alpha_eq::module(&module, &again);
        assert!(same.is_ok(), "{same:?}\n{printed}");
    }
}

/// An artifact is loaded or refused; what is loaded is written as it was.
pub(crate) fn artifact(data: &[u8]) {
    if let Ok(executable) = Executable::from_bytes(data) {
        let bytes = executable.to_bytes().expect("what was read can be written");
        Executable::from_bytes(&bytes).expect("what was written can be read");
    }
}

/// See [`simplify::check`].
pub(crate) fn simplify(data: &[u8]) {
    // Bytes that are too few generate nothing.
    let _ = simplify::check(&mut Unstructured::new(data));
}

/// A trace is refused, or gives a well-formed program.
pub(crate) fn schedule_trace(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let module = script::parse("matmul.py", SCHEDULED).unwrap_or_else(|e| panic!("{e}"));
    let program = module.prim_func("matmul").expect("it is there");
    if let Ok(schedule) = Trace::replay(&text, program.clone()) {
        let verified = verify::prim_func(schedule.func());
        assert!(verified.is_ok(), "{verified:?}\n{text}");
    }
}
