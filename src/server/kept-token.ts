import { randomUUID } from "node:crypto";
import { open, readFile, rename } from "node:fs/promises";
import type { Logger } from "pino";
import { recordAudit } from "#access/audit.store.ts";
import { insertGrant } from "#access/grant.store.ts";
import { keepPrincipal } from "#access/principal.store.ts";
import type { Grant, PrincipalKind } from "#access/principal.ts";
import { fingerprintOf, isSameHash, isTokenShaped, newToken } from "#access/secret-token.ts";
import { insertToken, storedToken } from "#access/token.store.ts";
import { Fault, messageOf } from "#core/fault.ts";
import type { Db } from "#db/db.ts";

interface KeptToken {
  readonly file: string;
  readonly principal: string;
  readonly kind: PrincipalKind;
  /** Granted with the first token only: a grant that is removed later is not granted again. */
  readonly grant: Grant;
}

/**
 * Keeps a valid token of a principal in a file, for the users of the farm's own machine.
 *
 * The file is written first: after a crash the farm does not know the token in the file, and creates another one. A
 * revoked token stays revoked until an operator removes the file.
 */
export async function keepTokenInFile(
  { db, logger, now }: { readonly db: Db; readonly logger: Logger; readonly now: Date },
  { file, principal, kind, grant }: KeptToken,
): Promise<void> {
  const found = await tokenIn(file);
  const fingerprint = found === undefined ? undefined : fingerprintOf(found);
  const stored = fingerprint && (await storedToken(db, fingerprint.id));
  if (stored !== undefined && isSameHash(stored.hash, fingerprint?.hash ?? Buffer.alloc(32))) {
    const isOver = stored.revokedAt !== null || (stored.expiresAt ?? now) < now;
    if (isOver)
      logger.warn(
        { file },
        "the token in it has expired or was revoked; remove the file, and the server creates another token",
      );
    return;
  }
  const token = newToken();
  await write(file, token);
  await db.transaction(async (tx) => {
    await keepPrincipal(tx, principal, kind);
    await insertGrant(tx, principal, grant, "grange");
    const made = { principal, fingerprint: fingerprintOf(token), createdBy: "grange" };
    await insertToken(tx, { ...made, expiresAt: undefined }, now);
    const detail = { what: "create token", principal, id: made.fingerprint.id, where: "at start" };
    await recordAudit(tx, { actor: "grange", verb: "administer", detail });
  });
}

async function tokenIn(file: string): Promise<string | undefined> {
  try {
    const text = (await readFile(file, "utf8")).trim();
    return isTokenShaped(text) ? text : undefined;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new Fault(
      "failed_precondition",
      `cannot read the token in ${file}: ${messageOf(cause)}`,
      {
        cause,
      },
    );
  }
}

async function write(file: string, token: string): Promise<void> {
  const aside = `${file}.${randomUUID()}`;
  const handle = await open(aside, "w", 0o600);
  try {
    await handle.writeFile(`${token}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(aside, file);
}
