# test: pass
# run: convert_layout {"desired_layouts": {"relax.nn.conv2d": ["NHWC4c", "OHWI"]}}
# Layouts of blocks are refused.

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 4, 8, 8), "float32"), w: R.Tensor((4, 4, 3, 3), "float32")):
        with R.dataflow():
            y = R.nn.conv2d(x, w)
            R.output(y)
        return y
# expect-error:
# `main`, value `y`: layout NHWC4c does not reorder NCHW
