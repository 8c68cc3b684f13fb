import { expect, test } from "vitest";
import { madeUpFarm } from "../../web/dev/made-up-farm.ts";
import { sizedExecution } from "../../web/dev/made-up-size-classes.ts";
import { farmInBrowser } from "./farm-in-browser.ts";

const { farm, server, open } = await farmInBrowser(madeUpFarm(new Date()));

const addresses = [
  ["/size-classes", "Size classes"],
  ["/size-classes/2", "Size class 2"],
  ["/size-classes/4", "Size class 4"],
  ["/size-class-keys/a%3Amade-up-0", "CppLink //lib/store:unit_0"],
  [`/executions/${sizedExecution}`, "TestRunner //lib/store:unit_5"],
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

test("the overview links to a class, and a class to the others of its platform", async () => {
  const { page, faults } = await open("/");
  await page.getByRole("navigation").getByRole("link", { name: "Workers" }).click();
  await page.getByRole("link", { name: "Size classes" }).click();
  const table = page.getByRole("region", { name: "Size classes of ISA=x86-64, OSFamily=linux" });
  const line = table
    .getByRole("row")
    .filter({ has: page.getByRole("link", { name: "2", exact: true }) });
  await line.getByText("12 of 12").waitFor();
  await line.getByText("42 s").waitFor();

  await page.getByText("152 are not counted").waitFor();
  await line.getByRole("link").click();
  await page.waitForURL(/\/size-classes\/2\?platform=/);
  await page.getByText("41 queued; a new action would wait 42 s").waitFor();
  await page.getByRole("img", { name: /Busy for .* in the last 24 hours/ }).waitFor();
  await page
    .getByRole("navigation", { name: "Other classes" })
    .getByRole("link", { name: "8" })
    .click();

  await page.getByRole("heading", { level: 1, name: "Size class 8" }).waitFor();
  await page.getByRole("heading", { name: "Lost by its selection" }).waitFor();
  expect(faults).toEqual([]);
  await page.close();
});

test("the most expensive actions are found by text, and their page shows runs, estimates and decisions", async () => {
  const { page, faults } = await open("/size-classes");
  const rows = page.getByRole("region", { name: "Keys" }).locator("tbody tr");
  await rows.nth(24).waitFor();
  await page.getByRole("button", { name: "Load cheaper actions" }).click();
  await rows.nth(49).waitFor();

  await page.keyboard.press("/");
  await page.keyboard.type("unit_12");
  await expect.poll(() => rows.count()).toBe(1);
  await page.goto(`${server.url}/size-classes?find=unit_0`);
  await rows.getByRole("link", { name: "CppLink //lib/store:unit_0" }).click();
  await page.getByRole("heading", { level: 1, name: "CppLink //lib/store:unit_0" }).waitFor();

  const plot = page.getByRole("img", { name: /^Durations on size class 1: .* out of memory/ });
  await expect.poll(() => plot.locator(".mark").count()).toBe(14);
  await expect
    .poll(() => plot.getAttribute("aria-label"))
    .toContain("Expected: 1 m 04 s, between 38 s and 2 m");
  await page.getByRole("img", { name: /^Memory on size class 8: from/ }).waitFor();
  await page.getByText("As a table").click();
  await expect
    .poll(() => page.getByRole("region", { name: "Runs" }).locator("tbody tr").count())
    .toBe(49);

  await page.getByRole("button", { name: "Why?" }).first().focus();
  await page.keyboard.press("Enter");
  await page.getByText("size class 2 is the next with more").waitFor();
  await page.getByRole("region", { name: "The possible choices" }).getByText("34 %").waitFor();
  expect(faults).toEqual([]);
  await page.close();
});

test("an execution shows why it ran on its size class, and links to its key", async () => {
  const { page, faults } = await open(`/executions/${sizedExecution}`);
  const why = page.getByRole("region", { name: "Why this size class" });

  await why.getByText("chosen first, and size class 2 in the end").waitFor();
  await why.getByText("and ran out of memory.").waitFor();
  await why.getByText("and succeeded.").waitFor();
  await expect.poll(() => why.getByRole("table").count()).toBe(2);
  await why.getByRole("link", { name: "its earlier runs on each class" }).click();

  await page.getByRole("heading", { level: 1, name: "CppLink //lib/store:unit_0" }).waitFor();
  await page.waitForURL(/\/size-class-keys\/a%3Amade-up-0\?domain=protected$/);
  expect(faults).toEqual([]);
  await page.close();
});

test("an execution that only one class could run says so", async () => {
  const failed = farm.invocations.find(({ detail }) => detail.id === "failed-one");
  const action = failed?.actions.find(({ state }) => state === "succeeded");
  const { page, faults } = await open(`/executions/${action?.executionId}`);

  await page.getByText("Nothing was chosen: only one size class could run it").waitFor();

  expect(faults).toEqual([]);
  await page.close();
});

test("settings are shown and changed, and a value that is not a number is refused before it is sent", async () => {
  farm.sizeClassSettings = undefined;
  const { page, faults } = await open("/size-classes");
  const form = page.getByRole("region", { name: "How they are selected" });
  const set = form.getByRole("button", { name: "Save" });
  await form.getByText("All settings have their defaults").waitFor();
  await expect.poll(() => set.isDisabled()).toBe(true);

  const price = form.getByRole("textbox", { name: "Price of an hour’s delay" });
  await price.fill("much");
  await form.getByRole("alert").getByText("must be a number, not “much”").waitFor();
  await expect.poll(() => set.isDisabled()).toBe(true);
  await price.fill("2.5");
  await set.click();
  await form.getByText("Changed by ada").waitFor();
  expect(farm.sizeClassSettings).toMatchObject({ priceOfDelay: 2.5 });

  await form.getByRole("combobox", { name: "Strategy" }).selectOption("adr");
  await form.getByRole("textbox", { name: "Always acceptable, in seconds" }).fill("");
  await set.click();
  await expect.poll(() => farm.sizeClassSettings).toMatchObject({ strategy: "adr" });
  expect(faults).toEqual([]);
  await page.close();
});
