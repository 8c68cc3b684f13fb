import { execFile } from "node:child_process";
import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Page } from "playwright-core";
import { SubmittedRequest } from "#api/benchmark-request.ts";
import { launchChromium } from "../../../test/support/chromium.ts";
import { runFailingBuild } from "../../../test/support/data-of-a-farm.ts";
import { grange } from "../../../test/support/farm.ts";
import { sampleRepository } from "../../../test/support/sample-repository.ts";
import { type Lab, startLab } from "../benchmark-lab/lab.ts";
import { atMost, exactly, type Measurement, type Row } from "../row.ts";

const target = `${process.platform}-${process.arch}`;
const mostClicks = 2;
const windowHeight = 800;

/** What each failure prints: the page has to show this line. */
const errorLines = {
  "graph job": "graph.c:4:2: error: broken graph job",
  "build action": "action.c:5:2: error: broken build action",
  test: "--- FAIL: TestBroken (0.00s)",
  benchmark: "bench.c:6:2: error: broken benchmark",
} as const;
type Kind = keyof typeof errorLines;

/** In the order of their links on the home page, the text of the link to follow first. */
const firstLinks: Readonly<Record<Kind, string>> = {
  "graph job": "A commit that breaks the build",
  "build action": "a build with a broken action",
  test: "a build with a broken test",
  benchmark: "Measurement of broken",
};

/** From the home page to the error line of the newest failure of each kind, on a farm of real processes. */
export const failureClicks: Measurement = {
  title: "clicks to the error line",
  long: false,
  async measure() {
    const work = await mkdtemp(join(tmpdir(), "grange-clicks-"));
    const lab = await startLab({ workers: 1 });
    const repository = await sampleRepository({
      ".grange/farm.yml": JSON.stringify({
        version: 1,
        jobs: { build: { commands: [`echo "${errorLines["graph job"]}"; exit 1`], inputs: ["a"] } },
      }),
      a: "",
    });
    await repository.commit({ a: "broken" }, firstLinks["graph job"]);
    const browser = await launchChromium();
    try {
      await Promise.all([
        failGraph(lab, repository.path),
        runFailingBuild(lab.farm.url, {
          invocation: "clicks-action",
          tool: firstLinks["build action"],
          mnemonic: "CppCompile",
          line: errorLines["build action"],
        }),
        runFailingBuild(lab.farm.url, {
          invocation: "clicks-test",
          tool: firstLinks.test,
          mnemonic: "TestRunner",
          line: errorLines.test,
        }),
      ]);
      await failBenchmark(lab, work, errorLines.benchmark);
      const rows: Row[] = [];
      for (const kind of Object.keys(errorLines) as Kind[]) {
        const page = await browser.newPage({ viewport: { width: 1_280, height: windowHeight } });
        rows.push(...(await clicksTo(page, lab.farm.url, kind)));
        await page.close();
      }
      return rows;
    } finally {
      await browser.close();
      await lab.stop();
      await repository.remove();
      await rm(work, { recursive: true, force: true });
    }
  },
};

/** Follows the links of the home page until the error line is in the window; each link is one click. */
async function clicksTo(page: Page, url: string, kind: Kind): Promise<Row[]> {
  const begun = performance.now();
  await page.goto(url);
  const attention = page.locator("section", {
    has: page.getByRole("heading", { name: "Needs attention" }),
  });
  await attention.getByRole("link", { name: firstLinks[kind] }).first().click();
  const line = page.getByText(errorLines[kind]).first();
  await line.waitFor();
  const box = await line.boundingBox();
  const isSeen = box !== null && box.y >= 0 && box.y + box.height <= windowHeight;
  const ms = performance.now() - begun;
  const how = `from the home page of a farm with one failure of each kind, in Chromium, 1280 × ${windowHeight}; ${Math.round(ms)} ms with loading`;
  return [
    atMost(`clicks to the error line: ${kind}`, 1, mostClicks, "clicks", how),
    exactly(
      `error line in the window without scrolling: ${kind}`,
      isSeen ? "yes" : "no",
      "yes",
      "",
      how,
    ),
  ];
}

async function failGraph({ farm }: Lab, repository: string): Promise<void> {
  const { id } = await farm.submit({ repository, parameters: {} });
  await farm.untilOver(id);
}

/** Measures a version whose program prints a line and fails. */
async function failBenchmark(lab: Lab, work: string, line: string): Promise<void> {
  const folder = join(work, "package");
  await mkdir(folder);
  await writeFile(join(folder, "compile"), `#!/bin/sh\necho "${line}" >&2\nexit 1\n`);
  await chmod(join(folder, "compile"), 0o755);
  const tarball = join(work, "broken.tgz");
  await promisify(execFile)("tar", ["-czf", tarball, "-C", work, "package"]);
  await lab.push({
    suite: "tiny",
    artifacts: { from: "nowhere" },
    backends: { sh: { tool: ["{artifact}/compile"] } },
    targets: { [target]: {} },
    metrics: {
      nodes: {
        take: { from: "output", pattern: "^nodes: (\\d+)" },
        nature: "exact",
        unit: "count",
      },
    },
    headline: "nodes",
    compile: { command: ["{tool}"], profiles: { one: {} }, benchmarks: { bench: {} } },
    iterations: { timed: 1 },
  });
  await lab.addCollector({ name: "clicks-1", target, set: null });
  lab.startCollector("clicks-1");
  const { stdout } = await promisify(execFile)(process.execPath, [
    grange,
    ..."bench request broken --suite tiny --kind release --alone --json --tarball".split(" "),
    `sh=${tarball}`,
    "--server",
    lab.farm.url,
  ]);
  await lab.untilEnded(SubmittedRequest.parse(JSON.parse(stdout)).request.id);
}
