import { EventEmitter, once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pino } from "pino";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { fromDigestMessage } from "#cas/digest-message.ts";
import { Fault } from "#core/fault.ts";
import { Outcome } from "#proto/grange/worker/v1/worker_pb.ts";
import { readWorkerConfig, type WorkerConfig } from "./config.ts";
import { FakeFarm } from "./fake-farm.fixture.ts";
import { startWorkerOn, type Worker } from "./start-worker.ts";

let dataDir: string;
let farm: FakeFarm;
const workers: Worker[] = [];

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), "grange-agent-"));
  farm = new FakeFarm();
});
afterEach(async () => {
  farm.away = false;
  await Promise.all(workers.splice(0).map((worker) => worker.stop()));
  rmSync(dataDir, { recursive: true, force: true });
});

async function startWorker(more: Partial<WorkerConfig> = {}): Promise<Worker> {
  const config = readWorkerConfig({
    server: "http://127.0.0.1:1",
    name: "w1",
    slots: 1,
    dataDir,
    killGraceMs: 100,
    drainMs: 50,
    ...more,
  });
  const worker = await startWorkerOn(farm, config, pino({ level: "silent" }));
  workers.push(worker);
  return worker;
}

test("registers the properties of the machine", async () => {
  await startWorker();

  const { facilities } = await farm.until(() => farm.registered);

  expect(Object.keys(facilities).toSorted()).toEqual([
    "images",
    "inputs",
    "isolation",
    "job starter",
    "job user",
    "limits",
    "mounts",
    "network",
    "not stopped",
    "sandbox",
    "slots",
    "system calls",
  ]);
});

test("registers the share of a slot, and nothing for a slot with the whole machine", async () => {
  await startWorker({ cpus: 1, memoryBytes: 2 ** 30 });
  const { cpus, memoryBytes, facilities } = await farm.until(() => farm.registered);

  expect({ cpus, memoryBytes }).toEqual({ cpus: 1, memoryBytes: 2n ** 30n });
  expect(facilities["slots"]).toContain("1 CPU, 1 GiB of memory each");
});

test("streams a log while it grows, and stores it completely at the end", async () => {
  await startWorker();
  const id = await farm.submit({
    script: "echo first; until [ -e go ]; do sleep 0.01; done; echo last & wait",
    timeoutMs: 1_500,
  });

  await farm.until(() => farm.logOf(id) === "first\n");
  const { outcome } = await farm.end(id);

  expect(outcome).toBe(Outcome.TIMED_OUT);
});

test("keeps every line of a log, and the result, during an outage of the network", async () => {
  await startWorker();
  const id = await farm.submit({
    script: "i=0; while [ $i -lt 400 ]; do i=$((i+1)); echo line $i; sleep 0.001; done",
  });
  await farm.until(() => farm.logOf(id).length > 0);

  farm.away = true;
  await new Promise((resolve) => setTimeout(resolve, 1_200));
  farm.away = false;
  const { result, outcome } = await farm.end(id);

  const expected = Array.from({ length: 400 }, (_, i) => `line ${i + 1}\n`).join("");
  expect(outcome).toBe(Outcome.SUCCEEDED);
  expect(farm.logOf(id)).toBe(expected);
  expect(Buffer.from(result?.stdoutRaw ?? []).toString()).toBe(expected);
});

test("stores the beginning and the end of a log beyond its limit, and lets the process finish", async () => {
  await startWorker({ logLimitBytes: 1_000_000 });

  const { result, outcome } = await farm.run({
    script: "head -c 30000000 /dev/zero; echo; echo error: the last line; echo >&2 done",
  });

  expect(outcome).toBe(Outcome.SUCCEEDED);
  expect(Buffer.from(result?.stderrRaw ?? []).toString()).toBe("done\n");
  const log = await farm.store.get(fromDigestMessage(result?.stdoutDigest, "the log"));
  expect(log?.byteLength).toBeLessThanOrEqual(1_000_000);
  expect(Buffer.from(log ?? []).toString()).toMatch(
    /\[grange: 29\d{6} bytes are left out here, of line 1 of the output\]\nerror: the last line\n$/,
  );
});

test("reports the start of a very short execution only with its end", async () => {
  await startWorker();
  const { lease, result } = await farm.run({ script: "true" });
  const long = await farm.submit({ script: "sleep 1000" });
  await farm.until(() => farm.startedIds.has(long));

  // On a very busy machine it may take so long that the log contains a message about it.
  const tookNs = result?.executionMetadata?.virtualExecutionDuration?.nanos ?? 0;
  const isSaid = farm.startedIds.has(lease?.executionId ?? "");
  expect(isSaid && tookNs < 20_000_000).toBe(false);
  expect(result?.executionMetadata?.executionStartTimestamp).toBeDefined();
});

test("does not show jobs the path of its data", async () => {
  const worker = await startWorker();
  const { result } = await farm.run({
    script: "readlink /proc/self/fd/1 /proc/self/fd/2; cat /proc/self/mountinfo; env",
    timeoutMs: 10_000,
  });

  const [out = ""] = Buffer.from(result?.stdoutRaw ?? [])
    .toString()
    .split("\n");
  expect(out).toContain("/grange-pipes-");
  expect(out).not.toContain(dataDir);
  await worker.stop();
  expect(existsSync(dirname(out))).toBe(false);
});

test("ends a process whose lease is lost, and does not report it", async () => {
  await startWorker();
  const id = await farm.submit({ script: "sleep 1000" });
  await farm.until(() => farm.startedIds.has(id));

  farm.lose(id);
  const next = await farm.run({ script: "true" });

  expect(next.outcome).toBe(Outcome.SUCCEEDED);
  expect(farm.finished.has(id)).toBe(false);
  expect(farm.finishCalls).toBe(1);
});

test("ends a process that is cancelled, and reports it", async () => {
  await startWorker();
  const id = await farm.submit({ script: "sleep 1000" });
  await farm.until(() => farm.startedIds.has(id));

  farm.cancel(id);

  expect((await farm.end(id)).outcome).toBe(Outcome.CANCELLED);
});

/** A farm that accepts no blob larger than a mebibyte, and never answers; resolves when such a blob is being sent. */
function takesNoLargeBlobs(): {
  readonly arrived: Promise<void>;
  readonly gaveUp: Promise<unknown>;
} {
  const given = new EventEmitter();
  const arrived = once(given, "arrived").then(() => {});
  const gaveUp = once(given, "gave up").then(([reason]) => reason as unknown);
  Object.assign(farm.store, {
    write: (_digest: unknown, _chunks: unknown, signal?: AbortSignal) => {
      given.emit("arrived");
      return new Promise((_, reject) =>
        signal?.addEventListener("abort", () => {
          given.emit("gave up", signal.reason);
          reject(new Fault("cancelled", "the caller gave up"));
        }),
      );
    },
  });
  return { arrived, gaveUp };
}
const largeOutput = {
  script: "echo made; head -c 2000000 /dev/zero > large",
  command: { outputPaths: ["large"] },
};

test("stops the upload of a cancelled execution, reports it with the log, and frees the slot", async () => {
  await startWorker();
  const { arrived, gaveUp } = takesNoLargeBlobs();
  const id = await farm.submit(largeOutput);
  await arrived;

  farm.cancel(id);
  const { outcome, result } = await farm.end(id);

  expect(await gaveUp).toBe("cancelled");
  expect(outcome).toBe(Outcome.CANCELLED);
  expect(Buffer.from(result?.stdoutRaw ?? []).toString()).toBe("made\n");
  expect(result?.outputFiles).toEqual([]);
  expect((await farm.run({ script: "true" })).outcome).toBe(Outcome.SUCCEEDED);
});

test("stops an upload whose lease is lost, and frees the slot", async () => {
  await startWorker();
  const { arrived, gaveUp } = takesNoLargeBlobs();
  const id = await farm.submit(largeOutput);
  await arrived;

  farm.lose(id);

  expect(await gaveUp).toBe("lost");
  expect((await farm.run({ script: "true" })).outcome).toBe(Outcome.SUCCEEDED);
  expect(farm.finished.has(id)).toBe(false);
});

test("stops the fetching of inputs when the execution is cancelled", async () => {
  await startWorker();
  const farmIs = new EventEmitter();
  const asked = once(farmIs, "asked");
  const id = await farm.submit({ inputs: [{ path: "f", text: "f" }] });
  const answering = { ...farm.store };
  const silent = () => {
    farmIs.emit("asked");
    return once(farmIs, "answers").then(() => undefined);
  };
  Object.assign(farm.store, { get: silent, read: silent });
  await asked;

  farm.cancel(id);

  expect((await farm.end(id)).outcome).toBe(Outcome.CANCELLED);
  Object.assign(farm.store, answering);
  expect((await farm.run({ script: "true" })).outcome).toBe(Outcome.SUCCEEDED);
  farmIs.emit("answers");
});

test("rejects outputs above its own limit, or above the action's limit", async () => {
  await startWorker({ outputLimitBytes: 1_000_000, allOutputsLimitBytes: 4_000_000 });
  const sparse = { script: "truncate -s 20G sparse", command: { outputPaths: ["sparse"] } };
  const small = { script: "head -c 900000 /dev/zero > small", command: { outputPaths: ["small"] } };

  const refused = await farm.run(sparse);
  const taken = await farm.run(small);
  const limited = await farm.run({ ...small, platform: { outputs: "500000" } });

  expect(refused.outcome).toBe(Outcome.FAILED);
  expect(refused.message).toContain(
    'output "sparse" has at least 20 GiB, of which 0 B on the disk',
  );
  expect(taken.outcome).toBe(Outcome.SUCCEEDED);
  expect(limited.outcome).toBe(Outcome.FAILED);
  expect(limited.message).toContain("the limit for one output is 488 KiB");
});

test("receives a cancellation at once, and confirms it", async () => {
  farm.heartbeatMs = 1_000_000;
  await startWorker();
  const id = await farm.submit({ script: "sleep 1000" });
  await farm.until(() => farm.startedIds.has(id));

  farm.cancel(id);

  await farm.until(() => farm.confirmedIds.has(id));
  expect((await farm.end(id)).outcome).toBe(Outcome.CANCELLED);
});

test("does not start an execution that was cancelled before the claim was answered", async () => {
  farm.heartbeatMs = 1_000_000;
  await startWorker({ slots: 2 });
  const first = await farm.submit({ script: "sleep 1000" });
  await farm.until(() => farm.startedIds.has(first));
  const { claim } = farm;
  let answer = () => {};
  const answered = new Promise<void>((resolve) => (answer = resolve));
  farm.claim = async (request, signal) => {
    const claimed = await claim(request, signal);
    await answered;
    return claimed;
  };
  // The claim in progress gets its usual answer, with this execution.
  await farm.run({ script: "true" });
  const second = await farm.submit({ script: `touch ${join(dataDir, "began")}` });
  await farm.until(() => farm.hasHandedOut(second));

  farm.cancel(second);
  await farm.until(() => farm.confirmedIds.has(second));
  answer();

  expect((await farm.end(second)).outcome).toBe(Outcome.CANCELLED);
  expect(existsSync(join(dataDir, "began"))).toBe(false);
});

test("lists the inputs that the farm does not have", async () => {
  await startWorker();
  const digest = fromDigestMessage(
    { $typeName: "build.bazel.remote.execution.v2.Digest", hash: "a".repeat(64), sizeBytes: 3n },
    "it",
  );

  const { missingInputs, outcome } = await farm.run({
    inputs: [{ kind: "file", path: "a", digest, executable: false }],
  });

  expect(outcome).toBe(Outcome.INFRASTRUCTURE_ERROR);
  expect(missingInputs.map(({ hash }) => hash)).toEqual([digest.hash]);
});

test("a restarted worker reports the results that the previous one could not", async () => {
  const first = await startWorker();
  const id = await farm.submit({
    script: "until [ -e /nowhere ]; do sleep 0.01; done",
    timeoutMs: 150,
  });
  await farm.until(() => farm.startedIds.has(id));
  farm.away = true;
  await expect.poll(() => readdirSync(join(dataDir, "spool", "w1"))).toHaveLength(1);
  await first.stop();

  farm.away = false;
  await startWorker();

  expect((await farm.end(id)).outcome).toBe(Outcome.TIMED_OUT);
  await expect.poll(() => readdirSync(join(dataDir, "spool", "w1"))).toEqual([]);
});

test("reports a result that its disk cannot store", async () => {
  await startWorker();
  await farm.until(() => farm.registered);
  const spool = join(dataDir, "spool", "w1");
  rmSync(spool, { recursive: true });
  writeFileSync(spool, "a file, in which nothing can be kept");

  const { outcome } = await farm.run({ script: "true" });

  expect(outcome).toBe(Outcome.SUCCEEDED);
});

test("with `once`, runs one execution and ends when the result is delivered", async () => {
  const worker = await startWorker({ once: true, slots: 4 });
  const first = await farm.submit({ script: "echo the one" });
  await farm.submit({ script: "echo another" });

  await worker.over;
  await worker.stop();

  expect([...farm.finished.keys()]).toEqual([first]);
  expect([...farm.released]).toEqual([]);
});

test("registers the wanted length of leases, and how it was started", async () => {
  await startWorker({ leaseMs: 1_200_000, transport: "ssh" });

  const request = await farm.until(() => farm.registered);

  expect(request).toMatchObject({ transport: "ssh", host: hostname() });
  expect(request.lease?.seconds).toBe(1_200n);
});

test("returns unfinished work when it stops", async () => {
  const worker = await startWorker();
  const id = await farm.submit({ script: "sleep 1000" });
  await farm.until(() => farm.startedIds.has(id));

  await worker.stop();

  expect([...farm.released]).toEqual([id]);
  expect(farm.finished.has(id)).toBe(false);
});

test("opens its data directory again when it was replaced, and gives the work of before back", async () => {
  await startWorker({ slots: 2 });
  const running = await farm.submit({ script: "sleep 1000" });
  await farm.until(() => farm.startedIds.has(running));
  const before = `${dataDir}-before`;
  renameSync(dataDir, before);
  onTestFinished(() => rmSync(before, { recursive: true, force: true }));

  const { outcome, result } = await farm.run({
    inputs: [{ path: "a", text: "content" }],
    script: "cat a",
  });

  expect(outcome).toBe(Outcome.SUCCEEDED);
  expect(Buffer.from(result?.stdoutRaw ?? []).toString()).toBe("content");
  expect([...farm.released]).toContain(running);
  expect(existsSync(join(dataDir, "run"))).toBe(true);
});

test("runs as many executions at a time as it has slots, and reports all of many short ones", async () => {
  await startWorker({ slots: 2 });

  const ids = await Promise.all(Array.from({ length: 60 }, () => farm.submit({ script: "true" })));
  const all = await Promise.all(ids.map((id) => farm.end(id)));

  expect(all.every(({ outcome }) => outcome === Outcome.SUCCEEDED)).toBe(true);
});

test("runs without mounts, limits and a sandbox, and reports that", async () => {
  await startWorker({ sandbox: "none" });

  await farm.until(() => farm.registered);

  expect(farm.registered?.facilities["sandbox"]).toBe("none");
});
