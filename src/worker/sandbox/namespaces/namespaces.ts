import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { asJobOwner, jobOwner, jobUser, setpriv } from "#machine/job-owner.ts";
import type { ViewStep } from "../../image/image-provider.ts";
import { quoteForShell } from "../../quote-for-shell.ts";
import { asContainerUser } from "../container-user.ts";
import type { HostProgram } from "../host-programs.ts";
import {
  fixedPlaces,
  kernelSettings,
  type ProcKind,
  type Sandbox,
  type SandboxedCommand,
  secretsPlace,
  withExactEnvironment,
} from "../sandbox.ts";
import { type SandboxKind, withEitherProc } from "../sandbox-kind.ts";
import type { Restriction } from "../system-calls/choose-restriction.ts";
import { openLoopback } from "./loopback-program.ts";

export const namespacesKind: SandboxKind = {
  kind: "namespaces",
  async open({ view, restriction, runDir }) {
    const newRoot = join(runDir, "new-root");
    await mkdir(newRoot, { recursive: true });
    const loopback = await openLoopback(runDir);
    return withEitherProc("namespaces", (proc) =>
      namespacesSandbox({ view, newRoot, proc, loopback, restriction }),
    );
  },
};

interface NamespacesSettings {
  readonly view: readonly ViewStep[];
  /** An empty directory, on which each job mounts its root. */
  readonly newRoot: string;
  readonly proc: ProcKind;
  /** A command that activates the loopback interface; see `loopback-program.ts`. */
  readonly loopback: string;
  readonly restriction: Restriction;
}

/**
 * The same sandbox as bubblewrap's, made with tools that every Linux has: `unshare`, `mount` and `pivot_root` of
 * util-linux. It is slower, because each mount is a process.
 */
function namespacesSandbox(settings: NamespacesSettings): Sandbox {
  return {
    kind: "namespaces",
    isolates: true,
    runsImages: true,
    ownPids: true,
    ownProc: settings.proc === "own",
    placesOf: () => fixedPlaces,
    commandLine: (command) =>
      [
        ["unshare", "--mount", "--propagation", "private", "--pid", "--fork", "--kill-child"],
        ["--ipc", "--uts", ...(sharesNetwork(command) ? [] : ["--net"])],
        ["sh", "-c", setupScript(settings, command), "sh"],
        withExactEnvironment(
          command.arguments,
          command.environment,
          command.image?.programs.command("env"),
        ),
      ].flat(),
  };
}

function sharesNetwork({ network, inNamespace }: SandboxedCommand): boolean {
  return network || inNamespace === true;
}

/** Mounts with this source are writable for the job. */
const emptySource = "grange-empty";

/**
 * Programs of a job get no additional rights from setuid bits or file capabilities. bubblewrap and `asJobOwner` do the
 * same, and so does the program of `system-calls`, if there is one.
 */
const withoutNewRights = existsSync(setpriv) ? `${setpriv} --no-new-privs -- ` : "";

function setupScript(
  { view, newRoot, proc, loopback, restriction }: NamespacesSettings,
  command: SandboxedCommand,
): string {
  const q = quoteForShell;
  const bind = (from: string, to: string) => `mount --bind ${q(from)} ${q(`.${to}`)}`;
  const restrict = restriction.before(command).map(q).join(" ");
  const { image, user } = command;
  const steps = image === undefined ? view : image.view.slice(1);
  // After the switch of the root, only what is in it can be started.
  const inside = (program: HostProgram, path: string) =>
    image === undefined ? path : image.programs.command(program).map(q).join(" ");
  const noNewRights =
    image === undefined ? withoutNewRights : `${inside("setpriv", setpriv)} --no-new-privs -- `;
  const ofJobs = () =>
    jobOwner === undefined
      ? `${restrict === "" ? noNewRights : ""}${inside("unshare", "unshare")} --user --map-user=${jobUser.uid} --map-group=${jobUser.gid} --`
      : asJobOwner(jobOwner, image?.programs.command).map(q).join(" ");
  const become =
    user === undefined ? ofJobs() : asContainerUser(user, image?.programs.command).map(q).join(" ");
  const devices = ["null", "zero", "full", "random", "urandom", "tty"];
  return [
    "set -e",
    ...(image === undefined
      ? [
          `mount -t tmpfs -o mode=755 tmpfs ${q(newRoot)}; cd ${q(newRoot)}`,
          "mkdir -p proc dev tmp grange/work grange/home .old",
        ]
      : [
          `mount --bind ${q(image.view[0]?.kind === "show" ? image.view[0].from : "")} ${q(newRoot)}; cd ${q(newRoot)}`,
          "mount -o remount,bind,ro,nosuid,nodev .",
        ]),
    ...steps.map(mountStep),
    sealScript,
    `${bind(command.temp, "/tmp")}; ${bind(command.home, fixedPlaces.home)}; ${bind(command.root, fixedPlaces.root)}`,
    ...(command.secrets === undefined
      ? []
      : [
          `mkdir -p grange/secrets; ${bind(command.secrets, secretsPlace)}`,
          `mount -o remount,bind,ro,nosuid,nodev,noexec ${q(`.${secretsPlace}`)}`,
        ]),
    ...(command.binds ?? []).flatMap(({ path, from, writable }) => [
      bind(from, path),
      ...(writable ? [] : [`mount -o remount,bind,ro,nosuid,nodev ${q(`.${path}`)}`]),
    ]),
    "mount -t tmpfs -o mode=755 tmpfs dev; mkdir dev/shm dev/pts; mount -t tmpfs -o mode=1777 tmpfs dev/shm",
    `for d in ${devices.join(" ")}; do if [ -e /dev/$d ]; then : > dev/$d; mount --bind /dev/$d dev/$d; fi; done`,
    "ln -s /proc/self/fd dev/fd; ln -s fd/0 dev/stdin; ln -s fd/1 dev/stdout; ln -s fd/2 dev/stderr",
    "mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts dev/pts 2>/dev/null && ln -s pts/ptmx dev/ptmx || :",
    proc === "own" ? "mount -t proc proc proc" : "mount --rbind /proc proc",
    sealProcScript,
    ...(sharesNetwork(command) ? [] : [`${loopback} 2>/dev/null || :`]),
    "hostname grange 2>/dev/null || :",
    image === undefined
      ? "pivot_root . .old; umount -l .old; rmdir .old 2>/dev/null || :"
      : `pivot_root . grange/old; ${inside("umount", "umount")} -l /grange/old`,
    // The command's own user namespace removes its rights over all these mounts.
    `cd ${q(join(fixedPlaces.root, command.workingDirectory))}`,
    `exec ${become} ${restrict} ${inside("sh", "/bin/sh")} -c ${q(initScript)} sh "$@"`,
  ].join("\n");
}

/**
 * The first process of the job's pid namespace, which waits for the command and returns its exit code.
 *
 * The command cannot be that process itself: the kernel does not deliver signals without a handler to it, so `kill
 * -SEGV $$` or abort(3) would do nothing. The messages that a shell prints about signals do not appear in the job's
 * log.
 */
const initScript = 'exec 3>&2 2>/dev/null; (exec 2>&3 3>&-; exec "$@"); exit $?';

/**
 * Makes all file systems below the new root read-only, also those that the host has mounted below a shown directory: a
 * remount changes one mount, and mount(8) has `ro=recursive` only since 2.39.
 *
 * `noexec` is kept: in a user namespace, options of the host's mounts cannot be removed. A mount that can be neither
 * changed nor unmounted must not be reachable.
 */
const sealScript = `
top=$(pwd -P)
while read -r _ _ _ _ at options rest; do
  case $at in "$top"/*) ;; *) continue ;; esac
  case $rest in *" ${emptySource} "*) continue ;; esac
  case ,$options, in *,ro,*nosuid,nodev*) continue ;; *,noexec,*) keep=,noexec ;; *) keep= ;; esac
  at=$(printf '%b' "$at")
  mount -o "remount,bind,ro,nosuid,nodev$keep" "$at" || umount -l "$at" || [ ! -e "$at" ]
done </proc/self/mountinfo`;

/** Only root can write settings of the kernel, and for the kernel a job of a worker that runs as root is root. */
const sealProcScript = `
if [ -w proc/sys/kernel/core_pattern ] || [ -w proc/sysrq-trigger ]; then
  for p in ${kernelSettings.join(" ")}; do
    if [ -e "proc/$p" ]; then mount --bind "proc/$p" "proc/$p"; mount -o remount,bind,ro,nosuid,nodev,noexec "proc/$p"; fi
  done
fi`;

function mountStep(step: ViewStep): string {
  const at = quoteForShell(`.${step.path}`);
  switch (step.kind) {
    case "show": {
      const from = quoteForShell(step.from);
      return [
        `if [ -d ${from} ]; then mkdir -p ${at}; mount --rbind ${from} ${at}`,
        `elif [ -e ${from} ]; then [ -e ${at} ] || { mkdir -p "$(dirname ${at})"; : > ${at}; }; mount --bind ${from} ${at}; fi`,
      ].join("\n");
    }
    case "link":
      return `ln -s ${quoteForShell(step.target)} ${at}`;
    case "empty":
      return `mkdir -p ${at}; mount -t tmpfs -o mode=755 ${emptySource} ${at}`;
  }
}
