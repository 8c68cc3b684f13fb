import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { madeUpFarm } from "../../web/dev/made-up-farm.ts";
import { axeFindings } from "./axe-findings.ts";
import { farmInBrowser } from "./farm-in-browser.ts";

const { farm, open } = await farmInBrowser(madeUpFarm(new Date()));

let made = 0;

/** The id of a graph and the subject of its commit, which nothing else has, also when a failed test is tried again. */
function newCommit(): [id: string, subject: string] {
  made += 1;
  return [`new-${made}`, `New commit ${made}`];
}

test.each([
  ["/", "Home"],
  ["/repositories", "Repositories"],
  ["/repositories/grange", "grange"],
  ["/graphs/now", "Return jobs whose lease has run out"],
  ["/graphs/now/jobs/unit%2Fcore", "unit/core"],
  ["/workers", "Workers"],
  ["/retention", "Retention"],
])("%s shows itself without a fault", async (path, heading) => {
  const { page, faults } = await open(path);

  await page.getByRole("heading", { level: 1, name: heading }).waitFor();

  await expect.poll(() => page.title()).toContain("Grange");
  expect(faults).toEqual([]);
  await page.close();
});

test("the home page says that no worker is connected, also before the first graph", async () => {
  const workers = farm.workers.splice(0);
  const graphs = [...farm.graphs];
  try {
    for (const title of ["Home", "No graphs yet"]) {
      const { page, faults } = await open("/");
      await page.getByRole("heading", { name: title }).waitFor();
      const missing = page.getByRole("region", { name: "No worker is connected" });

      await missing.getByText("4 executions wait for a worker").waitFor();
      await missing.getByText("grange worker --server http://127.0.0.1").waitFor();
      expect(faults).toEqual([]);
      await page.close();
      farm.graphs.clear();
    }
  } finally {
    farm.workers.push(...workers);
    for (const [id, graph] of graphs) farm.graphs.set(id, graph);
  }

  const { page } = await open("/");
  await page.getByRole("heading", { name: "Needs attention" }).waitFor();
  expect(await page.getByText("No worker is connected").count()).toBe(0);
  await page.close();
});

test("the home page names what needs attention, and leads to the failed job with one click", async () => {
  const { page, faults } = await open("/");
  const attention = page.locator("section", {
    has: page.getByRole("heading", { name: "Needs attention" }),
  });

  for (const sentence of [
    "1 job waits for a person or for a time",
    "3 executions wait for a worker that does not exist",
    "it asks for gpu=a100, and no worker offers gpu",
    "Worker barn-9 is lost",
    "no space left on the disk of /work",
    "3 cached results are in quarantine",
    "The blob store is 2.0 GB over its limit of 50.0 GB",
    "no collector is in duty for the suite compile",
  ])
    await attention.getByText(sentence).waitFor();
  const failedJob = attention.locator('a[href*="/jobs/"]').first();
  const name = (await failedJob.textContent()) ?? "";
  await failedJob.click();

  await page.getByRole("heading", { level: 1, name, exact: true }).waitFor();
  expect(faults).toEqual([]);
  await page.close();
});

test("the pages of a group are listed below the groups", async () => {
  const { page, faults } = await open("/");

  await page.getByRole("link", { name: "Workers", exact: true }).first().click();
  await page.getByRole("navigation", { name: "Workers" }).getByText("Size classes").click();

  await page.getByRole("heading", { level: 1, name: "Size classes" }).waitFor();
  expect(faults).toEqual([]);
  await page.close();
});

test("a click shows older commits, and a new one appears by itself", async () => {
  const { page } = await open("/repositories/grange");
  const rows = page.locator(".commit-grid tbody tr");
  await rows.nth(29).waitFor();

  await page.getByRole("button", { name: "Load older commits" }).click();
  await rows.nth(59).waitFor();
  await page.getByText("live", { exact: true }).waitFor();
  const [known] = farm.graphs.values();
  if (known === undefined) throw new Error("the made-up farm has graphs");
  const [id, subject] = newCommit();
  farm.add({ ...known, id, subject, createdAt: new Date().toISOString() });

  await rows.first().getByText(subject, { exact: true }).waitFor();
  await expect.poll(() => rows.count()).toBeGreaterThanOrEqual(60);
  await page.close();
});

test("a cell of the grid names what failed and opens the job; filters are in the address", async () => {
  const { page, faults } = await open("/repositories/grange?state=failed");
  const note = page.locator(".commit-grid-note");
  await page.locator("a.has-failed").first().waitFor();

  await page.keyboard.press("j");
  const words = await page.locator("a.has-failed:focus").getAttribute("aria-label");
  expect(words).toContain("failed");
  await expect.poll(() => note.textContent()).toBe(words);
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/graphs\/[^/]+\/jobs\//);
  await page.goBack();
  await page.getByRole("searchbox", { name: "Subject, revision or commit" }).fill("no such words");
  await page.getByText("No commit matches these filters.").waitFor();

  await expect.poll(() => page.url()).toContain("state=failed");
  await expect.poll(() => page.url()).toContain("text=no");
  expect(faults).toEqual([]);
  await page.close();
});

test("a lost worker is shown as lost", async () => {
  const { page } = await open("/workers");
  await page.getByRole("heading", { name: "barn-1" }).waitFor();
  await page.getByText("live", { exact: true }).waitFor();

  farm.workers.splice(
    0,
    1,
    ...farm.workers.slice(0, 1).map((worker) => ({ ...worker, state: "lost" as const })),
  );
  farm.changed();

  const card = page.locator("li", { has: page.getByRole("heading", { name: "barn-1" }) });
  await card.getByText("lost", { exact: true }).waitFor();
  await expect.poll(() => card.getByText("its heartbeats stopped").count()).toBe(1);
  await page.close();
});

test("for something that does not exist, the page says so and shows a link", async () => {
  for (const path of ["/nowhere", "/graphs/nope", "/graphs/now/jobs/nope"]) {
    const { page } = await open(path);
    await page.getByRole("link", { name: "Back to the home page" }).click();
    await page.getByRole("heading", { level: 1, name: "Home" }).waitFor();
    await expect.poll(() => new URL(page.url()).pathname).toBe("/");
    await page.close();
  }
});

test("a link to a job whose result is a cache hit opens the run that made the result", async () => {
  const { page } = await open("/graphs/now/jobs/proto");

  await page.getByRole("link", { name: "the run that made it" }).click();

  await page.waitForURL(/\/graphs\/older\//);

  await expect.poll(() => new URL(page.url()).pathname).toBe("/graphs/older/jobs/proto");
  await page.close();
});

test("the first load is at most 200 kB, compressed", async () => {
  const { page } = await open("/workers");
  await page.getByRole("heading", { level: 1 }).waitFor();
  const sizes: Promise<number>[] = [];
  page.on("response", (response) => {
    if (/\.(js|css|html)$|\/$/.test(new URL(response.url()).pathname)) {
      sizes.push(response.body().then((body) => gzipSync(body).length));
    }
  });

  await page.goto(new URL("/", page.url()).href);
  await page.getByRole("heading", { level: 1, name: "Home" }).waitFor();

  const total = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
  expect(total).toBeGreaterThan(50_000);
  expect(total).toBeLessThan(200_000);
  await page.close();
});

test("the home page shows a new graph by itself", async () => {
  const { page, faults } = await open("/");
  await page.getByText("live", { exact: true }).waitFor();
  const [known] = farm.graphs.values();
  if (known === undefined) throw new Error("the made-up farm has graphs");
  const createdAt = new Date(Date.now() + 60_000).toISOString();

  const [id, subject] = newCommit();
  farm.add({ ...known, id, subject, createdAt });

  await page.locator(".graphs > li").getByText(subject, { exact: true }).waitFor();
  expect(faults).toEqual([]);
  await page.close();
});

test("the palette finds a job, a page and an action of the page, and opens them with keys alone", async () => {
  const { page, faults } = await open("/workers");
  await page.getByRole("heading", { level: 1 }).waitFor();
  const box = page.getByRole("combobox", { name: "Search for pages, actions and objects" });
  const chosen = page.locator('[role="option"][aria-selected="true"]');
  // Until then, the keys belong to the palette that closes.
  const closed = () => page.locator("dialog.palette").waitFor({ state: "detached" });

  await page.keyboard.press("Control+k");
  await box.fill("unit/cas");
  await page.getByRole("group", { name: "Jobs" }).getByRole("option").first().waitFor();
  await chosen.getByText("unit/cas", { exact: true }).waitFor();
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/graphs\/[^/]+\/jobs\/unit%2Fcas/);
  await page.getByRole("navigation", { name: "Breadcrumbs" }).getByText("Repositories").waitFor();
  await closed();

  await page.keyboard.press("Control+k");
  await box.fill("size cl");
  await chosen.getByText("Size classes", { exact: true }).waitFor();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "Size classes" }).waitFor();
  await page.waitForURL(/\/size-classes$/);
  await closed();

  await page.keyboard.press("Control+k");
  await box.fill("theme dark");
  await chosen.getByText(/dark/i).waitFor();
  await page.keyboard.press("Enter");
  await page.locator('html[data-theme="dark"]').waitFor();
  await closed();
  await expect.poll(() => page.getByRole("dialog").count()).toBe(0);

  await page.goto(new URL("/graphs/now", page.url()).href);
  await page.getByRole("heading", { level: 1 }).waitFor();
  await page.keyboard.press("Control+k");
  await box.fill("next failure");
  await page.getByRole("group", { name: "On this page" }).getByText("Next failure").waitFor();
  await page.keyboard.press("Escape");
  expect(faults).toEqual([]);
  await page.close();
});

test("results that arrive in the palette do not change what Enter opens", async () => {
  const { page, faults } = await open("/workers");
  await page.getByRole("heading", { level: 1 }).waitFor();
  const [known] = farm.graphs.values();
  if (known === undefined) throw new Error("the made-up farm has graphs");
  const [id, subject] = newCommit();
  farm.add({ ...known, id, subject, createdAt: new Date(Date.now() + 60_000).toISOString() });
  let answerSearch = () => {};
  const mayAnswer = new Promise<void>((resolve) => (answerSearch = resolve));
  await page.route("**/api/v1/find?*", async (route) => {
    await mayAnswer;
    await route.continue();
  });
  const chosen = page.locator('[role="option"][aria-selected="true"]');

  await page.keyboard.press("Control+k");
  await page.getByRole("combobox").fill("new");
  await chosen.getByText("New graph", { exact: true }).waitFor();
  const top = (await chosen.boundingBox())?.y;
  answerSearch();
  await page.getByRole("group", { name: "Graphs" }).getByText(subject).waitFor();

  await chosen.getByText("New graph", { exact: true }).waitFor();
  expect((await chosen.boundingBox())?.y).toBe(top);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "New graph" }).waitFor();
  expect(faults).toEqual([]);
  await page.close();
});

test("axe finds nothing in the open palette", async () => {
  const { page } = await open("/");
  await page.getByRole("heading", { level: 1 }).waitFor();
  await page.getByRole("button", { name: /^Search/ }).click();
  await page.getByRole("combobox").fill("unit");
  await page.getByRole("group", { name: "Jobs" }).waitFor();

  expect(await axeFindings(page)).toEqual([]);
  await page.close();
});
