import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { z } from "zod";
import { spawnWithPipes } from "#machine/spawn-with-pipes.ts";
import type { Need } from "./needs/needs.ts";

const python = process.env["GRANGE_TEST_OTLP_PYTHON"] ?? "python3";

/** Decodes what the SDK sends, by OpenTelemetry's own definitions. */
export const otlpCollectorNeed: Need = {
  name: "a collector of OpenTelemetry",
  get missing() {
    const found = spawnSync(python, ["-c", "import opentelemetry.proto.trace.v1.trace_pb2"]);
    return found.status === 0 ? undefined : `${python} has no package opentelemetry-proto`;
  },
  remedy: {
    kind: "command",
    command:
      "python3 -m venv ~/.cache/otlp && ~/.cache/otlp/bin/pip install opentelemetry-proto==1.45.2 && export GRANGE_TEST_OTLP_PYTHON=~/.cache/otlp/bin/python",
  },
};

const ReceivedSpan = z.object({
  service: z.string(),
  traceId: z.string(),
  spanId: z.string(),
  /** Empty for the first span of a trace. */
  parentId: z.string(),
  name: z.string(),
  startMs: z.number(),
  endMs: z.number(),
  attributes: z.record(z.string(), z.unknown()),
  failed: z.boolean(),
});
export type ReceivedSpan = z.infer<typeof ReceivedSpan>;

export interface OtlpCollector {
  /** The variables by which a process sends its spans here. */
  readonly environment: Readonly<Record<string, string>>;
  /** The spans that have arrived. */
  readonly spans: readonly ReceivedSpan[];
  /** Resolves when the spans that have arrived are as wanted. Rejects with those that did when it takes too long. */
  until(wanted: (spans: readonly ReceivedSpan[]) => boolean): Promise<void>;
  stop(): Promise<void>;
}

/** How long a test waits for spans, in ms: the processes send them at most a second after their end. */
const patienceMs = 40_000;

function summaryOf(spans: readonly ReceivedSpan[]): string {
  return spans
    .map(({ traceId, spanId, parentId, service, name }) =>
      [traceId.slice(0, 4), spanId.slice(0, 4), parentId.slice(0, 4), service, name].join(" "),
    )
    .join("\n");
}

/** Starts a collector of traces on a free port. */
export async function startOtlpCollector(): Promise<OtlpCollector> {
  const child = spawnWithPipes(python, [join(import.meta.dirname, "otlp-collector.py")]);
  const spans: ReceivedSpan[] = [];
  const waiting = new Set<() => void>();
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const port = await new Promise<number>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", () => reject(new Error("the collector ended")));
    createInterface({ input: child.stdout }).on("line", (line) => {
      const parsed: unknown = JSON.parse(line);
      const ready = z.object({ port: z.number() }).safeParse(parsed);
      if (ready.success) return resolve(ready.data.port);
      spans.push(ReceivedSpan.parse(parsed));
      for (const look of waiting) look();
    });
  });
  return {
    environment: {
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
      // Spans leave in batches; usually every 5 s.
      OTEL_BSP_SCHEDULE_DELAY: "100",
    },
    spans,
    until: (wanted) =>
      new Promise((resolve, reject) => {
        const giveUp = setTimeout(() => {
          waiting.delete(look);
          reject(new Error(`the spans did not arrive; these did:\n${summaryOf(spans)}`));
        }, patienceMs);
        const look = () => {
          if (!wanted(spans)) return;
          clearTimeout(giveUp);
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      }),
    async stop() {
      child.kill("SIGKILL");
      await exited;
    },
  };
}
