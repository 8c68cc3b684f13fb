import { z } from "zod";

/** The bytes prefetched for a build of one command, and those of them that were not used. */
export const WasteOfBuild = z.object({ transferred: z.number(), wasted: z.number() });
export type WasteOfBuild = z.infer<typeof WasteOfBuild>;

export const WasteRecord = z.object({
  builds: z.array(WasteOfBuild).max(5),
  /** The builds since prefetching was found mostly useless. */
  skipped: z.number().int().nonnegative(),
});
export type WasteRecord = z.infer<typeof WasteRecord>;

/** Above this share of waste in several consecutive builds, prefetching stops. */
const mostWaste = 0.5;
const buildsSeen = 5;
/** Prefetching is tried again after this many builds, because builds change. */
const tryAgainAfter = 10;

export const noRecord: WasteRecord = { builds: [], skipped: 0 };

/** Returns whether to prefetch for the next build of the command. */
export function shouldPrefetch(record: WasteRecord): boolean {
  return !isWasteful(record) || record.skipped >= tryAgainAfter;
}

export function afterBuild(record: WasteRecord, build: WasteOfBuild | "skipped"): WasteRecord {
  if (build === "skipped") return { ...record, skipped: record.skipped + 1 };
  // Nothing had to be transferred, so this build shows nothing about waste.
  if (build.transferred === 0) return record;
  return { builds: [...record.builds, build].slice(-buildsSeen), skipped: 0 };
}

function isWasteful({ builds }: WasteRecord): boolean {
  if (builds.length < buildsSeen) return false;
  const transferred = builds.reduce((sum, build) => sum + build.transferred, 0);
  const wasted = builds.reduce((sum, build) => sum + build.wasted, 0);
  return wasted > mostWaste * transferred;
}
