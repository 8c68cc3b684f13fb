import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { takeLock } from "#machine/holder-lock.ts";
import { Outcome } from "#proto/grange/worker/v1/worker_pb.ts";
import { type Need, skipWithout } from "../../../test/support/needs/needs.ts";
import { processesWith, untilNoProcessWith } from "../../../test/support/processes-with.ts";
import { readWorkerConfig } from "../config.ts";
import { FakeFarm, type FakeJob } from "../fake-farm.fixture.ts";
import { startWorkerOn, type Worker } from "../start-worker.ts";
import { needsLaterMounts, outputOf, requestOf } from "./persistent-workers.fixture.ts";

/**
 * A tool as a persistent worker with JSON. Its argument is a script that is run by the process itself, so that tests
 * can let it misbehave. Without `--persistent_worker`, it runs the script once.
 */
const tool = `
import fs, { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
const run = async (lines) => {
  globalThis.count = (globalThis.count ?? 0) + 1;
  const output = [];
  const code = await eval("(async () => {" + lines.join("\\n") + "})()").catch((e) => { output.push(String(e)); return 1; });
  return { exitCode: code ?? 0, output: output.join("") };
};
if (process.argv.includes("--persistent_worker")) {
  globalThis.persistent = true;
  for await (const line of createInterface({ input: process.stdin })) {
    const request = JSON.parse(line);
    globalThis.request = request;
    const response = await run(request.arguments);
    if (globalThis.answer !== undefined) process.stdout.write(globalThis.answer);
    else process.stdout.write(JSON.stringify({ ...response, output: response.output + (globalThis.say ?? "") }) + "\\n");
  }
} else {
  globalThis.persistent = false;
  const { exitCode, output } = await run(readFileSync(process.argv.at(-1).slice(1), "utf8").split("\\n"));
  process.stderr.write(output);
  process.exit(exitCode);
}
`;

let farm: FakeFarm;
let worker: Worker;
let dataDir: string;
let laterMounts: Need;

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), "grange-persistent-"));
  farm = new FakeFarm();
  const config = readWorkerConfig({
    server: "http://127.0.0.1:1",
    name: "w",
    slots: 2,
    dataDir,
    persistentWorkers: 2,
    measuringLock: join(dataDir, "measuring.lock"),
  });
  worker = await startWorkerOn(farm, config, pino({ level: "silent" }));
  laterMounts = await needsLaterMounts({ ...config, dataDir: join(dataDir, "probe") });
});

afterAll(async () => {
  await worker.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

/** Without a key, no other test uses its process, nor does another attempt of this test. */
function job(
  script: string,
  more: Partial<FakeJob> & { key?: string; tool?: string } = {},
): FakeJob {
  const { key = randomUUID(), tool: text = tool, inputs = [], ...others } = more;
  return {
    command: {
      arguments: [process.execPath, "tools/tool.mjs", "@out/flags"],
      outputPaths: ["out/result"],
    },
    inputs: [
      { path: "tools/tool.mjs", text, isTool: true },
      { path: "out/flags", text: `${script}\n` },
      ...inputs,
    ],
    platform: { persistentWorkerKey: key, persistentWorkerProtocol: "json" },
    ...others,
  };
}

/** A script that writes what it is served by, as the output. */
const write = `fs.writeFileSync("out/result", persistent ? "by request " + count : "alone");`;

test("one process serves two actions, each with its own inputs and outputs", async (context) => {
  skipWithout(context, laterMounts);
  const key = randomUUID();
  const script = `const [input] = fs.readdirSync("in");
    const there = [fs.readdirSync("."), fs.readdirSync("in"), fs.readdirSync("out")].join(" ");
    fs.writeFileSync("out/result", there + ": " + fs.readFileSync("in/" + input));
    fs.writeFileSync("in/left", "");
    fs.writeFileSync("out/left", "");
    fs.writeFileSync("tools/tool.mjs", "changed");
    globalThis.say = "said " + count;`;

  const first = await farm.run(job(script, { key, inputs: [{ path: "in/a", text: "of a" }] }));
  const second = await farm.run(
    job(script, {
      key,
      inputs: [
        { path: "in/b", text: "of b" },
        { path: "c", text: "" },
      ],
    }),
  );
  const third = await farm.run(job(`fs.copyFileSync("tools/tool.mjs", "out/result")`, { key }));

  expect([first, second, third].map(requestOf)).toEqual([1, 2, 3]);
  expect(await outputOf(farm, first)).toBe("in,out,tools a flags: of a");
  expect(await outputOf(farm, second)).toBe("c,in,out,tools b flags: of b");
  expect(await outputOf(farm, third)).toBe(tool);
  expect(Buffer.from(second.result?.stderrRaw ?? []).toString()).toBe("said 2");
  expect(second.usage).toBeUndefined();
});

test.each([
  ["another project", { project: "other" }],
  ["another trust domain", { domain: "pr/1@repository" }],
  ["another environment", { environment: { NAME: "value" } }],
  ["another tool with the same name", { tool: `${tool}// changed` }],
])("%s does not get the process", async (_, others) => {
  // A worker that cannot keep processes passes this test, too: it must not share one.
  const key = randomUUID();
  const set = `globalThis.secret = "of the first"; ${write}`;
  const show = `fs.writeFileSync("out/result", String(globalThis.secret));`;

  await farm.run(job(set, { key }));
  const second = await farm.run(job(show, { key, ...others }));

  expect(await outputOf(farm, second)).toBe("undefined");
});

test.each([
  ["ends in the middle of a request", "process.exit(3);"],
  ["prints something else", 'globalThis.answer = "something else\\n";'],
  ["prints a line before its response", 'process.stdout.write("compiling\\n");'],
  ["prints more than its response", `globalThis.answer = '{"exitCode":0}\\n{"exitCode":0}\\n';`],
  ["prints a response without end", 'globalThis.answer = "x".repeat(17 << 20);'],
  ["answers to a request of nobody", `globalThis.answer = '{"requestId":7}\\n';`],
  ["ends with another exit code than 0", "return 7;"],
  ["cannot write in the root of the inputs", 'fs.writeFileSync("at-the-root", "");'],
])("an action runs alone when its process %s", async (_, misbehave) => {
  const ended = await farm.run(job(`if (persistent) { ${misbehave} }\n${write}`));

  expect(ended.outcome).toBe(Outcome.SUCCEEDED);
  expect(await outputOf(farm, ended)).toBe("alone");
  expect(requestOf(ended)).toBe(0);
});

test("a tool whose processes fail three times is left alone", async () => {
  const key = randomUUID();
  const fails = `if (persistent) { process.exit(3); }\n${write}`;
  for (let i = 0; i < 3; i++) await farm.run(job(fails, { key }));

  const ended = await farm.run(job(write, { key }));

  expect([await outputOf(farm, ended), requestOf(ended)]).toEqual(["alone", 0]);
});

test("a process that cannot start costs no action", async () => {
  const broken = 'if (process.argv.includes("--persistent_worker")) throw new Error("no");';

  const ended = await farm.run(
    job(write, { tool: tool.replace("const run", `${broken}const run`) }),
  );

  expect(await outputOf(farm, ended)).toBe("alone");
});

test("a process that still writes into the files of its action ends with it", async (context) => {
  skipWithout(context, laterMounts);
  const key = randomUUID();
  const keepOpen = `globalThis.file = fs.openSync("out/result", "w"); fs.writeSync(file, "open");`;

  const first = await farm.run(job(keepOpen, { key }));
  const second = await farm.run(job(write, { key }));

  expect([await outputOf(farm, first), requestOf(first)]).toEqual(["open", 1]);
  expect([await outputOf(farm, second), requestOf(second)]).toEqual(["by request 1", 1]);
});

test("an action that hangs is ended with its process", async () => {
  const key = randomUUID();
  const hang = "await new Promise(() => setInterval(() => {}, 1_000));";

  const hanging = await farm.run(job(hang, { key, timeoutMs: 500 }));
  const cancelled = await farm.submit(job(hang, { key }));
  await farm.until(() => farm.startedIds.has(cancelled));
  farm.cancel(cancelled);
  const next = await farm.run(job(write, { key }));

  expect(hanging.outcome).toBe(Outcome.TIMED_OUT);
  expect((await farm.end(cancelled)).outcome).toBe(Outcome.CANCELLED);
  expect(requestOf(next)).toBeLessThan(2);
});

test("a client that marks no tools gets no process for several actions", async () => {
  const { inputs = [], ...others } = job(write);

  const ended = await farm.run({
    ...others,
    inputs: inputs.map((input) => ({ ...input, isTool: false })),
  });

  expect(await outputOf(farm, ended)).toBe("alone");
});

test("actions at the same time have processes of their own, each with its own inputs", async () => {
  const keys = [randomUUID(), randomUUID()];
  const copy = `fs.copyFileSync("in/text", "out/result");`;
  const texts = Array.from({ length: 12 }, (_, n) => `text ${n}`);

  const ended = await Promise.all(
    texts.map((text, n) =>
      farm.run(job(copy, { key: keys[n % 2] ?? "", inputs: [{ path: "in/text", text }] })),
    ),
  );

  expect(await Promise.all(ended.map((each) => outputOf(farm, each)))).toEqual(texts);
});

test("more kinds of processes than are kept end those used least", async (context) => {
  skipWithout(context, laterMounts);
  const [a, b, c] = [randomUUID(), randomUUID(), randomUUID()];
  const requests: number[] = [];

  for (const key of [a, b, a, c, a, b])
    requests.push(requestOf(await farm.run(job(write, { key }))));

  expect(requests).toEqual([1, 1, 2, 1, 3, 1]);
});

test("idle processes end while a collector measures on the machine", async (context) => {
  skipWithout(context, laterMounts);
  const [key, mark] = [randomUUID(), `--mark=${randomUUID()}`];
  const { command, ...others } = job(write, { key });
  const marked = {
    ...others,
    command: { ...command, arguments: [process.execPath, "tools/tool.mjs", mark, "@out/flags"] },
  };
  const first = await farm.run(marked);
  expect(await processesWith(mark)).not.toEqual([]);

  const taken = await takeLock(join(dataDir, "measuring.lock"), "lab-1");
  await untilNoProcessWith(mark);
  if ("lock" in taken) await taken.lock.release();

  const second = await farm.run(marked);
  expect(requestOf(first)).toBe(1);
  // 0 if the ended one still occupies its place.
  expect(requestOf(second)).toBeLessThan(2);
});
