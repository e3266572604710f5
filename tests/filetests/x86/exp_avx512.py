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
#     1c  jge 212h
#     22  vmovups zmm14,[rip+214h]
#     2c  vmovups zmm17,[rip+24Ah]
#     36  vmovups zmm20,[rip+280h]
#     40  vmovups zmm27,[rip+376h]
#     4a  vmovups zmm30,[rip+3ECh]
#     54  vmovups zmm0,[rip+462h]
#     5e  vmovups zmm1,[rip+598h]
#     68  vmovups zmm7,[rip+28Eh]
#     72  vmovups zmm9,[rip+484h]
#     7c  vmovups zmm11,[rip+2BAh]
#     86  vmovups zmm13,[rip+2F0h]
#     90  vmovups zmm15,[rip+366h]
#     9a  vmovups zmm18,[rip+3DCh]
#     a4  vmovups zmm19,[rip+492h]
#     ae  vmovups zmm21,[rip+4C8h]
#     b8  vmovups zmm23,[rip+4FEh]
#     c2  mov rax,rsi
#     c5  shl rax,6
#     c9  vmovups zmm31,[rdi+rax]
#     d0  vminps zmm2,zmm14,zmm31
#     d6  vmaxps zmm3,zmm17,zmm2
#     dc  vmovaps zmm4,zmm3
#     e2  vfmadd213ps zmm4,zmm20,zmm7
#     e8  vsubps zmm2,zmm4,zmm7
#     ee  vfmadd231ps zmm3,zmm2,zmm11
#     f4  vfmadd231ps zmm3,zmm2,zmm13
#     fa  vmulps zmm5,zmm3,zmm3
#    100  vmovaps zmm8,zmm3
#    106  vfmadd213ps zmm8,zmm27,zmm15
#    10c  vmovaps zmm6,zmm3
#    112  vfmadd213ps zmm6,zmm30,zmm18
#    118  vfmadd231ps zmm6,zmm8,zmm5
#    11e  vmovaps zmm8,zmm3
#    124  vfmadd213ps zmm8,zmm0,zmm9
#    12a  vfmadd231ps zmm8,zmm6,zmm5
#    130  vfmadd231ps zmm3,zmm8,zmm5
#    136  vaddps zmm3,zmm3,zmm19
#    13c  vcmplt_oqps k4,zmm4,zmm21
#    143  kmovw r9d,k4
#    147  test r9,r9
#    14a  je 179h
#    150  vaddps zmm10,zmm2,zmm23
#    156  vblendmps zmm12{k4},zmm2,zmm10
#    15c  vscalefps zmm16,zmm3,zmm12
#    162  vaddps zmm22,zmm16,zmm9
#    168  vcvttps2dq zmm22,zmm22
#    16e  vblendmps zmm22{k4},zmm16,zmm22
#    174  jmp 17Fh
#    179  vscalefps zmm22,zmm3,zmm2
#    17f  vmovups zmm26,[rdi+rax]
#    186  vmaxps zmm29,zmm1,zmm26
#    18c  vminps zmm2,zmm14,zmm29
#    192  vmovaps zmm3,zmm2
#    198  vfmadd213ps zmm3,zmm20,zmm7
#    19e  vsubps zmm3,zmm3,zmm7
#    1a4  vfmadd231ps zmm2,zmm3,zmm11
#    1aa  vfmadd231ps zmm2,zmm3,zmm13
#    1b0  vmulps zmm4,zmm2,zmm2
#    1b6  vmovaps zmm6,zmm2
#    1bc  vfmadd213ps zmm6,zmm27,zmm15
#    1c2  vmovaps zmm5,zmm2
#    1c8  vfmadd213ps zmm5,zmm30,zmm18
#    1ce  vfmadd231ps zmm5,zmm6,zmm4
#    1d4  vmovaps zmm6,zmm2
#    1da  vfmadd213ps zmm6,zmm0,zmm9
#    1e0  vfmadd231ps zmm6,zmm5,zmm4
#    1e6  vfmadd231ps zmm2,zmm6,zmm4
#    1ec  vaddps zmm2,zmm2,zmm19
#    1f2  vscalefps zmm2,zmm2,zmm3
#    1f8  vaddps zmm2,zmm22,zmm2
#    1fe  vmovups [r8+rax],zmm2
#    205  lea rsi,[rsi+1]
#    209  cmp rsi,rdx
#    20c  jl 0C2h
#    212  vzeroupper
#    215  lea rsp,[rbp]
#    219  pop rbp
#    21a  ret
