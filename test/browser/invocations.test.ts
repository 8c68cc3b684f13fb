import { expect, test } from "vitest";
import { madeUpFarm } from "../../web/dev/made-up-farm.ts";
import { madeUpActions, madeUpInvocation } from "../../web/dev/made-up-invocations.ts";
import { axeFindings } from "./axe-findings.ts";
import { farmInBrowser } from "./farm-in-browser.ts";

const { farm, server, open } = await farmInBrowser(madeUpFarm(new Date()));

let made = 0;

/** An id that no invocation has, also when a failed test is tried again. */
function newId(name: string): string {
  made += 1;
  return `${name}-${made}`;
}

test.each([
  ["/invocations", "Invocations"],
  ["/invocations/failed-one", "bazel test //lib/... //app:all"],
  ["/invocations/failed-one?view=targets", "bazel test //lib/... //app:all"],
  ["/invocations/failed-one?view=timing", "bazel test //lib/... //app:all"],
  ["/invocations/failed-one?view=options", "bazel test //lib/... //app:all"],
  ["/invocations/recc-1?project=team%2Fapp", "recc"],
  ["/connect", "Connect a build tool"],
])("%s shows itself without a fault", async (path, heading) => {
  const { page, faults } = await open(path);

  await page.getByRole("heading", { level: 1, name: heading }).waitFor();

  await expect.poll(() => page.title()).toContain("Grange");
  expect(faults).toEqual([]);
  await page.close();
});

test("the page of a failed build opens with its failed actions and the end of their output", async () => {
  const startedAt = new Date().toISOString();
  const id = newId("broken");
  const actions = madeUpActions(id, startedAt, 130);
  farm.invocations.push(madeUpInvocation(id, startedAt, {}, actions));
  const failed = actions.find(({ state }) => state === "failed");
  const log = `${failed?.executionId} stderr`;
  farm.append("executions", log, 1, "cc a.cc\na.cc:1:2: error: no\n", true);
  const { page, faults } = await open(`/invocations/${id}`);
  const section = page.getByRole("region", { name: "What failed" });

  await expect.poll(() => section.locator("mark").textContent()).toBe("a.cc:1:2: error: no\n");
  await expect.poll(() => section.getByText(failed?.target ?? "").count()).toBe(1);
  await section.getByRole("link", { name: "Open execution" }).click();
  // The page of the execution opens with the same, and says what changed. Its address is there before its content.
  await page.getByRole("heading", { level: 1, name: failed?.target ?? "" }).waitFor();
  await expect.poll(() => section.locator("mark").textContent()).toBe("a.cc:1:2: error: no\n");
  await section.getByText("What changed since it last succeeded").click();
  await section.getByRole("listitem").filter({ hasText: "lib/store/new.h" }).waitFor();
  await section.getByRole("row", { name: "variable LANG" }).getByText("not there").waitFor();
  await section.getByText("ran on worker barn-1").waitFor();
  await expect
    .poll(() => page.evaluate("document.documentElement.scrollWidth - innerWidth"))
    .toBe(0);
  expect(await axeFindings(page)).toEqual([]);
  expect(faults).toEqual([]);
  await page.close();
});

test("the list shows a new invocation automatically, and older ones after a click", async () => {
  const { page, faults } = await open("/invocations");
  const rows = page.locator(".invocations > li");
  await rows.nth(49).waitFor();

  await page.clock.install();
  await page.getByRole("button", { name: "Load older invocations" }).click();
  await rows.nth(60).waitFor();
  farm.invocations.push(
    madeUpInvocation(newId("new"), new Date().toISOString(), { project: "new" }),
  );
  // Lists of several pages are fetched again at an interval, which the test skips.
  await page.clock.fastForward("01:00");

  await rows.first().getByText("new · ada@laptop").waitFor();
  expect(faults).toEqual([]);
  await page.close();
});

test("the list is filtered by text, project and commit, and keys open a line", async () => {
  const { page, faults } = await open("/invocations");
  const rows = page.locator(".invocations > li");
  await rows.first().waitFor();

  await page.keyboard.press("/");
  await page.keyboard.type("bram@");
  await expect.poll(() => rows.count()).toBe(1);
  await page.waitForURL(/find=bram/);
  await page.getByRole("heading", { level: 1 }).click();
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await page.getByText("4 actions are queued, and the first of them waits for a worker").waitFor();
  await page.waitForURL(/\/invocations\/waiting-one$/);

  await page.goto(`${server.url}/invocations?project=team%2Fapp`);
  await rows.getByText("recc").waitFor();
  await expect.poll(() => rows.count()).toBe(1);
  await page.goto(`${server.url}/in/team%2Fapp/recc-1`);
  await page.getByText("ended", { exact: true }).first().waitFor();
  await expect.poll(() => new URL(page.url()).searchParams.get("project")).toBe("team/app");
  expect(faults).toEqual([]);
  await page.close();
});

test("ten thousand actions can be scrolled, and filtered by state and text", async () => {
  const { page, faults } = await open("/invocations/large-one");
  const rows = page.getByRole("list", { name: "Actions" }).getByRole("listitem");
  await rows.nth(5).waitFor();
  // Actions from the cache are folded at first.
  await expect.poll(() => rows.locator("svg[aria-label='from the cache']").count()).toBe(0);
  await page.getByRole("button", { name: /^Show .* from the cache/ }).click();
  await page.waitForURL(/hits=shown/);
  const scroller = page.locator(".action-scroller");

  const last = page.getByText("unit_9999", { exact: false });
  await expect
    .poll(async () => {
      await scroller.evaluate((box) => box.scrollTo(0, box.scrollHeight));
      return last.count();
    })
    .toBe(1);
  expect(await rows.count()).toBeLessThan(100);

  const only = page.getByRole("group", { name: "Only actions that are" });
  await page.keyboard.press("f");
  await only.getByRole("button", { name: /^failed/, pressed: true }).waitFor();
  await rows.first().getByText("failed, exit 1").waitFor();
  await page.waitForURL(/state=failed/);
  await page.keyboard.press("f");
  await only.getByRole("button", { name: /^all/, pressed: true }).waitFor();
  const find = page.getByRole("searchbox", { name: "Filter by target or mnemonic" });
  await find.fill("unit_123");
  await page.waitForURL(/find=unit_123/);
  await rows.first().getByText("unit_123", { exact: false }).waitFor();
  await expect.poll(() => find.inputValue()).toBe("unit_123");
  expect(faults).toEqual([]);
  await page.close();
});

test("a build shows its times, its longest chain, a trace, and why actions were not in the cache", async () => {
  const { page, faults } = await open("/invocations/failed-one?view=timing");
  const mnemonics = page.getByRole("region", { name: "By mnemonic" });
  await mnemonics.getByRole("row", { name: /^CppCompile/ }).waitFor();
  await page.getByRole("region", { name: "Longest chain" }).getByRole("link").first().waitFor();
  const trace = page.getByRole("link", { name: /trace\.json$/ });
  const answer = await page.request.get(`${server.url}${await trace.getAttribute("href")}`);
  expect(Object.keys(await answer.json())).toEqual(["displayTimeUnit", "traceEvents"]);

  await page.getByRole("button", { name: "Cache", exact: true }).click();
  const misses = page.getByRole("region", { name: "Cache" });
  await misses.getByText("1 input file differs.").first().waitFor();
  await misses.getByText("What changed", { exact: true }).first().click();
  await misses.getByText("lib/store/new.h").waitFor();

  await page.getByRole("button", { name: "Targets and tests" }).click();
  await page
    .getByRole("img", { name: /^In earlier builds: .*failed/ })
    .first()
    .waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await page.getByRole("link", { name: "//lib/store:store_test" }).click();
  await page.getByRole("heading", { name: "//lib/store:store_test" }).waitFor();
  const history = page.getByRole("region", { name: "Builds" }).getByRole("row");
  await history.nth(1).getByRole("link").waitFor();
  expect(faults).toEqual([]);
  expect(await axeFindings(page)).toEqual([]);
  await page.close();
});

test("tests are shown with their attempts and logs, failed ones first", async () => {
  const { page, faults } = await open("/invocations/failed-one?view=targets");
  const targets = page.locator(".targets > li");

  await targets.first().getByText("//lib/store:store_test").waitFor();

  await expect.poll(() => targets.nth(1).locator(".badge", { hasText: "flaky" }).count()).toBe(1);
  const logs = targets.first().getByRole("link", { name: "test.log" });
  await expect.poll(() => logs.count()).toBe(3);
  await expect
    .poll(() => logs.first().getAttribute("href"))
    .toMatch(/^\/api\/v1\/blobs\/[0-9a-f]{64}\/2048\?name=test\.log$/);
  await expect.poll(() => targets.first().getByText("test.xml (not in the farm)").count()).toBe(3);
  expect(faults).toEqual([]);
  await page.close();
});

test("without build events, targets and tests come from the actions", async () => {
  const id = newId("recc");
  const one = madeUpInvocation(id, new Date().toISOString(), { build: null, events: null });
  farm.invocations.push(one);
  const { page, faults } = await open(`/invocations/${id}?view=targets`);
  const targets = page.locator(".targets > li");
  await page.getByText(/^60 targets, each with its states/).waitFor();
  const box = page.getByRole("searchbox", { name: "Filter targets" });
  await box.fill("unit_5");
  await page.getByText(/^11 targets/).waitFor();

  await targets.filter({ hasText: "unit_53" }).getByText("1 test action").click();

  const attempts = targets.filter({ hasText: "unit_53" }).getByRole("row");
  await expect.poll(() => attempts.nth(1).textContent()).toContain("1 of 2");
  expect(faults).toEqual([]);
  await page.close();
});

test("the tool's output is shown as text, with its colors and without its scripts", async () => {
  const { page, faults } = await open("/invocations/failed-one?view=log");
  const lines = page.getByRole("region", { name: "Lines" });

  await lines.getByText("<script>document.title").waitFor();

  await expect.poll(() => lines.locator("script").count()).toBe(0);
  await expect.poll(() => page.title()).toContain("bazel test");
  expect(faults).toEqual([]);
  await page.close();
});

test("misleading or very long names do not break a page", async () => {
  const evil = `\u202Egpj.exe \u001b[31m<b>x</b> ${"W".repeat(2_000)}`;
  const id = newId("evil");
  const one = madeUpInvocation(id, new Date().toISOString(), {
    tool: { name: evil, version: evil },
    principal: evil,
    build: null,
    waiting: evil,
  });
  farm.invocations.push({
    ...one,
    actions: one.actions.map((action) => ({ ...action, target: evil, mnemonic: evil })),
  });
  const { page, faults } = await open(`/invocations/${id}?view=actions&hits=shown`);

  const title = page.getByRole("heading", { level: 1 });
  await page.locator(".action-row").first().waitFor();
  for (const shown of [title, page.locator(".action-row").first()]) {
    await expect.poll(() => shown.textContent()).toContain("\uFFFDgpj.exe \uFFFD[31m<b>x</b>");
  }
  await expect
    .poll(() => page.evaluate("document.documentElement.scrollWidth - innerWidth"))
    .toBe(0);
  expect(faults).toEqual([]);
  await page.close();
});

test("cancellation needs a confirmation", async () => {
  const id = newId("cancelled");
  farm.invocations.push(madeUpInvocation(id, new Date().toISOString(), { state: "running" }));
  const { page, faults } = await open(`/invocations/${id}`);
  await page.getByRole("button", { name: "Cancel…" }).click();

  await page.getByRole("button", { name: "Cancel the invocation" }).click();

  await page.locator(".badge").getByText("cancelled").waitFor();
  expect(faults).toEqual([]);
  await page.close();
});

test("an execution shows its command, outputs, streams and origin", async () => {
  const failed = farm.invocations.find(({ detail }) => detail.id === "failed-one");
  const action = failed?.actions.find(({ state }) => state === "succeeded");
  const { page, faults } = await open(`/executions/${action?.executionId}`);
  await page.getByRole("heading", { level: 1, name: "TestRunner //lib/store:unit_5" }).waitFor();

  const lines = page.getByRole("region", { name: "Lines" });
  await lines.getByText("compiled").waitFor();
  await page.getByRole("button", { name: "stderr" }).click();
  await lines.getByText("warning:").waitFor();
  await page.getByText("bin/gen/").click();
  await page.getByRole("link", { name: "gen/a.h" }).waitFor();
  const download = page.getByRole("link", { name: "bin/store.o" });
  await expect.poll(() => download.getAttribute("href")).toMatch(/\/41238\?name=bin%2Fstore\.o$/);
  await page.getByText("its worker went silent").waitFor();

  await page.getByRole("link", { name: "failed-one" }).last().click();
  await page.getByRole("heading", { level: 1, name: "bazel test" }).waitFor();
  await page.waitForURL(/\/invocations\/failed-one/);
  expect(faults).toEqual([]);
  expect(await axeFindings(page)).toEqual([]);
  await page.close();
});

test("a waiting execution shows the reason and a remedy", async () => {
  const [id] = farm.executions.keys();
  const { page, faults } = await open(`/executions/${id}`);

  await page.getByText("It waits for a worker with size=large").waitFor();

  await page.getByText("start a worker that offers size=large").waitFor();
  expect(faults).toEqual([]);
  await page.close();
});

test("the lines to paste contain this farm's address, the project and a token", async () => {
  const { page, faults } = await open("/connect");
  const recipe = page.locator(".recipe");
  const address = server.url.replace("http://", "");
  await recipe.getByText(`--remote_executor=grpc://${address}`).waitFor();
  await recipe.getByText("Seen").waitFor();

  await page.getByRole("textbox", { name: "Project" }).fill("team/app");
  await recipe.getByText("--remote_instance_name=team/app").waitFor();
  await page.getByRole("checkbox", { name: "with a token" }).check();
  await recipe.getByText('authorization=Bearer YOUR_TOKEN"').first().waitFor();
  await page.getByRole("link", { name: "ccache", exact: true }).click();
  await recipe.getByText(`http://${address}/cache/team/app/ccache|bearer-token=`).waitFor();

  await expect.poll(() => new URL(page.url()).search).toBe("?project=team%2Fapp&tool=ccache");
  expect(faults).toEqual([]);
  await page.close();
});

test("a farm without invocations shows how to make one", async () => {
  const kept = farm.invocations.splice(0);
  try {
    const { page, faults } = await open("/invocations");

    await page.getByRole("link", { name: "Connect your tool" }).click();

    await page.getByRole("heading", { level: 1, name: "Connect a build tool" }).waitFor();
    expect(faults).toEqual([]);
    await page.close();
  } finally {
    farm.invocations.push(...kept);
  }
});
