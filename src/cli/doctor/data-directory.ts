import { existsSync } from "node:fs";
import { link, mkdtemp, rm, statfs, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { messageOf } from "#core/fault.ts";
import { type Check, fail, ok, warn } from "./check.ts";

const gibibyte = 2 ** 30;

/** Names for the numbers in Linux' statfs(2). */
const fileSystems: Readonly<Record<number, string>> = {
  0xef53: "ext4",
  0x58465342: "xfs",
  0x9123683e: "btrfs",
  0x01021994: "tmpfs",
  0x794c7630: "overlayfs",
  0x6969: "nfs",
  0xff534d42: "cifs",
  0x65735546: "fuse",
  0x2fc12fc1: "zfs",
  0x01021997: "9p",
};
const remote = new Set(["nfs", "cifs", "9p"]);

/** Checks of the directory with all of Grange's data. */
export function dataDirectoryChecks(dataDir: string): Check[] {
  const place = nearestExisting(dataDir);
  return [
    {
      name: "data directory",
      needs: "The data directory is writable",
      fix: "Make it writable, or set GRANGE_DATA to another directory",
      run: () =>
        inScratch(place, async () => ok(`${dataDir} is writable`)).catch((reason) =>
          fail(messageOf(reason)),
        ),
    },
    {
      name: "links",
      needs: "The data directory allows hard and symbolic links",
      fix: "Workers copy files instead, which is slower. Set GRANGE_DATA to a directory on a local file system",
      run: () =>
        inScratch(place, async (scratch) => {
          await writeFile(join(scratch, "a"), "");
          await link(join(scratch, "a"), join(scratch, "b"));
          await symlink("a", join(scratch, "c"));
          return ok("hard and symbolic links work");
        }).catch((reason) => warn(`no links in ${place}: ${messageOf(reason)}`)),
    },
    {
      name: "file system",
      needs: "The data directory is on a local disk",
      fix: "A database needs a local disk: set GRANGE_DATA to a directory on one",
      async run() {
        const { type } = await statfs(place);
        const name = fileSystems[type] ?? `type 0x${type.toString(16)}`;
        if (remote.has(name)) {
          return warn(`${dataDir} is on ${name}`);
        }
        return name === "tmpfs"
          ? warn(`${dataDir} is in memory (tmpfs)`, "A restart of the machine deletes its contents")
          : ok(name);
      },
    },
    {
      name: "free disk",
      needs: "At least 5 GiB are free",
      fix: "Free disk space, or set GRANGE_DATA to a directory on another disk",
      async run() {
        const { bavail, bsize } = await statfs(place);
        const free = bavail * bsize;
        const detail = `${(free / gibibyte).toFixed(1)} GiB free`;
        if (free < gibibyte) return fail(detail);
        return free < 5 * gibibyte ? warn(detail) : ok(detail);
      },
    },
    {
      name: "free files",
      needs: "The file system has room for 100,000 more files",
      fix: "Delete small files, or set GRANGE_DATA to a directory on another disk",
      async run() {
        const { files, ffree } = await statfs(place);
        // Some file systems create inodes on demand, and report 0.
        if (files === 0) return ok("no limit");
        const detail = `${ffree} more files are possible`;
        return ffree < 100_000 ? warn(detail) : ok(detail);
      },
    },
  ];
}

function nearestExisting(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : nearestExisting(dirname(path));
}

async function inScratch<T>(place: string, work: (scratch: string) => Promise<T>): Promise<T> {
  const scratch = await mkdtemp(join(place, ".grange-doctor-"));
  try {
    return await work(scratch);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}
