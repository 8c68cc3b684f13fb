import { expect, test } from "vitest";
import { madeUpFarm } from "../../web/dev/made-up-farm.ts";
import { farmInBrowser } from "./farm-in-browser.ts";

const { farm, open } = await farmInBrowser(madeUpFarm(new Date()));

test("a new graph is chosen, previewed as it would be, and submitted as it was previewed", async () => {
  const { page, faults } = await open("/new?repository=grange&rev=main");
  const preview = page.getByRole("region", { name: "Preview" });
  await preview.getByText("3 jobs").waitFor();
  await preview.getByText("1 have a result already").waitFor();

  await page.getByLabel("pgo").check();
  await preview.getByRole("rowheader", { name: /pgo/ }).waitFor();
  await page.getByLabel("Graph").selectOption("tests");
  await preview.getByRole("rowheader", { name: /lint/ }).waitFor({ state: "detached" });
  expect(page.url()).toContain("graph=tests");
  await page.getByRole("button", { name: "Submit exactly this" }).click();

  await page.getByRole("heading", { level: 1, name: "Submitted in the page" }).waitFor();
  const id = new URL(page.url()).pathname.split("/").at(-1) ?? "";
  expect(farm.graphs.get(id)?.jobList.map(({ name }) => name)).toEqual(["install", "unit", "pgo"]);
  expect(faults).toEqual([]);
  await page.close();
});

test("definitions are compared by job and edge, with signs beside the colours", async () => {
  const { page, faults } = await open("/catalogs/diff?a=main&b=release");

  await page.getByRole("heading", { name: "Jobs 1 added, 1 removed, 1 changed" }).waitFor();
  await page.getByText("fuzz waits for install").waitFor();
  const changed = page.locator(".diff-lines > .changed");
  expect(await changed.locator("del").textContent()).toBe("10m");
  expect(await changed.locator("ins").textContent()).toBe("20m");

  await page.getByRole("textbox", { name: "To", exact: true }).fill("main");
  await page.keyboard.press("Enter");
  await page.getByText("Nothing has changed.").waitFor();
  expect(faults).toEqual([]);
  await page.close();
});

test("what is not there to be compared is said in the farm's words", async () => {
  const { page } = await open("/catalogs/diff?a=nowhere&b=release");
  await page.getByRole("alert").getByText("there is no catalog nowhere").waitFor();
  expect(await page.locator(".diff-lines").count()).toBe(0);
  await page.close();
});

test("a branch is protected from its page, with a reason that is kept", async () => {
  const { page, faults } = await open("/repositories/grange/branches?branch=main");
  await page.getByLabel("Protected").selectOption("yes");
  await page.getByLabel("Switches").fill('{"pgo": true}');
  await page.getByLabel("Why?").fill("it ships");

  await page.getByRole("button", { name: "Set it" }).click();

  await page.getByText("it ships").waitFor();
  await page.getByRole("row", { name: /main protected no/ }).waitFor();
  expect(farm.branchChanges.get("grange main")?.[0]?.body).toEqual({
    protected: true,
    switches: { pgo: true },
  });
  expect(faults).toEqual([]);
  await page.close();
});

test("what somebody else has said meanwhile is not overwritten", async () => {
  const { page } = await open("/repositories/grange/branches?branch=release");
  await page.getByLabel("Customisable").selectOption("yes");
  const change = {
    number: 7,
    body: { priorityCap: 5 },
    setBy: "bram",
    why: null,
    setAt: "2026-01-01T12:00:00Z",
  };
  farm.branchChanges.set("grange release", [change]);

  await page.getByRole("button", { name: "Set it" }).click();

  await page.getByRole("alert").getByText("somebody else changed it meanwhile").waitFor();
  expect(farm.branchChanges.get("grange release")).toEqual([change]);
  await page.close();
});
