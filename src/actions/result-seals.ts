import { createHash } from "node:crypto";
import { recentlyUsed } from "#core/recently-used.ts";
import { protectedDomain, type TrustDomain } from "#core/trust-domain.ts";
import { takingTurns } from "#scheduling/take-turns.ts";

/** The statement that is signed for a stored result. */
export interface ResultStatement {
  readonly project: string;
  readonly domain: TrustDomain;
  /** The action's `<hash>/<size>`. */
  readonly action: string;
  /** An REv2 ActionResult, binary. */
  readonly result: Uint8Array;
  readonly origin: ResultOrigin;
  /** Whether the result was made before the farm had a key, and signed later. */
  readonly isAdopted: boolean;
}

/** The origin of a result: a worker of this farm, whose report was checked, or a client. */
export type ResultOrigin =
  | {
      readonly kind: "execution";
      readonly executionId: string;
      readonly attempt: number;
      /** Null for results from before it was recorded. */
      readonly worker: string | null;
    }
  | { readonly kind: "client"; readonly principal: string };

/** The key of the farm that signed, and the signature. */
export interface Seal {
  readonly keyId: string;
  readonly signature: Uint8Array;
}

export interface SealedStatement extends ResultStatement {
  readonly seal: Seal | undefined;
}

/** The farm's key, reduced to the functions that results need. */
export interface SealingKey {
  readonly id: string;
  sign(bytes: Uint8Array): Uint8Array;
  verify(keyId: string, bytes: Uint8Array, signature: Uint8Array): boolean;
}

/** Signs the farm's own results and verifies them, to detect results that were written into the table by others. */
export interface ResultSeals {
  /** Undefined for domains whose results are not signed. */
  sealOf(statement: ResultStatement): Seal | undefined;
  holds(sealed: SealedStatement): boolean;
  /** Returns the statements whose signatures are valid, in the same order. Yields to the event loop in between. */
  thatHold<Each extends SealedStatement>(sealed: readonly Each[]): Promise<Each[]>;
  readonly counts: SealCounts;
}

export interface SealCounts {
  /** How many signatures were verified, and how many were already known. */
  verified: number;
  remembered: number;
  /** Results without a valid signature; each read counts. */
  refused: number;
}

/**
 * Entries of about 150 bytes. Verifying takes 75 µs and a lookup here 6 µs; a graph needs mostly the results of the
 * graph before.
 */
const usuallyRemembered = 100_000;

/**
 * Signs results of `protected`, and refuses results there without a valid signature.
 *
 * Other domains are read only by their writers and are not signed. `refuse` is called for each invalid result, at each
 * read.
 */
export function resultSeals(
  key: SealingKey,
  refuse: (statement: ResultStatement) => void,
  most = usuallyRemembered,
): ResultSeals {
  const known = recentlyUsed<true>(most);
  const counts: SealCounts = { verified: 0, remembered: 0, refused: 0 };

  const holds = (sealed: SealedStatement): boolean => {
    if (!isSealed(sealed.domain)) return true;
    if (verifies(sealed, sealed.seal)) return true;
    counts.refused += 1;
    refuse(sealed);
    return false;
  };

  const verifies = (statement: ResultStatement, seal: Seal | undefined): boolean => {
    if (seal === undefined) return false;
    const words = wordsOf(statement);
    const name = nameOf(words, statement, seal);
    if (known.peek(name) === true) {
      counts.remembered += 1;
      return true;
    }
    counts.verified += 1;
    const bytes = statementBytes(words, statement);
    if (!key.verify(seal.keyId, bytes, seal.signature)) return false;
    known.set(name, true);
    return true;
  };

  return {
    counts,
    holds,
    sealOf(statement) {
      if (!isSealed(statement.domain)) return undefined;
      const words = wordsOf(statement);
      const seal = { keyId: key.id, signature: key.sign(statementBytes(words, statement)) };
      known.set(nameOf(words, statement, seal), true);
      return seal;
    },
    async thatHold(sealed) {
      const turn = takingTurns();
      const held: (typeof sealed)[number][] = [];
      for (const each of sealed) {
        await turn();
        if (holds(each)) held.push(each);
      }
      return held;
    },
  };
}

/** For private stores that no other process can write: signs nothing and accepts everything. */
export const unsealed: ResultSeals = {
  counts: { verified: 0, remembered: 0, refused: 0 },
  sealOf: () => undefined,
  holds: () => true,
  thatHold: async (sealed) => [...sealed],
};

function isSealed(domain: TrustDomain): boolean {
  return domain === protectedDomain;
}

/** Returns all of a statement except its result, as JSON, so that adjacent names cannot be confused. */
function wordsOf({ project, domain, action, origin, isAdopted }: ResultStatement): string {
  const by =
    origin.kind === "client"
      ? [origin.kind, origin.principal]
      : [origin.kind, origin.executionId.toLowerCase(), origin.attempt, origin.worker];
  return JSON.stringify([project, domain, action, by, isAdopted]);
}

/** Returns the bytes that are signed. */
function statementBytes(words: string, { result }: ResultStatement): Uint8Array {
  const made = createHash("sha256").update(result).digest("hex");
  return Buffer.from(`grange result v1\n${words}\n${made}\n`);
}

/**
 * Returns the cache key of a statement with its signature: a signature is verified only for exactly these bytes.
 *
 * One hash covers all, as hashing is most of the cost. The length of the signature separates it from the result.
 */
function nameOf(words: string, { result }: ResultStatement, { keyId, signature }: Seal): string {
  return createHash("sha256")
    .update(`${JSON.stringify([keyId, signature.byteLength])}${words}\n`)
    .update(signature)
    .update(result)
    .digest("binary");
}
