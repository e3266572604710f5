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
#     1c  jge 113h
#     22  mov ecx,0Fh
#     27  cmp rcx,10h
#     2b  setl r10b
#     2f  movzx r10d,r10b
#     33  mov eax,10h
#     38  mov r9,rax
#     3b  test r10,r10
#     3e  cmovne r9,rcx
#     42  test r9,r9
#     45  setg r10b
#     49  movzx r10d,r10b
#     4d  xor ecx,ecx
#     4f  mov r11,rcx
#     52  test r10,r10
#     55  cmovne r11,r9
#     59  vmovq xmm30,r11
#     5f  vpbroadcastd zmm0,xmm30
#     65  vpcmpnled k1,zmm0,[rip+110h]
#     70  mov r9d,0Eh
#     76  cmp r9,10h
#     7a  setl r10b
#     7e  movzx r10d,r10b
#     82  test r10,r10
#     85  cmovne rax,r9
#     89  test rax,rax
#     8c  setg r9b
#     90  movzx r9d,r9b
#     94  test r9,r9
#     97  cmovne rcx,rax
#     9b  vmovq xmm0,rcx
#     a1  vpbroadcastd zmm0,xmm0
#     a7  vpcmpnled k2,zmm0,[rip+0CEh]
#     b2  vmovups zmm0,[rip+84h]
#     bc  mov rax,rsi
#     bf  shl rax,6
#     c3  vmovups zmm1,[rdi+rax]
#     ca  vaddps zmm1,zmm0,zmm1
#     d0  vmovups zmm2{k1}{z},[rdi+rax+4]
#     db  vaddps zmm1,zmm1,zmm2
#     e1  vmovups zmm2{k2}{z},[rdi+rax+8]
#     ec  vaddps zmm1,zmm1,zmm2
#     f2  vmovups zmm2{k2}{z},zmm1
#     f8  imul r9,rsi,38h
#     ff  vmovups [r8+r9]{k2},zmm2
#    106  lea rsi,[rsi+1]
#    10a  cmp rsi,rdx
#    10d  jl 0BCh
#    113  vzeroupper
#    116  lea rsp,[rbp]
#    11a  pop rbp
#    11b  ret
