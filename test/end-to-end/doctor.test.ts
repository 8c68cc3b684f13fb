import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { grange } from "../support/farm.ts";
import { runProgram } from "../support/process.ts";

let empty: string;
beforeAll(async () => {
  empty = await mkdtemp(join(tmpdir(), "grange-doctor-"));
});
afterAll(() => rm(empty, { recursive: true, force: true }));

const Answer = z.object({
  checks: z.array(
    z.object({
      name: z.string(),
      status: z.enum(["ok", "warn", "fail"]),
      detail: z.string(),
      fix: z.string().nullable(),
    }),
  ),
});

/** Runs `grange doctor` with few open files, and returns its findings by name. Its database is one that does not exist. */
async function doctor(cwd: string, env: Readonly<Record<string, string>>) {
  const command = `ulimit -n 512; exec "${process.execPath}" "${grange}" doctor --json`;
  const { code, stdout } = await runProgram("/bin/sh", ["-c", command], {
    cwd,
    env: {
      GRANGE_DATABASE_URL: "postgres://user:secret@127.0.0.1:1/none",
      GRANGE_SERVER: "http://127.0.0.1:1",
      GRANGE_DATA: join(empty, "data"),
      ...env,
    },
  });
  const { checks } = Answer.parse(JSON.parse(stdout));
  const byName = new Map(checks.map(({ name, ...finding }) => [name, finding]));
  return { code, byName };
}

test("each problem of a machine without programs is found, with what to do", async () => {
  // Not a farm, on a port that is thus in use.
  const other = createServer((_, response) => response.end("<html>"));
  await new Promise<void>((resolve) => {
    other.listen(0, "127.0.0.1", resolve);
  });
  onTestFinished(() => void other.close());
  const { port } = other.address() as AddressInfo;

  const { code, byName } = await doctor(empty, {
    PATH: empty,
    GRANGE_DATA: "/proc/grange",
    GRANGE_SERVER: `http://127.0.0.1:${port}`,
  });

  const expected: Readonly<Record<string, readonly ["warn" | "fail", RegExp, RegExp]>> = {
    npm: ["fail", /npm/, /Install npm/],
    git: ["fail", /git/, /Install Git/],
    "open files": ["warn", /only 512 open files/, /ulimit -n 4096/],
    "data directory": ["fail", /\/proc/, /GRANGE_DATA/],
    links: ["warn", /no links in \/proc/, /local file system/],
    PostgreSQL: ["fail", /user:\*\*\*@127\.0\.0\.1:1/, /GRANGE_DATABASE_URL/],
    unshare: ["warn", /not installed/, /apt-get install util-linux/],
    "user namespaces": ["warn", /unshare is not installed/, /sysctl/],
    "process namespaces": ["warn", /unshare is not installed/, /user namespaces/],
    "network namespaces": ["warn", /unshare is not installed/, /user namespaces/],
    "overlay file system": ["warn", /unshare is not installed/, /links/],
    bubblewrap: ["warn", /bwrap is not installed/, /apt-get install bubblewrap/],
    "CPU sets": ["warn", /taskset is not installed/, /util-linux/],
    server: ["fail", /127\.0\.0\.1/, /GRANGE_SERVER/],
    port: ["warn", new RegExp(`${port} is in use`), /--port/],
    valgrind: ["warn", /not installed/, /apt-get install valgrind/],
    "browser for the tests": ["warn", /none/, /npm test/],
  };
  for (const [name, [status, detail, fix]] of Object.entries(expected))
    expect({ name, ...byName.get(name) }).toEqual({
      name,
      status,
      detail: expect.stringMatching(detail),
      fix: expect.stringMatching(fix),
    });
  expect(code).toBe(1);
});

test("a directory without a repository, a farm that is not there and data in memory are warnings", async () => {
  const { byName } = await doctor(empty, { GRANGE_DATA: "/dev/shm/grange-doctor" });

  expect(byName.get("repository")).toMatchObject({
    status: "warn",
    fix: expect.stringContaining("--repo"),
  });
  expect(byName.get("server")).toMatchObject({
    status: "warn",
    fix: expect.stringContaining("grange up"),
  });
  expect(byName.get("data directory")).toMatchObject({ status: "ok" });
  expect(byName.get("file system")).toMatchObject({
    status: "warn",
    detail: expect.stringContaining("tmpfs"),
  });
});
