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
#     26  vmovups ymm0,[rip+52h]
#     2e  mov rax,rsi
#     31  shl rax,6
#     35  vmovups ymm2,[rdi+rax]
#     3a  vmovups ymm1,[rdi+rax+20h]
#     40  vmovups ymm4,[r8+rax]
#     46  vmovups ymm3,[r8+rax+20h]
#     4d  vaddps ymm2,ymm2,ymm4
#     51  vaddps ymm1,ymm1,ymm3
#     55  vmaxps ymm2,ymm0,ymm2
#     59  vmaxps ymm1,ymm0,ymm1
#     5d  vmovups [r10+rax],ymm2
#     63  vmovups [r10+rax+20h],ymm1
#     6a  lea rsi,[rsi+1]
#     6e  cmp rsi,rdx
#     71  jl 2Eh
#     77  vzeroupper
#     7a  lea rsp,[rbp]
#     7e  pop rbp
#     7f  ret
