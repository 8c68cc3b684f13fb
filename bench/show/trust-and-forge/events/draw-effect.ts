import type { Random } from "#statistics/seeded-random.ts";
import type { FakeFiles } from "../../../../test/support/fake-github/fake-github.ts";
import { program, programOf } from "./measured-suite.ts";
import {
  maintainer,
  measuredSlug,
  type PersonComment,
  type Place,
  type PullPast,
  people,
  type Word,
} from "./watched-place.ts";

/** One action of a person. False: there was no object for it. */
type Effect = (place: Place, random: Random, turn: number) => Promise<boolean>;

/** GitHub's times are whole seconds: an edit within the same second is not visible as an edit. */
const oldEnoughToEditMs = 2_500;

const effects: readonly (readonly [name: string, weight: number, effect: Effect])[] = [
  ["push", 20, push],
  ["tag", 6, tag],
  ["tag deleted", 1, deleteTag],
  ["pull request opened", 5, (place, random) => open(place, random, false)],
  ["pull request opened from a fork", 7, (place, random) => open(place, random, true)],
  ["pull request moved", 12, (place, random, turn) => move(place, random, turn, false)],
  ["pull request moved by force", 6, (place, random, turn) => move(place, random, turn, true)],
  ["pull request closed", 4, close],
  ["pull request reopened", 4, reopen],
  ["pull request merged", 4, merge],
  ["talk", 7, (place, random, turn) => say(place, random, turn, undefined)],
  ["approve", 9, (place, random, turn) => say(place, random, turn, "approve")],
  ["retrigger", 3, (place, random, turn) => say(place, random, turn, "retrigger")],
  ["cancel", 3, (place, random, turn) => say(place, random, turn, "cancel")],
  ["help", 2, (place, random, turn) => say(place, random, turn, "help")],
  ["bench", 8, (place, random, turn) => say(place, random, turn, "bench")],
  ["nonsense", 1, (place, random, turn) => say(place, random, turn, "nonsense")],
  ["comment edited", 3, edit],
  ["comment deleted", 1, deleteComment],
];

/** Performs a random action at a random place; returns its description. */
export async function drawEffect(
  places: readonly Place[],
  random: Random,
  turn: number,
): Promise<string> {
  for (;;) {
    const place = oneOf(places, random);
    const [name, , effect] = weighed(random);
    if (place !== undefined && (await effect(place, random, turn))) return name;
  }
}

function weighed(random: Random): (typeof effects)[number] {
  let left = random() * effects.reduce((sum, [, weight]) => sum + weight, 0);
  for (const each of effects) {
    left -= each[1];
    if (left < 0) return each;
  }
  return ["push", 1, push];
}

const oneOf = <One>(all: readonly One[], random: Random): One | undefined =>
  all[Math.floor(random() * all.length)];

/** Never the same twice, so that no two commits are equal. Some make the program slower. */
function changed({ repository }: Place, random: Random): FakeFiles {
  const work = random() < 0.3 ? 1_100 : 1_000;
  return {
    [`src/${Math.floor(random() * 20)}.txt`]: `${random()}\n`,
    ...(repository.slug === measuredSlug ? { [program]: programOf(work) } : {}),
  };
}

async function push(place: Place, random: Random): Promise<boolean> {
  await place.repository.push("main", changed(place, random));
  return true;
}

async function tag({ repository }: Place, random: Random, turn: number): Promise<boolean> {
  const head = repository.head("refs/heads/main");
  if (head === undefined) return false;
  const prefix = random() < 0.8 ? "v" : "nightly-";
  await repository.tag(`${prefix}${turn}`, head, { annotated: random() < 0.4 });
  tagsOf(repository).push(`refs/tags/${prefix}${turn}`);
  return true;
}

/** Existing tags, by repository. */
const tags = new WeakMap<object, string[]>();

function tagsOf(repository: object): string[] {
  const known = tags.get(repository) ?? [];
  tags.set(repository, known);
  return known;
}

async function deleteTag({ repository }: Place, random: Random): Promise<boolean> {
  const standing = tagsOf(repository);
  if (standing.length < 3) return false;
  const [gone = ""] = standing.splice(Math.floor(random() * standing.length), 1);
  await repository.deleteRef(gone);
  return true;
}

async function open(place: Place, random: Random, isFork: boolean) {
  const author = isFork ? (random() < 0.5 ? "mallory" : "bob") : "ann";
  const number = await place.repository.openPull({
    files: changed(place, random),
    by: author,
    ...(isFork ? { fork: author } : {}),
  });
  place.pulls.set(number, { author, changedAt: 0, reopened: new Map() });
  return true;
}

function noteChange(past: PullPast | undefined, turn: number): void {
  if (past !== undefined) past.changedAt = turn;
}

/** Returns a pull request in that state, later ones with a higher probability. */
function pullIn(place: Place, random: Random, state: "open" | "closed"): number | undefined {
  const fit = [...place.pulls.keys()].filter(
    (number) => place.repository.pullState(number).state === state,
  );
  return fit[Math.floor(Math.sqrt(random()) * fit.length)];
}

async function move(place: Place, random: Random, turn: number, force: boolean) {
  const number = pullIn(place, random, "open");
  if (number === undefined) return false;
  await place.repository.movePull(number, changed(place, random), { force });
  noteChange(place.pulls.get(number), turn);
  return true;
}

async function close(place: Place, random: Random, turn: number): Promise<boolean> {
  const number = pullIn(place, random, "open");
  if (number === undefined) return false;
  await place.repository.closePull(number);
  noteChange(place.pulls.get(number), turn);
  return true;
}

async function reopen(place: Place, random: Random, turn: number): Promise<boolean> {
  const number = pullIn(place, random, "closed");
  if (number === undefined) return false;
  await place.repository.reopenPull(number);
  const past = place.pulls.get(number);
  noteChange(past, turn);
  const { head } = place.repository.pullState(number);
  past?.reopened.set(head, (past.reopened.get(head) ?? 0) + 1);
  return true;
}

async function merge(place: Place, random: Random, turn: number): Promise<boolean> {
  const number = pullIn(place, random, "open");
  if (number === undefined) return false;
  await place.repository.mergePull(number);
  noteChange(place.pulls.get(number), turn);
  return true;
}

const talk = [
  "Looks good to me.",
  "> @grange cancel\n\nWhy did that not help?",
  "```\n@grange retrigger\n```",
  "I would ask @grange to bench, if I knew how.",
  "    @grange help",
] as const;

async function say(place: Place, random: Random, turn: number, asked: Word | undefined) {
  // Measurements are requested where they are configured; sometimes elsewhere, where they are refused.
  const isElsewhere = place.repository.slug !== measuredSlug;
  if (asked === "bench" && isElsewhere && random() < 0.9) return false;
  const isToOneThatIsOver = random() < 0.05;
  const number = pullIn(place, random, isToOneThatIsOver ? "closed" : "open");
  if (number === undefined) return false;
  const { head } = place.repository.pullState(number);
  const body = bodyOf(asked, head, random);
  const by = random() < 0.6 ? maintainer : (oneOf(people, random) ?? maintainer);
  const id = await place.repository.comment(number, by, body);
  const comment: PersonComment = {
    id,
    pull: number,
    by,
    word: asked,
    body,
    head,
    turn,
    writtenAt: Date.now(),
    fate: "as written",
  };
  place.comments.push(comment);
  return true;
}

function bodyOf(asked: Word | undefined, head: string, random: Random): string {
  switch (asked) {
    case undefined:
      return oneOf(talk, random) ?? "";
    case "approve":
      return random() < 0.8 ? `I have read it.\n\n@grange approve ${head}` : "@grange approve";
    case "retrigger":
      return random() < 0.5 ? "@grange retrigger" : "@grange retrigger check";
    case "nonsense":
      return "@grange dance backwards";
    case "bench":
    case "cancel":
    case "help":
      return `@grange ${asked}`;
  }
}

async function edit(place: Place, random: Random): Promise<boolean> {
  const fit = place.comments.filter(
    ({ fate, writtenAt }) => fate === "as written" && Date.now() - writtenAt > oldEnoughToEditMs,
  );
  const comment = oneOf(fit, random);
  if (comment === undefined) return false;
  const isIntoTalk = random() < 0.5;
  comment.fate = isIntoTalk ? "edited into talk" : "edited into a command";
  await place.repository.editComment(comment.id, isIntoTalk ? "Never mind." : "@grange cancel");
  return true;
}

async function deleteComment(place: Place, random: Random): Promise<boolean> {
  // The results of these are read from their answers.
  const fit = place.comments.filter(
    ({ fate, word }) => fate === "as written" && word !== "approve" && word !== "bench",
  );
  const comment = oneOf(fit, random);
  if (comment === undefined) return false;
  comment.fate = "deleted";
  await place.repository.deleteComment(comment.id);
  return true;
}
