import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Service } from "#core/service.ts";
import { Outcome } from "#proto/grange/worker/v1/worker_pb.ts";
import { needs } from "../../../test/support/needs/needs.ts";
import { readWorkerConfig, type WorkerConfig } from "../config.ts";
import { FakeFarm, type FakeJob } from "../fake-farm.fixture.ts";
import { sandboxNeeds } from "../sandbox-needs.fixture.ts";
import { startWorkerOn } from "../start-worker.ts";

const logger = pino({ level: "silent" });
const token = "npm_0123456789abcdefXYZ";
const given = { NPM_TOKEN: token };
const text = (bytes: Uint8Array | undefined) => Buffer.from(bytes ?? []).toString();

function configFor(dataDir: string, sandbox: WorkerConfig["sandbox"]): WorkerConfig {
  return readWorkerConfig({
    server: "http://127.0.0.1:1",
    name: "w1",
    slots: 2,
    dataDir,
    sandbox,
    killGraceMs: 500,
    drainMs: 100,
  });
}

const sandboxes = await sandboxNeeds(["bubblewrap", "namespaces"]);

for (const { sandbox, need } of sandboxes) {
  describe(`a run with secrets in sandbox ${sandbox}`, needs(need), () => {
    const farm = new FakeFarm();
    let dataDir: string;
    let worker: Service;
    beforeAll(async () => {
      dataDir = mkdtempSync(join(tmpdir(), "grange-secrets-"));
      worker = await startWorkerOn(farm, configFor(dataDir, sandbox), logger);
    });
    afterAll(async () => {
      await worker?.stop();
      rmSync(dataDir, { recursive: true, force: true });
    });
    const printed = async (job: FakeJob) => text((await farm.run(job)).result?.stdoutRaw);

    test("finds them as files in memory, which it may only read", async () => {
      const told = await printed({
        secrets: given,
        script: `
          cd "$GRANGE_SECRETS"; pwd; ls; wc -c < NPM_TOKEN
          grep -c " $GRANGE_SECRETS .* tmpfs " /proc/self/mountinfo
          (echo x > NPM_TOKEN) 2>/dev/null || echo "not written"
          (echo x > MORE) 2>/dev/null || echo "not added"
          rm -f NPM_TOKEN 2>/dev/null || echo "not removed"
          chmod 777 NPM_TOKEN 2>/dev/null || echo "not opened"
          env | grep -c ${token} || :`,
      });

      expect(told.trim().split("\n")).toEqual([
        "/grange/secrets",
        "NPM_TOKEN",
        String(token.length),
        "1",
        "not written",
        "not added",
        "not removed",
        "not opened",
        "0",
      ]);
    });

    test("cannot print them: on neither stream, nor in parts, nor in the message", async () => {
      const finished = await farm.run({
        secrets: given,
        command: { outputPaths: ["out"] },
        script: `
          cat $GRANGE_SECRETS/*; echo; base64 < $GRANGE_SECRETS/NPM_TOKEN; cat $GRANGE_SECRETS/* >&2
          for part in npm_01 23456 789abc defXYZ; do printf $part; sleep 0.05; done; echo
          ln -s "/$(cat $GRANGE_SECRETS/NPM_TOKEN)" out; sleep 0.2`,
      });

      expect(text(finished.result?.stdoutRaw)).toBe("***\n***\n***\n");
      expect(text(finished.result?.stderrRaw)).toBe("***");
      expect(finished.message).not.toContain(token);
      for (const log of farm.logs.values()) expect(log.toString()).not.toContain(token);
    });

    test("leaves them neither on the machine, nor for other or later runs", async () => {
      const looking = `
        sleep 0.3; test -e /grange/secrets && echo "there is a folder"; echo "[$GRANGE_SECRETS]"
        for p in /proc/[0-9]*; do
          cat $p/root/grange/secrets/* $p/environ $p/cwd/../secrets/* 2>/dev/null | tr -d '\\0' | grep -o ${token}
        done; exit 0`;
      const [, beside] = await Promise.all([
        farm.run({ secrets: given, script: "cat $GRANGE_SECRETS/* >/tmp/copy; sleep 1" }),
        printed({ script: looking }),
      ]);
      const later = await printed({ script: looking });

      expect([beside, later]).toEqual(["[]\n", "[]\n"]);
      expect(filesWith(token, dataDir)).toEqual([]);
    });
  });
}

test("a worker without isolation gets none: another worker gets the run, which has not started", async () => {
  const farm = new FakeFarm();
  const dataDir = mkdtempSync(join(tmpdir(), "grange-secrets-"));
  const worker = await startWorkerOn(farm, configFor(dataDir, "none"), logger);
  try {
    const finished = await farm.run({ secrets: given, script: "echo began" });

    expect(finished.outcome).toBe(Outcome.INFRASTRUCTURE_ERROR);
    expect(finished.message).toContain("does not isolate jobs");
    expect(finished.result).toBeUndefined();
  } finally {
    await worker.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
});

function filesWith(needle: string, directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: "utf8" }).filter((name) => {
    const at = join(directory, name);
    return statSync(at, { throwIfNoEntry: false })?.isFile() && readFileSync(at).includes(needle);
  });
}
