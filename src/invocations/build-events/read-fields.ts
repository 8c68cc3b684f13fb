import { type Duration, durationMs, type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";
import { showableValue, withoutPasswords } from "#core/hide-secrets.ts";
import { keepableText } from "#core/keepable-text.ts";
import type { File } from "#proto/build_event_stream/build_event_stream_pb.ts";
import { longest, most } from "./build-bounds.ts";
import type { NamedFile } from "./build-update.ts";

/** Returns files that have a URI. Content in the event itself has none. */
export function readFiles(files: readonly File[], atMost: number): NamedFile[] {
  const named: NamedFile[] = [];
  for (const { name, file } of files) {
    if (named.length === atMost) break;
    if (file.case !== "uri") continue;
    named.push({
      name: keepableText(name, longest.label),
      uri: keepableText(withoutPasswords(file.value), longest.uri),
    });
  }
  return named;
}

export function readPairs(pairs: readonly (readonly [string, string])[]): Record<string, string> {
  return Object.fromEntries(
    pairs
      .slice(0, most.pairs)
      .map(([key, value]) => [
        keepableText(key, longest.name),
        keepableText(showableValue(key, value), longest.value),
      ]),
  );
}

export function countOf(number: number): number {
  return Math.max(0, number);
}

export function msOf(duration: Duration | undefined, ms: bigint): number {
  const told = duration === undefined ? Number(ms) : durationMs(duration);
  return Math.min(Math.max(0, Math.round(told)), Number.MAX_SAFE_INTEGER);
}

/** Undefined also for impossible dates: the tool sends the time, and it may have any value. */
export function timeOf(timestamp: Timestamp | undefined, ms: bigint): Date | undefined {
  const told = timestamp === undefined ? Number(ms) : timestampMs(timestamp);
  return told > 0 && told < Date.UTC(3000, 0) ? new Date(told) : undefined;
}
