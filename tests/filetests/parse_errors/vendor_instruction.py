# test: parse
@T.prim_func
def main(A: T.Buffer((16,), "float32")):
    T.ptx.mma("m16n8k8", A.data)
    A[0] = T.call_llvm_pure_intrin("float32", "llvm.fabs", A[1])
# expect-error:
# error: `T.ptx.mma` is an instruction of one vendor's hardware, which this compiler has not
#   --> vendor_instruction.py:4:5
#   |
# 4 |     T.ptx.mma("m16n8k8", A.data)
#   |     ^^^^^^^^^
#
# error: `T.call_llvm_pure_intrin` is an instruction of one vendor's hardware, which this compiler has not
#   --> vendor_instruction.py:5:12
#   |
# 5 |     A[0] = T.call_llvm_pure_intrin("float32", "llvm.fabs", A[1])
#   |            ^^^^^^^^^^^^^^^^^^^^^^^
