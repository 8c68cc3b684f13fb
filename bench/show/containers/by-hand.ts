import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { messageOf } from "#core/fault.ts";
import { findProgram } from "../../../test/support/needs/program.ts";

const execute = promisify(execFile);

/** A way to run a command in an image without Grange. */
export type ByHand =
  | {
      readonly kind: "works";
      readonly name: string;
      /** Returns the command line of a run that ends at once; each number names another container. */
      readonly command: (n: number) => readonly string[];
      /** How many times faster an action must be; absent: for information. */
      readonly goal: number | undefined;
    }
  | { readonly kind: "missing"; readonly name: string; readonly why: string };

/** Runs a command; throws with the end of its output when it fails. */
export async function runToEnd([program = "", ...args]: readonly string[]): Promise<void> {
  await execute(program, args, { maxBuffer: 2 ** 26 }).catch((reason: unknown) => {
    const printed = reason instanceof Error && "stderr" in reason ? String(reason.stderr) : "";
    throw new Error(`${program} failed: ${printed.trim().split("\n").at(-1) ?? messageOf(reason)}`);
  });
}

/** crun refuses machines with both hierarchies of control groups: it runs where it sees one. Costs some milliseconds. */
const inUnifiedHierarchy = [
  "unshare",
  "--mount",
  "--",
  "sh",
  "-c",
  'mount -t cgroup2 cgroup2 /sys/fs/cgroup && exec "$@"',
  "sh",
];

/** Returns the mounts below a directory, the inner ones first. */
export function mountsBelow(directory: string): string[] {
  const paths = readFileSync("/proc/self/mountinfo", "utf8")
    .split("\n")
    .map((line) => line.split(" ")[4] ?? "");
  return paths.filter((path) => path.startsWith(`${directory}/`)).toReversed();
}

/** Prepares Podman and crun for the image of these layers, and tries each once. */
export async function containersByHand(
  host: string,
  repository: string,
  layers: readonly Buffer[],
  directory: string,
): Promise<ByHand[]> {
  return [
    await tried("podman run", 5, async () => {
      const podman = [
        ...inUnifiedHierarchy,
        found("podman"),
        "--root",
        join(directory, "podman"),
        "--runroot",
        join(directory, "run"),
        "--storage-driver",
        "overlay",
        "--cgroup-manager",
        "cgroupfs",
      ];
      const image = `${host}/${repository}:v1`;
      const run = [
        ...podman,
        "run",
        "--rm",
        "--network=none",
        "--log-driver=none",
        "--cgroups=disabled",
        "--ulimit=nofile=1024:1024",
        "--ulimit=nproc=1024:1024",
        image,
        "/bin/sh",
        "-c",
        "exit 0",
      ];
      await runToEnd([...podman, "pull", "--quiet", "--tls-verify=false", image]);
      await runToEnd(run);
      return () => run;
    }),
    await tried("crun run", undefined, async () => {
      const crun = found("crun");
      const bundle = join(directory, "bundle");
      const root = join(bundle, "rootfs");
      mkdirSync(root, { recursive: true });
      for (const [n, layer] of layers.entries()) {
        const file = join(directory, `layer-${n}.tar`);
        writeFileSync(file, layer);
        await runToEnd(["tar", "-xf", file, "-C", root]);
      }
      writeFileSync(join(bundle, "config.json"), JSON.stringify(bundleConfig()));
      const command = (n: number) => [
        ...inUnifiedHierarchy,
        crun,
        "--root",
        join(directory, "crun"),
        "--cgroup-manager",
        "disabled",
        "run",
        "--bundle",
        bundle,
        `grange-show-${process.pid}-${n}`,
      ];
      await runToEnd(command(0));
      return command;
    }),
  ];
}

async function tried(
  name: string,
  goal: number | undefined,
  prepare: () => Promise<(n: number) => readonly string[]>,
): Promise<ByHand> {
  try {
    return { kind: "works", name, goal, command: await prepare() };
  } catch (reason) {
    return { kind: "missing", name, why: `it does not run here: ${messageOf(reason)}` };
  }
}

function found(program: string): string {
  const path = findProgram(program);
  if (path === undefined) throw new Error(`install Debian's package ${program}`);
  return path;
}

/** The configuration of an OCI bundle whose command ends at once. */
function bundleConfig() {
  const mount = (destination: string, type: string) => ({ destination, type, source: type });
  return {
    ociVersion: "1.0.2",
    process: {
      terminal: false,
      user: { uid: 0, gid: 0 },
      args: ["/bin/sh", "-c", "exit 0"],
      env: ["PATH=/bin"],
      cwd: "/",
    },
    root: { path: "rootfs", readonly: true },
    mounts: [mount("/proc", "proc"), mount("/dev", "tmpfs"), mount("/tmp", "tmpfs")],
    linux: {
      namespaces: ["pid", "mount", "ipc", "uts", "network"].map((type) => ({ type })),
    },
  };
}
