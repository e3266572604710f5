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
#     1c  jge 3AAh
#     22  xor eax,eax
#     24  vmovups zmm18,[rip+412h]
#     2e  mov rcx,rsi
#     31  shl rcx,0Eh
#     35  lea rcx,[rdi+rcx]
#     39  vmovups zmm2,[rip+43Dh]
#     43  mov r9,rax
#     46  vmovaps zmm24,zmm18
#     4c  vmovaps zmm25,zmm18
#     52  vmovaps zmm26,zmm18
#     58  vmovaps zmm27,zmm18
#     5e  vmovaps zmm28,zmm18
#     64  vmovaps zmm29,zmm18
#     6a  vmovaps zmm30,zmm18
#     70  mov r10,r9
#     73  shl r10,9
#     77  vmovups zmm0,[rcx+r10]
#     7e  vmovups zmm3,[rcx+r10+40h]
#     86  vmovups zmm1,[rcx+r10+80h]
#     8e  vmovups zmm4,[rcx+r10+0C0h]
#     96  vmovups zmm5,[rcx+r10+100h]
#     9e  vmovups zmm8,[rcx+r10+140h]
#     a6  vmovups zmm7,[rcx+r10+180h]
#     ae  vmovups zmm6,[rcx+r10+1C0h]
#     b6  vmaxps zmm0,zmm18,zmm0
#     bc  vfixupimmps zmm0,zmm18,zmm2,0
#     c3  vmaxps zmm3,zmm24,zmm3
#     c9  vfixupimmps zmm3,zmm24,zmm2,0
#     d0  vmaxps zmm1,zmm25,zmm1
#     d6  vfixupimmps zmm1,zmm25,zmm2,0
#     dd  vmaxps zmm4,zmm26,zmm4
#     e3  vfixupimmps zmm4,zmm26,zmm2,0
#     ea  vmaxps zmm5,zmm27,zmm5
#     f0  vfixupimmps zmm5,zmm27,zmm2,0
#     f7  vmaxps zmm9,zmm28,zmm8
#     fd  vfixupimmps zmm9,zmm28,zmm2,0
#    104  vmaxps zmm13,zmm29,zmm7
#    10a  vfixupimmps zmm13,zmm29,zmm2,0
#    111  vmaxps zmm17,zmm30,zmm6
#    117  vfixupimmps zmm17,zmm30,zmm2,0
#    11e  lea r9,[r9+1]
#    122  cmp r9,20h
#    126  jge 161h
#    12c  vmovaps zmm18,zmm0
#    132  vmovaps zmm24,zmm3
#    138  vmovaps zmm25,zmm1
#    13e  vmovaps zmm26,zmm4
#    144  vmovaps zmm27,zmm5
#    14a  vmovaps zmm28,zmm9
#    150  vmovaps zmm29,zmm13
#    156  vmovaps zmm30,zmm17
#    15c  jmp 70h
#    161  vmaxps zmm25,zmm0,zmm3
#    167  vfixupimmps zmm25,zmm0,[rip+30Eh],0
#    172  vmaxps zmm29,zmm1,zmm4
#    178  vfixupimmps zmm29,zmm1,[rip+2FDh],0
#    183  vmaxps zmm0,zmm25,zmm29
#    189  vfixupimmps zmm0,zmm25,[rip+2ECh],0
#    194  vmaxps zmm1,zmm5,zmm9
#    19a  vfixupimmps zmm1,zmm5,[rip+2DBh],0
#    1a5  vmaxps zmm2,zmm13,zmm17
#    1ab  vfixupimmps zmm2,zmm13,[rip+2CAh],0
#    1b6  vmaxps zmm2,zmm1,zmm2
#    1bc  vfixupimmps zmm2,zmm1,[rip+2B9h],0
#    1c7  vmaxps zmm3,zmm0,zmm2
#    1cd  vfixupimmps zmm3,zmm0,[rip+2A8h],0
#    1d8  vextractf32x4 xmm2,zmm3,1
#    1df  vextractf32x4 xmm1,zmm3,2
#    1e6  vextractf32x4 xmm0,zmm3,3
#    1ed  vshufps xmm4,xmm3,xmm3,1
#    1f4  vmaxps xmm4,xmm3,xmm4
#    1fa  vfixupimmps xmm4,xmm3,[rip+2BBh],0
#    205  vshufps xmm5,xmm3,xmm3,2
#    20c  vshufps xmm3,xmm3,xmm3,3
#    213  vmaxps xmm6,xmm5,xmm3
#    219  vfixupimmps xmm6,xmm5,[rip+29Ch],0
#    224  vmaxps xmm10,xmm4,xmm6
#    22a  vfixupimmps xmm10,xmm4,[rip+28Bh],0
#    235  vshufps xmm13,xmm2,xmm2,1
#    23c  vmaxps xmm16,xmm2,xmm13
#    242  vfixupimmps xmm16,xmm2,[rip+273h],0
#    24d  vshufps xmm19,xmm2,xmm2,2
#    254  vshufps xmm21,xmm2,xmm2,3
#    25b  vmaxps xmm24,xmm19,xmm21
#    261  vfixupimmps xmm24,xmm19,[rip+254h],0
#    26c  vmaxps xmm28,xmm16,xmm24
#    272  vfixupimmps xmm28,xmm16,[rip+243h],0
#    27d  vmaxps xmm2,xmm10,xmm28
#    283  vfixupimmps xmm2,xmm10,[rip+232h],0
#    28e  vshufps xmm3,xmm1,xmm1,1
#    295  vmaxps xmm3,xmm1,xmm3
#    29b  vfixupimmps xmm3,xmm1,[rip+21Ah],0
#    2a6  vshufps xmm4,xmm1,xmm1,2
#    2ad  vshufps xmm1,xmm1,xmm1,3
#    2b4  vmaxps xmm1,xmm4,xmm1
#    2ba  vfixupimmps xmm1,xmm4,[rip+1FBh],0
#    2c5  vmaxps xmm1,xmm3,xmm1
#    2cb  vfixupimmps xmm1,xmm3,[rip+1EAh],0
#    2d6  vshufps xmm3,xmm0,xmm0,1
#    2dd  vmaxps xmm3,xmm0,xmm3
#    2e3  vfixupimmps xmm3,xmm0,[rip+1D2h],0
#    2ee  vshufps xmm4,xmm0,xmm0,2
#    2f5  vshufps xmm0,xmm0,xmm0,3
#    2fc  vmaxps xmm5,xmm4,xmm0
#    302  vfixupimmps xmm5,xmm4,[rip+1B3h],0
#    30d  vmaxps xmm5,xmm3,xmm5
#    313  vfixupimmps xmm5,xmm3,[rip+1A2h],0
#    31e  vmaxps xmm9,xmm1,xmm5
#    324  vfixupimmps xmm9,xmm1,[rip+191h],0
#    32f  vmaxps xmm13,xmm2,xmm9
#    335  vfixupimmps xmm13,xmm2,[rip+180h],0
#    340  vmovups xmm16,[rip+186h]
#    34a  vmaxps xmm18,xmm16,xmm13
#    350  mov r9,rsi
#    353  shl r9,0Eh
#    357  lea rcx,[rdi+r9]
#    35b  vbroadcastss zmm28,xmm18
#    361  lea r9,[r8+r9]
#    365  mov r10,rax
#    368  mov r11,r10
#    36b  shl r11,6
#    36f  vmovups zmm31,[rcx+r11]
#    376  prefetcht0 [rcx+r11+4000h]
#    37f  vsubps zmm0,zmm31,zmm28
#    385  vmovntps [r9+r11],zmm0
#    38c  lea r10,[r10+1]
#    390  cmp r10,100h
#    397  jl 368h
#    39d  lea rsi,[rsi+1]
#    3a1  cmp rsi,rdx
#    3a4  jl 24h
#    3aa  sfence
#    3ad  vzeroupper
#    3b0  lea rsp,[rbp]
#    3b4  pop rbp
#    3b5  ret
