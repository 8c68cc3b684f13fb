import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Service } from "#core/service.ts";
import { Outcome } from "#proto/grange/worker/v1/worker_pb.ts";
import { diskDirectory } from "../../test/support/disk-directory.ts";
import { needs } from "../../test/support/needs/needs.ts";
import { readWorkerConfig } from "./config.ts";
import { FakeFarm } from "./fake-farm.fixture.ts";
import { sandboxNeeds } from "./sandbox-needs.fixture.ts";
import { startWorkerOn } from "./start-worker.ts";

const mebibyte = 1024 ** 2;
const write = (path: string, mebibytes: number) =>
  `head -c ${mebibytes * mebibyte} /dev/zero > ${path}`;

for (const { sandbox, need } of await sandboxNeeds(["bubblewrap", "namespaces"])) {
  describe(`disk quota of a slot in sandbox ${sandbox}`, needs(need), () => {
    const farm = new FakeFarm();
    let dataDir: string;
    let worker: Service;
    beforeAll(async () => {
      dataDir = mkdtempSync(join(diskDirectory(), "grange-quota-"));
      const config = readWorkerConfig(
        {
          server: "http://127.0.0.1:1",
          name: "w1",
          slots: 2,
          dataDir,
          killGraceMs: 100,
          sandbox,
          diskBytes: 16 * mebibyte,
        },
        {},
      );
      worker = await startWorkerOn(farm, config, pino({ level: "silent" }));
    });
    afterAll(async () => {
      await worker?.stop();
      rmSync(dataDir, { recursive: true, force: true });
    });

    test.each(["big", '"$HOME/big"', "/tmp/big"])(
      "an action that fills %s and would run on is ended with the reason",
      async (path) => {
        const ended = await farm.run({ script: `${write(path, 24)}; sleep 600` });

        expect(ended.outcome).toBe(Outcome.FAILED);
        expect(ended.message).toMatch(/it wrote more than 16 MiB on the disk/);
      },
    );

    test("one that ends at once above its quota fails all the same", async () => {
      const ended = await farm.run({ script: write("big", 24) });

      expect(ended.outcome).toBe(Outcome.FAILED);
      expect(ended.message).toMatch(/more than 16 MiB on the disk/);
    });

    test("one that stays below it passes; its inputs do not count", async () => {
      const inputs = [{ path: "large", text: "x".repeat(20 * mebibyte) }];

      const ended = await farm.run({ inputs, script: `${write("out", 8)}; sleep 0.4` });

      expect([ended.outcome, ended.message]).toEqual([Outcome.SUCCEEDED, ""]);
    });

    test("the worker says what a slot gives", () => {
      expect(JSON.stringify(farm.registered?.facilities)).toContain("16 MiB of disk");
    });
  });
}
