# test: lower
# target: gpu
# run: default rules
# A window for each channel: a thread computes eight results below each other of 10 × 3 elements, which it pads where it loads them.

@T.prim_func
def depthwise(X: T.Buffer((64, 64, 64), "float32"), W: T.Buffer((64, 3, 3), "float32"), B: T.Buffer((64,), "float32"), Y: T.Buffer((64, 64, 64), "float32")):
    P = T.alloc_buffer((64, 66, 66), "float32")
    C = T.alloc_buffer((64, 64, 64), "float32")
    for c, y, x in T.grid(64, 66, 66):
        with T.block("P"):
            vc, vy, vx = T.axis.remap("SSS", [c, y, x])
            P[vc, vy, vx] = T.if_then_else(vy >= 1 and vy < 65 and vx >= 1 and vx < 65, X[vc, vy - 1, vx - 1], T.float32(0))
    for c, y, x, r, s in T.grid(64, 64, 64, 3, 3):
        with T.block("C"):
            vc, vy, vx, vr, vs = T.axis.remap("SSSRR", [c, y, x, r, s])
            with T.init():
                C[vc, vy, vx] = T.float32(0)
            C[vc, vy, vx] = C[vc, vy, vx] + P[vc, vy + vr, vx + vs] * W[vc, vr, vs]
    for c, y, x in T.grid(64, 64, 64):
        with T.block("Y"):
            vc, vy, vx = T.axis.remap("SSS", [c, y, x])
            Y[vc, vy, vx] = T.max(C[vc, vy, vx] + B[vc], T.float32(0))

# expect-listing:
# func depthwise()
#   param 0 X: float32[64, 64, 64]
#   param 1 W: float32[64, 3, 3]
#   param 2 B: float32[64]
#   param 3 Y: float32[64, 64, 64] written
#
# kernel depthwise  # C_init, P_local, W_local, C_update, C_local
#   launch grid [8, 1, 64] block [64, 1, 1]
#   array X: float32, 262144 elements, global read param 0
#   array W: float32, 576 elements, global read param 1
#   array B: float32, 64 elements, global read param 2
#   array Y: float32, 262144 elements, global write param 3
#   array C_local: float32, 8 elements, local
#   array P_local: float32, 10 elements, local
#   array W_local: float32, 3 elements, local
#   cost 5242880 flop, 2099712 bytes; accesses proved
#   C_local[0] = 0.0
#   C_local[1] = 0.0
#   C_local[2] = 0.0
#   C_local[3] = 0.0
#   C_local[4] = 0.0
#   C_local[5] = 0.0
#   C_local[6] = 0.0
#   C_local[7] = 0.0
#   let common.0 = (blockIdx.z * 4096) + (max(((blockIdx.x * 8) - 1), 0) * 64)
#   P_local[0] = select((((1 <= (blockIdx.x * 8)) and ((blockIdx.x * 8) < 65)) and (1 <= threadIdx.x)) and (threadIdx.x < 65), X[common.0 + max((threadIdx.x - 1), 0)], 0.0)
#   let common.1 = (1 <= ((blockIdx.x * 8) + 1)) and (((blockIdx.x * 8) + 1) < 65)
#   let common.2 = ((blockIdx.z * 4096) + (blockIdx.x * 512)) + max((threadIdx.x - 1), 0)
#   P_local[1] = select((common.1 and (1 <= threadIdx.x)) and (threadIdx.x < 65), X[common.2], 0.0)
#   let common.3 = (1 <= ((blockIdx.x * 8) + 2)) and (((blockIdx.x * 8) + 2) < 65)
#   P_local[2] = select((common.3 and (1 <= threadIdx.x)) and (threadIdx.x < 65), X[common.2 + 64], 0.0)
#   let common.4 = (1 <= ((blockIdx.x * 8) + 3)) and (((blockIdx.x * 8) + 3) < 65)
#   P_local[3] = select((common.4 and (1 <= threadIdx.x)) and (threadIdx.x < 65), X[common.2 + 128], 0.0)
#   let common.5 = (1 <= ((blockIdx.x * 8) + 4)) and (((blockIdx.x * 8) + 4) < 65)
#   P_local[4] = select((common.5 and (1 <= threadIdx.x)) and (threadIdx.x < 65), X[common.2 + 192], 0.0)
#   let common.6 = (1 <= ((blockIdx.x * 8) + 5)) and (((blockIdx.x * 8) + 5) < 65)
#   P_local[5] = select((common.6 and (1 <= threadIdx.x)) and (threadIdx.x < 65), X[common.2 + 256], 0.0)
#   let common.7 = (1 <= ((blockIdx.x * 8) + 6)) and (((blockIdx.x * 8) + 6) < 65)
#   P_local[6] = select((common.7 and (1 <= threadIdx.x)) and (threadIdx.x < 65), X[common.2 + 320], 0.0)
#   let common.8 = (1 <= ((blockIdx.x * 8) + 7)) and (((blockIdx.x * 8) + 7) < 65)
#   P_local[7] = select((common.8 and (1 <= threadIdx.x)) and (threadIdx.x < 65), X[common.2 + 384], 0.0)
#   let common.9 = (1 <= ((blockIdx.x * 8) + 8)) and (((blockIdx.x * 8) + 8) < 65)
#   P_local[8] = select((common.9 and (1 <= threadIdx.x)) and (threadIdx.x < 65), X[common.2 + 448], 0.0)
#   let common.10 = (1 <= ((blockIdx.x * 8) + 9)) and (((blockIdx.x * 8) + 9) < 65)
#   let common.11 = (blockIdx.z * 4096) + (min((((blockIdx.x * 8) + 9) - 1), (64 - 1)) * 64)
#   P_local[9] = select((common.10 and (1 <= threadIdx.x)) and (threadIdx.x < 65), X[common.11 + max((threadIdx.x - 1), 0)], 0.0)
#   W_local[0] = W[blockIdx.z * 9]
#   W_local[1] = W[(blockIdx.z * 9) + 3]
#   W_local[2] = W[(blockIdx.z * 9) + 6]
#   C_local[0] = C_local[0] + (P_local[0] * W_local[0])
#   C_local[1] = C_local[1] + (P_local[1] * W_local[0])
#   C_local[2] = C_local[2] + (P_local[2] * W_local[0])
#   C_local[3] = C_local[3] + (P_local[3] * W_local[0])
#   C_local[4] = C_local[4] + (P_local[4] * W_local[0])
#   C_local[5] = C_local[5] + (P_local[5] * W_local[0])
#   C_local[6] = C_local[6] + (P_local[6] * W_local[0])
#   C_local[7] = C_local[7] + (P_local[7] * W_local[0])
#   C_local[0] = C_local[0] + (P_local[1] * W_local[1])
#   C_local[1] = C_local[1] + (P_local[2] * W_local[1])
#   C_local[2] = C_local[2] + (P_local[3] * W_local[1])
#   C_local[3] = C_local[3] + (P_local[4] * W_local[1])
#   C_local[4] = C_local[4] + (P_local[5] * W_local[1])
#   C_local[5] = C_local[5] + (P_local[6] * W_local[1])
#   C_local[6] = C_local[6] + (P_local[7] * W_local[1])
#   C_local[7] = C_local[7] + (P_local[8] * W_local[1])
#   C_local[0] = C_local[0] + (P_local[2] * W_local[2])
#   C_local[1] = C_local[1] + (P_local[3] * W_local[2])
#   C_local[2] = C_local[2] + (P_local[4] * W_local[2])
#   C_local[3] = C_local[3] + (P_local[5] * W_local[2])
#   C_local[4] = C_local[4] + (P_local[6] * W_local[2])
#   C_local[5] = C_local[5] + (P_local[7] * W_local[2])
#   C_local[6] = C_local[6] + (P_local[8] * W_local[2])
#   C_local[7] = C_local[7] + (P_local[9] * W_local[2])
#   P_local[0] = select((((1 <= (blockIdx.x * 8)) and ((blockIdx.x * 8) < 65)) and (1 <= (threadIdx.x + 1))) and ((threadIdx.x + 1) < 65), X[common.0 + threadIdx.x], 0.0)
#   P_local[1] = select((common.1 and (1 <= (threadIdx.x + 1))) and ((threadIdx.x + 1) < 65), X[((blockIdx.z * 4096) + (blockIdx.x * 512)) + threadIdx.x], 0.0)
#   P_local[2] = select((common.3 and (1 <= (threadIdx.x + 1))) and ((threadIdx.x + 1) < 65), X[(((blockIdx.z * 4096) + (blockIdx.x * 512)) + threadIdx.x) + 64], 0.0)
#   P_local[3] = select((common.4 and (1 <= (threadIdx.x + 1))) and ((threadIdx.x + 1) < 65), X[(((blockIdx.z * 4096) + (blockIdx.x * 512)) + threadIdx.x) + 128], 0.0)
#   P_local[4] = select((common.5 and (1 <= (threadIdx.x + 1))) and ((threadIdx.x + 1) < 65), X[(((blockIdx.z * 4096) + (blockIdx.x * 512)) + threadIdx.x) + 192], 0.0)
#   P_local[5] = select((common.6 and (1 <= (threadIdx.x + 1))) and ((threadIdx.x + 1) < 65), X[(((blockIdx.z * 4096) + (blockIdx.x * 512)) + threadIdx.x) + 256], 0.0)
#   P_local[6] = select((common.7 and (1 <= (threadIdx.x + 1))) and ((threadIdx.x + 1) < 65), X[(((blockIdx.z * 4096) + (blockIdx.x * 512)) + threadIdx.x) + 320], 0.0)
#   P_local[7] = select((common.8 and (1 <= (threadIdx.x + 1))) and ((threadIdx.x + 1) < 65), X[(((blockIdx.z * 4096) + (blockIdx.x * 512)) + threadIdx.x) + 384], 0.0)
#   P_local[8] = select((common.9 and (1 <= (threadIdx.x + 1))) and ((threadIdx.x + 1) < 65), X[(((blockIdx.z * 4096) + (blockIdx.x * 512)) + threadIdx.x) + 448], 0.0)
#   P_local[9] = select((common.10 and (1 <= (threadIdx.x + 1))) and ((threadIdx.x + 1) < 65), X[common.11 + threadIdx.x], 0.0)
#   W_local[0] = W[(blockIdx.z * 9) + 1]
#   W_local[1] = W[(blockIdx.z * 9) + 4]
#   W_local[2] = W[(blockIdx.z * 9) + 7]
#   C_local[0] = C_local[0] + (P_local[0] * W_local[0])
#   C_local[1] = C_local[1] + (P_local[1] * W_local[0])
#   C_local[2] = C_local[2] + (P_local[2] * W_local[0])
#   C_local[3] = C_local[3] + (P_local[3] * W_local[0])
#   C_local[4] = C_local[4] + (P_local[4] * W_local[0])
#   C_local[5] = C_local[5] + (P_local[5] * W_local[0])
#   C_local[6] = C_local[6] + (P_local[6] * W_local[0])
#   C_local[7] = C_local[7] + (P_local[7] * W_local[0])
#   C_local[0] = C_local[0] + (P_local[1] * W_local[1])
#   C_local[1] = C_local[1] + (P_local[2] * W_local[1])
#   C_local[2] = C_local[2] + (P_local[3] * W_local[1])
#   C_local[3] = C_local[3] + (P_local[4] * W_local[1])
#   C_local[4] = C_local[4] + (P_local[5] * W_local[1])
#   C_local[5] = C_local[5] + (P_local[6] * W_local[1])
#   C_local[6] = C_local[6] + (P_local[7] * W_local[1])
#   C_local[7] = C_local[7] + (P_local[8] * W_local[1])
#   C_local[0] = C_local[0] + (P_local[2] * W_local[2])
#   C_local[1] = C_local[1] + (P_local[3] * W_local[2])
#   C_local[2] = C_local[2] + (P_local[4] * W_local[2])
#   C_local[3] = C_local[3] + (P_local[5] * W_local[2])
#   C_local[4] = C_local[4] + (P_local[6] * W_local[2])
#   C_local[5] = C_local[5] + (P_local[7] * W_local[2])
#   C_local[6] = C_local[6] + (P_local[8] * W_local[2])
#   C_local[7] = C_local[7] + (P_local[9] * W_local[2])
#   P_local[0] = select((((1 <= (blockIdx.x * 8)) and ((blockIdx.x * 8) < 65)) and (1 <= (threadIdx.x + 2))) and ((threadIdx.x + 2) < 65), X[common.0 + min(((threadIdx.x + 2) - 1), (64 - 1))], 0.0)
#   let common.12 = ((blockIdx.z * 4096) + (blockIdx.x * 512)) + min(((threadIdx.x + 2) - 1), (64 - 1))
#   P_local[1] = select((common.1 and (1 <= (threadIdx.x + 2))) and ((threadIdx.x + 2) < 65), X[common.12], 0.0)
#   P_local[2] = select((common.3 and (1 <= (threadIdx.x + 2))) and ((threadIdx.x + 2) < 65), X[common.12 + 64], 0.0)
#   P_local[3] = select((common.4 and (1 <= (threadIdx.x + 2))) and ((threadIdx.x + 2) < 65), X[common.12 + 128], 0.0)
#   P_local[4] = select((common.5 and (1 <= (threadIdx.x + 2))) and ((threadIdx.x + 2) < 65), X[common.12 + 192], 0.0)
#   P_local[5] = select((common.6 and (1 <= (threadIdx.x + 2))) and ((threadIdx.x + 2) < 65), X[common.12 + 256], 0.0)
#   P_local[6] = select((common.7 and (1 <= (threadIdx.x + 2))) and ((threadIdx.x + 2) < 65), X[common.12 + 320], 0.0)
#   P_local[7] = select((common.8 and (1 <= (threadIdx.x + 2))) and ((threadIdx.x + 2) < 65), X[common.12 + 384], 0.0)
#   P_local[8] = select((common.9 and (1 <= (threadIdx.x + 2))) and ((threadIdx.x + 2) < 65), X[common.12 + 448], 0.0)
#   P_local[9] = select((common.10 and (1 <= (threadIdx.x + 2))) and ((threadIdx.x + 2) < 65), X[common.11 + min(((threadIdx.x + 2) - 1), (64 - 1))], 0.0)
#   W_local[0] = W[(blockIdx.z * 9) + 2]
#   W_local[1] = W[(blockIdx.z * 9) + 5]
#   W_local[2] = W[(blockIdx.z * 9) + 8]
#   C_local[0] = C_local[0] + (P_local[0] * W_local[0])
#   C_local[1] = C_local[1] + (P_local[1] * W_local[0])
#   C_local[2] = C_local[2] + (P_local[2] * W_local[0])
#   C_local[3] = C_local[3] + (P_local[3] * W_local[0])
#   C_local[4] = C_local[4] + (P_local[4] * W_local[0])
#   C_local[5] = C_local[5] + (P_local[5] * W_local[0])
#   C_local[6] = C_local[6] + (P_local[6] * W_local[0])
#   C_local[7] = C_local[7] + (P_local[7] * W_local[0])
#   C_local[0] = C_local[0] + (P_local[1] * W_local[1])
#   C_local[1] = C_local[1] + (P_local[2] * W_local[1])
#   C_local[2] = C_local[2] + (P_local[3] * W_local[1])
#   C_local[3] = C_local[3] + (P_local[4] * W_local[1])
#   C_local[4] = C_local[4] + (P_local[5] * W_local[1])
#   C_local[5] = C_local[5] + (P_local[6] * W_local[1])
#   C_local[6] = C_local[6] + (P_local[7] * W_local[1])
#   C_local[7] = C_local[7] + (P_local[8] * W_local[1])
#   C_local[0] = C_local[0] + (P_local[2] * W_local[2])
#   C_local[1] = C_local[1] + (P_local[3] * W_local[2])
#   C_local[2] = C_local[2] + (P_local[4] * W_local[2])
#   C_local[3] = C_local[3] + (P_local[5] * W_local[2])
#   C_local[4] = C_local[4] + (P_local[6] * W_local[2])
#   C_local[5] = C_local[5] + (P_local[7] * W_local[2])
#   C_local[6] = C_local[6] + (P_local[8] * W_local[2])
#   C_local[7] = C_local[7] + (P_local[9] * W_local[2])
#   let common.13 = B[blockIdx.z]
#   Y[((blockIdx.z * 4096) + (blockIdx.x * 512)) + threadIdx.x] = max((C_local[0] + common.13), 0.0)
#   Y[(((blockIdx.z * 4096) + (blockIdx.x * 512)) + threadIdx.x) + 64] = max((C_local[1] + common.13), 0.0)
#   Y[(((blockIdx.z * 4096) + (blockIdx.x * 512)) + threadIdx.x) + 128] = max((C_local[2] + common.13), 0.0)
#   Y[(((blockIdx.z * 4096) + (blockIdx.x * 512)) + threadIdx.x) + 192] = max((C_local[3] + common.13), 0.0)
#   Y[(((blockIdx.z * 4096) + (blockIdx.x * 512)) + threadIdx.x) + 256] = max((C_local[4] + common.13), 0.0)
#   Y[(((blockIdx.z * 4096) + (blockIdx.x * 512)) + threadIdx.x) + 320] = max((C_local[5] + common.13), 0.0)
#   Y[(((blockIdx.z * 4096) + (blockIdx.x * 512)) + threadIdx.x) + 384] = max((C_local[6] + common.13), 0.0)
#   Y[(((blockIdx.z * 4096) + (blockIdx.x * 512)) + threadIdx.x) + 448] = max((C_local[7] + common.13), 0.0)
