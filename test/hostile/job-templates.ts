import assert from "node:assert/strict";
import { sampleRepository } from "../support/sample-repository.ts";
import type { HostileSuite } from "./case.ts";
import { openFarm } from "./open-farm.ts";
import { type Case, job, submit, type Templates } from "./template-attempts.ts";
import { places } from "./template-places.ts";

/** Definitions that are refused with these words, and with the line if one is expected. */
function refused(name: string, text: string, says: RegExp, line?: number): Case {
  return {
    name,
    async run(farm) {
      const { status, said, text: all } = await submit(farm, { definitions: { "x.yml": text } });
      assert.equal(status, 400, all);
      assert.match(all, says);
      if (line !== undefined)
        assert.match(said + all, new RegExp(`x\\.yml:${line}\\b|"line":${line}\\b`));
    },
  };
}

const bomb = ["version: 1", "jobs: {}"]
  .concat(
    Array.from(
      { length: 10 },
      (_, n) =>
        `l${n}: &l${n} [${Array.from({ length: 10 }, () => (n === 0 ? "x" : `*l${n - 1}`)).join(", ")}]`,
    ),
  )
  .join("\n");
const cycle = (length: number) =>
  `version: 1\njobs:\n${Array.from({ length }, (_, n) => `  j${n}: { commands: x, needs: [j${(n + 1) % length}] }`).join("\n")}\n`;

const definitions: readonly Case[] = [
  refused("a YAML bomb of 10^10 words", bomb, /alias/i),
  refused(
    "a hundred thousand jobs",
    "version: 1\njobs: {$merge: {$map: {$eval: 'range(0, 100000)'}, each(n): {\"j${n}\": {commands: x}}}}",
    /20,000|too much/,
  ),
  refused("a cycle of two", cycle(2), /j0 → j1 → j0|j1 → j0 → j1/, 3),
  refused("a cycle of 5,000", cycle(5_000), /→/),
  refused(
    "a job that needs itself",
    "version: 1\njobs:\n  a: { commands: x, needs: [a] }\n",
    /a → a|itself/,
  ),
  refused(
    "a template that never ends",
    "version: 1\njobs: {a: {commands: {$eval: 'range(0, 1000000000)'}}}",
    /too much/,
  ),
  refused(
    "templates in templates",
    `version: 1\njobs: ${"{$let: {x: 1}, in: ".repeat(200)}{}${"}".repeat(200)}`,
    /deep|template/i,
  ),
  refused(
    "a text that doubles sixty times",
    "version: 1\njobs: {a: {commands: {$reduce: {$eval: 'range(0, 60)'}, $initial: x, each(s, n, i): \"${s}${s}\"}}}",
    /too much|length|template/,
  ),
  refused(
    "a way to the process",
    "version: 1\njobs: {a: {commands: \"${range.constructor('return process')()}\"}}",
    /template/,
  ),
  refused(
    "the prototype of a value",
    'version: 1\njobs: {a: {commands: "${commit.__proto__}"}}',
    /template/,
  ),
  refused("a job named __proto__", "version: 1\njobs:\n  __proto__: { commands: x }\n", /./),
  refused(
    "a job's name in Cyrillic",
    "version: 1\njobs:\n  \u0430dmin: { commands: x }\n",
    /\\+u\{430\}dmin/,
  ),
  refused(
    "a job's name that climbs",
    "version: 1\njobs:\n  ../x: { commands: x }\n",
    /not a job's name/,
    3,
  ),
  refused(
    "a job's name with an escape",
    'version: 1\njobs:\n  "a\\e[2J": { commands: x }\n',
    /not a job's name/,
    3,
  ),
  refused("inputs from above", job('inputs: ["../../etc"]'), /\.\.|path/, 3),
  refused("outputs above", job('outputs: ["../x"]'), /\.\.|path/, 3),
  refused("outputs at the root", job('outputs: ["/etc/cron.d/x"]'), /slash|path/, 3),
  refused(
    "a glob with 100 braces in braces",
    job(`inputs: ["${"{a,".repeat(100)}b${"}".repeat(100)}"]`),
    /./,
  ),
  refused(
    "an unknown key with a novel in it",
    `version: 1\n${"k".repeat(1_000)}: 1\njobs: {}\n`,
    /k{3}/,
  ),
  refused("two megabytes", `# ${"x".repeat(2_000_000)}\nversion: 1`, /1 MiB/),
  refused(
    "500 lists deep",
    `version: 1\njobs: ${"[".repeat(500)}${"]".repeat(500)}`,
    /64 deep|deep/,
  ),
  refused("a tag that runs code", "version: 1\njobs: !!js/function 'x'", /./),
  refused("a merge of the document with itself", "version: 1\njobs: &j\n  <<: *j\n", /./),
  {
    name: "a thousand problems: a hundred are reported",
    async run(farm) {
      const text = `version: 1\njobs:\n${Array.from({ length: 1_000 }, (_, n) => `  j${n}: { comands: x }`).join("\n")}\n`;
      const { status, text: all } = await submit(farm, { definitions: { "x.yml": text } });
      assert.equal(status, 400);
      assert(all.length < 100_000, `${all.length} characters`);
    },
  },
  {
    name: "3,000 files of definitions, and names of files that climb",
    async run(farm) {
      const many = Object.fromEntries(
        Array.from({ length: 3_000 }, (_, n) => [`f${n}.yml`, "version: 1\n"]),
      );
      assert.equal((await submit(farm, { definitions: many })).status, 400);
      const { status } = await submit(farm, {
        definitions: { "../../../etc/x.yml": "version: 1\njobs: {}\n" },
      });
      assert([200, 201, 400].includes(status));
    },
  },
  ...["(a+)+$", "(x{1000}){1000}", "[a-z]{1,100000}", "(?=a)b", "\\1(a)"].map(
    (pattern): Case => ({
      name: `a rule for logs with the pattern ${pattern.slice(0, 20)}`,
      async run(farm) {
        const rule = `version: 1\njobs:\n  a:\n    commands: x\n    errors: [${JSON.stringify(pattern)}]\n    fail-if: [${JSON.stringify(pattern)}]\n`;
        const { status } = await submit(farm, { definitions: { "x.yml": rule } });
        assert([200, 201, 400].includes(status), String(status));
      },
    }),
  ),
  {
    name: "a selection of 100,000 parentheses, and one that is a slow regular expression",
    async run(farm) {
      const text = "version: 1\njobs:\n  aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa: { commands: x }\n";
      for (const select of ["(".repeat(100_000), "/(a+)+$/", "a or ".repeat(50_000)]) {
        const { status } = await submit(farm, { definitions: { "x.yml": text }, select });
        assert([200, 201, 400].includes(status), String(status));
      }
    },
  },
];

export const jobTemplateSuite: HostileSuite<Templates> = {
  interface: "definitions of jobs, and where they come from",
  atLeast: 30,
  cases: [...definitions, ...places],
  async open(options) {
    const [farm, repository] = await Promise.all([
      openFarm(options),
      sampleRepository({ ".grange/farm.yml": job("inputs: []") }),
    ]);
    return {
      target: { ...farm.target, repository },
      async stop() {
        await farm.stop();
        await repository.remove();
      },
    };
  },
};
