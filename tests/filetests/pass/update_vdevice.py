# test: pass
# run: update_vdevice {"new_vdevice": "metal:1", "index": 1}

@I.ir_module
class Module:
    I.module_global_infos({"vdevice": [I.vdevice("llvm", 0), I.vdevice("vulkan", 0)]})

    @R.function
    def main(x: R.Tensor((2, 3), "float32", "llvm:0"), y: R.Tensor((2, 3), "float32", "vulkan:0")) -> R.Tensor((2, 3), "float32", "vulkan:0"):
        a = R.to_vdevice(x, "vulkan:0")
        b = R.add(a, y)
        return b
# expect:
# from tvm.script import ir as I
# from tvm.script import relax as R

@I.ir_module
class Module:
    I.module_global_infos({"vdevice": [I.vdevice("llvm", 0, "global"), I.vdevice("metal", 1, "global")]})
    @R.function
    def main(x: R.Tensor((2, 3), dtype="float32", vdevice="llvm:0:global"), y: R.Tensor((2, 3), dtype="float32", vdevice="metal:1:global")) -> R.Tensor((2, 3), dtype="float32", vdevice="metal:1:global"):
        a: R.Tensor((2, 3), dtype="float32", vdevice="metal:1:global") = R.to_vdevice(x, dst_vdevice="metal:1:global")
        b: R.Tensor((2, 3), dtype="float32", vdevice="metal:1:global") = R.add(a, y)
        return b
