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
#     2c  vmovups zmm30,[rip+48Ah]
#     36  vmovups zmm0,[rip+500h]
#     40  vmovups zmm1,[rip+576h]
#     4a  vmovups zmm24,[rip+36Ch]
#     54  vmovups zmm27,[rip+3A2h]
#     5e  vmovups zmm2,[rip+658h]
#     68  vmovups zmm13,[rip+28Eh]
#     72  vmovups zmm15,[rip+584h]
#     7c  vmovups zmm17,[rip+3BAh]
#     86  vmovups zmm19,[rip+3F0h]
#     90  vmovups zmm21,[rip+466h]
#     9a  vmovups zmm23,[rip+4DCh]
#     a4  vmovups zmm25,[rip+592h]
#     ae  vmovups zmm28,[rip+288h]
#     b8  vmovups zmm29,[rip+2BEh]
#     c2  vmovups zmm31,[rip+5B4h]
#     cc  vmovups zmm3,[rip+62Ah]
#     d6  vmovups zmm4,[rip+660h]
#     e0  mov rax,rsi
#     e3  shl rax,6
#     e7  vmovups zmm22,[rdi+rax]
#     ee  vmovaps zmm5,zmm22
#     f4  vfmadd213ps zmm5,zmm14,zmm13
#     fa  vsubps zmm6,zmm5,zmm13
#    100  vandps zmm7,zmm6,zmm28
#    106  vcmpge_oqps k1,zmm7,zmm29
#    10d  kmovw ecx,k1
#    111  test rcx,rcx
#    114  je 1E9h
#    11a  vmaxps zmm5,zmm24,zmm22
#    120  vminps zmm6,zmm27,zmm5
#    126  vmovaps zmm5,zmm6
#    12c  vfmadd213ps zmm5,zmm14,zmm13
#    132  vsubps zmm7,zmm5,zmm13
#    138  vfmadd231ps zmm6,zmm7,zmm17
#    13e  vfmadd231ps zmm6,zmm7,zmm19
#    144  vmulps zmm8,zmm6,zmm6
#    14a  vmovaps zmm10,zmm6
#    150  vfmadd213ps zmm10,zmm30,zmm21
#    156  vmovaps zmm9,zmm6
#    15c  vfmadd213ps zmm9,zmm0,zmm23
#    162  vfmadd231ps zmm9,zmm10,zmm8
#    168  vmovaps zmm11,zmm6
#    16e  vfmadd213ps zmm11,zmm1,zmm15
#    174  vfmadd231ps zmm11,zmm9,zmm8
#    17a  vfmadd231ps zmm6,zmm11,zmm8
#    180  vaddps zmm16,zmm6,zmm25
#    186  vcmplt_oqps k1,zmm7,zmm31
#    18d  vaddps zmm20,zmm16,zmm16
#    193  vblendmps zmm26{k1},zmm2,zmm3
#    199  vpaddd zmm26,zmm5,zmm26
#    19f  vpslld zmm5,zmm26,17h
#    1a6  vmulps zmm5,zmm20,zmm5
#    1ac  vaddps zmm6,zmm5,zmm15
#    1b2  vcvttps2dq zmm7,zmm6
#    1b8  vcmpge_oqps k2,zmm6,zmm4
#    1bf  vpmovm2d zmm8,k2
#    1c5  vxorps zmm7,zmm7,zmm8
#    1cb  vcmpunordps k2,zmm6,zmm6
#    1d2  vpmovm2d zmm6,k2
#    1d8  vandnps zmm6,zmm6,zmm7
#    1de  vblendmps zmm5{k1},zmm5,zmm6
#    1e4  jmp 244h
#    1e9  vfmadd231ps zmm22,zmm6,zmm17
#    1ef  vfmadd231ps zmm22,zmm6,zmm19
#    1f5  vmulps zmm6,zmm22,zmm22
#    1fb  vmovaps zmm8,zmm22
#    201  vfmadd213ps zmm8,zmm30,zmm21
#    207  vmovaps zmm7,zmm22
#    20d  vfmadd213ps zmm7,zmm0,zmm23
#    213  vfmadd231ps zmm7,zmm8,zmm6
#    219  vmovaps zmm8,zmm22
#    21f  vfmadd213ps zmm8,zmm1,zmm15
#    225  vfmadd231ps zmm8,zmm7,zmm6
#    22b  vfmadd231ps zmm22,zmm8,zmm6
#    231  vaddps zmm6,zmm22,zmm25
#    237  vpslld zmm7,zmm5,17h
#    23e  vmulps zmm5,zmm6,zmm7
#    244  vmovups [r8+rax],zmm5
#    24b  lea rsi,[rsi+1]
#    24f  cmp rsi,rdx
#    252  jl 0E0h
#    258  vzeroupper
#    25b  lea rsp,[rbp]
#    25f  pop rbp
#    260  ret
