import { readFile, stat } from "node:fs/promises";
import { jobUser } from "#machine/job-owner.ts";
import { emptyDirectory, force, type MergedDirectory, nodeAt } from "./merge-layers.ts";

/** Directories on which the sandbox mounts something. `grange/old` is for the switch of the root. */
const mountPoints = [
  "/proc",
  "/dev",
  "/sys",
  "/tmp",
  "/run",
  "/var/tmp",
  "/grange/work",
  "/grange/home",
  "/grange/secrets",
  "/grange/restrict",
  "/grange/start",
  "/grange/old",
] as const;

/** A longer list of users is replaced. In bytes. */
const mostUsersBytes = 1024 * 1024;

/**
 * Makes the tree of an image a root file system for the sandbox: it cannot create what it mounts on, because the root
 * is read-only, and it must not follow links that the image has there.
 */
export async function prepareRoot(
  tree: MergedDirectory,
  fileOf: (layer: number, number: number) => string,
  volumes: readonly string[] = [],
): Promise<void> {
  const textOf = async (path: string) => {
    const node = nodeAt(tree, path);
    if (node?.kind !== "file") return "";
    const file = fileOf(node.layer, node.number);
    return (await stat(file)).size > mostUsersBytes ? "" : readFile(file, "utf8");
  };
  const { name, uid, gid } = jobUser;
  const users = await textOf("/etc/passwd");
  const groups = await textOf("/etc/group");
  // Services get a directory of their own there. Container engines make volumes that no layer has, too.
  for (const path of volumes) {
    const isClear = path.startsWith("/") && !path.split("/").includes("..") && path.length < 1_024;
    if (isClear && nodeAt(tree, path) === undefined) force(tree, path, emptyDirectory());
  }
  for (const path of mountPoints) force(tree, path, emptyDirectory());
  force(tree, "/etc/passwd", {
    kind: "text",
    text: withLine(users, 2, `${uid}`, `${name}:x:${uid}:${gid}:${name}:/grange/home:/bin/sh`),
  });
  force(tree, "/etc/group", {
    kind: "text",
    text: withLine(groups, 2, `${gid}`, `${name}:x:${gid}:`),
  });
  force(tree, "/etc/hosts", { kind: "text", text: "127.0.0.1 localhost grange\n::1 localhost\n" });
  // Without it, glibc asks a name server first, and names of services are only in /etc/hosts.
  if (nodeAt(tree, "/etc/nsswitch.conf") === undefined)
    force(tree, "/etc/nsswitch.conf", { kind: "text", text: "hosts: files dns\n" });
  force(tree, "/etc/resolv.conf", { kind: "text", text: "" });
}

/** Adds a line to a list of users or groups, unless there is one with the same number. */
function withLine(text: string, field: number, number: string, line: string): string {
  const lines = text.split("\n").filter((each) => each !== "");
  const isThere = lines.some((each) => each.split(":")[field] === number);
  return `${(isThere ? lines : [...lines, line]).join("\n")}\n`;
}
