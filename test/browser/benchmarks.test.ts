import type { Page } from "playwright-core";
import { beforeEach, expect, test } from "vitest";
import { FakeLab } from "../../web/dev/fake-lab.ts";
import { madeUpFarm } from "../../web/dev/made-up-farm.ts";
import { madeUpLab } from "../../web/dev/made-up-lab.ts";
import { farmInBrowser } from "./farm-in-browser.ts";

const { farm, open } = await farmInBrowser(madeUpFarm(new Date()));
beforeEach(() => {
  farm.lab = madeUpLab(new Date());
});

const pair = "suite=typescript&before=nightly-20250915&after=nightly-20250916";
const aCase = encodeURIComponent("compile rxjs check full js linux-x64");
const rows = (page: Page) => page.getByRole("table", { name: "Cases" }).locator(".case-row");

const addresses = [
  ["/benchmarks", "Benchmarks"],
  [`/benchmarks/compare?${pair}`, "nightly-20250915 → nightly-20250916"],
  [`/benchmarks/compare?${pair}&metric=wall-time&all=yes&raw=yes`, "nightly-20250915"],
  ["/benchmarks/compare", "Compare two artifacts"],
  ["/benchmarks/graphs", "Graphs"],
  [`/benchmarks/series?suite=typescript&case=${aCase}`, "rxjs check · full · js · linux-x64"],
  [`/benchmarks/noise?suite=typescript&case=${aCase}`, "Noise of rxjs"],
  ["/benchmarks/requests/11111111-0000-4000-8000-000000010002", "nightly-20250917"],
  ["/benchmarks/collectors/barn-4", "barn-4"],
  ["/benchmarks/searches", "Step searches"],
  ["/benchmarks/searches/22222222-0000-4000-8000-000000000001", "Bisect rxjs"],
  ["/benchmarks/help", "The benchmark lab"],
] as const;

test.each(addresses)(
  "%s is shown without errors, also at 360 px and in dark mode",
  async (path, heading) => {
    const { page, faults } = await open(path);
    await page.getByRole("heading", { level: 1, name: heading }).waitFor();

    await page.emulateMedia({ colorScheme: "dark" });
    await page.setViewportSize({ width: 360, height: 740 });

    await expect
      .poll(() => page.evaluate("document.documentElement.scrollWidth - innerWidth"))
      .toBe(0);
    await expect.poll(() => page.title()).toContain("Grange");
    expect(faults).toEqual([]);
    await page.close();
  },
);

test.each([
  ["/benchmarks", "Nothing is measured yet"],
  ["/benchmarks/graphs", "There is no suite yet"],
  ["/benchmarks/compare", "There is no suite yet"],
  ["/benchmarks/searches", "None yet"],
])("%s of a lab without anything says what to do", async (path, words) => {
  farm.lab = new FakeLab();
  const { page, faults } = await open(path);

  await page.getByText(words).first().waitFor();

  expect(faults).toEqual([]);
  await page.close();
});

test("the status page shows measurements, waiting requests with reasons, and failures, and refreshes by itself", async () => {
  const { page, faults } = await open("/");
  await page.getByRole("navigation").getByRole("link", { name: "Benchmarks" }).click();
  const running = page.getByRole("region", { name: "In progress" });
  await running.getByText("6 of 12 jobs").waitFor();
  await running.getByText("ends in about 17 min (12 min to 29 min)").waitFor();
  await running.getByRole("button", { name: "Show its jobs" }).click();
  const jobs = running.getByRole("region", { name: "Jobs" }).locator("tbody tr");
  await expect.poll(() => jobs.count()).toBe(12);
  await expect.poll(() => jobs.filter({ hasText: "backfill of the parent" }).count()).toBe(4);

  const queue = page.getByRole("region", { name: "Queue" });
  await queue.getByText("releases go before nightlies and tries").waitFor();
  const recent = page.getByRole("region", { name: "Recently ended" });
  await recent.getByRole("button", { name: "2 errors", exact: true }).click();
  await recent.getByText("exit code 134: out of memory").waitFor();
  await page.getByRole("region", { name: "Collectors" }).getByText("out of duty").waitFor();
  await page.getByRole("alert").getByText("barn-3 was last heard of").waitFor();

  const [first] = farm.lab.requests;
  if (first === undefined) throw new Error("the lab has a request");
  first.jobs = { total: 12, ended: 9, failed: 0 };
  await running.getByText("9 of 12 jobs").waitFor();
  expect(faults).toEqual([]);
  await page.close();
});

test("a request is cancelled after a confirmation, and a failed one can be retried", async () => {
  const { page, faults } = await open("/benchmarks");
  const line = page
    .getByRole("region", { name: "Queue" })
    .getByRole("listitem")
    .filter({ hasText: "try-faster-checker" });

  await line.getByRole("button", { name: "Cancel…" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Keep it running" }).click();
  expect(farm.lab.told).toEqual([]);
  await line.getByRole("button", { name: "Cancel…" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Cancel the request" }).click();
  await line.waitFor({ state: "detached" });
  await page
    .getByRole("region", { name: "Recently ended" })
    .getByRole("listitem")
    .filter({ hasText: "12 errors" })
    .getByRole("button", { name: "Retry…" })
    .click();
  await page.getByRole("dialog").getByRole("button", { name: "Repeat", exact: true }).click();

  await expect
    .poll(() => farm.lab.told.map((each) => each.split("/").at(-1)))
    .toEqual(["cancel", "retry"]);
  expect(faults).toEqual([]);
  await page.close();
});

test("after a request for a measurement, its state is shown", async () => {
  const { page, faults } = await open("/benchmarks?ask=yes&suite=typescript");
  const dialog = page.getByRole("dialog", { name: "Request a measurement" });
  const ask = dialog.getByRole("button", { name: "Ask", exact: true });
  await dialog.getByLabel("native").waitFor();
  await expect.poll(() => ask.isDisabled()).toBe(true);

  await dialog.getByLabel("Artifact", { exact: true }).fill("7.0.2");
  await dialog.getByLabel("native").check();
  await ask.click();
  await dialog.getByText("7.0.2 is queued at place 4.").waitFor();
  await dialog.getByRole("link", { name: "See the request" }).click();

  await page.getByRole("heading", { level: 1, name: "7.0.2" }).waitFor();
  await page.getByText("Place 4 in the queue").waitFor();
  expect(faults).toEqual([]);
  await page.close();
});

test("a comparison shows relevant cases first, and its URL contains the filters", async () => {
  const { page, faults } = await open(`/benchmarks/compare?${pair}`);
  await page.getByText("1 benchmark is newly broken").waitFor();
  await page.getByText("4 of 24 cases").waitFor();
  await expect.poll(() => rows(page).count()).toBe(5);
  const changes = await page.locator(".case-change").allTextContents();
  const sizes = changes.slice(0, 3).map((text) => Number.parseFloat(text.slice(1)));
  expect(sizes).toEqual(sizes.toSorted((a, b) => b - a));

  await page.getByLabel("also irrelevant changes").check();
  await page.getByText("24 of 24 cases").waitFor();
  await page.getByLabel("scenario").selectOption("incr-hub");
  await page.getByText("4 of 24 cases").waitFor();
  await page.keyboard.press("Escape");
  await page.reload();
  await page.getByText("4 of 24 cases").waitFor();
  await expect.poll(() => new URL(page.url()).searchParams.get("scenario")).toBe("incr-hub");
  await page.getByRole("button", { name: "Reset" }).click();
  await page.getByText("4 of 24 cases").waitFor();

  await page.locator("h1").click();
  await page.keyboard.press("/");
  await page.keyboard.type("emit");
  await page.getByText("2 of 24 cases").waitFor();
  expect(faults).toEqual([]);
  await page.close();
});

test("a row opens by keyboard: evidence, history, and the command with the same output", async () => {
  const { page, faults } = await open(`/benchmarks/compare?${pair}&metric=wall-time`);
  await rows(page).nth(1).waitFor();

  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await page.getByText("interleaved pairs: the change is").waitFor();
  await page.getByRole("img", { name: /^The last \d+ figures: from/ }).waitFor();
  await page
    .getByRole("button", { name: /^grange bench compare nightly-20250915 nightly-20250916/ })
    .waitFor();
  await expect
    .poll(() => page.getByRole("img", { name: /^Change .*, between/ }).count())
    .toBeGreaterThan(1);

  await page.keyboard.press("]");
  await page
    .getByRole("heading", { level: 1, name: "nightly-20250916 → nightly-20250917" })
    .waitFor();
  await expect.poll(() => new URL(page.url()).searchParams.get("metric")).toBe("wall-time");
  await page.goto(page.url().replace("before=nightly-20250916", "before=nightly-20250901"));
  await page.getByText("Not adjacent:").waitFor();
  expect(faults).toEqual([]);
  await page.close();
});

test("seven hundred cases can be scrolled, and only the visible ones are in the page", async () => {
  farm.lab = madeUpLab(new Date(), 700);
  const { page, faults } = await open(`/benchmarks/compare?${pair}&all=yes`);
  await page.getByText("700 of 700 cases").waitFor();
  expect(await rows(page).count()).toBeLessThan(80);

  await page.evaluate("scrollTo(0, document.documentElement.scrollHeight)");
  const last = page.getByRole("row").and(page.locator('[aria-rowindex="703"]'));
  await last.waitFor();

  expect(await rows(page).count()).toBeLessThan(80);
  expect(faults).toEqual([]);
  await page.close();
});

test("graphs are drawn when they become visible, describe the point under the pointer, and link to a comparison", async () => {
  farm.lab = madeUpLab(new Date(), 300);
  const { page, faults } = await open("/benchmarks/graphs?backend=js");
  const charts = page.getByRole("slider");
  await charts.first().waitFor();
  expect(await charts.count()).toBeLessThan(await page.locator(".small-chart").count());

  const chart = page.getByRole("slider", { name: /^ajv compile check js/ });
  await chart.focus();
  await page.keyboard.press("End");
  await page.getByText(/^nightly-20250918: full/).waitFor();
  await page.keyboard.press("ArrowLeft");
  await page.getByText(/^nightly-20250917: full/).waitFor();
  await page.getByRole("combobox", { name: "From", exact: true }).selectOption("nightly-20250901");
  await page.getByText(/of 18 artifacts/).waitFor();
  await page.getByRole("combobox", { name: "Show" }).selectOption("% from the first");
  await chart
    .getByText("−30.0 %")
    .or(chart.getByText("+0.00 %"))
    .or(chart.getByText("0 %"))
    .first()
    .waitFor();
  await expect.poll(() => new URL(page.url()).searchParams.get("kind")).toBe("percent-from-first");

  await chart.focus();
  await page.keyboard.press("End");
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/benchmarks\/compare\?.*before=nightly-20250917.*after=nightly-20250918/);
  expect(faults).toEqual([]);
  await page.close();
});

test("a drag across a chart zooms in, and a button shows all of it again", async () => {
  const { page, faults } = await open(`/benchmarks/series?suite=typescript&case=${aCase}`);
  const chart = page.getByRole("slider");
  // What is above and below the chart is there: it does not move any more.
  await page.getByRole("region", { name: "Steps", exact: true }).getByText("worse").waitFor();
  const box = await chart.boundingBox();
  if (box === null) throw new Error("the chart is not drawn");
  const y = box.y + box.height / 2;

  await page.mouse.move(box.x + box.width * 0.4, y);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.6, y, { steps: 4 });
  await page.mouse.up();
  await page.waitForURL(/from=nightly-\d+&to=nightly-\d+/);
  const shown = async () => Number(await chart.getAttribute("aria-valuemax"));
  expect(await shown()).toBeLessThan(40);

  await page.getByRole("button", { name: "Reset the zoom" }).click();
  await expect.poll(shown).toBeGreaterThan(90);
  expect(faults).toEqual([]);
  await page.close();
});

test("a step is accepted with a note, and a search starts from it", async () => {
  const { page, faults } = await open(`/benchmarks/series?suite=typescript&case=${aCase}`);
  const steps = page.getByRole("region", { name: "Steps", exact: true });
  const line = steps.getByRole("row").filter({ hasText: "worse" });
  await line.getByRole("button", { name: "Accept…" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Note").fill("the new checker");
  await dialog.getByRole("button", { name: "Accept" }).click();
  await dialog.waitFor({ state: "detached" });
  expect(farm.lab.said).toMatchObject([
    { standing: "accepted", note: "the new checker", case: { benchmark: "rxjs" } },
  ]);

  await page.getByLabel("every sample").check();
  await page.getByRole("region", { name: "Figures" }).getByText("Samples").waitFor();
  await line.getByRole("button", { name: "Search here" }).click();
  const after = page.getByRole("combobox", { name: "After", exact: true });
  await expect.poll(() => after.inputValue()).toBe("nightly-20250714");
  await page.getByRole("button", { name: "Begin the search" }).click();

  await page.getByText("It has just begun.").waitFor();
  await page.getByRole("button", { name: "Cancel…" }).click();
  await page.getByRole("button", { name: "Cancel the search" }).click();
  await page.getByText("cancelled", { exact: true }).waitFor();
  expect(faults).toEqual([]);
  await page.close();
});

test("a collector can be activated again", async () => {
  const { page, faults } = await open("/benchmarks");
  await page.getByRole("link", { name: "barn-4" }).click();
  await page.getByText("7 false alarms in 300 comparisons").waitFor();
  await page.getByText("performance").first().waitFor();

  await page.getByRole("button", { name: "Put it back on duty" }).click();

  await page.getByText("7 false alarms in 300 comparisons").waitFor({ state: "detached" });
  expect(faults).toEqual([]);
  await page.close();
});

test("a series links to the noise of its case, with the limit of each metric and its origin", async () => {
  const { page, faults } = await open(`/benchmarks/series?suite=typescript&case=${aCase}`);
  await page.getByRole("link", { name: "Its noise" }).click();
  await page.getByRole("heading", { level: 1, name: "Noise of rxjs" }).waitFor();

  const machine = page.getByRole("region", { name: "Noise on 9be0214c00" });
  const count = machine.getByRole("row").filter({ hasText: "instructions" });
  await count.getByText("0.80 %", { exact: true }).waitFor();
  await count.getByText("twice the range of the runs of the newest artifact").waitFor();
  const time = machine.getByRole("row").filter({ hasText: "wall-time" });
  await time.getByText("the differences between equal artifacts in self-tests").waitFor();
  const older = page.getByRole("region", { name: "Noise on 5f1c77aa90" });
  await older.getByText("none yet").first().waitFor();
  expect(faults).toEqual([]);
  await page.close();
});
