# test: pass
# run: realize_vdevice
# A tensor of which nothing else is known is where its last hint wants it.

@I.ir_module
class Module:
    I.module_global_infos({"vdevice": [I.vdevice("vulkan", 0), I.vdevice("vulkan", 1)]})

    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        with R.dataflow():
            a = R.hint_on_device(x, R.device(7, 0), "global")
            b = R.hint_on_device(x, R.device(7, 1), "global")
            c = R.exp(a)
            d = R.exp(b)
            R.output(c, d)
        return (c, d)
# expect:
# from tvm.script import ir as I
# from tvm.script import relax as R

@I.ir_module
class Module:
    I.module_global_infos({"vdevice": [I.vdevice("vulkan", 0, "global"), I.vdevice("vulkan", 1, "global")]})
    @R.function
    def main(x: R.Tensor((2, 3), dtype="float32", vdevice="vulkan:1:global")) -> R.Tuple(R.Tensor((2, 3), dtype="float32", vdevice="vulkan:0:global"), R.Tensor((2, 3), dtype="float32", vdevice="vulkan:1:global")):
        with R.dataflow():
            a: R.Tensor((2, 3), dtype="float32", vdevice="vulkan:0:global") = R.to_vdevice(x, dst_vdevice="vulkan:0:global")
            b: R.Tensor((2, 3), dtype="float32", vdevice="vulkan:1:global") = x
            c: R.Tensor((2, 3), dtype="float32", vdevice="vulkan:0:global") = R.exp(a)
            d: R.Tensor((2, 3), dtype="float32", vdevice="vulkan:1:global") = R.exp(b)
            R.output(c, d)
        return (c, d)
