# test: asm
# target: avx2
# Two tiles read a panel one after the other: both fetch the lines of the panel behind it.

@T.prim_func
def product(A: T.Buffer((4, 512), "float32"), B: T.Buffer((64, 512, 16), "float32"), C: T.Buffer((64, 4, 16), "float32")):
    for p in T.parallel(64):
        for t in range(2):
            for u in T.unroll(2):
                for v in T.vectorized(16):
                    with T.block("init"):
                        vp = T.axis.spatial(64, p)
                        vi = T.axis.spatial(4, t * 2 + u)
                        vv = T.axis.spatial(16, v)
                        C[vp, vi, vv] = T.float32(0)
        for t, k in T.grid(2, 512):
            for u in T.unroll(2):
                for v in T.vectorized(16):
                    with T.block("update"):
                        vp = T.axis.spatial(64, p)
                        vi = T.axis.spatial(4, t * 2 + u)
                        vv = T.axis.spatial(16, v)
                        vk = T.axis.reduce(512, k)
                        C[vp, vi, vv] = C[vp, vi, vv] + A[vi, vk] * B[vp, vk, vv]
# expect-listing:
# ; product: init, update
# ; by avx2
#      0  push rbp
#      1  mov rbp,rsp
#      4  push rbx
#      5  push r12
#      7  push r13
#      9  push r14
#      b  sub rsp,0
#     12  and rsp,0FFFFFFFFFFFFFFC0h
#     16  mov r9,[rdi]
#     19  mov rdi,[r9]
#     1c  mov r8,[r9+8]
#     20  mov r10,[r9+10h]
#     24  cmp rsi,rdx
#     27  jge 13Eh
#     2d  xor eax,eax
#     2f  mov rcx,rsi
#     32  shl rcx,8
#     36  lea rcx,[r10+rcx]
#     3a  vmovups ymm0,[rip+13Eh]
#     42  mov r9,rax
#     45  mov r11,r9
#     48  shl r11,7
#     4c  vmovups [rcx+r11],ymm0
#     52  vmovups [rcx+r11+20h],ymm0
#     59  vmovups [rcx+r11+40h],ymm0
#     60  vmovups [rcx+r11+60h],ymm0
#     67  lea r9,[r9+1]
#     6b  cmp r9,2
#     6f  jl 45h
#     75  mov rcx,rsi
#     78  shl rcx,8
#     7c  lea rcx,[r10+rcx]
#     80  mov r9,rsi
#     83  shl r9,0Fh
#     87  lea r9,[r8+r9]
#     8b  mov r11,rax
#     8e  mov rbx,r11
#     91  shl rbx,7
#     95  vmovups ymm1,[rcx+rbx]
#     9a  vmovups ymm3,[rcx+rbx+20h]
#     a0  vmovups ymm6,[rcx+rbx+40h]
#     a6  vmovups ymm8,[rcx+rbx+60h]
#     ac  mov r12,r11
#     af  shl r12,0Ch
#     b3  lea r12,[rdi+r12]
#     b7  mov r13,rax
#     ba  vbroadcastss ymm4,[r12+r13*4]
#     c0  mov r14,r13
#     c3  shl r14,6
#     c7  vmovups ymm9,[r9+r14]
#     cd  vmovups ymm11,[r9+r14+20h]
#     d4  prefetcht1 [r9+r14+8000h]
#     dd  vfmadd231ps ymm1,ymm4,ymm9
#     e2  vfmadd231ps ymm3,ymm4,ymm11
#     e7  vbroadcastss ymm0,[r12+r13*4+800h]
#     f1  vfmadd231ps ymm6,ymm0,ymm9
#     f6  vfmadd231ps ymm8,ymm0,ymm11
#     fb  lea r13,[r13+1]
#     ff  cmp r13,200h
#    106  jl 0BAh
#    10c  vmovups [rcx+rbx],ymm1
#    111  vmovups [rcx+rbx+20h],ymm3
#    117  vmovups [rcx+rbx+40h],ymm6
#    11d  vmovups [rcx+rbx+60h],ymm8
#    123  lea r11,[r11+1]
#    127  cmp r11,2
#    12b  jl 8Eh
#    131  lea rsi,[rsi+1]
#    135  cmp rsi,rdx
#    138  jl 2Fh
#    13e  vzeroupper
#    141  lea rsp,[rbp-20h]
#    145  pop r14
#    147  pop r13
#    149  pop r12
#    14b  pop rbx
#    14c  pop rbp
#    14d  ret
