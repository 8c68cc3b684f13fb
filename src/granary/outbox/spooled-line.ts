import { z } from "zod";
import { Divergence, GranaryBuildReport } from "#api/granary.ts";
import { ResultKey } from "#commit-index/result-key.ts";
import { DigestText, digestKey } from "#core/digest.ts";
import type { GranaryResult } from "../granary-result.ts";
import { asKept, KeptResult } from "../store/result-text.ts";
import type { IndexToPublish } from "./outbox.ts";

const KeptEntry = ResultKey.extend({
  blobs: z.array(DigestText),
  firstMs: z.number().nonnegative(),
  savedMs: z.number().nonnegative().optional(),
  inputs: z.array(z.string()).optional(),
}).transform(({ savedMs, inputs, ...rest }) => ({ ...rest, savedMs, inputs }));

const KeptIndex = z.object({
  project: z.string(),
  repository: z.string(),
  commits: z.array(z.string()),
  tree: z.string(),
  branch: z.string(),
  environment: z.string(),
  entries: z.array(KeptEntry),
  complete: z.boolean(),
  targets: z.array(z.string()),
});

export function resultLine(result: GranaryResult): string {
  return JSON.stringify(asKept(result));
}

export function indexLine(index: IndexToPublish): string {
  const entries = index.entries.map((entry) => ({ ...entry, blobs: entry.blobs.map(digestKey) }));
  return JSON.stringify({ ...index, entries });
}

/** Undefined for an invalid line, because a disk may return corrupt data. */
export function readResultLine(line: string): GranaryResult | undefined {
  return KeptResult.safeParse(jsonOf(line)).data;
}

export function readIndexLine(line: string): IndexToPublish | undefined {
  return KeptIndex.safeParse(jsonOf(line)).data;
}

const KeptDivergence = z.object({ project: z.string(), divergence: Divergence });

export function divergenceLine(project: string, divergence: Divergence): string {
  const kept: z.input<typeof KeptDivergence> = { project, divergence };
  return JSON.stringify(kept);
}

/** Both kinds share a file, because they are few and their order is irrelevant. */
export function readReportLine(
  line: string,
): GranaryBuildReport | z.infer<typeof KeptDivergence> | undefined {
  const value = jsonOf(line);
  return KeptDivergence.safeParse(value).data ?? GranaryBuildReport.safeParse(value).data;
}

function jsonOf(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
