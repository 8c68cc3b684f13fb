import assert from "node:assert/strict";
import type { FakeGitHub, FakeRepository } from "../support/fake-github/fake-github.ts";
import { toySuite } from "../support/toy-suite.ts";
import type { OpenOptions, OpenSuite } from "./case.ts";
import type { HostileFarm } from "./hostile-farm.ts";
import { type OpenFarm, openFarm } from "./open-farm.ts";

/** A farm that watches a repository at a fake GitHub. `octocat` has write access there; `mallory` may read. */
export interface CommentFarm {
  readonly pid: number;
  readonly farm: HostileFarm;
  readonly github: FakeGitHub;
  readonly repository: FakeRepository;
}

const slug = "octo/demo";
const waitLimitMs = 300_000;

export async function openCommentFarm(options: OpenOptions): Promise<OpenSuite<CommentFarm>> {
  const { target: farm, stop } = await openFarm(options);
  try {
    return { target: await watched(farm), stop };
  } catch (reason) {
    await stop();
    throw reason;
  }
}

async function watched(farm: OpenFarm): Promise<CommentFarm> {
  const { github, pid } = farm;
  const repository = await github.repository(slug, { files: { "README.md": "demo\n" } });
  repository.setPermission("octocat", "write");
  const suite = toySuite(repository.cloneUrl, { name: "demo", target: "t", sets: [["a"]] });
  const pushed = await farm.ask(
    "/benchmarks/suites/demo",
    { definition: suite },
    { method: "PUT" },
  );
  assert.ok(pushed.status < 300, pushed.text);
  const added = await farm.ask("/forge/repositories", {
    kind: "github",
    slug,
    policy: { suite: "demo", benchMaster: false, branchGraphs: false, pullGraphs: false },
  });
  assert.equal(added.status, 201, added.text);
  return { pid, farm, github, repository };
}

/** The result of a comment: the farm's reaction to it, and its reply. */
interface CameTo {
  readonly reaction: string | undefined;
  readonly reply: string | undefined;
}

async function until<T>(
  what: string,
  look: () => T | undefined | Promise<T | undefined>,
): Promise<T> {
  const deadline = performance.now() + waitLimitMs;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (performance.now() > deadline) throw new Error(`${what} did not come`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

export function cameTo({ github, repository }: CommentFarm, pull: number, comment: number): CameTo {
  const comments = repository.comments(pull);
  const reaction = comments
    .find(({ id }) => id === comment)
    ?.reactions.find(({ by }) => by === github.bot)?.content;
  const reply = comments.find(
    ({ author, body }) => author === github.bot && body.includes(`reply/${comment} `),
  )?.body;
  return { reaction, reply };
}

/** Waits for the result of a comment; with `hasReply` also for a reply. */
export async function answered(
  target: CommentFarm,
  pull: number,
  comment: number,
  { hasReply = false } = {},
): Promise<CameTo> {
  return until(`the answer to comment ${comment}`, () => {
    const came = cameTo(target, pull, comment);
    return came.reaction === undefined || (hasReply && came.reply === undefined) ? undefined : came;
  });
}

let branches = 0;
export async function aPull(
  target: CommentFarm,
  more: { readonly fork?: string; readonly by?: string } = {},
) {
  branches += 1;
  return target.repository.openPull({
    files: { [`file-${branches}`]: `${branches}\n` },
    branch: `topic-${branches}`,
    by: more.by ?? "octocat",
    ...(more.fork === undefined ? {} : { fork: more.fork }),
  });
}
export const aFork = (target: CommentFarm) => aPull(target, { fork: "mallory", by: "mallory" });

interface PullOnPage {
  readonly number: number;
  readonly head: string;
  readonly approvedBy: string | null;
}

async function pullOnPage({ farm }: CommentFarm, pull: number): Promise<PullOnPage | undefined> {
  const page = await farm.ask(`/forge/repository?repository=${slug}`);
  const { pulls } = page.json() as { pulls: PullOnPage[] };
  return pulls.find(({ number }) => number === pull);
}

/** Waits until the farm has read the forge's present head. */
export async function seen(target: CommentFarm, pull: number): Promise<PullOnPage> {
  const { head } = target.repository.pullState(pull);
  return until(`pull request ${pull} at ${head}`, async () => {
    const known = await pullOnPage(target, pull);
    return known?.head === head ? known : undefined;
  });
}

export async function isApproved(target: CommentFarm, pull: number): Promise<boolean> {
  return ((await pullOnPage(target, pull))?.approvedBy ?? null) !== null;
}
