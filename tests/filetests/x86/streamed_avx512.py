# test: asm
# target: avx512
# run: default rules
# A result of 32 MiB is written past the caches, and other threads see it after a fence.

@T.prim_func
def double(A: T.Buffer((8388608,), "float32"), C: T.Buffer((8388608,), "float32")):
    for i in range(8388608):
        with T.block("C"):
            vi = T.axis.spatial(8388608, i)
            C[vi] = A[vi] * T.float32(2)
# expect-listing:
# ; double: C
# ; by avx512
#      0  push rbp
#      1  mov rbp,rsp
#      4  sub rsp,0
#      b  and rsp,0FFFFFFFFFFFFFFC0h
#      f  mov r8,[rdi]
#     12  mov rdi,[r8]
#     15  mov r8,[r8+8]
#     19  cmp rsi,rdx
#     1c  jge 4Eh
#     22  mov rax,rsi
#     25  shl rax,6
#     29  vmovups zmm15,[rdi+rax]
#     30  vmulps zmm17,zmm15,[rip+46h]
#     3a  vmovntps [r8+rax],zmm17
#     41  lea rsi,[rsi+1]
#     45  cmp rsi,rdx
#     48  jl 22h
#     4e  sfence
#     51  vzeroupper
#     54  lea rsp,[rbp]
#     58  pop rbp
#     59  ret
