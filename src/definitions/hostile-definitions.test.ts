import { afterAll, expect, test } from "vitest";
import { DefinitionProblems } from "./definition-problems.ts";
import { readDefinitions } from "./read-definitions.ts";
import { TemplateEvaluator } from "./template-evaluator.ts";

const evaluator = new TemplateEvaluator();
afterAll(() => evaluator.stop());

const context = {
  repository: "here",
  commit: { sha: "a".repeat(40), subject: "", author: "", committedAt: new Date(0) },
  rev: "main",
  branch: "main",
};

async function refusal(text: string): Promise<string> {
  const reading = readDefinitions(new Map([["x.yml", text]]), {}, context, evaluator);
  return reading.then(
    () => "read",
    (reason: unknown) => (reason instanceof Error ? reason.message : String(reason)),
  );
}

const aliasBomb = `a: &a [x,x,x,x,x,x,x,x,x]\n${"bcdefghij"
  .split("")
  .map((name, i) => `${name}: &${name} [${Array(9).fill(`*${"abcdefghij"[i]}`).join(",")}]`)
  .join("\n")}\nversion: 1`;

test.each([
  { what: "an alias bomb", text: aliasBomb, says: /alias/i },
  {
    what: "a map that holds itself",
    text: "version: 1\njobs: &j\n  a: { commands: x }\n  b: *j\n",
    says: /x\.yml:4.*is inside the node that it refers to/,
  },
  {
    what: "lists in lists without end",
    text: `version: 1\njobs: ${"[".repeat(50_000)}`,
    // Without a place, because it was not parsed.
    says: /^x\.yml: maps and lists are nested more than 64 levels deep/m,
  },
  {
    what: "well-formed lists, too deep",
    text: `version: 1\njobs: ${"[".repeat(500)}${"]".repeat(500)}`,
    says: /64 levels deep/,
  },
  {
    what: "maps in maps, too deep",
    text: `version: 1\njobs: ${"{a: ".repeat(3_000)}1${"}".repeat(3_000)}`,
    says: /deep/,
  },
  {
    what: "a file beyond its size",
    text: `# ${"x".repeat(1024 * 1024)}`,
    says: /larger than 1 MiB/,
  },
  {
    what: "an error at each character",
    text: `version: 1\njobs: [${",".repeat(60_000)}]`,
    says: /not valid YAML: Unexpected ,/,
  },
  {
    what: "an error at each character of a large file",
    text: `version: 1\njobs: [${",".repeat(100_000)}]`,
    says: /x\.yml:2.*only files of at most 64 KiB/,
  },
  {
    what: "a list without end",
    text: "version: 1\njobs: {a: {commands: {$eval: 'range(0, 1000000000)'}}}",
    says: /need too much/,
  },
  {
    what: "a text doubled without end",
    text: `version: 1\njobs: {a: {commands: {$reduce: {$eval: 'range(0, 60)'}, $initial: x, each(s, n, i): "\${s}\${s}"}}}`,
    says: /too much|string length|template/,
  },
  {
    what: "a hundred thousand jobs",
    text: `version: 1\njobs: {$merge: {$map: {$eval: 'range(0, 100000)'}, each(n): {"j\${n}": {commands: x}}}}`,
    // The load of the machine determines which limit is reached first.
    says: /more than 20,000 jobs|too much/,
  },
  {
    what: "a way to functions of the host",
    text: `version: 1\njobs: {a: {commands: "\${range.constructor('return process')()}"}}`,
    says: /template/,
  },
  {
    what: "the prototype of a value",
    text: `version: 1\njobs: {a: {commands: "\${commit.__proto__}"}}`,
    says: /template/,
  },
  {
    what: "a number too many of the alphabet",
    text: "version: 1\njobs: {\u0430dmin: {commands: x}}",
    says: /\\u\{430\}dmin/,
  },
  {
    what: "a name that climbs",
    text: "version: 1\njobs: {a/../../b: {commands: x}}",
    says: /not a job's name/,
  },
  {
    what: "an empty part of a name",
    text: "version: 1\njobs: {a//b: {commands: x}}",
    says: /not a job's name/,
  },
  {
    what: "a name of 10,000 letters",
    text: `version: 1\njobs: {${"a".repeat(1_000)}: {commands: x}}`,
    says: /128/,
  },
  {
    what: "NUL in a path",
    text: 'version: 1\njobs: {a: {commands: x, outputs: "a\\0b"}}',
    says: /path inside/,
  },
  {
    what: "an absolute path",
    text: "version: 1\njobs: {a: {commands: x, inputs: /etc/passwd}}",
    says: /begins with a slash/,
  },
  { what: "a key that is a map", text: "version: 1\njobs: {? {a: b} : c}", says: /plain text/ },
  {
    what: "a tag that constructs",
    text: "version: 1\njobs: !!js/function 'x'",
    says: /expected record|must/i,
  },
  { what: "no map at all", text: "- 1", says: /expected object|must/i },
  { what: "bytes that are no text", text: "\u0000\u0001\u0002", says: /./ },
])("$what is refused", async ({ text, says }) => {
  const said = await refusal(text);

  expect(said).toMatch(says);
  expect(said).not.toBe("read");
});

test("after a template that did not end, the next one is evaluated normally", async () => {
  await refusal("version: 1\njobs: {a: {commands: {$eval: 'range(0, 1000000000)'}}}");

  expect(await refusal("version: 1\njobs: {a: {commands: x}}")).toBe("read");
});

test("a rejected file gives a DefinitionProblems fault", async () => {
  const reading = readDefinitions(new Map([["x.yml", "jobs: ["]]), {}, context, evaluator);

  await expect(reading).rejects.toBeInstanceOf(DefinitionProblems);
});
