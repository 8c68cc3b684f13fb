import assert from "node:assert/strict";
import { sampleRepository } from "../support/sample-repository.ts";
import type { HostileCase, HostileSuite } from "./case.ts";
import { type FailedRun, failedRun } from "./failed-run.ts";
import { openFarm } from "./open-farm.ts";

type Case = HostileCase<FailedRun>;

const esc = "\u001b";
/** A log with all that pages, indexes and searches of logs must bear. */
const log = Buffer.concat([
  Buffer.from("##[group]one\n".repeat(1_500)),
  Buffer.from(
    `${esc}]8;;javascript:alert(1)${esc}\\error: <script>alert(1)</script>${esc}]8;;${esc}\\\n`,
  ),
  Buffer.from("[grange: 5 MiB are left out]\n".repeat(50)),
  Buffer.from(`${esc}[1m`.repeat(20_000)),
  Buffer.from(`fatal error: ${"x".repeat(2_500_000)}\n`),
  Buffer.from([0xff, 0xfe, 0xc3, 0x28, 0x00, 0x0a]),
  Buffer.from("error\r".repeat(5_000)),
  Buffer.from(
    `\nsecret ${"a".repeat(50)} ${"(a+)+".repeat(100)}\nerror: the last line without its end`,
  ),
]);

const run = ({ graph, job }: FailedRun) => `/graphs/${graph}/jobs/${job}/runs/1`;
/** Linear work on a busy machine takes less; quadratic work on this log takes more. */
const mostMs = 60_000;

async function answers(farm: FailedRun, path: string) {
  const since = performance.now();
  const answer = await farm.ask(path);
  assert(
    answer.status < 500,
    `${path.slice(0, 120)}: ${answer.status} ${answer.text.slice(0, 200)}`,
  );
  assert(performance.now() - since < mostMs, "it took too long");
  assert(answer.text.length < 6_000_000);
  return answer;
}

const searched: readonly Case[] = [
  ["a", 200],
  ["error", 200],
  ["(a+)+", 200],
  [".*", 200],
  ["\\", 200],
  ["[", 200],
  ["<script>", 200],
  [`${esc}[1m`, 200],
  ["\u0000", 200],
  ["\u{1f600}", 200],
  ["\u0130", 200],
  ["x".repeat(256), 200],
  ["x".repeat(257), 400],
  ["a\nb", 400],
  ["", 400],
].map(([text, wanted]) => ({
  name: `a search of a log for ${JSON.stringify(text).slice(0, 20)}, ${String(text).length} characters`,
  async run(farm) {
    const { status, text: body } = await answers(
      farm,
      `${run(farm)}/log/search?text=${encodeURIComponent(String(text))}`,
    );
    assert.equal(status, wanted, body);
  },
}));

const queries: readonly (readonly [name: string, path: string, wanted: number])[] = [
  ["a search from line 0", "/log/search?text=a&from=0", 400],
  ["a search from line -1", "/log/search?text=a&from=-1", 400],
  ["a search from line 1e99", "/log/search?text=a&from=1e99", 400],
  ["a search far behind the end", "/log/search?text=a&from=999999999", 200],
  ["a search for a billion lines", "/log/search?text=a&most=1000000000", 400],
  ["a search for no lines", "/log/search?text=a&most=0", 400],
  ["a search for errors that is none", "/log/search?errors=false", 400],
  ["a search for errors", "/log/search?errors=true", 200],
  ["a search for two texts", "/log/search?text=a&text=b", 200],
  ["a search in batch -1", "/log/search?text=a&batch=-1", 400],
  ["a search in a batch that is not there", "/log/search?text=a&batch=999", 404],
  ["an index of a batch with a quote", "/log/index?batch='", 400],
  ["an index", "/log/index", 200],
  ["a part of a log of 5 MiB", "/log?limit=5242881", 400],
  ["a part of a log of no bytes", "/log?limit=0", 400],
  ["a part of a log from -1", "/log?offset=-1", 400],
  ["a part of a log of attempt -1", "/log?offset=0&attempt=-1", 400],
  ["a part of a log from behind its end", "/log?offset=99999999999", 200],
];

const positions: readonly Case[] = queries.map(([name, path, wanted]) => ({
  name,
  async run(farm) {
    const { status, text } = await answers(farm, `${run(farm)}${path}`);
    // A part behind the end may be refused or empty.
    const mayBe = wanted === 200 && path.includes("offset=999") ? [200, 400, 404] : [wanted];
    assert(mayBe.includes(status), `${status} ${text.slice(0, 300)}`);
  },
}));

const shown: readonly Case[] = [
  {
    name: "the failures of a graph whose log steers a terminal",
    async run(farm) {
      const { status, text } = await answers(farm, `/graphs/${farm.graph}/failures`);
      assert.equal(status, 200, text);
      assert(text.length < 200_000, `${text.length} bytes`);
      const { failures } = JSON.parse(text) as {
        failures: { log: { lines: { text: string }[] } | null }[];
      };
      assert.equal(failures.length, 1);
      assert((failures[0]?.log?.lines.length ?? 0) > 0, "no line of the log");
    },
  },
  {
    name: "the index of a log with 1,500 groups that never end, and notes that are none of ours",
    async run(farm) {
      const answer = await answers(farm, `${run(farm)}/log/index`);
      const { groups, notes, lines, bytes } = answer.json() as {
        groups: unknown[];
        notes: unknown[];
        lines: number;
        bytes: number;
      };
      assert(groups.length <= 1_000, `${groups.length} groups`);
      assert(notes.length <= 10, `${notes.length} notes`);
      assert.equal(bytes, log.byteLength);
      assert.equal(lines, log.toString("latin1").split("\n").length);
    },
  },
  {
    name: "a grid whose failure is a line of 2.5 MB",
    async run(farm) {
      const { status, text } = await answers(
        farm,
        `/commit-grid?repository=${encodeURIComponent(farm.repository)}`,
      );
      assert.equal(status, 200, text);
      assert(text.length < 100_000, `${text.length} bytes`);
      assert.equal(text.includes(esc), false, "an escape sequence is passed on");
    },
  },
];

const texts: readonly (readonly [name: string, text: string])[] = [
  ["a quote", "'; drop table graph; --"],
  ["a wildcard", "%_\\%"],
  ["a NUL", "a\u0000b"],
  ["an expression", "(a+)+$".repeat(30)],
  ["an emoji and an override", "\u{1f600}\u202e"],
  ["ten thousand letters", "a".repeat(10_000)],
  ["a number that is none", "1e309"],
  ["a parameter of a statement", "$1"],
];
const places: readonly (readonly [place: string, pathOf: (text: string) => string])[] = [
  ["the repository of a grid", (text) => `/commit-grid?repository=${text}`],
  ["the author in a grid", (text) => `/commit-grid?repository=a&author=${text}`],
  ["the branch in a grid", (text) => `/commit-grid?repository=a&branch=${text}`],
  ["the text in a grid", (text) => `/commit-grid?repository=a&text=${text}`],
  ["the columns of a grid", (text) => `/commit-grid?repository=a&columns=${text}`],
  ["the place in a grid", (text) => `/commit-grid?repository=a&before=${text}`],
  ["the failures of a graph", (text) => `/graphs/${text}/failures`],
  ["the overview", (text) => `/overview?repository=${text}&limit=${text}`],
];

const filters: readonly Case[] = places.flatMap(([place, pathOf]) =>
  texts.map(
    ([name, text]): Case => ({
      name: `${place} by ${name}`,
      run: async (farm) => void (await answers(farm, pathOf(encodeURIComponent(text)))),
    }),
  ),
);

export const graphPageSuite: HostileSuite<FailedRun> = {
  interface: "overview, grid, failures and logs of graphs",
  atLeast: 90,
  cases: [...searched, ...positions, ...shown, ...filters],
  async open(options) {
    const [farm, repository] = await Promise.all([
      openFarm(options),
      sampleRepository({ "a.txt": "a" }),
    ]);
    return {
      target: await failedRun(farm.target, repository, log),
      async stop() {
        await farm.stop();
        await repository.remove();
      },
    };
  },
};
