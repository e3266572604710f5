# test: print
# `break`, `continue` and `return`, in both spellings.

@T.prim_func
def main(A: T.Buffer((64,), "int32"), n: T.int32) -> T.int32:
    for i in range(3, n, 4):
        if A[i] == 0:
            continue
        while A[i] > 7:
            A[i] -= 1
            if A[i] == 10:
                T.break_loop()
        if A[i] % 2:
            T.ret(i)
        assert A[i] < 7, ("ValueError", ["too ", "large"])
    return n + 1
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T

@I.ir_module
class Module:
    @T.prim_func
    def main(A: T.Buffer((64,), "int32"), n: T.int32) -> T.int32:
        # with T.block("root"):
        for i_step in range((n - 3 + 4 - 1) // 4):
            i: T.int32 = 3 + i_step * 4
            if A[i] == 0:
                continue
            while A[i] > 7:
                A[i] = A[i] - 1
                if A[i] == 10:
                    break
            if A[i] % 2 != 0:
                return i
            assert A[i] < 7, "too large"
        return n + 1
