import { recordAudit } from "#access/audit.store.ts";
import { grantsOf } from "#access/grant.store.ts";
import { anyone, type Principal, wholeFarm } from "#access/principal.ts";
import { mayDo, requireGrant } from "#access/require-grant.ts";
import type { forgeEndpoints } from "#api/endpoints/forge-endpoints.ts";
import type { ForgePolicyChange, ForgeRepository, ForgeRepositoryDetail } from "#api/forge.ts";
import { Fault } from "#core/fault.ts";
import type { Tx } from "#db/db.ts";
import { type ListedDelivery, latestDeliveries } from "#forge/delivery.store.ts";
import {
  type AdminServices,
  addRepository,
  approveHead,
  examine,
  forgetRepository,
  lookNow,
  removeAccount,
  setAccount,
  setPolicy,
} from "#forge/forge-admin.ts";
import { type ForgeGraph, latestGraphs } from "#forge/forge-graph.store.ts";
import type { Forges } from "#forge/forge-services.ts";
import { latestPulls } from "#forge/pull.store.ts";
import { type ForgeAccount, forgeAccounts } from "#forge/readers/reader.store.ts";
import { latestRefs } from "#forge/ref.store.ts";
import {
  findWatched,
  type WatchedRepository,
  watchedRepositories,
} from "#forge/repository.store.ts";
import { countOpenPulls, unsentOf } from "#forge/unsent.store.ts";
import { situationKey, situationOf } from "#forge/what-to-make.ts";
import { nameRepository } from "#graphs/repository.store.ts";
import { noSuite } from "#perf/requests/submit-request.ts";
import { findSuite } from "#perf/suites.store.ts";
import type { HandlersFor } from "../http/serve-endpoints.ts";
import { found } from "./found.ts";
import type { HandlerServices } from "./handler-services.ts";

/** The maximum number of entries of each kind on a page. */
const mostShown = 100;

export function forgeHandlers({
  db,
  clock,
  callers,
  forgeReaders,
  forges: { forges, ways },
}: HandlerServices): HandlersFor<typeof forgeEndpoints> {
  const adminServices = (by: Principal): AdminServices => ({
    db,
    clock,
    forges,
    nameRepository: (url) => db.transaction((tx) => nameRepository(tx, url)),
    sealWay: (place, address) => ways.seal(place, address),
    record: (tx, detail) => recordAudit(tx, { actor: by.name, verb: "forge", detail }),
  });
  /** A job with network access can reach this API; on an open farm it then has all rights. */
  const refuseNetworkOnOpenFarm = async ({ forkNetwork }: ForgePolicyChange) => {
    if (forkNetwork !== true) return;
    const nobody = { name: anyone, grants: await grantsOf(db, anyone) };
    if (!mayDo(nobody, "administer", wholeFarm)) return;
    throw new Fault(
      "failed_precondition",
      "on a farm that lets anyone administer it, jobs of forks get no network: with it they could do so, too. Close the farm first (docs/access.md)",
    );
  };
  // Checked now, so that a misspelt name is reported at once.
  const requireSuite = async ({ suite }: ForgePolicyChange) => {
    if (suite && (await findSuite(db, suite)) === undefined) throw await noSuite(db, suite);
  };
  /** Who may read is a right, so it is not for principals that may only say what is watched. */
  const requireMayLend = ({ readers }: ForgePolicyChange, by: Principal) => {
    if (readers !== undefined) requireGrant(by, "administer", wholeFarm);
  };
  /** Rights may have changed: this server uses none of the former ones. */
  const forgetRights = () => {
    forgeReaders.forgetAll();
    callers.forgetAll();
  };
  const forPage = (repository: WatchedRepository, open: ReadonlyMap<string, number>) =>
    repositoryForPage(forges, repository, open);
  const shown = async (repository: WatchedRepository) =>
    forPage(repository, await countOpenPulls(db));

  return {
    async forgeRepositories({ caller }) {
      const open = await countOpenPulls(db);
      const watched = await watchedRepositories(db);
      const visible = watched.filter(({ name }) => mayReadAll(caller, name));
      return { repositories: visible.map((each) => forPage(each, open)) };
    },

    forgeRepository: ({ query: { repository: written }, caller }) =>
      db.transaction(async (tx) => {
        const known = await findWatched(tx, written);
        const visible = known !== undefined && mayReadAll(caller, known.name) ? known : undefined;
        return detailForPage(forges, tx, found(visible, `watched repository ${written}`));
      }),

    async forgeDeliveries() {
      const deliveries = await latestDeliveries(db, undefined, mostShown);
      return { deliveries: deliveries.map(deliveryForPage) };
    },

    async addForgeRepository({ body: { kind, slug, policy = {} }, caller: by }) {
      requireMayLend(policy, by);
      await refuseNetworkOnOpenFarm(policy);
      await requireSuite(policy);
      return shown(await addRepository(adminServices(by), { kind, slug, policy, by: by.name }));
    },
    async removeForgeRepository({ body: { repository }, caller: by }) {
      const removed = await forgetRepository(adminServices(by), repository);
      forgetRights();
      return { removed };
    },
    async setForgePolicy({ body: { repository, policy: change }, caller: by }) {
      requireMayLend(change, by);
      await refuseNetworkOnOpenFarm(change);
      await requireSuite(change);
      const changed = await setPolicy(adminServices(by), repository, change);
      forgetRights();
      return shown(changed);
    },
    async lookAtForgeRepository({ body: { repository }, caller: by }) {
      return shown(await lookNow(adminServices(by), repository));
    },
    async approvePull({ body: { repository, ...approved }, caller: by }) {
      await approveHead(adminServices(by), repository, { ...approved, by: by.name });
      return { approved };
    },
    async forgeAccounts() {
      return (await forgeAccounts(db)).map(accountForPage);
    },
    async linkForgeAccount({ body, caller: by }) {
      const linked = await setAccount(adminServices(by), { ...body, linkedBy: by.name });
      forgetRights();
      return accountForPage(linked);
    },
    async unlinkForgeAccount({ body, caller: by }) {
      await removeAccount(adminServices(by), body);
      forgetRights();
      return body;
    },
    async forgeExamination({ query: { repository }, caller: by }) {
      return { findings: await examine(adminServices(by), repository) };
    },
  };
}

/** A watched repository is shown with all its branches and pull requests. */
function mayReadAll(caller: Principal, repository: string): boolean {
  return mayDo(caller, "read", { repository, branch: "" });
}

function repositoryForPage(
  forges: Forges,
  {
    name,
    kind,
    url,
    defaultBranch,
    policy,
    addedBy,
    addedAt,
    reconciledAt,
    nextAt,
    error,
  }: WatchedRepository,
  open: ReadonlyMap<string, number>,
): ForgeRepository {
  const openPulls = open.get(name) ?? 0;
  const forge = forges.find((each) => each.kind === kind);
  return {
    name,
    kind,
    url,
    defaultBranch,
    policy,
    addedBy,
    addedAt: addedAt.toISOString(),
    reconciledAt: reconciledAt?.toISOString() ?? null,
    nextAt: nextAt.toISOString(),
    error,
    // Pull requests of a forge without settings are still shown.
    hasPulls: forge?.pullRequests !== undefined || openPulls > 0,
    openPulls,
  };
}

async function detailForPage(
  forges: Forges,
  tx: Tx,
  repository: WatchedRepository,
): Promise<ForgeRepositoryDetail> {
  const { name, policy } = repository;
  const pulls = await latestPulls(tx, name, mostShown);
  const heads = await latestRefs(tx, name, repository.defaultBranch, mostShown);
  const commits = [...pulls, ...heads].map(({ head }) => head);
  const graphs = new Map<string, string>();
  for (const graph of await latestGraphs(tx, name, commits)) {
    if (graph.cancelledAt === null) graphs.set(placeOf(graph), graph.id);
  }
  // The row exists before its graph: until the graph is complete, there is nothing to show.
  const graphAt = (ref: string, sha: string, isMade: boolean) =>
    isMade ? (graphs.get(placeOf({ ref, sha })) ?? null) : null;
  const unsent = await unsentOf(tx, name, mostShown);
  return {
    ...repositoryForPage(forges, repository, await countOpenPulls(tx)),
    heads: heads.map(({ ref, head, workedHead, problem }) => ({
      ref,
      head,
      problem,
      graph: graphAt(ref, head, workedHead === head),
    })),
    pulls: pulls.map((pull) => ({
      number: pull.number,
      title: pull.title,
      author: pull.author,
      state: pull.state,
      head: pull.head,
      isFork: pull.isFork,
      isHeld: situationOf(pull, policy).kind === "held",
      approvedBy: pull.approvedBy,
      problem: pull.problem,
      graph: graphAt(
        `refs/pull/${pull.number}/head`,
        pull.head,
        pull.settled === situationKey(situationOf(pull, policy)),
      ),
    })),
    deliveries: (await latestDeliveries(tx, repository, mostShown)).map(deliveryForPage),
    unsent: unsent.map((each) => ({
      ...each,
      nextAt: each.nextAt.toISOString(),
      failedAt: each.failedAt?.toISOString() ?? null,
    })),
  };
}

function accountForPage({ linkedAt, ...account }: ForgeAccount) {
  return { ...account, linkedAt: linkedAt.toISOString() };
}

function placeOf({ ref, sha }: Pick<ForgeGraph, "ref" | "sha">): string {
  return `${ref} ${sha}`;
}

function deliveryForPage({ id, event, slug, receivedAt, state, error }: ListedDelivery) {
  return { id, event, slug, receivedAt: receivedAt.toISOString(), state, error };
}
