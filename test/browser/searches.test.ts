import { expect, test } from "vitest";
import { findFirstBad } from "../../web/dev/fake-searches.ts";
import { madeUpFarm } from "../../web/dev/made-up-farm.ts";
import { commitFor } from "../../web/dev/made-up-graph.ts";
import { farmInBrowser } from "./farm-in-browser.ts";

const { farm, open } = await farmInBrowser(madeUpFarm(new Date()));

test("a bisection shows the expected number of probes before it starts, and names the first bad commit", async () => {
  farm.searches.length = 0;
  const { page, faults } = await open("/searches?repository=grange");
  await page.getByText("None yet.").waitFor();
  await page.getByLabel("Jobs").fill("kind:unit");
  await page.getByLabel("Good commit").fill("v1");
  await page.getByLabel("Bad commit").fill("main");
  await page.keyboard.press("Enter");
  await page.getByText("at most 7, in 7 rounds").waitFor();
  expect(farm.searches).toEqual([]);

  await page.getByRole("button", { name: "Begin the search" }).click();
  await page.getByRole("heading", { level: 1, name: "Bisect kind:unit" }).waitFor();
  await page.getByText("It is among 3 commits so far.").waitFor();
  const commits = page.getByRole("list", { name: "Commits" }).getByRole("listitem");
  await expect.poll(() => commits.count()).toBe(100);
  await expect.poll(() => commits.filter({ hasText: "under way" }).count()).toBe(1);

  findFirstBad(farm, farm.searches[0]?.id ?? "", 41);
  await page.getByText("The first bad commit is").getByText(commitFor("41")).waitFor();
  expect(faults).toEqual([]);
  await page.close();
});

test("a backfill shows the number of its graphs, which is smaller if some commits are left out", async () => {
  const { page } = await open(
    "/searches?repository=grange&kind=backfill&selection=unit&from=v1&to=main",
  );
  await page.getByText("at most 100").waitFor();

  await page.getByLabel("Every").fill("10");

  await page.getByText("at most 10", { exact: true }).waitFor();
  await expect.poll(() => page.getByLabel("Equal results").count()).toBe(0);
  await page.close();
});
