//! What a technician installs: the unit, the manual pages and completions, the package.

mod support;

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use support::play::ATALAYA;

/// Tools of the distribution that only this test needs: without one a part is skipped, and says so.
fn tool(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let found = env::split_paths(&path).map(|dir| dir.join(name));
    let found = found.into_iter().find(|file| file.is_file());
    if found.is_none() {
        println!("skipped: {name} is not installed");
    }
    found
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Runs it; what it wrote, when it ended well and complained of nothing.
fn quietly(command: &mut Command) -> String {
    let Output {
        status,
        stdout,
        stderr,
    } = command.output().expect("it runs");
    let said = String::from_utf8_lossy(&stderr);
    assert!(status.success() && said.is_empty(), "{command:?}: {said}");
    String::from_utf8(stdout).expect("text")
}

#[test]
fn the_unit_is_sound_and_exposes_little() {
    let Some(analyze) = tool("systemd-analyze") else {
        return;
    };
    let dir = tempfile::tempdir().expect("a folder");
    let unit = fs::read_to_string(root().join("systemd/atalaya.service")).expect("the unit");
    let here = unit.replace("/usr/bin/atalaya", ATALAYA);
    assert_ne!(unit, here);
    let file = dir.path().join("atalaya.service");
    fs::write(&file, here).expect("it writes");
    quietly(Command::new(&analyze).arg("verify").arg(&file));
    let mut score = Command::new(&analyze);
    // tenths: 1.5
    score.args(["security", "--offline=true", "--no-pager", "--threshold=15"]);
    let output = score.arg(&file).output().expect("it runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let last = text.lines().last().unwrap_or_default();
    println!("{last}");
    assert!(output.status.success(), "{text}");
}

/// Manual pages and completions in a folder of their own.
fn package(folder: &Path) {
    quietly(Command::new(ATALAYA).arg("package").arg(folder));
}

#[test]
fn every_command_has_a_manual_page_and_completions() {
    let dir = tempfile::tempdir().expect("a folder");
    package(dir.path());
    let help = quietly(Command::new(ATALAYA).arg("--help"));
    let commands = support::commands(&help);
    assert!(commands.contains(&"doctor"));
    assert!(!commands.contains(&"package"), "it is for packagers");
    let bash = fs::read_to_string(dir.path().join("atalaya.bash")).expect("completions");
    for command in commands.iter().filter(|name| **name != "help") {
        let page = dir.path().join(format!("atalaya-{command}.1"));
        let page = fs::read_to_string(&page).unwrap_or_else(|why| panic!("{command}: {why}"));
        assert!(page.contains("Example: atalaya"), "{command}");
        assert!(bash.contains(command), "{command}");
    }
    if tool("bash").is_some() {
        quietly(
            Command::new("bash")
                .arg("-n")
                .arg(dir.path().join("atalaya.bash")),
        );
    }
    if tool("man").is_some() {
        for entry in fs::read_dir(dir.path()).expect("it lists") {
            let path = entry.expect("an entry").path();
            if path.extension().is_some_and(|ending| ending == "1") {
                let mut man = Command::new("man");
                man.args(["--warnings", "-E", "UTF-8", "-Tutf8", "-l"])
                    .arg(&path);
                let text = quietly(man.env("MANPAGER", "cat").env("MANROFFSEQ", ""));
                assert!(text.lines().count() > 5, "{}", path.display());
            }
        }
    }
}

#[test]
fn the_package_holds_all_that_is_needed() {
    let (Some(_), Some(dpkg)) = (tool("cargo-deb"), tool("dpkg-deb")) else {
        return;
    };
    package(&root().join("target/package"));
    let dir = tempfile::tempdir().expect("a folder");
    let deb = dir.path().join("atalaya.deb");
    let profile = if cfg!(debug_assertions) {
        "dev"
    } else {
        "release"
    };
    let mut build = Command::new("cargo");
    build
        .args([
            "deb",
            "--no-build",
            "--no-strip",
            "--fast",
            "--profile",
            profile,
            "--output",
        ])
        .arg(&deb)
        .current_dir(root());
    let built = build.output().expect("it runs");
    let said = String::from_utf8_lossy(&built.stderr);
    assert!(built.status.success(), "{said}");

    let about = quietly(Command::new(&dpkg).arg("--info").arg(&deb));
    for line in ["Package: atalaya", "Section: misc", "conffiles", "postinst"] {
        assert!(about.contains(line), "{line}: {about}");
    }
    let unpacked = dir.path().join("root");
    quietly(
        Command::new(&dpkg)
            .arg("--extract")
            .arg(&deb)
            .arg(&unpacked),
    );
    for file in [
        "usr/bin/atalaya",
        "etc/atalaya/atalaya.toml",
        "usr/lib/systemd/system/atalaya.service",
        "usr/lib/udev/rules.d/60-atalaya.rules",
        "usr/share/man/man1/atalaya-run.1.gz",
        "usr/share/bash-completion/completions/atalaya",
        "usr/share/zsh/vendor-completions/_atalaya",
        "usr/share/fish/vendor_completions.d/atalaya.fish",
        "usr/share/doc/atalaya/copyright",
    ] {
        assert!(unpacked.join(file).exists(), "{file}");
    }
    // As it is installed, it runs: on a configuration as it is shipped.
    let program = unpacked.join("usr/bin/atalaya");
    let config = unpacked.join("etc/atalaya/atalaya.toml");
    let said = quietly(
        Command::new(program)
            .arg("check")
            .arg("--config")
            .arg(config),
    );
    assert!(said.starts_with("configuration good"), "{said}");
    let scripts = dir.path().join("scripts");
    quietly(Command::new(&dpkg).arg("--control").arg(&deb).arg(&scripts));
    let postinst = fs::read_to_string(scripts.join("postinst")).expect("a script");
    assert!(!postinst.contains("#DEBHELPER#"), "{postinst}");
    quietly(Command::new("sh").arg("-n").arg(scripts.join("postinst")));
}
