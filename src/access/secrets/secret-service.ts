import type { Clock } from "#core/clock.ts";
import { Fault } from "#core/fault.ts";
import type { SecretReference } from "#core/secret-reference.ts";
import { protectedDomain, type TrustDomain } from "#core/trust-domain.ts";
import type { Db, Tx } from "#db/db.ts";
import { matchesPattern } from "../matches-pattern.ts";
import type { Principal } from "../principal.ts";
import { mayDo, requireGrant, requireGrantSomewhere } from "../require-grant.ts";
import { chooseSecret, type RunPlace, whyNotInDomain } from "./choose-secret.ts";
import { seal, unseal } from "./sealed-value.ts";
import {
  countSecrets,
  deleteSecret,
  type KeptSecret,
  type KnownSecret,
  keptSecrets,
  listSecrets,
  lockSecretNames,
  putSecret,
  type SecretPlace,
  secretAt,
  secretsNamed,
} from "./secret.store.ts";
import type { SecretsKey } from "./secrets-key.ts";

/** Shorter values cannot be masked in logs: too much other text would match. */
const leastSecretBytes = 8;
const mostSecretBytes = 32 * 1024;
const mostSecrets = 1_000;

/** A secret's value for the worker that runs the execution it is granted to. */
interface SecretValue {
  readonly name: string;
  readonly value: Uint8Array;
}

/** A secret as it is shown: everything except its value. */
interface ShownSecret extends SecretPlace {
  readonly id: number;
  readonly users: string | null;
  readonly version: number;
  readonly setAt: string;
  readonly setBy: string;
}

interface NewSecret extends SecretPlace {
  /** The principals whose own runs also get the secret, even on branches that are not protected. */
  readonly users: string | null;
  /** In base64. */
  readonly value: string;
}

/** Stores secrets and decides which run gets which. Only `valuesOf`, `valuesFor` and `valueIn` return values. */
export interface SecretService {
  set(request: NewSecret, by: Principal): Promise<ShownSecret>;
  list(by: Principal): Promise<ShownSecret[]>;
  remove(at: SecretPlace, by: Principal): Promise<void>;
  /**
   * Returns references to the secrets that a run may use. Throws `failed_precondition` when it may not use one of the
   * names.
   */
  referTo(names: readonly string[], place: RunPlace): Promise<SecretReference[]>;
  /** Returns the values for a lease; throws `failed_precondition` for secrets that were removed or changed since. */
  valuesOf(references: readonly SecretReference[], domain: TrustDomain): Promise<SecretValue[]>;
  /**
   * Returns the values of all secrets of a name for any branch of a repository, for the farm's own use. Throws
   * `failed_precondition` when one cannot be opened.
   */
  valuesFor(name: string, repository: string): Promise<Uint8Array[]>;
  /**
   * Returns the value of the secret of a name for all branches of a repository, for the farm's own use; undefined when
   * there is none for runs in this trust domain. Throws `failed_precondition` when it cannot be opened.
   */
  valueIn(
    name: string,
    place: Pick<RunPlace, "repository" | "domain"> & {
      /** Whether the name means a secret for all runs, also of pull requests and of users. */
      readonly isForPullRequests: boolean;
    },
  ): Promise<{ readonly id: number; readonly value: Uint8Array } | undefined>;
}

/** The audit entry of a change: who, where, and which version. */
type AuditSecret = (tx: Tx, by: string, detail: Readonly<Record<string, unknown>>) => Promise<void>;

export function secretService(parts: {
  readonly db: Db;
  readonly key: SecretsKey;
  readonly clock: Clock;
  readonly audit: AuditSecret;
}): SecretService {
  const { db, key, clock, audit } = parts;
  return {
    async set({ name, repository, branch, users, value }, by) {
      requireGrant(by, "secret", { repository, branch });
      const bytes = Buffer.from(value, "base64");
      checkLength(bytes);
      return db.transaction(async (tx) => {
        await lockSecretNames(tx);
        const before = await secretAt(tx, { name, repository, branch });
        if (before === undefined && (await countSecrets(tx)) >= mostSecrets) {
          throw new Fault("resource_exhausted", `a farm keeps at most ${mostSecrets} secrets`);
        }
        const version = (before?.version ?? 0) + 1;
        const about = { name, repository, branch, users, version };
        const sealed = seal(key, about, bytes);
        await putSecret(tx, {
          ...about,
          keyId: key.id,
          sealed,
          setAt: clock.now(),
          setBy: by.name,
        });
        await audit(tx, by.name, { what: "set secret", ...about });
        const kept = await secretAt(tx, about);
        if (kept === undefined) throw new Fault("internal", `the secret ${name} was not stored`);
        return told(kept);
      });
    },

    async list(by) {
      requireGrantSomewhere(by, "secret");
      return (await listSecrets(db)).filter((each) => mayDo(by, "secret", each)).map(told);
    },

    async remove(at, by) {
      requireGrant(by, "secret", at);
      const removed = await db.transaction(async (tx) => {
        const isGone = await deleteSecret(tx, at);
        if (isGone) await audit(tx, by.name, { what: "remove secret", ...at });
        return isGone;
      });
      if (removed) return;
      throw new Fault(
        "not_found",
        `there is no secret ${at.name} for branch ${at.branch} of ${at.repository}; the patterns must be the same as in \`grange secret list\``,
      );
    },

    async referTo(names, place) {
      const known = await secretsNamed(db, names);
      return names.map((name) => {
        const chosen = chooseSecret(
          known.filter((each) => each.name === name),
          place,
        );
        if ("refused" in chosen) {
          throw new Fault("failed_precondition", `the secret ${name} is ${chosen.refused}`);
        }
        return { name, id: chosen.id, version: chosen.version };
      });
    },

    async valuesOf(references, domain) {
      const kept = await keptSecrets(
        db,
        references.map(({ id }) => id),
      );
      return references.map(({ name, id, version }) => {
        const found = kept.find((each) => each.id === id && each.name === name);
        if (found === undefined) throw gone(name, "was removed");
        if (found.version !== version) throw gone(name, "was changed");
        const refused = whyNotInDomain(found, domain);
        if (refused !== undefined) {
          throw new Fault("failed_precondition", `the secret ${name} is ${refused}`);
        }
        return { name, value: opened(key, found) };
      });
    },

    async valuesFor(name, repository) {
      const ofThatName = await secretsNamed(db, [name]);
      const ids = ofThatName
        .filter((each) => matchesPattern(each.repository, repository))
        .map(({ id }) => id);
      return ids.length === 0 ? [] : (await keptSecrets(db, ids)).map((kept) => opened(key, kept));
    },

    async valueIn(name, { repository, domain, isForPullRequests }) {
      const ofThatName = await secretsNamed(db, [name]);
      const forAllBranches = ofThatName.filter(({ branch }) => branch === "*");
      const place = {
        repository,
        branch: "",
        domain: isForPullRequests ? protectedDomain : domain,
      };
      const chosen = chooseSecret(forAllBranches, place);
      if ("refused" in chosen) return undefined;
      const [kept] = await keptSecrets(db, [chosen.id]);
      return kept && { id: kept.id, value: opened(key, kept) };
    },
  };
}

function opened(key: SecretsKey, kept: KeptSecret): Uint8Array {
  const value = kept.keyId === key.id ? unseal(key, kept, kept.sealed) : undefined;
  if (value !== undefined) return value;
  throw new Fault(
    "failed_precondition",
    `the secret ${kept.name} cannot be decrypted with the key of this server. Set the secret again, or give all servers of the farm the same key (GRANGE_SECRETS_KEY)`,
  );
}

function gone(name: string, what: string): Fault {
  return new Fault(
    "failed_precondition",
    `the secret ${name} ${what} after this run was prepared: run it again`,
  );
}

function checkLength({ byteLength }: Uint8Array): void {
  if (byteLength < leastSecretBytes) {
    throw new Fault(
      "invalid_argument",
      `a secret has at least ${leastSecretBytes} bytes: a shorter one cannot be hidden in logs`,
    );
  }
  if (byteLength > mostSecretBytes) {
    throw new Fault("invalid_argument", `a secret has at most ${mostSecretBytes} bytes`);
  }
}

function told({
  id,
  name,
  repository,
  branch,
  users,
  version,
  setAt,
  setBy,
}: KnownSecret): ShownSecret {
  return { id, name, repository, branch, users, version, setAt: setAt.toISOString(), setBy };
}
