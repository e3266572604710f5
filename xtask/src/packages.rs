//! Installs what tests need with the package manager of the system.

use std::process::Command;

/// Something to install, and the packages that it is in.
pub(crate) struct Package {
    /// What it is, in a message.
    pub(crate) what: &'static str,
    /// Packages of apt-get.
    pub(crate) apt: &'static [&'static str],
    /// Packages of dnf.
    pub(crate) dnf: &'static [&'static str],
    /// Packages of brew.
    pub(crate) brew: &'static [&'static str],
}

/// Why something is not there.
#[derive(Debug)]
pub(crate) enum SetUpError {
    /// None of the package managers known here is installed.
    NoManager { what: &'static str },
    /// A command of the package manager failed.
    Install { what: &'static str, command: String },
    /// It went through, yet the thing is not found.
    StillNone { what: &'static str },
}

impl std::fmt::Display for SetUpError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NoManager { what } => {
                write!(
                    f,
                    "none of apt-get, dnf and brew is there to install {what} with"
                )
            }
            Self::Install { what, command } => {
                write!(f, "`{command}` failed, which installs {what}")
            }
            Self::StillNone { what } => write!(f, "{what} was installed, but is not found"),
        }
    }
}

impl Package {
    /// Installs it with the first package manager that is there.
    pub(crate) fn install(&self) -> Result<(), SetUpError> {
        let apt = [
            &["install", "-q", "-y", "--no-install-recommends"],
            self.apt,
        ]
        .concat();
        let dnf = [&["install", "-q", "-y"], self.dnf].concat();
        let brew = [&["install", "--quiet"], self.brew].concat();
        let managers = [
            ("apt-get", vec![vec!["update", "-q"], apt], Run::AsRoot),
            ("dnf", vec![dnf], Run::AsRoot),
            ("brew", vec![brew], Run::AsUser),
        ];
        let (manager, commands, run) = managers
            .into_iter()
            .find(|(manager, _, _)| on_path(manager))
            .ok_or(SetUpError::NoManager { what: self.what })?;
        println!("installing {} with {manager}", self.what);
        for arguments in commands {
            let mut line = vec![manager];
            line.extend(arguments);
            if run == Run::AsRoot && !is_root() {
                line.insert(0, "sudo");
            }
            println!("$ {}", line.join(" "));
            let status = Command::new(line[0])
                .args(&line[1..])
                .env("DEBIAN_FRONTEND", "noninteractive")
                .status();
            if !status.is_ok_and(|status| status.success()) {
                return Err(SetUpError::Install {
                    what: self.what,
                    command: line.join(" "),
                });
            }
        }
        Ok(())
    }
}

/// Who runs a package manager.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Run {
    AsRoot,
    AsUser,
}

/// Whether there is a program of this name.
pub(crate) fn on_path(program: &str) -> bool {
    std::env::var_os("PATH").is_some_and(|path| {
        std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
    })
}

fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output();
    id.is_ok_and(|out| out.stdout.trim_ascii() == b"0")
}
