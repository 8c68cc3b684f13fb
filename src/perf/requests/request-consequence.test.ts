import { expect, test } from "vitest";
import { type JobSoFar, requestConsequence } from "./request-consequence.ts";

const child = 1;
const parent = 2;
const job = (state: JobSoFar["state"], change: Partial<JobSoFar> = {}): JobSoFar => ({
  purpose: "own",
  state,
  optional: false,
  artifactId: child,
  ...change,
});
const backfill = { purpose: "backfill", artifactId: parent } as const;

test.each([
  { title: "no job at all", jobs: [], follows: "ended-without-results" },
  {
    title: "only optional jobs",
    jobs: [job("queued", { optional: true })],
    follows: "confirm-doubtful",
  },
  { title: "a queued job", jobs: [job("success"), job("queued")], follows: "wait" },
  { title: "a job in progress", jobs: [job("in-progress")], follows: "wait" },
  { title: "all done", jobs: [job("success")], follows: "confirm-doubtful" },
  {
    title: "one of two failed",
    jobs: [job("success"), job("failure")],
    follows: "confirm-doubtful",
  },
  { title: "all failed", jobs: [job("failure")], follows: "ended-without-results" },
  {
    title: "all own ones failed, the parent's did not",
    jobs: [job("failure"), job("success", backfill)],
    follows: "ended-without-results",
  },
  {
    title: "own work that a child had asked for as backfill failed",
    jobs: [job("failure", { purpose: "backfill" })],
    follows: "ended-without-results",
  },
  {
    title: "the parent's failed",
    jobs: [job("success"), job("failure", backfill)],
    follows: "confirm-doubtful",
  },
  {
    title: "the parent's goes on",
    jobs: [job("success"), job("queued", backfill)],
    follows: "wait",
  },
  {
    title: "pairs go on",
    jobs: [job("success"), job("queued", { purpose: "paired" })],
    follows: "wait",
  },
  {
    title: "only optional ones go on",
    jobs: [job("success"), job("queued", { optional: true })],
    follows: "confirm-doubtful",
  },
  {
    title: "an optional one failed",
    jobs: [job("success"), job("failure", { optional: true })],
    follows: "confirm-doubtful",
  },
  {
    title: "only an optional one came to a good end",
    jobs: [job("failure"), job("success", { optional: true })],
    follows: "ended-without-results",
  },
  {
    title: "a confirming one goes on",
    jobs: [job("success"), job("in-progress", { purpose: "confirm" })],
    follows: "wait",
  },
  {
    title: "confirmed",
    jobs: [job("success"), job("success", { purpose: "confirm" })],
    follows: "ended",
  },
  {
    title: "the confirming one failed",
    jobs: [job("success"), job("failure", { purpose: "confirm" })],
    follows: "ended",
  },
] as const)("$title: $follows", ({ jobs, follows }) => {
  expect(requestConsequence(child, jobs)).toBe(follows);
});
