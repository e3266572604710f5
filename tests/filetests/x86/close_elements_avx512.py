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
#     1c  jge 16Bh
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
#     83  xor eax,eax
#     85  vpinsrb xmm0,xmm0,eax,0Dh
#     8c  vpinsrb xmm0,xmm0,eax,0Eh
#     93  vpinsrb xmm0,xmm0,eax,0Fh
#     9a  vpmovsxbd zmm0,xmm0
#     a0  vmovups zmm1,[rip+116h]
#     aa  vmovups zmm2,[rip+14Ch]
#     b4  vmovups zmm3,[rip+182h]
#     be  vmovups zmm4,[rip+238h]
#     c8  vmovups zmm10,[rip+0AEh]
#     d2  vmovups zmm12,[rip+1A4h]
#     dc  vmovups zmm14,[rip+1DAh]
#     e6  imul rax,rsi,68h
#     ed  vmovups zmm6,[rdi+rax]
#     f4  vmovups zmm5,[rdi+rax+28h]
#     ff  vpermt2ps zmm6,zmm1,zmm5
#    105  vmovaps zmm7,zmm0
#    10b  vpternlogd zmm7,zmm6,zmm10,0CAh
#    112  vmaxps zmm7,zmm2,zmm7
#    118  vmovups zmm11,[rdi+rax+4]
#    123  vpermt2ps zmm11,zmm3,zmm5
#    129  vmovaps zmm15,zmm0
#    12f  vpternlogd zmm15,zmm11,zmm10,0CAh
#    136  vmaxps zmm17,zmm7,zmm15
#    13c  vfixupimmps zmm17,zmm7,zmm12,0
#    143  vpcmpnled k1,zmm4,zmm14
#    14a  vmovups zmm23{k1}{z},zmm17
#    150  imul rax,rsi,34h
#    157  vmovups [r8+rax]{k1},zmm23
#    15e  lea rsi,[rsi+1]
#    162  cmp rsi,rdx
#    165  jl 0E6h
#    16b  vzeroupper
#    16e  lea rsp,[rbp]
#    172  pop rbp
#    173  ret
