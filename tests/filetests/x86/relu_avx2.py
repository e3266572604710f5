# test: asm
# target: avx2
# run: default rules

@T.prim_func
def relu_add(A: T.Buffer((1024,), "float32"), B: T.Buffer((1024,), "float32"), C: T.Buffer((1024,), "float32")):
    for i in range(1024):
        with T.block("C"):
            vi = T.axis.spatial(1024, i)
            C[vi] = T.max(A[vi] + B[vi], T.float32(0))
# expect-listing:
# ; relu_add: C
# ; by avx2
#      0  push rbp
#      1  mov rbp,rsp
#      4  sub rsp,0
#      b  and rsp,0FFFFFFFFFFFFFFC0h
#      f  mov r9,[rdi]
#     12  mov rdi,[r9]
#     15  mov r8,[r9+8]
#     19  mov r10,[r9+10h]
#     1d  cmp rsi,rdx
#     20  jge 77h
#     26  mov rax,rsi
#     29  shl rax,6
#     2d  vmovups ymm1,[rdi+rax]
#     32  vmovups ymm0,[rdi+rax+20h]
#     38  vmovups ymm3,[r8+rax]
#     3e  vmovups ymm2,[r8+rax+20h]
#     45  vaddps ymm1,ymm1,ymm3
#     49  vaddps ymm0,ymm0,ymm2
#     4d  vmovups ymm2,[rip+2Bh]
#     55  vmaxps ymm1,ymm2,ymm1
#     59  vmaxps ymm0,ymm2,ymm0
#     5d  vmovups [r10+rax],ymm1
#     63  vmovups [r10+rax+20h],ymm0
#     6a  lea rsi,[rsi+1]
#     6e  cmp rsi,rdx
#     71  jl 26h
#     77  vzeroupper
#     7a  lea rsp,[rbp]
#     7e  pop rbp
#     7f  ret
