# test: asm
# target: avx512
# run: default rules
# The second pass over a row of an array of 32 MiB fetches the next row; the first, for which memory is waited, does not.

@T.prim_func
def below_max(X: T.Buffer((2048, 4096), "float32"), Y: T.Buffer((2048, 4096), "float32")):
    M = T.alloc_buffer((2048,), "float32")
    for i, k in T.grid(2048, 4096):
        with T.block("M"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                M[vi] = T.min_value("float32")
            M[vi] = T.max(M[vi], X[vi, vk])
    for i, j in T.grid(2048, 4096):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = X[vi, vj] - M[vi]
# expect-listing:
# ; below_max: M_init, M_update, Y
# ; by avx512
#      0  push rbp
#      1  mov rbp,rsp
#      4  sub rsp,0
#      b  and rsp,0FFFFFFFFFFFFFFC0h
#      f  mov r8,[rdi]
#     12  mov rdi,[r8]
#     15  mov r8,[r8+8]
#     19  cmp rsi,rdx
#     1c  jge 2E2h
#     22  xor eax,eax
#     24  vmovups zmm18,[rip+352h]
#     2e  mov rcx,rsi
#     31  shl rcx,0Eh
#     35  lea rcx,[rdi+rcx]
#     39  vmovups zmm0,[rip+37Dh]
#     43  mov r9,rax
#     46  vmovaps zmm24,zmm18
#     4c  vmovaps zmm25,zmm18
#     52  vmovaps zmm26,zmm18
#     58  mov r10,r9
#     5b  shl r10,8
#     5f  vmovups zmm31,[rcx+r10]
#     66  vmovups zmm3,[rcx+r10+40h]
#     6e  vmovups zmm2,[rcx+r10+80h]
#     76  vmovups zmm4,[rcx+r10+0C0h]
#     7e  vmaxps zmm1,zmm18,zmm31
#     84  vfixupimmps zmm1,zmm18,zmm0,0
#     8b  vmaxps zmm3,zmm24,zmm3
#     91  vfixupimmps zmm3,zmm24,zmm0,0
#     98  vmaxps zmm2,zmm25,zmm2
#     9e  vfixupimmps zmm2,zmm25,zmm0,0
#     a5  vmaxps zmm4,zmm26,zmm4
#     ab  vfixupimmps zmm4,zmm26,zmm0,0
#     b2  lea r9,[r9+1]
#     b6  cmp r9,40h
#     ba  jge 0DDh
#     c0  vmovaps zmm18,zmm1
#     c6  vmovaps zmm24,zmm3
#     cc  vmovaps zmm25,zmm2
#     d2  vmovaps zmm26,zmm4
#     d8  jmp 58h
#     dd  vmaxps zmm0,zmm1,zmm3
#     e3  vfixupimmps zmm0,zmm1,[rip+2D2h],0
#     ee  vmaxps zmm1,zmm2,zmm4
#     f4  vfixupimmps zmm1,zmm2,[rip+2C1h],0
#     ff  vmaxps zmm5,zmm0,zmm1
#    105  vfixupimmps zmm5,zmm0,[rip+2B0h],0
#    110  vextractf32x4 xmm8,zmm5,1
#    117  vextractf32x4 xmm10,zmm5,2
#    11e  vextractf32x4 xmm12,zmm5,3
#    125  vshufps xmm14,xmm5,xmm5,1
#    12c  vmaxps xmm17,xmm5,xmm14
#    132  vfixupimmps xmm17,xmm5,[rip+2C3h],0
#    13d  vshufps xmm20,xmm5,xmm5,2
#    144  vshufps xmm22,xmm5,xmm5,3
#    14b  vmaxps xmm25,xmm20,xmm22
#    151  vfixupimmps xmm25,xmm20,[rip+2A4h],0
#    15c  vmaxps xmm29,xmm17,xmm25
#    162  vfixupimmps xmm29,xmm17,[rip+293h],0
#    16d  vshufps xmm0,xmm8,xmm8,1
#    174  vmaxps xmm0,xmm8,xmm0
#    17a  vfixupimmps xmm0,xmm8,[rip+27Bh],0
#    185  vshufps xmm1,xmm8,xmm8,2
#    18c  vshufps xmm2,xmm8,xmm8,3
#    193  vmaxps xmm2,xmm1,xmm2
#    199  vfixupimmps xmm2,xmm1,[rip+25Ch],0
#    1a4  vmaxps xmm1,xmm0,xmm2
#    1aa  vfixupimmps xmm1,xmm0,[rip+24Bh],0
#    1b5  vmaxps xmm0,xmm29,xmm1
#    1bb  vfixupimmps xmm0,xmm29,[rip+23Ah],0
#    1c6  vshufps xmm1,xmm10,xmm10,1
#    1cd  vmaxps xmm1,xmm10,xmm1
#    1d3  vfixupimmps xmm1,xmm10,[rip+222h],0
#    1de  vshufps xmm2,xmm10,xmm10,2
#    1e5  vshufps xmm3,xmm10,xmm10,3
#    1ec  vmaxps xmm3,xmm2,xmm3
#    1f2  vfixupimmps xmm3,xmm2,[rip+203h],0
#    1fd  vmaxps xmm6,xmm1,xmm3
#    203  vfixupimmps xmm6,xmm1,[rip+1F2h],0
#    20e  vshufps xmm9,xmm12,xmm12,1
#    215  vmaxps xmm13,xmm12,xmm9
#    21b  vfixupimmps xmm13,xmm12,[rip+1DAh],0
#    226  vshufps xmm15,xmm12,xmm12,2
#    22d  vshufps xmm17,xmm12,xmm12,3
#    234  vmaxps xmm20,xmm15,xmm17
#    23a  vfixupimmps xmm20,xmm15,[rip+1BBh],0
#    245  vmaxps xmm24,xmm13,xmm20
#    24b  vfixupimmps xmm24,xmm13,[rip+1AAh],0
#    256  vmaxps xmm28,xmm6,xmm24
#    25c  vfixupimmps xmm28,xmm6,[rip+199h],0
#    267  vmaxps xmm1,xmm0,xmm28
#    26d  vfixupimmps xmm1,xmm0,[rip+188h],0
#    278  vmovups xmm0,[rip+18Eh]
#    282  vmaxps xmm0,xmm0,xmm1
#    288  mov r9,rsi
#    28b  shl r9,0Eh
#    28f  lea rcx,[rdi+r9]
#    293  vbroadcastss zmm0,xmm0
#    299  lea r9,[r8+r9]
#    29d  mov r10,rax
#    2a0  mov r11,r10
#    2a3  shl r11,6
#    2a7  vmovups zmm1,[rcx+r11]
#    2ae  prefetcht0 [rcx+r11+4000h]
#    2b7  vsubps zmm1,zmm1,zmm0
#    2bd  vmovntps [r9+r11],zmm1
#    2c4  lea r10,[r10+1]
#    2c8  cmp r10,100h
#    2cf  jl 2A0h
#    2d5  lea rsi,[rsi+1]
#    2d9  cmp rsi,rdx
#    2dc  jl 24h
#    2e2  sfence
#    2e5  vzeroupper
#    2e8  lea rsp,[rbp]
#    2ec  pop rbp
#    2ed  ret
