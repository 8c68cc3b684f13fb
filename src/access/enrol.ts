import { defaultProject } from "#core/default-project.ts";
import { Fault } from "#core/fault.ts";
import type { Tx } from "#db/db.ts";
import {
  insertEnrolment,
  lockEnrolment,
  markEnrolmentUsed,
  type StoredEnrolment,
} from "./enrolment.store.ts";
import { insertGrant } from "./grant.store.ts";
import { keepPrincipalAs, principalNamed } from "./principal.store.ts";
import { anyone, type Grant, type MachineKind } from "./principal.ts";
import {
  fingerprintOf,
  isSameHash,
  newEnrolmentToken,
  type TokenFingerprint,
} from "./secret-token.ts";
import { insertToken, storedToken } from "./token.store.ts";

interface WantedEnrolment {
  readonly principal: string;
  readonly kind: MachineKind;
  /** The grant that the machine gets: see `grantOfMachine`. */
  readonly grant: Grant;
  readonly createdBy: string;
  readonly expiresInMs: number;
  readonly tokenExpiresInMs: number | undefined;
}

interface CreatedEnrolment {
  readonly id: string;
  /** Returned only here. */
  readonly token: string;
  readonly principal: string;
  readonly expiresAt: Date;
}

/**
 * Returns the grant of a machine by its kind: to serve a pool, to measure under its own name, or to write to the caches
 * of projects. A granary that names no project gets the default one, because protected builds of a project read its
 * entries.
 */
export function grantOfMachine(
  principal: string,
  kind: MachineKind,
  {
    pool,
    repository,
  }: { readonly pool?: string | undefined; readonly repository?: string | undefined },
): Grant {
  const plain = { repository: "*", branch: "*", priorityCap: null, top: false };
  switch (kind) {
    case "worker":
      return { ...plain, verb: "work", ...(pool === undefined ? {} : { pool }) };
    case "collector":
      return { ...plain, repository: principal, verb: "measure" };
    case "granary":
      return { ...plain, repository: repository ?? defaultProject, verb: "cache" };
  }
}

/** A collector downloads the artifacts that it measures, which are blobs of the default project. */
const readsArtifacts: Grant = {
  verb: "read",
  repository: defaultProject,
  branch: "*",
  priorityCap: null,
  top: false,
};

/**
 * Registers a machine with its grant. Returns the enrolment token, which the machine exchanges for a token of its own.
 */
export async function createEnrolment(
  tx: Tx,
  wanted: WantedEnrolment,
  now: Date,
): Promise<CreatedEnrolment> {
  const { principal, createdBy } = wanted;
  if (principal === anyone) {
    throw new Fault(
      "invalid_argument",
      `"${anyone}" stands for callers without a token; choose another name`,
    );
  }
  await keepPrincipalAs(tx, principal, wanted.kind);
  await insertGrant(tx, principal, wanted.grant, createdBy);
  if (wanted.kind === "collector") await insertGrant(tx, principal, readsArtifacts, createdBy);
  const token = newEnrolmentToken();
  const fingerprint = fingerprintOf(token);
  const expiresAt = new Date(now.getTime() + wanted.expiresInMs);
  const tokenExpiresAt =
    wanted.tokenExpiresInMs === undefined
      ? undefined
      : new Date(now.getTime() + wanted.tokenExpiresInMs);
  await insertEnrolment(tx, { principal, fingerprint, createdBy, expiresAt, tokenExpiresAt }, now);
  return { id: fingerprint.id, token, principal, expiresAt };
}

interface Enrolled {
  readonly principal: string;
  readonly tokenId: string;
  readonly expiresAt: Date | undefined;
  /** False when the same request was made before and its answer was lost. */
  readonly isNew: boolean;
}

/**
 * Accepts an enrolment token and stores the hash of the token that the machine made itself.
 *
 * The machine writes its token to disk before the call and repeats the call when the answer was lost. The same token
 * gets the same answer; any other token is refused.
 */
export async function redeemEnrolment(
  tx: Tx,
  enrolmentToken: string,
  own: TokenFingerprint,
  now: Date,
  kind?: MachineKind,
): Promise<Enrolled> {
  const { id, hash } = fingerprintOf(enrolmentToken);
  const stored = await lockEnrolment(tx, id);
  const enrolment = stored !== undefined && isSameHash(stored.hash, hash) ? stored : undefined;
  const verdict = judgeEnrolment(id, enrolment, own.id, now);
  const { principal, createdBy, tokenExpiresAt } = verdict.enrolment;
  if (kind !== undefined) await requireKind(tx, principal, kind);
  if (verdict.isNew) {
    if ((await storedToken(tx, own.id)) !== undefined) throw takenToken();
    const expiresAt = tokenExpiresAt ?? undefined;
    await insertToken(tx, { principal, fingerprint: own, createdBy, expiresAt }, now);
    await markEnrolmentUsed(tx, id, own.id, now);
  } else {
    const known = await storedToken(tx, own.id);
    if (known === undefined || !isSameHash(known.hash, own.hash)) throw takenToken();
  }
  return {
    principal,
    tokenId: own.id,
    expiresAt: tokenExpiresAt ?? undefined,
    isNew: verdict.isNew,
  };
}

/**
 * Checked before the enrolment token is used up: a worker that was enrolled as a granary by mistake would only fail
 * later.
 */
async function requireKind(tx: Tx, principal: string, kind: MachineKind): Promise<void> {
  const known = await principalNamed(tx, principal);
  if (known === undefined || known.kind === kind) return;
  throw new Fault(
    "failed_precondition",
    `that enrolment token is for a ${known.kind} (${principal}), but this is a ${kind}: ` +
      `\`grange token create NAME --enrol ${kind}\` creates one for it`,
  );
}

/** Returns the kind of machine that an enrolment token is valid for. Throws `unauthenticated` when it is not valid. */
function judgeEnrolment(
  id: string,
  enrolment: StoredEnrolment | undefined,
  ownTokenId: string,
  now: Date,
): { readonly enrolment: StoredEnrolment; readonly isNew: boolean } {
  const refuse = (why: string) =>
    new Fault(
      "unauthenticated",
      `${why}; \`grange token create NAME --enrol KIND\` makes another one; only administrators of the farm can run it`,
    );
  if (enrolment === undefined) throw refuse("this farm does not know that enrolment token");
  if (enrolment.revokedAt !== null) throw refuse(`the enrolment token ${id} was revoked`);
  if (enrolment.tokenId === ownTokenId) return { enrolment, isNew: false };
  if (enrolment.tokenId !== null) {
    throw refuse(
      `the enrolment token ${id} was used already, for token ${enrolment.tokenId}: if that was not you, revoke that one`,
    );
  }
  if (enrolment.expiresAt <= now) throw refuse(`the enrolment token ${id} has expired`);
  return { enrolment, isNew: true };
}

/** The fault for a token that another principal has. It does not say which one. */
function takenToken(): Fault {
  return new Fault(
    "already_exists",
    "this token is already in use; create another one and try again",
  );
}
