import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { scriptOfPage } from "#server/http/page-script.ts";
import { madeUpFarm } from "../../web/dev/made-up-farm.ts";
import { madeUpGranary } from "../../web/dev/made-up-granary.ts";
import { madeUpLab } from "../../web/dev/made-up-lab.ts";
import { axeFindings } from "./axe-findings.ts";
import { everyPage, routesLeftOut } from "./every-page.ts";
import { farmInBrowser } from "./farm-in-browser.ts";
import { lookForHarm, startHostileServer } from "./hostile-strings.ts";

const now = new Date();
const farm = madeUpFarm(now);
farm.granary = madeUpGranary(now);
farm.lab = madeUpLab(now, 24);
const { open, server } = await farmInBrowser(farm);
const hostile = await startHostileServer(server.url);
afterAll(() => hostile.stop());

test("the list has a page for each route", () => {
  const web = join(import.meta.dirname, "../../web");
  const routes = readdirSync(web)
    .filter((name) => /^(router|routes-.*)\.tsx$/.test(name))
    .flatMap((name) => [
      ...readFileSync(join(web, name), "utf8").matchAll(/^ {2}path: "([^"]+)"/gm),
    ])
    .map(([, path = ""]) => path)
    .filter((path) => !(path in routesLeftOut));
  const isOf = (route: string, page: string) =>
    new RegExp(`^${route.replaceAll(/\$\w+/g, "[^/?]+")}(\\?|$)`).test(page);

  expect(routes.length).toBeGreaterThan(30);
  expect(routes.filter((route) => !everyPage.some((page) => isOf(route, page)))).toEqual([]);
});

/** With an empty cache, with the stream of events and the icon. */
const mostRequests = 8;

/** One width in each theme; `npm run show -- pages` looks at both widths in both. */
test.each(everyPage)(
  "few requests load %s, and axe finds nothing moderate or serious",
  async (path) => {
    const { page, requests } = await open(path, {
      repeatsRequests: false,
      inSamePage: true,
    });

    await page.emulateMedia({ colorScheme: "light" });
    expect(await axeFindings(page)).toEqual([]);
    // Those above the limit, by name. Browsers without a window request no icon.
    const requested = [...new Set(requests)].filter((url) => !url.endsWith("/favicon.svg"));
    expect(requested.slice(mostRequests - 1)).toEqual([]);
    // The document of the page names it in advance.
    const { pathname } = new URL(path, server.url);
    expect(requested.map((url) => url.split("/").at(-1))).toContain(scriptOfPage(pathname));
    await page.emulateMedia({ colorScheme: "dark" });
    await page.setViewportSize({ width: 360, height: 800 });
    expect(await axeFindings(page)).toEqual([]);
  },
);

/** One page of each area, on a phone; `npm run show -- pages` looks at every page at two widths. */
test.each([
  "/",
  "/repositories/grange",
  "/graphs/now",
  "/graphs/older/jobs/format",
  "/invocations/failed-one",
  "/workers",
  "/benchmarks/requests/11111111-0000-4000-8000-000000010001",
])("hostile names, messages and log lines are only text on %s", async (path) => {
  const { page, faults } = await open(path, { url: hostile.url, inSamePage: true });
  await page.setViewportSize({ width: 360, height: 800 });

  const { harm, isShown } = await lookForHarm(page);

  expect(harm).toEqual([]);
  expect(isShown).toBe(true);
  expect(faults).toEqual([]);
});
