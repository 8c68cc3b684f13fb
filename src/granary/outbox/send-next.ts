import { digestOf } from "#cas/digest-of.ts";
import { encodeIndexInTurns } from "#commit-index/encode-index.ts";
import { Fault, messageOf } from "#core/fault.ts";
import type { GranaryResult } from "../granary-result.ts";
import type { IndexToPublish } from "./outbox.ts";
import { type ResultSending, sendResults } from "./send-results.ts";
import type { Spool, SpoolFile } from "./spool.ts";
import { readIndexLine, readReportLine, readResultLine } from "./spooled-line.ts";
import { callInParts } from "./what-a-failure-means.ts";

/** How many of each. */
export interface SpooledItems {
  readonly results: number;
  readonly indexes: number;
  readonly reports: number;
}

export interface Sending extends Omit<ResultSending, "onDropped"> {
  readonly onDropped: (what: SpooledItems, because: string) => void;
}

/** The farm takes 2,000 at once; a file has 500 at most. */
const enoughResults = 1_000;
/** A blob larger than this goes in chunks. */
const wholeUpToBytes = 1024 * 1024;

const unreadable = "the disk does not give it back";

/**
 * Sends the oldest of what waits, and answers which files are done with. Strictly in order, so that an index arrives
 * after the results that were added before it.
 */
export async function sendNext(
  spool: Spool,
  sending: Sending,
  onBegin: (files: readonly SpoolFile[]) => void,
): Promise<readonly SpoolFile[]> {
  const files = filesToSend(spool.files());
  onBegin(files);
  const [first] = files;
  if (first === undefined) return [];
  switch (first.kind) {
    case "results":
      await sendResultFiles(spool, files, sending);
      return files;
    case "index":
      await sendEach(first, await spool.lines(first), readIndexLine, sending, "indexes", (index) =>
        sendIndex(index, sending),
      );
      return files;
    case "report":
      await sendEach(first, await spool.lines(first), readReportLine, sending, "reports", (told) =>
        unlessTooOften(() =>
          "divergence" in told
            ? sending.farm.reportDivergence(told.project, told.divergence)
            : sending.farm.reportBuild(told),
        ),
      );
      return files;
  }
}

/** Results next to each other travel together; of others, one file at a time. */
function filesToSend(files: readonly SpoolFile[]): readonly SpoolFile[] {
  const chosen: SpoolFile[] = [];
  let items = 0;
  for (const file of files) {
    const fits = file.kind === "results" && items + file.items <= enoughResults;
    if (chosen.length > 0 && !fits) break;
    chosen.push(file);
    items += file.items;
    if (file.kind !== "results") break;
  }
  return chosen;
}

async function sendResultFiles(
  spool: Spool,
  files: readonly SpoolFile[],
  sending: Sending,
): Promise<void> {
  const byProject = new Map<string, GranaryResult[]>();
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
      const others = byProject.get(result.project);
      if (others) others.push(result);
      else byProject.set(result.project, [result]);
    }
  }
  for (const [project, results] of byProject) {
    const onDropped = (dropped: readonly GranaryResult[], because: string) => {
      sending.onDropped({ results: dropped.length, indexes: 0, reports: 0 }, because);
    };
    await sendResults({ ...sending, onDropped }, project, results);
  }
}

/** One at a time; sent again from the first after a failure. */
async function sendEach<Item>(
  file: SpoolFile,
  lines: readonly string[],
  parse: (line: string) => Item | undefined,
  { pass, onDropped }: Sending,
  kind: "indexes" | "reports",
  send: (item: Item) => Promise<void>,
): Promise<void> {
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
    );
  }
}

/**
 * The farm takes so many indexes and reports an hour, of a project or of a principal, whoever else has used them up. What
 * is over that is refused for good: it is advice, and results wait behind it.
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
