import { expect, test } from "vitest";
import { TrustDomain } from "#core/trust-domain.ts";
import { chooseSecret, type RunPlace } from "./choose-secret.ts";

const at = (branch: string, domain = "protected", repository = "rxjs"): RunPlace => ({
  repository,
  branch,
  domain: TrustDomain.parse(domain),
});
const granted = (repository: string, branch: string, users: string | null = null) => ({
  repository,
  branch,
  users,
});
const releases = granted("rxjs", "release/*");

test.each([
  ["a branch that the pattern fits", at("release/7"), releases],
  ["another branch", at("main"), "not available to runs on main of rxjs"],
  [
    "another repository",
    at("release/7", "protected", "vue"),
    "not available to runs on release/7 of vue",
  ],
  ["no branch", at(""), "not available to runs of no branch of rxjs"],
  [
    "a pull request that calls itself so",
    at("release/7", "pr/3@rxjs"),
    "never available to a pull request (on release/7",
  ],
  [
    "somebody's own commits",
    at("release/7", "user/mallory"),
    "not available to jobs that mallory runs in a domain of their own",
  ],
])("%s", (_, place, expected) => {
  const chosen = chooseSecret([releases], place);

  const words = typeof expected === "string" ? expected : "";
  const refusal: unknown = { refused: expect.stringContaining(words) };
  expect(chosen).toEqual(words === "" ? expected : refusal);
});

test("a pull request is given none, whatever is granted to whom", () => {
  const all = granted("*", "*", "*");

  expect(chooseSecret([all], at("main", "pr/3@rxjs"))).toMatchObject({
    refused: "never available to a pull request (on main of rxjs)",
  });
});

test("people whom a secret names are given it in domains of their own", () => {
  const forBots = granted("*", "*", "bot-*");

  expect(chooseSecret([forBots], at("", "user/bot-7"))).toBe(forBots);
  expect(chooseSecret([forBots], at("", "user/alice"))).toHaveProperty("refused");
});

test("of several that fit, the one counts that says most of the branch, then of the repository", () => {
  const [all, main, mainOfIt, release] = [
    granted("*", "*"),
    granted("*", "main"),
    granted("rxjs", "main"),
    granted("rxjs", "rel*"),
  ];
  const every = [all, main, mainOfIt, release];

  for (const order of [every, every.toReversed()]) {
    expect(chooseSecret(order, at("main"))).toBe(mainOfIt);
    expect(chooseSecret(order, at("release"))).toBe(release);
    expect(chooseSecret(order, at("main", "protected", "vue"))).toBe(main);
    expect(chooseSecret(order, at("x"))).toBe(all);
  }
});
