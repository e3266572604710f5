# test: asm
# target: avx2
# run: default rules
# The sizes of a launch show whether the reads stay in bounds: if they do, it runs this code, else code that checks them, by Cranelift.
@T.prim_func
def main(a: T.handle, b: T.handle):
    m = T.int64()
    n = T.int64()
    A = T.match_buffer(a, (m,), "float32")
    B = T.match_buffer(b, (n,), "float32")
    for i in range(n):
        with T.block("B"):
            vi = T.axis.spatial(n, i)
            B[vi] = A[vi]
# expect-listing:
# ; main: B
# ; by cranelift: accesses that are checked, unless the sizes of a launch show that all are in bounds: then by avx2
#      0  push rbp
#      1  mov rbp,rsp
#      4  sub rsp,0
#      b  and rsp,0FFFFFFFFFFFFFFC0h
#      f  mov r8,[rdi+10h]
#     13  mov r11,[r8+8]
#     17  mov r9,[r8+10h]
#     1b  mov r10,[rdi]
#     1e  mov rax,[r10]
#     21  mov rcx,[r10+8]
#     25  cmp rsi,rdx
#     28  jge 0BCh
#     2e  mov r8,r11
#     31  shl r8,6
#     35  mov r10d,10h
#     3b  cmp r9,10h
#     3f  cmovl r10,r9
#     43  xor edi,edi
#     45  test r10,r10
#     48  cmovg rdi,r10
#     4c  vmovq xmm0,rdi
#     51  vpbroadcastd ymm1,xmm0
#     56  vpcmpgtd ymm0,ymm1,[rip+0A2h]
#     5e  vpcmpgtd ymm1,ymm1,[rip+0BAh]
#     66  cmp rsi,r11
#     69  jge 95h
#     6f  mov r9,rsi
#     72  shl r9,6
#     76  vmovups ymm3,[rax+r9]
#     7c  vmovups ymm2,[rax+r9+20h]
#     83  vmovups [rcx+r9],ymm3
#     89  vmovups [rcx+r9+20h],ymm2
#     90  jmp 0AFh
#     95  vmaskmovps ymm3,ymm0,[rax+r8]
#     9b  vmaskmovps ymm2,ymm1,[rax+r8+20h]
#     a2  vmaskmovps [rcx+r8],ymm0,ymm3
#     a8  vmaskmovps [rcx+r8+20h],ymm1,ymm2
#     af  lea rsi,[rsi+1]
#     b3  cmp rsi,rdx
#     b6  jl 66h
#     bc  vzeroupper
#     bf  lea rsp,[rbp]
#     c3  pop rbp
#     c4  ret
