@tvm.script.ir_module
class Module0:
    @R.function
    def main(x: R.Tensor((1, 3, 224, 224), "float32"), w1: R.Tensor((3, 16, 3, 3), "float32")) -> R.Tensor((1, 16, 224, 224), "float32"):
        R.func_attr({'param_begin': 1, 'param_end': 2})  # [begin, end] are range of indices of the function params
        with R.dataflow():
            conv1 =  R.nn.conv2d(x, w1, padding=(1, 1), data_layout="NCHW", kernel_layout="IOHW")
            R.output(conv1)
        return conv1
