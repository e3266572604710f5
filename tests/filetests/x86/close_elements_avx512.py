# test: asm
# target: avx512
# run: default rules
# Every second one of 26 elements, for 13 lanes: two registers cover them, and nothing behind the last one is read.

@T.prim_func
def pool(X: T.Buffer((8, 26), "float32"), Y: T.Buffer((8, 13), "float32")):
    for i, j, k in T.grid(8, 13, 2):
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
#     1c  jge 198h
#     22  mov rax,0FFFFFFFFFFFFFFFFh
#     29  vmovq xmm14,rax
#     2f  vpinsrb xmm16,xmm14,eax,1
#     36  vpinsrb xmm18,xmm16,eax,2
#     3d  vpinsrb xmm20,xmm18,eax,3
#     44  vpinsrb xmm22,xmm20,eax,4
#     4b  vpinsrb xmm24,xmm22,eax,5
#     52  vpinsrb xmm26,xmm24,eax,6
#     59  vpinsrb xmm28,xmm26,eax,7
#     60  vpinsrb xmm30,xmm28,eax,8
#     67  vpinsrb xmm0,xmm30,eax,9
#     6e  vpinsrb xmm0,xmm0,eax,0Ah
#     75  vpinsrb xmm0,xmm0,eax,0Bh
#     7c  vpinsrb xmm0,xmm0,eax,0Ch
#     83  xor ecx,ecx
#     85  vpinsrb xmm0,xmm0,ecx,0Dh
#     8c  vpinsrb xmm0,xmm0,ecx,0Eh
#     93  vpinsrb xmm0,xmm0,ecx,0Fh
#     9a  vpmovsxbd zmm0,xmm0
#     a0  mov r10d,0Dh
#     a6  cmp r10,10h
#     aa  setl r11b
#     ae  movzx r11d,r11b
#     b2  mov r9d,10h
#     b8  test r11,r11
#     bb  cmovne r9,r10
#     bf  test r9,r9
#     c2  setg r10b
#     c6  movzx r10d,r10b
#     ca  test r10,r10
#     cd  cmovne rcx,r9
#     d1  vmovq xmm13,rcx
#     d7  vpbroadcastd zmm15,xmm13
#     dd  vpcmpnled k1,zmm15,[rip+218h]
#     e8  vmovups zmm1,[rip+10Eh]
#     f2  vmovups zmm3,[rip+144h]
#     fc  vmovups zmm7,[rip+17Ah]
#    106  vmovups zmm25,[rip+0B0h]
#    110  vmovups zmm27,[rip+1A6h]
#    11a  imul rcx,rsi,68h
#    121  vmovups zmm6,[rdi+rcx]
#    128  vmovups zmm5,[rdi+rcx+28h]
#    133  vpermt2ps zmm6,zmm1,zmm5
#    139  vmovaps zmm11,zmm0
#    13f  vpternlogd zmm11,zmm6,zmm25,0CAh
#    146  vmaxps zmm14,zmm3,zmm11
#    14c  vmovups zmm18,[rdi+rcx+4]
#    157  vpermt2ps zmm18,zmm7,zmm5
#    15d  vmovaps zmm21,zmm0
#    163  vpternlogd zmm21,zmm18,zmm25,0CAh
#    16a  vmaxps zmm24,zmm14,zmm21
#    170  vfixupimmps zmm24,zmm14,zmm27,0
#    177  vmovups zmm2{k1}{z},zmm24
#    17d  imul rax,rsi,34h
#    184  vmovups [r8+rax]{k1},zmm2
#    18b  lea rsi,[rsi+1]
#    18f  cmp rsi,rdx
#    192  jl 11Ah
#    198  vzeroupper
#    19b  lea rsp,[rbp]
#    19f  pop rbp
#    1a0  ret
