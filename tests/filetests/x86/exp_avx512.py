# test: asm
# target: avx512
# run: default rules
# What the loop reads of constants stays in registers as far as there are any. Of the second, which is a normal number for sure, no bits of a subnormal
# one are counted.

@T.prim_func
def exp(X: T.Buffer((1024,), "float32"), Y: T.Buffer((1024,), "float32")):
    for i in range(1024):
        with T.block("Y"):
            vi = T.axis.spatial(1024, i)
            Y[vi] = T.exp(X[vi]) + T.exp(T.max(X[vi], T.float32(-80)))
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
#     1c  jge 1F3h
#     22  vmovups zmm0,[rip+294h]
#     2c  vmovups zmm1,[rip+48Ah]
#     36  vmovups zmm2,[rip+2C0h]
#     40  vmovups zmm3,[rip+2F6h]
#     4a  vmovups zmm4,[rip+36Ch]
#     54  vmovups zmm6,[rip+3E2h]
#     5e  vmovups zmm8,[rip+498h]
#     68  vmovups zmm21,[rip+18Eh]
#     72  vmovups zmm24,[rip+1C4h]
#     7c  vmovups zmm27,[rip+1FAh]
#     86  vmovups zmm5,[rip+2F0h]
#     90  vmovups zmm7,[rip+366h]
#     9a  vmovups zmm9,[rip+3DCh]
#     a4  vmovups zmm16,[rip+492h]
#     ae  vmovups zmm18,[rip+4C8h]
#     b8  vmovups zmm10,[rip+4FEh]
#     c2  mov rax,rsi
#     c5  shl rax,6
#     c9  vmovups zmm31,[rdi+rax]
#     d0  vminps zmm11,zmm21,zmm31
#     d6  vmaxps zmm12,zmm24,zmm11
#     dc  vmovaps zmm13,zmm12
#     e2  vfmadd213ps zmm13,zmm27,zmm0
#     e8  vsubps zmm11,zmm13,zmm0
#     ee  vfmadd231ps zmm12,zmm11,zmm2
#     f4  vfmadd231ps zmm12,zmm11,zmm3
#     fa  vmulps zmm14,zmm12,zmm12
#    100  vmovaps zmm17,zmm12
#    106  vfmadd213ps zmm17,zmm5,zmm4
#    10c  vmovaps zmm15,zmm12
#    112  vfmadd213ps zmm15,zmm7,zmm6
#    118  vfmadd231ps zmm15,zmm17,zmm14
#    11e  vmovaps zmm17,zmm12
#    124  vfmadd213ps zmm17,zmm9,zmm1
#    12a  vfmadd231ps zmm17,zmm15,zmm14
#    130  vfmadd231ps zmm12,zmm17,zmm14
#    136  vaddps zmm12,zmm12,zmm8
#    13c  vcmplt_oqps k4,zmm13,zmm16
#    143  vaddps zmm13,zmm11,zmm18
#    149  vblendmps zmm11{k4},zmm11,zmm13
#    14f  vscalefps zmm11,zmm12,zmm11
#    155  vaddps zmm12,zmm11,zmm1
#    15b  vcvttps2dq zmm14,zmm12
#    161  vblendmps zmm17{k4},zmm11,zmm14
#    167  vmaxps zmm19,zmm10,zmm31
#    16d  vminps zmm11,zmm21,zmm19
#    173  vmovaps zmm23,zmm11
#    179  vfmadd213ps zmm23,zmm27,zmm0
#    17f  vsubps zmm25,zmm23,zmm0
#    185  vfmadd231ps zmm11,zmm25,zmm2
#    18b  vfmadd231ps zmm11,zmm25,zmm3
#    191  vmulps zmm31,zmm11,zmm11
#    197  vmovaps zmm13,zmm11
#    19d  vfmadd213ps zmm13,zmm5,zmm4
#    1a3  vmovaps zmm12,zmm11
#    1a9  vfmadd213ps zmm12,zmm7,zmm6
#    1af  vfmadd231ps zmm12,zmm13,zmm31
#    1b5  vmovaps zmm13,zmm11
#    1bb  vfmadd213ps zmm13,zmm9,zmm1
#    1c1  vfmadd231ps zmm13,zmm12,zmm31
#    1c7  vfmadd231ps zmm11,zmm13,zmm31
#    1cd  vaddps zmm11,zmm11,zmm8
#    1d3  vscalefps zmm11,zmm11,zmm25
#    1d9  vaddps zmm11,zmm17,zmm11
#    1df  vmovups [r8+rax],zmm11
#    1e6  lea rsi,[rsi+1]
#    1ea  cmp rsi,rdx
#    1ed  jl 0C2h
#    1f3  vzeroupper
#    1f6  lea rsp,[rbp]
#    1fa  pop rbp
#    1fb  ret
