# test: asm
# target: avx512
# run: default rules
# Rows of 14 sums: they stay in a register, of which the store and the read before it take the first lanes.

@T.prim_func
def pool(X: T.Buffer((8, 16), "float32"), Y: T.Buffer((8, 14), "float32")):
    for i, j, k in T.grid(8, 14, 3):
        with T.block("Y"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                Y[vi, vj] = T.float32(0)
            Y[vi, vj] = Y[vi, vj] + X[vi, vj + vk]
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
#     1c  jge 0AFh
#     22  vmovups zmm14,[rip+94h]
#     2c  vmovups zmm17,[rip+10Ah]
#     36  vmovups zmm22,[rip+140h]
#     40  vmovups zmm30,[rip+0B6h]
#     4a  mov rax,rsi
#     4d  shl rax,6
#     51  vmovups zmm19,[rdi+rax]
#     58  vaddps zmm23,zmm14,zmm19
#     5e  vpcmpnled k1,zmm17,zmm30
#     65  vmovups zmm27{k1}{z},[rdi+rax+4]
#     70  vaddps zmm29,zmm23,zmm27
#     76  vpcmpnled k1,zmm22,zmm30
#     7d  vmovups zmm0{k1}{z},[rdi+rax+8]
#     88  vaddps zmm0,zmm29,zmm0
#     8e  vmovups zmm0{k1}{z},zmm0
#     94  imul rax,rsi,38h
#     9b  vmovups [r8+rax]{k1},zmm0
#     a2  lea rsi,[rsi+1]
#     a6  cmp rsi,rdx
#     a9  jl 4Ah
#     af  vzeroupper
#     b2  lea rsp,[rbp]
#     b6  pop rbp
#     b7  ret
