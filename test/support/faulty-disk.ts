import { type ChildProcess, execFile, spawn, spawnSync } from "node:child_process";
import { mkdir, mkdtemp, rm, statfs, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Need } from "./needs/needs.ts";
import { programs } from "./needs/program.ts";

const run = promisify(execFile);

/** A mount namespace: disks that are mounted in it are visible only to the processes that are started in it. */
export interface MountNamespace {
  /** The arguments before a command line that run it in the namespace. */
  readonly within: readonly string[];
  /** Returns the path by which processes outside the namespace see a path in it. */
  outside(path: string): string;
  /** Runs a command in the namespace to its end. Throws when it fails. */
  run(...command: readonly string[]): Promise<void>;
  /** Ends the namespace. The kernel removes its mounts when the last process in it has ended. */
  remove(): Promise<void>;
}

export async function mountNamespace(): Promise<MountNamespace> {
  // `cat` ends when its input does, and so with the process of the test, however that ends.
  const holder = spawn("unshare", ["--mount", "sh", "-c", "echo ready; exec cat"], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  await lineOf(holder);
  const within = ["nsenter", `--mount=/proc/${holder.pid}/ns/mnt`, "--"];
  return {
    within,
    outside: (path) => join("/proc", String(holder.pid), "root", path),
    run: async (...command) => void (await run(within[0] ?? "", [...within.slice(1), ...command])),
    async remove() {
      const ended = new Promise((resolve) => holder.once("exit", resolve));
      holder.stdin?.end();
      await ended;
    },
  };
}

function lineOf(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    child.stdout?.once("data", () => resolve());
    child.once("error", reject);
    child.once("exit", (code) => reject(new Error(`no mount namespace: exit code ${code}`)));
  });
}

/**
 * A disk that can fail: an ext4 file system in a file, through a loop device.
 *
 * ext4 is the file system of most servers, and has the failures of a real disk built in for its own tests.
 */
export interface FaultyDisk {
  /** Writes until no space is left. */
  fill(): Promise<void>;
  /**
   * Stops the file system at once: every call fails with EIO, and what was written but not synced is lost, as in a
   * power failure. Nothing in memory is written out.
   */
  fail(): Promise<void>;
  /** Makes ext4 find an error, after which it allows no more writes (`errors=remount-ro`). */
  becomeReadOnly(): Promise<void>;
  /** Frees the space of `fill`. */
  free(): Promise<void>;
  /** Processes that still have files of it open keep them. Disks that are mounted below go first. */
  unmount(): Promise<void>;
  /** Mounts the disk anew, as after a restart or after its cable was plugged in again. */
  mount(): Promise<void>;
  /** Unmounts the disk and removes its image. */
  remove(): Promise<void>;
}

/** Without these options, ext4 would write unsynced data to the disk every 5 s, and much of the data when it is mounted. */
const mountOptions = "commit=600,errors=remount-ro";
const makeOptions = ["-q", "-F", "-m", "0", "-E", "lazy_itable_init=0,lazy_journal_init=0"];

/** Mounts a new disk on a directory in the namespace; creates the directory. */
export async function faultyDisk(
  namespace: MountNamespace,
  directory: string,
  mebibytes: number,
): Promise<FaultyDisk> {
  const folder = await mkdtemp(join(tmpdir(), "grange-disk-"));
  const image = join(folder, "image");
  await writeFile(image, "");
  await truncate(image, mebibytes * 2 ** 20);
  await run("mkfs.ext4", [...makeOptions, image]);
  const seen = namespace.outside(directory);
  await mkdir(seen, { recursive: true });
  const mount = () => namespace.run("sh", "-c", mountImage, image, directory);
  const unmount = () => namespace.run("umount", "--lazy", directory);
  await mount();
  const filler = join(seen, "filler");
  return {
    async fill() {
      const { bavail, bsize } = await statfs(seen);
      // The last blocks one by one: what is free according to statfs may be more than what a file can have.
      await writeFile(filler, Buffer.alloc(bavail * bsize)).catch(expectFull);
      for (let n = 0; n < 64; n++)
        await writeFile(filler, Buffer.alloc(1_024), { flag: "a" }).catch(expectFull);
    },
    free: () => rm(filler, { force: true }),
    fail: () => namespace.run("python3", "-c", shutDown, directory),
    becomeReadOnly: () => namespace.run("sh", "-c", findError, directory),
    unmount,
    mount,
    async remove() {
      await unmount();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function expectFull(reason: unknown): void {
  if ((reason as NodeJS.ErrnoException).code !== "ENOSPC") throw reason;
}

/**
 * Each mount has a loop device of its own, which is gone with it: `mount -o loop` would give a failed file system again
 * while processes have files of it open.
 */
const mountImage = `
device=$(losetup --find --show "$0") || exit 1
mount -o ${mountOptions} "$device" "$1"
mounted=$?
losetup --detach "$device"
exit $mounted
`;

/** EXT4_IOC_SHUTDOWN with EXT4_GOING_FLAGS_NOLOGFLUSH: the log in memory is not written either. */
const shutDown = `
import fcntl, os, struct, sys
directory = os.open(sys.argv[1], os.O_RDONLY)
fcntl.ioctl(directory, 0x8004587d, struct.pack("I", 2))
`;

/** Each ext4 has this file in /sys for its own tests. */
const findError = `
device=$(findmnt --noheadings --output SOURCE --target "$0" | tail -n 1)
echo tested > "/sys/fs/ext4/$(basename "$device")/trigger_fs_error"
`;

/** What a faulty disk needs: the programs, the right to mount, loop devices, and ext4 with `EXT4_IOC_SHUTDOWN`. */
export function faultyDiskNeeds(): readonly Need[] {
  return [
    programs("a disk that can fail", {
      programs: ["mkfs.ext4", "python3", "nsenter", "findmnt", "losetup"],
      packages: ["e2fsprogs", "python3", "util-linux"],
    }),
    loopDisk,
  ];
}

let tried: string | undefined;

const loopDisk: Need = {
  name: "an ext4 file system in a file, mounted for some processes",
  get missing() {
    tried ??= tryLoopDisk();
    return tried === "" ? undefined : tried;
  },
  remedy: { kind: "root" },
};

/** Returns the reason when such a disk cannot be mounted here, else an empty text. */
function tryLoopDisk(): string {
  const script = `
set -e
image=$(mktemp); trap 'rm -f "$image"' EXIT
truncate -s 8M "$image"; mkfs.ext4 -q -F "$image"; mount -o loop,${mountOptions} "$image" /mnt
python3 -c "$0" /mnt`;
  const made = spawnSync("unshare", ["--mount", "sh", "-c", script, shutDown], {
    encoding: "utf8",
  });
  return made.status === 0 ? "" : (made.error?.message ?? made.stderr.trim());
}
