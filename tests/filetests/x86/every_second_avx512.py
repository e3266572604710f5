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
#     1c  jge 0A0h
#     22  mov rax,rsi
#     25  shl rax,7
#     29  vmovups zmm18,[rdi+rax]
#     30  vmovups zmm17,[rdi+rax+3Ch]
#     3b  vmovups zmm19,[rip+0BBh]
#     45  vpermt2ps zmm18,zmm19,zmm17
#     4b  vmovups zmm23,[rip+0EBh]
#     55  vmaxps zmm25,zmm23,zmm18
#     5b  vmovups zmm29,[rdi+rax+4]
#     66  vmovups zmm30,[rdi+rax+40h]
#     6e  vpermt2ps zmm29,zmm19,zmm30
#     74  vmaxps zmm0,zmm25,zmm29
#     7a  vfixupimmps zmm0,zmm25,[rip+0FBh],0
#     85  mov rax,rsi
#     88  shl rax,6
#     8c  vmovups [r8+rax],zmm0
#     93  lea rsi,[rsi+1]
#     97  cmp rsi,rdx
#     9a  jl 22h
#     a0  vzeroupper
#     a3  lea rsp,[rbp]
#     a7  pop rbp
#     a8  ret
