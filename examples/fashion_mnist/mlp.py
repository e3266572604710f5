@tvm.script.ir_module
class FashionMLP:
    @T.prim_func
    def linear(x: T.handle, w: T.handle, b: T.handle, z: T.handle):
        batch, m, n = T.int64(), T.int64(), T.int64()
        X = T.match_buffer(x, (batch, m), "float32")
        W = T.match_buffer(w, (n, m), "float32")
        B = T.match_buffer(b, (n,), "float32")
        Z = T.match_buffer(z, (batch, n), "float32")
        Y = T.alloc_buffer((batch, n), "float32")
        for i, j, k in T.grid(batch, n, m):
            with T.block("Y"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    Y[vi, vj] = T.float32(0)
                Y[vi, vj] = Y[vi, vj] + X[vi, vk] * W[vj, vk]
        for i, j in T.grid(batch, n):
            with T.block("Z"):
                vi, vj = T.axis.remap("SS", [i, j])
                Z[vi, vj] = Y[vi, vj] + B[vj]

    @T.prim_func
    def relu(x: T.handle, y: T.handle):
        batch, n = T.int64(), T.int64()
        X = T.match_buffer(x, (batch, n), "float32")
        Y = T.match_buffer(y, (batch, n), "float32")
        for i, j in T.grid(batch, n):
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                Y[vi, vj] = T.max(X[vi, vj], T.float32(0))

    @R.function
    def main(
        x: R.Tensor(("batch", "m"), "float32"),
        w0: R.Tensor(("n", "m"), "float32"),
        b0: R.Tensor(("n",), "float32"),
        w1: R.Tensor(("k", "n"), "float32"),
        b1: R.Tensor(("k",), "float32"),
    ):
        batch, m, n, k = T.int64(), T.int64(), T.int64(), T.int64()
        with R.dataflow():
            lv0 = R.call_tir(linear, (x, w0, b0), R.Tensor((batch, n), "float32"))
            lv1 = R.call_tir(relu, (lv0,), R.Tensor((batch, n), "float32"))
            out = R.call_tir(linear, (lv1, w1, b1), R.Tensor((batch, k), "float32"))
            R.output(out)
        return out
