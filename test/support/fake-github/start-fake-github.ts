import { generateKeyPairSync } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Fault } from "#core/fault.ts";
import { seededDraws } from "../seeded-draws.ts";
import { apiServer } from "./api-server.ts";
import { noFaults } from "./fake-faults.ts";
import type { FakeGitHub, FakeGitHubOptions } from "./fake-github.ts";
import { fakeRepository } from "./fake-repository.ts";
import type { FakeState } from "./fake-state.ts";
import { gitServer } from "./git-server.ts";
import { gitStore } from "./git-store.ts";
import { newRepositoryState } from "./new-repository-state.ts";
import { pingPayload } from "./webhook-payloads.ts";
import { webhookSender } from "./webhook-sender.ts";

/** The permissions that Grange's app needs and `grange forge test` checks. */
const defaultPermissions = {
  metadata: "read",
  contents: "read",
  issues: "read",
  pull_requests: "write",
  checks: "write",
};
const usualEvents = ["push", "create", "delete", "pull_request", "issue_comment"];
const appId = 123_456;

/** One key for all fakes of a process: it takes half a second to make. */
let madeKey: { readonly privateKey: string; readonly publicKey: string } | undefined;

function appKey() {
  madeKey ??= generateKeyPairSync("rsa", {
    modulusLength: 2_048,
    publicKeyEncoding: { type: "spki", format: "pem" },
    // The format of GitHub's keys.
    privateKeyEncoding: { type: "pkcs1", format: "pem" },
  });
  return madeKey;
}

/**
 * Starts a GitHub on this machine: the REST API and webhooks that the farm uses, with real Git
 * repositories, and with faults.
 *
 * Faults are drawn from the seed; which request gets which draw also depends on their order.
 */
export async function startFakeGitHub(options: FakeGitHubOptions = {}): Promise<FakeGitHub> {
  const root = await mkdtemp(join(tmpdir(), "grange-fake-github-"));
  const { privateKey, publicKey } = appKey();
  const appName = options.appName ?? "grange-test";
  let lastId = 1_000_000_000;
  let skewMs = 0;
  const now = options.now ?? (() => new Date());

  const state: FakeState = {
    appId,
    appName,
    bot: `${appName}[bot]`,
    repositories: new Map(),
    tokens: new Map(),
    deliveries: [],
    ledger: [],
    users: new Map(),
    installations: new Map(),
    permissions: options.permissions ?? defaultPermissions,
    events: options.events ?? usualEvents,
    webhook: { url: undefined, secret: undefined },
    faults: { ...noFaults, ...options.faults },
    url: "",
    now: () => new Date(now().getTime() + skewMs),
    nextId: () => ++lastId,
    draw: seededDraws(options.seed ?? 1),
  };
  const requests = new Map<string, number>();
  const webhooks = webhookSender(state);
  const git = await gitServer(state, root);
  const api = apiServer({
    state,
    webhooks,
    publicKey,
    hourlyRequests: options.hourlyRequests ?? 1_000_000,
    onAnswer: options.onAnswer,
    requests,
  });
  const server = createServer((request, response) => {
    if (git.isMine(request.url ?? "")) git.handle(request, response);
    else api(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  state.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const stateOf = (slug: string) => {
    const found = state.repositories.get(slug.toLowerCase());
    if (found === undefined) throw new Fault("not_found", `the fake has no repository ${slug}`);
    return found;
  };

  return {
    url: state.url,
    appId: String(appId),
    privateKey,
    bot: state.bot,

    async repository(slug, made = {}) {
      const store = await gitStore(join(root, `${slug}.git`));
      const repository = newRepositoryState(state, slug, {
        isPrivate: made.private ?? false,
        isInstalled: made.installed ?? true,
        git: store,
      });
      state.repositories.set(slug.toLowerCase(), repository);
      const first = await store.commit({
        parents: [],
        from: undefined,
        files: made.files ?? { "README.md": `# ${slug}\n` },
        subject: "Begin",
        by: "maintainer",
        at: state.now(),
      });
      await store.setRef("refs/heads/main", first);
      return fakeRepository(state, repository, webhooks);
    },
    uninstall(slug) {
      const { owner } = stateOf(slug);
      stateOf(slug).isInstalled = false;
      state.installations.delete(owner);
      for (const [token, of] of state.tokens) if (of.owner === owner) state.tokens.delete(token);
    },
    install(slug) {
      stateOf(slug).isInstalled = true;
    },
    setGranted(what) {
      state.permissions = what.permissions ?? state.permissions;
      state.events = what.events ?? state.events;
      state.tokens.clear();
    },
    revokeTokens: () => state.tokens.clear(),
    skewClock(ms) {
      skewMs = ms;
    },

    sendWebhooksTo(url, secret) {
      state.webhook = { url, secret };
    },
    webhooksSent: () => webhooks.sent(),
    webhookCounts: () => webhooks.counts(),
    async ping() {
      webhooks.emit("ping", pingPayload(state));
      await webhooks.sent();
    },

    setFaults(faults) {
      state.faults = { ...state.faults, ...faults };
    },
    clearFaults() {
      state.faults = noFaults;
    },

    ledger: state.ledger,
    requests: () => requests,
    async stop() {
      await webhooks.stop();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await git.stop();
      await rm(root, { recursive: true, force: true });
    },
  };
}
