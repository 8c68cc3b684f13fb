import { expect, test } from "vitest";
import { madeUpGraph, type Plan } from "../../web/dev/made-up-graph.ts";
import { farmInBrowser } from "./farm-in-browser.ts";

const { farm, open } = await farmInBrowser();

const plan: Plan = [["install"], ["lint", "install"], ["build", "lint"], ["sign-off", "install"]];

/**
 * A graph with a failed lint job, a build that was skipped because of it, and a waiting breakpoint.
 */
function addGraph(id: string, branch = "main") {
  const graph = madeUpGraph(id, plan, {
    repository: "grange",
    subject: "Break the lint",
    author: "Ada",
    rev: branch,
    createdAt: new Date("2026-01-01T12:00:00Z"),
  });
  const edges = graph.edges.map((edge) =>
    edge.on === "lint" ? { ...edge, status: "failed" as const } : edge,
  );
  const jobList = graph.jobList.map((job) =>
    job.name === "sign-off" ? { ...job, kind: "breakpoint" as const } : job,
  );
  farm.add({ ...graph, edges, jobList });
  const ended = {
    runs: 1,
    startedAt: "2026-01-01T12:00:01Z",
    finishedAt: "2026-01-01T12:00:09Z",
  };
  farm.change(id, {
    install: { state: "succeeded", ...ended },
    lint: { state: "failed", ...ended },
    build: { state: "unreachable", reason: "skipped because lint failed" },
    "sign-off": { state: "waiting", runs: 1 },
  });
}

/**
 * Opens the page of a graph and waits for what failed: that moves the rest of the page down, and a click at that moment
 * presses a button without releasing it there.
 */
async function openGraph(path: string) {
  const opened = await open(path);
  await opened.page.getByRole("region", { name: "What failed" }).locator("mark").first().waitFor();
  return opened;
}

const stateOf = (id: string, job: string) =>
  farm.graphs.get(id)?.jobList.find(({ name }) => name === job)?.state;

test("a retrigger lists the jobs that will run, and then exactly these run", async () => {
  addGraph("retrigger");
  const { page, faults } = await openGraph("/graphs/retrigger?job=lint");
  await page.getByRole("complementary", { name: "Job lint" }).waitFor();

  await page.keyboard.press("r");
  const dialog = page.getByRole("dialog", { name: "Retrigger lint" });
  const list = dialog.getByRole("region", { name: "What will happen" });
  await list
    .getByRole("heading", { name: "1 skipped so far, to run if the jobs before them succeed" })
    .waitFor();
  await expect
    .poll(() => list.getByRole("listitem").allTextContents())
    .toEqual([expect.stringContaining("lint"), expect.stringContaining("build")]);
  await dialog.getByLabel("only this job; skipped jobs stay skipped").check();
  await list.getByText("build").waitFor({ state: "detached" });
  await dialog.getByRole("button", { name: "Apply" }).click();
  await dialog.waitFor({ state: "detached" });

  await page.getByRole("button", { name: "lint, queued" }).waitFor();
  expect(stateOf("retrigger", "build")).toBe("unreachable");
  expect(faults).toEqual([]);
  await page.close();
});

test("if the graph has changed since then, the farm refuses and the list is fetched again", async () => {
  addGraph("stale");
  const { page } = await openGraph("/graphs/stale?job=lint");
  const panel = page.getByRole("complementary", { name: "Job lint" });
  await panel.getByRole("button", { name: "Retrigger…" }).click();
  const dialog = page.getByRole("dialog", { name: "Retrigger lint" });
  const apply = dialog.getByRole("button", { name: "Apply" });
  await dialog.getByText("1 to run", { exact: true }).waitFor();

  farm.change("stale", { install: { runs: 2 } });
  await apply.click();

  await dialog.getByRole("alert").getByText("the graph has changed since").waitFor();
  expect(stateOf("stale", "lint")).toBe("failed");
  await apply.click();
  await dialog.waitFor({ state: "detached" });
  expect(stateOf("stale", "lint")).toBe("queued");
  await page.close();
});

test("a selection in the filter determines the jobs that are retriggered", async () => {
  addGraph("selected");
  const { page } = await openGraph("/graphs/selected?q=name:lint%20|%20name:install");
  await page.getByText("2 of 4").waitFor();

  await page.keyboard.press("r");
  const dialog = page.getByRole("dialog", { name: "Retrigger 2 jobs" });
  await dialog.getByText("2 to run", { exact: true }).waitFor();
  await dialog.getByLabel("in all graphs of the set").check();
  await dialog.getByRole("button", { name: "Apply" }).click();
  await dialog.waitFor({ state: "detached" });

  expect(stateOf("selected", "lint")).toBe("queued");
  expect(stateOf("selected", "install")).toBe("queued");
  await page.close();
});

test("an edge can be waived only with a reason", async () => {
  addGraph("waive");
  const { page, faults } = await openGraph("/graphs/waive?job=build");
  const panel = page.getByRole("complementary", { name: "Job build" });
  await panel.getByRole("button", { name: "waive…" }).click();
  const dialog = page.getByRole("dialog", { name: "Let build continue without lint" });
  const apply = dialog.getByRole("button", { name: "Apply" });
  await expect.poll(() => apply.isDisabled()).toBe(true);
  await dialog.getByLabel(/Reason/).fill("   ");
  await expect.poll(() => apply.isDisabled()).toBe(true);

  await dialog.getByLabel(/Reason/).fill("a known problem");
  await dialog.getByText("1 skipped so far").waitFor();
  await apply.click();
  await dialog.waitFor({ state: "detached" });

  await panel.getByText("waived").waitFor();
  const waived = farm.graphs.get("waive")?.edges.find(({ job }) => job === "build")?.waived;
  expect(waived?.reason).toBe("a known problem");
  expect(faults).toEqual([]);
  await page.close();
});

test("a breakpoint describes what to check, and continues when a person approves", async () => {
  addGraph("release");
  const { page } = await openGraph("/graphs/release");
  const waiting = page.getByRole("region", { name: "What waits for a person" });
  await waiting.getByRole("link", { name: "sign-off" }).click();
  await page.getByText("waits for a person to release it").waitFor();
  await page.getByText("Look at the screenshots first").waitFor();

  await page.getByRole("button", { name: "Continue" }).click();

  await page.getByRole("button", { name: "Continue" }).waitFor({ state: "detached" });
  expect(stateOf("release", "sign-off")).toBe("succeeded");
  await page.close();
});

test("a job is customised for its graph, and marked", async () => {
  addGraph("customise");
  const { page, faults } = await open("/graphs/customise/jobs/lint?view=definition");
  await page.getByRole("button", { name: "Customise…" }).click();
  const dialog = page.getByRole("dialog", { name: "Customise lint" });
  const apply = dialog.getByRole("button", { name: "Customise", exact: true });
  await dialog.getByLabel("Changes").fill('{"timeout": ');
  await dialog.getByRole("alert").getByText("Not JSON yet").waitFor();
  await expect.poll(() => apply.isDisabled()).toBe(true);

  await dialog.getByLabel("Changes").fill('{"timeout": "20m"}');
  await dialog.locator("ins").getByText("20m").waitFor();
  await apply.click();
  await dialog.waitFor({ state: "detached" });

  await page.getByText("customised", { exact: true }).waitFor();
  expect(stateOf("customise", "lint")).toBe("queued");
  expect(faults).toEqual([]);
  await page.close();
});

test("on a protected branch the page shows the farm's message that customisation is not allowed", async () => {
  addGraph("protected", "release");
  const { page } = await open("/graphs/protected/jobs/lint?view=definition");
  await page.getByRole("button", { name: "Customise…" }).click();
  const dialog = page.getByRole("dialog", { name: "Customise lint" });

  await dialog.getByLabel("Changes").fill('{"timeout": "20m"}');

  await dialog.getByRole("alert").getByText("release is protected").waitFor();
  await expect
    .poll(() => dialog.getByRole("button", { name: "Customise", exact: true }).isDisabled())
    .toBe(true);
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  await page.close();
});

test("a clone shows the differences of its definitions, and links to the new graph", async () => {
  addGraph("cloned");
  farm.change("cloned", { lint: { customised: true } });
  const { page, faults } = await openGraph("/graphs/cloned");
  await page.getByRole("button", { name: "Clone…" }).click();
  const dialog = page.getByRole("dialog", { name: "Clone this graph" });
  await dialog.getByRole("region", { name: "Differences" }).getByText("20m").waitFor();

  await dialog.getByRole("button", { name: "Clone", exact: true }).click();

  await page.getByRole("link", { name: "clone of cloned" }).waitFor();
  expect(faults).toEqual([]);
  await page.close();
});

test("a priority above the branch's limit is reduced, and the page says so", async () => {
  addGraph("priority");
  const { page } = await openGraph("/graphs/priority");
  await page.getByRole("button", { name: "Priority…" }).click();
  const dialog = page.getByRole("dialog", { name: "Priority of this graph" });

  await dialog.getByLabel("A higher number starts sooner").fill("50");
  await dialog.getByRole("button", { name: "Set the priority" }).click();

  await dialog.getByText("the branch main has a cap of 10").waitFor();
  expect(farm.graphs.get("priority")?.priority).toBe(10);
  await page.close();
});

test("another run can be requested for a running job, and its dialog preselects this", async () => {
  addGraph("another");
  farm.change("another", { lint: { state: "running", finishedAt: null } });
  const { page, faults } = await open("/graphs/another?job=lint");
  const panel = page.getByRole("complementary", { name: "Job lint" });
  await panel.getByRole("button", { name: "Retrigger…" }).click();
  const dialog = page.getByRole("dialog", { name: "Retrigger lint" });
  const another = dialog.getByLabel("also if a run is queued or running");
  await dialog.getByText("1 to run", { exact: true }).waitFor();
  await expect.poll(() => another.isChecked()).toBe(true);

  await another.uncheck();
  await dialog.getByRole("heading", { name: "1 left unchanged" }).waitFor();
  await another.check();
  await dialog.getByRole("heading", { name: "1 to run", exact: true }).waitFor();
  await dialog.getByRole("button", { name: "Apply" }).click();
  await dialog.waitFor({ state: "detached" });

  expect(farm.retriggers.at(-1)).toMatchObject({ jobs: ["lint"], another: true });
  expect(stateOf("another", "lint")).toBe("running");
  expect(faults).toEqual([]);
  await page.close();
});

test("one job of a graph gets a different priority, which its page then shows", async () => {
  addGraph("job-priority");
  farm.change("job-priority", { lint: { state: "queued", finishedAt: null } });
  const { page, faults } = await open("/graphs/job-priority/jobs/lint");
  await page.getByRole("button", { name: "Priority…" }).click();
  const dialog = page.getByRole("dialog", { name: "Priority of lint" });
  const set = dialog.getByRole("button", { name: "Set the priority" });
  await dialog.getByText("It is added to the priority of the graph, 0.").waitFor();
  await expect.poll(() => set.isDisabled()).toBe(true);

  await dialog.getByLabel("A higher number starts sooner").fill("7");
  await set.click();

  await dialog.getByText("It has priority 7 now").waitFor();
  expect(farm.jobPriorities.get("job-priority lint")).toBe(7);
  expect(farm.graphs.get("job-priority")?.priority).toBe(0);
  await dialog.getByRole("button", { name: "Close" }).click();
  await page.getByRole("button", { name: "Priority…" }).click();
  await expect
    .poll(() => dialog.getByLabel("A higher number starts sooner").inputValue())
    .toBe("7");
  expect(faults).toEqual([]);
  await page.close();
});

test("a customisation that is based on an older one is refused, and the dialog can start again from the present definition", async () => {
  addGraph("customised-by-two");
  const { page } = await open("/graphs/customised-by-two/jobs/lint?view=definition");
  await page.getByRole("button", { name: "Customise…" }).click();
  const dialog = page.getByRole("dialog", { name: "Customise lint" });
  await dialog.getByLabel("Changes").fill('{"timeout": "20m"}');
  await dialog.locator("ins").getByText("20m").waitFor();

  farm.change("customised-by-two", { lint: { customised: true } });
  await dialog.getByLabel("Changes").fill('{"timeout": "30m"}');

  await dialog.getByRole("alert").getByText("Ada has customised lint").waitFor();
  const apply = dialog.getByRole("button", { name: "Customise", exact: true });
  await expect.poll(() => apply.isDisabled()).toBe(true);
  await dialog.getByRole("button", { name: "Start from the current definition" }).click();
  await dialog.getByLabel("Changes").fill('{"timeout": "30m"}');
  await dialog.locator("ins").getByText("30m").waitFor();
  await apply.click();
  await dialog.waitFor({ state: "detached" });
  await page.close();
});
