import { endTemporaryRights } from "#access/temporary-right.store.ts";
import type { ForgePolicyChange } from "#api/forge.ts";
import type { Clock } from "#core/clock.ts";
import { Fault } from "#core/fault.ts";
import type { Db, Tx } from "#db/db.ts";
import { withoutPassword } from "#git/repository-address.ts";
import type { ForgeFinding, ForgePlace, ForgePullRequests } from "./forge.ts";
import { forgeKinds } from "./forge-kinds.ts";
import { changedPolicy } from "./forge-policy.ts";
import { type Forges, forgeFor, missing } from "./forge-services.ts";
import { tryGivenUp } from "./outbox/outbox.store.ts";
import { approvePull, findPull } from "./pull.store.ts";
import { endReadRights } from "./readers/provider-links.ts";
import {
  type ForgeAccount,
  forgetReadings,
  linkAccount,
  unlinkAccount,
} from "./readers/reader.store.ts";
import { keepRefs } from "./ref.store.ts";
import {
  changePolicy,
  findWatched,
  findWatchedAt,
  insertRepository,
  lookSoon,
  removeRepository,
  type WatchedRepository,
} from "./repository.store.ts";
import type { SealedCredential } from "./repository-credential.store.ts";
import { tagsBeforeWatching } from "./what-to-make.ts";

export interface AdminServices {
  readonly db: Db;
  readonly clock: Clock;
  readonly forges: Forges;
  /** Returns the name that graphs use for the repository at an address. */
  nameRepository(url: string): Promise<string>;
  /** Encrypts the credentials for a repository, for storage in the database. */
  sealWay(place: ForgePlace, address: string): SealedCredential;
  /** Records the change, in the same transaction. */
  record(tx: Tx, detail: Readonly<Record<string, unknown>>): Promise<void>;
}

/** Watches a repository from now on. It is read first: an unreadable repository is not watched. */
export async function addRepository(
  services: AdminServices,
  wanted: {
    readonly kind: WatchedRepository["kind"];
    readonly slug: string;
    readonly policy: ForgePolicyChange;
    readonly by: string;
  },
): Promise<WatchedRepository> {
  const { db, clock, forges } = services;
  const { kind, by } = wanted;
  const forge = forgeFor(forges, kind);
  if (changedPolicy({}, wanted.policy).readers !== "nobody") requireAccounts(forges, kind);
  const given = forge.storedSlug(wanted.slug);
  const defaultBranch = await forge.defaultBranch(given);
  const refs = await forge.refs(given);
  const url = withoutPassword(await forge.fetchAddress(given));
  const name = await services.nameRepository(url);
  const slug = withoutPassword(given);
  const way = slug === given ? undefined : services.sealWay({ kind, slug }, given);
  return db.transaction(async (tx) => {
    const same = await findWatchedAt(tx, url);
    if (same !== undefined) throw isWatched(same.name);
    const repository = {
      name,
      kind,
      slug,
      url,
      defaultBranch,
      policy: changedPolicy({}, wanted.policy),
      addedBy: by,
      addedAt: clock.now(),
      way,
    };
    if (!(await insertRepository(tx, repository))) throw isWatched(name);
    await keepRefs(tx, name, refs, tagsBeforeWatching(refs), repository.addedAt);
    await services.record(tx, { what: "watch a repository", repository: name, kind, url });
    return requireWatched(tx, name);
  });
}

function isWatched(name: string): Fault {
  return new Fault("already_exists", `${name} is already watched; \`grange forge list\` shows it`);
}

async function requireWatched(tx: Tx, name: string): Promise<WatchedRepository> {
  const found = (await findWatched(tx, name)) ?? (await findWatchedAt(tx, withoutPassword(name)));
  if (found !== undefined) return found;
  throw new Fault(
    "not_found",
    `${withoutPassword(name)} is not watched; \`grange forge list\` shows the watched repositories`,
  );
}

/** Stops watching a repository; its graphs stay. */
export async function forgetRepository(services: AdminServices, written: string): Promise<string> {
  return services.db.transaction(async (tx) => {
    const { name, kind } = await requireWatched(tx, written);
    await removeRepository(tx, name);
    await endTemporaryRights(tx, { repository: name, source: kind });
    await services.record(tx, { what: "stop watching a repository", repository: name });
    return name;
  });
}

export async function setPolicy(
  services: AdminServices,
  written: string,
  change: ForgePolicyChange,
): Promise<WatchedRepository> {
  return services.db.transaction(async (tx) => {
    const { name, kind, policy } = await requireWatched(tx, written);
    const changed = changedPolicy(policy, change);
    if (changed.readers !== "nobody") requireAccounts(services.forges, kind);
    await changePolicy(tx, name, changed, services.clock.now());
    if (changed.readers !== policy.readers) {
      // Each principal is asked for anew, under the new rule.
      await forgetReadings(tx, { repository: name });
      await endTemporaryRights(tx, { repository: name, source: kind });
    }
    await services.record(tx, {
      what: "change the settings of a repository",
      repository: name,
      change,
    });
    return requireWatched(tx, name);
  });
}

/** Links a principal with its account at a forge. Rights from an earlier account end. */
export async function setAccount(
  services: AdminServices,
  wanted: Omit<ForgeAccount, "linkedAt">,
): Promise<ForgeAccount> {
  const { principal, kind, linkedBy } = wanted;
  const account = requireAccounts(services.forges, kind).accountOf(wanted.account);
  const link = { principal, kind, account, linkedBy, linkedAt: services.clock.now() };
  await services.db.transaction(async (tx) => {
    await endReadRights(tx, link);
    await linkAccount(tx, link);
    await services.record(tx, { what: "link an account", principal, kind, account });
  });
  return link;
}

/** Throws `not_found` when there is no such link. */
export async function removeAccount(
  services: AdminServices,
  { principal, kind }: Pick<ForgeAccount, "principal" | "kind">,
): Promise<void> {
  await services.db.transaction(async (tx) => {
    if (!(await unlinkAccount(tx, { principal, kind })))
      throw new Fault("not_found", `${principal} is not linked with an account of ${kind}`);
    await endReadRights(tx, { principal, kind });
    await services.record(tx, { what: "unlink an account", principal, kind });
  });
}

/** Returns the part of a forge that knows accounts. Throws `failed_precondition` for a kind without accounts. */
function requireAccounts(forges: Forges, kind: string): ForgePullRequests {
  const { pullRequests } = forgeFor(forges, kind);
  if (pullRequests !== undefined) return pullRequests;
  throw new Fault(
    "failed_precondition",
    `a forge of the kind ${kind} does not report permissions of accounts: give rights with \`grange grant add\``,
  );
}

export async function lookNow(
  services: AdminServices,
  written: string,
): Promise<WatchedRepository> {
  return services.db.transaction(async (tx) => {
    const { name } = await requireWatched(tx, written);
    await lookSoon(tx, name, services.clock.now());
    // The caller may have repaired the cause of failures.
    await tryGivenUp(tx, name, services.clock.now());
    return requireWatched(tx, name);
  });
}

/** Approves the head of a pull request from a fork: only the named commit. */
export async function approveHead(
  services: AdminServices,
  written: string,
  { number, head, by }: { readonly number: number; readonly head: string; readonly by: string },
): Promise<void> {
  await services.db.transaction(async (tx) => {
    const { name } = await requireWatched(tx, written);
    const pull = await findPull(tx, name, number);
    if (pull === undefined) {
      throw new Fault("not_found", `the farm does not know pull request ${number} of ${name}`);
    }
    const at = services.clock.now();
    if (!(await approvePull(tx, { repository: name, number, head, by, at }))) {
      throw new Fault(
        "failed_precondition",
        pull.state === "open"
          ? `the head of pull request ${number} is now ${pull.head}: review this commit`
          : `pull request ${number} is ${pull.state}`,
      );
    }
    await services.record(tx, {
      what: "approve of a commit",
      repository: name,
      number,
      head,
    });
  });
}

/** Finds problems in the setup of forges; for one repository, or for the farm's access to forges in general. */
export async function examine(
  { db, forges }: Pick<AdminServices, "db" | "forges">,
  written: string | undefined,
): Promise<readonly ForgeFinding[]> {
  if (written === undefined) {
    const findings = await Promise.all(forges.map((forge) => forge.examine(undefined)));
    if (findings.every((each) => each.length === 0)) throw missing(forgeKinds);
    return findings.flat();
  }
  const { kind, slug, error } = await requireWatched(db, written);
  const findings = await forgeFor(forges, kind).examine(slug);
  return error === null
    ? findings
    : [...findings, { what: "the last look at it", state: "wrong", detail: error }];
}
