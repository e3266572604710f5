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
#     22  mov rax,rsi
#     25  shl rax,6
#     29  vmovups ymm15,[rdi+rax]
#     2e  vmovups ymm0,[rdi+rax+20h]
#     34  vmulps ymm1,ymm15,[rip+44h]
#     3c  vmulps ymm0,ymm0,[rip+3Ch]
#     44  vmovntps [r8+rax],ymm1
#     4a  vmovntps [r8+rax+20h],ymm0
#     51  lea rsi,[rsi+1]
#     55  cmp rsi,rdx
#     58  jl 22h
#     5e  sfence
#     61  vzeroupper
#     64  lea rsp,[rbp]
#     68  pop rbp
#     69  ret
