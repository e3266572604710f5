//! Generated graph functions.

use weftile::runtime::Value;

use super::{check, matrix, truth};

/// Graph functions made at random from tuples, branches, calls and loop programs. Every value is a matrix of `(n, m)`.
struct Generator {
    state: u64,
    names: usize,
}

impl Generator {
    fn below(&mut self, end: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.state >> 33) as usize % end
    }

    fn name(&mut self) -> String {
        self.names += 1;
        format!("v{}", self.names)
    }

    fn pick(&mut self, live: &[String]) -> String {
        let at = self.below(live.len());
        live[at].clone()
    }

    /// Statements that bind new names, and the names then.
    fn body(
        &mut self,
        live: &[String],
        depth: usize,
        indent: &str,
        out: &mut String,
    ) -> Vec<String> {
        let mut live = live.to_vec();
        for _ in 0..1 + self.below(4) {
            let (a, b) = (self.pick(&live), self.pick(&live));
            let name = self.name();
            let info = "R.Tensor((n, m), \"float32\")";
            let line = match self.below(if depth < 2 { 8 } else { 7 }) {
                0 => format!("R.call_tir(cls.relu, ({a},), out_sinfo={info})"),
                1 | 2 => format!("R.call_tir(cls.add, ({a}, {b}), out_sinfo={info})"),
                3 => format!("R.call_tir(cls.flip, ({a},), out_sinfo={info})"),
                4 => format!("cls.layer({a}, ({b}, ({a},)))"),
                5 => {
                    let tuple = self.name();
                    out.push_str(&format!("{indent}{tuple} = (({a}, {b}), {b})\n"));
                    let inner = self.name();
                    out.push_str(&format!("{indent}{inner} = {tuple}[0]\n"));
                    format!("{inner}[1]")
                }
                6 => {
                    let pair = self.name();
                    out.push_str(&format!(
                        "{indent}{pair} = R.call_tir(cls.both, ({a},), out_sinfo=[{info}, {info}])\n"
                    ));
                    format!("{pair}[{}]", self.below(2))
                }
                _ => {
                    let cond = ["c", "d"][self.below(2)];
                    let inside = format!("{indent}    ");
                    for head in [format!("if {cond}"), "else".to_owned()] {
                        out.push_str(&format!("{indent}{head}:\n"));
                        let inner = self.body(&live, depth + 1, &inside, out);
                        let last = self.pick(&inner);
                        out.push_str(&format!("{inside}{name} = {last}\n"));
                    }
                    live.push(name);
                    continue;
                }
            };
            out.push_str(&format!("{indent}{name} = {line}\n"));
            live.push(name);
        }
        live
    }
}

#[test]
fn generated_graph_functions_agree() {
    let layer = r#"
    @R.function
    def layer(x: R.Tensor(("n", "m"), "float32"), t: R.Tuple(R.Tensor(("n", "m"), "float32"), R.Tuple(R.Tensor(("n", "m"), "float32")))) -> R.Tensor(("n", "m"), "float32"):
        n, m = T.int64(), T.int64()
        cls = Module
        y = t[0]
        a = R.call_tir(cls.flip, (y,), out_sinfo=R.Tensor((n, m), "float32"))
        b = R.call_tir(cls.add, (x, a), out_sinfo=R.Tensor((n, m), "float32"))
        u = t[1]
        z = u[0]
        o = R.call_tir(cls.add, (b, z), out_sinfo=R.Tensor((n, m), "float32"))
        w = R.call_tir(cls.relu, (o,), out_sinfo=R.Tensor((n, m), "float32"))
        return w
"#;
    for seed in 1..=12u64 {
        let mut generator = Generator {
            state: seed.wrapping_mul(0x9E37_79B9_7F4A_7C15),
            names: 0,
        };
        let mut body = String::new();
        let live = ["x".to_owned(), "y".to_owned()];
        let live = generator.body(&live, 0, "        ", &mut body);
        let results: Vec<String> = (0..3).map(|_| generator.pick(&live)).collect();
        let main = format!(
            "    @R.function\n    def main(c: R.Tensor((), \"bool\"), d: R.Tensor((), \"bool\"), \
             x: R.Tensor((\"n\", \"m\"), \"float32\"), y: R.Tensor((\"n\", \"m\"), \"float32\")):\n        \
             n, m = T.int64(), T.int64()\n        cls = Module\n{body}        return ({})\n",
            results.join(", ")
        );
        let calls: Vec<Vec<Value>> = [(true, true), (false, true), (true, false), (false, false)]
            .map(|(c, d)| vec![truth(c), truth(d), matrix(2, 3), matrix(2, 3)])
            .into();
        check(&format!("{layer}\n{main}"), &calls);
    }
}
