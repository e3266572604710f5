# test: asm
# target: avx512
# run: default rules
# Windows of five that start at every second element: each tap is every second element of what two registers cover, not a column of sixteen rows
# of four.

@T.prim_func
def slide(X: T.Buffer((64, 36), "float32"), W: T.Buffer((64, 5), "float32"), Y: T.Buffer((64, 16), "float32")):
    for i, j, k in T.grid(64, 16, 5):
        with T.block("Y"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                Y[vi, vj] = T.float32(0)
            Y[vi, vj] = Y[vi, vj] + X[vi, vj * 2 + vk] * W[vi, vk]
# expect-listing:
# ; slide: Y_init, Y_update, Y_local
# ; by avx512
#      0  push rbp
#      1  mov rbp,rsp
#      4  sub rsp,0
#      b  and rsp,0FFFFFFFFFFFFFFC0h
#      f  mov r9,[rdi]
#     12  mov rdi,[r9]
#     15  mov r8,[r9+8]
#     19  mov r10,[r9+10h]
#     1d  cmp rsi,rdx
#     20  jge 12Dh
#     26  vmovups zmm17,[rip+150h]
#     30  vmovups zmm0,[rip+106h]
#     3a  imul rax,rsi,90h
#     41  vmovups zmm1,[rdi+rax]
#     48  vmovups zmm21,[rdi+rax+3Ch]
#     53  vpermt2ps zmm1,zmm17,zmm21
#     59  imul rcx,rsi,14h
#     60  vbroadcastss zmm28,[r8+rcx]
#     67  vfmadd213ps zmm1,zmm28,zmm0
#     6d  vmovups zmm2,[rdi+rax+4]
#     78  vmovups zmm3,[rdi+rax+40h]
#     80  vpermt2ps zmm2,zmm17,zmm3
#     86  vbroadcastss zmm3,[r8+rcx+4]
#     8e  vfmadd231ps zmm1,zmm2,zmm3
#     94  vmovups zmm2,[rdi+rax+8]
#     9f  vmovups zmm3,[rdi+rax+44h]
#     aa  vpermt2ps zmm2,zmm17,zmm3
#     b0  vbroadcastss zmm3,[r8+rcx+8]
#     b8  vfmadd231ps zmm1,zmm2,zmm3
#     be  vmovups zmm2,[rdi+rax+0Ch]
#     c9  vmovups zmm3,[rdi+rax+48h]
#     d4  vpermt2ps zmm2,zmm17,zmm3
#     da  vbroadcastss zmm3,[r8+rcx+0Ch]
#     e2  vfmadd231ps zmm1,zmm2,zmm3
#     e8  vmovups zmm2,[rdi+rax+10h]
#     f3  vmovups zmm3,[rdi+rax+4Ch]
#     fe  vpermt2ps zmm2,zmm17,zmm3
#    104  vbroadcastss zmm5,[r8+rcx+10h]
#    10c  vfmadd231ps zmm1,zmm2,zmm5
#    112  mov r9,rsi
#    115  shl r9,6
#    119  vmovups [r10+r9],zmm1
#    120  lea rsi,[rsi+1]
#    124  cmp rsi,rdx
#    127  jl 3Ah
#    12d  vzeroupper
#    130  lea rsp,[rbp]
#    134  pop rbp
#    135  ret
