# test: pass
# run: kill_after_last_use
# Another name is no other value; a check is. What a body gives lives on, and what a branch uses lives until after the branch.

@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor((8,), "float32"), c: R.Tensor((), "bool")) -> R.Tensor((8,), "float32"):
        storage = R.memory.alloc_storage(R.shape([32]), 0, R.str("global"), R.dtype("uint8"))
        a = R.memory.alloc_tensor(storage, 0, R.shape([8]), R.dtype("float32"), 0)
        b = R.add(x, x)
        also = b
        known: R.Tensor((8,)) = R.match_cast(also, R.Tensor((8,)))
        pair = R.split(known, 2, axis=0)
        first = pair[0]
        last = pair[1]
        if c:
            d = R.concat([first, last], axis=0)
            r = R.negative(d)
        else:
            r = R.concat([last, first], axis=0)
        return r
# expect:
# from tvm.script import ir as I
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor((8,), dtype="float32"), c: R.Tensor((), dtype="bool")) -> R.Tensor((8,), dtype="float32"):
        storage: R.Object = R.memory.alloc_storage(R.shape([32]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
        a: R.Tensor((8,), dtype="float32") = R.memory.alloc_tensor(storage, R.prim_value(0), R.shape([8]), R.dtype("float32"), R.prim_value(0))
        R.memory.kill_storage(storage)
        b: R.Tensor((8,), dtype="float32") = R.add(x, x)
        known: R.Tensor((8,)) = R.match_cast(b, R.Tensor((8,)))
        R.memory.kill_tensor(b)
        pair: R.Tuple(R.Tensor((4,)), R.Tensor((4,))) = R.split(known, indices_or_sections=2, axis=0)
        R.memory.kill_tensor(known)
        first: R.Tensor((4,)) = pair[0]
        last: R.Tensor((4,)) = pair[1]
        R.vm.kill_object(pair)
        if c:
            d: R.Tensor((8,)) = R.concat((first, last), axis=0)
            r_then: R.Tensor((8,)) = R.negative(d)
            R.memory.kill_tensor(d)
            r: R.Tensor((8,)) = r_then
        else:
            r_else: R.Tensor((8,)) = R.concat((last, first), axis=0)
            r: R.Tensor((8,)) = r_else
        R.memory.kill_tensor(first)
        R.memory.kill_tensor(last)
        return r
