import type { CallerRegistry } from "#access/caller-registry.ts";
import { createToken } from "#access/create-token.ts";
import { type ListedEnrolment, listEnrolments } from "#access/enrolment.store.ts";
import { type GrantRule, insertGrant, listGrants } from "#access/grant.store.ts";
import { keepSignature } from "#access/keep-signature.ts";
import { requireNarrowingThatCounts } from "#access/narrowing.ts";
import { principalNamed } from "#access/principal.store.ts";
import { anyone, Grant, type Principal, PrincipalName, wholeFarm } from "#access/principal.ts";
import { bytesOfPublicKey, publicKeyId, textOfPublicKey } from "#access/public-key.ts";
import { mayDo, requireGrant } from "#access/require-grant.ts";
import { verifySignatures } from "#access/signed-subject.ts";
import { listKeys, type SigningKey } from "#access/signing-key.store.ts";
import { removeGrants, revokeToken } from "#access/take-rights-away.ts";
import { type ListedToken, listTokens } from "#access/token.store.ts";
import { revokeKey, trustKey } from "#access/trust-keys.ts";
import type * as api from "#api/access.ts";
import type { Clock } from "#core/clock.ts";
import { Fault } from "#core/fault.ts";
import { Verb } from "#core/verb.ts";
import type { Db, Tx } from "#db/db.ts";
import { auditLog, recordAudit } from "#graphs/audit.store.ts";
import { findSignedCatalogs, type SignedCatalog } from "#graphs/catalogs/signed-catalog.store.ts";
import { GraphId } from "#graphs/graph-id.ts";
import { setGraphPriority } from "#graphs/set-graph-priority.ts";
import type { AccessFarm } from "./http/access-farm.ts";

export interface AccessParts {
  readonly db: Db;
  readonly clock: Clock;
  readonly callers: CallerRegistry;
  readonly queue: { transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> };
}

/** Tokens, grants, keys and signatures, for the HTTP API. Each change leaves an entry in the audit. */
export function bindAccess({ db, clock, callers, queue }: AccessParts): AccessFarm {
  /** Does something that needs a right on the whole farm; afterwards nobody is taken for who he was. */
  const change = async <T>(
    by: Principal,
    verb: Verb,
    detail: Readonly<Record<string, unknown>>,
    work: (tx: Tx, now: Date) => Promise<T>,
  ): Promise<T> => {
    requireGrant(by, verb, wholeFarm);
    const done = await db.transaction(async (tx) => {
      const answer = await work(tx, clock.now());
      await recordAudit(tx, { actor: by.name, verb, detail });
      return answer;
    });
    callers.forgetAll();
    return done;
  };

  /** Those that are good now. */
  const tokensOf = async (name: string) => {
    const now = clock.now();
    const [tokens, enrolments] = await Promise.all([listTokens(db), listEnrolments(db)]);
    return [...tokens, ...enrolments]
      .filter(({ principal, revokedAt }) => principal === name && revokedAt === null)
      .filter(({ expiresAt }) => expiresAt === null || expiresAt > now)
      .map(tokenForPage)
      .filter(({ usedAt }) => usedAt === null)
      .map(({ id, use, expiresAt }) => ({ id, use, expiresAt }));
  };

  return {
    identify: (authorization, certificateOf) => callers.identify(authorization, certificateOf),

    async tokens(by) {
      requireGrant(by, "administer", wholeFarm);
      const [tokens, enrolments] = await Promise.all([listTokens(db), listEnrolments(db)]);
      return [...tokens, ...enrolments].map(tokenForPage);
    },
    async createToken({ principal, kind, expiresInMs }, by) {
      const wanted = {
        principal: nameFrom(principal),
        kind,
        createdBy: by.name,
        expiresInMs: expiresInMs ?? undefined,
      };
      const detail = { what: "create token", principal, kind };
      const created = await change(by, "administer", detail, (tx, now) =>
        createToken(tx, wanted, now),
      );
      return { ...created, expiresAt: created.expiresAt?.toISOString() ?? null };
    },
    async revokeToken(id, by) {
      const detail = { what: "revoke token", id };
      return tokenForPage(
        await change(by, "administer", detail, (tx, now) => revokeToken(tx, id, by.name, now)),
      );
    },

    async rightsOf(principal, by) {
      const name = nameFrom(principal);
      const administers = mayDo(by, "administer", wholeFarm);
      if (name !== by.name && !administers) requireGrant(by, "administer", wholeFarm);
      const [known, rules, tokens] = await Promise.all([
        principalNamed(db, name),
        listGrants(db),
        administers ? tokensOf(name) : null,
      ]);
      const of = (wanted: string) => rules.filter((rule) => rule.principal === wanted);
      const grants = [...of(name), ...(name === anyone ? [] : of(anyone))];
      return {
        name,
        kind: known?.kind ?? null,
        quarantine: known?.quarantine ?? null,
        tokens,
        grants: grants.map(ruleForPage),
        verbs: Verb.options.filter((verb) =>
          grants.some((grant) => grant.verb === "*" || grant.verb === verb),
        ),
      };
    },

    async audit({ before, actor, verb, since, limit }, by) {
      requireGrant(by, "administer", wholeFarm);
      const from = since === undefined ? undefined : new Date(since);
      const most = limit + 1;
      const rows = await auditLog(db, { before, actor, verb, since: from, most });
      const entries = rows.slice(0, limit);
      return { entries, next: rows.length > limit ? (entries.at(-1)?.seq ?? null) : null };
    },

    async grants(by) {
      const all = mayDo(by, "administer", wholeFarm);
      const rules = await listGrants(db);
      return rules.filter(({ principal }) => all || principal === by.name).map(ruleForPage);
    },
    async addGrant({ principal, ...wanted }, by) {
      const name = nameFrom(principal);
      const grant = Grant.safeParse(wanted);
      if (!grant.success) throw new Fault("invalid_argument", grant.error.issues[0]?.message ?? "");
      requireNarrowingThatCounts(grant.data);
      return change(by, "administer", { what: "add grant", principal, ...wanted }, async (tx) => {
        await insertGrant(tx, name, grant.data, by.name);
        return (await listGrants(tx)).filter((rule) => rule.principal === name).map(ruleForPage);
      });
    },
    removeGrants: ({ principal, verb, repository, branch }, by) =>
      change(
        by,
        "administer",
        { what: "remove grants", principal, verb, repository, branch },
        (tx, now) => removeGrants(tx, { principal, verb, repository, branch }, now),
      ),

    keys: async () => (await listKeys(db)).map(keyForPage),
    trustKey: ({ name, publicKey }, by) =>
      change(by, "administer", { what: "trust key", name, publicKey }, async (tx, now) =>
        keyForPage(await trustKey(tx, name, publicKey, { by: by.name, now })),
      ),
    revokeKey: (name, by) =>
      change(by, "administer", { what: "revoke key", name }, async (tx, now) =>
        keyForPage(await revokeKey(tx, name, { by: by.name, now })),
      ),

    catalogSignatures: (catalog) =>
      db.transaction(async (tx) => {
        const found = await oneCatalog(tx, catalog);
        return found && signaturesOf(tx, found);
      }),
    signCatalog: ({ catalog, publicKey, signature }, by) =>
      change(by, "sign", { catalog, publicKey }, async (tx, now) => {
        const found = await oneCatalog(tx, catalog);
        if (found === undefined) throw new Fault("not_found", `there is no catalog "${catalog}"`);
        const subject = { kind: "catalog", digest: found.signedDigest } as const;
        const keyId = publicKeyId(bytesOfPublicKey(publicKey));
        const bytes = Buffer.from(signature, "base64");
        await keepSignature(tx, { subject, keyId, signature: bytes, signedBy: by.name }, now);
        return signaturesOf(tx, found);
      }),

    setGraphPriority: (id, request, by) => setGraphPriority(queue, GraphId.parse(id), request, by),
  };
}

async function oneCatalog(tx: Tx, written: string): Promise<SignedCatalog | undefined> {
  const found = await findSignedCatalogs(tx, written);
  if (found.length > 1) {
    throw new Fault("invalid_argument", `"${written}" begins several catalogs; write more of it`);
  }
  return found[0];
}

async function signaturesOf(tx: Tx, signed: SignedCatalog): Promise<api.CatalogSignatures> {
  const signers = await verifySignatures(tx, { kind: "catalog", digest: signed.signedDigest });
  return {
    ...signed,
    signers: signers.map((each) => ({ ...each, signedAt: each.signedAt.toISOString() })),
  };
}

function nameFrom(text: string): string {
  const name = PrincipalName.safeParse(text);
  if (name.success) return name.data;
  throw new Fault("invalid_argument", name.error.issues[0]?.message ?? `"${text}" is no name`);
}

function tokenForPage(token: ListedToken | ListedEnrolment): api.Token {
  const isEnrolment = "usedAt" in token;
  return {
    ...token,
    use: isEnrolment ? "enrolment" : "calls",
    usedAt: isEnrolment ? (token.usedAt?.toISOString() ?? null) : null,
    createdAt: token.createdAt.toISOString(),
    expiresAt: token.expiresAt?.toISOString() ?? null,
    revokedAt: token.revokedAt?.toISOString() ?? null,
  };
}

function ruleForPage(rule: GrantRule): api.GrantRule {
  return { ...rule, createdAt: rule.createdAt.toISOString() };
}

function keyForPage(key: SigningKey): api.SigningKey {
  return {
    ...key,
    publicKey: textOfPublicKey(key.publicKey),
    trustedAt: key.trustedAt.toISOString(),
    revokedAt: key.revokedAt?.toISOString() ?? null,
  };
}
