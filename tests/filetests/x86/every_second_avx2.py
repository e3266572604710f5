# test: asm
# target: avx2
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
# ; by avx2
#      0  push rbp
#      1  mov rbp,rsp
#      4  sub rsp,0
#      b  and rsp,0FFFFFFFFFFFFFFC0h
#      f  mov r8,[rdi]
#     12  mov rdi,[r8]
#     15  mov r8,[r8+8]
#     19  cmp rsi,rdx
#     1c  jge 0D3h
#     22  vmovups ymm0,[rip+0F6h]
#     2a  mov rax,rsi
#     2d  shl rax,7
#     31  vmovups ymm1,[rdi+rax]
#     36  vmovups ymm2,[rdi+rax+1Ch]
#     3c  vshufps ymm1,ymm1,ymm2,0D8h
#     41  vpermpd ymm1,ymm1,0D8h
#     47  vmovups ymm2,[rdi+rax+40h]
#     4d  vmovups ymm3,[rdi+rax+5Ch]
#     53  vshufps ymm2,ymm2,ymm3,0D8h
#     58  vpermpd ymm3,ymm2,0D8h
#     5e  vmaxps ymm2,ymm0,ymm1
#     62  vmaxps ymm1,ymm0,ymm3
#     66  vmovups ymm3,[rdi+rax+4]
#     6c  vmovups ymm4,[rdi+rax+20h]
#     72  vshufps ymm3,ymm3,ymm4,0D8h
#     77  vpermpd ymm3,ymm3,0D8h
#     7d  vmovups ymm4,[rdi+rax+44h]
#     83  vmovups ymm5,[rdi+rax+60h]
#     89  vshufps ymm4,ymm4,ymm5,0D8h
#     8e  vpermpd ymm4,ymm4,0D8h
#     94  vmaxps ymm3,ymm2,ymm3
#     98  vcmpunordps ymm5,ymm2,ymm2
#     9d  vpblendvb ymm2,ymm3,ymm2,ymm5
#     a3  vmaxps ymm3,ymm1,ymm4
#     a7  vcmpunordps ymm4,ymm1,ymm1
#     ac  vpblendvb ymm1,ymm3,ymm1,ymm4
#     b2  mov r9,rsi
#     b5  shl r9,6
#     b9  vmovups [r8+r9],ymm2
#     bf  vmovups [r8+r9+20h],ymm1
#     c6  lea rsi,[rsi+1]
#     ca  cmp rsi,rdx
#     cd  jl 2Ah
#     d3  vzeroupper
#     d6  lea rsp,[rbp]
#     da  pop rbp
#     db  ret
