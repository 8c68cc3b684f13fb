import { digestOf } from "#cas/digest-of.ts";
import { encodeIndexInTurns } from "#commit-index/encode-index.ts";
import { Fault, messageOf } from "#core/fault.ts";
import type { GranaryResult } from "../granary-result.ts";
import { callInParts } from "./classify-failure.ts";
import type { IndexToPublish } from "./outbox.ts";
import { type ResultSending, sendResults } from "./send-results.ts";
import type { Spool, SpoolFile } from "./spool.ts";
import { readIndexLine, readReportLine, readResultLine } from "./spooled-line.ts";

/** The number of items of each kind. */
export interface SpooledItems {
  readonly results: number;
  readonly indexes: number;
  readonly reports: number;
}

/** Lines of a file that the farm does not accept now, with the reason. */
export interface Left {
  readonly file: SpoolFile;
  readonly lines: readonly string[];
  readonly because: string;
}

interface Sending extends Omit<ResultSending, "onDropped" | "onFailing"> {
  readonly onDropped: (what: SpooledItems, because: string) => void;
}

/** A blob larger than this is sent in chunks. */
const wholeUpToBytes = 1024 * 1024;

const unreadable = "it cannot be read from the disk";

/**
 * Sends files of one kind, and returns those that are left. Throws when all of them must be sent again.
 *
 * Each kind is sent in its own order, so that an index arrives after the results that were added before it.
 */
export async function sendFiles(
  spool: Spool,
  files: readonly SpoolFile[],
  sending: Sending,
): Promise<readonly Left[]> {
  const [first] = files;
  if (first === undefined) return [];
  switch (first.kind) {
    case "results":
      return sendResultFiles(spool, files, sending);
    case "index":
      return sendEach(first, await spool.lines(first), readIndexLine, sending, "indexes", (index) =>
        sendIndex(index, sending),
      );
    case "report":
      return sendEach(first, await spool.lines(first), readReportLine, sending, "reports", (told) =>
        unlessTooOften(() =>
          "divergence" in told
            ? sending.farm.reportDivergence(told.project, told.divergence)
            : sending.farm.reportBuild(told),
        ),
      );
  }
}

/** The remaining lines by file. */
function leftovers() {
  const left = new Map<SpoolFile, { readonly lines: string[]; readonly because: string }>();
  return {
    add(file: SpoolFile, line: string, reason: unknown) {
      const its = left.get(file) ?? { lines: [], because: messageOf(reason) };
      its.lines.push(line);
      left.set(file, its);
    },
    all: (): Left[] => [...left].map(([file, its]) => ({ file, ...its })),
  };
}

async function sendResultFiles(
  spool: Spool,
  files: readonly SpoolFile[],
  sending: Sending,
): Promise<readonly Left[]> {
  const byProject = new Map<string, GranaryResult[]>();
  const places = new Map<GranaryResult, { readonly file: SpoolFile; readonly line: string }>();
  const left = leftovers();
  for (const file of files) {
    const lines = await spool.lines(file);
    const lost = file.items - lines.length;
    if (lost > 0) sending.onDropped({ results: lost, indexes: 0, reports: 0 }, unreadable);
    for (const line of lines) {
      const result = readResultLine(line);
      if (result === undefined) {
        sending.onDropped({ results: 1, indexes: 0, reports: 0 }, unreadable);
        continue;
      }
      places.set(result, { file, line });
      const others = byProject.get(result.project);
      if (others) others.push(result);
      else byProject.set(result.project, [result]);
    }
  }
  for (const [project, results] of byProject) {
    const onDropped = (dropped: readonly GranaryResult[], because: string) => {
      sending.onDropped({ results: dropped.length, indexes: 0, reports: 0 }, because);
    };
    const onFailing = (result: GranaryResult, reason: unknown) => {
      const place = places.get(result);
      if (place !== undefined) left.add(place.file, place.line, reason);
    };
    await sendResults({ ...sending, onDropped, onFailing }, project, results);
  }
  return left.all();
}

/** Sends items one at a time; after a failure, sending begins again with the first. */
async function sendEach<Item>(
  file: SpoolFile,
  lines: readonly string[],
  parse: (line: string) => Item | undefined,
  { pass, onDropped }: Sending,
  kind: "indexes" | "reports",
  send: (item: Item) => Promise<void>,
): Promise<readonly Left[]> {
  const left = leftovers();
  const nothing = { results: 0, indexes: 0, reports: 0 };
  const lost = file.items - lines.length;
  if (lost > 0) onDropped({ ...nothing, [kind]: lost }, unreadable);
  for (const line of lines) {
    const item = parse(line);
    if (item === undefined) {
      onDropped({ ...nothing, [kind]: 1 }, unreadable);
      continue;
    }
    await pass(0);
    await callInParts(
      [item],
      async ([one]) => {
        await send(one as Item);
        return [];
      },
      (_, reason) => {
        onDropped({ ...nothing, [kind]: 1 }, messageOf(reason));
      },
      (_, reason) => left.add(file, line, reason),
    );
  }
  return left.all();
}

/**
 * The farm accepts a limited number of indexes and reports an hour, for a project and for a principal. Those above the
 * limit are dropped: they are only hints, and results wait behind them.
 */
async function unlessTooOften(tell: () => Promise<void>): Promise<void> {
  try {
    await tell();
  } catch (reason) {
    if (!(reason instanceof Fault) || reason.code !== "resource_exhausted") throw reason;
    throw new Fault("out_of_range", reason.message, { cause: reason });
  }
}

async function sendIndex(index: IndexToPublish, { farm, pass }: Sending): Promise<void> {
  const bytes = await encodeIndexInTurns({
    base: undefined,
    entries: index.entries,
    removed: [],
  });
  const digest = digestOf(bytes);
  const there = farm.blobs(index.project);
  if (bytes.byteLength <= wholeUpToBytes) {
    await pass(bytes.byteLength);
    await there.put(digest, bytes);
  } else {
    await there.write(
      digest,
      (async function* () {
        for (let at = 0; at < bytes.byteLength; at += wholeUpToBytes) {
          const chunk = bytes.subarray(at, at + wholeUpToBytes);
          await pass(chunk.byteLength);
          yield chunk;
        }
      })(),
    );
  }
  await pass(0);
  await unlessTooOften(() => farm.publishIndex(index, digest));
}
