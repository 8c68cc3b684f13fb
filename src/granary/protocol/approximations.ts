import { z } from "zod";

/** A key that a result may have, by a hash that was known before the key was. */
const Candidate = z.object({ key: z.string().max(1_024), exact: z.boolean() });
export type Candidate = z.infer<typeof Candidate>;

const Candidates = z.object({ version: z.literal(1), candidates: z.array(Candidate).max(8) });

/**
 * The most candidates of a hash. With more, the hash is useless: all of them would be fetched for the one that is
 * needed.
 */
const mostCandidates = 8;

/**
 * Adds a candidate, the newest first. There is one exact candidate: of two results over the same inputs, the later one
 * counts.
 */
export function withCandidate(known: readonly Candidate[], added: Candidate): Candidate[] {
  const others = known.filter(({ key, exact }) => key !== added.key && !(exact && added.exact));
  return [added, ...others].slice(0, mostCandidates);
}

export function writeCandidates(candidates: readonly Candidate[]): Uint8Array {
  const value: z.input<typeof Candidates> = { version: 1, candidates: [...candidates] };
  return Buffer.from(JSON.stringify(value));
}

/** Candidates are optional: unreadable ones are ignored. */
export function readCandidates(bytes: Uint8Array): Candidate[] {
  try {
    return Candidates.parse(JSON.parse(Buffer.from(bytes).toString("utf8"))).candidates;
  } catch {
    return [];
  }
}
