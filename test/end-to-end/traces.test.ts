import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { remoteBuilder } from "#build-client/remote-builder.ts";
import { insideSpan } from "#tracing/active-span.ts";
import { type Farm, startFarm } from "../support/farm.ts";
import { curl } from "../support/needs/machine-needs.ts";
import { needs } from "../support/needs/needs.ts";
import {
  type OtlpCollector,
  otlpCollectorNeed,
  type ReceivedSpan,
  startOtlpCollector,
} from "../support/otlp-collector.ts";
import type { Program } from "../support/process.ts";
import { startGrange } from "../support/run-grange.ts";
import { type SampleRepository, sampleRepository } from "../support/sample-repository.ts";

/** A farm of a server, a worker and a granary, which all send their spans to one collector. */
let collector: OtlpCollector;
let farm: Farm;
let granary: Program;
let granaryPort: number;
let repository: SampleRepository;
let directory: string;

/** In a command line, and therefore in no span. */
const secret = "a-word-that-no-span-may-contain";

async function setUp(): Promise<void> {
  collector = await startOtlpCollector();
  directory = await mkdtemp(join(tmpdir(), "grange-traces-"));
  const env = collector.environment;
  farm = await startFarm({ workers: 0, env });
  farm.startWorker({ env });
  granary = startGrange(["granary", "--server", farm.url, "--data", join(directory, "granary")], {
    env: { ...env, XDG_RUNTIME_DIR: "" },
  });
  const ready = await granary.line((line) => line.startsWith('{"ready":true'));
  granaryPort = z.object({ port: z.number() }).parse(JSON.parse(ready)).port;
  const address = `http://127.0.0.1:${granaryPort}/cache/default/ccache/00/${"0".repeat(38)}`;
  repository = await sampleRepository({
    "source.txt": "source\n",
    ".grange/farm.yml": `
version: 1
jobs:
  make:
    network: true
    caches: true
    inputs: [source.txt]
    outputs: [made]
    commands: 'curl --silent --output /dev/null --header "traceparent: $TRACEPARENT" ${address}; echo ${secret}; cp source.txt made'
  check:
    needs: [make]
    inputs: []
    commands: cat made
`,
  });
}

async function tearDown(): Promise<void> {
  granary?.signal("SIGTERM");
  await granary?.finished;
  await farm?.stop();
  await collector?.stop();
  await repository?.remove();
  await rm(directory, { recursive: true, force: true });
}

const isRoot = ({ parentId }: ReceivedSpan) => parentId === "";

/** Returns the spans without a parent among the others, except the first span. */
function orphansOf(spans: readonly ReceivedSpan[]): ReceivedSpan[] {
  const ids = new Set(spans.map(({ spanId }) => spanId));
  return spans.filter((span) => !isRoot(span) && !ids.has(span.parentId));
}

/** Waits until the trace with a graph has arrived completely; returns its spans. */
async function traceOfGraph(id: string): Promise<ReceivedSpan[]> {
  const isOfGraph = ({ name, attributes }: ReceivedSpan) =>
    name === "graph" && attributes["grange.graph.id"] === id;
  const traceIn = (spans: readonly ReceivedSpan[]) => {
    const root = spans.find(isOfGraph);
    return spans.filter(({ traceId }) => traceId === root?.traceId);
  };
  await collector.until((spans) => {
    const trace = traceIn(spans);
    const works = trace.filter(({ name }) => name === "work").length;
    return trace.some(isOfGraph) && works > 0 && orphansOf(trace).length === 0;
  });
  return traceIn(collector.spans);
}

/** A server knows the clock of its database only up to half of a round trip, which takes long on a busy machine. */
const clockErrorMs = 25;

/** Returns the spans that are not within the time of their parent. */
function outsideOfParent(spans: readonly ReceivedSpan[]) {
  const byId = new Map(spans.map((span) => [span.spanId, span]));
  return spans.flatMap((span) => {
    const parent = byId.get(span.parentId);
    if (parent === undefined) return [];
    const isWithin =
      parent.startMs - clockErrorMs <= span.startMs && span.endMs <= parent.endMs + clockErrorMs;
    return isWithin ? [] : [{ span, parent }];
  });
}

const namesOf = (spans: readonly ReceivedSpan[], service: string) =>
  new Set(spans.filter((span) => span.service === service).map(({ name }) => name));

describe("traces of OpenTelemetry", needs(otlpCollectorNeed, curl), () => {
  beforeAll(setUp);
  afterAll(tearDown);

  test("a graph is one complete trace over server, worker and granary", async () => {
    const { id } = await farm.submit({ repository: repository.path });
    expect((await farm.untilOver(id)).state).toBe("succeeded");

    const trace = await traceOfGraph(id);

    expect(trace.filter(isRoot).map(({ name }) => name)).toEqual(["graph"]);
    expect(orphansOf(trace)).toEqual([]);
    expect(outsideOfParent(trace)).toEqual([]);
    expect(trace.filter(({ failed }) => failed)).toEqual([]);
    expect(namesOf(trace, "grange-server")).toEqual(
      new Set([
        "graph",
        "fetch commit",
        "read definitions",
        "plan",
        "store graph",
        "job",
        "prepare",
        "execution",
        "queue",
        "claim",
        "store result",
        "build.bazel.remote.execution.v2.ContentAddressableStorage/BatchReadBlobs",
        "build.bazel.remote.execution.v2.ContentAddressableStorage/BatchUpdateBlobs",
        "build.bazel.remote.execution.v2.ContentAddressableStorage/FindMissingBlobs",
        "grange.granary.v1.Granaries/LookUp",
      ]),
    );
    expect(namesOf(trace, "grange-worker")).toEqual(
      new Set(["work", "prepare sandbox", "fetch inputs", "run", "upload outputs"]),
    );
    expect(namesOf(trace, "grange-granary")).toEqual(new Set(["GET /cache", "granary lookup"]));
    expect(trace.filter(({ name }) => name === "job").map(jobOf)).toEqual(
      expect.arrayContaining(["make", "check"]),
    );
  });

  test("no span contains a command, its environment or a path", () => {
    const all = JSON.stringify(collector.spans);

    expect(collector.spans.length).toBeGreaterThan(0);
    for (const word of [secret, "curl", "source.txt", repository.path, "GRANGE_JOB_TOKEN"])
      expect(all).not.toContain(word);
  });

  test("a trace goes on when the server is started again while its work waits", async () => {
    const [worker] = farm.workers.splice(0);
    worker?.signal("SIGTERM");
    await worker?.finished;
    await repository.commit({ "source.txt": "another\n" });
    const { id } = await farm.submit({ repository: repository.path, select: "make" });
    await farm.until(id, ({ jobList }) => jobList.some(({ state }) => state === "queued"));

    farm.server.signal("SIGKILL");
    await farm.restartServer();
    farm.startWorker({ env: collector.environment });
    expect((await farm.untilOver(id)).state).toBe("succeeded");

    const trace = await traceOfGraph(id);
    expect(trace.filter(isRoot)).toHaveLength(1);
    expect(orphansOf(trace)).toEqual([]);
    expect(namesOf(trace, "grange-worker")).toContain("run");
    expect(namesOf(trace, "grange-granary")).toContain("granary lookup");
  });

  test("an Execute call through the granary continues the trace of its client", async () => {
    const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
    const client = { traceId, spanId: "00f067aa0ba902b7", parentId: null };
    const builder = remoteBuilder({
      url: `http://127.0.0.1:${granaryPort}`,
      project: "",
      invocation: "traced",
      tool: { name: "test", version: "1" },
    });
    const result = await insideSpan({ place: client, tracing: { record() {} } }, async () =>
      builder.run({
        mnemonic: "Say",
        target: "//say",
        arguments: ["/bin/sh", "-c", "echo said > out"],
        environment: {},
        inputs: [await builder.upload("in", Buffer.from("input"))],
        outputs: ["out"],
      }),
    );
    await builder.close();
    expect(result).toMatchObject({ exitCode: 0, cached: false });

    const ofClient = (spans: readonly ReceivedSpan[]) => [
      { ...clientSpan, spanId: client.spanId, traceId },
      ...spans.filter((span) => span.traceId === traceId),
    ];
    const execute = "build.bazel.remote.execution.v2.Execution/Execute";
    await collector.until((spans) => {
      const trace = ofClient(spans);
      const services = trace.filter(({ name }) => name === execute || name === "run");
      return services.length === 3 && orphansOf(trace).length === 0;
    });
    const trace = ofClient(collector.spans);
    const [atGranary] = trace.filter(
      ({ name, service }) => name === execute && service === "grange-granary",
    );
    const [atServer] = trace.filter(
      ({ name, service }) => name === execute && service === "grange-server",
    );
    const [execution] = trace.filter(({ name }) => name === "execution");
    const [work] = trace.filter(({ name }) => name === "work");
    expect(atGranary?.parentId).toBe(client.spanId);
    expect(atServer?.parentId).toBe(atGranary?.spanId);
    expect(execution?.parentId).toBe(atServer?.spanId);
    expect(work?.parentId).toBe(execution?.spanId);
    expect(outsideOfParent(trace.slice(1))).toEqual([]);
  });
});

const clientSpan = {
  service: "client",
  parentId: "",
  name: "build",
  startMs: 0,
  endMs: 0,
  attributes: {},
  failed: false,
};

function jobOf({ attributes }: ReceivedSpan): unknown {
  return attributes["grange.job"];
}
