import { expect, test } from "vitest";
import { madeUpFarm } from "../../web/dev/made-up-farm.ts";
import { farmInBrowser } from "./farm-in-browser.ts";

const { farm, open } = await farmInBrowser(madeUpFarm(new Date()));

test("a new graph is selected, previewed, and submitted exactly as in the preview", async () => {
  const { page, faults } = await open("/new?repository=grange&rev=main");
  const preview = page.getByRole("region", { name: "Preview" });
  await preview.getByText("3 jobs").waitFor();
  await preview.getByText("1 already have a result").waitFor();

  await page.getByRole("checkbox", { name: /pgo/ }).check();
  await preview.getByRole("rowheader", { name: /pgo/ }).waitFor();
  await page.getByLabel("Graph").selectOption("tests");
  await preview.getByRole("rowheader", { name: /lint/ }).waitFor({ state: "detached" });
  await expect.poll(() => page.url()).toContain("graph=tests");
  await page.getByRole("button", { name: "Submit" }).click();

  await page.getByRole("heading", { level: 1, name: "Submitted in the page" }).waitFor();
  const id = new URL(page.url()).pathname.split("/").at(-1) ?? "";
  expect(farm.graphs.get(id)?.jobList.map(({ name }) => name)).toEqual(["install", "unit", "pgo"]);
  expect(faults).toEqual([]);
  await page.close();
});

test("a selection that is typed just before the click is submitted, with the first click", async () => {
  const { page, faults } = await open("/new?repository=grange&rev=main");
  await page.getByRole("region", { name: "Preview" }).getByText("3 jobs").waitFor();

  await page.getByLabel("Only these jobs, and what they need").pressSequentially("name:lint");
  await page.getByRole("button", { name: "Submit" }).click();

  await page.getByRole("heading", { level: 1, name: "Submitted in the page" }).waitFor();
  const id = new URL(page.url()).pathname.split("/").at(-1) ?? "";
  expect(farm.graphs.get(id)?.jobList.map(({ name }) => name)).toEqual(["install", "lint"]);
  expect(farm.submissions.at(-1)).toMatchObject({ select: "name:lint", id });
  expect(faults).toEqual([]);
  await page.close();
});

test("one job is made from its template, values, a patch and a priority; and the URL contains them", async () => {
  const { page, faults } = await open("/new?repository=grange&rev=main");
  const preview = page.getByRole("region", { name: "Preview" });
  await preview.getByText("3 jobs").waitFor();

  await page.getByLabel("One job").selectOption("unit");
  await preview.getByText("2 jobs").waitFor();
  await page.getByLabel("level").fill("5");
  await page.getByLabel("Priority").fill("-20");
  await page.getByLabel("Time to live").fill("2h");
  await page.getByLabel("Changes of unit").fill('{"timeout": ');
  await page.getByText("Not JSON yet").waitFor();
  await page.getByLabel("Changes of unit").fill('{"timeout": "20m"}');
  await page.getByLabel("Definitions from").selectOption("repository");
  await page.getByLabel("Repository of the definitions").fill("/srv/definitions");
  await page.waitForURL(/definitionsFrom=.*srv/);
  await page.reload();
  await preview.getByText("2 jobs").waitFor();
  await expect
    .poll(() => page.getByLabel("Repository of the definitions").inputValue())
    .toBe("/srv/definitions");
  await page.getByRole("button", { name: "Submit" }).click();
  await page.getByRole("heading", { level: 1, name: "Submitted in the page" }).waitFor();

  const submitted = farm.submissions.at(-1);
  expect(submitted).toMatchObject({
    select: "name:unit",
    parameters: { level: 5 },
    priority: -20,
    ttl: "2h",
    patches: { unit: { timeout: "20m" } },
  });
  // Exactly the previewed graph: it is identified by its digest and not read from its source again.
  expect(submitted).toHaveProperty("catalog");
  expect(submitted).not.toHaveProperty("definitionsFrom");
  expect(faults).toEqual([]);
  await page.close();
});

test("definitions are compared by job and edge, with signs in addition to colors", async () => {
  const { page, faults } = await open("/catalogs/diff?a=main&b=release");

  await page.getByRole("heading", { name: "Jobs 1 added, 1 removed, 1 changed" }).waitFor();
  await page.getByText("fuzz waits for install").waitFor();
  const changed = page.locator(".diff-lines > .changed");
  await expect.poll(() => changed.locator("del").textContent()).toBe("10m");
  await expect.poll(() => changed.locator("ins").textContent()).toBe("20m");

  await page.getByRole("textbox", { name: "To", exact: true }).fill("main");
  await page.keyboard.press("Enter");
  await page.getByText("There are no changes.").waitFor();
  expect(faults).toEqual([]);
  await page.close();
});

test("if definitions to compare do not exist, the farm's message is shown", async () => {
  const { page } = await open("/catalogs/diff?a=nowhere&b=release");
  await page.getByRole("alert").getByText("there is no catalog nowhere").waitFor();
  await expect.poll(() => page.locator(".diff-lines").count()).toBe(0);
  await page.close();
});

test("a branch is protected on its page, with a reason that is stored", async () => {
  farm.branchChanges.clear();
  const { page, faults } = await open("/repositories/grange/branches?branch=main");
  await page.getByLabel("Protected").selectOption("yes");
  await page.getByLabel("Switches").fill('{"pgo": true}');
  await page.getByLabel("Why?").fill("it ships");

  await page.getByRole("button", { name: "Save" }).click();

  await page.getByText("it ships").waitFor();
  await page.getByRole("row", { name: /main protected no/ }).waitFor();
  expect(farm.branchChanges.get("grange main")?.[0]?.body).toEqual({
    protected: true,
    switches: { pgo: true },
  });
  expect(faults).toEqual([]);
  await page.close();
});

test("changes that another user saved in the meantime are not overwritten", async () => {
  farm.branchChanges.clear();
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

  await page.getByRole("button", { name: "Save" }).click();

  await page.getByRole("alert").getByText("somebody else changed it meanwhile").waitFor();
  expect(farm.branchChanges.get("grange release")).toEqual([change]);
  await page.close();
});
