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
#     1c  jge 54h
#     22  vmovups zmm16,[rip+54h]
#     2c  mov rax,rsi
#     2f  shl rax,6
#     33  vmovups zmm17,[rdi+rax]
#     3a  vmulps zmm18,zmm17,zmm16
#     40  vmovntps [r8+rax],zmm18
#     47  lea rsi,[rsi+1]
#     4b  cmp rsi,rdx
#     4e  jl 2Ch
#     54  sfence
#     57  vzeroupper
#     5a  lea rsp,[rbp]
#     5e  pop rbp
#     5f  ret
