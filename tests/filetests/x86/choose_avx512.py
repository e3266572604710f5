# test: asm
# target: avx512
# run: default rules
# The index and the value of the greatest element of a row, on vectors with several accumulators.

@T.prim_func
def argmax(A: T.Buffer((512,), "float32"), I: T.Buffer((1,), "int32")):
    V = T.alloc_buffer((1,))
    for i, k in T.grid(1, 512):
        with T.block("I"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                I[vi] = 512
                V[vi] = T.float32("-inf")
            v_i: T.int32 = T.Select(V[vi] > A[vk] or V[vi] == A[vk] and I[vi] < vk, I[vi], vk)
            v_v: T.float32 = T.Select(V[vi] > A[vk] or V[vi] == A[vk] and I[vi] < vk, V[vi], A[vk])
            I[vi] = v_i
            V[vi] = v_v
# expect-listing:
# ; argmax: I_init, I_update, I_local
# ; by avx512
#      0  push rbp
#      1  mov rbp,rsp
#      4  sub rsp,80h
#      b  and rsp,0FFFFFFFFFFFFFFC0h
#      f  vpxor xmm0,xmm0,xmm0
#     13  mov r11d,80h
#     19  vmovups [rsp+r11-20h],ymm0
#     20  sub r11,20h
#     27  jne 19h
#     2d  mov rdi,[rdi]
#     30  mov rsi,[rdi]
#     33  mov r8,[rdi+8]
#     37  xor eax,eax
#     39  vmovups zmm16,[rip+3BDh]
#     43  vmovups zmm21,[rip+3F3h]
#     4d  vmovups zmm8,[rip+429h]
#     57  vmovups zmm10,[rip+45Fh]
#     61  vmovaps zmm22,zmm16
#     67  vmovaps zmm23,zmm16
#     6d  vmovaps zmm24,zmm16
#     73  vmovaps zmm26,zmm21
#     79  vmovaps zmm27,zmm21
#     7f  vmovaps zmm28,zmm21
#     85  mov rcx,rax
#     88  shl rcx,6
#     8c  movsxd rcx,ecx
#     8f  vmovq xmm0,rcx
#     95  vpbroadcastd zmm0,xmm0
#     9b  vpaddd zmm4,zmm0,zmm8
#     a1  vpaddd zmm3,zmm0,zmm10
#     a7  vpaddd zmm2,zmm0,[rip+44Fh]
#     b1  vpaddd zmm1,zmm0,[rip+485h]
#     bb  mov rcx,rax
#     be  shl rcx,8
#     c2  vmovups zmm9,[rsi+rcx]
#     c9  vmovups zmm7,[rsi+rcx+40h]
#     d1  vmovups zmm6,[rsi+rcx+80h]
#     d9  vmovups zmm5,[rsi+rcx+0C0h]
#     e1  vcmpgt_oqps k1,zmm21,zmm9
#     e8  vpmovm2d zmm0,k1
#     ee  vcmpgt_oqps k1,zmm26,zmm7
#     f5  vpmovm2d zmm11,k1
#     fb  vcmpgt_oqps k1,zmm27,zmm6
#    102  vpmovm2d zmm13,k1
#    108  vcmpgt_oqps k4,zmm28,zmm5
#    10f  vpmovm2d zmm15,k4
#    115  vcmpeqps k1,zmm21,zmm9
#    11c  vpmovm2d zmm12,k1
#    122  vcmpeqps k1,zmm26,zmm7
#    129  vpmovm2d zmm14,k1
#    12f  vcmpeqps k1,zmm27,zmm6
#    136  vpmovm2d zmm18,k1
#    13c  vcmpeqps k1,zmm28,zmm5
#    143  vpmovm2d zmm25,k1
#    149  vpcmpltd k1,zmm16,zmm4
#    150  vpmovm2d zmm29,k1
#    156  vpcmpltd k1,zmm22,zmm3
#    15d  vpmovm2d zmm30,k1
#    163  vpcmpltd k1,zmm23,zmm2
#    16a  vpmovm2d zmm17,k1
#    170  vpcmpltd k1,zmm24,zmm1
#    177  vpmovm2d zmm19,k1
#    17d  vandps zmm12,zmm12,zmm29
#    183  vandps zmm14,zmm14,zmm30
#    189  vandps zmm18,zmm18,zmm17
#    18f  vandps zmm17,zmm25,zmm19
#    195  vorps zmm12,zmm0,zmm12
#    19b  vorps zmm14,zmm11,zmm14
#    1a1  vorps zmm11,zmm13,zmm18
#    1a7  vorps zmm0,zmm15,zmm17
#    1ad  vmovaps zmm13,zmm12
#    1b3  vpternlogd zmm13,zmm16,zmm4,0CAh
#    1ba  vmovaps zmm4,zmm14
#    1c0  vpternlogd zmm4,zmm22,zmm3,0CAh
#    1c7  vmovaps zmm3,zmm11
#    1cd  vpternlogd zmm3,zmm23,zmm2,0CAh
#    1d4  vmovaps zmm2,zmm0
#    1da  vpternlogd zmm2,zmm24,zmm1,0CAh
#    1e1  vpternlogd zmm12,zmm21,zmm9,0CAh
#    1e8  vpternlogd zmm14,zmm26,zmm7,0CAh
#    1ef  vpternlogd zmm11,zmm27,zmm6,0CAh
#    1f6  vpternlogd zmm0,zmm28,zmm5,0CAh
#    1fd  lea rax,[rax+1]
#    201  cmp rax,8
#    205  jge 240h
#    20b  vmovaps zmm16,zmm13
#    211  vmovaps zmm21,zmm12
#    217  vmovaps zmm22,zmm4
#    21d  vmovaps zmm23,zmm3
#    223  vmovaps zmm24,zmm2
#    229  vmovaps zmm26,zmm14
#    22f  vmovaps zmm27,zmm11
#    235  vmovaps zmm28,zmm0
#    23b  jmp 85h
#    240  vcmpgt_oqps k1,zmm12,zmm14
#    247  vpmovm2d zmm15,k1
#    24d  vcmpeqps k1,zmm12,zmm14
#    254  vpmovm2d zmm19,k1
#    25a  vpcmpltd k1,zmm13,zmm4
#    261  vpmovm2d zmm23,k1
#    267  vandps zmm25,zmm19,zmm23
#    26d  vorps zmm29,zmm15,zmm25
#    273  vmovaps zmm30,zmm29
#    279  vpternlogd zmm30,zmm13,zmm4,0CAh
#    280  vpternlogd zmm29,zmm12,zmm14,0CAh
#    287  vcmpgt_oqps k1,zmm29,zmm11
#    28e  vpmovm2d zmm1,k1
#    294  vcmpeqps k1,zmm29,zmm11
#    29b  vpmovm2d zmm4,k1
#    2a1  vpcmpltd k1,zmm30,zmm3
#    2a8  vpmovm2d zmm5,k1
#    2ae  vandps zmm4,zmm4,zmm5
#    2b4  vorps zmm1,zmm1,zmm4
#    2ba  vmovaps zmm4,zmm1
#    2c0  vpternlogd zmm4,zmm30,zmm3,0CAh
#    2c7  vpternlogd zmm1,zmm29,zmm11,0CAh
#    2ce  vcmpgt_oqps k1,zmm1,zmm0
#    2d5  vpmovm2d zmm3,k1
#    2db  vcmpeqps k1,zmm1,zmm0
#    2e2  vpmovm2d zmm5,k1
#    2e8  vpcmpltd k1,zmm4,zmm2
#    2ef  vpmovm2d zmm6,k1
#    2f5  vandps zmm5,zmm5,zmm6
#    2fb  vorps zmm6,zmm3,zmm5
#    301  vmovaps zmm7,zmm6
#    307  vpternlogd zmm7,zmm4,zmm2,0CAh
#    30e  vpternlogd zmm6,zmm1,zmm0,0CAh
#    315  vmovups [rsp],zmm7
#    31c  vmovups [rsp+40h],zmm6
#    324  xor eax,eax
#    326  mov esi,200h
#    32b  vmovups xmm20,[rip+24Bh]
#    335  mov rdx,rax
#    338  movsxd rcx,[rsp+rdx*4]
#    33c  vmovss xmm25,[rsp+rdx*4+40h]
#    344  vcmpgt_oqps k1,xmm20,xmm25
#    34b  vpmovm2d xmm29,k1
#    351  vmovd edi,xmm29
#    357  and rdi,1
#    35e  vcmpeqps k1,xmm20,xmm25
#    365  vpmovm2d xmm0,k1
#    36b  vmovd r9d,xmm0
#    371  and r9,1
#    378  cmp rsi,rcx
#    37b  setl r10b
#    37f  movzx r10d,r10b
#    383  and r9,r10
#    386  or rdi,r9
#    389  test rdi,rdi
#    38c  cmovne rcx,rsi
#    390  mov rsi,rax
#    393  sub rsi,rdi
#    396  vmovq xmm0,rsi
#    39c  vpternlogd xmm0,xmm20,xmm25,0CAh
#    3a3  lea rdx,[rdx+1]
#    3a7  cmp rdx,10h
#    3ab  jge 3BFh
#    3b1  mov rsi,rcx
#    3b4  vmovaps zmm20,zmm0
#    3ba  jmp 338h
#    3bf  mov [r8],ecx
#    3c2  vzeroupper
#    3c5  lea rsp,[rbp]
#    3c9  pop rbp
#    3ca  ret
