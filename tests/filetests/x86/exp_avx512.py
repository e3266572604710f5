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
#     1c  jge 270h
#     22  vmovups zmm14,[rip+294h]
#     2c  vmovups zmm31,[rip+48Ah]
#     36  vmovups zmm0,[rip+500h]
#     40  vmovups zmm1,[rip+576h]
#     4a  vmovups zmm24,[rip+36Ch]
#     54  vmovups zmm27,[rip+3A2h]
#     5e  vmovups zmm2,[rip+658h]
#     68  vmovups zmm17,[rip+28Eh]
#     72  vmovups zmm19,[rip+584h]
#     7c  vmovups zmm21,[rip+3BAh]
#     86  vmovups zmm23,[rip+3F0h]
#     90  vmovups zmm25,[rip+466h]
#     9a  vmovups zmm28,[rip+4DCh]
#     a4  vmovups zmm29,[rip+592h]
#     ae  vmovups zmm3,[rip+288h]
#     b8  vmovups zmm4,[rip+2BEh]
#     c2  vmovups zmm5,[rip+5B4h]
#     cc  vmovups zmm6,[rip+62Ah]
#     d6  vmovups zmm7,[rip+660h]
#     e0  mov rax,rsi
#     e3  shl rax,6
#     e7  vmovups zmm26,[rdi+rax]
#     ee  vmovaps zmm8,zmm26
#     f4  vfmadd213ps zmm8,zmm14,zmm17
#     fa  vsubps zmm9,zmm8,zmm17
#    100  vandps zmm10,zmm9,zmm3
#    106  vcmpge_oqps k1,zmm10,zmm4
#    10d  kmovw ecx,k1
#    111  test rcx,rcx
#    114  je 1EFh
#    11a  vmaxps zmm8,zmm24,zmm26
#    120  vminps zmm9,zmm27,zmm8
#    126  vmovups zmm10,zmm14
#    12c  vmovaps zmm8,zmm9
#    132  vfmadd213ps zmm8,zmm10,zmm17
#    138  vsubps zmm10,zmm8,zmm17
#    13e  vfmadd231ps zmm9,zmm10,zmm21
#    144  vfmadd231ps zmm9,zmm10,zmm23
#    14a  vmulps zmm11,zmm9,zmm9
#    150  vmovaps zmm13,zmm9
#    156  vfmadd213ps zmm13,zmm31,zmm25
#    15c  vmovaps zmm12,zmm9
#    162  vfmadd213ps zmm12,zmm0,zmm28
#    168  vfmadd231ps zmm12,zmm13,zmm11
#    16e  vmovaps zmm13,zmm9
#    174  vfmadd213ps zmm13,zmm1,zmm19
#    17a  vfmadd231ps zmm13,zmm12,zmm11
#    180  vfmadd231ps zmm9,zmm13,zmm11
#    186  vaddps zmm18,zmm9,zmm29
#    18c  vcmplt_oqps k1,zmm10,zmm5
#    193  vaddps zmm22,zmm18,zmm18
#    199  vblendmps zmm26{k1},zmm2,zmm6
#    19f  vpaddd zmm30,zmm8,zmm26
#    1a5  vpslld zmm30,zmm30,17h
#    1ac  vmulps zmm8,zmm22,zmm30
#    1b2  vaddps zmm9,zmm8,zmm19
#    1b8  vcvttps2dq zmm10,zmm9
#    1be  vcmpge_oqps k2,zmm9,zmm7
#    1c5  vpmovm2d zmm11,k2
#    1cb  vxorps zmm10,zmm10,zmm11
#    1d1  vcmpunordps k2,zmm9,zmm9
#    1d8  vpmovm2d zmm9,k2
#    1de  vandnps zmm9,zmm9,zmm10
#    1e4  vblendmps zmm8{k1},zmm8,zmm9
#    1ea  jmp 25Ch
#    1ef  vfmadd231ps zmm26,zmm9,zmm21
#    1f5  vfmadd231ps zmm26,zmm9,zmm23
#    1fb  vmulps zmm9,zmm26,zmm26
#    201  vmovups zmm10,zmm31
#    207  vmovaps zmm11,zmm26
#    20d  vfmadd213ps zmm11,zmm10,zmm25
#    213  vmovups zmm12,zmm0
#    219  vmovaps zmm10,zmm26
#    21f  vfmadd213ps zmm10,zmm12,zmm28
#    225  vfmadd231ps zmm10,zmm11,zmm9
#    22b  vmovups zmm12,zmm1
#    231  vmovaps zmm11,zmm26
#    237  vfmadd213ps zmm11,zmm12,zmm19
#    23d  vfmadd231ps zmm11,zmm10,zmm9
#    243  vfmadd231ps zmm26,zmm11,zmm9
#    249  vaddps zmm13,zmm26,zmm29
#    24f  vpslld zmm15,zmm8,17h
#    256  vmulps zmm8,zmm13,zmm15
#    25c  vmovups [r8+rax],zmm8
#    263  lea rsi,[rsi+1]
#    267  cmp rsi,rdx
#    26a  jl 0E0h
#    270  vzeroupper
#    273  lea rsp,[rbp]
#    277  pop rbp
#    278  ret
