import { expect, test } from "vitest";
import { madeUpGraph, smallPlan } from "../../web/dev/made-up-graph.ts";
import { farmInBrowser } from "./farm-in-browser.ts";

const { farm, open } = await farmInBrowser();

test("a failed run shows its class, its numbers, and its error lines in their context", async () => {
  const about = {
    repository: "grange",
    subject: "Break it",
    author: "Ada",
    rev: "main",
    createdAt: new Date("2026-01-01T12:00:00Z"),
  };
  farm.add(madeUpGraph("broken", smallPlan, about));
  farm.change("broken", {
    install: {
      state: "failed",
      startedAt: "2026-01-01T12:00:01Z",
      finishedAt: "2026-01-01T12:00:09Z",
      runs: 1,
    },
  });
  const log = Array.from({ length: 900 }, (_, i) => `line ${i + 1}\n`).join("");
  farm.append("broken", "install", 1, log, true);
  const { page, faults } = await open("/graphs/broken/jobs/install?line=700");
  const lines = page.getByRole("region", { name: "Lines" });
  await lines.getByText("line 700", { exact: true }).waitFor();

  const found = page.getByRole("region", { name: "Found in the log" });
  await found.getByText("error: it did not work").waitFor();
  await expect.poll(() => found.getByText("coverage").count()).toBe(1);
  await found.getByText("(at least 80)").waitFor();
  await page.getByText("crash", { exact: true }).waitFor();
  await found.getByRole("link", { name: "Line 12" }).click();

  await lines.getByText("line 12", { exact: true }).waitFor();
  await expect.poll(() => lines.locator(".linked .log-text").textContent()).toBe("line 12");
  await expect.poll(() => page.url()).toContain("line=12");
  expect(faults).toEqual([]);
  await page.close();
});
