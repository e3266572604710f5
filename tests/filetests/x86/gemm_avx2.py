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
#      9  mov r11d,1
#      f  sub rsp,1000h
#     16  or qword ptr [rsp],0
#     1b  dec r11d
#     1e  jne 0Fh
#     24  sub rsp,0
#     2b  and rsp,0FFFFFFFFFFFFFFC0h
#     2f  vpxor xmm0,xmm0,xmm0
#     33  mov r11d,1000h
#     39  vmovups [rsp+r11-20h],ymm0
#     40  sub r11,20h
#     47  jne 39h
#     4d  mov r9,[rdi]
#     50  mov rdi,[r9]
#     53  mov r8,[r9+8]
#     57  mov r10,[r9+10h]
#     5b  cmp rsi,rdx
#     5e  jge 256h
#     64  xor eax,eax
#     66  mov rcx,rsi
#     69  shl rcx,6
#     6d  lea rcx,[r10+rcx]
#     71  vmovups ymm0,[rip+207h]
#     79  mov r9,rax
#     7c  mov r11,r9
#     7f  shl r11,0Ah
#     83  vmovups [rcx+r11],ymm0
#     89  vmovups [rcx+r11+20h],ymm0
#     90  vmovups [rcx+r11+100h],ymm0
#     9a  vmovups [rcx+r11+120h],ymm0
#     a4  vmovups [rcx+r11+200h],ymm0
#     ae  vmovups [rcx+r11+220h],ymm0
#     b8  vmovups [rcx+r11+300h],ymm0
#     c2  vmovups [rcx+r11+320h],ymm0
#     cc  lea r9,[r9+1]
#     d0  cmp r9,10h
#     d4  jl 7Ch
#     da  mov rcx,rsi
#     dd  shl rcx,6
#     e1  lea rcx,[r8+rcx]
#     e5  mov r9,rax
#     e8  mov r11,r9
#     eb  shl r11,8
#     ef  vmovups ymm1,[rcx+r11]
#     f5  vmovups ymm0,[rcx+r11+20h]
#     fc  mov r11,r9
#     ff  shl r11,6
#    103  vmovups [rsp+r11],ymm1
#    109  vmovups [rsp+r11+20h],ymm0
#    110  lea r9,[r9+1]
#    114  cmp r9,40h
#    118  jl 0E8h
#    11e  mov rcx,rsi
#    121  shl rcx,6
#    125  lea r9,[r10+rcx]
#    129  mov r11,rax
#    12c  mov rcx,r11
#    12f  shl rcx,0Ah
#    133  vmovups ymm7,[r9+rcx]
#    139  vmovups ymm6,[r9+rcx+20h]
#    140  vmovups ymm5,[r9+rcx+100h]
#    14a  vmovups ymm4,[r9+rcx+120h]
#    154  vmovups ymm3,[r9+rcx+200h]
#    15e  vmovups ymm2,[r9+rcx+220h]
#    168  vmovups ymm1,[r9+rcx+300h]
#    172  vmovups ymm0,[r9+rcx+320h]
#    17c  lea rbx,[rdi+rcx]
#    180  mov r12,rax
#    183  vbroadcastss ymm10,[rbx+r12*4]
#    189  mov r13,r12
#    18c  shl r13,6
#    190  vmovups ymm9,[rsp+r13]
#    196  vmovups ymm8,[rsp+r13+20h]
#    19d  vfmadd231ps ymm7,ymm10,ymm9
#    1a2  vfmadd231ps ymm6,ymm10,ymm8
#    1a7  vbroadcastss ymm10,[rbx+r12*4+100h]
#    1b1  vfmadd231ps ymm5,ymm10,ymm9
#    1b6  vfmadd231ps ymm4,ymm10,ymm8
#    1bb  vbroadcastss ymm10,[rbx+r12*4+200h]
#    1c5  vfmadd231ps ymm3,ymm10,ymm9
#    1ca  vfmadd231ps ymm2,ymm10,ymm8
#    1cf  vbroadcastss ymm10,[rbx+r12*4+300h]
#    1d9  vfmadd231ps ymm1,ymm10,ymm9
#    1de  vfmadd231ps ymm0,ymm10,ymm8
#    1e3  lea r12,[r12+1]
#    1e8  cmp r12,40h
#    1ec  jl 183h
#    1f2  vmovups [r9+rcx],ymm7
#    1f8  vmovups [r9+rcx+20h],ymm6
#    1ff  vmovups [r9+rcx+100h],ymm5
#    209  vmovups [r9+rcx+120h],ymm4
#    213  vmovups [r9+rcx+200h],ymm3
#    21d  vmovups [r9+rcx+220h],ymm2
#    227  vmovups [r9+rcx+300h],ymm1
#    231  vmovups [r9+rcx+320h],ymm0
#    23b  lea r11,[r11+1]
#    23f  cmp r11,10h
#    243  jl 12Ch
#    249  lea rsi,[rsi+1]
#    24d  cmp rsi,rdx
#    250  jl 66h
#    256  vzeroupper
#    259  lea rsp,[rbp-18h]
#    25d  pop r13
#    25f  pop r12
#    261  pop rbx
#    262  pop rbp
#    263  ret
