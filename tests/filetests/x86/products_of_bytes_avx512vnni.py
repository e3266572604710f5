# test: asm
# target: avx512vnni
# Four bytes a word, unsigned by signed: with VNNI in one instruction.

@T.prim_func
def products(A: T.Buffer((64,), "int32"), B: T.Buffer((64, 16), "int32"), C: T.Buffer((16,), "int32")):
    for i in T.vectorized(16):
        with T.block("init"):
            vi = T.axis.spatial(16, i)
            C[vi] = 0
    for k in range(64):
        for i in T.vectorized(16):
            with T.block("C"):
                vi, vk = T.axis.remap("SR", [i, k])
                C[vi] = C[vi] + T.dp4a_u8s8s32(A[vk], B[vk, vi], 0)
# expect-listing:
# ; products: init, C
# ; by avx512vnni
#      0  push rbp
#      1  mov rbp,rsp
#      4  sub rsp,0
#      b  and rsp,0FFFFFFFFFFFFFFC0h
#      f  mov rdi,[rdi]
#     12  mov rsi,[rdi]
#     15  mov r8,[rdi+8]
#     19  mov r10,[rdi+10h]
#     1d  vmovups zmm12,[rip+59h]
#     27  vmovups [r10],zmm12
#     2d  vmovups zmm22,[r10]
#     33  xor eax,eax
#     35  vpbroadcastd zmm23,[rsi+rax*4]
#     3c  mov rcx,rax
#     3f  shl rcx,6
#     43  vmovups zmm27,[r8+rcx]
#     4a  vpdpbusd zmm22,zmm23,zmm27
#     50  lea rax,[rax+1]
#     54  cmp rax,40h
#     58  jl 35h
#     5e  vmovups [r10],zmm22
#     64  vzeroupper
#     67  lea rsp,[rbp]
#     6b  pop rbp
#     6c  ret
