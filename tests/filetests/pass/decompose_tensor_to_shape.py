# test: pass
# run: decompose_ops_for_inference
# A shape from a tensor gets names for its extents.

@I.ir_module
class Module:
    @R.function
    def main(s: R.Tensor((2,), "int64"), x: R.Tensor((8,), "float32")) -> R.Tensor(ndim=2, dtype="float32"):
        with R.dataflow():
            y: R.Shape(ndim=2) = R.tensor_to_shape(s)
            z: R.Tensor(ndim=2, dtype="float32") = R.reshape(x, y)
            R.output(z)
        return z
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(s: R.Tensor((2,), dtype="int64"), x_2: R.Tensor((8,), dtype="float32")) -> R.Tensor(dtype="float32", ndim=2):
        x = T.int64()
        x_1 = T.int64()
        with R.dataflow():
            lv: R.Shape(ndim=2) = R.call_pure_packed("vm.builtin.tensor_to_shape", s, sinfo_args=(R.Shape(ndim=2),))
            y: R.Shape([x, x_1]) = R.match_cast(lv, R.Shape([x, x_1]))
            y_1: R.Shape([x, x_1]) = R.shape([x, x_1])
            z: R.Tensor(dtype="float32", ndim=2) = R.reshape(x_2, y_1)
            R.output(z)
        return z
