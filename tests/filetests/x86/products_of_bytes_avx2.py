# test: asm
# target: avx2
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
# ; by avx2
#      0  push rbp
#      1  mov rbp,rsp
#      4  sub rsp,0
#      b  and rsp,0FFFFFFFFFFFFFFC0h
#      f  mov rdi,[rdi]
#     12  mov rsi,[rdi]
#     15  mov r8,[rdi+8]
#     19  mov r10,[rdi+10h]
#     1d  vmovups ymm12,[rip+0DBh]
#     25  vmovups [r10],ymm12
#     2a  vmovups [r10+20h],ymm12
#     30  vmovups ymm1,[r10]
#     35  vmovups ymm0,[r10+20h]
#     3b  xor eax,eax
#     3d  vmovups ymm2,[rip+0DBh]
#     45  vpbroadcastd ymm3,[rsi+rax*4]
#     4b  mov rcx,rax
#     4e  shl rcx,6
#     52  vmovups ymm6,[r8+rcx]
#     58  vmovups ymm5,[r8+rcx+20h]
#     5f  vandps ymm4,ymm3,ymm2
#     63  vpsrlw ymm3,ymm3,8
#     68  vpsllw ymm7,ymm6,8
#     6d  vpsraw ymm8,ymm7,8
#     72  vpsraw ymm7,ymm6,8
#     77  vpmaddwd ymm6,ymm4,ymm8
#     7c  vpmaddwd ymm7,ymm3,ymm7
#     80  vpaddd ymm6,ymm6,ymm7
#     84  vpaddd ymm1,ymm1,ymm6
#     88  vpsllw ymm6,ymm5,8
#     8d  vpsraw ymm6,ymm6,8
#     92  vpsraw ymm5,ymm5,8
#     97  vpmaddwd ymm4,ymm4,ymm6
#     9b  vpmaddwd ymm3,ymm3,ymm5
#     9f  vpaddd ymm3,ymm4,ymm3
#     a3  vpaddd ymm0,ymm0,ymm3
#     a7  lea rax,[rax+1]
#     ab  cmp rax,40h
#     af  jl 45h
#     b5  vmovups [r10],ymm1
#     ba  vmovups [r10+20h],ymm0
#     c0  vzeroupper
#     c3  lea rsp,[rbp]
#     c7  pop rbp
#     c8  ret
