# test: asm
# target: avx2
# Of 13 columns eight are stored in a register, and five in parts of 16 and 4 bytes: none under a mask.

@T.prim_func
def main(X: T.Buffer((64, 13), "float32"), Y: T.Buffer((64, 13), "float32")):
    for i in T.parallel(64):
        for j in T.vectorized(16):
            with T.block("Y"):
                vi = T.axis.spatial(64, i)
                vj = T.axis.spatial(13, j)
                T.where(j < 13)
                Y[vi, vj] = X[vi, vj] + X[vi, vj]
# expect-listing:
# ; main: Y
# ; by avx2
#      0  push rbp
#      1  mov rbp,rsp
#      4  sub rsp,0
#      b  and rsp,0FFFFFFFFFFFFFFC0h
#      f  mov r8,[rdi]
#     12  mov rdi,[r8]
#     15  mov r8,[r8+8]
#     19  cmp rsi,rdx
#     1c  jge 78h
#     22  vmovups ymm13,[rip+0B6h]
#     2a  vmovups ymm0,[rip+0CEh]
#     32  imul rax,rsi,34h
#     39  vpcmpgtd ymm1,ymm13,ymm0
#     3d  vmovups ymm2,[rdi+rax]
#     42  vmaskmovps ymm1,ymm1,[rdi+rax+20h]
#     49  vaddps ymm2,ymm2,ymm2
#     4d  vaddps ymm1,ymm1,ymm1
#     51  vmovups [r8+rax],ymm2
#     57  vmovups [r8+rax+20h],xmm1
#     5e  vextractf128 xmm1,ymm1,1
#     64  vmovd [r8+rax+30h],xmm1
#     6b  lea rsi,[rsi+1]
#     6f  cmp rsi,rdx
#     72  jl 32h
#     78  vzeroupper
#     7b  lea rsp,[rbp]
#     7f  pop rbp
#     80  ret
