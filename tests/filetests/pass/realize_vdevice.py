# test: pass
# run: realize_vdevice
# What is computed together is on one device. A hint becomes a copy where the tensor is elsewhere; a result says where its tensors are.

@I.ir_module
class Module:
    I.module_global_infos({"vdevice": [I.vdevice("llvm", 0), I.vdevice("vulkan", 0)]})

    @R.function
    def hints(x: R.Tensor((2, 3), "float32"), y: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):
        with R.dataflow():
            a = R.hint_on_device(x, R.device(7, 0))
            b = R.add(a, y)
            c = R.hint_on_device(b, R.device(1, 0), "global")
            d = R.exp(c)
            R.output(d)
        return d

    @R.function
    def of_the_result(x: R.Tensor(("n",), "float32"), z: R.Tensor(("n",), "float32")) -> R.Tuple(R.Tensor(("n",), "float32", "vulkan:0"), R.Tensor(("n",), "float32")):
        with R.dataflow():
            a = R.exp(x)
            b = R.split(a, 1)
            c = b[0]
            d = R.negative(z)
            R.output(c, d)
        return (c, d)

    @R.function
    def moved(x: R.Tensor((2, 3), "float32", "llvm:0"), y: R.Tensor((2, 3), "float32", "vulkan")) -> R.Tensor((2, 3), "float32"):
        a = R.to_vdevice(x, "vulkan:0")
        b = R.add(a, y)
        return b
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T
# from tvm.script import relax as R

@I.ir_module
class Module:
    I.module_global_infos({"vdevice": [I.vdevice("llvm", 0, "global"), I.vdevice("vulkan", 0, "global")]})
    @R.function
    def hints(x: R.Tensor((2, 3), dtype="float32", vdevice="vulkan:0:global"), y: R.Tensor((2, 3), dtype="float32", vdevice="vulkan:0:global")) -> R.Tensor((2, 3), dtype="float32", vdevice="llvm:0:global"):
        with R.dataflow():
            a: R.Tensor((2, 3), dtype="float32", vdevice="vulkan:0:global") = x
            b: R.Tensor((2, 3), dtype="float32", vdevice="vulkan:0:global") = R.add(a, y)
            c: R.Tensor((2, 3), dtype="float32", vdevice="llvm:0:global") = R.to_vdevice(b, dst_vdevice="llvm:0:global")
            d: R.Tensor((2, 3), dtype="float32", vdevice="llvm:0:global") = R.exp(c)
            R.output(d)
        return d

    @R.function
    def moved(x: R.Tensor((2, 3), dtype="float32", vdevice="llvm:0:global"), y: R.Tensor((2, 3), dtype="float32", vdevice="vulkan:0:global")) -> R.Tensor((2, 3), dtype="float32", vdevice="vulkan:0:global"):
        a: R.Tensor((2, 3), dtype="float32", vdevice="vulkan:0:global") = R.to_vdevice(x, dst_vdevice="vulkan:0:global")
        b: R.Tensor((2, 3), dtype="float32", vdevice="vulkan:0:global") = R.add(a, y)
        return b

    @R.function
    def of_the_result(x: R.Tensor(("n",), dtype="float32", vdevice="vulkan:0:global"), z: R.Tensor(("n",), dtype="float32")) -> R.Tuple(R.Tensor(("n",), dtype="float32", vdevice="vulkan:0:global"), R.Tensor(("n",), dtype="float32")):
        n = T.int64()
        with R.dataflow():
            a: R.Tensor((n,), dtype="float32", vdevice="vulkan:0:global") = R.exp(x)
            b: R.Tuple(R.Tensor((n,), dtype="float32", vdevice="vulkan:0:global")) = R.split(a, indices_or_sections=1, axis=0)
            c: R.Tensor((n,), dtype="float32", vdevice="vulkan:0:global") = b[0]
            d: R.Tensor((n,), dtype="float32") = R.negative(z)
            R.output(c, d)
        return (c, d)
