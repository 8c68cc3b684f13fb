import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { FakeFaults } from "../../../../test/support/fake-github/fake-faults.ts";
import type { FakeGitHub } from "../../../../test/support/fake-github/fake-github.ts";
import { startFakeGitHub } from "../../../../test/support/fake-github/start-fake-github.ts";
import type { Farm } from "../../../../test/support/farm.ts";
import { startLab } from "../../benchmark-lab/lab.ts";
import { measuredSuite, program, programOf, target } from "./measured-suite.ts";
import { maintainer, measuredSlug, type Place, policies, triager } from "./watched-place.ts";

/** A farm of real processes with a worker and a collector, and a fake GitHub that it watches. */
export interface World {
  readonly github: FakeGitHub;
  readonly farm: Farm;
  readonly places: readonly Place[];
  stop(): Promise<void>;
}

/** About 15 of a hundred requests fail; for writes, half of the failures come after the write. */
export const faults: Partial<FakeFaults> = {
  webhookLoss: 0.3,
  webhookDouble: 0.1,
  webhookReorder: 0.15,
  serverError: 0.04,
  badGateway: 0.03,
  secondaryLimit: 0.01,
  retryAfterSeconds: 1,
  timeoutAfterSuccess: 0.04,
  errorAfterSuccess: 0.04,
  hangMs: 300,
};

const definitions = "version: 1\njobs:\n  check: {commands: 'true', inputs: []}\n";

export async function openWorld(seed: number): Promise<World> {
  const dir = await mkdtemp(join(tmpdir(), "grange-events-"));
  const github = await startFakeGitHub({ seed });
  const keyFile = join(dir, "app.pem");
  const secretFile = join(dir, "webhook-secret");
  const secret = "of a webhook, and long enough to be one";
  await writeFile(keyFile, github.privateKey);
  await writeFile(secretFile, secret);
  const lab = await startLab({
    workers: 1,
    env: {
      GRANGE_GITHUB_APP_ID: github.appId,
      GRANGE_GITHUB_APP_KEY: keyFile,
      GRANGE_GITHUB_WEBHOOK_SECRET: secretFile,
      GRANGE_GITHUB_API: github.url,
      GRANGE_GITHUB_PACE_MS: "0",
      GRANGE_FORGE_RECONCILE_MS: "5000",
      GRANGE_FORGE_LEASE_MS: "3000",
    },
  });
  const { farm } = lab;
  github.sendWebhooksTo(`${farm.url}/forge/github/webhooks`, secret);
  const places = await Promise.all(
    Object.entries(policies).map(async ([slug, policy]): Promise<Place> => {
      const repository = await github.repository(slug, {
        files: {
          ".grange/jobs.yml": definitions,
          ...(slug === measuredSlug ? { [program]: programOf(1_000) } : {}),
        },
      });
      repository.setPermission(maintainer, "write");
      repository.setPermission(triager, "triage");
      if (slug === measuredSlug) await lab.push(measuredSuite(repository.path));
      await watch(farm, slug, policy);
      return { repository, policy, pulls: new Map(), comments: [] };
    }),
  );
  await lab.addCollector({ name: "bench-1", target, set: null });
  lab.startCollector("bench-1");
  return {
    github,
    farm,
    places,
    async stop() {
      await lab.stop();
      await github.stop();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

async function watch(farm: Farm, slug: string, policy: object): Promise<void> {
  const answer = await fetch(`${farm.url}/api/v1/forge/repositories`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ kind: "github", slug, policy }),
  });
  if (!answer.ok) throw new Error(`${slug} is not watched: ${await answer.text()}`);
}
