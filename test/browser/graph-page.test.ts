import { expect, test } from "vitest";
import { largePlan, madeUpGraph, smallPlan } from "../../web/dev/made-up-graph.ts";
import { farmInBrowser } from "./farm-in-browser.ts";

const { farm, server, open } = await farmInBrowser();
const about = {
  repository: "grange",
  subject: "Wake workers by notification",
  author: "Ada",
  rev: "main",
  createdAt: new Date("2026-01-01T12:00:00Z"),
};
const now = () => new Date().toISOString();

test("a job that ends while the page is open is shown as completed", async () => {
  farm.add(madeUpGraph("live", smallPlan, about));
  farm.change("live", { install: { state: "running", startedAt: now(), runs: 1 } });
  const { page, faults } = await open("/graphs/live");
  await page.getByRole("button", { name: "install, running" }).waitFor();
  await page.getByText("live", { exact: true }).waitFor();

  farm.change("live", {
    install: { state: "failed", finishedAt: now() },
    lint: { state: "unreachable", reason: "skipped because install failed" },
  });

  await page.getByRole("button", { name: "install, failed" }).waitFor();
  await page
    .getByRole("button", { name: "lint, skipped, skipped because install failed" })
    .waitFor();
  await page.getByRole("button", { name: "1 failed" }).waitFor();
  expect(faults).toEqual([]);
  await page.close();
});

test("the page of a failed graph opens with what failed, and marks the error line", async () => {
  farm.add(madeUpGraph("broken", smallPlan, about));
  farm.change("broken", {
    lint: { state: "failed", startedAt: now(), finishedAt: now(), runs: 1 },
  });
  const { page, faults } = await open("/graphs/broken");
  const section = page.getByRole("region", { name: "What failed" });

  await expect.poll(() => section.locator("mark").textContent()).toContain("error TS2322");
  await section.getByRole("link", { name: "Open log" }).click();
  // The page of the job opens with the same. Its address is there before its content.
  await page.getByRole("heading", { level: 1, name: "lint" }).waitFor();
  await page.waitForURL("**/graphs/broken/jobs/lint?run=1");
  await expect.poll(() => section.locator("mark").textContent()).toContain("error TS2322");
  await section.getByText("The first failure: this graph").waitFor();
  expect(faults).toEqual([]);
  await page.close();
});

test("the page of a graph says which worker is missing, as long as nothing of it runs", async () => {
  farm.add(madeUpGraph("no-worker", smallPlan, about));
  farm.change("no-worker", {
    install: { state: "queued", reason: "waits for a worker that offers OSFamily=macos" },
  });
  const { page, faults } = await open("/graphs/no-worker");
  const section = page.getByRole("region", { name: "What waits for a worker" });

  await expect
    .poll(() => section.textContent())
    .toContain(
      "install waits for a worker that offers OSFamily=macos. What to do: start such a worker.",
    );
  farm.change("no-worker", {
    install: { state: "running", reason: null, startedAt: now(), runs: 1 },
  });
  await section.waitFor({ state: "detached" });
  expect(faults).toEqual([]);
  await page.close();
});

test("after a lost connection the page shows the changes since then", async () => {
  farm.add(madeUpGraph("lost", smallPlan, about));
  const { page } = await open("/graphs/lost");
  await page.getByText("live", { exact: true }).waitFor();
  // The graph is drawn by a script of its own, which must have arrived before nothing is answered.
  await page.getByRole("button", { name: /^install, / }).waitFor();

  server.refuse(true);
  server.dropStreams();
  await page.getByText("connection lost").waitFor();
  farm.change("lost", { install: { state: "running", startedAt: now(), runs: 1 } });
  farm.change("lost", { install: { state: "succeeded", finishedAt: now() } });
  server.refuse(false);

  await page.getByRole("button", { name: "install, succeeded" }).waitFor();
  await page.getByText("live", { exact: true }).waitFor();
  await expect.poll(() => page.getByText("connection lost").count()).toBe(0);
  await page.close();
});

test("a graph whose drawing script did not arrive is drawn after another try", async () => {
  farm.add(madeUpGraph("undrawn", smallPlan, about));
  const { page } = await open("/workers");
  await page.route("**/lay-out.worker.js", (route) => route.abort(), { times: 1 });

  await page.goto(new URL("/graphs/undrawn", page.url()).href);
  await page.getByRole("button", { name: /^install, / }).waitFor();

  expect(await page.getByText("Laying out").count()).toBe(0);
  await page.close();
});

test("keys select, filter, and open, and the URL changes with them", async () => {
  farm.add(madeUpGraph("keys", smallPlan, about));
  farm.change("keys", { lint: { state: "failed", startedAt: now(), finishedAt: now(), runs: 1 } });
  const { page, faults } = await open("/graphs/keys?view=list");
  await page.getByRole("listitem").first().waitFor();

  // The address changes before the page: a key pressed in between would start from the old job.
  const selects = async (job: string) => {
    await page.getByRole("complementary", { name: `Job ${job}` }).waitFor();
    await page.waitForURL((url) => url.searchParams.get("job") === job);
  };
  await page.keyboard.press("j");
  await selects("lint");
  await page.keyboard.press("ArrowRight");
  await selects("install");
  await page.keyboard.press("k");
  await selects("lint");

  await page.keyboard.press("f");
  await page.getByText("1 of 18").waitFor();
  await page.waitForURL(/state=failed/);
  await page.keyboard.press("f");
  await page.getByText("1 of 18").waitFor({ state: "detached" });
  await page.keyboard.press("/");
  await page.keyboard.type("unit");
  await page.getByText("4 of 18").waitFor();
  await page.keyboard.press("Escape");

  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keys" }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog", { name: "Keys" }).waitFor({ state: "hidden" });

  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "lint" }).waitFor();
  await page.waitForURL(/\/graphs\/keys\/jobs\/lint/);
  expect(faults).toEqual([]);
  await page.close();
});

test("a job whose name has slashes, spaces and signs has a page", async () => {
  const name = "unit/a b/100%?#é";
  farm.add(madeUpGraph("names", [[name]], about));
  const { page, faults } = await open("/graphs/names?view=list");

  await page.getByRole("link", { name }).click();
  await page.getByRole("heading", { name }).waitFor();
  await page.reload();

  await page.getByRole("heading", { name }).waitFor();
  expect(faults).toEqual([]);
  await page.close();
});

test("cancellation needs a confirmation", async () => {
  farm.add(madeUpGraph("cancel", smallPlan, about));
  const { page } = await open("/graphs/cancel");

  await page.getByRole("button", { name: "Cancel…" }).click();
  await page.getByRole("button", { name: "Keep it running" }).click();
  expect(farm.graphs.get("cancel")?.state).toBe("running");
  await page.getByRole("button", { name: "Cancel…" }).click();
  await page.getByRole("button", { name: "Cancel the graph" }).click();

  await page.getByRole("button", { name: "install, cancelled" }).waitFor();
  expect(farm.graphs.get("cancel")?.state).toBe("cancelled");
  await page.close();
});

test("a thousand jobs are shown, and keys work", async () => {
  farm.add(madeUpGraph("large", largePlan(1_000), about));
  const { page, faults } = await open("/graphs/large");

  await page.locator("[data-job]").nth(999).waitFor();
  await page.keyboard.press("j");
  await page.getByRole("complementary", { name: /^Job / }).waitFor();

  expect(faults).toEqual([]);
  await page.close();
});

test("a thousand jobs are drawn as a graph, and the page stays responsive", async () => {
  farm.add(madeUpGraph("drawn", largePlan(1_000), about));
  const { page, faults } = await open("/graphs/drawn?view=graph");

  await page.locator(".dag [data-job]").nth(999).waitFor();
  await page.getByRole("button", { name: "Fit" }).click();

  expect(faults).toEqual([]);
  await page.close();
});

test("without changes, no request is repeated", async () => {
  farm.add(madeUpGraph("quiet", smallPlan, about));
  const { page, requests } = await open("/graphs/quiet");
  await page.getByText("live", { exact: true }).waitFor();
  await page.getByRole("button", { name: "install, waiting" }).waitFor();

  farm.change("quiet", { install: { state: "running", startedAt: now(), runs: 1 } });
  await page.getByRole("button", { name: "install, running" }).waitFor();

  const paths = requests.map((url) => new URL(url).pathname);
  expect(paths.filter((path, at) => paths.indexOf(path) !== at)).toEqual([]);
  await page.close();
});

test("ten thousand jobs are shown, and a selection finds jobs among them", async () => {
  farm.add(madeUpGraph("huge", largePlan(10_000), about));
  const { page, faults } = await open("/graphs/huge");
  await page.locator("[data-job]").nth(9_999).waitFor({ state: "attached" });

  await page.getByRole("searchbox").fill("kind:build & !name:*windows*");
  await page.getByText("3 of 10000").waitFor();

  await expect.poll(() => page.locator("[data-job]").count()).toBe(3);
  expect(faults).toEqual([]);
  await page.close();
});
