# test: parse
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n",), "float32")):
        n = T.int64()
        a = R.call_dps_packed("f", (x,), R.Tensor((n,), "float32"), R.shape([n]))
        b = R.call_dps_packed("f", (x,), R.Tensor((n,), "float32"), tir_vars=R.shape([n]))
        c = R.call_tir("f", (x,), R.Tensor((n,), "float32"), tir_vars=R.shape([n]))
        d = R.call_tir_inplace("f", (x,), [0], R.Tensor((n,), "float32"))
        with R.dataflow(x):
            e = R.add(x, x)
            R.output(e)
        return x
# expect-error:
# error: one more argument cannot be used here
#   --> graph_packed_with_scalars.py:7:69
#   |
# 7 |         a = R.call_dps_packed("f", (x,), R.Tensor((n,), "float32"), R.shape([n]))
#   |                                                                     ^^^^^^^^^^^^
#
# error: `R.call_dps_packed` has no argument `tir_vars`
#   --> graph_packed_with_scalars.py:8:69
#   |
# 8 |         b = R.call_dps_packed("f", (x,), R.Tensor((n,), "float32"), tir_vars=R.shape([n]))
#   |                                                                     ^^^^^^^^^^^^^^^^^^^^^
#
# error: `tir_vars` or `inplace_indices` of a packed function cannot be used here
#   --> graph_packed_with_scalars.py:9:71
#   |
# 9 |         c = R.call_tir("f", (x,), R.Tensor((n,), "float32"), tir_vars=R.shape([n]))
#   |                                                                       ^^^^^^^^^^^^
#
# error: `tir_vars` or `inplace_indices` of a packed function cannot be used here
#    --> graph_packed_with_scalars.py:10:43
#    |
# 10 |         d = R.call_tir_inplace("f", (x,), [0], R.Tensor((n,), "float32"))
#    |                                           ^^^
#
# error: `R.dataflow` takes 0 arguments, 1 given
#    --> graph_packed_with_scalars.py:11:25
#    |
# 11 |         with R.dataflow(x):
#    |                         ^
