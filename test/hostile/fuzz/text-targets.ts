import { gzipSync } from "node:zlib";
import { parse as parseWholeYaml, YAMLParseError } from "yaml";
import { formatSelection } from "#api/selection/format-selection.ts";
import { parseSelection } from "#api/selection/parse-selection.ts";
import { readTarball } from "#artifacts/read-tarball.ts";
import { parseDuration } from "#definitions/duration.ts";
import { parseJob } from "#definitions/parse-job.ts";
import { readPlainYaml } from "#definitions/read-plain-yaml.ts";
import { readSourceFile } from "#definitions/source-file.ts";
import { findCommand, readCommand } from "#forge/commands/read-command.ts";
import { readWebhook } from "#forge/github/read-webhook.ts";
import { parseCommitTree } from "#git/commit-tree.ts";
import { compileGlobs } from "#git/glob.ts";
import { parsePointer } from "#git/lfs/pointer.ts";
import { parseRemoteRefs } from "#git/remote-refs.ts";
import { parseRepositoryAddress } from "#git/repository-address.ts";
import { splitRevision } from "#git/revision.ts";
import { readInputList } from "#graphs/approximations/read-input-list.ts";
import { readItems } from "#graphs/chunks/read-items.ts";
import { readPackageJson } from "#init/kinds/node/package-json.ts";
import { readPyProject } from "#init/kinds/python/pyproject.ts";
import { readWorkflow } from "#init/workflows/workflow-file.ts";
import { readTrace } from "#simulate/read-trace.ts";
import { aHeader, anExecution } from "#simulate/trace.fixture.ts";
import { parseSuite } from "#suites/read-suite.ts";
import { smallDefinition } from "#suites/suite.fixture.ts";
import { readSuiteText } from "#suites/suite-yaml.ts";
import { LineCutter } from "#worker/judge/line-cutter.ts";
import { SecretForms } from "#worker/secrets/log-mask.ts";
import { readJobFilter } from "../../../web/pages/graph/job-filter.ts";
import { scanLine } from "../../../web/pages/log/scan-line.ts";
import { plain } from "../../../web/pages/log/style.ts";
import { BrokenLaw, type FuzzTarget } from "./fuzz.ts";
import { importerTargets, jsonWords } from "./importer-targets.ts";
import { mostBytes } from "./mutate.ts";

const textOf = (bytes: Uint8Array) => Buffer.from(bytes).toString();

const definitions = `jobs:
  build:
    command: [make, "-j2"]
    inputs: ["src/**", "!src/old/**"]
    outputs: { bin: out }
    needs: { lint: {} }
    timeout: 10m
  test:
    command: |
      make test
      echo done
    matrix: { os: [linux, mac] }
`;
const yamlWords = [
  "- ",
  ": ",
  "&a ",
  "*a",
  "!!map ",
  "|\n",
  ">\n",
  "{",
  "}",
  "[",
  "]",
  "? ",
  "# ",
  "---\n",
  '"',
  "'",
  "<<: ",
  "\n  ",
  "\t",
  "$eval",
  "$map",
  "{$if: x}",
  "$" + "{x}",
  "__proto__",
  "0x1F",
];
const neverShown =
  // oxlint-disable-next-line no-control-regex
  /[\u0000-\u0008\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;

/** What people, repositories, forges and the programs of jobs write. */
export function textTargets(): FuzzTarget[] {
  return [
    {
      name: "YAML, the fast reader beside the whole language",
      seeds: [definitions, "a: 1\nb: [x, 'y z']\n", 'a: {b: "\\n", c: ~}\n', "a:\n- b\n- c: d\n"],
      words: yamlWords,
      read(bytes) {
        const text = textOf(bytes);
        const plain = readPlainYaml(text);
        if (plain === undefined) return undefined;
        const whole: unknown = parseWholeYaml(text, { version: "1.2" });
        if (JSON.stringify(plain.value) !== JSON.stringify(whole))
          throw new BrokenLaw(
            `the two read differently: ${JSON.stringify(plain.value)} and ${JSON.stringify(whole)}`,
          );
        return plain.value;
      },
    },
    {
      name: "a file of definitions and its jobs",
      isSlow: true,
      seeds: [definitions, "jobs:\n  a: {command: [x]}\n"],
      words: yamlWords,
      refusals: [YAMLParseError],
      read(bytes) {
        const read = readSourceFile("farm.yml", textOf(bytes));
        if (Array.isArray(read)) return read;
        const { value } = read;
        if (typeof value !== "object" || value === null || !("jobs" in value)) return value;
        const { jobs } = value;
        if (typeof jobs !== "object" || jobs === null) return value;
        read.place(["jobs", "a", "command", 0]);
        return Object.entries(jobs).map(([name, job]) => [
          read.lineOfJob(name),
          parseJob(name, job),
        ]);
      },
    },
    {
      name: "a suite of benchmarks",
      isSlow: true,
      seeds: [JSON.stringify(smallDefinition()), "suite: s\nmetrics: []\n"],
      words: yamlWords,
      read(bytes) {
        const { value, place } = readSuiteText("suite", textOf(bytes));
        return parseSuite(value, "suite", place);
      },
    },
    {
      name: "a workflow of GitHub",
      isSlow: true,
      seeds: [
        "on: push\njobs:\n  a:\n    runs-on: x\n    steps:\n      - run: make\n      - uses: actions/checkout@v4\n",
      ],
      words: [...yamlWords, "runs-on", "steps", "${{ x }}"],
      read: (bytes) => readWorkflow(textOf(bytes)),
    },
    {
      name: "manifests of other build tools",
      seeds: [
        '{"name":"a","workspaces":["b"],"scripts":{"test":"x"}}',
        '[project]\nname = "a"\ndependencies = ["b"]\n[tool.tox]\n',
      ],
      words: [...jsonWords, "[", "]]", "= ", '"""', "[tool.", "workspaces"],
      read: (bytes) => [readPackageJson(textOf(bytes)), readPyProject(textOf(bytes))],
    },
    {
      name: "lists of inputs and items",
      seeds: ["src/a.c\nsrc/**/*.h\n./b\n", '["a","b"]', "one\ntwo\r\n"],
      words: ["\n", "..", "/", "*", "!", "\\", "\u0000", "[", '","'],
      read(bytes) {
        const { names } = readInputList(bytes, "list");
        if (names.some((name) => name.startsWith("/") || name.split("/").includes("..")))
          throw new BrokenLaw("a name leaves the tree");
        return readItems(textOf(bytes), "items");
      },
    },
    {
      name: "patterns of files",
      seeds: ["src/**/*.{c,h}", "a/[!b-d]?/\\*", "{a,b/{c,d}}/**", "**/x"],
      words: ["**/", "{", "}", ",", "[", "]", "!", "\\", "?", "**"],
      read(bytes) {
        const matches = compileGlobs([textOf(bytes)]);
        return ["src/a/b.c", "a/cx/*", "a", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/b"].map(
          (path) => matches(path),
        );
      },
    },
    {
      name: "selections of jobs",
      seeds: ["state:failed & !name:lint", "platform:win32 & pgo | (a b)", 'name:"a b*"'],
      words: ["&", "|", "!", "(", ")", '"', "not ", " and ", "state:", "*"],
      read(bytes) {
        const text = textOf(bytes);
        readJobFilter(text);
        const selection = parseSelection(text);
        const again = parseSelection(formatSelection(selection));
        if (JSON.stringify(again) !== JSON.stringify(selection))
          throw new BrokenLaw("written and read again, it is another selection");
        return selection;
      },
    },
    {
      name: "comments on pull requests",
      seeds: [
        "@grange bench queue include=a,b exclude=c",
        "text\n@grange build 0123456789ab runs=3\n",
        "@grange retrigger state:failed",
        "```\n@grange cancel\n```\n> @grange help",
        "@grange approve 0123456",
      ],
      words: ["@grange ", "\n", "```", "> ", "=", ",", "bench", "retrigger", "<!--", "~~~"],
      read(bytes) {
        const line = findCommand(textOf(bytes));
        return line === undefined ? undefined : readCommand(line);
      },
    },
    {
      name: "bodies of webhooks",
      seeds: [
        '{"repository":{"full_name":"a/b"},"ref":"refs/heads/main"}',
        `{"repository":{"full_name":"a/b"},"pull_request":{"number":1,"updated_at":"2026-01-01T00:00:00Z","head":{"sha":"${"a".repeat(40)}"}}}`,
        '{"repository":{"full_name":"a/b"},"issue":{"number":1,"pull_requests":{}}}',
      ],
      words: [...jsonWords, '"full_name":', "2026-13-01", "999999999999999999"],
      refusals: [SyntaxError],
      read(bytes) {
        const body: unknown = JSON.parse(textOf(bytes));
        const event = ["pull_request", "issue"].find((key) => textOf(bytes).includes(`"${key}"`));
        return readWebhook(event === "issue" ? "issue_comment" : (event ?? "push"), body);
      },
    },
    {
      name: "output of Git",
      seeds: [
        `100644 blob ${"a".repeat(40)}\tsrc/a.c\u0000120000 blob ${"b".repeat(40)}\tlink\u0000`,
        `160000 commit ${"c".repeat(40)}\tsub\u0000`,
        `${"a".repeat(40)}\trefs/heads/main\nref: refs/heads/main\tHEAD\n`,
        `version https://git-lfs.github.com/spec/v1\noid sha256:${"a".repeat(64)}\nsize 12\n`,
      ],
      words: ["\t", "\u0000", "\n", "160000 commit ", "../", "refs/", "^{}", "size ", "ext-0-x "],
      read(bytes) {
        const tree = parseCommitTree(Buffer.from(bytes));
        if (tree.entries.some(({ path }) => path.startsWith("/") || path.split("/").includes("..")))
          throw new BrokenLaw("an entry leaves the tree");
        return [tree, parseRemoteRefs(textOf(bytes)), parsePointer(bytes)];
      },
    },
    {
      name: "addresses of repositories, revisions and durations",
      seeds: ["https://a.example/b.git", "git@host:a/b", "/srv/a", "main~2^1", "10m", "1h30m"],
      words: ["::", "@", ":", "--upload-pack=", "//", "~", "^", "%00", "file://", "ext::", "h"],
      read(bytes) {
        const text = textOf(bytes);
        parseDuration(text);
        splitRevision(text);
        return parseRepositoryAddress(text, "/work");
      },
    },
    ...importerTargets(),
    {
      name: "a trace of executions",
      seeds: [`${JSON.stringify(aHeader())}\n${JSON.stringify(anExecution())}\n`],
      words: [...jsonWords, "\n", '"at":', '"runs":'],
      read: (bytes) => readTrace(inOnePiece(bytes)),
    },
    {
      name: "an archive of an npm package",
      seeds: [tarOf("package/a.js", "text"), tarOf("package/../../etc/passwd", "x")],
      words: ["package/", "../", "0000644", "ustar", "\u0000", "11 path=a\n"],
      async read(bytes) {
        const files = await readTarball(gzipSync(withCheckSum(bytes), { level: 1 }));
        if (files.some(({ path }) => path.startsWith("/") || path.split("/").includes("..")))
          throw new BrokenLaw("a file leaves the archive");
        return files;
      },
    },
    {
      name: "a log as the page shows it",
      seeds: [
        "\u001b[31mred\u001b[0m \u001b]0;title\u0007x",
        "a\rb\tc",
        "\u001b]8;;http://a\u001b\\x",
      ],
      words: ["\u001b[", "\u001b]", "\u0007", "\u001b\\", "m", ";", "38;5;1", "\u202e", "\u009b"],
      read(bytes) {
        const shown: string[] = [];
        scanLine(textOf(bytes).replaceAll("\n", ""), plain, {
          text: (text) => shown.push(text),
          mark: () => {},
        });
        if (neverShown.test(shown.join(""))) throw new BrokenLaw("a control character is shown");
        return shown;
      },
    },
    {
      name: "a log with secrets, and its lines",
      isSlow: true,
      seeds: ["before s3cr3t-Value after", "s3cr\u001b[1mt-Value\ns3cr3t-", "czNjcjN0LVZhbHVl"],
      words: ["s3cr3t-Value", "s3cr", "3t-", "\u001b[1m", "\n", "\r", "%73", "Value"],
      read(bytes) {
        const whole = secrets.hide(textOf(bytes));
        if (whole.includes("s3cr3t-Value")) throw new BrokenLaw("a secret is shown");
        const mask = secrets.mask();
        const text = Buffer.from(textOf(bytes));
        const pieces = [...text].map((byte) => mask.pass(Uint8Array.of(byte)));
        if (Buffer.concat([...pieces, mask.end()]).toString() !== whole)
          throw new BrokenLaw("byte by byte, the mask hides something else");
        const lines = linesOf(text, mostBytes);
        if (JSON.stringify(linesOf(text, 3)) !== JSON.stringify(lines))
          throw new BrokenLaw("in pieces of three bytes, the log has other lines");
        return [lines, whole.split("***")];
      },
    },
  ];
}

const secrets = new SecretForms([Buffer.from("s3cr3t-Value")]);

function linesOf(bytes: Uint8Array, size: number) {
  const cutter = new LineCutter();
  const lines = [];
  for (let at = 0; at < bytes.length; at += size)
    lines.push(...cutter.push(bytes.subarray(at, at + size)));
  return [...lines, ...cutter.end()];
}

async function* inOnePiece(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/** A tar of one file: POSIX.1-1988 ustar. */
function tarOf(path: string, content: string): Buffer {
  const header = Buffer.alloc(512);
  header.write(path, 0);
  header.write("0000644", 100);
  header.write(content.length.toString(8).padStart(11, "0"), 124);
  header.write("0", 156);
  header.write("ustar\u000000", 257, "latin1");
  return Buffer.concat([header, Buffer.from(content.padEnd(512, "\u0000")), Buffer.alloc(1_024)]);
}

/** Corrects the sum of the first header: otherwise nearly no change would get past it. */
function withCheckSum(bytes: Uint8Array): Uint8Array {
  if (bytes.length < 512) return bytes;
  const tar = Buffer.from(bytes);
  tar.fill(" ", 148, 156);
  const sum = tar.subarray(0, 512).reduce((all, byte) => all + byte, 0);
  tar.write(`${sum.toString(8).padStart(6, "0")}\u0000 `, 148, "latin1");
  return tar;
}
