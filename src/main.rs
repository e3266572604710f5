//! The `weftile` command.

fn main() -> std::process::ExitCode {
    weftile::cli::main()
}
