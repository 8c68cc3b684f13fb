import type { ScriptTrial } from "./trial.ts";

const succeeds = (script: string): ScriptTrial => ({ script, withoutSandbox: "succeeds" });
const untried = (script: string): ScriptTrial => ({ script, withoutSandbox: "untried" });

/** Creates and removes a file in a directory. */
const writesTo = (directory: string) =>
  `: > ${directory}/.grange-attack && rm ${directory}/.grange-attack`;

/** Devices that a job needs, and links. */
const harmlessDevices =
  "console|core|fd|full|null|ptmx|pts|random|shm|stderr|stdin|stdout|tty|urandom|zero";

const leaveByChroot = [
  'mkdir "r" or exit 1',
  'opendir(my $outside, ".") or exit 1',
  'chroot "r" or exit 1',
  "chdir $outside or exit 1",
  'chdir ".." for 1 .. 64',
  'chroot "." or exit 1',
  'exec "cat", $ENV{A_HOME}',
].join("; ");

export const fileTrials = {
  "reads the home directory of the worker's user": succeeds('cat "$A_HOME"'),
  "reads the worker's data directory": succeeds('ls -A "$A_DATA" | grep -q .'),
  "reads the machine's /tmp": succeeds('cat "$A_TMP"'),
  "reads the machine's /var/tmp": succeeds('cat "$A_VAR_TMP"'),
  "reads the machine's /dev/shm": succeeds('cat "$A_SHM"'),
  // Its directory is shown: only its mode protects it.
  "reads a file that only root may read": succeeds('cat "$A_SHOWN/of-root"'),
  "reads files of a job that runs at the same time": succeeds(
    'ls "/dev/shm/$A_MARK" "/tmp/$A_MARK" 2>/dev/null | grep -q . || find "$A_DATA" -name "$A_MARK" | grep -q .',
  ),
  "lists the directory of its log pipes": succeeds('ls "$A_PIPES" | grep -q .'),
  "reads through the root directory of another process": succeeds(
    'cat "/proc/1/root$A_HOME" || cat "/proc/$PPID/root$A_HOME" || cat "/proc/$A_PID/root$A_HOME"',
  ),
  "unmounts what hides a directory": untried(
    `unshare -rm sh -c 'cut -d" " -f5 /proc/self/mountinfo | sort -r | while read -r at; do umount "$at" || umount -l "$at"; done; cat "$A_HOME"'`,
  ),
  "leaves its root directory by chroot": succeeds(`unshare -r perl -e '${leaveByChroot}'`),
  "writes to directories of programs": succeeds(writesTo("/usr")),
  "writes to /etc": succeeds(writesTo("/etc")),
  "writes to /sys": succeeds(
    "find /sys/kernel /sys/module -maxdepth 2 -type f -writable | grep -q .",
  ),
  "writes to a directory that the worker shows": succeeds(writesTo('"$A_SHOWN"')),
  "makes a read-only mount writable again": untried(
    `mount -o remount,bind,rw "$A_SHOWN" || unshare -rm sh -c 'mount -o remount,bind,rw "$A_SHOWN" && ${writesTo('"$A_SHOWN"')}'`,
  ),
  "makes a device node": succeeds("mknod d b 8 0 || unshare -r mknod d b 8 0"),
  "opens a device of the machine": succeeds(`ls /dev | grep -vxE '${harmlessDevices}' | grep -q .`),
  "makes a hard link to a file of the machine": untried(
    'ln /etc/passwd l || ln "$(command -v env)" l || ln "$A_SHOWN/open" l',
  ),
  "has an open file of the worker": untried("readlink /proc/self/fd/3 | grep -v '^/proc/'"),
  "finds a mount of an earlier job": untried("grep -q grange-attack /proc/self/mountinfo"),
} satisfies Record<string, ScriptTrial>;
