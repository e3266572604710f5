# test: print
# from tvm.script import ir as I
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        y = R.call_dps_packed("f", (x, metadata["relax.expr.Constant"][1], R.const([1, 2], "int32")), R.Tensor((2, 3), "float32"))
        return y
# expect:
# from tvm.script import ir as I
# from tvm.script import relax as R

metadata = tvm.ir.load_json("""{
  "relax.expr.Constant": [
    null,
    null,
    {
      "dtype": "int32",
      "shape": [
        2
      ],
      "data": "AQAAAAIAAAA="
    }
  ]
}""")

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), dtype="float32")) -> R.Tensor((2, 3), dtype="float32"):
        y = R.call_dps_packed("f", (x, metadata["relax.expr.Constant"][1], metadata["relax.expr.Constant"][2]), out_sinfo=R.Tensor((2, 3), dtype="float32"))
        return y

# Metadata omitted. Use show_meta=True in script() method to show it.
