# test: asm
# target: avx2
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
# ; by avx2
#      0  push rbp
#      1  mov rbp,rsp
#      4  sub rsp,0
#      b  and rsp,0FFFFFFFFFFFFFFC0h
#      f  mov r8,[rdi]
#     12  mov rdi,[r8]
#     15  mov r8,[r8+8]
#     19  cmp rsi,rdx
#     1c  jge 5Eh
#     22  vmovups ymm0,[rip+56h]
#     2a  mov rax,rsi
#     2d  shl rax,6
#     31  vmovups ymm2,[rdi+rax]
#     36  vmovups ymm1,[rdi+rax+20h]
#     3c  vmulps ymm2,ymm2,ymm0
#     40  vmulps ymm1,ymm1,ymm0
#     44  vmovntps [r8+rax],ymm2
#     4a  vmovntps [r8+rax+20h],ymm1
#     51  lea rsi,[rsi+1]
#     55  cmp rsi,rdx
#     58  jl 2Ah
#     5e  sfence
#     61  vzeroupper
#     64  lea rsp,[rbp]
#     68  pop rbp
#     69  ret
