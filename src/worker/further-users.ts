import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { messageOf } from "#core/fault.ts";
import { giveToJobs, holds, type JobOwner, jobOwner } from "#machine/job-owner.ts";
import { removeTree } from "#machine/remove-tree.ts";
import { type HelperShell, withFurtherUsers } from "./helper-shell.ts";
import type { IdRange } from "./sandbox/container-user.ts";
import type { Sandbox } from "./sandbox/sandbox.ts";
import { toolPath } from "./tool-path.ts";

const run = promisify(execFile);

/** Whether services can have the users of their images. */
export type FurtherUsers =
  | { readonly kind: "several"; readonly ids: readonly IdRange[] }
  /** All programs run as one user; `why` is for people. */
  | { readonly kind: "one"; readonly why: string };

/** The ids of users in a container besides root, as in /etc/passwd of distributions. */
const mostUsers = 65_535;

/** Ids that neither `useradd` nor systemd gives to anybody; see https://systemd.io/UIDS-GIDS. */
const firstOfRoot = 1_900_000_000;

/** A busy machine starts processes slowly. */
const longestTryMs = 60_000;

/** The facts that determine the ids. */
interface Facts {
  readonly owner: JobOwner | undefined;
  readonly shell: HelperShell["kind"];
  /** The texts of uid_map of this process, and of uid_map and gid_map of the shell. */
  readonly own: string;
  readonly shellUsers: string;
  readonly shellGroups: string;
  /** Why the shell has no further users; for people. */
  readonly refused: string;
}

/** Returns the ids of containers, as the shell's user namespace has them. Root of a container is the user of jobs. */
export function idsOfContainers(facts: Facts): FurtherUsers {
  const { owner } = facts;
  switch (facts.shell) {
    case "plain":
      return { kind: "one", why: "the kernel permits no namespaces" };
    case "own-mounts": {
      const hasAll = [firstOfRoot, firstOfRoot + mostUsers - 1].every((id) => holds(facts.own, id));
      if (owner === undefined || !hasAll)
        return {
          kind: "one",
          why: `the worker runs in a user namespace without the ids from ${firstOfRoot} to ${firstOfRoot + mostUsers - 1}`,
        };
      const root = { inside: 0, outside: owner.uid, count: 1 };
      return {
        kind: "several",
        ids: [root, { inside: 1, outside: firstOfRoot, count: mostUsers }],
      };
    }
    case "own-mounts-and-users": {
      const count = Math.min(usersFromOne(facts.shellUsers), usersFromOne(facts.shellGroups));
      if (count === 0) return { kind: "one", why: facts.refused };
      const root = { inside: 0, outside: 0, count: 1 };
      return { kind: "several", ids: [root, { inside: 1, outside: 1, count }] };
    }
  }
}

/** Returns how many ids a map has from 1 on. */
function usersFromOne(map: string): number {
  const lines = map.split("\n").map((line) => line.trim().split(/\s+/).map(Number));
  const [, , count = 0] = lines.find(([first]) => first === 1) ?? [];
  return Math.min(count, mostUsers);
}

interface UsersSettings {
  readonly path: string;
  readonly diskBytes?: number | undefined;
}

/** Finds out which users containers can have on this machine, and tries it. */
export async function openFurtherUsers(
  { path, diskBytes }: UsersSettings,
  parts: { shell: HelperShell; sandbox: Sandbox; runDir: string; refused: string },
): Promise<FurtherUsers> {
  const { shell, sandbox, runDir, refused } = parts;
  // The worker cannot count files in directories of other users.
  if (process.getuid?.() !== 0 && diskBytes !== undefined)
    return { kind: "one", why: "the worker is not root and has a disk quota" };
  const at = `/proc/${shell.generation}`;
  const users = idsOfContainers({
    owner: jobOwner,
    shell: shell.kind,
    own: mapAt("/proc/self/uid_map"),
    shellUsers: mapAt(`${at}/uid_map`),
    shellGroups: mapAt(`${at}/gid_map`),
    refused,
  });
  if (users.kind === "one") return users;
  const places = { root: "root", temp: "temp", home: "home" };
  for (const name of Object.values(places)) {
    await mkdir(join(runDir, "users", name), { recursive: true });
    giveToJobs(join(runDir, "users", name));
  }
  const commandLine = sandbox.commandLine({
    arguments: ["/bin/sh", "-c", 'id -u; id -g; >"$HOME"/made || echo closed'],
    environment: new Map([
      ["PATH", path],
      ["HOME", "/grange/home"],
    ]),
    root: join(runDir, "users", places.root),
    temp: join(runDir, "users", places.temp),
    home: join(runDir, "users", places.home),
    workingDirectory: "",
    network: false,
    user: { ids: users.ids, uid: 999, gid: 998, groups: [] },
  });
  const [program = "", ...args] = [...shell.enter, ...commandLine];
  try {
    const env = { PATH: toolPath(path) };
    const { stdout } = await run(program, args, { env, timeout: longestTryMs, cwd: "/" });
    if (stdout === "999\n998\nclosed\n") return users;
    return { kind: "one", why: `a trial printed ${JSON.stringify(stdout)}` };
  } catch (reason) {
    const lines = messageOf(reason).trim().split("\n");
    return { kind: "one", why: lines.at(-1) ?? "a trial failed" };
  }
}

function mapAt(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

/** Describes it for people. */
export function furtherUsersText(users: FurtherUsers): string {
  return users.kind === "several"
    ? "services run as the users of their images"
    : `services run as one user, since ${users.why.replaceAll(/\s+/g, " ")}`;
}

/** Removes a directory in which users of containers wrote: an ordinary user cannot open directories of others. */
export async function removeTreeOfUsers(path: string): Promise<void> {
  try {
    await removeTree(path);
  } catch (reason) {
    if (process.getuid?.() === 0) throw reason;
    const inNamespace = ["--user", "--map-root-user", ...withFurtherUsers, "--"];
    await run("/usr/bin/unshare", [...inNamespace, "rm", "-rf", "--", path], {
      env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin" },
    }).catch(() => {
      throw reason;
    });
  }
}
