import { z } from "zod";

/** What was fetched ahead for the last builds of one command, and what of it was for nothing. */
export const WasteOfBuild = z.object({ transferred: z.number(), wasted: z.number() });
export type WasteOfBuild = z.infer<typeof WasteOfBuild>;

export const WasteRecord = z.object({
  builds: z.array(WasteOfBuild).max(5),
  /** Builds since it was seen that fetching ahead is mostly for nothing. */
  skipped: z.number().int().nonnegative(),
});
export type WasteRecord = z.infer<typeof WasteRecord>;

/** More than half for nothing, in so many builds one after the other, is a guess that does not hold. */
const mostWaste = 0.5;
const buildsSeen = 5;
/** Then it is tried again once in so many builds: what is built changes. */
const tryAgainAfter = 10;

export const noRecord: WasteRecord = { builds: [], skipped: 0 };

/** Whether the next build of the command is fetched for. */
export function isWorthIt(record: WasteRecord): boolean {
  return !isWasteful(record) || record.skipped >= tryAgainAfter;
}

export function afterBuild(record: WasteRecord, build: WasteOfBuild | "skipped"): WasteRecord {
  if (build === "skipped") return { ...record, skipped: record.skipped + 1 };
  // All was here: it says nothing about guesses.
  if (build.transferred === 0) return record;
  return { builds: [...record.builds, build].slice(-buildsSeen), skipped: 0 };
}

function isWasteful({ builds }: WasteRecord): boolean {
  if (builds.length < buildsSeen) return false;
  const transferred = builds.reduce((sum, build) => sum + build.transferred, 0);
  const wasted = builds.reduce((sum, build) => sum + build.wasted, 0);
  return wasted > mostWaste * transferred;
}
