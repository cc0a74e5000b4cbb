//! Mounted file systems, for tests that need a real one: power cuts, bad sectors, full disks.
//!
//! They need root, `mount` and `mkfs.ext4`. Where one of these is missing, a test that asks for a
//! file system gets none, and is reported as skipped.

#![cfg(target_os = "linux")]

use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

use crate::tool::skipped;

// FS_IOC_GOINGDOWN with "do not flush the log": the file system drops what it has not written, and
// refuses everything from then on. The crate has no unsafe code, so Python makes the call.
const GO_DOWN: &str = "
import fcntl, os, struct, sys
root = os.open(sys.argv[1], os.O_RDONLY)
print(flush=True)
sys.stdin.read(1)
fcntl.ioctl(root, 0x8004587D, struct.pack('I', 2))
";

/// A mounted file system, unmounted and removed when dropped.
pub(crate) struct Mounted {
    dir: TempDir,
    options: &'static str,
}

impl Mounted {
    /// An empty ext4 of this size; `None` where none can be had.
    pub(crate) fn ext4(mebibytes: u32, options: &'static str) -> Option<Self> {
        let dir = tempfile::tempdir().unwrap();
        let image = dir.path().join("image");
        std::fs::File::create(&image).unwrap().set_len(u64::from(mebibytes) << 20).unwrap();
        std::fs::create_dir(dir.path().join("root")).unwrap();
        let mounted = Self { dir, options };
        let made = run(Command::new("mkfs.ext4").args(["-q", "-F", "-m", "0"]).arg(&image));
        let outcome = made.and_then(|()| mounted.mount());
        mounted.unless_refused(outcome, "ext4")
    }

    /// An empty tmpfs of this size; `None` where none can be had.
    pub(crate) fn tmpfs(mebibytes: u32) -> Option<Self> {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("root")).unwrap();
        let mounted = Self { dir, options: "" };
        let size = format!("size={mebibytes}m");
        let mut command = Command::new("mount");
        command.args(["-t", "tmpfs", "-o", &size, "none"]).arg(mounted.root());
        let outcome = run(&mut command);
        mounted.unless_refused(outcome, "tmpfs")
    }

    fn unless_refused(self, outcome: Result<(), String>, kind: &str) -> Option<Self> {
        let Err(reason) = outcome else { return Some(self) };
        skipped(format_args!("cannot mount a {kind}: {reason}"));
        None
    }

    /// Takes all the room there is, to the last block.
    pub(crate) fn fill(&self) {
        let mut options = std::fs::OpenOptions::new();
        let file = options.create(true).append(true).open(self.path().join("filler"));
        let mut file = file.unwrap();
        for bytes in [1 << 20, 64 << 10, 4 << 10, 1 << 10] {
            // Only what is on disk has taken its blocks.
            let chunk = vec![7; bytes];
            while file.write_all(&chunk).and_then(|()| file.sync_data()).is_ok() {}
        }
    }

    /// Its top directory.
    pub(crate) fn path(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join("root")
    }

    /// Makes ready to cut the power, so that the cut itself takes no time.
    pub(crate) fn power_switch(&self) -> PowerSwitch {
        let mut command = Command::new("python3");
        command.args(["-c", GO_DOWN]).arg(self.path());
        let mut switch = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        // It says when it is ready.
        let read = switch.stdout.as_mut().unwrap().read_exact(&mut [0]);
        read.unwrap();
        PowerSwitch(switch)
    }

    /// Mounts it again after a cut. No process may have a file of it open.
    pub(crate) fn restart(&self) {
        run(Command::new("umount").arg(self.path())).unwrap();
        self.mount().unwrap();
    }

    /// Mounts the disk read-only. No process may have a file on it open for writing.
    pub(crate) fn make_read_only(&self) {
        run(Command::new("mount").args(["-o", "remount,ro"]).arg(self.root())).unwrap();
    }

    /// From now on the disk answers reads of this file from byte `at` on with `EIO`; false where
    /// that is not possible. No process may have a file of it open.
    ///
    /// The image is truncated while it is mounted: a loop device cannot read beyond its end.
    pub(crate) fn fail_from(&self, name: &str, at: u64) -> bool {
        run(Command::new("umount").arg(self.path())).unwrap();
        let image = self.dir.path().join("image");
        let ask = |question: String| {
            let asked = Command::new("debugfs").args(["-R", &question]).arg(&image).output();
            String::from_utf8(asked.unwrap().stdout).unwrap()
        };
        let stats = ask("stats -h".to_owned());
        let size = stats.lines().find_map(|line| line.strip_prefix("Block size:")).unwrap();
        let size: u64 = size.trim().parse().unwrap();
        let block: u64 = ask(format!("bmap /{name} {}", at / size)).trim().parse().unwrap();
        self.mount().unwrap();
        // The metadata of the file may be beyond the end, too, so it is read into memory first.
        let mut file = std::fs::File::open(self.path().join(name)).unwrap();
        std::fs::File::options().write(true).open(image).unwrap().set_len(block * size).unwrap();
        let read = file.read_to_end(&mut Vec::new());
        let is_failing = read.is_err_and(|error| error.raw_os_error() == Some(5));
        if !is_failing {
            skipped("the loop device reads beyond the end of its file");
        }
        is_failing
    }

    fn mount(&self) -> Result<(), String> {
        let options = format!("loop,{}", self.options);
        let image = self.dir.path().join("image");
        run(Command::new("mount").args(["-o", &options]).arg(image).arg(self.root()))
    }

    fn root(&self) -> PathBuf {
        self.dir.path().join("root")
    }
}

/// What cuts the power of a file system.
pub(crate) struct PowerSwitch(Child);

impl PowerSwitch {
    /// Loses everything that was not synced, as a power cut does. Open files fail from then on.
    pub(crate) fn cut(mut self) {
        self.0.stdin.take().unwrap().write_all(b"!").unwrap();
        assert!(self.0.wait().unwrap().success());
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        // Lazily, since a test that failed may have left processes behind.
        let _ = run(Command::new("umount").arg("-l").arg(self.root()));
    }
}

fn run(command: &mut Command) -> Result<(), String> {
    let name = Path::new(command.get_program()).display().to_string();
    match command.output() {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(format!("{name}: {}", String::from_utf8_lossy(&output.stderr).trim())),
        Err(error) => Err(format!("{name}: {error}")),
    }
}
