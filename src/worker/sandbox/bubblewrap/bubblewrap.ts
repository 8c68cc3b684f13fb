import { join } from "node:path";
import { asJobOwner, jobOwner, jobUser } from "#machine/job-owner.ts";
import { numberOfThisProcess } from "#machine/process-numbers.ts";
import type { ViewStep } from "../../image/image-provider.ts";
import { asContainerUser, type ContainerUser, mappingRights } from "../container-user.ts";
import { goScript } from "../go-script.ts";
import {
  fixedPlaces,
  type ImageOfCommand,
  kernelSettings,
  type Places,
  type ProcKind,
  type Sandbox,
  secretsPlace,
  withExactEnvironment,
} from "../sandbox.ts";
import { type SandboxKind, withEitherProc } from "../sandbox-kind.ts";
import type { Restriction } from "../system-calls/choose-restriction.ts";
import { encodeCommand } from "../waiting-command.ts";

export const bubblewrapKind: SandboxKind = {
  kind: "bubblewrap",
  open: async ({ view, restriction }) =>
    withEitherProc("bubblewrap", (proc) => bubblewrapSandbox(view, proc, restriction)),
  // bubblewrap looks its child up by its process id: a trial succeeds by mistake when another process has this id.
  unusable: () =>
    numberOfThisProcess() === process.pid ? undefined : "/proc is that of another pid namespace",
  complaint: (printed) =>
    /failed to execute bwrap: No such file|bwrap ENOENT/.test(printed)
      ? "bwrap is not installed"
      : undefined,
};

/** Jobs run by bubblewrap: about 5 ms each, as root or not. */
function bubblewrapSandbox(
  view: readonly ViewStep[],
  proc: ProcKind,
  restriction: Restriction,
): Sandbox {
  const setup = (steps: readonly ViewStep[], user?: ContainerUser) =>
    [
      user === undefined ? rightsForJobs : mappingRights.flatMap((right) => ["--cap-add", right]),
      // No cgroup namespace: the machine's cgroups are mounted, and inside such a namespace their roots appear as "/..".
      // Java 17 fails with an exception on that. Without the namespace, a Java virtual machine finds the limits of its
      // job.
      ["--unshare-ipc", "--unshare-uts", "--hostname", "grange"],
      ["--unshare-pid", "--die-with-parent", "--clearenv"],
      steps.flatMap((step, at) => [
        ...directoriesAbove(step.path, steps.slice(0, at)),
        ...bindStep(step),
      ]),
      directoriesAbove(fixedPlaces.root, steps),
      proc === "own" ? ownProc : sharedProc,
      ["--dev", "/dev", "--perms", "1777", "--tmpfs", "/dev/shm"],
    ].flat();
  const onHost = setup(view);
  const begin = (image: ImageOfCommand | undefined, user?: ContainerUser) => [
    "bwrap",
    ...(image === undefined && user === undefined ? onHost : setup(image?.view ?? view, user)),
  ];
  const become = (
    image: ImageOfCommand | undefined,
    { user, network }: { readonly user?: ContainerUser | undefined; readonly network: boolean },
  ): (readonly string[])[] => {
    const restricted = restriction.before({ network });
    if (user !== undefined) return [asContainerUser(user, image?.programs.command), restricted];
    if (jobOwner === undefined) return [restricted];
    if (restriction.changesUser) return [restriction.before({ network, asJobOwner: true })];
    return [asJobOwner(jobOwner, image?.programs.command), restricted];
  };
  const ownWaiter =
    jobOwner === undefined || restriction.changesUser ? restriction.waiting : undefined;
  /** A program that waits for a command, or a shell that waits for a script. */
  const waiter = (image: ImageOfCommand | undefined): (readonly string[])[] =>
    ownWaiter !== undefined
      ? [ownWaiter({ asJobOwner: jobOwner !== undefined })]
      : [
          ...become(image, { network: false }),
          [...(image?.programs.command("sh") ?? ["/bin/sh"]), "-s"],
        ];
  const binds = ({ root, temp, home }: Places) =>
    [
      [temp, fixedPlaces.temp],
      [home, fixedPlaces.home],
      [root, fixedPlaces.root],
    ] as const;
  const places = (at: Places) => binds(at).map((each) => ["--bind", ...each]);
  // Only root can join the namespaces of the original, and only with its own /proc is nothing shared.
  const canBeCopied = proc === "own" && jobOwner !== undefined && ownWaiter !== undefined;
  return {
    kind: "bubblewrap",
    isolates: true,
    runsImages: true,
    ownPids: true,
    ownProc: proc === "own",
    placesOf: () => fixedPlaces,
    commandLine: (command) => {
      const { image, user } = command;
      return [
        begin(image, user),
        command.network || command.inNamespace === true ? [] : ["--unshare-net"],
        ...places(command),
        command.secrets === undefined ? [] : ["--ro-bind", command.secrets, secretsPlace],
        (command.binds ?? []).flatMap(({ path, from, writable }) => [
          writable ? "--bind" : "--ro-bind",
          from,
          path,
        ]),
        ["--chdir", join(fixedPlaces.root, command.workingDirectory)],
        ["--", ...become(image, { user, network: command.network }).flat()],
        withExactEnvironment(
          command.arguments,
          command.environment,
          image?.programs.command("env"),
        ),
      ].flat();
    },
    copies: canBeCopied ? { view, waiter: ownWaiter({ asJobOwner: true }), binds } : undefined,
    waiting: (at, image) =>
      [
        [...begin(image), "--unshare-net"],
        ...places(at),
        ["--chdir", "/", "--unsetenv", "PWD", "--"],
        ...waiter(image),
      ].flat(),
    encodeWaiting: (command, image) =>
      ownWaiter !== undefined
        ? encodeCommand(command)
        : Buffer.from(goScript({ ...command, env: image?.programs.command("env") })),
  };
}

/** A command as the user of jobs. */
const rightsForJobs =
  jobOwner === undefined
    ? ["--unshare-user", "--uid", `${jobUser.uid}`, "--gid", `${jobUser.gid}`]
    : ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"];

/**
 * Returns the missing parent directories of a step's mounts, the upper ones first. If bubblewrap made them itself, only
 * root could open them.
 */
function directoriesAbove(path: string, before: readonly ViewStep[]): string[] {
  // In an image, everything is there on which the sandbox mounts.
  if (before[0]?.path === "/") return [];
  const names = path.split("/").slice(1, -1);
  return names.flatMap((_, depth) => {
    const at = `/${names.slice(0, depth + 1).join("/")}`;
    const within = before.findLast((step) => at === step.path || at.startsWith(`${step.path}/`));
    const isThere = within !== undefined && (within.kind !== "empty" || within.path === at);
    return isThere ? [] : ["--perms", "0755", "--dir", at];
  });
}

const sealedSettings = kernelSettings.flatMap((name) => {
  const at = `/proc/${name}`;
  return ["--ro-bind-try", at, at];
});

/** Only root can write settings of the kernel; bubblewrap itself protects a part of them (0.8 not /proc/sys). */
const ownProc = ["--proc", "/proc", ...(jobOwner === undefined ? [] : sealedSettings)];

/**
 * Writable, because a process writes to /proc/self/uid_map when it creates a user namespace; but settings of the kernel
 * are read-only.
 */
const sharedProc = ["--bind", "/proc", "/proc", ...sealedSettings];

function bindStep(step: ViewStep): string[] {
  switch (step.kind) {
    case "show":
      return ["--ro-bind-try", step.from, step.path];
    case "link":
      return ["--symlink", step.target, step.path];
    case "empty":
      return ["--tmpfs", step.path];
  }
}
