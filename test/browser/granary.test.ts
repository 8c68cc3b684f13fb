import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { FakeGranary } from "../../web/dev/fake-granary.ts";
import { madeUpFarm } from "../../web/dev/made-up-farm.ts";
import { madeUpGranary } from "../../web/dev/made-up-granary.ts";
import { farmInBrowser } from "./farm-in-browser.ts";

const started = madeUpFarm(new Date());
started.granary = madeUpGranary(new Date());
const { farm, open } = await farmInBrowser(started);
// Tests release results: each try starts with the same.
let granary = farm.granary;
beforeEach(() => {
  granary = madeUpGranary(new Date());
  farm.granary = granary;
});
const commit = granary.indexes[0]?.commit ?? "";
const environment = granary.indexes[0]?.environment ?? "";

/** The directory for screenshots, if there should be some. */
const pictures = process.env["GRANGE_TEST_PICTURES"];

const addresses = [
  ["/granary", "Granary"],
  ["/granary/builds/00000000-0000-4000-8000-000000000000", "make -j8"],
  ["/granary/indexes", "Indexes of commits"],
  [`/granary/indexes/${commit}?environment=${environment}`, `Index of ${commit.slice(0, 10)}`],
  ["/granary/quarantine", "Quarantine"],
  ["/granary/help", "About these pages"],
] as const;

test.each(addresses)(
  "%s is shown without errors, also at 360 px and in dark mode",
  async (path, heading) => {
    const { page, faults } = await open(path);
    await page.getByRole("heading", { level: 1, name: heading }).waitFor();
    const name = path.replace(/[^a-z]+/g, "-").slice(0, 24);
    const picture = async (way: string) => {
      if (pictures === undefined) return;
      await page.screenshot({ path: join(pictures, `${name}-${way}.png`), fullPage: true });
    };
    await picture("light");

    await page.emulateMedia({ colorScheme: "dark" });
    await picture("dark");
    await page.setViewportSize({ width: 360, height: 740 });
    await picture("small");

    await expect
      .poll(() => page.evaluate("document.documentElement.scrollWidth - innerWidth"))
      .toBe(0);
    await expect.poll(() => page.title()).toContain("Grange");
    expect(faults).toEqual([]);
    await page.close();
  },
);

test("the list shows the saved time, loads older builds, and opens one by keyboard", async () => {
  const { page, faults } = await open("/");
  await page.getByRole("link", { name: "Cache", exact: true }).click();
  await page.getByRole("link", { name: "Granary", exact: true }).click();
  await page.getByRole("img", { name: /Requests of builds in 30 days: \d+ % of/ }).waitFor();
  await page.getByText("Prefetched", { exact: true }).waitFor();
  await page.getByText("The farm’s store contains").waitFor();
  const rows = page.locator(".granary-builds > li");
  await rows.nth(49).waitFor();
  await page.getByRole("button", { name: "Load older builds" }).click();
  await rows.nth(69).waitFor();

  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");

  await page.getByRole("heading", { level: 1, name: "dune build @install" }).waitFor();
  await page.waitForURL(/\/granary\/builds\/0{8}-.*1$/);
  expect(faults).toEqual([]);
  await page.close();
});

test("the builds of one commit can be shown alone, and then all again", async () => {
  const { page, faults } = await open(`/granary?commit=${commit}`);
  const rows = page.locator(".granary-builds > li");
  await expect
    .poll(() => rows.count())
    .toBe(granary.builds.filter((build) => build.commit === commit).length);

  await page.getByRole("button", { name: "Show all" }).click();

  await rows.nth(49).waitFor();
  expect(faults).toEqual([]);
  await page.close();
});

test("a build shows its waiting times with reasons, and links to the index that it used", async () => {
  const build = granary.builds[0];
  const { page, faults } = await open(`/granary/builds/${build?.id}`);
  await page.getByRole("img", { name: /^Demand against arrival over/ }).waitFor();
  const rows = page.getByRole("region", { name: "Requested results" }).locator("tbody tr");
  await rows.nth(99).waitFor();

  await page.getByRole("button", { name: /^missed \d/ }).click();
  await page.waitForURL(/source=missed/);
  await expect.poll(() => rows.count()).toBe(build?.counts.missed);

  await page.getByRole("button", { name: /^All$/ }).click();
  await page.getByRole("button", { name: /the build was faster than the network/ }).click();
  await page.waitForURL(/because=overtaken/);
  const overtaken = build?.asked.filter(({ because }) => because === "overtaken").length;
  await expect.poll(() => rows.count()).toBe(overtaken);
  await expect.poll(() => rows.first().getByText("fetched late").count()).toBe(1);

  const used = page.getByRole("region", { name: "Indexes used" });
  await used.getByRole("link").first().click();
  await page.getByRole("heading", { level: 1, name: /^Index of/ }).waitFor();
  expect(faults).toEqual([]);
  await page.close();
});

test("an index lists its results in the order of first use, page by page, and marks results that no longer exist", async () => {
  const { page, faults } = await open(`/granary/indexes/${commit}?environment=${environment}`);
  const rows = page.getByRole("region", { name: "Results by first use" }).locator("tbody tr");
  await rows.nth(199).waitFor();

  await page.getByRole("button", { name: "Load later results" }).click();
  await rows.nth(399).waitFor();

  const gone = granary.results.slice(0, 400).filter(({ here }) => !here).length;
  await page.getByText(`${gone} results of the 400 below are deleted`).waitFor();
  await page.getByRole("link", { name: "Builds of it" }).click();
  await page.waitForURL(/\/granary\?commit=/);
  expect(faults).toEqual([]);
  await page.close();
});

test("a release needs a confirmation, is refused with the reason, and works with the permission", async () => {
  granary.mayRelease = false;
  const { page, faults } = await open("/granary/quarantine");
  await page.getByText("Sent to 2 builds, which published 214 results afterwards").waitFor();
  await page.getByText("2 files differ").click();
  await page.getByText("_build/default/bin/main.exe").waitFor();

  await page.getByRole("button", { name: "Release…" }).click();
  await page.getByRole("button", { name: "Cancel" }).click();
  expect(granary.quarantined[0]?.releasedAt).toBeNull();
  await page.getByRole("button", { name: "Release…" }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Release", exact: true }).click();
  await page.getByRole("alert").getByText("has no right to administer").waitFor();

  granary.mayRelease = true;
  await page.getByRole("button", { name: "Quarantine later results…" }).click();
  await page.getByRole("button", { name: "Quarantine them" }).click();
  await page.getByText("214 of them are in quarantine as well").waitFor();
  await page.getByRole("button", { name: "Release…" }).click();
  await page.getByRole("button", { name: "Release", exact: true }).click();
  await expect.poll(() => page.getByText("released by ada").count()).toBe(2);
  // A refusal is a response of 403, which the browser itself reports as an error.
  expect(faults.filter((fault) => !fault.includes("403"))).toEqual([]);
  await page.close();
});

test("without a granary, the page shows the command to type", async () => {
  farm.granary = new FakeGranary();
  const { page, faults } = await open("/granary");
  await page.getByRole("heading", { name: "No builds yet" }).waitFor();
  await page.getByText("export GRANGE_SERVER=http://127.0.0.1").waitFor();
  await page.getByText("grange exec -- make").waitFor();
  await page.getByText("has not been counted yet; it may grow as large as the disk").waitFor();
  await page.getByRole("link", { name: "Indexes" }).click();
  await page.getByRole("heading", { name: "No indexes yet" }).waitFor();
  await page.getByRole("link", { name: "Quarantine" }).click();
  await page.getByRole("heading", { name: "Nothing is in quarantine" }).waitFor();
  expect(faults).toEqual([]);
  await page.close();
});
