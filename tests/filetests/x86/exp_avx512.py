# test: asm
# target: avx512
# run: default rules
# What the loop reads of constants stays in registers as far as there are any. Vectors with results that may be subnormal take a branch.

@T.prim_func
def exp(X: T.Buffer((1024,), "float32"), Y: T.Buffer((1024,), "float32")):
    for i in range(1024):
        with T.block("Y"):
            vi = T.axis.spatial(1024, i)
            Y[vi] = T.exp(X[vi])
# expect-listing:
# ; exp: Y
# ; by avx512
#      0  push rbp
#      1  mov rbp,rsp
#      4  sub rsp,0
#      b  and rsp,0FFFFFFFFFFFFFFC0h
#      f  mov r8,[rdi]
#     12  mov rdi,[r8]
#     15  mov r8,[r8+8]
#     19  cmp rsi,rdx
#     1c  jge 258h
#     22  vmovups zmm14,[rip+294h]
#     2c  vmovups zmm0,[rip+58Ah]
#     36  vmovups zmm31,[rip+480h]
#     40  vmovups zmm1,[rip+4F6h]
#     4a  vmovups zmm24,[rip+36Ch]
#     54  vmovups zmm27,[rip+3A2h]
#     5e  vmovups zmm2,[rip+658h]
#     68  vmovups zmm13,[rip+28Eh]
#     72  vmovups zmm15,[rip+3C4h]
#     7c  vmovups zmm17,[rip+3FAh]
#     86  vmovups zmm19,[rip+470h]
#     90  vmovups zmm21,[rip+4E6h]
#     9a  vmovups zmm23,[rip+55Ch]
#     a4  vmovups zmm25,[rip+592h]
#     ae  vmovups zmm28,[rip+288h]
#     b8  vmovups zmm29,[rip+2BEh]
#     c2  vmovups zmm3,[rip+5B4h]
#     cc  vmovups zmm4,[rip+62Ah]
#     d6  vmovups zmm5,[rip+660h]
#     e0  mov rax,rsi
#     e3  shl rax,6
#     e7  vmovups zmm22,[rdi+rax]
#     ee  vmovaps zmm6,zmm14
#     f4  vfmadd231ps zmm6,zmm22,zmm13
#     fa  vsubps zmm7,zmm6,zmm14
#    100  vandps zmm8,zmm7,zmm28
#    106  vcmpge_oqps k1,zmm8,zmm29
#    10d  kmovw ecx,k1
#    111  test rcx,rcx
#    114  je 1E9h
#    11a  vmaxps zmm6,zmm24,zmm22
#    120  vminps zmm7,zmm27,zmm6
#    126  vmovaps zmm6,zmm14
#    12c  vfmadd231ps zmm6,zmm7,zmm13
#    132  vsubps zmm8,zmm6,zmm14
#    138  vfmadd231ps zmm7,zmm8,zmm15
#    13e  vfmadd231ps zmm7,zmm8,zmm17
#    144  vmulps zmm9,zmm7,zmm7
#    14a  vmovaps zmm11,zmm31
#    150  vfmadd231ps zmm11,zmm7,zmm19
#    156  vmovaps zmm10,zmm1
#    15c  vfmadd231ps zmm10,zmm7,zmm21
#    162  vfmadd231ps zmm10,zmm11,zmm9
#    168  vmovaps zmm11,zmm0
#    16e  vfmadd231ps zmm11,zmm7,zmm23
#    174  vfmadd231ps zmm11,zmm10,zmm9
#    17a  vfmadd231ps zmm7,zmm11,zmm9
#    180  vaddps zmm16,zmm7,zmm25
#    186  vcmplt_oqps k1,zmm8,zmm3
#    18d  vaddps zmm20,zmm16,zmm16
#    193  vblendmps zmm26{k1},zmm2,zmm4
#    199  vpaddd zmm26,zmm6,zmm26
#    19f  vpslld zmm30,zmm26,17h
#    1a6  vmulps zmm30,zmm20,zmm30
#    1ac  vaddps zmm6,zmm30,zmm0
#    1b2  vcvttps2dq zmm7,zmm6
#    1b8  vcmpge_oqps k2,zmm6,zmm5
#    1bf  vpmovm2d zmm8,k2
#    1c5  vxorps zmm7,zmm7,zmm8
#    1cb  vcmpunordps k2,zmm6,zmm6
#    1d2  vpmovm2d zmm6,k2
#    1d8  vandnps zmm6,zmm6,zmm7
#    1de  vblendmps zmm6{k1},zmm30,zmm6
#    1e4  jmp 244h
#    1e9  vfmadd231ps zmm22,zmm7,zmm15
#    1ef  vfmadd231ps zmm22,zmm7,zmm17
#    1f5  vmulps zmm7,zmm22,zmm22
#    1fb  vmovaps zmm9,zmm31
#    201  vfmadd231ps zmm9,zmm22,zmm19
#    207  vmovaps zmm8,zmm1
#    20d  vfmadd231ps zmm8,zmm22,zmm21
#    213  vfmadd231ps zmm8,zmm9,zmm7
#    219  vmovaps zmm9,zmm0
#    21f  vfmadd231ps zmm9,zmm22,zmm23
#    225  vfmadd231ps zmm9,zmm8,zmm7
#    22b  vfmadd231ps zmm22,zmm9,zmm7
#    231  vaddps zmm7,zmm22,zmm25
#    237  vpslld zmm8,zmm6,17h
#    23e  vmulps zmm6,zmm7,zmm8
#    244  vmovups [r8+rax],zmm6
#    24b  lea rsi,[rsi+1]
#    24f  cmp rsi,rdx
#    252  jl 0E0h
#    258  vzeroupper
#    25b  lea rsp,[rbp]
#    25f  pop rbp
#    260  ret
