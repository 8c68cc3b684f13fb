import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { Fault } from "#core/fault.ts";
import { spawnWithPipes } from "#machine/spawn-with-pipes.ts";

/**
 * A shell that lives as long as the worker and mounts for it.
 *
 * Node cannot call mount(2). The shell has a mount namespace of its own (and a user namespace, when the worker is not
 * root), so its mounts are invisible outside, and disappear when the shell and its jobs end. The shell ends when its
 * stdin closes, which happens even after `kill -9` of the worker.
 */
export interface HelperShell {
  readonly kind: "own-mounts" | "own-mounts-and-users" | "plain";
  /** Changes when the shell is restarted: the mounts of the previous one are gone. */
  readonly generation: number;
  /** Runs a script after the earlier ones. Throws an error with its output when it fails. */
  run(script: string): Promise<void>;
  /** Returns the path at which this process reaches a path of the shell's mount namespace. */
  reach(path: string): string;
  /** The prefix of a command line that runs the command inside the shell's mounts. */
  readonly enter: readonly string[];
  stop(): Promise<void>;
}

const wrappers = {
  "own-mounts": ["unshare", "--mount", "--propagation", "private"],
  "own-mounts-and-users": [
    "unshare",
    "--user",
    "--map-root-user",
    "--mount",
    "--propagation",
    "private",
  ],
  plain: [],
} as const;

/** Options of unshare(1) for a user namespace with all ids that /etc/subuid and /etc/subgid give to this user. */
export const withFurtherUsers = ["--map-auto"] as const;

/**
 * Starts the shell; throws when the kernel does not allow the namespaces.
 *
 * With `furtherUsers`, the user namespace of the shell has more users than its root.
 *
 * When the shell is killed, the next script starts another one. The mounts of the first one are then unreachable:
 * running actions fail as failures of the machine and are retried.
 */
export async function startHelperShell(
  kind: HelperShell["kind"],
  path: string,
  furtherUsers = false,
): Promise<HelperShell> {
  let shell = await openShell(kind, path, furtherUsers);
  let reopening: Promise<void> | undefined;
  let stopped = false;

  const reopen = async () => {
    try {
      shell = await openShell(kind, path, furtherUsers);
    } finally {
      // After a failure, the next script tries again.
      reopening = undefined;
    }
  };

  return {
    kind,
    get generation() {
      return shell.hasEnded() ? 0 : shell.pid;
    },
    async run(script) {
      if (shell.hasEnded() && !stopped) await (reopening ??= reopen());
      await shell.run(script);
    },
    reach: (at) => (kind === "plain" ? at : `/proc/${shell.pid}/root${at}`),
    get enter() {
      return enterCommand(kind, shell.pid);
    },
    async stop() {
      stopped = true;
      await reopening?.catch(() => {});
      await shell.stop();
    },
  };
}

interface OpenShell {
  /** Its process id in /proc, which may belong to another pid namespace. */
  readonly pid: number;
  hasEnded(): boolean;
  /** Runs a script and returns its output. */
  run(script: string): Promise<string>;
  stop(): Promise<void>;
}

async function openShell(
  kind: HelperShell["kind"],
  path: string,
  furtherUsers: boolean,
): Promise<OpenShell> {
  const users = furtherUsers ? withFurtherUsers : [];
  const [program = "sh", ...args] = [...wrappers[kind], ...users, "sh"];
  // Detached: Ctrl-C at a terminal only reaches the worker, which decides how to stop.
  const child = spawnWithPipes(program, args, {
    cwd: "/",
    env: { PATH: path },
    detached: true,
  });
  const pending: Pending[] = [];
  const exited = new Promise<void>((resolve) => child.once("close", () => resolve()));
  listen(child, pending);

  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  const run = (script: string) =>
    new Promise<string>((resolve, reject) => {
      if (hasEnded()) {
        reject(new Fault("unavailable", "the worker's helper shell has ended"));
        return;
      }
      pending.push({ resolve, reject });
      child.stdin.write(`{ ${script}\n} 2>&1 </dev/null; echo "${mark}$?"\n`);
    });

  // The shell reads this file itself, as a part of its redirection.
  const pid = Number(await run("read -r pid rest </proc/self/stat; echo $pid"));
  return {
    pid,
    hasEnded,
    run,
    async stop() {
      child.stdin.end();
      await exited;
    },
  };
}

interface Pending {
  readonly resolve: (printed: string) => void;
  readonly reject: (fault: Fault) => void;
}

const mark = "::grange::";

function listen(child: ChildProcessWithoutNullStreams, pending: Pending[]): void {
  let text = "";
  let complaints = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
    for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n")) {
      const line = text.slice(0, at);
      text = text.slice(at + 1);
      if (!line.startsWith(mark)) {
        complaints += `${line}\n`;
        continue;
      }
      const request = pending.shift();
      if (line === `${mark}0`) request?.resolve(complaints.trim());
      else request?.reject(new Fault("internal", complaints.trim() || "the helper shell failed"));
      complaints = "";
    }
  });
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
    complaints += chunk;
  });
  const end = (why: string) => {
    for (const request of pending.splice(0)) request.reject(new Fault("unavailable", why));
  };
  child.once("error", (cause) => end(`no helper shell: ${cause.message}`));
  child.once("close", () => end(`the helper shell has ended: ${complaints.trim()}`));
  child.stdin.on("error", () => {});
}

function enterCommand(kind: HelperShell["kind"], pid: number): string[] {
  switch (kind) {
    case "plain":
      return [];
    case "own-mounts":
      return ["nsenter", `--mount=/proc/${pid}/ns/mnt`, "--"];
    case "own-mounts-and-users":
      return [
        "nsenter",
        `--user=/proc/${pid}/ns/user`,
        `--mount=/proc/${pid}/ns/mnt`,
        "--preserve-credentials",
        "--",
      ];
  }
}
