# test: asm
# target: avx2
# run: default rules

@T.prim_func
def matmul(A: T.Buffer((64, 64), "float32"), B: T.Buffer((64, 64), "float32"), C: T.Buffer((64, 64), "float32")):
    for i, j, k in T.grid(64, 64, 64):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
# expect-listing:
# ; matmul: C_init, B_local, C_update
# ; by avx2
#      0  push rbp
#      1  mov rbp,rsp
#      4  push rbx
#      5  push r12
#      7  push r13
#      9  mov r11d,4
#      f  sub rsp,1000h
#     16  or qword ptr [rsp],0
#     1b  dec r11d
#     1e  jne 0Fh
#     24  sub rsp,0
#     2b  and rsp,0FFFFFFFFFFFFFFC0h
#     2f  mov r9,[rdi]
#     32  mov rdi,[r9]
#     35  mov r8,[r9+8]
#     39  mov r10,[r9+10h]
#     3d  cmp rsi,rdx
#     40  jge 238h
#     46  xor eax,eax
#     48  mov rcx,rsi
#     4b  shl rcx,6
#     4f  lea rcx,[r10+rcx]
#     53  mov r9,rax
#     56  mov r11,r9
#     59  shl r11,0Ah
#     5d  vmovups ymm0,[rip+21Bh]
#     65  vmovups [rcx+r11],ymm0
#     6b  vmovups [rcx+r11+20h],ymm0
#     72  vmovups [rcx+r11+100h],ymm0
#     7c  vmovups [rcx+r11+120h],ymm0
#     86  vmovups [rcx+r11+200h],ymm0
#     90  vmovups [rcx+r11+220h],ymm0
#     9a  vmovups [rcx+r11+300h],ymm0
#     a4  vmovups [rcx+r11+320h],ymm0
#     ae  lea r9,[r9+1]
#     b2  cmp r9,10h
#     b6  jl 56h
#     bc  mov rcx,rsi
#     bf  shl rcx,6
#     c3  lea rcx,[r8+rcx]
#     c7  mov r9,rax
#     ca  mov r11,r9
#     cd  shl r11,8
#     d1  vmovups ymm1,[rcx+r11]
#     d7  vmovups ymm0,[rcx+r11+20h]
#     de  mov r11,r9
#     e1  shl r11,6
#     e5  vmovups [rsp+r11],ymm1
#     eb  vmovups [rsp+r11+20h],ymm0
#     f2  lea r9,[r9+1]
#     f6  cmp r9,40h
#     fa  jl 0CAh
#    100  mov rcx,rsi
#    103  shl rcx,6
#    107  lea r9,[r10+rcx]
#    10b  mov r11,rax
#    10e  mov rcx,r11
#    111  shl rcx,0Ah
#    115  vmovups ymm7,[r9+rcx]
#    11b  vmovups ymm6,[r9+rcx+20h]
#    122  vmovups ymm5,[r9+rcx+100h]
#    12c  vmovups ymm4,[r9+rcx+120h]
#    136  vmovups ymm3,[r9+rcx+200h]
#    140  vmovups ymm2,[r9+rcx+220h]
#    14a  vmovups ymm1,[r9+rcx+300h]
#    154  vmovups ymm0,[r9+rcx+320h]
#    15e  lea rbx,[rdi+rcx]
#    162  mov r12,rax
#    165  vbroadcastss ymm10,[rbx+r12*4]
#    16b  mov r13,r12
#    16e  shl r13,6
#    172  vmovups ymm9,[rsp+r13]
#    178  vmovups ymm8,[rsp+r13+20h]
#    17f  vfmadd231ps ymm7,ymm10,ymm9
#    184  vfmadd231ps ymm6,ymm10,ymm8
#    189  vbroadcastss ymm10,[rbx+r12*4+100h]
#    193  vfmadd231ps ymm5,ymm10,ymm9
#    198  vfmadd231ps ymm4,ymm10,ymm8
#    19d  vbroadcastss ymm10,[rbx+r12*4+200h]
#    1a7  vfmadd231ps ymm3,ymm10,ymm9
#    1ac  vfmadd231ps ymm2,ymm10,ymm8
#    1b1  vbroadcastss ymm10,[rbx+r12*4+300h]
#    1bb  vfmadd231ps ymm1,ymm10,ymm9
#    1c0  vfmadd231ps ymm0,ymm10,ymm8
#    1c5  lea r12,[r12+1]
#    1ca  cmp r12,40h
#    1ce  jl 165h
#    1d4  vmovups [r9+rcx],ymm7
#    1da  vmovups [r9+rcx+20h],ymm6
#    1e1  vmovups [r9+rcx+100h],ymm5
#    1eb  vmovups [r9+rcx+120h],ymm4
#    1f5  vmovups [r9+rcx+200h],ymm3
#    1ff  vmovups [r9+rcx+220h],ymm2
#    209  vmovups [r9+rcx+300h],ymm1
#    213  vmovups [r9+rcx+320h],ymm0
#    21d  lea r11,[r11+1]
#    221  cmp r11,10h
#    225  jl 10Eh
#    22b  lea rsi,[rsi+1]
#    22f  cmp rsi,rdx
#    232  jl 48h
#    238  vzeroupper
#    23b  lea rsp,[rbp-18h]
#    23f  pop r13
#    241  pop r12
#    243  pop rbx
#    244  pop rbp
#    245  ret
