//! The `weftile` command.

fn main() -> std::process::ExitCode {
    without_screen();
    weftile::cli::main()
}

/// Without a session there is no screen, and so nothing to learn from the Wayland server that Mesa's layer for choosing a device
/// asks: it only prints an error for each look at the devices.
fn without_screen() {
    let unset = |name| std::env::var_os(name).is_none();
    if cfg!(target_os = "linux") && unset("XDG_RUNTIME_DIR") && unset("NODEVICE_SELECT") {
        #[expect(unsafe_code, reason = "the layer reads nothing but the environment")]
        // SAFETY: no other thread runs yet.
        unsafe {
            std::env::set_var("NODEVICE_SELECT", "1");
        }
    }
}
