import type { FakeGitHub } from "../../../../test/support/fake-github/fake-github.ts";
import type { FarmTold } from "./farm-told.ts";
import { type Wanted, wantedOf } from "./wanted-graphs.ts";
import { checkName, measuredSlug, type PersonComment, type Place } from "./watched-place.ts";

/** The violations of each promise. */
export interface Wrong {
  readonly state: string[];
  readonly approvals: string[];
  readonly graphs: string[];
  readonly leftRunning: string[];
  readonly checks: string[];
  readonly reports: string[];
  readonly answers: string[];
  readonly workedTwice: string[];
  readonly unsent: string[];
}

export function whatIsWrong(
  places: readonly Place[],
  refs: ReadonlyMap<string, ReadonlyMap<string, string>>,
  told: FarmTold,
  github: Pick<FakeGitHub, "bot">,
): Wrong {
  const wrong: Wrong = {
    state: [],
    approvals: [],
    graphs: [],
    leftRunning: [],
    checks: [],
    reports: [],
    answers: [],
    workedTwice: [],
    unsent: told.givenUp.filter((what) => !isOfDeleted(places, what)),
  };
  if (told.strayGraphs > 0) wrong.workedTwice.push(`${told.strayGraphs} graphs of no commit`);
  if (told.waiting > 0) wrong.unsent.push(`${told.waiting} rows wait`);
  const mayHaveRetriggered = places.flatMap((place) => retriggersAt(place, github.bot)).length;
  if (told.retriggers > mayHaveRetriggered)
    wrong.workedTwice.push(`${told.retriggers} retriggers, ${mayHaveRetriggered} asked for`);
  for (const place of places) {
    const { slug } = place.repository;
    const standing = refs.get(slug) ?? new Map<string, string>();
    const wanted = wantedOf(place, standing, github.bot);
    compareState(place, standing, wanted, told, wrong);
    compareGraphs(place, wanted, told, wrong);
    compareChecks(place, wanted, told, wrong);
    compareAnswers(place, told, github.bot, wrong);
  }
  return wrong;
}

/** A deleted comment cannot show a result. */
function isOfDeleted(places: readonly Place[], what: string): boolean {
  return places.some(({ comments }) =>
    comments.some(({ id, fate }) => fate === "deleted" && what.includes(` reaction/${id}: `)),
  );
}

function compareState(
  { repository }: Place,
  standing: ReadonlyMap<string, string>,
  wanted: Wanted,
  { details }: FarmTold,
  wrong: Wrong,
): void {
  const { slug } = repository;
  const detail = details.get(slug);
  if (detail === undefined) return void wrong.state.push(`${slug} is unknown`);
  if (detail.error !== null) wrong.state.push(`${slug}: ${detail.error}`);
  const heads = new Map(detail.heads.map(({ ref, head }) => [ref, head]));
  for (const [ref, sha] of standing) {
    if (heads.get(ref) !== sha) wrong.state.push(`${slug} ${ref}: ${heads.get(ref) ?? "unknown"}`);
  }
  for (const ref of heads.keys()) {
    if (!standing.has(ref)) wrong.state.push(`${slug} ${ref} is gone`);
  }
  const known = new Map(detail.pulls.map((pull) => [pull.number, pull]));
  for (const number of repository.pulls()) {
    const is = repository.pullState(number);
    const pull = known.get(number);
    const where = `${slug} ${number}`;
    if (pull?.state !== is.state || pull.head !== is.head || pull.isFork !== is.isFork)
      wrong.state.push(`${where}: ${pull?.state} ${pull?.head}, and not ${is.state} ${is.head}`);
    if (pull?.problem) wrong.state.push(`${where}: ${pull.problem}`);
    if ((typeof pull?.approvedBy === "string") !== wanted.approved.has(number))
      wrong.approvals.push(`${where}: ${pull?.approvedBy}`);
    if (is.state === "open" && pull?.isHeld !== wanted.held.has(is.head))
      wrong.approvals.push(`${where}: ${pull?.isHeld ? "is held" : "is not held"}`);
  }
  wrong.approvals.push(...wanted.denied);
}

function compareGraphs(place: Place, wanted: Wanted, told: FarmTold, wrong: Wrong): void {
  const { slug } = place.repository;
  const mine = told.graphs.filter((graph) => graph.slug === slug);
  for (const key of wanted.graphs) {
    const count = mine.filter(
      ({ ref, sha, isWanted, state }) => `${ref} ${sha}` === key && isWanted && state !== null,
    ).length;
    if (count !== 1) wrong.graphs.push(`${slug} ${key}: ${count}`);
  }
  for (const { ref, sha, pull, isWanted, state, generation } of mine) {
    const where = `${slug} ${ref} ${sha}`;
    if (pull !== null && isWanted && !wanted.graphs.has(`${ref} ${sha}`))
      wrong.graphs.push(`${where}: nobody wants it`);
    if (state === "running") wrong.leftRunning.push(where);
    // A commit that returns may have another graph; a commit that was never removed may not.
    const most = 1 + (pull === null ? 0 : (place.pulls.get(pull)?.reopened.get(sha) ?? 0));
    if (generation > most) wrong.workedTwice.push(`${where}: ${generation} graphs`);
  }
}

function compareChecks(place: Place, wanted: Wanted, told: FarmTold, wrong: Wrong): void {
  const { repository } = place;
  const { slug } = repository;
  const bySha = new Map<string, string[]>();
  for (const { sha, name, conclusion } of repository.checks()) {
    const conclusions = bySha.get(`${sha} ${name}`) ?? [];
    bySha.set(`${sha} ${name}`, [...conclusions, conclusion ?? "none"]);
  }
  for (const [key, conclusions] of bySha) {
    if (conclusions.length > 1) wrong.checks.push(`${slug} ${key}: ${conclusions.join(", ")}`);
  }
  const endOf = new Map<string, Set<string>>();
  for (const { slug: of, sha, state } of told.graphs) {
    if (of !== slug) continue;
    const ends = endOf.get(sha) ?? new Set();
    endOf.set(sha, ends.add(state === "succeeded" ? "success" : (state ?? "none")));
  }
  for (const key of wanted.graphs) {
    const sha = key.slice(-40);
    const [shown = "none"] = bySha.get(`${sha} ${checkName}`) ?? [];
    if (!endOf.get(sha)?.has(shown)) wrong.checks.push(`${slug} ${sha}: ${shown}`);
  }
  for (const sha of wanted.held) {
    const [shown = "none"] = bySha.get(`${sha} ${checkName}`) ?? [];
    if (shown !== "action_required") wrong.checks.push(`${slug} ${sha}: ${shown}, and is held`);
  }
}

function compareAnswers(place: Place, told: FarmTold, bot: string, wrong: Wrong): void {
  const { repository } = place;
  const { slug } = repository;
  for (const number of repository.pulls()) {
    const shown = repository.comments(number);
    const ours = shown.filter(({ author }) => author === bot);
    const marked = (key: string) =>
      ours.filter(({ body }) => body.startsWith(`<!-- grange ${key} -->`)).length;
    const reports = marked(`comment/${number}`);
    const asked = told.requestedBenchmarks.filter(
      ({ slug: of, pull }) => of === slug && pull === number,
    );
    for (const { state, isTold } of asked) {
      if (!isTold) wrong.reports.push(`${slug} ${number}: measuring is ${state}`);
    }
    const isDue = asked.some(({ state }) => state === "completed" || state === "failed");
    if (reports > 1 || (isDue && reports === 0))
      wrong.reports.push(`${slug} ${number}: ${reports}`);

    for (const comment of place.comments.filter(({ pull }) => pull === number)) {
      const is = shown.find(({ id }) => id === comment.id);
      const reactions = is?.reactions.filter(({ by }) => by === bot) ?? [];
      const [least, most] = answersTo(comment);
      const replies = marked(`reply/${comment.id}`);
      const isAnswered = reactions.length >= least && reactions.length <= most;
      if (!isAnswered || replies > most)
        wrong.answers.push(
          `${slug} ${number} ${comment.id} (${comment.word ?? "talk"}, ${comment.fate}): ${reactions.map(({ content }) => content).join(", ")}; ${replies} replies`,
        );
    }
    const started = place.comments.filter(
      ({ id, pull, word }) =>
        pull === number &&
        word === "bench" &&
        shown
          .find((comment) => comment.id === id)
          ?.reactions.some(({ by, content }) => by === bot && content === "rocket"),
    ).length;
    const tries = slug === measuredSlug ? (told.tries.get(number) ?? 0) : 0;
    if (tries > started)
      wrong.workedTwice.push(`${slug} ${number}: ${tries} requests, ${started} asked for`);
    const strange = ours.filter(({ body }) => !/^<!-- grange (comment|reply)\//.test(body)).length;
    if (strange > 0) wrong.answers.push(`${slug} ${number}: ${strange} of no command`);
  }
}

/** Comments that may have caused another run: for a deleted comment the answer is unknown. */
function retriggersAt({ repository, comments }: Place, bot: string): PersonComment[] {
  return comments.filter(({ id, pull, word, fate }) => {
    if (word !== "retrigger") return false;
    const shown = repository.comments(pull).find((comment) => comment.id === id);
    return (
      fate === "deleted" ||
      shown?.reactions.some(({ by, content }) => by === bot && content === "+1")
    );
  });
}

/** Returns the minimum and maximum number of answers to a comment. */
function answersTo({ word, fate }: PersonComment): readonly [number, number] {
  switch (fate) {
    case "as written":
      return word === undefined ? [0, 0] : [1, 1];
    // Executed if it was read before the edit.
    case "edited into talk":
      return word === undefined ? [0, 0] : [0, 1];
    // The answer states that edits do not count; a comment that was read before the edit has its earlier answer.
    case "edited into a command":
      return [1, 1];
    case "deleted":
      return word === undefined ? [0, 0] : [0, 1];
  }
}
