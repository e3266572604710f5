//! Runs cargo, and says that it still does where cargo itself says nothing.

use std::path::Path;
use std::process::Command;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// How long a command may run before the next line about it.
const HEARTBEAT: Duration = Duration::from_secs(30);

/// Runs cargo with these arguments in the repository; whether it succeeded.
pub(crate) fn run(args: &[String], env: &[(&str, &str)]) -> bool {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command
        .args(args)
        .envs(env.iter().copied())
        .current_dir(root());
    match command.status() {
        Ok(status) => status.success(),
        Err(error) => {
            eprintln!("xtask: cannot start cargo: {error}");
            false
        }
    }
}

/// Calls `f`, and while it runs, prints every half minute that `name` does and for how long.
pub(crate) fn with_heartbeat<T>(name: &str, f: impl FnOnce() -> T) -> T {
    let (done, wait) = channel::<()>();
    let start = Instant::now();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            while wait.recv_timeout(HEARTBEAT) == Err(RecvTimeoutError::Timeout) {
                println!("-- {name}: {} s", start.elapsed().as_secs());
            }
        });
        let result = f();
        drop(done);
        result
    })
}

/// The repository: the folder above this package.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("xtask lies in the repository")
}
