# test: asm
# target: avx512
# run: default rules
# The maximum of pairs of neighbours reads two registers for each vector of every second element.

@T.prim_func
def pool(X: T.Buffer((8, 32), "float32"), Y: T.Buffer((8, 16), "float32")):
    for i, j, k in T.grid(8, 16, 2):
        with T.block("Y"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                Y[vi, vj] = T.min_value("float32")
            Y[vi, vj] = T.max(Y[vi, vj], X[vi, vj * 2 + vk])
# expect-listing:
# ; pool: Y_init, Y_update, Y_local
# ; by avx512
#      0  push rbp
#      1  mov rbp,rsp
#      4  sub rsp,0
#      b  and rsp,0FFFFFFFFFFFFFFC0h
#      f  mov r8,[rdi]
#     12  mov rdi,[r8]
#     15  mov r8,[r8+8]
#     19  cmp rsi,rdx
#     1c  jge 0A6h
#     22  vmovups zmm15,[rip+0D4h]
#     2c  vmovups zmm18,[rip+10Ah]
#     36  vmovups zmm28,[rip+140h]
#     40  mov rax,rsi
#     43  shl rax,7
#     47  vmovups zmm21,[rdi+rax]
#     4e  vmovups zmm20,[rdi+rax+3Ch]
#     59  vpermt2ps zmm21,zmm15,zmm20
#     5f  vmaxps zmm26,zmm18,zmm21
#     65  vmovups zmm30,[rdi+rax+4]
#     70  vmovups zmm31,[rdi+rax+40h]
#     78  vpermt2ps zmm30,zmm15,zmm31
#     7e  vmaxps zmm0,zmm26,zmm30
#     84  vfixupimmps zmm0,zmm26,zmm28,0
#     8b  mov rax,rsi
#     8e  shl rax,6
#     92  vmovups [r8+rax],zmm0
#     99  lea rsi,[rsi+1]
#     9d  cmp rsi,rdx
#     a0  jl 40h
#     a6  vzeroupper
#     a9  lea rsp,[rbp]
#     ad  pop rbp
#     ae  ret
