# test: lower
# target: gpu
# run: default rules
# A workgroup copies a tile to shared memory, rows of which are an odd number of elements apart. A thread scans eight elements in registers.

@T.prim_func
def main(data: T.Buffer((40,), "int32"), cumsum: T.Buffer((40,), "int32")):
    with T.block("cumsum"):
        values = T.alloc_buffer((1, 8, 8), "int32")
        own = T.alloc_buffer((1, 8, 8), "int32", scope="local")
        totals = T.alloc_buffer((1, 8), "int32", scope="local")
        sums = T.alloc_buffer((1, 8), "int32")
        other_sums = T.alloc_buffer((1, 8), "int32")
        begin = T.alloc_buffer((1, 8), "int32", scope="local")
        for line, k in T.grid(1, 64):
            with T.block("load"):
                v_line, v_k = T.axis.remap("SS", [line, k])
                values[v_line, v_k // 8, v_k % 8] = T.if_then_else(v_k < 40, data[v_k], 0)
        for line, chunk, step in T.grid(1, 8, 8):
            with T.block("own"):
                v_line, v_chunk, v_step = T.axis.remap("SSS", [line, chunk, step])
                own[v_line, v_chunk, v_step] = values[v_line, v_chunk, v_step]
        for line, chunk, step in T.grid(1, 8, 8):
            with T.block("total"):
                v_line, v_chunk, v_step = T.axis.remap("SSR", [line, chunk, step])
                with T.init():
                    totals[v_line, v_chunk] = 0
                totals[v_line, v_chunk] = totals[v_line, v_chunk] + own[v_line, v_chunk, v_step]
        for line, chunk in T.grid(1, 8):
            with T.block("sum"):
                v_line, v_chunk = T.axis.remap("SS", [line, chunk])
                sums[v_line, v_chunk] = totals[v_line, v_chunk]
        for line, chunk in T.grid(1, 8):
            with T.block("sum_up"):
                v_line, v_chunk = T.axis.remap("SS", [line, chunk])
                other_sums[v_line, v_chunk] = T.if_then_else(v_chunk >= 1, sums[v_line, T.max(v_chunk - 1, 0)] + sums[v_line, v_chunk], sums[v_line, v_chunk])
        for line, chunk in T.grid(1, 8):
            with T.block("sum_up_1"):
                v_line, v_chunk = T.axis.remap("SS", [line, chunk])
                sums[v_line, v_chunk] = T.if_then_else(v_chunk >= 2, other_sums[v_line, T.max(v_chunk - 2, 0)] + other_sums[v_line, v_chunk], other_sums[v_line, v_chunk])
        for line, chunk in T.grid(1, 8):
            with T.block("sum_up_2"):
                v_line, v_chunk = T.axis.remap("SS", [line, chunk])
                other_sums[v_line, v_chunk] = T.if_then_else(v_chunk >= 4, sums[v_line, T.max(v_chunk - 4, 0)] + sums[v_line, v_chunk], sums[v_line, v_chunk])
        for line, chunk in T.grid(1, 8):
            with T.block("begin"):
                v_line, v_chunk = T.axis.remap("SS", [line, chunk])
                begin[v_line, v_chunk] = T.if_then_else(v_chunk >= 1, 0 + other_sums[v_line, T.max(v_chunk - 1, 0)], 0)
        for line, chunk in T.grid(1, 8):
            with T.block("scan"):
                v_line, v_chunk = T.axis.remap("SS", [line, chunk])
                running = T.alloc_buffer((1,), "int32", scope="local")
                running[0] = begin[v_line, v_chunk]
                for step in range(8):
                    running[0] = running[0] + own[v_line, v_chunk, step]
                    values[v_line, v_chunk, step] = running[0]
        for line, k in T.grid(1, 64):
            with T.block("keep"):
                v_line, v_k = T.axis.remap("SS", [line, k])
                T.where(k < 40)
                cumsum[v_k] = values[v_line, v_k // 8, v_k % 8]
# expect-listing:
# func main()
#   param 0 data: int32[40]
#   param 1 cumsum: int32[40] written
#
# kernel main  # cumsum, load, own, total, sum, sum_up, sum_up_1, sum_up_2, begin, scan, keep
#   launch grid [1, 1, 1] block [8, 1, 1]
#   array data: int32, 40 elements, global read param 0
#   array cumsum: int32, 40 elements, global write param 1
#   array values_shared: int32, 72 elements, shared
#   array own: int32, 8 elements, local
#   array totals: int32, 1 elements, local
#   array sums_shared: int32, 12 elements, shared
#   array other_sums_shared: int32, 10 elements, shared
#   array begin: int32, 1 elements, local
#   array running: int32, 1 elements, local
#   cost 0 flop, 320 bytes; accesses proved
#   values_shared[threadIdx.x] = select(0 < 5, data[threadIdx.x], 0)
#   values_shared[threadIdx.x + 9] = select(1 < 5, data[threadIdx.x + 8], 0)
#   values_shared[threadIdx.x + 18] = select(2 < 5, data[threadIdx.x + 16], 0)
#   values_shared[threadIdx.x + 27] = select(3 < 5, data[threadIdx.x + 24], 0)
#   values_shared[threadIdx.x + 36] = select(4 < 5, data[threadIdx.x + 32], 0)
#   values_shared[threadIdx.x + 45] = select(5 < 5, data[min((40 + threadIdx.x), (40 - 1))], 0)
#   values_shared[threadIdx.x + 54] = select(6 < 5, data[min((48 + threadIdx.x), (40 - 1))], 0)
#   values_shared[threadIdx.x + 63] = select(7 < 5, data[min((56 + threadIdx.x), (40 - 1))], 0)
#   barrier
#   own[0] = values_shared[threadIdx.x * 9]
#   own[1] = values_shared[(threadIdx.x * 9) + 1]
#   own[2] = values_shared[(threadIdx.x * 9) + 2]
#   own[3] = values_shared[(threadIdx.x * 9) + 3]
#   own[4] = values_shared[(threadIdx.x * 9) + 4]
#   own[5] = values_shared[(threadIdx.x * 9) + 5]
#   own[6] = values_shared[(threadIdx.x * 9) + 6]
#   own[7] = values_shared[(threadIdx.x * 9) + 7]
#   totals[0] = 0
#   totals[0] = totals[0] + own[0]
#   totals[0] = totals[0] + own[1]
#   totals[0] = totals[0] + own[2]
#   totals[0] = totals[0] + own[3]
#   totals[0] = totals[0] + own[4]
#   totals[0] = totals[0] + own[5]
#   totals[0] = totals[0] + own[6]
#   totals[0] = totals[0] + own[7]
#   sums_shared[threadIdx.x + 4] = totals[0]
#   barrier
#   other_sums_shared[threadIdx.x + 2] = select(1 <= threadIdx.x, sums_shared[threadIdx.x + 3] + sums_shared[threadIdx.x + 4], sums_shared[4])
#   barrier
#   sums_shared[threadIdx.x + 4] = select(2 <= threadIdx.x, other_sums_shared[threadIdx.x] + other_sums_shared[threadIdx.x + 2], other_sums_shared[threadIdx.x + 2])
#   barrier
#   other_sums_shared[threadIdx.x + 2] = select(4 <= threadIdx.x, sums_shared[threadIdx.x] + sums_shared[threadIdx.x + 4], sums_shared[threadIdx.x + 4])
#   barrier
#   begin[0] = select(1 <= threadIdx.x, other_sums_shared[threadIdx.x + 1], 0)
#   running[0] = begin[0]
#   running[0] = running[0] + own[0]
#   values_shared[threadIdx.x * 9] = running[0]
#   running[0] = running[0] + own[1]
#   values_shared[(threadIdx.x * 9) + 1] = running[0]
#   running[0] = running[0] + own[2]
#   values_shared[(threadIdx.x * 9) + 2] = running[0]
#   running[0] = running[0] + own[3]
#   values_shared[(threadIdx.x * 9) + 3] = running[0]
#   running[0] = running[0] + own[4]
#   values_shared[(threadIdx.x * 9) + 4] = running[0]
#   running[0] = running[0] + own[5]
#   values_shared[(threadIdx.x * 9) + 5] = running[0]
#   running[0] = running[0] + own[6]
#   values_shared[(threadIdx.x * 9) + 6] = running[0]
#   running[0] = running[0] + own[7]
#   values_shared[(threadIdx.x * 9) + 7] = running[0]
#   barrier
#   cumsum[threadIdx.x] = values_shared[threadIdx.x]
#   cumsum[threadIdx.x + 8] = values_shared[threadIdx.x + 9]
#   cumsum[threadIdx.x + 16] = values_shared[threadIdx.x + 18]
#   cumsum[threadIdx.x + 24] = values_shared[threadIdx.x + 27]
#   cumsum[threadIdx.x + 32] = values_shared[threadIdx.x + 36]
