# test: asm
# target: avx2
# Sums of two loops, one after the other in a third: each holds its own eight, so elements that two panels share are loaded once.

@T.prim_func
def products(a: T.handle, B: T.Buffer((32, 2, 8), "float32"), c: T.handle):
    n = T.int64()
    A = T.match_buffer(a, (n, 2, 4, 32))
    C = T.match_buffer(c, (n, 2, 4, 2, 8))
    for i in range(n):
        for t in T.unroll(2):
            S = T.decl_buffer((4, 2, 8), "float32", scope="local")
            for u, p in T.grid(4, 2):
                for v in T.vectorized(8):
                    with T.block("init"):
                        vu, vp, vv = T.axis.remap("SSS", [u, p, v])
                        S[vu, vp, vv] = T.float32(0)
            for k in range(32):
                for u in T.unroll(4):
                    for p in T.unroll(2):
                        for v in T.vectorized(8):
                            with T.block("update"):
                                vi, vt, vu, vp, vv, vk = T.axis.remap("SSSSSR", [i, t, u, p, v, k])
                                S[vu, vp, vv] = S[vu, vp, vv] + A[vi, vt, vu, vk] * B[vk, vp, vv]
            for u, p in T.grid(4, 2):
                for v in T.vectorized(8):
                    with T.block("write"):
                        vi, vt, vu, vp, vv = T.axis.remap("SSSSS", [i, t, u, p, v])
                        C[vi, vt, vu, vp, vv] = S[vu, vp, vv]
# expect-listing:
# ; products: init, update, write
# ; by avx2
#      0  push rbp
#      1  mov rbp,rsp
#      4  push rbx
#      5  push r12
#      7  push r13
#      9  sub rsp,100h
#     10  and rsp,0FFFFFFFFFFFFFFC0h
#     14  vpxor xmm0,xmm0,xmm0
#     18  mov r11d,100h
#     1e  vmovups [rsp+r11-20h],ymm0
#     25  sub r11,20h
#     2c  jne 1Eh
#     32  mov rsi,[rdi+10h]
#     36  mov rsi,[rsi]
#     39  mov r8,[rdi]
#     3c  mov r10,[r8]
#     3f  mov rax,[r8+8]
#     43  mov rcx,[r8+10h]
#     47  xor edx,edx
#     49  cmp rdx,rsi
#     4c  jge 370h
#     52  mov rdi,rdx
#     55  mov r8,rdx
#     58  mov r9,r8
#     5b  shl r9,6
#     5f  lea r9,[rsp+r9]
#     63  vmovups ymm0,[rip+315h]
#     6b  mov r11,rdx
#     6e  mov rbx,r11
#     71  shl rbx,5
#     75  vmovups [r9+rbx],ymm0
#     7b  lea r11,[r11+1]
#     7f  cmp r11,2
#     83  jl 6Eh
#     89  lea r8,[r8+1]
#     8d  cmp r8,4
#     91  jl 58h
#     97  vmovups ymm3,[rsp]
#     9c  vmovups ymm6,[rsp+20h]
#     a2  vmovups ymm9,[rsp+40h]
#     a8  vmovups ymm11,[rsp+60h]
#     ae  vmovups ymm14,[rsp+80h]
#     b7  vmovups ymm2,[rsp+0A0h]
#     c0  vmovups ymm1,[rsp+0C0h]
#     c9  vmovups ymm0,[rsp+0E0h]
#     d2  mov r8,rdi
#     d5  shl r8,0Ah
#     d9  lea r9,[r10+r8]
#     dd  mov r8,rdx
#     e0  vbroadcastss ymm12,[r9+r8*4]
#     e6  mov r11,r8
#     e9  shl r11,6
#     ed  vmovups ymm4,[rax+r11]
#     f3  vfmadd231ps ymm3,ymm12,ymm4
#     f8  vmovups ymm5,[rax+r11+20h]
#     ff  vfmadd231ps ymm6,ymm12,ymm5
#    104  vbroadcastss ymm7,[r9+r8*4+80h]
#    10e  vfmadd231ps ymm9,ymm7,ymm4
#    113  vfmadd231ps ymm11,ymm7,ymm5
#    118  vbroadcastss ymm7,[r9+r8*4+100h]
#    122  vfmadd231ps ymm14,ymm7,ymm4
#    127  vfmadd231ps ymm2,ymm7,ymm5
#    12c  vbroadcastss ymm7,[r9+r8*4+180h]
#    136  vfmadd231ps ymm1,ymm7,ymm4
#    13b  vfmadd231ps ymm0,ymm7,ymm5
#    140  lea r8,[r8+1]
#    144  cmp r8,20h
#    148  jl 0E0h
#    14e  vmovups [rsp],ymm3
#    153  vmovups [rsp+20h],ymm6
#    159  vmovups [rsp+40h],ymm9
#    15f  vmovups [rsp+60h],ymm11
#    165  vmovups [rsp+80h],ymm14
#    16e  vmovups [rsp+0A0h],ymm2
#    177  vmovups [rsp+0C0h],ymm1
#    180  vmovups [rsp+0E0h],ymm0
#    189  mov r8,rdi
#    18c  shl r8,9
#    190  lea r8,[rcx+r8]
#    194  mov r9,rdx
#    197  mov rbx,r9
#    19a  shl rbx,6
#    19e  lea r11,[rsp+rbx]
#    1a2  lea r12,[r8+rbx]
#    1a6  mov rbx,rdx
#    1a9  mov r13,rbx
#    1ac  shl r13,5
#    1b0  vmovups ymm6,[r11+r13]
#    1b6  vmovups [r12+r13],ymm6
#    1bc  lea rbx,[rbx+1]
#    1c0  cmp rbx,2
#    1c4  jl 1A9h
#    1ca  lea r9,[r9+1]
#    1ce  cmp r9,4
#    1d2  jl 197h
#    1d8  mov r8,rdx
#    1db  mov r9,r8
#    1de  shl r9,6
#    1e2  lea r9,[rsp+r9]
#    1e6  vmovups ymm0,[rip+192h]
#    1ee  mov r11,rdx
#    1f1  mov rbx,r11
#    1f4  shl rbx,5
#    1f8  vmovups [r9+rbx],ymm0
#    1fe  lea r11,[r11+1]
#    202  cmp r11,2
#    206  jl 1F1h
#    20c  lea r8,[r8+1]
#    210  cmp r8,4
#    214  jl 1DBh
#    21a  vmovups ymm2,[rsp]
#    21f  vmovups ymm5,[rsp+20h]
#    225  vmovups ymm8,[rsp+40h]
#    22b  vmovups ymm10,[rsp+60h]
#    231  vmovups ymm13,[rsp+80h]
#    23a  vmovups ymm15,[rsp+0A0h]
#    243  vmovups ymm1,[rsp+0C0h]
#    24c  vmovups ymm0,[rsp+0E0h]
#    255  mov r8,rdi
#    258  shl r8,0Ah
#    25c  lea r8,[r10+r8]
#    260  mov r9,rdx
#    263  vbroadcastss ymm11,[r8+r9*4+200h]
#    26d  mov r11,r9
#    270  shl r11,6
#    274  vmovups ymm3,[rax+r11]
#    27a  vfmadd231ps ymm2,ymm11,ymm3
#    27f  vmovups ymm4,[rax+r11+20h]
#    286  vfmadd231ps ymm5,ymm11,ymm4
#    28b  vbroadcastss ymm6,[r8+r9*4+280h]
#    295  vfmadd231ps ymm8,ymm6,ymm3
#    29a  vfmadd231ps ymm10,ymm6,ymm4
#    29f  vbroadcastss ymm6,[r8+r9*4+300h]
#    2a9  vfmadd231ps ymm13,ymm6,ymm3
#    2ae  vfmadd231ps ymm15,ymm6,ymm4
#    2b3  vbroadcastss ymm6,[r8+r9*4+380h]
#    2bd  vfmadd231ps ymm1,ymm6,ymm3
#    2c2  vfmadd231ps ymm0,ymm6,ymm4
#    2c7  lea r9,[r9+1]
#    2cb  cmp r9,20h
#    2cf  jl 263h
#    2d5  vmovups [rsp],ymm2
#    2da  vmovups [rsp+20h],ymm5
#    2e0  vmovups [rsp+40h],ymm8
#    2e6  vmovups [rsp+60h],ymm10
#    2ec  vmovups [rsp+80h],ymm13
#    2f5  vmovups [rsp+0A0h],ymm15
#    2fe  vmovups [rsp+0C0h],ymm1
#    307  vmovups [rsp+0E0h],ymm0
#    310  mov r8,rdi
#    313  shl r8,9
#    317  lea r8,[rcx+r8]
#    31b  mov r9,rdx
#    31e  mov rbx,r9
#    321  shl rbx,6
#    325  lea r11,[rsp+rbx]
#    329  lea r12,[r8+rbx]
#    32d  mov rbx,rdx
#    330  mov r13,rbx
#    333  shl r13,5
#    337  vmovups ymm5,[r11+r13]
#    33d  vmovups [r12+r13+100h],ymm5
#    347  lea rbx,[rbx+1]
#    34b  cmp rbx,2
#    34f  jl 330h
#    355  lea r9,[r9+1]
#    359  cmp r9,4
#    35d  jl 31Eh
#    363  lea rdi,[rdi+1]
#    367  cmp rdi,rsi
#    36a  jl 55h
#    370  vzeroupper
#    373  lea rsp,[rbp-18h]
#    377  pop r13
#    379  pop r12
#    37b  pop rbx
#    37c  pop rbp
#    37d  ret
