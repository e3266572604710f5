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
#     22  vmovups zmm14,[rip+1D4h]
#     2c  vmovups zmm17,[rip+20Ah]
#     36  vmovups zmm20,[rip+240h]
#     40  vmovups zmm27,[rip+336h]
#     4a  vmovups zmm30,[rip+3ACh]
#     54  vmovups zmm0,[rip+422h]
#     5e  vmovups zmm1,[rip+558h]
#     68  vmovups zmm3,[rip+24Eh]
#     72  vmovups zmm5,[rip+444h]
#     7c  vmovups zmm7,[rip+27Ah]
#     86  vmovups zmm9,[rip+2B0h]
#     90  vmovups zmm11,[rip+326h]
#     9a  vmovups zmm13,[rip+39Ch]
#     a4  vmovups zmm15,[rip+452h]
#     ae  vmovups zmm18,[rip+488h]
#     b8  vmovups zmm19,[rip+4BEh]
#     c2  mov rax,rsi
#     c5  shl rax,6
#     c9  vmovups zmm31,[rdi+rax]
#     d0  vminps zmm2,zmm14,zmm31
#     d6  vmaxps zmm4,zmm17,zmm2
#     dc  vmovaps zmm6,zmm4
#     e2  vfmadd213ps zmm6,zmm20,zmm3
#     e8  vsubps zmm2,zmm6,zmm3
#     ee  vfmadd231ps zmm4,zmm2,zmm7
#     f4  vfmadd231ps zmm4,zmm2,zmm9
#     fa  vmulps zmm8,zmm4,zmm4
#    100  vmovaps zmm12,zmm4
#    106  vfmadd213ps zmm12,zmm27,zmm11
#    10c  vmovaps zmm10,zmm4
#    112  vfmadd213ps zmm10,zmm30,zmm13
#    118  vfmadd231ps zmm10,zmm12,zmm8
#    11e  vmovaps zmm12,zmm4
#    124  vfmadd213ps zmm12,zmm0,zmm5
#    12a  vfmadd231ps zmm12,zmm10,zmm8
#    130  vfmadd231ps zmm4,zmm12,zmm8
#    136  vaddps zmm4,zmm4,zmm15
#    13c  vcmplt_oqps k4,zmm6,zmm18
#    143  vaddps zmm6,zmm2,zmm19
#    149  vblendmps zmm8{k4},zmm2,zmm6
#    14f  vscalefps zmm10,zmm4,zmm8
#    155  vaddps zmm12,zmm10,zmm5
#    15b  vcvttps2dq zmm16,zmm12
#    161  vblendmps zmm16{k4},zmm10,zmm16
#    167  vmaxps zmm21,zmm1,zmm31
#    16d  vminps zmm2,zmm14,zmm21
#    173  vmovaps zmm23,zmm2
#    179  vfmadd213ps zmm23,zmm20,zmm3
#    17f  vsubps zmm25,zmm23,zmm3
#    185  vfmadd231ps zmm2,zmm25,zmm7
#    18b  vfmadd231ps zmm2,zmm25,zmm9
#    191  vmulps zmm31,zmm2,zmm2
#    197  vmovaps zmm6,zmm2
#    19d  vfmadd213ps zmm6,zmm27,zmm11
#    1a3  vmovaps zmm4,zmm2
#    1a9  vfmadd213ps zmm4,zmm30,zmm13
#    1af  vfmadd231ps zmm4,zmm6,zmm31
#    1b5  vmovaps zmm6,zmm2
#    1bb  vfmadd213ps zmm6,zmm0,zmm5
#    1c1  vfmadd231ps zmm6,zmm4,zmm31
#    1c7  vfmadd231ps zmm2,zmm6,zmm31
#    1cd  vaddps zmm2,zmm2,zmm15
#    1d3  vscalefps zmm2,zmm2,zmm25
#    1d9  vaddps zmm2,zmm16,zmm2
#    1df  vmovups [r8+rax],zmm2
#    1e6  lea rsi,[rsi+1]
#    1ea  cmp rsi,rdx
#    1ed  jl 0C2h
#    1f3  vzeroupper
#    1f6  lea rsp,[rbp]
#    1fa  pop rbp
#    1fb  ret
