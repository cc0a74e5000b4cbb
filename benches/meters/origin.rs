//! What the counts depend on beside the code: the compiler, what the processor has, the C library.

use std::path::Path;
use std::process::Command;

/// One line that is the same wherever the counts can be compared.
pub(crate) fn made_by() -> Result<String, String> {
    let compiler = first_line("rustc", &["--version"])?;
    // A system without it has another C library, and then its name is enough.
    let library =
        first_line("getconf", &["GNU_LIBC_VERSION"]).unwrap_or_else(|_| "another libc".to_owned());
    Ok(format!("{compiler}, {}, {library}", processor()))
}

/// What zstd, memchr and the C library ask the processor for at run time and valgrind has, too.
fn processor() -> String {
    let mut has = vec![std::env::consts::ARCH];
    #[cfg(target_arch = "x86_64")]
    {
        if std::is_x86_feature_detected!("sse4.2") {
            has.push("sse4.2");
        }
        if std::is_x86_feature_detected!("avx2") {
            has.push("avx2");
        }
        if std::is_x86_feature_detected!("bmi2") {
            has.push("bmi2");
        }
    }
    has.join(" ")
}

fn first_line(program: &str, arguments: &[&str]) -> Result<String, String> {
    // From the root of the crate, so that a toolchain file there counts.
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let output = Command::new(program).args(arguments).current_dir(root).output();
    let output = output.map_err(|error| format!("cannot run {program}: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().next().filter(|_| output.status.success());
    line.map(str::to_owned).ok_or_else(|| format!("{program} {arguments:?} fails"))
}
