# test: print
# Texts count the devices of a kind: the second scope of device 0 is the second device of its kind.

@I.ir_module
class Module:
    I.module_global_infos({"vdevice": [I.vdevice("llvm", 0), I.vdevice("opencl", 0, "global.texture"), I.vdevice("opencl", 0)]})

    @R.function
    def main(x: R.Tensor((2, 3), "float32", "opencl:1:global")) -> R.Tensor((2, 3), "float32", "opencl:1:global"):
        a = R.to_vdevice(x, "opencl:0:global.texture")
        b = R.add(a, a)
        return R.to_vdevice(b, "opencl:1")
# expect:
# from tvm.script import ir as I
# from tvm.script import relax as R

@I.ir_module
class Module:
    I.module_global_infos({"vdevice": [I.vdevice("llvm", 0, "global"), I.vdevice("opencl", 0, "global.texture"), I.vdevice("opencl", 0, "global")]})
    @R.function
    def main(x: R.Tensor((2, 3), dtype="float32", vdevice="opencl:1:global")) -> R.Tensor((2, 3), dtype="float32", vdevice="opencl:1:global"):
        a: R.Tensor((2, 3), dtype="float32", vdevice="opencl:0:global.texture") = R.to_vdevice(x, dst_vdevice="opencl:0:global.texture")
        b: R.Tensor((2, 3), dtype="float32", vdevice="opencl:0:global.texture") = R.add(a, a)
        gv: R.Tensor((2, 3), dtype="float32", vdevice="opencl:1:global") = R.to_vdevice(b, dst_vdevice="opencl:1:global")
        return gv
