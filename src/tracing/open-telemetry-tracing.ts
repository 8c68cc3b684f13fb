import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import {
  type Context,
  type DiagLogger,
  DiagLogLevel,
  diag,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
} from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from "@opentelemetry/resources";
import {
  BasicTracerProvider,
  BatchSpanProcessor,
  type IdGenerator,
  RandomIdGenerator,
} from "@opentelemetry/sdk-trace-base";
import type { Logger } from "pino";
import { parseTraceparent, type SpanPlace } from "#core/span-place.ts";
import type { EndedSpan, Tracing } from "./tracing.ts";

/** A collector that is away must not delay the end of a process for longer, in ms. */
const longestStopMs = 3_000;

/** The time between two lines of the log about a collector that does not answer, in ms. */
const quietMs = 60_000;

/**
 * Opens tracing with the official SDK, which reads the standard variables: endpoint, headers, certificates, sampler,
 * limits and batches.
 */
export function openTelemetryTracing(about: {
  readonly service: string;
  readonly version: string;
  readonly logger: Logger;
}): Tracing {
  diag.setLogger(throttled(about.logger), {
    logLevel: DiagLogLevel.WARN,
    suppressOverrideMessage: true,
  });
  const ids = new ChosenIds();
  const provider = new BasicTracerProvider({
    idGenerator: ids,
    resource: defaultResource()
      .merge(
        resourceFromAttributes({
          "service.name": about.service,
          "service.version": about.version,
          "service.instance.id": randomUUID(),
        }),
      )
      // The variables OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES have the last word.
      .merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
  });
  const tracer = provider.getTracer("grange", about.version);

  return {
    begin(name, traceparent) {
      const caller = parseTraceparent(traceparent);
      // A span that is never ended is never exported; it is made to ask the sampler.
      const { traceId, spanId, traceFlags } = tracer
        .startSpan(name, {}, caller === undefined ? ROOT_CONTEXT : contextOf(caller))
        .spanContext();
      if ((traceFlags & TraceFlags.SAMPLED) === 0) return undefined;
      return { traceId, spanId, parentId: caller?.spanId ?? null };
    },

    record({ place, name, kind, startMs, endMs, attributes = {}, failure }) {
      const { traceId, parentId } = place;
      const parent =
        parentId === null
          ? ROOT_CONTEXT
          : contextOf({ traceId, spanId: parentId, isSampled: true });
      const span = ids.choosing(place, () =>
        tracer.startSpan(
          name,
          { kind: kindOf(kind), startTime: timeOf(startMs), attributes },
          parent,
        ),
      );
      if (failure !== undefined)
        span.setStatus({ code: SpanStatusCode.ERROR, message: failure.slice(0, 200) });
      span.end(timeOf(Math.max(startMs, endMs)));
    },

    async stop() {
      const ended = provider.shutdown().catch((reason: unknown) => {
        about.logger.warn({ err: reason }, "the last spans could not be sent");
      });
      await Promise.race([ended, delay(longestStopMs, undefined, { ref: false })]);
    },
  };
}

function kindOf(kind: EndedSpan["kind"]): SpanKind {
  return kind === "server" ? SpanKind.SERVER : SpanKind.INTERNAL;
}

function contextOf(parent: {
  readonly traceId: string;
  readonly spanId: string;
  readonly isSampled: boolean;
}): Context {
  const { traceId, spanId, isSampled } = parent;
  const traceFlags = isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE;
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true });
}

/** Seconds and nanoseconds: the SDK reads a small number as a time since the start of the process. */
function timeOf(ms: number): [seconds: number, nanoseconds: number] {
  const seconds = Math.floor(ms / 1_000);
  return [seconds, Math.round((ms - seconds * 1_000) * 1e6)];
}

/** Gives the next span the ids that were stored for it; all others get random ones. */
class ChosenIds implements IdGenerator {
  readonly #random = new RandomIdGenerator();
  #next: SpanPlace | undefined;

  choosing<T>(place: SpanPlace, start: () => T): T {
    this.#next = place;
    try {
      return start();
    } finally {
      this.#next = undefined;
    }
  }

  generateTraceId = (): string => this.#next?.traceId ?? this.#random.generateTraceId();
  generateSpanId = (): string => this.#next?.spanId ?? this.#random.generateSpanId();
}

/** Writes what the SDK reports to the log, at most one line a minute: a collector may be away for days. */
function throttled(logger: Logger): DiagLogger {
  let quietUntil = 0;
  const tell = (message: string) => {
    if (performance.now() < quietUntil) return;
    quietUntil = performance.now() + quietMs;
    logger.warn({ reason: message.slice(0, 500) }, "spans could not be sent to the collector");
  };
  const nothing = () => {};
  return { error: tell, warn: tell, info: nothing, debug: nothing, verbose: nothing };
}
