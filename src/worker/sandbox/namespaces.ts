import { join } from "node:path";
import { quoteForShell } from "../quote-for-shell.ts";
import type { ViewStep } from "./host-view.ts";
import {
  fixedPlaces,
  jobUser,
  lookedUp,
  type Sandbox,
  type SandboxedCommand,
  secretsPlace,
} from "./sandbox.ts";

/**
 * The same sandbox as bubblewrap's, from what every Linux has: `unshare`, `mount`
 * and `pivot_root` of util-linux. Slower, since each mount is a process.
 */
export function namespacesSandbox(view: readonly ViewStep[], scratch: string): Sandbox {
  return {
    kind: "namespaces",
    ownPids: true,
    placesOf: () => fixedPlaces,
    commandLine: (command) =>
      [
        ["unshare", "--mount", "--propagation", "private", "--pid", "--fork", "--kill-child"],
        ["--ipc", "--uts", ...(command.network ? [] : ["--net"])],
        ["sh", "-c", setupScript(view, scratch, command), "sh"],
        [...command.environment].map(([name, value]) => `${name}=${value}`),
        lookedUp(command.arguments),
      ].flat(),
  };
}

function setupScript(
  view: readonly ViewStep[],
  scratch: string,
  command: SandboxedCommand,
): string {
  const q = quoteForShell;
  const bind = (from: string, to: string) => `mount --bind ${q(from)} ${q(`.${to}`)}`;
  const user = `--user --map-user=${jobUser.uid} --map-group=${jobUser.gid}`;
  const devices = ["null", "zero", "full", "random", "urandom", "tty"];
  return [
    "set -e",
    `mount -t tmpfs -o mode=755 tmpfs ${q(scratch)}; cd ${q(scratch)}`,
    "mkdir -p proc dev tmp grange/work grange/home .old",
    ...view.map(mountStep),
    `${bind(command.temp, "/tmp")}; ${bind(command.home, fixedPlaces.home)}; ${bind(command.root, fixedPlaces.root)}`,
    ...(command.secrets === undefined
      ? []
      : [
          `mkdir grange/secrets; ${bind(command.secrets, secretsPlace)}`,
          `mount -o remount,bind,ro,nosuid,nodev,noexec ${q(`.${secretsPlace}`)}`,
        ]),
    "mount -t tmpfs -o mode=755 tmpfs dev; mkdir dev/shm dev/pts; mount -t tmpfs -o mode=1777 tmpfs dev/shm",
    `for d in ${devices.join(" ")}; do : > dev/$d; mount --bind /dev/$d dev/$d; done`,
    "ln -s /proc/self/fd dev/fd; ln -s fd/0 dev/stdin; ln -s fd/1 dev/stdout; ln -s fd/2 dev/stderr",
    "mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts dev/pts 2>/dev/null && ln -s pts/ptmx dev/ptmx || :",
    // Inside a container with a masked /proc only the one that is there may be shown.
    "mount -t proc proc proc 2>/dev/null || mount --rbind /proc proc",
    // Without `ip` the loopback stays down; the facilities say so.
    ...(command.network
      ? []
      : ["ip link set lo up 2>/dev/null || ifconfig lo up 2>/dev/null || :"]),
    "hostname grange 2>/dev/null || :",
    "pivot_root . .old; umount -l .old; rmdir .old 2>/dev/null || :",
    // The user namespace of its own takes the rights over all these mounts away.
    `cd ${q(join(fixedPlaces.root, command.workingDirectory))}`,
    `exec unshare ${user} -- env -i "$@"`,
  ].join("\n");
}

function mountStep(step: ViewStep): string {
  const at = quoteForShell(`.${step.path}`);
  switch (step.kind) {
    case "show": {
      const from = quoteForShell(step.from);
      return [
        `if [ -d ${from} ]; then mkdir -p ${at}; mount --rbind ${from} ${at}`,
        `elif [ -e ${from} ]; then [ -e ${at} ] || { mkdir -p "$(dirname ${at})"; : > ${at}; }; mount --bind ${from} ${at}; fi`,
        `[ ! -e ${from} ] || mount -o remount,bind,ro ${at}`,
      ].join("\n");
    }
    case "link":
      return `ln -s ${quoteForShell(step.target)} ${at}`;
    case "empty":
      return `mkdir -p ${at}; mount -t tmpfs -o mode=755 tmpfs ${at}`;
  }
}
