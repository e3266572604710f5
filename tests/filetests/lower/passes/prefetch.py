# test: lower
# target: gpu
# run: until prefetch, insert_barriers
# Loops whose copies are of an earlier stage than what computes load them an iteration ahead: of a number of iterations that is known, and
# of one that a call decides, with a copy under a condition.

@T.prim_func
def known(X: T.Buffer((8, 64), "float32"), Y: T.Buffer((64,), "float32")):
    S = T.alloc_buffer((64,), "float32", scope="shared")
    for t in T.thread_binding(64, "threadIdx.x"):
        with T.block("init"):
            v = T.axis.spatial(64, t)
            Y[v] = T.float32(0)
    for b in T.thread_binding(1, "blockIdx.x"):
        for k in T.serial(8, annotations={"software_pipeline_stage": [0, 1]}):
            for t in T.thread_binding(64, "threadIdx.x"):
                with T.block("S"):
                    vk, v = T.axis.remap("SS", [k, t])
                    S[v] = X[vk, v]
            for t in T.thread_binding(64, "threadIdx.x"):
                with T.block("Y"):
                    v, vk = T.axis.remap("SR", [t, k])
                    Y[v] = Y[v] + S[63 - v]


@T.prim_func
def open(x: T.handle, Y: T.Buffer((64,), "float32")):
    n = T.int64()
    X = T.match_buffer(x, (n, 48), "float32")
    S = T.alloc_buffer((64,), "float32", scope="shared")
    for b in T.thread_binding(1, "blockIdx.x"):
        for k in T.serial(n, annotations={"software_pipeline_stage": [0, 1]}):
            for t in T.thread_binding(64, "threadIdx.x"):
                with T.block("S"):
                    T.where(t < 48)
                    vk, v = T.axis.remap("SS", [k, t])
                    S[v] = X[vk, v] * T.float32(2)
            for t in T.thread_binding(64, "threadIdx.x"):
                with T.block("Y"):
                    T.where(t < 48)
                    v, vk = T.axis.remap("SR", [t, k])
                    with T.init():
                        Y[v] = T.float32(0)
                    Y[v] = Y[v] + S[47 - v]
