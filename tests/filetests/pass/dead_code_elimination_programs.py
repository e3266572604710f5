# test: pass
# run: dead_code_elimination
# A program that another one calls stays.

@I.ir_module
class Module:
    @T.prim_func(private=True)
    def plus(x: T.float32, y: T.float32) -> T.float32:
        return x + y

    @T.prim_func(private=True)
    def unused(x: T.float32) -> T.float32:
        return x * x

    @T.prim_func(private=True)
    def add(x: T.Buffer((16,), "float32"), y: T.Buffer((16,), "float32"), z: T.Buffer((16,), "float32")):
        for i in range(16):
            with T.block("z"):
                vi = T.axis.spatial(16, i)
                z[vi] = Module.plus(x[vi], y[vi])

    @R.function
    def main(x: R.Tensor((16,), "float32"), y: R.Tensor((16,), "float32")) -> R.Tensor((16,), "float32"):
        z = R.call_tir(Module.add, (x, y), out_ty=R.Tensor((16,), "float32"))
        return z
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True)
    def add(x: T.Buffer((16,), "float32"), y: T.Buffer((16,), "float32"), z: T.Buffer((16,), "float32")):
        # with T.block("root"):
        for i in range(16):
            with T.block("z"):
                vi = T.axis.spatial(16, i)
                T.reads(x[vi], y[vi])
                T.writes(z[vi])
                z[vi] = Module.plus(x[vi], y[vi])

    @T.prim_func(private=True)
    def plus(x: T.float32, y: T.float32) -> T.float32:
        # with T.block("root"):
        return x + y

    @R.function
    def main(x: R.Tensor((16,), dtype="float32"), y: R.Tensor((16,), dtype="float32")) -> R.Tensor((16,), dtype="float32"):
        cls = Module
        z = R.call_tir(cls.add, (x, y), out_sinfo=R.Tensor((16,), dtype="float32"))
        return z
