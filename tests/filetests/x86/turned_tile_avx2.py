# test: asm
# target: avx2
# run: default rules
# A transpose: rows of the operand are read whole, and turned by shuffles that the columns share.

@T.prim_func
def transpose(X: T.Buffer((32, 48), "float32"), Y: T.Buffer((48, 32), "float32")):
    for i, j in T.grid(48, 32):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = X[vj, vi]
# expect-listing:
# ; transpose: Y
# ; by avx2
#      0  push rbp
#      1  mov rbp,rsp
#      4  push rbx
#      5  push r12
#      7  push r13
#      9  sub rsp,0
#     10  and rsp,0FFFFFFFFFFFFFFC0h
#     14  mov r8,[rdi]
#     17  mov rdi,[r8]
#     1a  mov r8,[r8+8]
#     1e  cmp rsi,rdx
#     21  jge 1A3h
#     27  xor eax,eax
#     29  imul rcx,rsi,60h
#     30  lea rcx,[rdi+rcx]
#     34  imul r9,rsi,0C00h
#     3b  lea r9,[r8+r9]
#     3f  mov r10,rax
#     42  imul r11,r10,600h
#     49  lea r11,[rcx+r11]
#     4d  mov rbx,r10
#     50  shl rbx,5
#     54  lea rbx,[r9+rbx]
#     58  mov r12,rax
#     5b  mov r13,r12
#     5e  shl r13,5
#     62  vmovups ymm1,[r11+r13]
#     68  vmovups ymm5,[r11+r13+0C0h]
#     72  vmovups ymm4,[r11+r13+180h]
#     7c  vmovups ymm8,[r11+r13+240h]
#     86  vmovups ymm3,[r11+r13+300h]
#     90  vmovups ymm7,[r11+r13+3C0h]
#     9a  vmovups ymm6,[r11+r13+480h]
#     a4  vmovups ymm10,[r11+r13+540h]
#     ae  vunpcklps ymm9,ymm1,ymm5
#     b2  vunpcklps ymm11,ymm4,ymm8
#     b7  vunpcklpd ymm0,ymm9,ymm11
#     bc  vunpcklps ymm12,ymm3,ymm7
#     c0  vunpcklps ymm13,ymm6,ymm10
#     c5  vunpcklpd ymm2,ymm12,ymm13
#     ca  vperm2f128 ymm14,ymm0,ymm2,20h
#     d0  mov r13,r12
#     d3  shl r13,0Ah
#     d7  vmovups [rbx+r13],ymm14
#     dd  vunpckhpd ymm9,ymm9,ymm11
#     e2  vunpckhpd ymm11,ymm12,ymm13
#     e7  vperm2f128 ymm13,ymm9,ymm11,20h
#     ed  vmovups [rbx+r13+80h],ymm13
#     f7  vunpckhps ymm5,ymm1,ymm5
#     fb  vunpckhps ymm4,ymm4,ymm8
#    100  vunpcklpd ymm1,ymm5,ymm4
#    104  vunpckhps ymm7,ymm3,ymm7
#    108  vunpckhps ymm6,ymm6,ymm10
#    10d  vunpcklpd ymm3,ymm7,ymm6
#    111  vperm2f128 ymm8,ymm1,ymm3,20h
#    117  vmovups [rbx+r13+100h],ymm8
#    121  vunpckhpd ymm4,ymm5,ymm4
#    125  vunpckhpd ymm5,ymm7,ymm6
#    129  vperm2f128 ymm6,ymm4,ymm5,20h
#    12f  vmovups [rbx+r13+180h],ymm6
#    139  vperm2f128 ymm0,ymm0,ymm2,31h
#    13f  vmovups [rbx+r13+200h],ymm0
#    149  vperm2f128 ymm0,ymm9,ymm11,31h
#    14f  vmovups [rbx+r13+280h],ymm0
#    159  vperm2f128 ymm0,ymm1,ymm3,31h
#    15f  vmovups [rbx+r13+300h],ymm0
#    169  vperm2f128 ymm0,ymm4,ymm5,31h
#    16f  vmovups [rbx+r13+380h],ymm0
#    179  lea r12,[r12+1]
#    17e  cmp r12,3
#    182  jl 5Bh
#    188  lea r10,[r10+1]
#    18c  cmp r10,4
#    190  jl 42h
#    196  lea rsi,[rsi+1]
#    19a  cmp rsi,rdx
#    19d  jl 29h
#    1a3  vzeroupper
#    1a6  lea rsp,[rbp-18h]
#    1aa  pop r13
#    1ac  pop r12
#    1ae  pop rbx
#    1af  pop rbp
#    1b0  ret
