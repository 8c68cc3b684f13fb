import { chmod, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import type { GranaryBuildReport } from "#api/granary.ts";
import { openBuilds } from "../builds/open-builds.ts";
import { noFarm } from "../farm/no-farm.ts";
import { keyInEnvironment } from "../key-in-environment.ts";
import type { IndexToPublish } from "../outbox/outbox.ts";
import { openStore, silentLogger } from "../store/granary-store.fixture.ts";
import { openTieredCache } from "../tiered-cache/open-tiered-cache.ts";
import type { ToolAttachment } from "../tool-plugin.ts";
import type { Answer } from "./answers.ts";
import { resultHandlers } from "./result-handlers.ts";
import { serveProtocol } from "./serve-protocol.ts";

const commit = "a".repeat(40);
const keyIn = (environment: string, key: string) =>
  keyInEnvironment(environment, { namespace: "results", key }).key;
const started = {
  type: "build-started",
  project: "p",
  repositories: [{ root: "/w", commit }],
  environment: "linux",
};

async function scene(more: { readonly dune?: ToolAttachment } = {}) {
  const directory = await mkdtemp(join(tmpdir(), "grange-protocol-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const store = await openStore({ directory });
  const indexes: IndexToPublish[] = [];
  const reports: GranaryBuildReport[] = [];
  const nothing = { results: 0, indexes: 0, reports: 0, bytes: 0, trouble: undefined };
  const outbox = {
    sentBytes: 0,
    async addResult() {},
    async addIndex(index: IndexToPublish) {
      indexes.push(index);
    },
    async addReport(report: GranaryBuildReport) {
      reports.push(report);
    },
    async addDivergence() {},
    hold: () => () => {},
    drained: async () => nothing,
  };
  const farm = noFarm();
  const tieredCache = openTieredCache({
    store,
    outbox,
    farm,
    crossCheckShare: 0,
    machine: "m",
    logger: silentLogger,
  });
  const builds = await openBuilds({
    directory,
    store,
    farm,
    outbox,
    changedSince: async () => undefined,
    ownEnvironment: async () => "e",
    limits: { bytes: 1e9, results: 1e6 },
    upload: "during",
    logger: silentLogger,
  });
  let stops = 0;
  const server = await serveProtocol({
    socketPath: join(directory, "socket"),
    secret: "the secret",
    toolsPort: 1234,
    builds,
    results: resultHandlers({ tieredCache, store, mostFileBytes: 1_000_000 }),
    outbox,
    attachTool: async () => more.dune,
    readFacts: async (said) => ({
      project: said.project ?? "p",
      repository: "",
      commits: (said.repositories ?? []).flatMap((one) => one.commit ?? []),
      tree: "",
      branch: "",
      dirty: false,
      environment: said.environment ?? "none",
      machine: "m",
      command: said.command,
      targets: [],
      prefetch: true,
    }),
    status: async () => {
      throw new Error("not asked for here");
    },
    trim: async () => ({ removedBytes: 42, freedBytes: 50 }),
    onStopRequested: () => {
      stops += 1;
    },
    logger: silentLogger,
  });
  onTestFinished(async () => {
    await server.stop();
    await builds.stop();
    await tieredCache.stop();
  });

  async function peer(
    where: { path: string } | { port: number; host: string } = { path: join(directory, "socket") },
  ) {
    const socket: Socket = connect(where);
    socket.on("error", () => {});
    onTestFinished(() => void socket.destroy());
    const lines = createInterface({ input: socket })[Symbol.asyncIterator]();
    return {
      socket,
      send: (message: object | string) =>
        void socket.write(`${typeof message === "string" ? message : JSON.stringify(message)}\n`),
      /** Returns undefined when the granary has closed the connection. */
      async receive(): Promise<Answer | undefined> {
        const { value, done } = await lines.next();
        return done === true ? undefined : (JSON.parse(value) as Answer);
      },
    };
  }
  async function greeted() {
    const one = await peer();
    one.send({ type: "hello", versions: [1] });
    expect(await one.receive()).toMatchObject({ type: "welcome", version: 1 });
    return one;
  }
  async function building() {
    const one = await greeted();
    one.send(started);
    expect(await one.receive()).toMatchObject({ type: "build", port: 1234 });
    return one;
  }
  return {
    directory,
    store,
    builds,
    indexes,
    reports,
    server,
    peer,
    greeted,
    building,
    stops: () => stops,
  };
}

test("a result of one build is found by the next, as files that may be linked", async () => {
  const { directory, building, indexes } = await scene();
  const file = join(directory, "made");
  await writeFile(file, "bytes");
  await chmod(file, 0o755);
  const one = await building();
  one.send({ type: "look-up", id: 1, key: "k/1" });
  expect(await one.receive()).toEqual({ type: "not-found", to: 1, key: "k/1" });
  one.send({
    type: "result",
    id: 2,
    key: "k/1",
    outputs: [{ path: "bin/made", file }],
    costMs: 70,
    inputs: ["src/"],
  });
  expect(await one.receive()).toEqual({ type: "kept", to: 2, key: "k/1" });
  one.send({ type: "build-ended", id: 3, exitCode: 0, complete: true });
  expect(await one.receive()).toMatchObject({
    type: "ended",
    to: 3,
    report: { asked: 1, missed: 1 },
  });
  await rm(file);

  const two = await building();
  two.send({ type: "look-up", key: "k/1" });
  const found = await two.receive();
  expect(found).toMatchObject({
    type: "found",
    costMs: 70,
    outputs: [{ path: "bin/made", executable: true, sizeBytes: 5 }],
  });
  const at = found?.type === "found" ? (found.outputs[0]?.file ?? "") : "";
  expect(await readFile(at, "utf8")).toBe("bytes");
  two.send({ type: "build-ended", exitCode: 0 });
  expect(await two.receive()).toMatchObject({ report: { local: 1, savedMs: 70 } });

  const [first, second] = indexes;
  expect(first).toMatchObject({ complete: true, commits: [commit] });
  expect(first?.entries).toMatchObject([
    { namespace: "results", key: keyIn("linux", "k/1"), inputs: ["src/"], savedMs: 70 },
  ]);
  expect(second?.entries[0]?.blobs).toEqual(first?.entries[0]?.blobs);
  expect(second?.complete).toBe(false);
});

test("an exact approximation gives the result; others give candidate keys", async () => {
  const { directory, building } = await scene();
  const file = join(directory, "made");
  await writeFile(file, "bytes");
  const one = await building();
  one.send({ type: "result", key: "k", outputs: [{ path: "made", file }] });
  await one.receive();
  one.send({ type: "approximation", approx: "over", key: "k", exact: true });
  for (const key of ["w1", "w2", "w1"]) one.send({ type: "approximation", approx: "weak", key });
  one.send({ type: "build-ended", exitCode: 0 });
  await one.receive();

  const two = await building();
  two.send({ type: "look-up", approx: "over" });
  expect(await two.receive()).toMatchObject({ type: "found", key: "k" });
  two.send({ type: "look-up", approx: "weak" });
  expect(await two.receive()).toMatchObject({ type: "candidates", keys: ["w1", "w2"] });
  two.send({ type: "look-up", approx: "unknown" });
  expect(await two.receive()).toEqual({ type: "not-found" });
});

test("a path that is not a file, is missing, or is too large is not stored, and the build continues", async () => {
  const { directory, building } = await scene();
  await writeFile(join(directory, "large"), "x".repeat(1_000_001));
  const one = await building();
  for (const file of [
    directory,
    join(directory, "gone"),
    join(directory, "large"),
    join(directory, "socket"),
  ]) {
    one.send({ type: "result", key: "k", outputs: [{ path: "a", file }] });
    expect(await one.receive()).toMatchObject({ type: "not-kept", key: "k" });
  }
  one.send({ type: "look-up", key: "k" });
  expect(await one.receive()).toMatchObject({ type: "not-found" });
});

test("a build whose client disappears has ended, incomplete", async () => {
  const { directory, building, builds, indexes, reports } = await scene();
  const file = join(directory, "made");
  await writeFile(file, "bytes");
  const one = await building();
  one.send({ type: "result", key: "k", outputs: [{ path: "made", file }] });
  await one.receive();
  expect(builds.running()).toHaveLength(1);
  one.socket.destroy();
  await expect.poll(() => reports).toHaveLength(1);
  expect(builds.running()).toEqual([]);
  expect(indexes).toMatchObject([{ complete: false }]);
  expect(reports).toMatchObject([{ exitCode: null }]);
});

test("a client that half-closes after its last message still gets the end of its build", async () => {
  const { building } = await scene();
  const one = await building();
  one.socket.end(`${JSON.stringify({ type: "build-ended", exitCode: 0 })}\n`);
  expect(await one.receive()).toMatchObject({ type: "ended" });
  expect(await one.receive()).toBeUndefined();
});

test("TCP requires the secret, and only its user can open the socket", async () => {
  const { directory, server, peer } = await scene();
  const where = { host: "127.0.0.1", port: server.port };
  const stranger = await peer(where);
  stranger.send({ type: "hello", versions: [1] });
  expect(await stranger.receive()).toBeUndefined();
  const browser = await peer(where);
  browser.socket.write("POST / HTTP/1.1\r\n\r\n");
  expect(await browser.receive()).toBeUndefined();
  const friend = await peer(where);
  friend.send({ type: "hello", versions: [1], secret: "the secret" });
  expect(await friend.receive()).toMatchObject({ type: "welcome" });
  expect((await stat(join(directory, "socket"))).mode & 0o777).toBe(0o600);
});

test("after any input, it serves the next client", async () => {
  const { greeted, peer, builds } = await scene();
  const noise = fc.oneof(
    fc.uint8Array({ maxLength: 300 }),
    fc.json().map((text) => Buffer.from(`${text}\n`)),
    fc.constant(Buffer.from(`${JSON.stringify(started)}\n`)),
    fc.constant(Buffer.from('{"type":"hello","versions":[1]}\n')),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(noise, { maxLength: 12 }), async (chunks) => {
      const one = await peer();
      for (const chunk of chunks) one.socket.write(chunk);
      await new Promise<void>((resolve) => one.socket.end(resolve));
      one.socket.destroy();
    }),
    { numRuns: 40 },
  );
  const long = await greeted();
  long.socket.write(Buffer.alloc(3_000_000, "x"));
  long.send("");
  expect(await long.receive()).toMatchObject({ type: "note" });
  long.send({ type: "trim", id: "t" });
  expect(await long.receive()).toEqual({
    type: "trimmed",
    to: "t",
    removedBytes: 42,
    freedBytes: 50,
  });
  await expect.poll(() => builds.running()).toEqual([]);
});

test("a client can stop the granary", async () => {
  const { greeted, stops } = await scene();
  const one = await greeted();
  one.send({ type: "stop", id: 1 });
  expect(await one.receive()).toEqual({ type: "stopping", to: 1 });
  expect(stops()).toBe(1);
});

test("reports of the last builds can be requested by the beginning of an id, also without a farm", async () => {
  const { building, greeted } = await scene();
  const one = await building();
  one.send({ type: "look-up", id: 1, key: "nobodys" });
  await one.receive();
  one.send({ type: "build-ended", id: 2, exitCode: 3 });
  await one.receive();
  const asks = await greeted();

  asks.send({ type: "report" });
  const last = await asks.receive();
  if (last?.type !== "reported") throw new Error("no report was told");
  expect(last).toMatchObject({
    report: {
      exitCode: 3,
      asked: [{ key: keyIn("linux", "nobodys"), source: "missed", because: "never-made" }],
    },
    builds: [{ id: last.report?.id, project: "p", exitCode: 3 }],
  });

  asks.send({ type: "report", build: last.report?.id.slice(0, 8) });
  expect(await asks.receive()).toMatchObject({ report: { id: last.report?.id } });
  asks.send({ type: "report", build: "ffffffff-ffff" });
  expect(await asks.receive()).toMatchObject({ report: null, builds: [{ project: "p" }] });
  asks.send({ type: "report", build: "../x" });
  expect(await asks.receive()).toMatchObject({ type: "note" });
});

function slowDune() {
  let keep = () => {};
  const kept = new Promise<void>((resolve) => {
    keep = resolve;
  });
  const dune: ToolAttachment = {
    settings: { DUNE_CACHE: "enabled" },
    learn: async () => ({ made: 3, used: 4 }),
    async finish() {
      await kept;
      return { given: 0, made: 3, used: 4, learnt: 0, refused: 0 };
    },
  };
  return { dune, keep };
}
const withDune = { ...started, dune: { directory: "/w", variables: {} } };

test("a build with dune gets its counts before all results are stored", async () => {
  const { dune, keep } = slowDune();
  const { greeted, builds, reports } = await scene({ dune });
  const one = await greeted();
  one.send(withDune);
  await one.receive();

  one.send({ type: "build-ended", id: 7, exitCode: 0, complete: true });

  expect(await one.receive()).toEqual({
    type: "ended",
    to: 7,
    report: null,
    dune: { made: 3, used: 4 },
  });
  expect(builds.running()).toHaveLength(1);
  expect(reports).toEqual([]);
  // A request for reports now also returns this build.
  one.send({ type: "report", id: 8 });
  keep();
  expect(await one.receive()).toMatchObject({ type: "reported", to: 8, builds: [{ exitCode: 0 }] });
  expect(builds.running()).toEqual([]);
  expect(reports).toHaveLength(1);
});

test("a stopping granary first stores what dune made", async () => {
  const { dune, keep } = slowDune();
  const { greeted, reports, server } = await scene({ dune });
  const one = await greeted();
  one.send(withDune);
  await one.receive();
  one.send({ type: "build-ended", exitCode: 0 });
  expect(await one.receive()).toMatchObject({ type: "ended", report: null });

  const stopped = server.stop().then(() => reports.length);
  keep();

  expect(await stopped).toBe(1);
});

test("waiting for the farm includes what dune made, in other builds as well", async () => {
  const { dune, keep } = slowDune();
  const { greeted, reports } = await scene({ dune });
  const [one, two] = [await greeted(), await greeted()];
  for (const each of [one, two]) {
    each.send(withDune);
    await each.receive();
  }
  one.send({ type: "build-ended", exitCode: 0 });
  await one.receive();
  two.send({ type: "build-ended", exitCode: 0, sync: true });
  const told = two.receive().then((answer) => ({ answer, reports: reports.length }));

  keep();

  expect(await told).toMatchObject({ answer: { type: "ended", report: { asked: 0 } }, reports: 2 });
});
