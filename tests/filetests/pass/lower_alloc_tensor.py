# test: pass
# run: lower_alloc_tensor
# Each tensor gets storage of its own, of as many bytes as it has.

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n",), "float32")) -> R.Tensor(("n", 4), "int8"):
        n = T.int64()
        a = R.builtin.alloc_tensor(R.shape([16, 32]), R.dtype("float16"), 0, R.str("global"))
        b = R.builtin.alloc_tensor(R.shape([n, 4]), R.dtype("int8"), 0, R.str("global"))
        return b
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n",), dtype="float32")) -> R.Tensor(("n", 4), dtype="int8"):
        n = T.int64()
        storage: R.Object = R.memory.alloc_storage(R.shape([1024]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
        a: R.Tensor((16, 32), dtype="float16") = R.memory.alloc_tensor(storage, R.prim_value(0), R.shape([16, 32]), R.dtype("float16"), R.prim_value(0))
        storage_1: R.Object = R.memory.alloc_storage(R.shape([4 * n]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
        b: R.Tensor((n, 4), dtype="int8") = R.memory.alloc_tensor(storage_1, R.prim_value(0), R.shape([n, 4]), R.dtype("int8"), R.prim_value(0))
        return b
