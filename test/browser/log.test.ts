import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { madeUpGraph, smallPlan } from "../../web/dev/made-up-graph.ts";
import { hostileLog, longLog } from "../../web/dev/made-up-log.ts";
import { farmInBrowser } from "./farm-in-browser.ts";

const { farm, server, open } = await farmInBrowser();
const about = {
  repository: "grange",
  subject: "Keep a log whole",
  author: "Ada",
  rev: "main",
  createdAt: new Date("2026-01-01T12:00:00Z"),
};
const running = { state: "running", startedAt: "2026-01-01T12:00:01Z", runs: 1 } as const;

function startJob(graph: string): void {
  farm.add(madeUpGraph(graph, smallPlan, about));
  farm.change(graph, { install: running });
}

test("a hostile log is only text", async () => {
  startJob("hostile");
  farm.append("hostile", "install", 1, hostileLog, true);
  const { page, faults } = await open("/graphs/hostile/jobs/install");

  const lines = page.getByRole("region", { name: "Lines" });
  await lines.getByText("last hostile line").waitFor();

  await lines.getByText("<script>document.title").waitFor();
  expect(await page.evaluate("window.owned")).toBeUndefined();
  await expect.poll(() => lines.locator("script, img").count()).toBe(0);
  await expect
    .poll(() => lines.locator(".log-text a").allTextContents())
    .toEqual(["https://example.com/ok"]);
  await expect.poll(() => lines.getByText("U+202E").count()).toBe(1);
  await expect.poll(() => page.title()).toContain("install");
  expect(faults).toEqual([]);
  await page.close();
});

test("a job's output appears, also if a character arrives in two parts", async () => {
  startJob("tail");
  const [first, second] = [Buffer.from("grün\n").subarray(0, 3), Buffer.from("grün\n").subarray(3)];
  farm.append("tail", "install", 1, first);
  const { page, faults } = await open("/graphs/tail/jobs/install");
  const lines = page.getByRole("region", { name: "Lines" });
  await lines.getByText("gr").waitFor();
  await page.getByText("1 line · running").waitFor();

  farm.append("tail", "install", 1, second);
  await lines.getByText("grün", { exact: true }).waitFor();
  farm.append("tail", "install", 1, "the end\n", true);

  await lines.getByText("the end").waitFor();
  await page.getByText("2 lines · complete").waitFor();
  expect(faults).toEqual([]);
  await page.close();
});

test("a broken connection neither loses nor repeats a line", async () => {
  startJob("resume");
  farm.append("resume", "install", 1, "one\n");
  const { page } = await open("/graphs/resume/jobs/install");
  const lines = page.getByRole("region", { name: "Lines" });
  await page.getByText("1 line · running").waitFor();
  farm.append("resume", "install", 1, "two\nthr");
  await lines.getByText("thr").waitFor();

  server.dropStreams();
  farm.append("resume", "install", 1, "ee\nfour\n", true);

  await page.getByText("4 lines · complete").waitFor();
  await expect
    .poll(() => lines.locator(".log-text").allTextContents())
    .toEqual(["one", "two", "three", "four"]);
  await page.close();
});

test("with a hundred thousand lines, a link opens one and a search finds the others", async () => {
  startJob("long");
  farm.append("long", "install", 1, longLog(100_000), true);
  const { page, faults } = await open("/graphs/long/jobs/install?line=50000");
  const lines = page.getByRole("region", { name: "Lines" });

  await lines.getByText("case 50000 failed").waitFor();
  expect(await lines.locator(".log-row").count()).toBeLessThan(200);

  await page.keyboard.press("/");
  await page.keyboard.type("CASE 99000 failed");
  await page.getByText("0 / 1").waitFor();
  await page.keyboard.press("Enter");
  await lines.getByText("case 99000 failed").waitFor();
  await page.waitForURL(/find=/);

  await lines.getByRole("link", { name: "Line 99001", exact: true }).click();
  await page.waitForURL(/line=99001/);
  expect(faults).toEqual([]);
  await page.close();
});

test("a jump shows a line of a part that was not loaded, and a range has an address", async () => {
  startJob("jump");
  farm.append("jump", "install", 1, longLog(100_000), true);
  const { page, faults } = await open("/graphs/jump/jobs/install");
  const lines = page.getByRole("region", { name: "Lines" });
  await page.getByText("100,000 lines · complete").waitFor();

  await page.keyboard.press("g");
  await page.keyboard.type("77000");
  await page.keyboard.press("Enter");
  await lines.getByText("case 77000 failed").waitFor();
  await page.getByRole("button", { name: "First error" }).click();
  await lines.getByText("case 1000 failed").waitFor();
  const rows = lines.locator(".log-line.is-error");
  await expect
    .poll(() => rows.allTextContents())
    .toEqual(["1000error: case 1000 failed: expected 1, got 0"]);

  const last = lines.getByRole("link", { name: "Line 1003", exact: true });
  await last.click({ modifiers: ["Shift"] });
  await expect.poll(() => new URL(page.url()).hash).toBe("#L1000-L1003");
  await page.reload();
  await lines.locator(".log-line.linked").nth(3).waitFor();
  await expect.poll(() => lines.locator(".log-line.linked").count()).toBe(4);
  expect(faults).toEqual([]);
  await page.close();
});

test("groups fold, and a log with a gap says so", async () => {
  startJob("groups");
  const text = [
    "##[group]Install",
    "inside",
    "##[endgroup]",
    "[grange: 12 bytes are left out here, lines 4 to 9 of the output]",
    "after",
  ].join("\n");
  farm.append("groups", "install", 1, `${text}\n`, true);
  const { page, faults } = await open("/graphs/groups/jobs/install");
  const lines = page.getByRole("region", { name: "Lines" });
  await lines.getByText("Install", { exact: true }).waitFor();

  await page.getByRole("button", { name: "Hide 2 lines" }).click();
  await lines.getByText("inside").waitFor({ state: "detached" });
  await page.getByText("This log has a gap: 12 bytes are left out").waitFor();
  await expect.poll(() => lines.locator(".log-number").allTextContents()).toEqual(["1", "4", "5"]);
  await page.getByRole("button", { name: "Show 2 lines" }).click();
  await lines.getByText("inside").waitFor();
  expect(faults).toEqual([]);
  await page.close();
});

test("a line of 10 MB and invalid UTF-8 do not break the layout", async () => {
  startJob("wide");
  const wide = Buffer.concat([
    Buffer.from(`${"x".repeat(10_000_000)}\n`),
    Buffer.from([0xff, 0xfe, 0xc3, 0x0a]),
    Buffer.from("the end\n"),
  ]);
  farm.append("wide", "install", 1, wide, true);
  const { page, faults } = await open("/graphs/wide/jobs/install");
  const lines = page.getByRole("region", { name: "Lines" });

  await page.getByText("3 lines · complete").waitFor();
  await lines.getByText("9,983,616 more characters").waitFor();
  await lines.getByText("the end").waitFor();
  const overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
  await expect.poll(() => page.evaluate(overflow)).toBe(0);
  expect(faults).toEqual([]);
  await page.close();
});

test("the raw log is saved completely, byte by byte", async () => {
  startJob("raw");
  const text = longLog(60_000);
  farm.append("raw", "install", 1, text, true);
  const { page } = await open("/graphs/raw/jobs/install");
  await page.getByText("60,000 lines · complete").waitFor();

  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Raw" }).click(),
  ]);

  expect(download.suggestedFilename()).toBe("install-1.log");
  expect(await readFile(await download.path(), "utf8")).toBe(text);
  await page.close();
});
