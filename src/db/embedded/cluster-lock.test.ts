import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { lockingMachine } from "../../../test/support/needs/machine-needs.ts";
import { needs } from "../../../test/support/needs/needs.ts";
import { lockCluster } from "./cluster-lock.ts";

const directory = await mkdtemp(join(tmpdir(), "grange-cluster-"));
afterAll(() => rm(directory, { recursive: true, force: true }));

test(
  "a process that inherited the lock keeps the next server out until it ends, whoever started it",
  needs(lockingMachine),
  async () => {
    const first = await lockCluster(directory);
    const heir = spawn("sleep", ["600"], {
      stdio: ["ignore", "ignore", "ignore", first.file],
    });
    await once(heir, "spawn");
    first.release();

    await expect(lockCluster(directory, 200)).rejects.toThrow(
      /processes of an earlier PostgreSQL still use .*another container.*End them/,
    );

    const second = lockCluster(directory);
    heir.kill("SIGKILL");
    (await second).release();
  },
);
